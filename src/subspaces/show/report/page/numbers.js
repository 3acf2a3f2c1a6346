// Number formats.
const MISSING = "–";

const count = (value) => (value === null || value === undefined ? MISSING : value.toLocaleString("en-GB"));

// Round to significant digits; with `exact`, trailing zeros are kept.
function decimal(value, digits = 3, exact = true) {
  if (value === null || value === undefined) return MISSING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1).replace("e+", "e").replace("-", "−");
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toLocaleString("en-GB", { maximumFractionDigits: places, minimumFractionDigits: exact ? places : 0 }).replace("-", "−");
}

const fixed = (value, places = 2) => (value === null || value === undefined ? MISSING : value.toFixed(places).replace(/^-(?=[0.]*$)/, "").replace("-", "−"));
// A value with as many decimals as matter for values that differ by `span`.
function near(value, span) {
  if (value === null || value === undefined || !(span > 1e-4) || Math.abs(value) >= 1e6) return decimal(value);
  const places = Math.max(0, 1 - Math.floor(Math.log10(span)));
  return value.toLocaleString("en-GB", { maximumFractionDigits: places, minimumFractionDigits: places }).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
}
const percent = (value, places = 1) => (value === null || value === undefined ? MISSING : `${(100 * value).toFixed(places)}\u00a0%`);
const degrees = (value) => (value === null || value === undefined ? MISSING : `${value.toFixed(1)}°`);

function seconds(value) {
  if (value === null || value === undefined) return MISSING;
  if (value < 1) return `${Math.round(1000 * value)} ms`;
  if (value < 120) return `${decimal(value)} s`;
  return value < 7200 ? `${decimal(value / 60)} min` : `${decimal(value / 3600)} h`;
}

function bytes(value) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let i = 0;
  for (; value >= 1000 && i < units.length - 1; i++) value /= 1000;
  return `${decimal(value)} ${units[i]}`;
}

const tick = (value) => decimal(value, 3, false);
// A function that writes the values of a column: without decimals if all of them are integers.
const columnFormat = (values) => (values.every((value) => value === null || value === undefined || Number.isInteger(value)) ? count : (value) => decimal(value));
const cellValue = (value) => columnFormat([value])(value);

// Format a candidate value of any type.
function shown(value) {
  if (value === null || value === undefined) return MISSING;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return Number.isInteger(value) ? count(value) : decimal(value, 4);
  if (Array.isArray(value)) return value.map(shown).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
const spaced = (name) => name.replaceAll("_", " ");
const capital = (words) => words[0].toUpperCase() + words.slice(1);
