// Rows chosen in the scatter plot: a list, and a file to download.
const LISTED_ROWS = 12;

// Whether a point is inside a closed path of points.
function encloses(path, [x, y]) {
  let inside = false;
  path.forEach(([x1, y1], i) => {
    const [x2, y2] = path[(i + 1) % path.length];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  });
  return inside;
}

// A cell of a CSV file. Text that a spreadsheet would run as a formula gets an apostrophe.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  let words = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(words) && !Number.isFinite(Number(words))) words = `'${words}`;
  return /[",\r\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
}

// The chosen rows with the columns of labels.csv, and the values that the page has.
function selectionTable(data, chosen) {
  const heads = ["row", ...(data.names ? ["name"] : []), "label", ...(data.confidence ? ["confidence"] : []), "outlier_score", ...data.columns];
  const cells = (i) => [data.rows[i], ...(data.names ? [data.names[i]] : []), data.labels[i], ...(data.confidence ? [data.confidence[i]] : []), data.scores[i], ...(data.values[i] || [])];
  return [heads, ...chosen.map(cells)];
}

function download(name, content) {
  const address = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// Fill `node` with the chosen rows; `clear` forgets them.
function showSelection(node, data, chosen, clear) {
  node.hidden = !chosen.length;
  if (!chosen.length) return node.replaceChildren();
  const sizes = new Map();
  for (const i of chosen) sizes.set(data.labels[i], (sizes.get(data.labels[i]) || 0) + 1);
  const parts = [...sizes].sort(([a], [b]) => a - b).map(([cluster, size]) => el("span", { class: "name" }, swatch(cluster), `${clusterName(cluster)}: ${count(size)}`));
  const [, ...rows] = selectionTable(data, chosen);
  const heads = selectionTable(data, [])[0];
  const known = heads.length - data.columns.length;
  const listed = rows.slice(0, LISTED_ROWS);
  const written = (name, j) => {
    if (name === "row") return String;
    if (name === "confidence") return (value) => fixed(value);
    const write = columnFormat(listed.map((row) => row[j]));
    return (value) => (typeof value === "number" ? write(value) : value === null ? MISSING : value);
  };
  const columns = heads.map((name, j) => {
    const write = written(name, j);
    return { kind: j >= known ? "long" : null, name: j < known ? capital(spaced(name)) : name, cell: (row) => write(row[j]) };
  });
  const save = () => download("selected-rows.csv", `${[heads, ...rows].map((cells) => cells.map(csvCell).join(",")).join("\n")}\n`);
  node.replaceChildren(
    el("div", { class: "controls" }, el("strong", null, `${plural(chosen.length, "row")} selected`), parts,
      el("span", { class: "zoom" }, el("button", { type: "button", onclick: save }, "Download as CSV"), el("button", { type: "button", onclick: clear }, "Clear"))),
    table(columns, listed, { label: "Selected rows" }),
    chosen.length > LISTED_ROWS ? el("p", { class: "small quiet" }, `The first ${LISTED_ROWS} rows are listed; the file has all of them.`) : "");
}
