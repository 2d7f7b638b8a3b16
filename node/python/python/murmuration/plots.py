"""Pictures by matplotlib, where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .questions import rounded_up

if TYPE_CHECKING:
    from .pairs import Pairwise
    from .runs import Run

#: What a run is judged by, best first.
_QUALITIES = (("test_acc", "accuracy on test data"), ("test_loss", "loss on test data"), ("train_loss", "loss on training data"))


def _axes(axes: Any, count: int) -> list[Any]:
    if axes is not None:
        return list(axes) if hasattr(axes, "__len__") else [axes]
    import matplotlib.pyplot as plt

    _, made = plt.subplots(1, count, figsize=(5.5 * count, 4.2), layout="constrained", squeeze=False)
    return list(made[0])


def _whole(axis: Any) -> None:
    """Nodes, steps and rounds are whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def pairs(found: Pairwise, axes: Any = None) -> Any:
    """A heat map of all pairs and, where there is a graph, ε by distance."""
    by_distance = {distance: at for distance, at in found.by_distance().items() if distance >= 0}
    panels = _axes(axes, 2 if by_distance else 1)
    _heat(found, panels[0])
    if by_distance and len(panels) > 1:
        steps = list(by_distance)
        least, mean, most = ([at[key] for at in by_distance.values()] for key in ("min", "mean", "max"))
        panels[1].fill_between(steps, least, most, alpha=0.25, linewidth=0, label="least to greatest")
        panels[1].plot(steps, mean, marker="o", label="mean")
        panels[1].set(xlabel="steps between watcher and node", ylabel=f"ε at δ = {found.delta:g}", ylim=(0, None), title="by distance")
        panels[1].grid(alpha=0.3)
        panels[1].legend()
        _whole(panels[1].xaxis)
    return panels[0].figure


def _heat(found: Pairwise, panel: Any) -> None:
    image = panel.imshow(found.epsilon, aspect="auto", interpolation="nearest", vmin=0.0)
    # What one would learn about oneself is no loss: left blank.
    panel.set_facecolor("white")
    panel.figure.colorbar(image, ax=panel, label=f"ε at δ = {found.delta:g}")
    panel.set(xlabel="node that is watched", title=f"{len(found.epsilon)} watchers, analysis {found.analysis}")
    _whole(panel.xaxis)
    if all(len(watchers) == 1 for watchers in found.watchers) and len(found.watchers) == found.nodes:
        panel.set_ylabel("watcher")
        _whole(panel.yaxis)
    else:
        names = ["+".join(map(str, watchers)) for watchers in found.watchers]
        shown = range(0, len(names), -(-len(names) // 12))
        panel.set_yticks(list(shown), [names[at] for at in shown])
        panel.set_ylabel("who watches together")


def run(found: Run, axes: Any = None) -> Any:
    """Accuracy, or loss where there is none, and ε by round."""
    import numpy as np

    judged = [(name, label) for name, label in _QUALITIES if np.isfinite(found.metrics[name]).any()]
    panels = _axes(axes, 2 if judged else 1)
    if judged:
        name, label = judged[0]
        _line(found, panels[0], found.metrics[name])
        panels[0].set(ylabel=label, title=f"{found.result.algorithm}, {found.result.nodes} nodes")
        if name == "test_acc":
            from matplotlib.ticker import PercentFormatter

            panels[0].yaxis.set_major_formatter(PercentFormatter(1.0))
    if len(panels) > 1 or not judged:
        _losses(found, panels[-1])
    return panels[0].figure


def _losses(found: Run, panel: Any) -> None:
    for name, style in (("worst", "-"), ("mean", "--"), ("local", ":")):
        figure = found.result.privacy[name]
        epsilon = float("inf") if figure["epsilon"] is None else float(figure["epsilon"])
        _line(found, panel, found.metrics[f"epsilon_{name}"], linestyle=style, label=f"{name}: {rounded_up(epsilon)} ({figure['analysis']})")
    panel.set(ylabel=f"ε so far at δ = {found.result.privacy['delta']:g}", ylim=(0, None), title="what others can have learnt")
    panel.legend()


def _line(found: Run, panel: Any, values: Any, **style: Any) -> None:
    import numpy as np

    # Of a real swarm not every round was judged or priced: a line goes from one that was to the next.
    known = np.isfinite(values)
    panel.plot(found.metrics["round"][known] + 1, values[known], **style)
    panel.set_xlabel("round")
    panel.grid(alpha=0.3)
    _whole(panel.xaxis)
