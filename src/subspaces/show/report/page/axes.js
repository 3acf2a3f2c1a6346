// Scales and tick values.
function linear(low, high, from, to) {
  const span = high - low || 1;
  const scale = (value) => from + ((value - low) / span) * (to - from);
  scale.invert = (place) => low + ((place - from) / (to - from)) * span;
  return scale;
}

function ticks(low, high, most) {
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => span / each <= most);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * span; i++) found.push(i * step);
  return found;
}

function logarithmic(low, high, from, to) {
  const inner = linear(Math.log10(low), Math.log10(high), from, to);
  return (value) => inner(Math.log10(Math.max(value, low)));
}

function logTicks(low, high) {
  const wide = high / low > 300;
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of wide ? [1] : [1, 2, 5]) {
      const value = step * 10 ** power;
      if (value >= low && value <= high) found.push(value);
    }
  }
  return found;
}

const text = (x, y, content, attributes) => svg("text", { x, y, ...attributes }, content);
