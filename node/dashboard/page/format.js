// Numbers as people read them.

const byId = (id) => document.getElementById(id);

function digits(value, places = 3) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return value.toFixed(size >= 10 ? Math.min(places, 1) : size >= 1 ? Math.min(places, 2) : places);
}

// ε as a report prints it: the server has rounded it up to four digits that count.
const lossText = (value) => (value === null || value === undefined ? "–" : value >= 1000 ? value.toFixed(0) : value === 0 ? "0" : value.toPrecision(4));

// A limit as it was given: 8 and 2.5, not 8.00.
const plain = (value) => String(Number(value.toPrecision(4)));

const percent = (part) => (part === null || part === undefined ? "–" : `${(100 * part).toFixed(1)} %`);

function clock(seconds) {
  const whole = Math.floor(seconds);
  const two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  return `${hours > 0 ? `${hours}:` : ""}${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

// δ as it is written in a configuration: 1e-5, not 0.00001.
const small = (value) => (value >= 0.01 ? String(value) : value.toExponential().replace("+", ""));

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Colours live in the style sheet; the canvas asks for them, and again when the scheme changes.
function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return { ink: of("ink"), quiet: of("quiet"), accent: of("accent"), tint: of("tint"), grey: of("grey"), line: of("line"), card: of("card") };
}

const isAway = (state) => state === "away" || state === "dead";
