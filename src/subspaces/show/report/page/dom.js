// Elements, SVG and the tooltip. Content is always set as text, never as HTML.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function picture(width, height, label, ...children) {
  const title = svg("title", null, label);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...children, title);
}

// Draw into `node` at its width, and again when the width changes.
function responsive(node, draw) {
  let width = 0;
  const redraw = () => {
    const now = Math.floor(node.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      node.replaceChildren(draw(width));
    }
  };
  new ResizeObserver(redraw).observe(node);
  redraw();
}

const tip = {
  node: document.getElementById("tip"),
  show(content, x, y) {
    this.node.replaceChildren(...content);
    this.node.hidden = false;
    const box = this.node.getBoundingClientRect();
    const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
    const top = y + 14 + box.height > innerHeight ? y - 14 - box.height : y + 14;
    this.node.style.left = `${Math.max(4, left)}px`;
    this.node.style.top = `${Math.max(4, top)}px`;
  },
  hide() {
    this.node.hidden = true;
  },
};

// Add a tooltip that opens by pointer and by keyboard.
function tipped(node, content) {
  node.addEventListener("pointermove", (event) => tip.show(content(), event.clientX, event.clientY));
  node.addEventListener("pointerleave", () => tip.hide());
  node.addEventListener("focus", () => {
    const box = node.getBoundingClientRect();
    tip.show(content(), box.right, box.top);
  });
  node.addEventListener("blur", () => tip.hide());
  return node;
}

// A name that breaks between its words, if these are joined by signs: flavanoids/total_phenols.
const breakable = (name) => el("span", null, String(name).split(/(?<=[_/.:|])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part])));
const longestWord = (name) => Math.max(...String(name).split(/(?<=[_/.:|])|\s+/).map((part) => part.length));

const pairs = (list) => el("dl", null, list.filter(Boolean).map(([name, value]) => [el("dt", null, name), el("dd", null, value)]));
