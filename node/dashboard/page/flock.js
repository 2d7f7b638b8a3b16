// The swarm on a canvas: nodes that drift together like starlings, messages as dots that fly between them.
// Work per frame is linear in nodes and dots, and dots are few: a thousand nodes stay smooth.

const MOST_DOTS = 160;
const LABELS_UP_TO = 200;
const FLIGHT = 900; // milliseconds from node to node
const STEP = 260; // between the steps of a round
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

class Flock {
  constructor(canvas, onChoose) {
    Object.assign(this, { canvas, onChoose, context: canvas.getContext("2d"), nodes: [], homes: [], edges: [], dots: [] });
    this.chosen = null;
    this.palette = colours();
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.frames = { count: 0, total: 0, worst: 0 };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (this.palette = colours()));
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("pointermove", (event) => this.choose(this.nearest(event.offsetX, event.offsetY)));
    canvas.addEventListener("pointerleave", () => this.choose(null));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.resize();
    requestAnimationFrame((now) => this.frame(now));
  }

  // nodes: [{state, part}], part of the budget that was spent or null.
  setNodes(nodes, graph) {
    this.nodes = nodes;
    const count = nodes.length;
    this.placed = graph.places.length === count;
    this.homes = nodes.map((_, at) => {
      if (this.placed) return [graph.places[at][0] * 0.92, graph.places[at][1] * 0.92];
      // Seeds of a sunflower: as even as a disc can be filled, for any number.
      const radius = Math.sqrt((at + 0.5) / count) * (count < 3 ? 0.4 : 0.92);
      return [radius * Math.cos(at * GOLDEN), radius * Math.sin(at * GOLDEN)];
    });
    this.edges = graph.edges;
    this.xs = new Float32Array(count);
    this.ys = new Float32Array(count);
  }

  fly(flows) {
    const now = performance.now();
    for (const [from, to, step] of flows) {
      if (this.dots.length >= MOST_DOTS || from >= this.nodes.length || to >= this.nodes.length) break;
      this.dots.push({ from, to, start: now + step * STEP + Math.random() * 120 });
    }
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    const scale = Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(box.width * scale);
    this.canvas.height = Math.round(box.height * scale);
    Object.assign(this, { scale, width: box.width, height: box.height });
  }

  frame(now) {
    const begun = performance.now();
    if (!document.hidden && this.width > 0) {
      this.move(this.still.matches ? 0 : now / 1000);
      this.draw(begun);
    }
    const cost = performance.now() - begun;
    this.frames.count += 1;
    this.frames.total += cost;
    this.frames.worst = Math.max(this.frames.worst, cost);
    requestAnimationFrame((next) => this.frame(next));
  }

  // A slow wave goes through the flock: neighbours in the picture move alike.
  move(time) {
    const reach = Math.min(this.width, this.height) / 2 - 22;
    // A flock is broader than high; a graph keeps its proportions.
    const wide = this.placed ? 1 : Math.min(1.6, (this.width / 2 - 22) / reach);
    for (let at = 0; at < this.homes.length; at += 1) {
      const [x, y] = this.homes[at];
      const dx = 0.022 * Math.sin(0.55 * time + 2.6 * y + 0.9 * x);
      const dy = 0.026 * Math.sin(0.43 * time + 2.1 * x - 0.7 * y);
      this.xs[at] = this.width / 2 + (x + dx) * reach * wide;
      this.ys[at] = this.height / 2 + (y + dy) * reach;
    }
  }

  draw(now) {
    const { context } = this;
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.drawEdges(context);
    // Among many nodes messages are drawn above them and darker: they could not be seen between.
    const crowded = this.nodes.length > LABELS_UP_TO;
    if (!crowded) this.drawDots(context, now, this.palette.accent);
    this.drawNodes(context, crowded ? 0.55 : 1);
    if (crowded) this.drawDots(context, now, this.palette.ink);
    if (this.nodes.length <= LABELS_UP_TO) this.drawLabels(context);
  }

  drawEdges(context) {
    if (this.edges.length === 0) return;
    context.beginPath();
    for (const [a, b] of this.edges) {
      context.moveTo(this.xs[a], this.ys[a]);
      context.lineTo(this.xs[b], this.ys[b]);
    }
    context.strokeStyle = this.palette.line;
    context.lineWidth = this.edges.length > 500 ? 0.5 : 1;
    context.stroke();
  }

  drawDots(context, now, colour) {
    this.dots = this.dots.filter((dot) => now < dot.start + FLIGHT);
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = 1;
    for (const { from, to, start } of this.dots) {
      const part = (now - start) / FLIGHT;
      if (part < 0) continue;
      const [x, y] = [this.xs[from], this.ys[from]];
      const [dx, dy] = [this.xs[to] - x, this.ys[to] - y];
      // Flight paths bend to one side, so that two nodes that exchange do not collide.
      const at = part * part * (3 - 2 * part);
      const bend = 0.12 * Math.sin(Math.PI * at);
      context.globalAlpha = 0.16 * Math.sin(Math.PI * part);
      context.beginPath();
      context.moveTo(x, y);
      context.quadraticCurveTo(x + dx / 2 - dy * 0.12, y + dy / 2 + dx * 0.12, x + dx, y + dy);
      context.stroke();
      context.globalAlpha = Math.min(1, 3 * Math.sin(Math.PI * part));
      context.beginPath();
      context.arc(x + dx * at - dy * bend, y + dy * at + dx * bend, 2.4, 0, 7);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  radius() {
    return Math.max(2.6, Math.min(11, 150 / Math.sqrt(this.nodes.length + 20)));
  }

  // One path per kind of node: a thousand circles are then four fills.
  drawNodes(context, opacity) {
    const radius = this.radius();
    const kinds = { here: [], starting: [], finished: [], away: [] };
    this.nodes.forEach((node, at) => kinds[isAway(node.state) ? "away" : node.state].push(at));
    const paint = (list, fill, stroke) => {
      if (list.length === 0) return;
      context.beginPath();
      for (const at of list) {
        context.moveTo(this.xs[at] + radius, this.ys[at]);
        context.arc(this.xs[at], this.ys[at], radius, 0, 7);
      }
      context.fillStyle = fill;
      context.fill();
      context.strokeStyle = stroke;
      context.lineWidth = 1.6;
      context.stroke();
    };
    const { accent, tint, grey, card } = this.palette;
    paint(kinds.away, grey, card);
    context.globalAlpha = opacity;
    paint(kinds.starting, tint, accent);
    paint(kinds.finished, card, accent);
    paint(kinds.here, accent, card);
    context.globalAlpha = 1;
    if (this.nodes.length <= LABELS_UP_TO) this.drawSpent(context, radius);
    if (this.chosen !== null) {
      context.beginPath();
      context.arc(this.xs[this.chosen], this.ys[this.chosen], radius + 5, 0, 7);
      context.strokeStyle = this.palette.ink;
      context.lineWidth = 1.5;
      context.stroke();
    }
  }

  // A ring around each node fills up with its ε.
  drawSpent(context, radius) {
    context.lineWidth = 2.4;
    context.strokeStyle = this.palette.tint;
    context.beginPath();
    this.nodes.forEach((node, at) => {
      if (node.part === null) return;
      context.moveTo(this.xs[at] + radius + 3.6, this.ys[at]);
      context.arc(this.xs[at], this.ys[at], radius + 3.6, 0, 7);
    });
    context.stroke();
    this.nodes.forEach((node, at) => {
      if (node.part === null) return;
      const turn = 2 * Math.PI * Math.min(1, node.part);
      context.beginPath();
      context.arc(this.xs[at], this.ys[at], radius + 3.6, -Math.PI / 2, turn - Math.PI / 2);
      context.strokeStyle = isAway(node.state) ? this.palette.grey : this.palette.accent;
      context.stroke();
    });
  }

  drawLabels(context) {
    context.font = `${this.nodes.length > 60 ? 9 : 11}px system-ui, 'Liberation Sans', sans-serif`;
    context.textAlign = "center";
    context.fillStyle = this.palette.quiet;
    const below = this.radius() + 17;
    this.nodes.forEach((node, at) => context.fillText(String(at), this.xs[at], this.ys[at] + below));
  }

  nearest(x, y) {
    let best = null;
    let least = 24 * 24;
    for (let at = 0; at < this.nodes.length; at += 1) {
      const distance = (this.xs[at] - x) ** 2 + (this.ys[at] - y) ** 2;
      if (distance < least) [best, least] = [at, distance];
    }
    return best;
  }

  choose(at) {
    if (at === this.chosen) return;
    this.chosen = at;
    this.onChoose(at);
  }

  onKey(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") this.choose(null);
    if (!step || this.nodes.length === 0) return;
    event.preventDefault();
    const count = this.nodes.length;
    this.choose(this.chosen === null ? 0 : (this.chosen + step + count) % count);
  }
}
