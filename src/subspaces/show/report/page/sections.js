// What each section shows, and the sentence that says how to read it. A section without facts is left out.
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

// Charts need the width of a page they are part of.
const later = [];

function evidence({ verdict }) {
  return {
    id: "evidence", title: "Why", read: "Each box is one piece of evidence; the verdict above rests on whether the clusters come out again.",
    body: [el("dl", { class: "evidence" }, verdict.evidence.map((each) => el("div", null,
      el("dt", null, sign(each.level), each.name), el("dd", { class: "value" }, each.value), el("dd", { class: "told" }, each.text))))],
  };
}

function spectrum({ eigenvalues: data }) {
  if (!data) return null;
  return {
    id: "eigenvalues", title: "Eigenvalues",
    read: `${plural(data.n_clusters, "cluster")} far apart give ${plural(data.n_clusters, "eigenvalue")} near one, and then a drop: the larger the marked gap, the clearer the number of clusters.`,
    body: [chart((width) => eigenvalues(data, width))],
  };
}

function embedding({ scatter: data, clusters, summary }) {
  const sizes = new Map([...clusters.map((each) => [each.cluster, each.size]), [OUTLIER, summary.n_outliers]]);
  const drawn = data.rows.length < data.n_rows ? `${count(data.rows.length)} of the ${count(data.n_rows)} rows are drawn. ` : "";
  return {
    id: "scatter", title: "The rows", body: scatter(data, sizes),
    read: `Every point is a row; rows that the model finds alike are near each other. ${drawn}Point at one to see it; hide clusters in the legend; zoom with the buttons or Ctrl and the wheel.`,
  };
}

function clusterTable({ clusters, residuals: { given } }) {
  const has = (key) => clusters.some((each) => each[key] !== null);
  const column = (name, key, write, need = key) => (has(need) ? [{ name, value: (row) => row[key], cell: (row) => write(row[key]) }] : []);
  const columns = [
    { name: "Cluster", value: (row) => row.cluster, cell: (row) => named(row.cluster) },
    ...column("Rows", "size", count), ...column("Share", "share", percent), ...column("Dimension", "dim", count),
    ...column("Distance to its flat", "own", decimal), ...column("Distance to the next flat", "other", decimal),
    ...column("Rows nearer to another", "misplaced", percent, "other"),
    ...(has("nearest") ? [{ name: "Nearest cluster", value: (row) => row.nearest, cell: (row) => (row.nearest === null ? MISSING : named(row.nearest)) }] : []),
    ...column("Angle to it", "angle", degrees), ...column("Confidence", "confidence", fixed), ...column("Kept over seeds", "kept", percent),
  ];
  const note = given ? "" : " The model has no flats of its own: these are fitted to the rows of each cluster.";
  return {
    id: "clusters", title: "Clusters", body: [table(columns, clusters, { sortable: true, label: "Clusters" })],
    read: `A cluster is described by a flat, a point, line, plane or more around which its rows lie; of one that would fill more than half of the columns, the directions of 90 % of its spread are taken. Distances and confidence are medians; a good cluster is much nearer to its own flat than to the next.${note} Press a heading to sort.`,
  };
}

function angles({ angles: data }) {
  if (!data) return null;
  const names = data.clusters.map(String);
  const cell = (i, j) => {
    if (i === j) return { share: null, text: `d=${data.dims[i]}`, about: `cluster ${names[i]}: ${plural(data.dims[i], "dimension")}` };
    const angle = data.degrees[i][j];
    return { share: angle / 90, text: angle.toFixed(0), about: `clusters ${names[i]} and ${names[j]}: ${degrees(angle)}` };
  };
  return {
    id: "angles", title: "Angles between clusters",
    read: "The smallest angle between the flats of each two clusters, in degrees. Dark squares are clusters that share a direction and are easily mixed up; where the flats lie takes no part.",
    body: [ramp(VIRIDIS, "0°", "90°"), chart((width) => heatmap(width, { rows: names, columns: names, cell, across: "cluster", down: "cluster", stops: VIRIDIS, label: "Smallest principal angles between clusters" }))],
  };
}

