"""Callbacks of ``Node.run``: where the events of a node's log go. The loss is the node's own and not private: keep it to yourself."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ._errors import MurmurError


class _Losses:
    """Takes the loss of every contribution and the ends of rounds."""

    def event(self, event: dict[str, Any]) -> None:
        round_ = event.get("round")
        if round_ is None:
            return
        if event.get("event") == "released" and event.get("loss") is not None:
            self.scalar("loss", float(event["loss"]), int(round_))
        if event.get("event") == "round_done":
            self.scalar("contributors", float(event["count"]), int(round_))

    def scalar(self, name: str, value: float, step: int) -> None:
        raise NotImplementedError

    def close(self) -> None:
        pass


def _writer_of_tensorboard() -> Any:
    for module in ("torch.utils.tensorboard", "tensorboardX"):
        try:
            return import_module(module).SummaryWriter
        except ImportError:
            continue
    raise MurmurError("nothing here writes for TensorBoard", "pip install tensorboardX, or torch with tensorboard")


class TensorBoard(_Losses):
    """Scalars for TensorBoard, by ``torch.utils.tensorboard`` or ``tensorboardX``."""

    def __init__(self, folder: str) -> None:
        self._writer = _writer_of_tensorboard()(folder)

    def scalar(self, name: str, value: float, step: int) -> None:
        self._writer.add_scalar(f"murmur/{name}", value, step)

    def close(self) -> None:
        self._writer.close()


class Mlflow(_Losses):
    """Metrics of the active MLflow run."""

    def __init__(self) -> None:
        import mlflow

        self._mlflow = mlflow

    def scalar(self, name: str, value: float, step: int) -> None:
        self._mlflow.log_metric(f"murmur_{name}", value, step=step)


class Wandb(_Losses):
    """Metrics of a Weights & Biases run, by default the active one."""

    def __init__(self, run: Any = None) -> None:
        import wandb

        self._log = (run or wandb).log

    def scalar(self, name: str, value: float, step: int) -> None:
        self._log({f"murmur/{name}": value, "round": step})
