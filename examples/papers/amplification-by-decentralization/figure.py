#!/usr/bin/env python3
"""Privacy Amplification by Decentralization (AISTATS 2022): the noise that each kind of trust needs, published and exact.

    examples/papers/amplification-by-decentralization/figure.py [--murmur PATH] [--shared ../shared] [--small]

Writes sigmas.csv, pairs.csv, accuracy.csv (where houses.csv.gz is there) and figure.svg, and prints the tables of the README.
"""
import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import chart
import paper
import sigmas


def path_file(p, folder):
    """A walk on the complete graph as the paper makes it: the next holder is anybody, also the present one."""
    draw = random.Random(p["path_seed"])
    path = pathlib.Path(folder) / "path.txt"
    path.write_text("\n".join(str(draw.randrange(p["nodes"])) for _ in range(p["steps"])) + "\n")
    return path


def local_sigma(given, p):
    """Exact: K Gaussian releases are one with √K times the sensitivity."""
    return paper.murmur(given, "privacy", "calibrate", "--epsilon", p["epsilon"], "--delta", p["delta"], "--sensitivity", p["clip"],
                        "--topology", "ring:3", "--rounds", sigmas.contributions(p), "--analysis", "local")["sigma"]


def central_epsilon(given, p, sigma, replacing):
    """Everybody sees every model, and every step takes one user in n: a Poisson sample where users are left out, exactly one (and a
    change of 2L) where they are replaced."""
    sample = f"sample=1,population={p['nodes']}" if replacing else f"rate={1 / p['nodes']}"
    event = f"gaussian:sigma={sigma / p['clip'] / (2 if replacing else 1)},{sample},count={p['steps']}"
    found = paper.murmur(given, "privacy", "account", "--event", event, "--delta", p["delta"], "--accountant", "pld")
    return found["accountants"][0]["epsilon"]


def central_sigma(given, p, replacing):
    """Least noise whose loss by the privacy-loss distribution is at most ε, to a thousandth."""
    low, high = 0.1 * p["clip"], 2 * sigmas.central(p)
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if central_epsilon(given, p, middle, replacing) <= p["epsilon"] else (middle, high)
    return high


def walk_sigma(given, p, path, watchers, of):
    """For the path that was walked: what anybody who held the token (in the small setting, any of `watchers`) can learn about anybody else."""
    only = ["--watcher", watchers] if given.small else []
    return paper.murmur(given, "privacy", "calibrate", "--epsilon", p["epsilon"], "--delta", p["delta"], "--sensitivity", p["clip"],
                        "--path", path, "--nodes", p["nodes"], "--analysis", "walk", "--of", of, *only)["sigma"]


def walk_epsilons(given, p, path, watchers, sigma):
    """ε of every pair with these watchers for the path that was walked, smallest first."""
    found = paper.murmur(given, "privacy", "pairwise", "--path", path, "--nodes", p["nodes"], "--analysis", "walk", "--watcher", watchers,
                         "--sigma", sigma, "--sensitivity", p["clip"], "--delta", p["delta"])
    return sorted(value for row in found["epsilon"] for value in row if value is not None)


def worst_epsilon(given, p, exact, published):
    """ε of the worst of all pairs at the published noise: its μ is that of the target, scaled by the two noises."""
    convert = ["privacy", "convert", "--delta", p["delta"]]
    target = paper.murmur(given, *convert, "--epsilon", p["epsilon"], "--to", "mu")["results"][0]["mu"]
    return paper.murmur(given, *convert, "--mu", target * exact / published, "--to", "approximate")["results"][0]["epsilon"]


def accuracy(given, p, kind, sigma):
    data = given.shared / "data/houses.csv.gz"
    source = next(line for line in (HERE / "houses.toml").read_text().splitlines() if line.startswith("data"))
    rate, runs = p["learning_rates"][kind], []
    for seed in p["seeds"]:
        with tempfile.TemporaryDirectory() as folder:
            settings = {"data": f"{data}:{source.split(chr(34))[1].split(':', 1)[1]}", "seed": seed, "learning_rate": rate,
                        "privacy.clip_norm": p["clip"] * rate, "privacy.noise_multiplier": sigma / p["clip"]}
            if "nodes_of_the_run" in p:
                settings["nodes"] = p["nodes_of_the_run"]
            flags = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
            runs.append(100 * paper.murmur(given, "sim", HERE / "houses.toml", "--out", folder, *flags)["test_acc"])
    return runs


