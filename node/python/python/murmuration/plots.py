"""Pictures by matplotlib, where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .pairs import Pairwise
    from .runs import Run


def _axes(axes: Any, count: int) -> list[Any]:
    if axes is not None:
        return list(axes) if hasattr(axes, "__len__") else [axes]
    import matplotlib.pyplot as plt

    _, made = plt.subplots(1, count, figsize=(5.5 * count, 4.2), layout="constrained", squeeze=False)
    return list(made[0])


def pairs(found: Pairwise, axes: Any = None) -> Any:
    """A heat map of all pairs and, where there is a graph, ε by distance."""
    by_distance = {distance: at for distance, at in found.by_distance().items() if distance >= 0}
    panels = _axes(axes, 2 if by_distance else 1)
    image = panels[0].imshow(found.epsilon, aspect="auto", interpolation="nearest", vmin=0.0)
    panels[0].figure.colorbar(image, ax=panels[0], label=f"ε at δ = {found.delta:g}")
    panels[0].set(xlabel="node that is watched", ylabel="watcher", title=f"analysis {found.analysis}")
    if by_distance and len(panels) > 1:
        steps = list(by_distance)
        least, mean, most = ([at[key] for at in by_distance.values()] for key in ("min", "mean", "max"))
        panels[1].fill_between(steps, least, most, alpha=0.25, label="least to greatest")
        panels[1].plot(steps, mean, marker="o", label="mean")
        panels[1].set(xlabel="distance", ylabel=f"ε at δ = {found.delta:g}", title=f"analysis {found.analysis}")
        panels[1].legend()
    return panels[0].figure


def run(found: Run, axes: Any = None) -> Any:
    """Accuracy, or loss where there is none, and ε by round."""
    import numpy as np

    panels = _axes(axes, 2)
    rounds = found.metrics["round"] + 1
    quality = "test_acc" if np.isfinite(found.metrics["test_acc"]).any() else "test_loss"

    def draw(panel: Any, values: Any, **style: Any) -> None:
        # Of a real swarm not every round was judged or priced: a line goes from one that was to the next.
        known = np.isfinite(values)
        panel.plot(rounds[known], values[known], **style)

    draw(panels[0], found.metrics[quality])
    panels[0].set(xlabel="round", ylabel="accuracy" if quality == "test_acc" else "loss")
    if len(panels) > 1:
        for name in ("worst", "mean", "local"):
            analysis = found.result.privacy[name]["analysis"]
            draw(panels[1], found.metrics[f"epsilon_{name}"], label=f"{name} ({analysis})")
        panels[1].set(xlabel="round", ylabel="ε so far", ylim=(0, None))
        panels[1].legend()
    return panels[0].figure
