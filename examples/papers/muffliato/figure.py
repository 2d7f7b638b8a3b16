#!/usr/bin/env python3
"""Muffliato (NeurIPS 2022), figure 1: loss by distance on synthetic graphs, on Facebook ego graphs, and on Houses.

    examples/papers/muffliato/figure.py [--murmur PATH] [--shared ../shared] [--small]

Writes synthetic.csv, egos.csv, houses.csv and figure.svg, and prints the tables of the README. Losses are in units of the local loss: 1 is what
somebody learns who sees every message, and with σ = 1 it is the Rényi divergence at order 2.
"""
import math
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import chart
import paper

KINDS = {"published": "published sum, at most local", "exact": "exact (rounds)", "noisy": "exact, with message noise"}


def facts(given, spec):
    found = paper.murmur(given, "topology", spec, "--largest-component")
    return found["nodes"], found["spectral_gap"]


def steps(nodes, gap, sigma):
    """The paper's number of gossip steps: ⌈ln(n/σ² · max(1/4, σ²))/√λ⌉ with λ the spectral gap."""
    return math.ceil(math.log(nodes / sigma ** 2 * max(0.25, sigma ** 2)) / math.sqrt(gap))


def priced(given, spec, watchers, count):
    """{kind: rows} of all nodes towards these watchers after `count` steps without message noise, for σ = Δ = 1."""
    common = ["--topology", spec, "--largest-component", "--steps", count, "--watcher", watchers]
    found = {"published": paper.pairs(given, *common, "--analysis", "published"), "exact": paper.pairs(given, *common, "--analysis", "rounds")}
    for row in found["published"]:
        row["mu2"] = min(row["mu2"], 1.0)
    return found


def with_message_noise(given, p, spec, watchers, count):
    return paper.pairs(given, "--topology", spec, "--largest-component", "--steps", count, "--watcher", watchers, "--analysis", "rounds",
                       "--message-noise", p["message_noise"])


def fewest_neighbours(rows):
    """The watcher that hears the fewest messages."""
    heard = {row["watcher"]: 0 for row in rows}
    for row in rows:
        heard[row["watcher"]] += row["distance"] == 1
    return min(heard, key=lambda watcher: (heard[watcher], watcher))


def share_above(found):
    """Per cent of pairs whose exact loss passes the published one."""
    both = list(zip(found["exact"], found["published"]))
    return 100 * sum(exact["mu2"] > published["mu2"] + 1e-9 for exact, published in both) / len(both)


def average(rows):
    return paper.mean([row["mu2"] for row in rows])


def synthetic(given, p):
    """Figure 1a."""
    rows, summary, drawn = [], [], {}
    for one in p["graphs"]:
        nodes, gap = facts(given, one["spec"])
        count = steps(nodes, gap, 1.0)
        watchers = paper.spread(nodes, one["watchers"])
        found = priced(given, one["spec"], watchers, count)
        found["noisy"] = with_message_noise(given, p, one["spec"], watchers, count)
        groups = {kind: paper.grouped(found[kind]) for kind in KINDS}
        for distance, values in groups["exact"].items():
            rows.append([one["name"], distance, len(values), *[paper.mean(groups[kind][distance]) for kind in KINDS]])
        summary.append([one["name"], nodes, count, *[average(found[kind]) for kind in KINDS], share_above(found)])
        drawn[one["name"]] = groups
        print(f"{one['name']}: done", file=sys.stderr, flush=True)
    paper.write_csv(given, "synthetic.csv", ["graph", "distance", "pairs", *KINDS], rows)
    paper.markdown(["graph", "nodes", "steps", "published", "exact", "with message noise", "exact above published, % of pairs"], summary)
    return drawn


def egos(given, p):
    """Figure 1b, for all ego graphs: the mean over pairs."""
    own, rows = p["egos"], []
    sigma = math.sqrt(own["order"] / 2 * own["local_loss"])
    for ego in own["graphs"]:
        spec = paper.graph(given, f"shared:ego-facebook-{ego}")
        if spec is None:
            continue
        nodes, gap = facts(given, spec)
        count = steps(nodes, gap, sigma)
        found = priced(given, spec, paper.spread(nodes, own["watchers"]), count)
        known = sum(row["mu2"] > 0.999 for row in found["exact"]) / len(found["exact"])
        # Message noise takes the triangular factor of all messages, thousands for a watcher with many neighbours, so one with few is asked.
        one = fewest_neighbours(found["exact"])
        rows.append([f"ego {ego}", nodes, count, average(found["published"]), average(found["exact"]), share_above(found), 100 * known,
                     average([row for row in found["exact"] if row["watcher"] == one]), average(with_message_noise(given, p, spec, one, count))])
        print(f"ego {ego}: done", file=sys.stderr, flush=True)
    if rows:
        header = ["graph", "nodes", "steps", "published", "exact", "exact_above_published_percent", "fully_known_percent", "exact_to_one", "noisy_to_one"]
        paper.write_csv(given, "egos.csv", header, rows)
        paper.markdown(["graph", "nodes", "steps", "published", "exact", "exact above published, %", "fully known, %", "exact, one watcher",
                        "with message noise, that watcher"], rows)


