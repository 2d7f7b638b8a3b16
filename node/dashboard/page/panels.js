// Everything beside the picture: figures, ε per peer, log.

const MOST_PEERS = 60;
const MOST_LINES = 200;

function showStatus(status) {
  const { epsilon } = status;
  document.title = `${status.run} · round ${status.round} of ${status.rounds}`;
  setText(byId("run"), status.run);
  const who = status.me === null ? "" : `, seen from node ${status.me}`;
  setText(byId("about"), `${status.algorithm}, ${status.nodes} nodes${who} · ${clock(status.time)}`);
  setText(byId("phase"), status.phase === "finished" && status.reason ? status.reason : status.phase);
  byId("phase").dataset.phase = status.phase;
  setText(byId("round"), String(status.round));
  setText(byId("rounds"), `of ${status.rounds}`);
  byId("progress").max = Math.max(1, status.rounds);
  byId("progress").value = status.round;
  setText(byId("here"), String(status.here));
  setText(byId("nodes"), `of ${status.nodes}`);
  setText(byId("away"), awayText(status.away));
  const infinite = epsilon.analysis !== null && epsilon.worst === null;
  setText(byId("epsilon"), infinite ? "ε = ∞" : epsilon.worst === null ? "–" : `ε = ${lossText(epsilon.worst)}`);
  setText(byId("budget"), status.budget === null ? "" : `of ${plain(status.budget)}, ${scopeText(status)}`);
  setText(byId("analysis"), analysisText(status));
  setText(byId("accuracy"), percent(status.accuracy));
  setText(byId("quality"), qualityText(status));
  setText(byId("own"), ownText(status.personal));
  setText(byId("loss"), status.loss === null ? "" : `training loss ${digits(status.loss)}`);
  setText(byId("version"), `murmur ${status.version}`);
  const danger = byId("danger");
  danger.hidden = status.private !== false;
  if (!danger.hidden) {
    const why = infinite ? "there is no noise" : "the noise is seeded, and everybody can compute it";
    setText(danger, `This run protects nobody: ${why}.`);
  }
}

// What no ε covers, for the eyes of whoever holds the records.
function qualityText(status) {
  if (status.accuracy === null) return "";
  const parts = [];
  if (status.base_rate !== null) parts.push(`${status.accuracy > status.base_rate ? "base rate" : "NO BETTER than the base rate"} ${percent(status.base_rate)}`);
  if (status.auc !== null) parts.push(`AUC ${digits(status.auc)}`);
  if (status.log_loss !== null) parts.push(`log loss ${digits(status.log_loss)}`);
  if (status.calibration !== null) parts.push(`calibration ${digits(status.calibration)}`);
  if (status.alone !== null) parts.push(`trained alone ${percent(status.alone)}`);
  return `${parts.join(" · ")}${parts.length > 0 ? "; " : ""}not covered by ε`;
}

// Models of the node's own, on records that it kept apart: of a swarm's nodes the means.
function ownText(personal) {
  if (!personal) return "";
  const [word, shown] = "personal_acc" in personal ? ["acc", percent] : ["rmse", digits];
  const names = { personal: "own model", shared: "shared", alone: "alone" };
  const parts = Object.entries(names).map(([key, name]) => `${name} ${shown(personal[`${key}_${word}`])}`);
  return `on own records: ${parts.join(" · ")}; not covered by ε`;
}

function awayText(away) {
  if (away.length === 0) return "nobody is away";
  const few = away.slice(0, 6).join(", ");
  return `away: ${away.length === 1 ? "node" : "nodes"} ${few}${away.length > 6 ? ` and ${away.length - 6} more` : ""}`;
}

// Towards whom “local” is: with masks, who sees every message sees totals alone.
const everybody = (analysis) => (analysis?.startsWith("masked") ? "breaks the masks" : "sees everything");

// Whom the budget is about: with masks it is planned for as many as may pool what they know, and is spent sooner than the figure of one member tells.
function scopeText({ budget_scope: scope, budget_together: together }) {
  if (scope === "worst" && together > 1) return `any ${together} together`;
  return { worst: "worst pair", mean: "mean over pairs", local: "sees every message" }[scope];
}

