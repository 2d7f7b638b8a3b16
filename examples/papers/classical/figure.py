#!/usr/bin/env python3
"""Classical facts of differential privacy, each computed twice: from its formula here, and by `murmur`.

    examples/papers/classical/figure.py [--murmur PATH] [--small]

Writes facts.csv and figure.svg, prints the table of the README, and fails where a fact does not hold.
"""
import math
import pathlib
import random
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import chart
import paper

Phi = statistics.NormalDist().cdf


def account(given, event, delta, accountant):
    found = paper.murmur(given, "privacy", "account", "--event", event, "--delta", delta, "--accountant", accountant)
    return found["accountants"][0]["epsilon"]


def gaussian(given, p):
    """The classic noise √(2 ln(1.25/δ))/ε is enough for ε ≤ 1, and the exact one, which is smaller, has δ exactly."""
    for epsilon, delta in p["gaussian"]:
        classic = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
        exact = 1 / paper.murmur(given, "privacy", "convert", "--epsilon", epsilon, "--delta", delta, "--to", "mu")["results"][0]["mu"]
        spent = Phi(1 / (2 * exact) - epsilon * exact) - math.exp(epsilon) * Phi(-1 / (2 * exact) - epsilon * exact)
        yield f"Gaussian noise for ({epsilon:g}, {delta:g})", "classic σ", classic, exact, exact < classic and abs(spent / delta - 1) < 1e-3


def randomised_response(given, p):
    """ε = ln(p/(1 − p)), and the estimate (ȳ + p − 1)/(2p − 1) has variance of about 1/(n(2p − 1)²)·ȳ(1 − ȳ)."""
    own = p["randomised_response"]
    draw = random.Random(own["seed"])
    for truth in own["truth"]:
        ours = account(given, f"randomized-response:truth={truth},categories=2", 1e-12, "basic")
        yield f"randomised response, truth {truth:g}", "ε = ln(p/(1 − p))", math.log(truth / (1 - truth)), ours, close(ours, math.log(truth / (1 - truth)))
        yes = own["proportion"] * truth + (1 - own["proportion"]) * (1 - truth)
        expected = math.sqrt(yes * (1 - yes) / own["answers"]) / (2 * truth - 1)
        survey = lambda: (sum(draw.random() < yes for _ in range(own["answers"])) / own["answers"] + truth - 1) / (2 * truth - 1)
        estimates = [survey() for _ in range(own["surveys"])]
        found = math.sqrt(paper.mean([(estimate - own["proportion"]) ** 2 for estimate in estimates]))
        # The mean square of 400 normals is within a fifth of its expectation but once in ten thousand: the root within a tenth and a bit.
        yield f"its error for {own['answers']} answers", "root mean square", expected, found, abs(found / expected - 1) < 0.15


def composition(given, p):
    """Basic: ε and δ add up. Advanced: √(2k ln(1/δ′))·ε + kε(e^ε − 1) at kδ + δ′; ours is never larger than either."""
    own = p["composition"]
    for count in own["counts"]:
        event = f"approximate:epsilon={own['epsilon']},delta={own['delta']},count={count}"
        total = count * own["delta"] + own["slack"]
        basic = account(given, event, total, "basic")
        yield f"{count} × ({own['epsilon']:g}, {own['delta']:g}), basic", "kε", count * own["epsilon"], basic, close(basic, count * own["epsilon"])
        formula = math.sqrt(2 * count * math.log(1 / own["slack"])) * own["epsilon"] + count * own["epsilon"] * math.expm1(own["epsilon"])
        advanced = account(given, event, total, "advanced")
        yield f"{count} × the same, advanced", "Dwork, Rothblum and Vadhan", formula, advanced, advanced <= formula * (1 + 1e-9)


def subsampling(given, p):
    """A sample of m of n turns (ε, δ) into (ln(1 + (m/n)(e^ε − 1)), (m/n)·δ)."""
    for epsilon, rate in p["subsampling"]:
        event = f"approximate:epsilon={epsilon},delta=1e-9,sample={round(1000 * rate)},population=1000"
        formula = math.log1p(rate * math.expm1(epsilon))
        ours = account(given, event, rate * 1e-9 * (1 + 1e-9), "basic")
        yield f"({epsilon:g}, 1e-9) on a sample of {rate:g}", "ln(1 + q(e^ε − 1))", formula, ours, close(ours, formula)


def renyi(given, p):
    """Gaussian: D_α = α/(2σ²), converted by D − (ln δ + ln α)/(α − 1) + ln((α − 1)/α) at the best order; exact is smaller."""
    for sigma, delta in p["renyi"]:
        convert = lambda order: order / (2 * sigma ** 2) - (math.log(delta) + math.log(order)) / (order - 1) + math.log((order - 1) / order)
        best = min(convert(1 + step / 1000) for step in range(50, 400_000, 7))
        older = min(order / (2 * sigma ** 2) - math.log(delta) / (order - 1) for order in [1 + step / 100 for step in range(5, 40_000)])
        ours = account(given, f"gaussian:sigma={sigma}", delta, "renyi")
        exact = account(given, f"gaussian:sigma={sigma}", delta, "gaussian")
        yield f"Gaussian σ = {sigma:g} at δ = {delta:g}, Rényi", "best order", best, ours, abs(ours / best - 1) < 1e-2 and exact < ours < older


