"""Trainers in Python: in the simulator, as programs, and beside a real node."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import murmuration as mm


class Logistic(mm.Trainer):
    """Softmax regression of two classes on two blobs, with numpy."""

    tensors = {"weight": (2,), "bias": (1,)}

    def __init__(self, seed: int, records: int = 120) -> None:
        draw = np.random.default_rng(seed)
        self.records = records
        self.y = draw.integers(0, 2, records)
        self.x = np.column_stack([draw.normal(0, 0.7, (records, 2)) + np.outer(2 * self.y - 1, [1, 0.5]), np.ones(records)])

    def rows(self, records, params, *, seed):
        x, y = self.x[records], self.y[records]
        error = 1 / (1 + np.exp(-x @ params)) - y
        self.loss = float(np.mean(error**2)) if len(records) else None
        return error[:, None] * x

    def accuracy(self, params) -> float:
        return float(np.mean((self.x @ params > 0) == self.y))


SETTINGS = {"nodes": 4, "rounds": 30, "batch_size": 32, "learning_rate": 1, "privacy.epsilon": 8, "privacy.clip_norm": 1}


def test_a_simulation_with_python_trainers_learns_and_is_accounted_for() -> None:
    run = mm.simulate(set=SETTINGS, trainer=Logistic)
    assert run.model.shape == (3,)
    assert Logistic(99).accuracy(run.model) > 0.9
    assert 0 < run.result.privacy["worst"]["epsilon"] <= 8 * (1 + 1e-6)
    again = mm.simulate(set=SETTINGS, trainer=Logistic)
    assert np.array_equal(run.model, again.model), "the same seed, the same run"


def test_a_trainer_whose_rows_mix_is_refused_and_one_that_fails_later_contributes_zeros() -> None:
    class BatchNorm(Logistic):
        def rows(self, records, params, *, seed):
            return super().rows(records, params, seed=seed) / max(len(records), 1)

    with pytest.raises(mm.MurmurError, match="probe `split`") as refused:
        mm.simulate(set=SETTINGS, trainer=BatchNorm)
    assert "BatchNorm" in (refused.value.hint or "")

    class Dies(Logistic):
        def rows(self, records, params, *, seed):
            if np.any(params != 0):
                raise MemoryError("the GPU is full")
            return super().rows(records, params, seed=seed)

    with pytest.warns(RuntimeWarning, match="the GPU is full"):
        dead = mm.simulate(set=SETTINGS, trainer=Dies)
    healthy = mm.simulate(set=SETTINGS, trainer=Logistic)
    assert dead.result.privacy["worst"] == healthy.result.privacy["worst"], "it costs what it would have cost"


def test_there_are_as_many_trainers_as_the_configuration_has_nodes(tmp_path: Path) -> None:
    file, made = tmp_path / "run.toml", []

    def make(node: int) -> Logistic:
        made.append(node)
        return Logistic(node)

    file.write_text("# nodes = 9\nnodes = 3\nrounds = 1\nbatch_size = 16\n[model]\nkind = \"external\"\n")
    mm.simulate(file, trainer=make)
    assert made == [0, 1, 2]
    mm.simulate(file, {"nodes": 5}, trainer=make)
    assert made[3:] == [0, 1, 2, 3, 4]


def test_plain_functions_are_a_trainer_and_answers_of_a_wrong_length_are_refused() -> None:
    made = Logistic(1)
    trainer = mm.Function({"weight": (2,), "bias": (1,)}, 120, rows=made.rows)
    assert trainer.answers() == ["rows"]
    with pytest.raises(mm.MurmurError, match="has 1 numbers and not"):
        mm.simulate(set=SETTINGS, trainer=lambda node: mm.Function({"w": (3,)}, 120, rows=lambda *_, **__: [1.0]))
    with pytest.raises(mm.MurmurError):
        mm.Function({"w": (3,)}, 120, row=made.rows)


def test_whole_nodes_are_protected_by_updates_of_any_kind() -> None:
    class Local(Logistic):
        rows = mm.Trainer.rows

        def update(self, params, *, round, seed):
            now = np.array(params, dtype=float)
            for _ in range(10):
                error = 1 / (1 + np.exp(-self.x @ now)) - self.y
                now -= 0.5 * self.x.T @ error / len(self.y)
            return now - params

    settings = {"nodes": 4, "rounds": 10, "privacy.adjacency": "node", "privacy.noise_multiplier": 0.2, "privacy.clip_norm": 1}
    run = mm.simulate(set=settings, trainer=Local)
    assert Logistic(99).accuracy(run.model) > 0.9


PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
import murmuration as mm
from test_trainers import Logistic

class Talks(Logistic):
    def rows(self, records, params, *, seed):
        print("what is printed while it serves goes to stderr")
        return super().rows(records, params, seed=seed)

mm.serve(Talks({seed}))
"""


