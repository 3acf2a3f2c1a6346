// What makes each cluster different: columns with bars, or mean images.
const MOST_CARDS = 12;

// The cluster in colour (bar: half of its rows, line: 80 % of them) over 80 % of all rows in grey.
function profileBar({ name, bar, all_bar: whole }, cluster) {
  const width = 150, height = 20;
  const low = Math.min(bar[0], whole[0]), high = Math.max(bar[4], whole[4]);
  const x = linear(low, high > low ? high : low + 1, 4, width - 4);
  const box = (from, to, attributes) => svg("rect", { x: x(from), width: Math.max(2, x(to) - x(from)), ...attributes });
  const own = svg("g", null, svg("line", { x1: x(bar[0]), x2: x(bar[4]), y1: height / 2, y2: height / 2, "stroke-width": 1.5 }),
    box(bar[1], bar[3], { y: 5, height: height - 10, rx: 2, "stroke-width": 0 }),
    svg("line", { x1: x(bar[2]), x2: x(bar[2]), y1: 2.5, y2: height - 2.5, "stroke-width": 2.4 }));
  own.style.stroke = color(cluster);
  own.style.fill = color(cluster);
  const write = (value) => near(value, whole[4] - whole[0]);
  const label = `${name}: median ${write(bar[2])} in ${clusterName(cluster)}, ${write(whole[2])} in all rows`;
  const node = svg("svg", { class: "bar", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
    box(whole[0], whole[4], { y: 1, height: height - 2, rx: 2, class: "whole" }),
    svg("line", { x1: x(whole[2]), x2: x(whole[2]), y1: 1, y2: height - 1, class: "middle" }), own);
  const range = (values) => `${write(values[0])} – ${write(values[4])}`;
  return tipped(node, () => [el("strong", null, name), pairs([["median here", write(bar[2])], ["median of all rows", write(whole[2])], ["8 of 10 rows here", range(bar)], ["8 of 10 of all rows", range(whole)]])]);
}

const cardTitle = (cluster, size) => el("h3", null, swatch(cluster), capital(clusterName(cluster)), el("span", { class: "quiet" }, plural(size, "row")));

function profileCard(profile, size) {
  const { cluster, columns, relations } = profile;
  const span = ({ all_bar: whole }) => whole[4] - whole[0];
  const line = (column) => el("tr", null, el("th", { scope: "row", title: column.name }, breakable(column.name)), el("td", { class: "word" }, column.word || MISSING),
    el("td", null, near(column.mean, span(column))), el("td", { class: "quiet" }, near(column.all, span(column))), el("td", { class: "drawn" }, profileBar(column, cluster)));
  const head = ["Column", "Here", "Mean here", "All rows", ""].map((name) => el("th", { scope: "col" }, name));
  const related = relations.map((each) => el("p", { class: "small" }, `${each.first} and ${each.second} ${each.here > 0 ? "rise together" : "move in opposite directions"} here: correlation ${fixed(each.here)}, and ${fixed(each.all)} in all rows.`));
  return el("div", { class: "card profile" }, cardTitle(cluster, size), el("table", null, el("thead", null, el("tr", null, head)), el("tbody", null, columns.map(line))), related);
}

function meanCard({ cluster, mean }, size, typical) {
  return el("div", { class: "card faces" }, cardTitle(cluster, size),
    el("div", { class: "means" }, el("figure", null, el("img", { src: mean, alt: `Mean of ${clusterName(cluster)}` }), el("figcaption", null, "mean")),
      el("figure", null, el("div", { class: "strip" }, typical.slice(0, 6).map((row) => el("img", { src: row.image, alt: rowName(row) }))), el("figcaption", null, "typical rows"))));
}

function profileCards({ profiles, clusters, examples, summary }) {
  const typical = (cluster) => (examples.find((each) => each.cluster === cluster) || {}).typical || [];
  const cards = profiles.map((each) => (summary.images ? meanCard(each, clusters[each.cluster].size, typical(each.cluster)) : profileCard(each, clusters[each.cluster].size)));
  const grid = (some) => el("div", { class: summary.images ? "cards small" : "cards" }, some);
  if (cards.length <= MOST_CARDS) return [grid(cards)];
  return [grid(cards.slice(0, MOST_CARDS)), el("details", { class: "more" }, el("summary", null, `The other ${cards.length - MOST_CARDS} clusters`), grid(cards.slice(MOST_CARDS)))];
}
