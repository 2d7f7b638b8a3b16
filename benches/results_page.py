"""docs/RESULTS.md and its pictures, of what benches/results.py has stored. Every sentence is made of the figures beside it."""

import statistics
import sys

TITLES = {
    "digits": "Digits (1,797 images of 8 × 8, softmax)",
    "houses": "Houses (20,640, price above its mean, logistic)",
    "adult": "Adult (48,842, income, logistic)",
    "mnist": "MNIST (its 10,000 test images, softmax)",
    "fashion": "Fashion-MNIST (its 10,000 test images, softmax)",
}
NAMES = {
    "alone": "alone",
    "local": "local",
    "rounds": "rounds, plain",
    "masked-all": "masked, all others but one",
    "masked-third": "masked, a third",
    "masked-one": "masked, one member",
    "personal": "personal",
    "central": "trusted curator",
}
LYING = {
    "plain": "rounds, plain",
    "plain-liars": "the same, 5 lie",
    "robust": "robust",
    "robust-liars": "the same, 5 lie",
    "masked": "masked, a third",
    "masked-liars": "the same, 5 lie",
}
SAME = {"plain": "rounds", "masked": "masked-third"}
AS_ROUNDS = ("local", "masked-all", "masked-third", "masked-one")
LINES = {"alone": (5, "dotted", "none"), "local": (4, "dashed", "cross"), "rounds": (1, "dashed", "dot"), "masked-all": (3, "dotted", "cross"),
         "masked-third": (2, "solid", "square"), "masked-one": (0, "solid", "dot"), "central": (3, "dashed", "none")}


class Figures:
    """Means and spreads, in per cent, of what is stored."""

    def __init__(self, stored):
        self.stored = stored

    def seeds(self, place, row, epsilon):
        if epsilon == "inf" and row in AS_ROUNDS:
            row = "rounds"
        if place.endswith("/lying") and row in SAME:
            # Where nobody lies these are rows of the table of 64 nodes.
            return self.seeds(place.replace("lying", "64"), SAME[row], epsilon)
        found = self.stored.get(f"{place}/{row}/{epsilon}", {})
        return found.get("personal" if row == "personal" else "accuracy")

    def mean(self, place, row, epsilon):
        seeds = self.seeds(place, row, epsilon)
        return None if not seeds or None in seeds else 100 * statistics.mean(seeds)

    def cell(self, place, row, epsilon):
        mean = self.mean(place, row, epsilon)
        return "" if mean is None else f"{mean:.1f} ± {100 * statistics.stdev(self.seeds(place, row, epsilon)):.1f}"

    def gap(self, place, row, other, epsilon):
        """How many points `other` is above `row`."""
        pair = self.mean(place, other, epsilon), self.mean(place, row, epsilon)
        return None if None in pair else pair[0] - pair[1]


def points(number):
    """A difference in words of one decimal."""
    return f"{abs(number):.1f} point{'' if f'{abs(number):.1f}' == '1.0' else 's'}"


def side(number):
    return "as good as" if abs(number) < 0.05 else f"{points(number)} {'below' if number > 0 else 'above'}"


def sentence(figures, place, row):
    low, high = (figures.gap(place, row, "central", epsilon) for epsilon in ("1", "8"))
    if row == "central":
        return "what trusting one party with all records buys, and the most to be had at this ε"
    if None in (low, high):
        return ""
    against = f"{side(low)} the curator at ε 1, {side(high)} at ε 8"
    if row == "masked-one":
        gaps = [figures.gap(place, row, "central", epsilon) for epsilon in ("0.5", "1", "2", "4", "8")]
        worst = max(gap for gap in gaps if gap is not None)
        return f"at most {points(worst)} below the curator at any ε: nobody need be trusted with records" if worst >= 0.05 else "at or above the curator at every ε: nobody need be trusted with records"
    if row == "personal":
        own = [figures.gap(place, row, "masked-third", epsilon) for epsilon in ("1", "8")]
        return "" if None in own else f"{side(own[0])} the shared one at ε 1, {side(own[1])} at ε 8: it is never sent, so one's own records need no noise"
    told = {
        "alone": f"{against}: what the others are worth",
        "local": f"{against}: the price of being seen by everybody",
        "rounds": f"{against}: partners see partial sums",
        "masked-all": f"{against}: all but two pool what they saw, and it is no worse than being seen by all" if (figures.gap(place, "local", row, "1") or 0) >= 0
        else f"{against}: where all but two pool what they saw, masks bring nothing",
        "masked-third": f"{against}: the recommended setting",
    }
    return told[row]


def table(figures, place, names, epsilons, sentences):
    head = "| | " + " | ".join("ε = ∞" if epsilon == "inf" else f"ε = {epsilon}" for epsilon in epsilons) + " | so |"
    rows = [head, "|---" * (len(epsilons) + 2) + "|"]
    for row, name in names.items():
        cells = [figures.cell(place, row, epsilon) for epsilon in epsilons]
        if any(cells):
            rows.append(f"| {name} | " + " | ".join(cells) + f" | {sentences(row)} |")
    # A row or two compare nothing.
    return rows if len(rows) > 4 else []


