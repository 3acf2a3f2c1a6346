// Two pictures of the same rows side by side: clusters of the model and of k-means.
function panel(data, labels, width, title) {
  const height = Math.round(0.72 * width), view = data.views[0];
  const [across, up] = [linear(0, 1, 10, width - 10), linear(0, 1, height - 10, 10)];
  const size = Math.max(1.6, Math.min(3.6, 130 / Math.sqrt(labels.length)));
  const paths = new Map();
  labels.forEach((label, i) => {
    const point = [across(view.points[0][i] / view.grid), up(view.points[1][i] / view.grid)];
    paths.set(label, (paths.get(label) || "") + mark(label, point[0], point[1], size));
  });
  const nodes = [...paths].sort(([a], [b]) => b - a).map(([cluster, d]) => {
    const path = svg("path", { d, class: "points" + (cluster === OUTLIER ? " cross" : "") });
    paint(path, cluster);
    return path;
  });
  return el("figure", { class: "panel" }, el("figcaption", null, title), picture(width, height, `${title}: rows as points, coloured by cluster`, ...nodes));
}

function besideSentence({ agreement, same, lengths: [own, other] }) {
  const first = agreement >= 0.9 ? "k-means finds nearly the same clusters." : `k-means puts ${percent(same, 0)} of the rows into the same clusters.`;
  const gain = other - own;
  if (Math.abs(gain) < 0.05) return `${first} Both describe the rows about equally well${agreement >= 0.9 ? ", so the simpler method would do" : ""}.`;
  return `${first} ${gain > 0 ? "The clusters of this report describe the rows better than those of k-means" : "Those of k-means describe the rows better than the clusters of this report"}.`;
}

function beside({ kmeans, scatter: data, summary }) {
  if (!kmeans) return null;
  const rows = [
    { name: "Rows in the same clusters", own: MISSING, other: percent(kmeans.same), others: (each) => percent(each.same) },
    { name: "Agreement (1: equal, 0: chance)", own: MISSING, other: fixed(kmeans.agreement), others: (each) => fixed(each.agreement) },
    { name: "Description of a row, in nats (less is better)", own: fixed(kmeans.lengths[0]), other: fixed(kmeans.lengths[1]), others: (each) => (each.length === null ? MISSING : fixed(each.length)) },
    kmeans.accuracies[0] === null ? null : { name: "Rows that match the known classes", own: percent(kmeans.accuracies[0]), other: percent(kmeans.accuracies[1]), others: (each) => percent(each.accuracy) },
  ].filter(Boolean);
  const columns = [{ name: "", kind: "label", cell: (row) => row.name }, { name: summary.model, cell: (row) => row.own }, { name: "k-means", kind: "title", cell: (row) => row.other },
    ...kmeans.others.map((each) => ({ name: each.name, cell: (row) => row.others(each) }))];
  const node = el("div", { class: "panels" });
  later.push(() => responsive(node, (width) => {
    const each = width > 620 ? (width - 20) / 2 : width;
    return el("div", { class: "panels" }, panel(data, data.labels, each, `${summary.model}, this report`), panel(data, kmeans.labels, each, "k-means"));
  }));
  const projected = kmeans.components === null ? "" : ` All of these methods use ${kmeans.components} principal components of the rows.`;
  const scaled = kmeans.standardised ? " Both use columns divided by their standard deviations." : "";
  return {
    id: "kmeans", title: "Beside other methods",
    read: `${besideSentence(kmeans)} k-means looks for round clusters of similar size. It was run on the same rows, with the same number of clusters.${scaled} The other methods are those of scikit-learn, on at most 2,000 of the rows; SpectralClustering uses another graph of neighbours than the verdict.${projected}`,
    body: [node, table(columns, rows, { narrow: true, label: "Comparison with other methods" })],
  };
}
