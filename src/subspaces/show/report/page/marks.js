// Colour and mark of each cluster, the same in all charts.
const OUTLIER = -1;
const COLOR_COUNT = 10;

const color = (cluster) => (cluster === OUTLIER ? "var(--outlier)" : `var(--cluster-${cluster % COLOR_COUNT})`);
const clusterName = (cluster) => (cluster === OUTLIER ? "outliers" : `cluster ${cluster}`);

const star = Array.from({ length: 10 }, (_, i) => {
  const radius = i % 2 ? 0.55 : 1.35;
  const angle = (Math.PI * i) / 5;
  return [radius * Math.sin(angle), -radius * Math.cos(angle)];
});
// Corners of the marks around the origin, in the same orientation; null is a circle.
const SHAPES = [
  null,
  [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
  [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
  [[0, -1.2], [1.15, 0.85], [-1.15, 0.85]],
  [[0, 1.2], [-1.15, -0.85], [1.15, -0.85]],
  [[-0.4, -1.15], [0.4, -1.15], [0.4, -0.4], [1.15, -0.4], [1.15, 0.4], [0.4, 0.4], [0.4, 1.15], [-0.4, 1.15], [-0.4, 0.4], [-1.15, 0.4], [-1.15, -0.4], [-0.4, -0.4]],
  star,
  [[-1.2, 0], [0.85, -1.15], [0.85, 1.15]],
  [[1.2, 0], [-0.85, 1.15], [-0.85, -1.15]],
];

// SVG path of a mark at a point.
function mark(cluster, x, y, size) {
  const at = (dx, dy) => `${(x + dx * size).toFixed(1)} ${(y + dy * size).toFixed(1)}`;
  if (cluster === OUTLIER) return `M${at(-0.9, -0.9)}L${at(0.9, 0.9)}M${at(-0.9, 0.9)}L${at(0.9, -0.9)}`;
  const shape = SHAPES[cluster % SHAPES.length];
  if (shape) return `M${shape.map(([dx, dy]) => at(dx, dy)).join("L")}Z`;
  const r = size.toFixed(1);
  return `M${at(-1, 0)}a${r} ${r} 0 1 1 ${(2 * size).toFixed(1)} 0a${r} ${r} 0 1 1 ${(-2 * size).toFixed(1)} 0Z`;
}

function swatch(cluster) {
  const path = svg("path", { d: mark(cluster, 7, 7, 4.6) });
  paint(path, cluster);
  return svg("svg", { class: "swatch", viewBox: "0 0 14 14", "aria-hidden": "true" }, path);
}

function paint(path, cluster) {
  if (cluster === OUTLIER) {
    path.setAttribute("fill", "none");
    path.setAttribute("stroke-width", 1.4);
    path.style.stroke = color(cluster);
  } else {
    path.style.fill = color(cluster);
  }
}

const named = (cluster) => el("span", { class: "name" }, swatch(cluster), cluster === OUTLIER ? "outliers" : String(cluster));