def lying(figures, name, epsilons):
    place = f"{name}/lying"

    def told(row):
        if not row.endswith("-liars"):
            return {"plain": "nobody lies", "robust": "its noise must do alone: everybody sees every contribution", "masked": "nobody lies"}[row]
        lost = figures.gap(place, row, row.removesuffix("-liars"), "8")
        return "" if lost is None else f"the liars take {points(lost)} at ε 8" if lost > 0 else "the liars take nothing at ε 8"

    found = table(figures, place, LYING, epsilons, told)
    if not found:
        return []
    text = f"Five of 64 members push the model against the gradient, each with 0.3 of the largest length that is believed (`push:0.3`); {TITLES[name].split(' (')[0]}."
    return ["", text, "", *found]


def skewed(figures, epsilons):
    place = "digits/skewed"
    rows = [figures.stored.get(f"{place}/personal/{epsilon}", {}) for epsilon in epsilons]
    if not any("personal" in row for row in rows):
        return []
    out = ["", "Digits, 16 nodes, `dirichlet` 0.1: nodes hold few classes each. Masked against a third; each node judged on a fifth of its own records.", ""]
    out += ["| | " + " | ".join("ε = ∞" if epsilon == "inf" else f"ε = {epsilon}" for epsilon in epsilons) + " | so |", "|---" * (len(epsilons) + 2) + "|"]
    mean = {word: [100 * statistics.mean(row[word]) if word in row else None for row in rows] for word in ("shared", "personal", "alone")}
    so = {"shared": "one model for nodes that differ", "personal": "made from the shared one, at no cost", "alone": "without noise, for it is never sent"}
    for word in mean:
        cells = [f"{value:.1f} ± {100 * statistics.stdev(row[word]):.1f}" if value is not None else "" for value, row in zip(mean[word], rows)]
        out.append(f"| {word} | " + " | ".join(cells) + f" | {so[word]} |")
    return out


def picture(root, figures, name, sizes, epsilons):
    sys.path.insert(0, str(root / "examples/papers"))
    from chart import Panel, Series, figure

    panels = []
    for nodes in sizes:
        series = []
        for row, (colour, dash, marker) in LINES.items():
            where = [(float(epsilon), figures.mean(f"{name}/{nodes}", row, epsilon)) for epsilon in epsilons if epsilon != "inf"]
            if any(value is not None for _, value in where):
                series.append(Series(NAMES[row], where, colour, dash, marker))
        if series:
            panels.append(Panel(f"{nodes} nodes", "ε", "accuracy, %", series, log_x=True, log_y=False))
    if not panels:
        return []
    title = TITLES[name].split(" (")[0]
    path = root / f"docs/pictures/results-{name}.svg"
    path.write_text(figure(f"{title}: accuracy by ε", f"Accuracy against ε on {title}, who trusts whom as curves; the tables beside it have the figures.", panels))
    return ["", f"![{title}: accuracy by ε](pictures/results-{name}.svg)"]


def settings_row(name, settings):
    return f"| {name} | {settings['rounds']} | {settings['learning_rate']} | {settings['privacy.clip_norm']} |"


HEAD = """# Results

How good models are by what was spent and who trusts whom. Accuracy on records that nobody trained on, in per cent, mean ± standard deviation over 8 seeds (of the first model, the division, the test part and
the noise); records are protected, δ = 1e-5. Made by `benches/results.py`, which stores what it has measured in `benches/results.json` and goes on where it stopped; a sentence at the end of a row is made of its figures. A cell that is
empty was not run.

- **alone**: nobody exchanges anything; each node learns with noise from its own records and publishes the model.
- **local**: everybody sees every contribution, so each carries the noise that its node needs on its own.
- **rounds, plain**: partners see partial sums; ε of the worst pair.
- **masked**: of a round only the total is left; ε towards *one member*, towards any *third* that pool what they know, towards *all others but one*.
- **personal**: a model of each node's own, made from a masked one (a third) and the node's records without noise, and never sent; judged on a fifth of the node's own records. On digits and Houses.
- **trusted curator**: somebody holds all records, learns with noise and publishes the model.

One setting for all rows of a set, chosen by hand for the curator at ε = 2; that choice is not part of ε. Batches are all records; nodes have equal shares.

| set | rounds | learning rate | clip norm |
|---|---|---|---|
"""


def write(root, stored, names, sets, epsilons):
    figures = Figures(stored)
    measured = [name for name in names if any(table(figures, f"{name}/{nodes}", NAMES, epsilons, lambda _: "") for nodes in (8, 64))]
    parts = [HEAD.rstrip("\n")]
    parts += [settings_row(name, sets[name]) for name in measured]
    left = [f"{TITLES[name].split(' (')[0]}" for name in names if name not in measured]
    left += [f"{TITLES[name].split(' (')[0]} with 64 nodes" for name in measured if not table(figures, f"{name}/64", NAMES, epsilons, lambda _: "")]
    parts += ["", f"Not run yet: {', '.join(left)}. `benches/results.py` runs what is missing."] if left else []
    for name in names:
        found = []
        for nodes in (8, 64):
            rows = table(figures, f"{name}/{nodes}", NAMES, epsilons, lambda row, place=f"{name}/{nodes}": sentence(figures, place, row))
            found += ["", f"{nodes} nodes:", "", *rows] if rows else []
        if found:
            parts += ["", f"## {TITLES[name]}", *picture(root, figures, name, (8, 64), epsilons), *found]
    liars = [line for name in names for line in lying(figures, name, epsilons)]
    if liars:
        parts += ["", "## Members that lie", *liars]
    own = skewed(figures, epsilons)
    if own:
        parts += ["", "## Nodes that differ", *own]
    (root / "docs/RESULTS.md").write_text("\n".join(parts) + "\n")
