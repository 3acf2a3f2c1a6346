// Interactive scatter plot with one SVG path per cluster: hide clusters, inspect and select rows, pan and zoom.
const MARGIN = 14;
const HOVER_REACH = 14;
const PRESS_REACH = 18;
const MOST_ZOOM = 40;

// A shorter movement of the pointer is a click.
const LEAST_MOVE = 5;

class Scatter {
  constructor(data) {
    this.data = data;
    this.clusters = [...new Set(data.labels)].sort((a, b) => (a === OUTLIER) - (b === OUTLIER) || a - b);
    this.hidden = new Set();
    this.state = { view: 0, axes: [0, 1], zoom: 1, x: 0.5, y: 0.5, current: -1, lasso: false };
    this.selected = new Set();
    this.selection = el("div", { class: "selection", hidden: true, "aria-live": "polite" });
    this.frame = el("div", { class: "scatter" });
    this.status = el("p", { class: "small quiet", "aria-live": "polite" });
    this.sheet = data.images && Object.assign(new Image(), { src: data.images.source });
    this.screen = null;
  }

  get view() {
    return this.data.views[this.state.view];
  }

  // Position of row i, from 0 to 1.
  place(i, axis) {
    const { points, grid } = this.view;
    return points[this.state.axes[axis]][i] / grid;
  }

  axisName(axis) {
    return this.view.anchors ? "position between clusters" : this.view.axes[this.state.axes[axis]];
  }

  // Scales from positions to pixels.
  scales(width, height) {
    const { x, y, zoom } = this.state;
    const half = 0.5 / zoom;
    return [linear(x - half, x + half, MARGIN, width - MARGIN), linear(y - half, y + half, height - MARGIN, MARGIN)];
  }

  draw(width) {
    const height = Math.round(Math.min(0.72 * width, 520) + (width < 480 ? 60 : 0));
    const [across, up] = this.scales(width, height);
    const size = Math.max(2.1, Math.min(4.2, 190 / Math.sqrt(this.data.labels.length))) * Math.min(2, Math.sqrt(Math.sqrt(this.state.zoom)));
    const paths = new Map(this.clusters.map((cluster) => [cluster, []]));
    const placed = this.data.labels.map((label, i) => {
      const point = [across(this.place(i, 0)), up(this.place(i, 1))];
      const inside = point[0] > -9 && point[0] < width + 9 && point[1] > -9 && point[1] < height + 9;
      if (inside) paths.get(label).push(mark(label, point[0], point[1], size));
      return inside ? point : null;
    });
    const nodes = [...this.clusters].reverse().map((cluster) => this.clusterPath(cluster, paths.get(cluster).join("")));
    const ring = svg("circle", { class: "ring off", r: size + 4 });
    const chosen = svg("path", { class: "chosen" }), lasso = svg("path", { class: "lasso off" });
    const node = picture(width, height, `Rows as points, coloured by cluster: ${this.axisName(0)} across, ${this.axisName(1)} upwards`, ...nodes, chosen, ...this.captions(across, up, width, height), ring, lasso);
    node.setAttribute("tabindex", "0");
    node.querySelector("title").remove();
    this.screen = { node, placed, ring, chosen, lasso, width, height, nodes, size };
    this.mark();
    this.listenToPointer();
    this.listenToKeys();
    return node;
  }

  clusterPath(cluster, d) {
    const path = svg("path", { d, class: "points" + (cluster === OUTLIER ? " cross" : "") + (this.hidden.has(cluster) ? " off" : ""), "data-cluster": cluster });
    if (cluster === OUTLIER) path.style.stroke = color(cluster);
    else path.style.fill = color(cluster);
    return path;
  }

  // Numbers of the clusters on the ring, or names of the axes.
  captions(across, up, width, height) {
    if (this.view.anchors) return this.view.anchors.map(([x, y, cluster]) => text(across(x), up(y) + 4, cluster, { class: "anchor number", "text-anchor": "middle" }));
    return [
      text(width - 8, height - 8, `${this.axisName(0)} →`, { class: "anchor", "text-anchor": "end" }),
      text(8, 16, `↑ ${this.axisName(1)}`, { class: "anchor" })];
  }