def test_a_program_that_serves_a_trainer_keeps_the_protocol(program: str, tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(PROGRAM.format(tests=str(Path(__file__).parent), seed=1))
    done = subprocess.run([program, "trainer", "check", f"{sys.executable} {script}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "keeps the trainer protocol" in done.stdout


def swarm(program: str, folder: Path, nodes: int, **more: object) -> Path:
    settings = {"model.kind": "external", "rounds": 10, "batch_size": 16, "partition.min_size": 100, "privacy.epsilon": 8, "learning_rate": 1}
    flags = [f"--set={key}={value}" for key, value in {**settings, **more}.items() if value is not None]
    file = folder / "swarm.toml"
    subprocess.run([program, "swarm", "init", "--name", "test", "--nodes", str(nodes), "--out", file, *flags], check=True, capture_output=True)
    return file


def free_port() -> int:
    import socket

    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def meeting(ports: list[int], own: int) -> list[str]:
    others = [f"--peer=/ip4/127.0.0.1/tcp/{port}" for port in ports if port != own]
    return ["--no-mdns", f"--listen=/ip4/127.0.0.1/tcp/{own}", *others]


def test_a_real_swarm_with_trainers_of_this_process(program: str, tmp_path: Path) -> None:
    file, ports = swarm(program, tmp_path, 3), [free_port() for _ in range(3)]
    trainers = [Logistic(seed) for seed in range(3)]
    nodes = [
        mm.Node(file, trainer, state=tmp_path / str(at), options=meeting(ports, ports[at]))
        for at, trainer in enumerate(trainers)
    ]

    class Kept:
        def __init__(self) -> None:
            self.events, self.closed = [], False

        def event(self, event) -> None:
            self.events.append(event)

        def close(self) -> None:
            self.closed = True

    kept = Kept()
    threads = [threading.Thread(target=node.run) for node in nodes[1:]]
    for thread in threads:
        thread.start()
    nodes[0].run(callbacks=[kept])
    for thread in threads:
        thread.join()
    assert kept.closed
    assert sum(event["event"] == "released" for event in kept.events) == 10
    assert any(event.get("loss") is not None for event in kept.events)
    logged = [json.loads(line) for line in (tmp_path / "0" / "log.jsonl").read_text().splitlines()]
    assert kept.events == logged
    models = [np.concatenate([node.model["weight"], node.model["bias"]]) for node in nodes]
    assert np.array_equal(models[0], models[1]) and np.array_equal(models[0], models[2])
    assert Logistic(99).accuracy(models[0]) > 0.9
    assert "rests on the trainer" in " ".join(mm.report(tmp_path / "0")["assumes"])


def test_events_come_one_by_one_in_asyncio_and_leaving_stops_the_node(program: str, tmp_path: Path) -> None:
    file, ports = swarm(program, tmp_path, 2, rounds=100000), [free_port() for _ in range(2)]
    nodes = [mm.Node(file, Logistic(at), state=tmp_path / str(at), options=meeting(ports, ports[at])) for at in range(2)]

    async def first(node: mm.Node, wanted: str) -> dict:
        async for event in node:
            if event["event"] == wanted:
                return event
        raise AssertionError("it ended")

    async def both() -> list[dict]:
        return await asyncio.gather(first(nodes[0], "round_done"), first(nodes[1], "round_done"))

    assert [event["event"] for event in asyncio.run(both())] == ["round_done"] * 2
    for node in nodes:
        node.stop()
        assert node._process is not None and node._process.returncode is not None


def test_a_node_that_cannot_start_says_why(program: str, tmp_path: Path) -> None:
    class Normed(Logistic):
        def rows(self, records, params, *, seed):
            return super().rows(records, params, seed=seed) / max(len(records), 1)

    file = swarm(program, tmp_path, 2)
    with pytest.raises(mm.MurmurError, match="probe `split`"):
        mm.Node(file, Normed(1), state=tmp_path / "a").run()
    with pytest.raises(mm.MurmurError):
        mm.Node(file, state=tmp_path / "b")


def test_first_parameters_are_written_as_the_program_reads_them(program: str, tmp_path: Path) -> None:
    first = tmp_path / "init.safetensors"
    mm.save_initial(first, {"weight": np.array([0.5, -1.0]), "bias": np.zeros(1)})
    back = mm.read_model(first)
    assert back["weight"].tolist() == [0.5, -1.0] and back["bias"].shape == (1,)
    run = mm.simulate(set={**SETTINGS, "rounds": 1, "learning_rate": 1e-9, "model.initial": f'"{first}"'}, trainer=Logistic)
    assert np.allclose(run.model, [0.5, -1.0, 0.0], atol=1e-6)


class Wide(mm.Trainer):
    """As many parameters as a ResNet-18; each goes half of the way to ten."""

    tensors, records = {"wide": (10_000_000,)}, 10

    def update(self, params, *, round, seed):
        return 0.5 * (10 - params)


def test_ten_million_parameters_travel_by_updates(program: str, tmp_path: Path) -> None:
    clip = 20_000.0  # The first update has norm 5·√10⁷ = 15,811: nothing is clipped.
    private = {"privacy.epsilon": None, "privacy.adjacency": "node", "privacy.noise_multiplier": 1e-5, "privacy.clip_norm": clip, "timeouts.silence": "60s"}
    file = swarm(program, tmp_path, 3, rounds=2, **private, **{"learning_rate": 1, "partition.min_size": 1, "batch_size": 1})
    ports = [free_port() for _ in range(3)]
    nodes = [mm.Node(file, Wide(), state=tmp_path / str(at), options=meeting(ports, ports[at])) for at in range(3)]
    threads = [threading.Thread(target=node.run) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    models = [node.model["wide"] for node in nodes]
    assert np.array_equal(models[0], models[1]) and np.array_equal(models[0], models[2])
    # Half of the way, and half of what was left; noise of 10⁻⁵ · 20,000 / √3 = 0.12 on each number, in each round, once of them halved.
    assert models[0].shape == (10_000_000,) and abs(float(models[0].mean()) - 7.5) < 0.01 and float(models[0].std()) < 1
    logged = [json.loads(line) for line in (tmp_path / "0" / "log.jsonl").read_text().splitlines()]
    assert sum(event["event"] == "released" for event in logged) == 2
