// The content of each section, and a sentence on how to read it. Sections without data are omitted.
const SIGNS = {
  good: "M3 9.2l3.4 3.4L13.2 4.6",
  fair: "M8 3v6.4M8 12.4v.2",
  poor: "M4 4l8 8M12 4l-8 8",
  neutral: "M4 8h8",
};

const sign = (level) => svg("svg", { class: `sign ${level}`, viewBox: "0 0 16 16", role: "img", "aria-label": level },
  svg("path", { d: SIGNS[level], fill: "none", stroke: "currentColor", "stroke-width": 2.2, "stroke-linecap": "round", "stroke-linejoin": "round" }));

function chart(draw) {
  const node = el("div", { class: "chart" });
  later.push(() => responsive(node, draw));
  return node;
}

// Charts are drawn after they are attached to the page, because they need its width.
const later = [];

// The dimension of a cluster in words.
function shape(dim, structure) {
  if (dim === null) return MISSING;
  if (dim === 0) return "blob";
  if (structure === "blobs") return "long blob";
  if (structure === "bent clusters") return `bent, ${plural(dim, "direction")}`;
  return { 1: "line", 2: "plane" }[dim] || `flat, ${dim} directions`;
}

function clusterSection(data) {
  const { clusters, profiles, summary, verdict } = data;
  if (summary.n_clusters < 2) return null;
  const words = new Map(profiles.map((each) => [each.cluster, each.words]));
  const has = (key) => clusters.some((each) => each[key] !== null);
  const columns = [
    { name: "Cluster", value: (row) => row.cluster, cell: (row) => named(row.cluster) },
    { name: "Rows", value: (row) => row.size, cell: (row) => count(row.size) },
    { name: "Share", value: (row) => row.share, cell: (row) => percent(row.share) },
    ...(summary.images ? [] : [{ name: "What makes it different", value: (row) => words.get(row.cluster), cell: (row) => words.get(row.cluster) || MISSING, kind: "text" }]),
    { name: "Shape", value: (row) => row.dim, cell: (row) => shape(row.dim, verdict.structure) },
    ...(has("confidence") ? [{ name: "Confidence", value: (row) => row.confidence, cell: (row) => fixed(row.confidence) }] : []),
  ];
  const outliers = summary.n_outliers ? ` ${plural(summary.n_outliers, "row")} (${percent(summary.n_outliers / summary.n_rows)}) belong to no cluster.` : "";
  const read = summary.images
    ? "Below the table, the mean image of each cluster and typical images of it."
    : "Below the table, the columns in which each cluster differs most from all rows. Bars: half of the rows of the cluster, with their median; lines: 8 of 10 of them; grey: 8 of 10 of all rows. A steady column varies much less in the cluster than in all rows, a varied one much more.";
  return {
    id: "clusters", title: "Clusters", read: read + outliers,
    body: [table(columns, clusters, { sortable: true, label: "Clusters" }), ...profileCards(data)],
  };
}

function evidence({ evidence: boxes }) {
  if (!boxes.length) return null;
  return {
    id: "evidence", title: "How far to trust it", read: "Each box is one question. A tick supports the clusters, ! is a doubt, a cross contradicts them, and a dash means that the question does not matter for clusters of this kind. The verdict needs more than stability: another kind of evidence must confirm the clusters.",
    body: [el("dl", { class: "evidence" }, boxes.map((each) => el("div", null,
      el("dt", null, sign(each.level), each.name), el("dd", { class: "value" }, each.value), el("dd", { class: "note" }, each.text))))],
  };
}

function embedding({ scatter: data, clusters, summary }) {
  const sizes = new Map([...clusters.map((each) => [each.cluster, each.size]), [OUTLIER, summary.n_outliers]]);
  const drawn = data.rows.length < data.n_rows ? `${count(data.rows.length)} of the ${count(data.n_rows)} rows are shown. ` : "";
  return {
    id: "scatter", title: "Picture of the rows", body: scatter(data, sizes),
    read: `Each point is a row; similar rows are close to each other. ${drawn}Point at a row for details, click it or draw around several to list them, and click the legend to hide clusters.`,
  };
}

function exampleRows({ examples, clusters, summary }) {
  if (!examples.length) return null;
  const size = (cluster) => (cluster === OUTLIER ? summary.n_outliers : clusters[cluster].size);
  const body = summary.images
    ? el("div", { class: "cards" }, examples.map((each) => imageCard(each, size(each.cluster))))
    : el("div", { class: "stack" }, examples.map((each, i) => valueCard(each, size(each.cluster), examples.length <= 6 || i < 3)));
  const columns = summary.images ? "" : " The columns shown are those in which the cluster differs most from all rows.";
  return {
    id: "examples", title: "Typical, borderline and unusual rows", body: [body],
    read: `Typical rows clearly belong to their cluster, borderline rows could belong to another, and unusual rows fit it worst.${columns}`,
  };
}

function seeds({ stability: data }) {
  if (!data) return null;
  const columns = [
    { name: "Seed", cell: (row) => String(row.seed) },
    { name: "Rows", cell: (row) => count(row.rows) },
    { name: "Clusters", cell: (row) => count(row.clusters) },
    { name: "Adjusted Rand index", cell: (row) => fixed(row.adjusted_rand, 3) },
    { name: "Rows in the same cluster", cell: (row) => percent(row.accuracy) },
    { name: "Time", cell: (row) => seconds(row.seconds) },
    ...(data.fits.some((row) => row.failed || row.warned) ? [{ name: "Remark", kind: "text", cell: (row) => (row.failed ? `failed: ${row.failed}` : row.warned ? "gave a warning" : "") }] : []),
  ];
  return {
    id: "stability", title: "Fits with other seeds",
    read: `The model was fitted again with other seeds, each time on a random subset of the rows. An adjusted Rand index of 1 means equal clusters, 0 means chance level.`,
    body: [table(columns, data.fits, { narrow: true, label: "Refits" }), data.asked && data.fits.length < data.asked ? el("p", { class: "small quiet" }, `${count(data.asked)} fits were requested; the others were skipped because of the time limit.`) : null],
  };
}

function classes({ truth: data }) {
  if (!data) return null;
  const scores = el("dl", { class: "numbers" }, data.scores.map((each) => el("div", null, el("dt", null, each.name), el("dd", { class: "value" }, fixed(each.value, 3)), el("dd", { class: "note" }, each.meaning))));
  const names = data.clusters.map((cluster) => (cluster === OUTLIER ? "outliers" : String(cluster)));
  const totals = data.counts.map((row) => row.reduce((sum, each) => sum + each, 0));
  const cell = (i, j) => ({ share: data.counts[i][j] ? data.counts[i][j] / totals[i] : null, text: data.counts[i][j] ? count(data.counts[i][j]) : "",
    about: `${clusterName(data.clusters[i])}, class ${data.classes[j]}: ${plural(data.counts[i][j], "row")}, ${percent(data.counts[i][j] / (totals[i] || 1))} of the cluster` });
  const body = data.counts.length
    ? chart((width) => heatmap(width, { rows: names, columns: data.classes, cell, across: "known class", down: "cluster", wide: 64, label: "Clusters by known classes" }))
    : el("p", null, `The table is omitted, because there are ${count(data.n_classes)} classes.`);
  const outliers = data.n_outliers ? ` ${plural(data.n_outliers, "row")} known as outliers are left out of the scores.` : "";
  return {
    id: "truth", title: "Compared with known classes", body: [scores, body],
    read: `Number of rows of each cluster in each class. The stronger a square, the larger its share of the cluster. One strong square in each row and column means that clusters match classes.${outliers}`,
  };
}

