"""A real node: the program `murmur` as a child, with a trainer of this process."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol

from ._binary import path as program
from ._errors import MurmurError
from .trainers import Trainer, serve

#: How often the log is looked at.
_LOOK = 0.1
#: How long a node that was asked to stop may take.
_FAREWELL = 10.0


class Callback(Protocol):
    """Hears of every event of the log, and of the end."""

    def event(self, event: dict[str, Any]) -> None: ...
    def close(self) -> None: ...


class Node:
    """One participant. ``trainer`` computes in this process, so notebooks and asyncio work; everything private is done by the program.

    ``options`` are further flags of ``murmur node``, such as ``("--peer", "/dns4/b.example/tcp/7000")``.
    """

    state: Path

    def __init__(
        self,
        swarm: str | PathLike[str],
        trainer: Trainer | None = None,
        *,
        state: str | PathLike[str] = "murmur-state",
        budget_epsilon: float | None = None,
        data: str | None = None,
        options: Sequence[str] = (),
    ) -> None:
        if (trainer is None) == (data is None):
            raise MurmurError("a node has either a trainer or data", "give trainer=, or data= for a model of murmur's own")
        self.state = Path(state)
        self._trainer = trainer
        self._command = [program(), "node", "--swarm", fspath(swarm), "--state", str(self.state), *options]
        if budget_epsilon is not None:
            self._command += ["--set", f"budget.epsilon={budget_epsilon}"]
        if data is not None:
            self._command += ["--data", data]
        self._process: subprocess.Popen[bytes] | None = None
        self._door: _Door | None = None
        self._errors: Any = None

    def start(self) -> Node:
        """Starts it; ``run`` and ``async for`` do so themselves."""
        if self._process is not None:
            raise MurmurError("this node was started already", "make another Node for another run")
        command = list(self._command)
        if self._trainer is not None:
            self._door = _Door(self._trainer)
            command += ["--trainer", self._door.command()]
        self._errors = tempfile.TemporaryFile()
        # In a group of its own: ctrl-c is ours to pass on.
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._errors, start_new_session=True
        )
        return self

    def run(self, callbacks: Iterable[Callback] = ()) -> Node:
        """Takes part until the run is over. ctrl-c ends the node in an orderly way: started again, it goes on where it was."""
        callbacks = list(callbacks)
        try:
            for event in self.events():
                for callback in callbacks:
                    callback.event(event)
        finally:
            for callback in callbacks:
                callback.close()
        return self

    def events(self) -> Iterator[dict[str, Any]]:
        """The lines of ``log.jsonl`` of this start, as they are written."""
        lines = self._lines()
        try:
            for found in lines:
                if found is None:
                    time.sleep(_LOOK)
                else:
                    yield found
        finally:
            lines.close()

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        lines = self._lines()
        try:
            for found in lines:
                if found is None:
                    await asyncio.sleep(_LOOK)
                else:
                    yield found
        finally:
            # The node is waited for, and the loop goes on meanwhile.
            await asyncio.to_thread(lines.close)

    def stop(self) -> None:
        """Asks it to stop and waits for it."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @property
    def model(self) -> dict[str, Any]:
        """The tensors of ``model.safetensors`` by name, as numpy arrays."""
        return read_model(self.state / "model.safetensors")

    def _lines(self) -> Generator[dict[str, Any] | None, None, None]:
        """Events, and ``None`` whenever there is nothing to do but wait."""
        number = 0
        while self._log(number + 1).exists():
            number += 1
        seen = self._log(number).stat().st_size if self._log(number).exists() else 0
        if self._process is None:
            self.start()
        assert self._process is not None
        try:
            ended = False
            while True:
                ended = self._process.poll() is not None
                # Looked for before the reading: where the next piece is there, this one is not written any more.
                goes_on = self._log(number + 1).exists()
                if self._log(number).exists():
                    with self._log(number).open("rb") as file:
                        file.seek(seen)
                        rest = file.read()
                    whole = rest[: rest.rfind(b"\n") + 1]
                    seen += len(whole)
                    for line in whole.splitlines():
                        yield json.loads(line)
                if goes_on:
                    number, seen = number + 1, 0
                    continue
                if ended:
                    break
                yield None
            self._finish()
        finally:
            self.stop()
            if self._door is not None:
                self._door.close()

    def _log(self, number: int) -> Path:
        """A piece of the log: a long one goes on in the next."""
        return self.state / ("log.jsonl" if number == 0 else f"log-{number:06}.jsonl")

    def _finish(self) -> None:
        assert self._process is not None
        self._errors.seek(0)
        told = self._errors.read().decode(errors="replace")
        if self._process.returncode == 0:
            return
        message = told[told.rfind("error: ") + len("error: ") :] if "error: " in told else told[-2000:]
        message, _, hint = message.partition("\nhint: ")
        raise MurmurError(" ".join(message.split()) or f"the node ended with {self._process.returncode}", hint.strip() or None)


class _Door:
    """Where the process that the node starts hands its socket over."""

    def __init__(self, trainer: Trainer) -> None:
        # A folder of mode 0700: nobody else can knock.
        self._folder = tempfile.TemporaryDirectory(prefix="murmur-")
        self._path = os.path.join(self._folder.name, "door")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self._path)
        self._listener.listen(1)
        self._trainer = trainer
        threading.Thread(target=self._serve, name="murmur-trainer", daemon=True).start()

    def command(self) -> str:
        return shlex.join([sys.executable, "-m", "murmuration.bridge", self._path])

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            with caller:
                _, handed, _, _ = socket.recv_fds(caller, 16, 1)
                if not handed:
                    continue
                with os.fdopen(handed[0], "rb") as source, os.fdopen(os.dup(handed[0]), "wb") as sink:
                    try:
                        serve(self._trainer, source, sink)
                    except OSError:
                        # The node gave this one up and starts another.
                        continue

    def close(self) -> None:
        # Wakes the thread that waits for a caller.
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        self._folder.cleanup()


def read_model(path: str | PathLike[str]) -> dict[str, Any]:
    """The tensors of a safetensors file in single precision, by name."""
    import numpy as np

    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise MurmurError(f"cannot read `{fspath(path)}`: {error.strerror}", "a model is saved when a node ends") from error
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            begin, end = (8 + size + at for at in about["data_offsets"])
            tensors[name] = np.frombuffer(content[begin:end], dtype="<f4").reshape(about["shape"])
    return tensors


def save_initial(path: str | PathLike[str], tensors: dict[str, Any]) -> None:
    """Writes first parameters for ``model.initial``: a safetensors file that all members hold. They must not depend on private data."""
    import numpy as np

    header: dict[str, Any] = {}
    content = b""
    for name, values in tensors.items():
        raw = np.ascontiguousarray(np.asarray(values, dtype="<f4"))
        header[name] = {"dtype": "F32", "shape": list(raw.shape), "data_offsets": [len(content), len(content) + raw.nbytes]}
        content += raw.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + content)