def houses(given, p):
    """Figure 1c: accuracy of Muffliato-GD beside the curator's, and the loss of one gossip."""
    data = given.shared / "data/houses.csv.gz"
    own, rows = p["houses"], []
    for nodes in own["nodes"]:
        graph = f"erdos-renyi:{nodes},p={math.log(nodes) / nodes:.6f}"
        _, gap = facts(given, graph)
        count = steps(nodes, gap, own["sigma"])
        one_gossip = ["--schedule", f"resampled:{graph}", "--nodes", nodes, "--steps", count, "--watcher", paper.spread(nodes, own["watchers"])]
        exact = paper.pairs(given, *one_gossip, "--analysis", "rounds")
        # The paper's corollary for a random graph: 2·T·d/(n − d) of the local loss for a watcher with d neighbours, and all of it for a neighbour.
        degree = math.log(nodes)
        published = min(1.0, 2 * count * degree / (nodes - degree))
        row = [nodes, count, published, paper.mean([row["mu2"] for row in exact]), sum(row["mu2"] > 0.999 for row in exact) / len(exact)]
        doubling = paper.pairs(given, "--schedule", "shuffled-doubling", "--nodes", nodes, "--analysis", "rounds", "--watcher", paper.spread(nodes, 64))
        row.append(paper.mean([row["mu2"] for row in doubling]))
        for kind in ("gossip", "central"):
            runs = [accuracy(given, own, data, nodes, kind, graph, count, seed) for seed in own["seeds"]] if data.exists() else []
            row.append(paper.mean(runs) if runs else None)
        rows.append(row)
        print(f"Houses with {nodes} nodes: done", file=sys.stderr, flush=True)
    if not data.exists():
        paper.skipped(given, data)
    header = ["nodes", "steps", "published", "exact", "share_fully_known", "doubling", "accuracy_muffliato", "accuracy_central"]
    paper.write_csv(given, "houses.csv", header, rows)
    paper.markdown(["nodes", "steps", "published", "exact", "share fully known", "one round of doubling", "accuracy, Muffliato %", "accuracy, central %"],
                   rows)


def accuracy(given, own, data, nodes, kind, graph, count, seed):
    source = next(line for line in (HERE / "houses.toml").read_text().splitlines() if line.startswith("data"))
    settings = {"data": f"{data}:{source.split(chr(34))[1].split(':', 1)[1]}", "nodes": nodes, "rounds": own["rounds"], "seed": seed,
                "algorithm.kind": kind}
    if kind == "gossip":
        settings |= {"algorithm.schedule": f"resampled:{graph}", "algorithm.mixing_steps": count}
    else:
        # The curator's one noise on the sum is as large as all noises of the nodes together.
        settings["privacy.noise_multiplier"] = own["sigma"] * math.sqrt(nodes)
    with tempfile.TemporaryDirectory() as folder:
        flags = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        return 100 * paper.murmur(given, "sim", HERE / "houses.toml", "--out", folder, *flags)["test_acc"]


def draw(given, drawn):
    looks = {"published": ("dashed", "cross"), "exact": ("solid", "dot"), "noisy": ("dotted", "square")}
    panels = []
    for name, groups in drawn.items():
        curve = lambda kind: [(distance, paper.mean(values)) for distance, values in groups[kind].items()]
        series = [chart.Series(KINDS[kind], curve(kind), number, *looks[kind]) for number, kind in enumerate(KINDS)]
        panels.append(chart.Panel(name, "distance between the two nodes", "loss (1 = local)", series, y_range=(1e-5, 1.5)))
    description = ("Mean loss by distance on " + ", ".join(drawn) + ": the published sum falls with distance; the exact loss lies above it beyond "
                   "the first neighbours; noise on every message brings it down again.")
    paper.write(given, "figure.svg", chart.figure("Muffliato, figure 1a: published and exact", description, panels))


def main():
    given = paper.arguments(__doc__, HERE)
    drawn = synthetic(given, given.parameters)
    draw(given, drawn)
    egos(given, given.parameters)
    houses(given, given.parameters)


if __name__ == "__main__":
    main()
