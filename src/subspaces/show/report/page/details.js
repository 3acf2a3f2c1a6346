// Sections for those who want to know how the clusters were computed.
function clusterNumbers({ clusters, residuals: { given } }) {
  const has = (key) => clusters.some((each) => each[key] !== null);
  const column = (name, key, write, need = key) => (has(need) ? [{ name, value: (row) => row[key], cell: (row) => write(row[key]) }] : []);
  const columns = [
    { name: "Cluster", value: (row) => row.cluster, cell: (row) => named(row.cluster) },
    ...column("Rows", "size", count), ...column("Share", "share", percent), ...column("Dimension", "dim", count),
    ...column("Distance to own flat", "own", decimal), ...column("Distance to nearest other flat", "other", decimal),
    ...column("Rows nearer to another flat", "misplaced", percent, "other"),
    ...(has("nearest") ? [{ name: "Nearest cluster", value: (row) => row.nearest, cell: (row) => (row.nearest === null ? MISSING : named(row.nearest)) }] : []),
    ...column("Angle to it", "angle", degrees), ...column("Confidence", "confidence", fixed), ...column("Stable over seeds", "kept", percent),
  ];
  const note = given ? "" : " This model has no flats of its own; they were fitted to the rows of each cluster.";
  return {
    id: "numbers", title: "Clusters in numbers", body: [table(columns, clusters, { sortable: true, label: "Clusters in numbers" })],
    read: `Each cluster is described by a flat: a point, line, plane or higher-dimensional subspace near its rows. The dimension is the number of directions in which the cluster is clearly wider than in the others; 0 is a blob without such directions, and in a curved cluster the leading directions count. Distances and confidence are medians. The rows of a good cluster are much nearer to their own flat than to any other.${note} Click a heading to sort.`,
  };
}

function distances({ residuals: data }) {
  const units = data.scaled ? " Rows are scaled to length one first." : data.standardised ? " Columns are divided by their standard deviations first." : "";
  return {
    id: "residuals", title: "Distances to the flats",
    read: `Coloured: distances of the rows of a cluster to their own flat. Grey: distances to the nearest other flat. Boxes contain half of the rows, lines 90 %. If the two do not overlap, the cluster is well separated.${units}`,
    body: [chart((width) => residuals(data, width))],
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
    read: "The smallest angle between the flats of each pair of clusters, in degrees. Dark squares mark clusters that share a direction and are easily confused. The positions of the flats are not taken into account.",
    body: [ramp(VIRIDIS, "0°", "90°"), chart((width) => heatmap(width, { rows: names, columns: names, cell, across: "cluster", down: "cluster", stops: VIRIDIS, label: "Smallest principal angles between clusters" }))],
  };
}

function landmarks({ landmarks: data, clusters }) {
  if (!data) return null;
  const word = { flats: "landmark flats", points: "landmark points", centroids: "centroids" }[data.kind];
  const range = (values) => `${tick(values[2])} (from ${tick(values[0])} to ${tick(values[4])}; quartiles ${tick(values[1])} – ${tick(values[3])})`;
  const list = [
    [`Number of ${word}`, count(data.count)],
    data.dim === null ? null : ["Dimension of each flat", `${data.dim}${data.affine === null ? "" : data.affine ? ", affine" : ", through the origin"}`],
    data.neighborhood === null ? null : ["Rows used to fit a flat", data.neighborhood],
    data.nearest === null ? null : ["Nearest landmarks used per row", count(data.nearest)],
    ["Rows per landmark", range(data.rows_per_landmark)],
    ["Not the nearest of any row", `${count(data.unused)} of ${count(data.count)}`],
    data.mixed === null ? null : ["Shared between clusters", `${percent(data.mixed)} have less than 80 % of their weight in one cluster`],
    data.effective === null ? null : ["Effective landmarks per row", range(data.effective)],
    data.few === null ? null : ["Rows with few landmarks", `${percent(data.few)} have an effective number below two`],
  ].filter(Boolean);
  const columns = [
    { name: "Cluster", value: (row) => row.cluster, cell: (row) => named(row.cluster) },
    { name: capital(word), value: (row) => row.landmarks, cell: (row) => count(row.landmarks) },
    { name: "Rows per landmark", value: (row) => row.rows, cell: (row) => decimal(row.rows) },
  ];
  const rows = clusters.map(({ cluster, size }) => ({ cluster, landmarks: data.per_cluster[cluster], rows: data.per_cluster[cluster] ? size / data.per_cluster[cluster] : null }));
  return {
    id: "landmarks", title: "Landmarks",
    read: `Rows are described by their distances to ${word}. If a cluster has few of its own, or if many are shared between clusters, use more landmarks. Computed from ${plural(data.sample, "row")}.`,
    body: [table(columns, rows, { sortable: true, narrow: true, label: "Landmarks of clusters" }), definitions(list)],
  };
}