def dp_sgd(given, p):
    """Classic sufficient noise for T steps of one record in n: 16·√(T ln(2/δ) ln(2.5T/(δn)))/(nε), for ε ≤ 1; ours is never larger."""
    own = p["dp_sgd"]
    for records, steps in own["cases"]:
        logs = math.log(2 / own["delta"]) * math.log(2.5 * steps / (own["delta"] * records))
        classic = 16 * math.sqrt(steps * logs) / (records * own["epsilon"])
        loss = lambda sigma: account(given, f"gaussian:sigma={sigma},rate={1 / records},count={steps}", own["delta"], "renyi")
        low, high = 0.2, max(classic, 0.4)
        while high / low > 1.02:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if loss(middle) <= own["epsilon"] else (middle, high)
        yield f"DP-SGD, {records} records, {steps} steps", "classic σ", classic, high, high <= classic


def walk(given, p):
    """Random-walk SGD on the complete graph with T of order n²: the loss of a pair is about (ln n/√n) of the local one, in ε."""
    own, ratios = p["walk"], []
    for nodes in own["sizes"]:
        found = paper.murmur(given, "privacy", "pairwise", "--topology", f"complete:{nodes}", "--analysis", "walk", "--rounds", nodes * nodes,
                             "--samples", 20, "--watcher", 0, "--sigma", own["sigma_per_node"] * math.sqrt(nodes), "--delta", own["delta"])
        pair = paper.mean([value for value in found["mu2"][0] if value is not None])
        ratio = math.sqrt(pair / (nodes / (own["sigma_per_node"] ** 2 * nodes)))
        ratios.append((nodes, ratio))
        rule = math.log(nodes) / math.sqrt(nodes)
        yield f"token over {nodes} nodes, n² steps, pair over local", "about ln n/√n", rule, ratio, ratio < 1.5 * rule
    walk.ratios = ratios


def averaging(given, p):
    """Noise once, then gossip until all agree: what is left of the noise is σ²/n, so a pair that only sees the mean loses 1/n."""
    for spec in p["averaging"]:
        facts = paper.murmur(given, "topology", spec)
        gap, steps = facts["spectral_gap"], facts["mixing_rounds"]
        # Disagreement shrinks by at least 1 − gap in each step where the smallest eigenvalue is not larger in size.
        rule = math.ceil(math.log(1e-3) / math.log(max(1 - gap, -facts["lambda_min"])))
        yield f"gossip on {spec} until 0.001", "ln(0.001)/ln λ", float(rule), float(steps), abs(steps - rule) <= 1


def close(found, expected):
    return abs(found - expected) <= 1e-6 * abs(expected)


def main():
    given = paper.arguments(__doc__, HERE)
    facts = (gaussian, randomised_response, composition, subsampling, renyi, dp_sgd, walk, averaging)
    rows = [list(row) for fact in facts for row in fact(given, given.parameters)]
    for row in rows:
        row[4] = "holds" if row[4] else "FAILS"
    paper.write_csv(given, "facts.csv", ["fact", "formula", "value", "found", "verdict"], rows)
    paper.markdown(["fact", "formula", "its value", "found", "verdict"], rows)
    draw(given, given.parameters)
    failed = [row[0] for row in rows if row[4] == "FAILS"]
    if failed:
        sys.exit(f"error: these facts do not hold: {'; '.join(failed)}")


def draw(given, p):
    own = p["composition"]
    basic = [(count, count * own["epsilon"]) for count in own["counts"]]
    advanced = [(count, account(given, f"approximate:epsilon={own['epsilon']},delta={own['delta']},count={count}", count * own["delta"] + own["slack"], "advanced"))
                for count in own["counts"]]
    left = chart.Panel("Composition of (0.1, 1e-9)", "releases", "ε", [chart.Series("basic composition", basic, 0, "dashed", "cross"),
                       chart.Series("advanced composition (murmur)", advanced, 1)], log_x=True)
    rule = [(nodes, math.log(nodes) / math.sqrt(nodes)) for nodes, _ in walk.ratios]
    right = chart.Panel("A token over the complete graph, n² steps", "nodes", "loss of a pair over local loss",
                        [chart.Series("ln n/√n", rule, 2, "dashed", "none"), chart.Series("sampled walks (murmur)", walk.ratios, 3, "solid", "square")],
                        log_x=True)
    description = ("Left: ε of repeated releases by basic and advanced composition; advanced is smaller from about a hundred on. Right: loss of a pair "
                   "relative to the local loss for random walks on complete graphs, which falls with the number of nodes.")
    paper.write(given, "figure.svg", chart.figure("Classical facts", description, [left, right]))


if __name__ == "__main__":
    main()
