"""Runs: simulated here, or read from the folder of one that was made."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from ._errors import MurmurError
from .questions import Answer, bar, table_html

if TYPE_CHECKING:
    from .trainers import Trainer
    import numpy as np
    import numpy.typing as npt


def simulate(
    config: str | PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,
    *,
    out: str | PathLike[str] | None = None,
    threads: int = 0,
    progress: bool | Callable[[int, int], object] | None = None,
    trainer: Callable[[int], Trainer] | None = None,
) -> Run:
    """Simulates a swarm: the file ``config`` (or the built-in story of 64 nodes that learn digits) with the keys of ``set`` on top.

    With ``out`` the run gets a folder of its own there, as with ``murmur sim``. Without the GIL; ctrl-c ends it. ``trainer(node)`` makes the trainer of each
    node, for ``model.kind = "external"``, which is then set; what goes wrong with it later is a warning, and that contribution is zeros and noise.
    """
    toml = None if config is None else (_text(Path(config)), fspath(config))
    flags = [f"{key}={_value(value)}" for key, value in (set or {}).items()]
    trainers = None
    if trainer is not None:
        flags.insert(0, "model.kind=external")
        made = [trainer(node) for node in range(_core.nodes_of(toml, flags))]
        trainers = [(json.dumps(one.hello()), one.answer) for one in made]
    found = _core.simulate(toml, flags, out=out, threads=threads, progress=bar(progress), trainers=trainers)
    for node, trouble in found["troubles"][:5]:
        warnings.warn(f"node {node}: {trouble}; its contribution was zeros and noise", RuntimeWarning, stacklevel=2)
    return Run(found["columns"], json.loads(found["result"]), found["config"], found["folder"], found["model"])


def read(run: str | PathLike[str]) -> Run:
    """The metrics and the result of a run that was made, from its folder."""
    folder = Path(run)
    if not folder.is_dir():
        raise MurmurError(f"`{folder}` is not the folder of a run", "give a folder such as runs/digits")
    result = json.loads(_text(folder / "result.json"))
    config = _text(folder / "config.toml")
    return Run(_columns(_text(folder / "metrics.csv")), result, config, folder)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise MurmurError(f"cannot read `{path}`: {error.strerror}", "check the path") from error


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _columns(csv: str) -> dict[str, Any]:
    import numpy as np

    heading, *lines = csv.splitlines()
    cells = [line.split(",") for line in lines]
    columns: dict[str, Any] = {}
    for at, name in enumerate(heading.split(",")):
        values = [float(row[at]) if row[at] else float("nan") for row in cells]
        columns[name] = np.array(values, dtype=np.uint32 if name == "round" else np.float64)
    return columns


class Run:
    """A run: ``metrics`` (numpy columns by name, a row per round), ``result``, ``config``, and ``model`` where it was simulated here."""

    metrics: dict[str, npt.NDArray[Any]]
    result: Answer
    config: str
    folder: Path | None
    model: npt.NDArray[np.float32] | None

    def __init__(
        self,
        metrics: dict[str, Any],
        result: dict[str, Any],
        config: str,
        folder: str | PathLike[str] | None,
        model: Any = None,
    ) -> None:
        self.metrics, self.result, self.config, self.model = metrics, Answer(result), config, model
        self.folder = None if folder is None else Path(folder)

    def to_pandas(self) -> Any:
        """A row for each round."""
        import pandas

        return pandas.DataFrame(self.metrics)

    def to_polars(self) -> Any:
        """A row for each round."""
        import polars

        return polars.DataFrame(self.metrics)

    def plot(self, axes: Any = None) -> Any:
        """Accuracy (or loss) and ε by round; needs matplotlib."""
        from .plots import run

        return run(self, axes)

    def __repr__(self) -> str:
        worst = self.result.privacy["worst"]
        return (
            f"<Run {self.result.run}: {self.result.algorithm}, {self.result.nodes} nodes, {len(self.metrics['round'])} rounds, "
            f"test_acc {self.result.test_acc}, worst ε {worst['epsilon']} (analysis {worst['analysis']})>"
        )

    def _repr_html_(self) -> str:
        names = ("algorithm", "nodes", "rounds", "seed", "test_acc", "test_loss")
        rows: list[tuple[Any, ...]] = [(name, self.result[name]) for name in names]
        for name in ("worst", "mean", "local"):
            figure = self.result.privacy[name]
            rows.append((f"ε {name}", f"{figure['epsilon']} (analysis {figure['analysis']})"))
        return table_html(rows)
