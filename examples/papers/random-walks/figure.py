#!/usr/bin/env python3
"""Differentially Private Decentralized Learning with Random Walks (ICML 2024): the closed form beside what paths really cost.

    examples/papers/random-walks/figure.py [--murmur PATH] [--shared ../shared] [--small]

Writes losses.csv (by distance), graphs.csv and figure.svg, and prints the table of the README. All losses are Rényi divergences at order 2,
which for a Gaussian is μ².
"""
import math
import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import chart
import graphs
import paper

KINDS = {"published": "closed form (ICML 2024)", "mean_of_paths": "mean over sampled paths", "unknown_path": "path unknown to the watcher (95 %)",
         "walked": "one path, known to the watcher"}


def steps(given, spec, sigma):
    """The paper's length of a walk: 20·⌈ln(n)/λ⌉·(1/4 + σ²)/σ², with λ the spectral gap."""
    facts = paper.murmur(given, "topology", spec, "--largest-component")
    nodes, gap = facts["nodes"], facts["spectral_gap"]
    return nodes, int(20 * math.ceil(math.log(nodes) / gap) * (0.25 + sigma ** 2) / sigma ** 2)


def priced(given, p, one, spec):
    """{kind: rows} for one graph, the number of nodes and the length of the walk."""
    nodes, length = steps(given, spec, one["sigma"])
    common = ["--topology", spec, "--largest-component", "--sigma", one["sigma"], "--watcher", paper.spread(nodes, one["watchers"])]
    found = {"published": paper.pairs(given, *common, "--analysis", "published", "--formula", "random-walk-2024", "--rounds", length)}
    near = graphs.neighbours(given, spec)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "path.txt"
        path.write_text("\n".join(map(str, graphs.metropolis_walk(near, length, random.Random(p["path_seed"])))) + "\n")
        found["walked"] = paper.pairs(given, *common, "--analysis", "walk", "--path", path)
    sampled = paper.murmur(given, "privacy", "pairwise", *common, "--analysis", "walk", "--rounds", length, "--samples", p["samples"])
    places = {(row["watcher"], row["source"]): row["distance"] for row in found["published"]}
    for kind, table in (("mean_of_paths", "mu2"), ("unknown_path", "renyi_2_upper_95")):
        rows = zip(sampled["watchers"], sampled[table])
        found[kind] = [{"watcher": watcher, "source": source, "distance": places[watcher, source], "mu2": value}
                       for watcher, row in rows for source, value in enumerate(row) if value is not None]
    return found, nodes, length


def main():
    given = paper.arguments(__doc__, HERE)
    p = given.parameters
    by_distance, summary, drawn = [], [], {}
    for one in p["graphs"]:
        spec = paper.graph(given, one["spec"])
        if spec is None:
            continue
        found, nodes, length = priced(given, p, one, spec)
        groups = {kind: paper.grouped(rows) for kind, rows in found.items()}
        for distance, values in groups["published"].items():
            row = [paper.mean(groups[kind][distance]) for kind in KINDS]
            by_distance.append([one["name"], distance, len(values), *row, max(groups["walked"][distance])])
        losses = {kind: [row["mu2"] for row in found[kind]] for kind in KINDS}
        below = sum(walked["mu2"] > published["mu2"] for walked, published in zip(found["walked"], found["published"]))
        row = [one["name"], nodes, length, float(one["sigma"]), *[paper.mean(losses[kind]) for kind in KINDS], max(losses["published"]),
               max(losses["walked"]), 100 * below / len(losses["walked"]), length / nodes / one["sigma"] ** 2]
        summary.append(row)
        drawn[one["name"]] = groups
        print(f"{one['name']}: done", file=sys.stderr, flush=True)
    paper.write_csv(given, "losses.csv", ["graph", "distance", "pairs", *KINDS, "walked_most"], by_distance)
    header = ["graph", "nodes", "steps", "sigma", *KINDS, "published_most", "walked_most", "walked_above_published_percent", "local"]
    paper.write_csv(given, "graphs.csv", header, summary)
    paper.markdown(["graph", "nodes", "steps", "σ", "closed form", "mean of paths", "path unknown", "one path", "closed form, most",
                    "one path, most", "one path above closed form, %", "local"], summary)
    draw(given, p, drawn)


def draw(given, p, drawn):
    dashes = {"published": ("dashed", "cross"), "mean_of_paths": ("solid", "dot"), "unknown_path": ("dotted", "square"), "walked": ("dotted", "dot")}
    panels = []
    for name in (name for name in p["drawn"] if name in drawn):
        series = [chart.Series(KINDS[kind], [(d, paper.mean(values)) for d, values in drawn[name][kind].items()], number, *dashes[kind])
                  for number, kind in enumerate(KINDS)]
        most = [(d, max(values)) for d, values in drawn[name]["walked"].items()]
        series.append(chart.Series("one path, the pair that loses most", most, 4, "dotted", "cross"))
        panels.append(chart.Panel(name, "distance between the two nodes", "Rényi loss at order 2", series))
    description = ("Mean loss by distance on " + ", ".join(p["drawn"]) + ": the paper's closed form, the mean over sampled paths, the bound for a "
                   "watcher that does not know the path, and one path that was walked, with its worst pair, which lies far above all others.")
    paper.write(given, "figure.svg", chart.figure("Random walks: closed form and paths", description, panels))


if __name__ == "__main__":
    main()
