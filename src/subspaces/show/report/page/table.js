// Letters of a word that is not broken in a heading.
const LONG_WORD = 16;

// Tables that can be sorted by clicking a heading. A column is {name, value(row), cell(row), kind}; its kind is "text" for
// sentences, "word" for a single word, "label" for what a line is about, "title" for a heading of one line, or "long" for the
// name of a column of the rows.
function table(columns, rows, { sortable = false, narrow = false, won = null, label = null } = {}) {
  const body = el("tbody");
  const draw = (order) => body.replaceChildren(...order.map((row) =>
    el("tr", { class: won && won(row) ? "won" : null }, columns.map((column) => el("td", { class: column.kind }, column.cell(row))))));
  const heads = columns.map((column) => el("th", { scope: "col", class: column.kind }));
  // Names break between words, if these are not too long.
  columns.forEach((column, i) => column.kind === "long" && heads[i].style.setProperty("--letters", Math.min(LONG_WORD, longestWord(column.name))));
  heads.forEach((head, i) => {
    if (!sortable) return head.append(breakable(columns[i].name));
    const arrow = el("span", { class: "arrow", "aria-hidden": "true" });
    const press = () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of heads) {
        other.removeAttribute("aria-sort");
        other.querySelector(".arrow").textContent = "";
      }
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      arrow.textContent = down ? "▼" : "▲";
      draw(sorted(rows, columns[i].value, down));
    };
    head.append(el("button", { type: "button", onclick: press }, columns[i].name, arrow));
  });
  draw(rows);
  return scrolled(el("table", { class: narrow ? "narrow" : null, "aria-label": label }, el("thead", null, el("tr", null, heads)), body));
}

// A frame that scrolls sideways, with a hint as long as columns are hidden at its right.
function scrolled(content) {
  const wide = el("div", { class: "wide" }, content);
  const frame = el("div", { class: "scrolled" }, wide, el("p", { class: "hint", "aria-hidden": "true" }, "Scroll sideways for more columns →"));
  const update = () => {
    const over = wide.scrollWidth - wide.clientWidth;
    frame.classList.toggle("more", over > 4 && wide.scrollLeft < over - 4);
    // A frame that scrolls can be reached by keyboard.
    if (over > 4) wide.setAttribute("tabindex", "0");
    else wide.removeAttribute("tabindex");
  };
  wide.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(wide);
  return frame;
}

// Missing values come last in both directions.
function sorted(rows, value, down) {
  const missing = (row) => value(row) === null || value(row) === undefined;
  const known = rows.filter((row) => !missing(row));
  known.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (down ? -1 : 1));
  return [...known, ...rows.filter(missing)];
}