  redraw() {
    this.frame.replaceChildren(this.draw(this.frame.clientWidth));
    this.frame.classList.toggle("moved", this.state.zoom > 1);
  }

  // Index of the nearest visible row within `reach` pixels; -1 if there is none.
  nearest([x, y], reach) {
    let best = -1, least = reach * reach;
    this.screen.placed.forEach((point, i) => {
      if (!point || this.hidden.has(this.data.labels[i])) return;
      const far = (point[0] - x) ** 2 + (point[1] - y) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  about(i) {
    const { data } = this;
    const label = data.labels[i];
    const number = `row ${data.rows[i]}`;
    const lines = [["cluster", label === OUTLIER ? "none (outlier)" : String(label)]];
    if (data.confidence) lines.push(["confidence", fixed(data.confidence[i])]);
    lines.push(["outlier score", fixed(data.scores[i])]);
    data.columns.forEach((name, j) => lines.push([name, cellValue(data.values[i][j])]));
    const named = data.names && data.names[i];
    const content = [el("strong", null, named || number), pairs(named ? [["number", number], ...lines] : lines)];
    if (this.sheet && i < data.images.count) content.push(this.tile(i));
    return content;
  }

  tile(i) {
    const { width, height, across } = this.data.images;
    const canvas = el("canvas", { width, height });
    if (this.sheet.complete) canvas.getContext("2d").drawImage(this.sheet, (i % across) * width, Math.floor(i / across) * height, width, height, 0, 0, width, height);
    return canvas;
  }

  // Mark row i and show its tooltip; -1 hides both.
  point(i) {
    const { screen } = this;
    this.state.current = i;
    screen.ring.classList.toggle("off", i < 0);
    if (i < 0) return tip.hide();
    const [x, y] = screen.placed[i];
    screen.ring.setAttribute("cx", x);
    screen.ring.setAttribute("cy", y);
    const box = screen.node.getBoundingClientRect();
    tip.show(this.about(i), box.left + (x * box.width) / screen.width, box.top + (y * box.height) / screen.height);
  }

  // Coordinates of an event in the units of the drawing.
  local(event) {
    const box = this.screen.node.getBoundingClientRect();
    return [((event.clientX - box.left) * this.screen.width) / box.width, ((event.clientY - box.top) * this.screen.height) / box.height];
  }

  // Draw rings around the selected rows.
  mark() {
    const { placed, chosen, size } = this.screen;
    chosen.setAttribute("d", [...this.selected].filter((i) => placed[i] && !this.hidden.has(this.data.labels[i])).map((i) => mark(0, ...placed[i], size + 2.4)).join(""));
  }

  // Select rows, in addition to those before or instead of them.
  select(rows, add) {
    if (!add) this.selected.clear();
    for (const i of rows) this.selected.add(i);
    this.mark();
    const chosen = [...this.selected].sort((a, b) => a - b);
    showSelection(this.selection, this.data, chosen, () => this.select([], false));
    this.status.textContent = chosen.length ? `${plural(chosen.length, "row")} selected` : "";
  }

  toggle(i) {
    if (i < 0) return;
    const rest = [...this.selected].filter((each) => each !== i);
    this.select(rest.length < this.selected.size ? rest : [...rest, i], false);
  }

  // Rows inside of a path that are not hidden.
  enclosed(path) {
    return this.screen.placed.flatMap((point, i) => (point && !this.hidden.has(this.data.labels[i]) && encloses(path, point) ? [i] : []));
  }

  // A drag moves the picture if it is enlarged, and otherwise draws around rows; so it does if the button Lasso is pressed.
  listenToPointer() {
    const { state, frame, screen: { node, lasso } } = this;
    let grip = null, path = null;
    const drop = () => {
      path = null;
      lasso.classList.add("off");
    };
    node.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (state.lasso || (event.pointerType === "mouse" && state.zoom === 1)) {
        path = [this.local(event)];
        node.setPointerCapture(event.pointerId);
      } else {
        grip = { x: event.clientX, y: event.clientY, at: [state.x, state.y], mouse: event.pointerType === "mouse", start: this.local(event) };
      }
    });
    node.addEventListener("pointermove", (event) => {
      if (path) {
        path.push(this.local(event));
        lasso.setAttribute("d", `M${path.map((point) => point.map((each) => each.toFixed(1)).join(" ")).join("L")}Z`);
        lasso.classList.remove("off");
        return this.point(-1);
      }
      if (!grip) return this.point(this.nearest(this.local(event), HOVER_REACH));
      if (!grip.mouse || state.zoom === 1) return null;
      frame.classList.add("moving");
      const box = node.getBoundingClientRect();
      state.x = grip.at[0] - (event.clientX - grip.x) / box.width / state.zoom;
      state.y = grip.at[1] + (event.clientY - grip.y) / box.height / state.zoom;
      return this.move();
    });
    const release = () => {
      if (grip && (state.x !== grip.at[0] || state.y !== grip.at[1])) this.redraw();
      grip = null;
      frame.classList.remove("moving");
    };
    node.addEventListener("pointerup", (event) => {
      const end = this.local(event);
      const start = path ? path[0] : grip ? grip.start : null;
      const still = start && (path || [end]).every(([x, y]) => Math.hypot(x - start[0], y - start[1]) < LEAST_MOVE);
      if (still) {
        const i = this.nearest(end, PRESS_REACH);
        this.toggle(i);
        this.point(i);
      } else if (path) {
        this.select(this.enclosed(path), event.shiftKey);
      }
      drop();
      release();
    });
    node.addEventListener("pointercancel", () => { drop(); release(); });
    node.addEventListener("pointerleave", () => { release(); this.point(-1); });
    // The wheel scrolls the page; with Ctrl it zooms.
    node.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.25 : 0.8, this.local(event));
    }, { passive: false });
    node.addEventListener("dblclick", (event) => this.zoom(2, this.local(event)));
  }

  listenToKeys() {
    const { node } = this.screen;
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    node.addEventListener("blur", () => this.point(-1));
    node.addEventListener("keydown", (event) => {
      if (event.key in steps) this.step(steps[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-") this.zoom(1 / 1.5);
      else if (event.key === "0") this.reset();
      else if (event.key === "Enter" || event.key === " ") this.toggle(this.state.current);
      else if (event.key === "Escape") this.point(-1);
      else return;
      event.preventDefault();
    });
  }

  // While dragging, shift the existing paths; redraw on release.
  move() {
    const { screen } = this;
    const [across, up] = this.scales(screen.width, screen.height);
    const i = screen.placed.findIndex((each) => each);
    if (i < 0) return;
    const [dx, dy] = [across(this.place(i, 0)) - screen.placed[i][0], up(this.place(i, 1)) - screen.placed[i][1]];
    for (const each of screen.node.querySelectorAll("path, .anchor.number")) each.setAttribute("transform", `translate(${dx} ${dy})`);
    screen.ring.classList.add("off");
    tip.hide();
  }

  // Select the next row from left to right.
  step(by) {
    const { placed } = this.screen;
    const { labels, rows } = this.data;
    const order = placed.map((_, i) => i).filter((i) => placed[i] && !this.hidden.has(labels[i])).sort((a, b) => placed[a][0] - placed[b][0] || a - b);
    if (!order.length) return;
    const at = order.indexOf(this.state.current);
    const next = order[at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length];
    this.point(next);
    this.status.textContent = `Row ${rows[next]}, ${clusterName(labels[next])}`;
  }

  zoom(by, at) {
    const { state } = this;
    const before = state.zoom;
    state.zoom = Math.max(1, Math.min(MOST_ZOOM, state.zoom * by));
    if (at) {
      const [u, v] = [at[0] / this.screen.width - 0.5, 0.5 - at[1] / this.screen.height];
      state.x += u / before - u / state.zoom;
      state.y += v / before - v / state.zoom;
    }
    if (state.zoom === 1) [state.x, state.y] = [0.5, 0.5];
    this.point(-1);
    const focused = document.activeElement === this.screen.node;
    this.redraw();
    if (focused) this.screen.node.focus();
  }

  reset() {
    Object.assign(this.state, { zoom: 1, x: 0.5, y: 0.5 });
    this.zoom(1);
  }
}

// Buttons that hide clusters or show one of them only.
function scatterLegend(plot, sizes) {
  const { clusters, hidden } = plot;
  const entries = new Map();
  const update = () => {
    for (const node of plot.screen.nodes) node.classList.toggle("off", hidden.has(Number(node.dataset.cluster)));
    for (const [cluster, entry] of entries) entry.setAttribute("aria-pressed", String(!hidden.has(cluster)));
    const seen = clusters.filter((cluster) => !hidden.has(cluster));
    plot.status.textContent = seen.length === clusters.length ? "" : `Shown: ${seen.map(clusterName).join(", ") || "nothing"}`;
    plot.mark();
    plot.point(-1);
  };
  const toggle = (cluster) => {
    if (!hidden.delete(cluster)) hidden.add(cluster);
    update();
  };
  const only = (cluster) => {
    const alone = clusters.every((each) => (each === cluster) !== hidden.has(each));
    hidden.clear();
    if (!alone) clusters.filter((each) => each !== cluster).forEach((each) => hidden.add(each));
    update();
  };
  const items = clusters.map((cluster) => {
    const entry = el("button", { type: "button", class: "entry", "aria-pressed": "true", title: "Hide or show", onclick: () => toggle(cluster) },
      swatch(cluster), clusterName(cluster), el("span", { class: "count" }, count(sizes.get(cluster))));
    entries.set(cluster, entry);
    return el("li", null, entry, el("button", { type: "button", class: "only", "aria-label": `Show ${clusterName(cluster)} only`, onclick: () => only(cluster) }, "only"));
  });
  const all = el("button", { type: "button", class: "all", onclick: () => { hidden.clear(); update(); } }, "Show all");
  const list = el("ul", null, items);
  // The end of a list that is cut off fades.
  const fade = () => list.classList.toggle("more", list.scrollTop + list.clientHeight < list.scrollHeight - 4);
  list.addEventListener("scroll", fade, { passive: true });
  new ResizeObserver(fade).observe(list);
  return el("div", { class: "legend" }, list, all);
}

// Fill `controls` with menus of views and axes and with zoom buttons, and `note` with a sentence on the view.
function scatterControls(plot, controls, note) {
  const { data, state, view } = plot;
  const select = (label, names, chosen, change) => {
    const options = names.map((name, i) => el("option", { value: i, selected: i === chosen }, name));
    return el("label", null, label, el("select", { "aria-label": label, onchange: (event) => change(Number(event.target.value)) }, options));
  };
  const chooseView = (value) => {
    state.view = value;
    state.axes = [0, 1];
    scatterControls(plot, controls, note);
    plot.reset();
  };
  const lasso = (event) => {
    state.lasso = !state.lasso;
    plot.frame.classList.toggle("lassoing", state.lasso);
    event.currentTarget.setAttribute("aria-pressed", String(state.lasso));
  };
  const chooseAxis = (axis) => (value) => { state.axes[axis] = value; plot.reset(); };
  const names = view.axes;
  const axes = !view.anchors && names.length > 2;
  note.textContent = view.note;
  controls.replaceChildren(...[
    data.views.length > 1 ? select("View", data.views.map((each) => each.name), state.view, chooseView) : null,
    axes ? select("Horizontal", names, state.axes[0], chooseAxis(0)) : null,
    axes ? select("Vertical", names, state.axes[1], chooseAxis(1)) : null,
    el("span", { class: "zoom" },
      el("button", { type: "button", "aria-pressed": String(state.lasso), title: "Draw around rows to select them", onclick: lasso }, "Lasso"),
      el("button", { type: "button", "aria-label": "Zoom in", onclick: () => plot.zoom(1.5) }, "+"),
      el("button", { type: "button", "aria-label": "Zoom out", onclick: () => plot.zoom(1 / 1.5) }, "−"),
      el("button", { type: "button", onclick: () => plot.reset() }, "Reset")),
  ].filter(Boolean));
}

function scatter(data, sizes) {
  const plot = new Scatter(data);
  const controls = el("div", { class: "controls" });
  const note = el("p", { class: "small quiet" });
  scatterControls(plot, controls, note);
  responsive(plot.frame, (width) => plot.draw(width));
  return [controls, el("div", { class: "plot" }, el("div", null, plot.frame, plot.status, note), scatterLegend(plot, sizes)), plot.selection];
}
