"""Laplace noise in R^n, density proportional to exp(-eps |x|): how it is drawn, and what it costs. Python's standard library only.

The price is the Renyi divergence between the noise around two points at a distance d. With s = eps * d it depends on n and s alone and is one integral over radius and
angle. Divergences become (epsilon, delta) by Proposition 12 of Canonne, Kamath and Steinke (2020).
"""
import math

# Gauss and Legendre on [-1, 1], 16 points: the positive half.
RULE = [(0.09501250983763744, 0.1894506104550685), (0.2816035507792589, 0.1826034150449236), (0.45801677765722739, 0.16915651939500254),
        (0.61787624440264375, 0.14959598881657673), (0.75540440835500303, 0.12462897125553387), (0.86563120238783174, 0.09515851168249278),
        (0.94457502307323258, 0.06225352393864789), (0.98940093499164993, 0.02715245941175409)]
ORDERS = [1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12, 16, 20, 26, 32, 40, 50, 64]
UP = 1e-6  # Above the error of the integral.


def noise(draws, dimension, epsilon_per_unit):
    """A uniform direction whose length follows Gamma(dimension, epsilon_per_unit)."""
    direction = [draws.gauss(0.0, 1.0) for _ in range(dimension)]
    length = math.sqrt(sum(x * x for x in direction))
    radius = draws.gammavariate(dimension, 1.0 / epsilon_per_unit)
    return [radius * x / length for x in direction]


def losses(dimension, shift):
    """Pairs (weight, |x - s| - |x|) of noise x at 0 and a point s at distance `shift`, in units of 1/epsilon; dimension at least 2."""
    most = dimension + 12 * math.sqrt(dimension) + 40  # All but 1e-15 of the radii.
    radii = [(r, w * math.exp((dimension - 1) * math.log(r) - r - math.lgamma(dimension))) for r, w in points(0.0, most, 12)]
    angles = [(math.cos(a), w * math.sin(a) ** (dimension - 2)) for a, w in points(0.0, math.pi, 4)]
    total = sum(w for _, w in angles) * sum(w for _, w in radii)
    found = []
    for r, weight in radii:
        for cosine, part in angles:
            apart = math.sqrt(max(r * r - 2 * r * shift * cosine + shift * shift, 0.0))
            # Without a difference of large numbers.
            found.append((weight * part / total, (shift * shift - 2 * r * shift * cosine) / (apart + r)))
    return found


def points(low, high, panels):
    half = (high - low) / panels / 2
    for panel in range(panels):
        middle = low + (2 * panel + 1) * half
        for x, w in RULE:
            yield middle - half * x, w * half
            yield middle + half * x, w * half


def divergence(pairs, shift, order):
    """D_order, from the losses: log E exp((order - 1) * loss)/(order - 1). No loss is above `shift`."""
    moment = math.fsum(w * math.exp((order - 1) * (loss - shift)) for w, loss in pairs)
    return min(math.log(moment) / (order - 1) + shift + UP, shift)


def epsilon(dimension, shift, releases, delta):
    """Epsilon at delta of so many releases of points that are at most `shift` apart: the best order, and never more than releases * shift."""
    pairs, best = losses(dimension, shift), releases * shift
    for order in ORDERS:
        spent = releases * divergence(pairs, shift, order)
        best = min(best, max(0.0, spent + math.log1p(-1.0 / order) - math.log(delta * order) / (order - 1)))
    return best
