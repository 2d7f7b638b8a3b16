"""Trainers: what a node asks a foreign model for. Clipping, noise, ledger and wire stay in the program `murmur`; docs/TRAINER.md has the protocol."""

from __future__ import annotations

import json
import os
import struct
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from ._errors import MurmurError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    Records = npt.NDArray[np.uint32]

#: The version of the protocol.
PROTOCOL = 1
ANSWERS = ("update", "rows", "norms", "sum")


class Trainer:
    """Computes for one node: fill ``tensors`` and ``records``, and write ``update`` or ``rows`` (or ``norms`` and ``sum``).

    ``params`` is all tensors in one flat vector of float32. Draws must come from ``seed``: the same question has the same answer.
    """

    #: Names and shapes of the parameters, in the order of the flat vector.
    tensors: Mapping[str, Sequence[int]] = {}
    #: How many records there are; they are called 0, 1, 2 and so on.
    records: int = 0
    #: The loss of the last answer, for the owner's eyes.
    loss: float | None = None

    def update(self, params: Vector, *, round: int, seed: int) -> Any:
        """Parameters after any local training, minus ``params``. Whole nodes are protected, whatever happens here."""
        raise NotImplementedError

    def rows(self, records: Records, params: Vector, *, seed: int) -> Any:
        """The gradient of the loss of each record, a row each. A row may depend on its own record only."""
        raise NotImplementedError

    def norms(self, records: Records, params: Vector, *, seed: int) -> Any:
        """The norm of each row, for ``model.clipping = "trainer"``."""
        raise NotImplementedError

    def sum(self, records: Records, params: Vector, factors: Vector, *, seed: int) -> Any:
        """The sum of the rows, each times its factor."""
        raise NotImplementedError

    def answers(self) -> list[str]:
        """Which of them this trainer has."""
        return [name for name in ANSWERS if getattr(type(self), name) is not getattr(Trainer, name)]

    def hello(self) -> dict[str, Any]:
        """What it says of itself."""
        tensors = [{"name": name, "shape": [int(size) for size in shape]} for name, shape in self.tensors.items()]
        return {"protocol": PROTOCOL, "answers": self.answers(), "records": int(self.records), "tensors": tensors}

    def answer(
        self, kind: str, round: int, seed: int, records: Any, params: Any, factors: Any
    ) -> tuple[Vector, float | None]:
        """Answers one question: a flat vector of float32, and the loss where it is known."""
        import numpy as np

        self.loss = None
        if kind == "update":
            found = self.update(params, round=round, seed=seed)
        elif kind == "rows":
            found = self.rows(records, params, seed=seed)
        elif kind == "norms":
            found = self.norms(records, params, seed=seed)
        elif kind == "sum":
            found = self.sum(records, params, factors, seed=seed)
        else:
            raise MurmurError(f"`{kind}` is no question")
        numbers = np.ascontiguousarray(np.asarray(found, dtype=np.float32)).reshape(-1)
        return numbers, None if self.loss is None else float(self.loss)


class Function(Trainer):
    """A trainer of plain functions: ``Function({"w": (3,)}, 100, rows=lambda records, params, seed: ...)``."""

    def __init__(
        self, tensors: Mapping[str, Sequence[int]], records: int, **functions: Callable[..., Any]
    ) -> None:
        unknown = set(functions) - set(ANSWERS)
        if unknown or not functions:
            raise MurmurError(f"no answer is called {sorted(unknown)}", f"give one of {', '.join(ANSWERS)}")
        self.tensors, self.records = tensors, records
        self._functions = functions

    def answers(self) -> list[str]:
        return [name for name in ANSWERS if name in self._functions]

    def update(self, params: Vector, *, round: int, seed: int) -> Any:
        return self._functions["update"](params, round=round, seed=seed)

    def rows(self, records: Records, params: Vector, *, seed: int) -> Any:
        return self._functions["rows"](records, params, seed=seed)

    def norms(self, records: Records, params: Vector, *, seed: int) -> Any:
        return self._functions["norms"](records, params, seed=seed)

    def sum(self, records: Records, params: Vector, factors: Vector, *, seed: int) -> Any:
        return self._functions["sum"](records, params, factors, seed=seed)


def serve(trainer: Trainer, source: IO[bytes] | None = None, sink: IO[bytes] | None = None) -> None:
    """Speaks the trainer protocol until the node closes it: on stdin and stdout, for ``murmur node --trainer 'python3 mine.py'``.

    What is printed meanwhile goes to stderr.
    """
    if source is None or sink is None:
        source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        sys.stdout.flush()
        os.dup2(2, 1)
    _write(sink, {"say": "hello", **trainer.hello()})
    while (job := _read(source)) is not None:
        header, records, reals = job
        kind, count = header["ask"], header["u32"]
        split = len(reals) - (count if kind == "sum" else 0)
        try:
            numbers, loss = trainer.answer(
                kind, header["round"], header["seed"], records, reals[:split], reals[split:]
            )
            _write(sink, {"say": kind} | ({} if loss is None else {"loss": loss}), numbers)
        except Exception as error:  # the node goes on with zeros; here is why
            traceback.print_exc()
            _write(sink, {"say": "error", "message": f"{type(error).__name__}: {error}"})


def _read(source: IO[bytes]) -> tuple[dict[str, Any], Any, Any] | None:
    import numpy as np

    size = source.read(4)
    if len(size) < 4:
        return None
    header = json.loads(source.read(struct.unpack("<I", size)[0]))
    words = np.frombuffer(source.read(4 * header.get("u32", 0)), dtype="<u4")
    reals = np.frombuffer(source.read(4 * header.get("f32", 0)), dtype="<f4")
    return header, words, reals


def _write(sink: IO[bytes], header: dict[str, Any], numbers: Any = None) -> None:
    count = 0 if numbers is None else len(numbers)
    text = json.dumps({**header, "f32": count}).encode()
    sink.write(struct.pack("<I", len(text)) + text)
    if numbers is not None:
        sink.write(numbers.astype("<f4", copy=False).tobytes())
    sink.flush()
