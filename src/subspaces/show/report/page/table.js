// Tables that can be sorted by clicking a heading. A column is {name, value(row), cell(row), text}.
function table(columns, rows, { sortable = false, narrow = false, won = null, label = null } = {}) {
  const body = el("tbody");
  const draw = (order) => body.replaceChildren(...order.map((row) =>
    el("tr", { class: won && won(row) ? "won" : null }, columns.map((column) => el("td", { class: column.text ? "text" : null }, column.cell(row))))));
  const heads = columns.map((column) => el("th", { scope: "col", class: column.text ? "text" : null }));
  heads.forEach((head, i) => {
    if (!sortable) return head.append(columns[i].name);
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
  return el("div", { class: "wide" }, el("table", { class: narrow ? "narrow" : null, "aria-label": label }, el("thead", null, el("tr", null, heads)), body));
}

// Missing values come last in both directions.
function sorted(rows, value, down) {
  const missing = (row) => value(row) === null || value(row) === undefined;
  const known = rows.filter((row) => !missing(row));
  known.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (down ? -1 : 1));
  return [...known, ...rows.filter(missing)];
}