function distances({ residuals: data }) {
  const units = data.scaled ? " Rows are scaled to length one first." : "";
  return {
    id: "residuals", title: "Distances to the flats",
    read: `Coloured: how far the rows of a cluster are from their own flat. Grey: from the nearest other flat. Boxes hold half of the rows, lines 9 of 10; where the two do not overlap, the cluster stands apart.${units}`,
    body: [chart((width) => residuals(data, width))],
  };
}

function exampleRows({ examples, clusters, summary }) {
  if (!examples.length) return null;
  const size = (cluster) => (cluster === OUTLIER ? summary.n_outliers : clusters[cluster].size);
  const body = summary.images
    ? el("div", { class: "cards" }, examples.map((each) => imageCard(each, size(each.cluster))))
    : el("div", { class: "stack" }, examples.map((each, i) => valueCard(each, size(each.cluster), examples.length <= 6 || i < 3)));
  const columns = summary.images ? "" : " The columns are those in which the cluster differs most from all rows.";
  return {
    id: "examples", title: "Typical, borderline and unusual rows", body: [body],
    read: `Typical rows are surely in their cluster; borderline ones could be in another; unusual ones fit it worst.${columns}`,
  };
}

function landmarks({ landmarks: data, clusters }) {
  if (!data) return null;
  const word = { flats: "landmark flats", points: "landmark points", centroids: "centroids" }[data.kind];
  const range = (values) => `${tick(values[2])} (from ${tick(values[0])} to ${tick(values[4])}; half of them ${tick(values[1])} – ${tick(values[3])})`;
  const list = [
    [`Number of ${word}`, count(data.count)],
    data.dim === null ? null : ["Dimension of each flat", `${data.dim}${data.affine === null ? "" : data.affine ? ", with centres of their own" : ", through the origin"}`],
    data.neighborhood === null ? null : ["Rows a flat is fitted to", data.neighborhood],
    data.nearest === null ? null : ["Nearest ones that describe a row", count(data.nearest)],
    ["Rows per landmark", range(data.rows_per_landmark)],
    ["Nearest to no row", `${count(data.unused)} of ${count(data.count)}`],
    data.mixed === null ? null : ["Shared by clusters", `${percent(data.mixed)} have less than 80 % of their weight in one cluster`],
    data.effective === null ? null : ["Landmarks that matter to a row", range(data.effective)],
    data.few === null ? null : ["Rows near few landmarks", `${percent(data.few)} hang on fewer than two`],
  ].filter(Boolean);
  const columns = [
    { name: "Cluster", value: (row) => row.cluster, cell: (row) => named(row.cluster) },
    { name: capital(word), value: (row) => row.landmarks, cell: (row) => count(row.landmarks) },
    { name: "Rows for each", value: (row) => row.rows, cell: (row) => decimal(row.rows) },
  ];
  const rows = clusters.map(({ cluster, size }) => ({ cluster, landmarks: data.per_cluster[cluster], rows: data.per_cluster[cluster] ? size / data.per_cluster[cluster] : null }));
  return {
    id: "landmarks", title: "Landmarks",
    read: `Rows are described by their nearness to ${word}. Every cluster needs its own: few of them, or many that clusters share, call for more landmarks. Seen through ${plural(data.sample, "row")}.`,
    body: [table(columns, rows, { sortable: true, narrow: true, label: "Landmarks of clusters" }), definitions(list)],
  };
}

const definitions = (list) => el("dl", { class: "facts" }, list.filter(Boolean).map(([name, value]) => [el("dt", null, name), el("dd", null, value)]));

function seeds({ stability: data }) {
  if (!data) return null;
  const columns = [
    { name: "Seed", cell: (row) => String(row.seed) },
    { name: "Rows", cell: (row) => count(row.rows) },
    { name: "Clusters", cell: (row) => count(row.clusters) },
    { name: "Adjusted Rand index", cell: (row) => fixed(row.adjusted_rand, 3) },
    { name: "Rows in the same cluster", cell: (row) => percent(row.accuracy) },
    { name: "Time", cell: (row) => seconds(row.seconds) },
    ...(data.fits.some((row) => row.failed || row.warned) ? [{ name: "Remark", text: true, cell: (row) => (row.failed ? `did not finish: ${row.failed}` : row.warned ? "the model warned" : "") }] : []),
  ];
  return {
    id: "stability", title: "Stability over seeds",
    read: `The model was fitted again with other seeds, each time to other rows drawn from these, and clusters were matched. An adjusted Rand index of 1 means the same clusters, 0 means no more than chance.`,
    body: [table(columns, data.fits, { narrow: true, label: "Refits" }), data.fits.length < data.asked ? el("p", { class: "small quiet" }, `${count(data.asked)} fits were asked for; the others would have taken too long.`) : null],
  };
}