const definitions = (list) => el("dl", { class: "facts" }, list.filter(Boolean).map(([name, value]) => [el("dt", null, name), el("dd", null, value)]));

function choices({ choice, answer }) {
  if (!choice.length) return null;
  return {
    id: "choice", title: "Automatic choices",
    read: `${answer} These parameters were chosen from the rows, without labels. The choice is in bold; up to eight candidates are listed, best first.`,
    body: choice.map(decision),
  };
}

// Columns of the tables below in words.
const WORDS = { n_clusters: "number of clusters", cluster_dims: "dimensions", subspace_dim: "dimension", neighborhood: "rows per flat", n_rows: "rows tried", n_components: "eigenvectors", one_flat: "nats, one flat", k_flats: "nats, K flats" };
const inWords = (key) => WORDS[key] || spaced(key);

function decision({ name, reason, score, winner, larger_is_better: larger, candidates }) {
  const keys = [...new Set(candidates.flatMap(Object.keys))];
  const numbered = candidates.map((each, i) => ({ ...each, index: i }));
  const order = sorted(numbered, (row) => row[score], larger);
  const kept = new Set([winner, ...order.map((row) => row.index)].filter((each, i, all) => all.indexOf(each) === i).slice(0, 8));
  const columns = keys.map((key) => ({ name: key === score ? `${inWords(key)} (${larger ? "larger" : "smaller"} is better)` : inWords(key), cell: (row) => shown(row[key]) }));
  return el("div", { class: "decision" }, el("h3", null, capital(inWords(name))), el("p", { class: "quiet" }, `${capital(reason)}.`),
    table(columns, order.filter((row) => kept.has(row.index)), { narrow: true, won: (row) => row.index === winner, label: inWords(name) }));
}

function spectrum({ eigenvalues: data }) {
  if (!data) return null;
  const drop = data.largest_gap_at === data.n_clusters ? `The drop after eigenvalue ${data.n_clusters} is the largest, which supports this number of clusters.`
    : `The largest drop is after eigenvalue ${data.largest_gap_at}, not ${data.n_clusters}. If clusters touch or have several parts, gaps are small and not informative.`;
  return {
    id: "eigenvalues", title: "Eigenvalues",
    read: `${plural(data.n_clusters, "well separated cluster")} ${data.n_clusters === 1 ? "gives" : "give"} ${plural(data.n_clusters, "eigenvalue")} near one, then a drop. ${drop}`,
    body: [chart((width) => eigenvalues(data, width))],
  };
}

function making({ run, citation }) {
  const longest = Math.max(...run.stages.map(([, each]) => each || 0), 1e-9);
  const bar = (value) => svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { width: (100 * (value || 0)) / longest, height: 8 }));
  const stages = el("div", { class: "stage" }, run.stages.map(([name, value]) => [el("span", null, name), bar(value), el("span", null, seconds(value))]));
  const list = (items) => el("ul", null, items.map((each) => el("li", null, each)));
  const code = (words) => el("pre", null, el("code", null, words));
  return {
    id: "run", title: "Run", read: "Everything needed to repeat this run.",
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
