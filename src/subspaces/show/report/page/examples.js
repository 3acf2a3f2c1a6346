// Example rows of a cluster: as images, or as values of the columns that characterise it best.
const KINDS = [["typical", "Typical"], ["borderline", "Borderline"], ["outlying", "Unusual"]];

const rowName = (row) => row.name || `row ${row.row}`;

function facts(row) {
  const other = row.nearest === null ? null : ["nearest other cluster", String(row.nearest)];
  return pairs([row.name ? ["number", `row ${row.row}`] : null, row.confidence === null ? null : ["confidence", fixed(row.confidence)],
    row.own === null ? null : ["to own flat", decimal(row.own)], row.other === null ? null : ["to nearest other flat", decimal(row.other)], other]);
}

function imageCard(entry, size) {
  const strip = (rows) => el("div", { class: "strip" }, rows.map((row) => tipped(el("img", { src: row.image, alt: rowName(row), tabindex: 0 }), () => [el("strong", null, rowName(row)), facts(row)])));
  const lines = KINDS.filter(([kind]) => entry[kind] && entry[kind].length).map(([kind, name]) => [el("span", null, name), strip(entry[kind])]);
  return el("div", { class: "card" }, el("h3", null, swatch(entry.cluster), capital(clusterName(entry.cluster)), el("span", { class: "quiet" }, plural(size, "row"))),
    el("div", { class: "strips" }, lines));
}

function valueCard(entry, size, open) {
  const rows = KINDS.flatMap(([kind, name]) => (entry[kind] || []).map((row) => ({ ...row, kind: name })));
  const withConfidence = rows.some((row) => row.confidence !== null);
  const written = (j) => {
    const write = columnFormat(rows.map((row) => row.values[j]));
    return (row) => write(row.values[j]);
  };
  const columns = [
    { name: "Row", cell: rowName },
    { name: "Kind", cell: (row) => row.kind, kind: "word" },
    ...(withConfidence ? [{ name: "Confidence", cell: (row) => fixed(row.confidence) }] : []),
    { name: "To own flat", cell: (row) => decimal(row.own) },
    { name: "To nearest other flat", cell: (row) => (row.nearest === null ? MISSING : `${decimal(row.other)} (${row.nearest})`) },
    ...entry.columns.map((column, j) => ({ name: column.name, kind: "long", cell: written(j) })),
  ];
  const body = table(columns, rows, { label: `Rows of ${clusterName(entry.cluster)}` });
  const means = (name, key) => el("tr", { class: "mean" }, el("td", { colspan: withConfidence ? 5 : 4 }, name), entry.columns.map((column) => el("td", null, decimal(column[key]))));
  body.querySelector("tbody").append(means(`Mean of ${clusterName(entry.cluster)}`, "mean"), means("Mean of all rows", "all"));
  return el("details", { class: "card", open }, el("summary", null, swatch(entry.cluster), capital(clusterName(entry.cluster)), el("span", { class: "quiet" }, plural(size, "row"))), body);
}