function choices({ choice }) {
  if (!choice.length) return null;
  return {
    id: "choice", title: "What was chosen, and why",
    read: "What the model decided from the rows alone. The choice is in bold; at most eight candidates are shown, the best first.",
    body: choice.map(decision),
  };
}

function decision({ name, reason, score, winner, larger_is_better: larger, candidates }) {
  const keys = [...new Set(candidates.flatMap(Object.keys))];
  const numbered = candidates.map((each, i) => ({ ...each, index: i }));
  const order = sorted(numbered, (row) => row[score], larger);
  const kept = new Set([winner, ...order.map((row) => row.index)].filter((each, i, all) => all.indexOf(each) === i).slice(0, 8));
  const columns = keys.map((key) => ({ name: key === score ? `${spaced(key)} (${larger ? "larger" : "smaller"} is better)` : spaced(key), cell: (row) => shown(row[key]) }));
  return el("div", { class: "decision" }, el("h3", null, capital(spaced(name))), el("p", { class: "quiet" }, `${capital(reason)}.`),
    table(columns, order.filter((row) => kept.has(row.index)), { narrow: true, won: (row) => row.index === winner, label: spaced(name) }));
}

function classes({ truth: data }) {
  if (!data) return null;
  const scores = el("dl", { class: "numbers" }, data.scores.map((each) => el("div", null, el("dt", null, each.name), el("dd", { class: "value" }, fixed(each.value, 3)), el("dd", { class: "told" }, each.meaning))));
  const names = data.clusters.map((cluster) => (cluster === OUTLIER ? "outliers" : String(cluster)));
  const totals = data.counts.map((row) => row.reduce((sum, each) => sum + each, 0));
  const cell = (i, j) => ({ share: data.counts[i][j] ? data.counts[i][j] / totals[i] : null, text: data.counts[i][j] ? count(data.counts[i][j]) : "",
    about: `${clusterName(data.clusters[i])}, class ${data.classes[j]}: ${plural(data.counts[i][j], "row")}, ${percent(data.counts[i][j] / (totals[i] || 1))} of the cluster` });
  const body = data.counts.length
    ? chart((width) => heatmap(width, { rows: names, columns: data.classes, cell, across: "known class", down: "cluster", wide: 64, label: "Clusters by known classes" }))
    : el("p", null, `There are ${count(data.n_classes)} classes, too many for a table.`);
  const outliers = data.n_outliers ? ` ${plural(data.n_outliers, "row")} known as outliers take no part in the scores.` : "";
  return {
    id: "truth", title: "Compared with known classes", body: [scores, body],
    read: `Rows of each cluster by class; the stronger a square, the larger its share of the cluster. One strong square in each line and column means that clusters are classes.${outliers}`,
  };
}

function making({ run, citation }) {
  const longest = Math.max(...run.stages.map(([, each]) => each || 0), 1e-9);
  const bar = (value) => svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { width: (100 * (value || 0)) / longest, height: 8 }));
  const stages = el("div", { class: "stage" }, run.stages.map(([name, value]) => [el("span", null, name), bar(value), el("span", null, seconds(value))]));
  const list = (items) => el("ul", null, items.map((each) => el("li", null, each)));
  const code = (words) => el("pre", null, el("code", null, words));
  return {
    id: "run", title: "How this was made", read: "Everything needed to repeat it.",
    body: [definitions([
      run.command ? ["Command", code(run.command)] : null,
      ["Model", code(run.model)],
      run.data.length ? ["Data", list(run.data)] : null,
      run.seed === null ? null : ["Seed", String(run.seed)],
      run.stages.length ? ["Time", stages] : null,
      run.peak_memory === null ? null : ["Peak memory", bytes(run.peak_memory)],
      run.versions.length ? ["Versions", run.versions.map(([name, version]) => `${name} ${version}`).join(", ")] : null,
      run.notes.length ? ["Notes", list(run.notes)] : null,
      ["Cite", citation],
    ])],
  };
}
