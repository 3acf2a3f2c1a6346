const data = JSON.parse(document.getElementById("data").textContent);

function theme() {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const update = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; update(); });
  system.addEventListener("change", update);
  button.hidden = false;
  update();
}

function summary({ summary: facts }) {
  const parts = [facts.model, plural(facts.n_rows, "row"), facts.images ? null : plural(facts.n_columns, "column"), plural(facts.n_clusters, "cluster"), facts.n_outliers ? plural(facts.n_outliers, "outlier") : null];
  document.getElementById("summary").textContent = parts.filter(Boolean).join(" · ");
}

function build() {
  const main = document.getElementById("main");
  const sections = [evidence, spectrum, embedding, clusterTable, angles, distances, exampleRows, landmarks, seeds, choices, classes, making].map((make) => make(data)).filter(Boolean);
  main.append(el("nav", { "aria-label": "Contents" }, sections.map(({ id, title }) => el("a", { href: `#${id}` }, title))));
  for (const { id, title, read, body } of sections) {
    main.append(el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), el("p", { class: "read" }, read), body));
  }
  for (const draw of later) draw();
  document.getElementById("footer").textContent = "This page works offline and sends no data.";
}

// Open all details before printing.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));

theme();
summary(data);
build();
