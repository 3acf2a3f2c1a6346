function eigenvalues(data, width) {
  const { values, n_clusters: k } = data;
  const height = Math.min(300, 120 + 0.3 * width);
  const left = 48, right = 12, top = 14, bottom = 44;
  const least = Math.min(...values), most = Math.max(...values);
  const room = 0.06 * (most - least || 1);
  const x = linear(0.5, values.length + 0.5, left, width - right);
  const y = linear(least - room, most + room, height - bottom, top);
  const parts = [];
  if (data.gap !== null) {
    parts.push(svg("rect", { x: x(k), y: top, width: x(k + 1) - x(k), height: height - bottom - top, fill: "var(--gap)" }));
    const late = k > 0.6 * values.length;
    parts.push(text(late ? x(k) - 6 : x(k + 1) + 6, late ? height - bottom - 8 : top + 12, `gap at K = ${k}: ${decimal(data.gap)}`, { class: "ink", "text-anchor": late ? "end" : "start" }));
  }
  for (const value of ticks(least - room, most + room, 5)) {
    parts.push(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    parts.push(text(left - 8, y(value) + 4, tick(value), { "text-anchor": "end" }));
  }
  parts.push(svg("path", { d: `M${values.map((value, i) => `${x(i + 1).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}`, fill: "none", stroke: "var(--strong)" }));
  const radius = values.length > 60 ? 2.5 : 4;
  values.forEach((value, i) => {
    const inside = i < k;
    const dot = svg("circle", { cx: x(i + 1), cy: y(value), r: inside ? radius + 0.5 : radius, fill: inside ? "var(--cluster-0)" : "var(--outlier)" });
    parts.push(tipped(dot, () => [`eigenvalue ${i + 1}: ${decimal(value, 4)}`]));
  });
  for (const value of ticks(1, values.length, Math.max(3, width / 60)).filter((each) => Number.isInteger(each) && each > 0)) {
    parts.push(text(x(value), height - bottom + 18, value, { "text-anchor": "middle" }));
  }
  parts.push(svg("path", { class: "axis", d: `M${left} ${height - bottom}H${width - right}` }));
  parts.push(text((left + width - right) / 2, height - 6, "index of the eigenvalue", { "text-anchor": "middle" }));
  return picture(width, height, `Eigenvalues in descending order, with the gap after the first ${k} marked`, ...parts);
}
