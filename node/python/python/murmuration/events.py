"""What was released, as values: describe here, price with :func:`murmuration.account`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """One release, or several; ``description`` is the JSON form that ledgers use."""

    description: dict[str, Any]

    def sampled(self, rate: float) -> Event:
        """On a Poisson sample: each record is in it with this probability (adding or removing a record)."""
        return Event({"kind": "poisson_sampled", "rate": float(rate), "event": self.description})

    def sampled_without_replacement(self, sample: int, population: int) -> Event:
        """On a sample of fixed size (replacing a record)."""
        return Event(
            {
                "kind": "sampled_without_replacement",
                "population": int(population),
                "sample": int(sample),
                "event": self.description,
            }
        )

    def __mul__(self, count: int) -> Event:
        """So many times, independently."""
        return Event({"kind": "composed", "event": self.description, "count": int(count)})

    __rmul__ = __mul__


def gaussian(sigma: float) -> Event:
    """Gaussian noise: standard deviation over L2 sensitivity."""
    return Event({"kind": "gaussian", "noise_multiplier": float(sigma)})


def laplace(scale: float) -> Event:
    """Laplace noise: scale over L1 sensitivity."""
    return Event({"kind": "laplace", "noise_multiplier": float(scale)})


def randomized_response(epsilon: float, categories: int = 2) -> Event:
    """The truth with odds e^ε to 1 against each other category."""
    return Event({"kind": "randomized_response", "epsilon": float(epsilon), "categories": int(categories)})


def d_private(epsilon: float, distance: float = 1.0) -> Event:
    """Metric privacy: ε per unit of distance, and the largest distance of neighbours."""
    return Event({"kind": "d_private", "epsilon_per_unit": float(epsilon), "distance": float(distance)})


def pure(epsilon: float) -> Event:
    """Anything that is ε-DP."""
    return Event({"kind": "pure_dp", "epsilon": float(epsilon)})


def approximate(epsilon: float, delta: float) -> Event:
    """Anything that is (ε, δ)-DP."""
    return Event({"kind": "approximate_dp", "epsilon": float(epsilon), "delta": float(delta)})


def zcdp(rho: float) -> Event:
    """Anything that is ρ-zCDP, such as the discrete Gaussian."""
    return Event({"kind": "zero_concentrated", "rho": float(rho)})


def non_private() -> Event:
    """A release without protection."""
    return Event({"kind": "non_private"})


def sequence(events: Iterable[Event]) -> Event:
    """Several events one after another; later ones may depend on the results of earlier ones."""
    return Event({"kind": "sequence", "events": [event.description for event in events]})