function analysisText({ epsilon }) {
  if (epsilon.analysis === null) return "no contribution yet";
  const local = epsilon.local === null ? "∞" : lossText(epsilon.local);
  const after = epsilon.round === null ? "" : `after round ${epsilon.round}: `;
  return `${after}worst pair by “${epsilon.analysis}”, δ = ${small(epsilon.delta)}; ${everybody(epsilon.analysis)}: ${local} by “local”`;
}

function headline(status) {
  const loss = status.epsilon.worst === null ? "" : `, privacy loss ${lossText(status.epsilon.worst)} by ${status.epsilon.analysis}`;
  return `${status.phase}: round ${status.round} of ${status.rounds}, ${status.here} of ${status.nodes} here${loss}`;
}

// ε of a node in the view that the budget is about.
const spentBy = (node, scope) => (scope === "local" ? node.local : node.worst);

function showPeers(nodes, status) {
  const scope = status.budget_scope;
  const known = nodes.filter((node) => spentBy(node, scope) !== null || isAway(node.state));
  const chosen = nodes.length <= MOST_PEERS ? nodes : known.sort((a, b) => (spentBy(b, scope) ?? 0) - (spentBy(a, scope) ?? 0)).slice(0, MOST_PEERS);
  const most = Math.max(1e-9, ...chosen.map((node) => spentBy(node, scope) ?? 0));
  const full = status.budget ?? most * 1.25;
  const list = byId("peers");
  while (list.children.length > chosen.length) list.lastChild.remove();
  while (list.children.length < chosen.length) list.append(peerRow());
  chosen.forEach((node, at) => fillRow(list.children[at], node, spentBy(node, scope), full, status));
  setText(byId("peers-note"), status.budget === null ? "no budget" : `budget ${plain(status.budget)}, ${scopeText(status)}`);
  const analysis = scope === "local" ? "local" : status.epsilon.analysis;
  const shown = chosen.length < nodes.length ? `the ${chosen.length} largest of ${nodes.length}; ` : "";
  const by = analysis ? `by the analysis “${analysis}”, δ = ${small(status.epsilon.delta)}` : "";
  const limits = status.spent.map(([name, part]) => `${percent(part)} of ${name}`).join("; ");
  setText(byId("peers-foot"), limits ? `this node's own count, a bound in the units of its limits: ${limits}` : shown + by);
}

function peerRow() {
  const row = document.createElement("li");
  const bar = document.createElement("span");
  bar.className = "bar";
  bar.setAttribute("role", "meter");
  bar.setAttribute("aria-valuemin", "0");
  bar.append(document.createElement("i"));
  const value = document.createElement("span");
  value.className = "value";
  row.append(document.createElement("span"), bar, value);
  return row;
}

function fillRow(row, node, spent, full, status) {
  row.dataset.node = node.node;
  row.dataset.state = node.state;
  const [name, bar, value] = row.children;
  setText(name, `${status.me === node.node ? "me " : ""}${node.node}`);
  const part = spent === null ? 0 : Math.min(1, spent / full);
  bar.firstChild.style.transform = `scaleX(${part.toFixed(4)})`;
  bar.setAttribute("aria-label", `ε of node ${node.node}`);
  bar.setAttribute("aria-valuemax", String(full));
  bar.setAttribute("aria-valuenow", String(spent ?? 0));
  const words = spent === null ? (status.epsilon.analysis?.startsWith("none") ? "ε = ∞" : "not known here") : `ε = ${lossText(spent)}`;
  setText(value, isAway(node.state) ? node.state : words);
}

function addLog(entries) {
  const list = byId("log");
  for (const entry of entries) {
    const row = document.createElement("li");
    row.className = entry.level;
    const cells = [clock(entry.t), entry.node === null ? "swarm" : `node ${entry.node}`];
    for (const text of cells) row.append(Object.assign(document.createElement("span"), { textContent: text }));
    row.append(Object.assign(document.createElement("b"), { textContent: entry.text }));
    list.prepend(row);
  }
  while (list.children.length > MOST_LINES) list.lastChild.remove();
}
