// The page: one stream in, one model, panels that are drawn at most a few times a second.

const RETRY = [1000, 2000, 5000, 10000]; // milliseconds
const PANELS = 250;
const SPEAK = 10000; // a screen reader hears of the run so often at most

const token = new URLSearchParams(location.search).get("token");
const withToken = (path) => (token === null ? path : `${path}?token=${encodeURIComponent(token)}`);
for (const link of document.querySelectorAll("footer a")) link.href = withToken(link.getAttribute("href"));

const model = { status: null, nodes: [], curves: { loss: [], accuracy: [], epsilon_worst: [], epsilon_local: [] } };
const charts = {
  loss: new Chart(byId("chart-loss")),
  accuracy: new Chart(byId("chart-accuracy"), { percent: true, floor: 0, ceiling: 1 }),
  epsilon: new Chart(byId("chart-epsilon"), { floor: 0 }),
};
const flock = new Flock(byId("flock"), showChosen);
// For tests, and for the curious.
window.murmur = { model, flock, updates: 0 };

function onRun(run) {
  model.status = run.status;
  model.nodes = run.nodes.map((node) => ({
    node: node.node, state: node.state, round: node.round, loss: node.loss, worst: node.epsilon, local: node.epsilon_local,
    contributions: node.contributions, accuracy: node.accuracy, part: null,
  }));
  model.curves = run.curves;
  byId("log").replaceChildren();
  addLog(run.log);
  flock.setNodes(model.nodes, run.graph);
  refresh();
}

function onTick(tick) {
  model.status = tick.status;
  for (const [node, state, round, loss, worst, local, contributions, accuracy] of tick.nodes) {
    Object.assign(model.nodes[node], { state, round, loss, worst, local, contributions, accuracy });
  }
  for (const name of Object.keys(model.curves)) {
    const news = tick[name];
    if (news?.add) model.curves[name].push(...news.add);
    if (news?.all) model.curves[name] = news.all;
  }
  addLog(tick.log);
  flock.fly(tick.flows);
  refresh();
}

let due = null;
let spoken = 0;

function refresh() {
  window.murmur.updates += 1;
  if (model.status.phase === "finished") finished();
  due ??= setTimeout(() => {
    due = null;
    requestAnimationFrame(drawPanels);
  }, PANELS);
}

function drawPanels() {
  const { status, nodes, curves } = model;
  for (const node of nodes) {
    const spent = spentBy(node, status.budget_scope);
    node.part = status.budget === null || spent === null ? null : spent / status.budget;
  }
  showStatus(status);
  showPeers(nodes, status);
  charts.loss.draw([{ points: curves.loss, style: "line" }]);
  charts.accuracy.draw([{ points: curves.accuracy, style: "line" }]);
  const lines = [{ points: curves.epsilon_worst, style: "line" }, { points: curves.epsilon_local, style: "second" }];
  charts.epsilon.draw(lines, status.budget);
  const analysis = status.epsilon.analysis ?? "not priced yet";
  setText(byId("epsilon-caption"), `worst pair by “${analysis}”; grey: ${everybody(analysis)}, by “local”`);
  byId("flock").setAttribute("aria-label", `The swarm: ${status.here} of ${status.nodes} nodes here, ${status.away.length} away`);
  if (flock.chosen !== null) showChosen(flock.chosen);
  const now = performance.now();
  if (now - spoken > SPEAK || status.phase === "finished") {
    spoken = now;
    setText(byId("headline"), headline(status));
  }
}

function showChosen(at) {
  const node = at === null ? null : model.nodes[at];
  if (!node) return setText(byId("chosen"), "Point at a node, or walk with the arrow keys, to see what it is doing.");
  const analysis = model.status.epsilon.analysis;
  const loss = node.worst === null ? "ε not known" : `ε = ${digits(node.worst)} by “${analysis}”, ${digits(node.local)} by “local”`;
  const parts = [`Node ${at}: ${node.state}`, `${node.contributions} contributions`, loss];
  if (node.round !== null) parts.splice(1, 0, `round ${node.round}`);
  if (node.loss !== null) parts.push(`loss ${digits(node.loss)}`);
  if (node.accuracy !== null) parts.push(`accuracy ${percent(node.accuracy)}`);
  setText(byId("chosen"), parts.join(" · "));
}

let source = null;
let over = false;
let tries = 0;

function connect() {
  source = new EventSource(withToken("/api/events"));
  source.addEventListener("run", (event) => {
    tries = 0;
    byId("lost").hidden = true;
    onRun(JSON.parse(event.data));
  });
  source.addEventListener("tick", (event) => onTick(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    // The browser would try again by itself, but does not say so.
    source.close();
    if (over) return;
    const lost = byId("lost");
    lost.hidden = false;
    setText(lost, "The connection is lost: the run has ended, or its machine cannot be reached. This is the last picture; trying again…");
    byId("phase").dataset.phase = "lost";
    setText(byId("phase"), "connection lost");
    setTimeout(connect, RETRY[Math.min(tries++, RETRY.length - 1)]);
  });
}

function finished() {
  if (over) return;
  over = true;
  source.close();
  const lost = byId("lost");
  lost.hidden = false;
  setText(lost, "The run is over. This is its last picture.");
}

connect();
