// A line chart over rounds, drawn as SVG: at most a few hundred points, redrawn at most a few times a second.

class Chart {
  constructor(svg, { percent = false, floor = null, ceiling = null } = {}) {
    Object.assign(this, { svg, percent, floor, ceiling, name: svg.getAttribute("aria-label") });
    this.lines = [];
    this.limit = null;
  }

  // lines: [{points, style}], the first is the one that is read out; limit: a value that is not to be passed.
  draw(lines, limit = null) {
    const box = this.svg.getBoundingClientRect();
    if (box.width === 0) return;
    const area = { left: 44, right: box.width - 10, top: 8, bottom: box.height - 22 };
    const all = lines.flatMap((line) => line.points);
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    if (all.length === 0) {
      this.text(area.left, (area.top + area.bottom) / 2, "nothing yet", "start");
      return;
    }
    const { low, high, step } = this.range(all, limit);
    const last = Math.max(1, ...all.map((point) => point[0]));
    const x = (value) => area.left + (value / last) * (area.right - area.left);
    const y = (value) => area.bottom - ((value - low) / (high - low)) * (area.bottom - area.top);
    for (let at = 0; low + at * step <= high + step / 2; at += 1) {
      const value = low + at * step;
      this.element("line", { class: "grid", x1: area.left, x2: area.right, y1: y(value), y2: y(value) });
      this.text(area.left - 7, y(value) + 4, this.tick(value, step), "end");
    }
    this.text(area.left, box.height - 5, "0", "start");
    this.text(area.right, box.height - 5, `round ${Math.round(last)}`, "end");
    if (limit !== null) {
      this.element("line", { class: "limit", x1: area.left, x2: area.right, y1: y(limit), y2: y(limit) });
      this.text(area.right, y(limit) + 14, "budget", "end");
    }
    for (const { points, style } of [...lines].reverse()) {
      const path = points.map(([px, py], at) => `${at ? "L" : "M"}${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join("");
      if (points.length) this.element("path", { class: style, d: path });
    }
    const end = lines[0].points.at(-1);
    if (end) {
      this.element("circle", { class: "dot", cx: x(end[0]), cy: y(end[1]), r: 3.2 });
      this.svg.setAttribute("aria-label", `${this.name}: ${this.percent ? percent(end[1]) : digits(end[1])} at round ${Math.round(end[0])}`);
    }
  }

  // Round numbers that enclose everything, at most five steps of 1, 2 or 5 times a power of ten apart.
  range(points, limit) {
    let [low, high] = [Infinity, -Infinity];
    for (const [, value] of points) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (limit !== null) high = Math.max(high, limit);
    if (this.floor !== null) low = this.floor;
    if (this.ceiling !== null) high = this.ceiling;
    if (!(high > low)) [low, high] = [low - 0.5, low + 0.5];
    const power = 10 ** Math.floor(Math.log10((high - low) / 5));
    const step = power * [1, 2, 5, 10].find((times) => (times * power * 5) / (high - low) > 1 - 1e-9);
    // A hair of rounding must not cost a step.
    return { low: Math.floor(low / step + 1e-9) * step, high: Math.ceil(high / step - 1e-9) * step, step };
  }

  tick(value, step) {
    if (this.percent) return `${Math.round(100 * value)} %`;
    return value.toFixed(Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
  }

  element(name, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    this.svg.append(element);
    return element;
  }

  text(x, y, words, anchor) {
    this.element("text", { x, y, "text-anchor": anchor }).textContent = words;
  }
}
