// Two boxes per cluster: distances to the own flat, and to the nearest other flat.
function residuals(data, width) {
  const left = 92, right = 18, top = 6, bottom = 44, line = data.boxes.length > 20 ? 24 : 34;
  const height = top + line * data.boxes.length + bottom;
  const all = data.boxes.flatMap((box) => [...box.own, ...(box.other || [])]).filter((value) => value > 0);
  const least = Math.min(...all), most = Math.max(...all, 1e-300);
  const wide = all.length > 0 && most > 30 * least;
  const low = wide ? Math.max(least, most / 1e5) * 0.8 : 0;
  const x = wide ? logarithmic(low, most * 1.1, left, width - right) : linear(0, most * 1.03, left, width - right);
  const marks = wide ? logTicks(low, most * 1.1) : ticks(0, most * 1.03, Math.max(3, width / 110));
  const parts = marks.map((value) => [
    svg("line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: height - bottom }),
    text(x(value), height - bottom + 18, tick(value), { "text-anchor": "middle" }),
  ]).flat();
  const thick = 0.3 * line;
  const box = (values, y, paint, opacity, about) => {
    const group = svg("g", null,
      svg("line", { x1: x(values[0]), x2: x(values[4]), y1: y, y2: y, "stroke-width": 1.2 }),
      svg("rect", { x: x(values[1]), y: y - thick / 2, width: Math.max(1, x(values[3]) - x(values[1])), height: thick, rx: 2, "fill-opacity": opacity, "stroke-width": 1 }),
      svg("line", { x1: x(values[2]), x2: x(values[2]), y1: y - thick / 2, y2: y + thick / 2, "stroke-width": 2.4 }));
    group.style.stroke = paint;
    group.style.fill = paint;
    return tipped(group, () => [el("strong", null, about), pairs([["median", decimal(values[2])], ["half of the rows", `${decimal(values[1])} – ${decimal(values[3])}`], ["9 of 10 rows", `${decimal(values[0])} – ${decimal(values[4])}`]])]);
  };
  data.boxes.forEach(({ cluster, own, other }, i) => {
    const y = top + line * (i + 0.5);
    const name = svg("path", { d: mark(cluster, left - 76, y, 4.6) });
    paint(name, cluster);
    parts.push(name, text(left - 64, y + 4, clusterName(cluster), { class: "ink" }));
    parts.push(box(own, other ? y - 0.19 * line : y, color(cluster), 0.55, `${clusterName(cluster)}: distance to its own flat`));
    if (other) parts.push(box(other, y + 0.19 * line, "var(--outlier)", 0.25, `${clusterName(cluster)}: distance to the nearest other flat`));
  });
  parts.push(svg("path", { class: "axis", d: `M${left} ${height - bottom}H${width - right}` }));
  parts.push(text((left + width - right) / 2, height - 6, `distance to a flat${wide ? " (logarithmic)" : ""}`, { "text-anchor": "middle" }));
  return picture(width, height, "Distances of rows to their own flat and to the nearest other one, by cluster", ...parts);
}