def main():
    given = paper.arguments(__doc__, HERE)
    p = given.parameters
    published = {"local": sigmas.local(p)[0], "network": sigmas.network(p)[0], "central": sigmas.central(p)}
    step = p["nodes"] // p["watchers"]
    watchers = ",".join(str(node * step) for node in range(p["watchers"]))
    with tempfile.TemporaryDirectory() as folder:
        path = path_file(p, folder)
        exact = {"local": local_sigma(given, p), "network": walk_sigma(given, p, path, watchers, "worst"), "central": central_sigma(given, p, False)}
        mean_pair = walk_sigma(given, p, path, watchers, "mean")
        epsilons = walk_epsilons(given, p, path, watchers, published["network"])
    # A user that is replaced changes a contribution by 2L, and losses scale with that.
    rows = [["local", published["local"], exact["local"], 2 * exact["local"]],
            ["network", published["network"], exact["network"], 2 * exact["network"]],
            ["network, mean over pairs", None, mean_pair, 2 * mean_pair],
            ["central", published["central"], exact["central"], central_sigma(given, p, True)]]
    header = ["trust", "sigma_published", "sigma_exact", "sigma_exact_replacing"]
    paper.write_csv(given, "sigmas.csv", header, rows)
    paper.markdown(["trust", "σ published", "σ that suffices", "the same, replacing"], rows)
    shares = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0)
    pairs = [[share, epsilons[round(share * (len(epsilons) - 1))]] for share in shares]
    worst = worst_epsilon(given, p, exact["network"], published["network"])
    paper.write_csv(given, "pairs.csv", ["share_of_pairs", "epsilon"], [*pairs, ["mean", paper.mean(epsilons)], ["worst of all pairs", worst]])
    print(f"At σ = {published['network']:.3f} the pairs of one walk have ε = {paper.mean(epsilons):.3g} in the mean over {p['watchers']} watchers, "
          f"and {worst:.3g} for the worst of all pairs.\n")
    draw(given, p, pairs)
    if not (given.shared / "data/houses.csv.gz").exists():
        return paper.skipped(given, given.shared / "data/houses.csv.gz")
    results = {kind: accuracy(given, p, kind, published[kind]) for kind in published}
    rows = [[kind, published[kind], paper.mean(runs), min(runs), max(runs)] for kind, runs in results.items()]
    paper.write_csv(given, "accuracy.csv", ["trust", "sigma", "accuracy_mean", "accuracy_least", "accuracy_most"], rows)
    paper.markdown(["trust", "σ", "accuracy %", "least", "most"], rows)


def draw(given, p, pairs):
    share = lambda rank: 1 - rank if rank < 1 else 1 / (p["watchers"] * (p["nodes"] - 1))
    points = [(share(rank), epsilon) for rank, epsilon in pairs]
    ends = [points[0][0], points[-1][0]]
    flat = lambda name, value, colour, dash: chart.Series(name, [(x, value) for x in ends], colour, dash, "none")
    one_look = paper.murmur(given, "privacy", "convert", "--mu", p["clip"] / sigmas.network(p)[0], "--delta", p["delta"],
                            "--to", "approximate")["results"][0]["epsilon"]
    series = [chart.Series("pairs of one walk (analysis walk)", points, 0),
              flat("what the paper promises", p["epsilon"], 1, "dashed"),
              flat("one contribution seen at once", one_look, 2, "dotted")]
    panel = chart.Panel(f"Network noise σ = {sigmas.network(p)[0]:.3f}, δ = {p['delta']:g}", "share of pairs that lose more", "ε", series,
                        log_x=True)
    description = ("ε of the pairs of one random walk at the paper's noise against the share of pairs that lose more: nearly all lie far below "
                   "the promised 10; the highest lie where a watcher got the token right after the node.")
    paper.write(given, "figure.svg", chart.figure("What pairs lose at the published noise", description, [panel]))


if __name__ == "__main__":
    main()
