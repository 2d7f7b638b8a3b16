"""Laplace noise in R^n, density proportional to exp(-eps |x|): how it is drawn, and what it costs. Python's standard library only.

The price is the Renyi divergence between the noise around two points at distance d: with s = eps * d it depends on n and s only, and is one integral over radius and
angle. Order 2 and others become (epsilon, delta) by the usual conversion (Canonne, Kamath and Steinke 2020, Proposition 12).
"""
import math

ORDERS = [1.25, 1.5, 1.75] + [2 + 0.5 * k for k in range(29)] + list(range(17, 65))


def noise(draws, dimension, epsilon_per_unit):
    """A uniform direction whose length follows Gamma(dimension, epsilon_per_unit)."""
    direction = [draws.gauss(0.0, 1.0) for _ in range(dimension)]
    length = math.sqrt(sum(x * x for x in direction))
    radius = draws.gammavariate(dimension, 1.0 / epsilon_per_unit)
    return [radius * x / length for x in direction]


def renyi(dimension, shift, order, cells=160):
    """D_order between the noise at a point and at one `shift` away, in units of 1/epsilon: log E[exp((order-1)(|x - s| - |x|))]/(order-1), x ~ noise at 0.

    Taken from the other side, E over the first of exp((order - 1)(|x - s| - |x|)), which is bounded by exp((order - 1) s): no tail is lost.
    """
    if dimension == 1:
        points = [(r, c, 0.5) for r in quantiles(1, cells * 8) for c in (-1.0, 1.0)]
        weight = sum(w for _, _, w in points)
        mean = sum(w * math.exp((order - 1) * (abs(r * c - shift) - r)) for r, c, w in points) / weight
        return math.log(mean) / (order - 1)
    radii = quantiles(dimension, cells)
    mean, total = 0.0, 0.0
    for k in range(cells):
        angle = math.pi * (k + 0.5) / cells
        weight, cosine = math.sin(angle) ** (dimension - 2), math.cos(angle)
        total += weight
        inner = 0.0
        for r in radii:
            # |x - s| - |x| without a difference of large numbers.
            apart = math.sqrt(max(r * r - 2 * r * shift * cosine + shift * shift, 0.0))
            inner += math.exp((order - 1) * (shift * shift - 2 * r * shift * cosine) / (apart + r if apart + r > 0 else 1.0))
        mean += weight * inner / len(radii)
    return math.log(mean / total) / (order - 1)


def quantiles(shape, count):
    """The middles of `count` equally likely pieces of Gamma(shape, 1), for a whole shape."""
    found, low = [], 0.0
    for k in range(count):
        target, high = (k + 0.5) / count, max(2.0 * low, 4.0 * shape)
        while below(shape, high) < target:
            high *= 2.0
        left, right = low, high
        for _ in range(50):
            middle = 0.5 * (left + right)
            left, right = (middle, right) if below(shape, middle) < target else (left, middle)
        low = 0.5 * (left + right)
        found.append(low)
    return found


def below(shape, y):
    """P[Gamma(shape, 1) < y] = 1 - sum over k < shape of exp(-y) y^k/k!."""
    term = tail = math.exp(-y)
    for k in range(1, shape):
        term *= y / k
        tail += term
    return 1.0 - tail


def epsilon(dimension, shift, releases, delta):
    """(epsilon, delta) of so many releases whose points are at most `shift` apart: the best order, and never more than releases * shift."""
    best = releases * shift
    for order in ORDERS[::4] if dimension > 1 else ORDERS:
        spent = releases * renyi(dimension, shift, order, 60)
        converted = spent + math.log1p(-1.0 / order) - math.log(delta * order) / (order - 1)
        best = min(best, max(converted, 0.0))
    return best
