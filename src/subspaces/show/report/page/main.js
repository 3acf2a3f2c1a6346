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
  const parts = [facts.model, plural(facts.n_rows, "row"), facts.images ? null : `${plural(facts.n_columns, "column")}${facts.standardised ? ", standardised" : ""}`, facts.n_clusters > 1 ? plural(facts.n_clusters, "cluster") : "no clusters", facts.n_outliers ? plural(facts.n_outliers, "outlier") : null];
  document.getElementById("summary").textContent = parts.filter(Boolean).join(" · ");
}

function section({ id, title, read, body }, heading = "h2") {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el(heading, { id: `${id}-title` }, title), el("p", { class: "read" }, read), body);
}

function build() {
  const main = document.getElementById("main");
  const made = (list) => list.map((make) => make(data)).filter(Boolean);
  const first = made([clusterSection, embedding, evidence, beside, classes, exampleRows]);
  const details = made([clusterNumbers, distances, angles, seeds, landmarks, choices, spectrum, making]);
  const rest = { id: "details", title: "Methods and details" };
  main.append(el("nav", { "aria-label": "Contents" }, [...first, rest].map(({ id, title }) => el("a", { href: `#${id}` }, title))));
  for (const each of first) main.append(section(each));
  main.append(section({ ...rest, read: "How the clusters were computed, for a methods section or to repeat the run.", body: details.map((each) => section(each, "h3")) }));
  for (const draw of later) draw();
  document.getElementById("footer").textContent = "This page works offline and sends no data.";
}

// Open all details before printing.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));

theme();
summary(data);
build();
