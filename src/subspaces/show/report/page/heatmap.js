// Heat map: angles between clusters, or clusters by classes.
const VIRIDIS = [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]];

function blend(stops, share) {
  const place = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(place));
  return stops[i].map((low, c) => Math.round(low + (place - i) * (stops[i + 1][c] - low)));
}

const bright = ([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b > 140;
const rgb = (parts) => `rgb(${parts.join(" ")})`;

// `cell(i, j)` returns {share, text, about}. Without `stops`, the accent colour is used; without a share, the cell is empty.
function heatmap(width, { rows, columns, cell, across, down, label, stops = null, wide = 56 }) {
  const longest = (names, most) => Math.min(most, 8 + 7 * Math.max(...names.map((name) => name.length)));
  const left = longest(rows, 110) + 22;
  const sizeWithin = (room) => Math.max(4, Math.min(columns.length > 6 ? 40 : wide, room / columns.length));
  const slanted = 7 * Math.max(...columns.map((name) => name.length)) > sizeWithin(width - left);
  const size = sizeWithin(width - left - (slanted ? 0.75 * longest(columns, 110) : 4));
  const top = (slanted ? 0.75 * longest(columns, 110) + 14 : 22) + 20;
  const full = left + size * columns.length + (slanted ? 0.75 * longest(columns, 110) : 2);
  const height = top + size * rows.length + 4;
  const step = Math.max(1, Math.ceil(13 / size));
  const parts = [
    text(left + (size * columns.length) / 2, 12, across, { "text-anchor": "middle" }),
    text(12, top + (size * rows.length) / 2, down, { "text-anchor": "middle", transform: `rotate(-90 12 ${top + (size * rows.length) / 2})` }),
  ];
  const cut = (name) => (name.length > 15 ? `${name.slice(0, 14)}…` : name);
  columns.forEach((name, j) => {
    if (j % step) return;
    const x = left + (j + 0.5) * size, y = top - 6;
    parts.push(text(x, y, cut(name), slanted ? { transform: `rotate(-45 ${x} ${y})` } : { "text-anchor": "middle" }));
  });
  rows.forEach((name, i) => {
    if (i % step === 0) parts.push(text(left - 6, top + (i + 0.5) * size + 4, cut(name), { "text-anchor": "end" }));
    columns.forEach((_, j) => {
      const found = cell(i, j);
      const empty = found.share === null;
      const painted = empty || !stops ? null : blend(stops, found.share);
      const square = svg("rect", { x: left + j * size, y: top + i * size, width: Math.max(1, size - 1), height: Math.max(1, size - 1), rx: size > 20 ? 2 : 0, fill: painted ? rgb(painted) : empty ? "var(--raised)" : "var(--accent)", "fill-opacity": painted || empty ? null : 0.12 + 0.88 * found.share });
      parts.push(tipped(square, () => [found.about]));
      // Too many numbers are not readable.
      if (size < 25 || !found.text || (stops && columns.length > 20)) return;
      const shade = painted ? (bright(painted) ? "#111" : "#fff") : empty ? "var(--quiet)" : found.share > 0.5 ? "var(--paper)" : "var(--ink)";
      const node = text(left + (j + 0.5) * size - 0.5, top + (i + 0.5) * size + 3.5, found.text, { "text-anchor": "middle", "font-size": Math.min(11.5, (1.55 * size) / found.text.length), "pointer-events": "none" });
      node.style.fill = shade;
      parts.push(node);
    });
  });
  return picture(Math.min(width, Math.ceil(full)), height, label, ...parts);
}

function ramp(stops, low, high) {
  const cells = Array.from({ length: 24 }, (_, i) => svg("rect", { x: i * 6, y: 0, width: 6.5, height: 10, fill: rgb(blend(stops, i / 23)) }));
  return el("p", { class: "small quiet name" }, low, svg("svg", { width: 144, height: 10, "aria-hidden": "true" }, cells), high);
}
