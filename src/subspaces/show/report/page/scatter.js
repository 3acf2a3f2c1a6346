// Interactive scatter plot with one SVG path per cluster: hide clusters, inspect rows, pan and zoom.
function scatter(data, sizes) {
  const clusters = [...new Set(data.labels)].sort((a, b) => (a === OUTLIER) - (b === OUTLIER) || a - b);
  const hidden = new Set();
  const state = { view: 0, axes: firstAxes(data.views[0]), zoom: 1, x: 0.5, y: 0.5, current: -1 };
  const frame = el("div", { class: "scatter" });
  const status = el("p", { class: "small quiet", "aria-live": "polite" });
  const entries = new Map();
  let screen = null;

  const sheet = data.images && Object.assign(new Image(), { src: data.images.source });

  // Position of row i, from 0 to 1. With one coordinate, rows are spread vertically by the golden ratio.
  function place(i, axis) {
    const { points, grid } = data.views[state.view];
    if (axis === 1 && points.length === 1) return (i * 0.6180339887) % 1;
    return points[state.axes[axis]][i] / grid;
  }

  function draw(width) {
    const height = Math.round(Math.min(0.72 * width, 520) + (width < 480 ? 60 : 0));
    const left = 14, right = 14, top = 14, bottom = 14;
    const half = 0.5 / state.zoom;
    const across = linear(state.x - half, state.x + half, left, width - right);
    const up = linear(state.y - half, state.y + half, height - bottom, top);
    const total = data.labels.length;
    const size = Math.max(2.1, Math.min(4.2, 190 / Math.sqrt(total))) * Math.min(2, Math.sqrt(Math.sqrt(state.zoom)));
    const paths = new Map(clusters.map((cluster) => [cluster, []]));
    const placed = data.labels.map((label, i) => {
      const point = [across(place(i, 0)), up(place(i, 1))];
      const inside = point[0] > -9 && point[0] < width + 9 && point[1] > -9 && point[1] < height + 9;
      if (inside) paths.get(label).push(mark(label, point[0], point[1], size));
      return inside ? point : null;
    });
    const nodes = [...clusters].reverse().map((cluster) => {
      const path = svg("path", { d: paths.get(cluster).join(""), class: "points" + (cluster === OUTLIER ? " cross" : "") + (hidden.has(cluster) ? " off" : ""), "data-cluster": cluster });
      if (cluster === OUTLIER) path.style.stroke = color(cluster);
      else path.style.fill = color(cluster);
      return path;
    });
    const anchors = (data.views[state.view].anchors || []).map(([x, y, cluster]) => text(across(x), up(y) + 4, cluster, { class: "anchor number", "text-anchor": "middle" }));
    const axes = data.views[state.view].anchors ? [] : [
      text(width - 8, height - 8, `${axisName(0)} →`, { class: "anchor", "text-anchor": "end" }),
      data.views[state.view].points.length > 1 ? text(8, 16, `↑ ${axisName(1)}`, { class: "anchor" }) : null];
    const ring = svg("circle", { class: "ring off", r: size + 4 });
    const node = picture(width, height, `Rows as points, coloured by cluster: ${axisName(0)} across, ${axisName(1)} upwards`, ...nodes, ...anchors, ...axes, ring);
    node.setAttribute("tabindex", "0");
    node.querySelector("title").remove();
    screen = { node, placed, ring, width, height, nodes };
    listen();
    return node;
  }

  function axisName(axis) {
    const view = data.views[state.view];
    if (view.anchors) return "position between clusters";
    return view.points.length === 1 && axis === 1 ? "spread (no meaning)" : `${view.axis} ${state.axes[axis] + 1}`;
  }

  function redraw() {
    frame.replaceChildren(draw(frame.clientWidth));
    frame.classList.toggle("moved", state.zoom > 1);
  }

  function nearest(x, y, reach) {
    let best = -1, least = reach * reach;
    screen.placed.forEach((point, i) => {
      if (!point || hidden.has(data.labels[i])) return;
      const far = (point[0] - x) ** 2 + (point[1] - y) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  function about(i) {
    const label = data.labels[i];
    const number = `row ${data.rows[i]}`;
    const lines = [["cluster", label === OUTLIER ? "none (outlier)" : String(label)]];
    if (data.confidence) lines.push(["confidence", fixed(data.confidence[i])]);
    data.columns.forEach((name, j) => lines.push([name, cellValue(data.values[i][j])]));
    const named = data.names && data.names[i];
    const content = [el("strong", null, named || number), pairs(named ? [["number", number], ...lines] : lines)];
    if (sheet && i < data.images.count) content.push(tile(i));
    return content;
  }

  function tile(i) {
    const { width, height, across } = data.images;
    const canvas = el("canvas", { width, height });
    if (sheet.complete) canvas.getContext("2d").drawImage(sheet, (i % across) * width, Math.floor(i / across) * height, width, height, 0, 0, width, height);
    return canvas;
  }

  function point(i) {
    state.current = i;
    screen.ring.classList.toggle("off", i < 0);
    if (i < 0) return tip.hide();
    const [x, y] = screen.placed[i];
    screen.ring.setAttribute("cx", x);
    screen.ring.setAttribute("cy", y);
    const box = screen.node.getBoundingClientRect();
    tip.show(about(i), box.left + (x * box.width) / screen.width, box.top + (y * box.height) / screen.height);
  }

  function listen() {
    let grip = null;
    const { node } = screen;
    const local = (event) => {
      const box = node.getBoundingClientRect();
      return [((event.clientX - box.left) * screen.width) / box.width, ((event.clientY - box.top) * screen.height) / box.height];
    };
    node.addEventListener("pointerdown", (event) => {
      if (state.zoom > 1 && event.pointerType === "mouse") grip = { x: event.clientX, y: event.clientY, at: [state.x, state.y] };
      else point(nearest(...local(event), 18));
    });
    node.addEventListener("pointermove", (event) => {
      if (!grip) return point(nearest(...local(event), 14));
      frame.classList.add("moving");
      const box = node.getBoundingClientRect();
      state.x = grip.at[0] - (event.clientX - grip.x) / box.width / state.zoom;
      state.y = grip.at[1] + (event.clientY - grip.y) / box.height / state.zoom;
      move();
    });
    const release = () => {
      if (grip && (state.x !== grip.at[0] || state.y !== grip.at[1])) redraw();
      grip = null;
      frame.classList.remove("moving");
    };
    node.addEventListener("pointerup", release);
    node.addEventListener("pointerleave", () => { release(); point(-1); });
    // The wheel scrolls the page; with Ctrl it zooms.
    node.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, local(event));
    }, { passive: false });
    node.addEventListener("dblclick", (event) => zoom(2, local(event)));
    node.addEventListener("blur", () => point(-1));
    node.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (event.key in steps) step(steps[event.key]);
      else if (event.key === "+" || event.key === "=") zoom(1.5);
      else if (event.key === "-") zoom(1 / 1.5);
      else if (event.key === "0") reset();
      else if (event.key === "Escape") point(-1);
      else return;
      event.preventDefault();
    });
  }

  // While dragging, shift the existing paths; redraw on release.
  function move() {
    const half = 0.5 / state.zoom;
    const across = linear(state.x - half, state.x + half, 14, screen.width - 14);
    const up = linear(state.y - half, state.y + half, screen.height - 14, 14);
    const i = screen.placed.findIndex((each) => each);
    if (i < 0) return;
    const [dx, dy] = [across(place(i, 0)) - screen.placed[i][0], up(place(i, 1)) - screen.placed[i][1]];
    for (const each of screen.node.querySelectorAll("path, .anchor.number")) each.setAttribute("transform", `translate(${dx} ${dy})`);
    screen.ring.classList.add("off");
    tip.hide();
  }

  // Select the next row from left to right.
  function step(by) {
    const order = screen.placed.map((_, i) => i).filter((i) => screen.placed[i] && !hidden.has(data.labels[i])).sort((a, b) => screen.placed[a][0] - screen.placed[b][0] || a - b);
    if (!order.length) return;
    const at = order.indexOf(state.current);
    const next = at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length;
    point(order[next]);
    status.textContent = `Row ${data.rows[order[next]]}, ${clusterName(data.labels[order[next]])}`;
  }

  function zoom(by, at) {
    const before = state.zoom;
    state.zoom = Math.max(1, Math.min(40, state.zoom * by));
    if (at) {
      const [u, v] = [at[0] / screen.width - 0.5, 0.5 - at[1] / screen.height];
      state.x += u / before - u / state.zoom;
      state.y += v / before - v / state.zoom;
    }
    if (state.zoom === 1) [state.x, state.y] = [0.5, 0.5];
    point(-1);
    const focused = document.activeElement === screen.node;
    redraw();
    if (focused) screen.node.focus();
  }

  function reset() {
    Object.assign(state, { zoom: 1, x: 0.5, y: 0.5 });
    zoom(1);
  }

  function show() {
    for (const node of screen.nodes) node.classList.toggle("off", hidden.has(Number(node.dataset.cluster)));
    for (const [cluster, entry] of entries) entry.setAttribute("aria-pressed", String(!hidden.has(cluster)));
    const seen = clusters.filter((cluster) => !hidden.has(cluster));
    status.textContent = seen.length === clusters.length ? "" : `Shown: ${seen.map(clusterName).join(", ") || "nothing"}`;
    point(-1);
  }

  function legend() {
    const only = (cluster) => {
      const alone = clusters.every((each) => (each === cluster) !== hidden.has(each));
      hidden.clear();
      if (!alone) clusters.filter((each) => each !== cluster).forEach((each) => hidden.add(each));
      show();
    };
    const items = clusters.map((cluster) => {
      const toggle = () => {
        if (!hidden.delete(cluster)) hidden.add(cluster);
        show();
      };
      const entry = el("button", { type: "button", class: "entry", "aria-pressed": "true", title: "Hide or show", onclick: toggle },
        swatch(cluster), clusterName(cluster), el("span", { class: "count" }, count(sizes.get(cluster))));
      entries.set(cluster, entry);
      return el("li", null, entry, el("button", { type: "button", class: "only", "aria-label": `Show ${clusterName(cluster)} only`, onclick: () => only(cluster) }, "only"));
    });
    const all = el("button", { type: "button", class: "all", onclick: () => { hidden.clear(); show(); } }, "Show all");
    return el("div", { class: "legend" }, el("ul", null, items), all);
  }

  function select(label, names, chosen, change) {
    const options = names.map((name, i) => el("option", { value: i, selected: i === chosen }, name));
    return el("label", null, label, el("select", { "aria-label": label, onchange: (event) => change(Number(event.target.value)) }, options));
  }

  const controls = el("div", { class: "controls" });
  const note = el("p", { class: "small quiet" });
  function fillControls() {
    const view = data.views[state.view];
    note.textContent = view.note;
    const names = view.points.map((_, i) => `${view.axis} ${i + 1}`);
    const choose = (axis) => (value) => { state.axes[axis] = value; reset(); };
    controls.replaceChildren(...[
      data.views.length > 1 ? select("View", data.views.map((each) => each.name), state.view, (value) => {
        state.view = value;
        state.axes = firstAxes(data.views[value]);
        fillControls();
        reset();
      }) : null,
      !view.anchors && names.length > 1 ? select("Horizontal", names, state.axes[0], choose(0)) : null,
      !view.anchors && names.length > 1 ? select("Vertical", names, state.axes[1], choose(1)) : null,
      el("span", { class: "zoom" },
        el("button", { type: "button", "aria-label": "Zoom in", onclick: () => zoom(1.5) }, "+"),
        el("button", { type: "button", "aria-label": "Zoom out", onclick: () => zoom(1 / 1.5) }, "−"),
        el("button", { type: "button", onclick: reset }, "Reset")),
    ].filter(Boolean));
  }
  fillControls();
  const left = el("div", null, frame, status, note);
  responsive(frame, draw);
  return [controls, el("div", { class: "plot" }, left, legend())];
}

const firstAxes = (view) => [0, Math.min(1, view.points.length - 1)];
