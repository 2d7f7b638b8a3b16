"""Who learns how much about whom?"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import Graph
from ._errors import MurmurError
from .questions import Networkx, bar, rounded_up, situation, table_html

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def pairwise(
    graph: Graph | str | Networkx | None = None,
    *,
    analysis: str,
    rounds: int = 1,
    sigma: float = 1.0,
    sensitivity: float = 1.0,
    delta: float = 1e-5,
    steps: int | None = None,
    weights: str | None = None,
    schedule: str | None = None,
    nodes: int | None = None,
    method: str | None = None,
    rho: float | None = None,
    watcher: int | Sequence[int] | None = None,
    coalition: Sequence[int] | None = None,
    message_noise: float | None = None,
    path: Sequence[int] | None = None,
    kernel: str | None = None,
    samples: int | None = None,
    seed: int | None = None,
    formula: str | None = None,
    largest_component: bool | None = None,
    threads: int = 0,
    progress: bool | Callable[[int, int], object] | None = None,
) -> Pairwise:
    """How much each node can learn about each other node.

    ``graph`` is a :class:`Graph`, its description, or a graph of networkx; instead of one, ``schedule`` with ``nodes``, or ``path`` for a walk that was made.
    There is no default ``analysis``: a figure without its theorem means nothing. Without the GIL; ctrl-c ends it.

    >>> import murmuration as mm
    >>> pairs = mm.pairwise("ring:6", analysis="rounds")
    >>> float(pairs.mu2[0, 1]), float(pairs.mu2[0, 3])
    (1.0, 0.0)
    """
    options: dict[str, Any] = {
        "analysis": analysis,
        "rounds": rounds,
        "steps": steps,
        "weights": weights,
        "schedule": schedule,
        "nodes": nodes,
        "method": method,
        "rho": rho,
        "watcher": watcher,
        "coalition": coalition,
        "message_noise": message_noise,
        "path": path,
        "kernel": kernel,
        "samples": samples,
        "seed": seed,
        "formula": formula,
        "largest_component": largest_component,
    }
    described, at_hand = situation(options, graph)
    noise = {"sigma": float(sigma), "sensitivity": float(sensitivity), "delta": float(delta)}
    question = json.dumps({"situation": described, "noise": noise})
    pairs, tables = _core.pairwise(question, at_hand, threads=threads, progress=bar(progress))
    return Pairwise(pairs, tables)


class Pairwise:
    """Losses of every node towards every watcher: a row per watcher (or coalition), a column per node, NaN for oneself.

    ``mu2`` and ``epsilon`` are numpy arrays; ``analysis``, ``guarantee`` and ``assumes`` say what they mean.
    """

    analysis: str
    guarantee: str
    assumes: str
    method: str | None
    delta: float
    sigma: float
    sensitivity: float
    message_noise: float
    nodes: int
    rounds: int
    steps: int
    mu2: npt.NDArray[np.float64]
    epsilon: npt.NDArray[np.float64]
    mu2_margin_95: npt.NDArray[np.float64] | None
    renyi_2_upper_95: npt.NDArray[np.float64] | None

    def __init__(self, pairs: _core.Pairs, tables: dict[str, Any]) -> None:
        self._pairs = pairs
        head = json.loads(pairs.head())
        for name in ("mu2", "epsilon", "watchers"):
            head.pop(name)
        self.mu2_margin_95 = self.renyi_2_upper_95 = None
        self.__dict__.update(head)
        self.__dict__.update(tables)

    @property
    def watchers(self) -> list[list[int]]:
        """Who watches in each row."""
        return self._pairs.coalitions

    @property
    def local_epsilon(self) -> float | None:
        """ε of somebody who sees every message (analysis ``local``), where the protocol says how often each node contributes."""
        return self._pairs.local_epsilon

    @property
    def worst(self) -> tuple[list[int], int, float]:
        """The pair that loses most: who watches, whose data, ε."""
        import numpy as np

        if np.isnan(self.epsilon).all():
            raise MurmurError("there is no pair")
        row, node = divmod(int(np.nanargmax(self.epsilon)), self.nodes)
        return self.watchers[row], node, float(self.epsilon[row, node])

    @property
    def mean(self) -> float:
        """Mean ε of all pairs."""
        import numpy as np

        return float(np.nanmean(self.epsilon))

    def label(self, node: int) -> str:
        """The name of a node."""
        return self._pairs.label(node)

    def distances(self) -> npt.NDArray[np.int32] | None:
        """Steps between watchers and nodes, in the shape of ``epsilon``; −1 where there is no way."""
        return self._pairs.distances()

    def by_distance(self) -> dict[int, dict[str, float]]:
        """Pairs, and least, mean and greatest ε at each distance; −1 where there is none."""
        import numpy as np

        found = self.distances()
        steps = np.full(self.epsilon.shape, -1) if found is None else found
        others = ~np.isnan(self.epsilon)
        table = {}
        for distance in np.unique(steps[others]):
            epsilon = self.epsilon[others & (steps == distance)]
            table[int(distance)] = {
                "pairs": len(epsilon),
                "min": float(epsilon.min()),
                "mean": float(epsilon.mean()),
                "max": float(epsilon.max()),
            }
        return table

    def _columns(self) -> dict[str, Any]:
        import numpy as np

        rows, nodes = np.nonzero(~np.isnan(self.epsilon))
        names = np.array(["+".join(map(str, watchers)) for watchers in self.watchers])
        watchers: Any = names[rows]
        if all(len(watchers) == 1 for watchers in self.watchers):
            watchers = np.array([watchers[0] for watchers in self.watchers])[rows]
        columns = {"watcher": watchers, "source": nodes}
        distances = self.distances()
        if distances is not None:
            columns["distance"] = distances[rows, nodes]
        return {**columns, "mu2": self.mu2[rows, nodes], "epsilon": self.epsilon[rows, nodes]}

    def to_pandas(self) -> Any:
        """A row for each pair."""
        import pandas

        return pandas.DataFrame(self._columns())

    def to_polars(self) -> Any:
        """A row for each pair."""
        import polars

        return polars.DataFrame(self._columns())

    def plot(self, axes: Any = None) -> Any:
        """A heat map of all pairs, and ε by distance beside it where there is a graph; needs matplotlib."""
        from .plots import pairs

        return pairs(self, axes)

    def __repr__(self) -> str:
        watchers, node, epsilon = self.worst
        return (
            f"<Pairwise: analysis {self.analysis}, {self.nodes} nodes; worst pair {watchers} about {node}: "
            f"ε = {rounded_up(epsilon)}, mean ε = {rounded_up(self.mean)} at δ = {self.delta:g}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("any" if distance < 0 else distance, at["pairs"], *(rounded_up(at[key]) for key in ("min", "mean", "max")))
            for distance, at in self.by_distance().items()
        ]
        table = table_html(rows, ("distance", "pairs", "ε min", "ε mean", "ε max"))
        return f"{table}<p>Analysis {self.analysis} at δ = {self.delta:g}. {self.guarantee} Assumes: {self.assumes}</p>"
