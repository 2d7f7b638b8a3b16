"""The three noise levels of the paper, written down from its theorems and the parameters of its experiment.

n users, T steps, gradients clipped to L, target (ε, δ); a user contributes at most K = ⌈1.2·T/n⌉ times.
"""
import math


def root(function, low, high):
    """Where an increasing function crosses zero."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    return (low + high) / 2


def contributions(p):
    return math.ceil(p["room"] * p["steps"] / p["nodes"])


def classic_sigma(p, epsilon, delta):
    """Gaussian mechanism with sensitivity L, for ε ≤ 1: √(2 ln(1.25/δ))·L/ε."""
    return math.sqrt(2 * math.log(1.25 / delta)) * p["clip"] / epsilon


def advanced(times, epsilon, slack):
    """ε of `times` releases by advanced composition."""
    return math.sqrt(2 * times * math.log(1 / slack)) * epsilon + times * epsilon * math.expm1(epsilon)


def local(p):
    """K Gaussian releases, each at δ/K, by advanced composition with slack δ/K."""
    times = contributions(p)
    share = p["delta"] / times
    each = root(lambda e: advanced(times, e, share) - p["epsilon"], 0.0, p["epsilon"] / math.sqrt(times))
    return classic_sigma(p, each, share), each


def central(p):
    """Bassily, Smith and Thakurta 2014 (stated for ε ≤ 1), with 1.25 in the second logarithm."""
    n, steps, delta = p["nodes"], p["steps"], p["delta"]
    logs = math.log(2 / delta) * math.log(1.25 * steps / (delta * n))
    return 16 * p["clip"] * math.sqrt(steps * logs) / (n * p["epsilon"])


def network(p):
    """ε in two parts: contributions that the watcher gets at once cost what local ones cost, all others the amplified loss.

    The parts are shifted until both ask for the same σ within 5 %; the larger is taken. The amplified part is Rényi at the order α with
    σ = L√(2α(α − 1)): ε = 2KL²α·ln(n)/(σ²n) + ln(1/δ)/(α − 1), σ raised by steps of 15 % until it fits.
    """
    n, delta, times = p["nodes"], p["delta"], contributions(p)
    at_once = math.ceil(2 * times / n + math.sqrt(6 * times * math.log(1 / delta) / n))
    share = 0.5
    while True:
        direct = share * p["epsilon"]
        each = root(lambda e: min(at_once * e, advanced(at_once, e, delta / times)) - direct, 0.0, direct)
        sigma_direct = classic_sigma(p, each, delta / times)
        sigma_others = amplified(p, p["epsilon"] - direct)
        if sigma_direct > 1.05 * sigma_others:
            share *= 1.01
        elif sigma_others > 1.05 * sigma_direct:
            share *= 0.99
        else:
            return max(sigma_direct, sigma_others), at_once, direct


def amplified(p, epsilon):
    n, clip, times = p["nodes"], p["clip"], contributions(p)
    sigma = classic_sigma(p, epsilon, p["delta"])
    while True:
        # σ = L√(2α(α − 1)) solved for α.
        order = (1 + math.sqrt(1 + 2 * (sigma / clip) ** 2)) / 2
        loss = 2 * times * clip ** 2 * order * math.log(n) / (sigma ** 2 * n)
        if loss + math.log(1 / p["delta"]) / (order - 1) < epsilon:
            return sigma
        sigma *= 1.15
