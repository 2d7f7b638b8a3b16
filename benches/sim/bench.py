"""The simulator beside a vectorised numpy loop of the same work and gossipy from PyPI, in one run.

    cargo build --release -p sim --example bench
    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy scipy [torch gossipy-dfl]
    /tmp/venv/bin/python benches/sim/bench.py [--repeat 3] [--gossipy-rounds 1] [--scale] [--largest 1000000]

The work: 1,000 nodes on a random 6-regular graph with 10 records each of 64 features and 10 classes; 50 rounds of: gradient
of the softmax loss per example, clipped to norm 1, summed, Gaussian noise, one step, one mixing step with Metropolis
weights. A batch of 32 is all records of a node, in all programs. numpy holds all models in one array and uses the faster
of two ways to mix; it has no messages, no faults and no log. gossipy is timed on a few rounds and scaled; its rounds are
lighter (one neighbour instead of six, no clipping, no noise). Contenders take turns, the best of all repeats counts.

`--scale` also prints the cost of one node in one mixing step for `mean` from 10^3 to 10^6 nodes, and `gossip` with 100,000
nodes. Prints the tables of README.md.
"""

import argparse
import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np

NODES, DEGREE, ROUNDS, RECORDS, FEATURES, CLASSES = 1_000, 6, 50, 10, 64, 10
HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target"))
OURS = TARGET / "release" / "examples" / "bench"


def ours(*pairs):
    """Runs our engine and returns its figures."""
    out = subprocess.run([OURS, *pairs], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def learning(nodes, rounds):
    """Flags of the work for our engine."""
    return [
        f"nodes={nodes}",
        f"rounds={rounds}",
        f"data=blobs:nodes={nodes},records={RECORDS},dim={FEATURES},classes={CLASSES},test=0",
        "test_fraction=0",
        "partition.kind=natural",
        "batch_size=32",
        "learning_rate=0.1",
        f"topology=regular:degree={DEGREE}",
        "algorithm.kind=gossip",
        "algorithm.mixing_steps=1",
        "privacy.noise_multiplier=1",
        "privacy.clip_norm=1",
    ]


def averaging(nodes, steps):
    """Flags of one-shot averaging of small vectors."""
    return [
        f"nodes={nodes}",
        f"data=blobs:nodes={nodes},records=1,dim=4,classes=2,test=0",
        "test_fraction=0",
        "partition.kind=natural",
        "model.kind=mean",
        f"topology=regular:degree={DEGREE}",
        "algorithm.kind=mean",
        f"algorithm.mixing_steps={steps}",
        "privacy.noise_multiplier=1",
        "privacy.clip_norm=1",
    ]


def regular_graph(rng):
    """Neighbours of each node: the union of random cycles, without double edges but for rare ones."""
    while True:
        rows = [set() for _ in range(NODES)]
        for _ in range(DEGREE // 2):
            order = rng.permutation(NODES)
            for a, b in zip(order, np.roll(order, 1)):
                rows[a].add(b)
                rows[b].add(a)
        if all(len(row) == DEGREE for row in rows):
            return np.array([sorted(row) for row in rows])
        if sum(len(row) == DEGREE for row in rows) > 0.98 * NODES:
            return np.array([(sorted(row) + sorted(row))[:DEGREE] for row in rows])


class Numpy:
    """The same work as whole-array operations in single precision."""

    def __init__(self):
        rng = np.random.default_rng(1)
        self.rng = rng
        self.x = rng.standard_normal((NODES, RECORDS, FEATURES + 1), dtype=np.float32)
        self.x[:, :, -1] = 1
        labels = rng.integers(CLASSES, size=(NODES, RECORDS))
        self.y = np.eye(CLASSES, dtype=np.float32)[labels]
        self.x_norms = np.linalg.norm(self.x, axis=2)
        self.graph = regular_graph(rng)

    def mixer(self, name):
        weight = np.float32(1 / (DEGREE + 1))
        if name == "gather":
            columns = [self.graph[:, k] for k in range(DEGREE)]

            def gather(models):
                total = models.copy()
                for column in columns:
                    total += models[column]
                return total * weight

            return gather
        from scipy.sparse import csr_matrix

        rows = np.repeat(np.arange(NODES), DEGREE + 1)
        columns = np.hstack([np.arange(NODES)[:, None], self.graph]).ravel()
        matrix = csr_matrix((np.full(rows.size, weight, np.float32), (rows, columns)))
        return lambda models: (matrix @ models.reshape(NODES, -1)).reshape(models.shape)

    def run(self, name):
        mix, models = self.mixer(name), np.zeros((NODES, FEATURES + 1, CLASSES), np.float32)
        transposed = np.ascontiguousarray(self.x.transpose(0, 2, 1))
        start = time.perf_counter()
        for _ in range(ROUNDS):
            scores = self.x @ models
            scores -= scores.max(axis=2, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=2, keepdims=True)
            scores -= self.y
            norms = np.sqrt(np.einsum("nrc,nrc->nr", scores, scores)) * self.x_norms
            scores *= np.minimum(1, 1 / np.maximum(norms, 1e-12))[:, :, None]
            gradient = transposed @ scores
            gradient += self.rng.standard_normal(gradient.shape, dtype=np.float32)
            models -= np.float32(0.1 / RECORDS) * gradient
            models = mix(models)
        return time.perf_counter() - start

    def best(self):
        times = {}
        for name in ("gather", "scipy"):
            try:
                times[name] = self.run(name)
            except ImportError:
                pass
        name = min(times, key=times.get)
        return times[name], name


def gossipy(rounds):
    """Seconds for all rounds, scaled from a few; None where gossipy is not installed."""
    try:
        import torch
        from gossipy import set_seed
        from gossipy.core import AntiEntropyProtocol, ConstantDelay, CreateModelMode, StaticP2PNetwork
        from gossipy.data import DataDispatcher
        from gossipy.data.handler import ClassificationDataHandler
        from gossipy.model.handler import TorchModelHandler
        from gossipy.model.nn import LogisticRegression
        from gossipy.node import GossipNode
        from gossipy.simul import GossipSimulator
    except ImportError as error:
        print(f"gossipy: absent ({error})")
        return None
    set_seed(1)
    rng = np.random.default_rng(1)
    x = torch.tensor(rng.standard_normal((NODES * RECORDS, FEATURES), dtype=np.float32))
    y = torch.tensor(rng.integers(CLASSES, size=NODES * RECORDS))
    dispatcher = DataDispatcher(ClassificationDataHandler(x, y, test_size=0), n=NODES, eval_on_user=False)
    adjacency = np.zeros((NODES, NODES))
    for node, row in enumerate(regular_graph(rng)):
        adjacency[node, row] = 1
    handler = TorchModelHandler(
        net=LogisticRegression(FEATURES, CLASSES),
        optimizer=torch.optim.SGD,
        optimizer_params={"lr": 0.1},
        criterion=torch.nn.CrossEntropyLoss(),
        batch_size=32,
        create_model_mode=CreateModelMode.MERGE_UPDATE,
    )
    nodes = GossipNode.generate(dispatcher, StaticP2PNetwork(NODES, adjacency), handler, 10, True)
    simulator = GossipSimulator(nodes, dispatcher, 10, AntiEntropyProtocol.PUSH, delay=ConstantDelay(1))
    simulator.init_nodes(seed=1)
    start = time.perf_counter()
    simulator.start(n_rounds=rounds)
    return (time.perf_counter() - start) * ROUNDS / rounds


def compare(repeat, gossipy_rounds):
    numpy, ours_best, numpy_best = Numpy(), None, None
    for _ in range(repeat):
        figures = ours(*learning(NODES, ROUNDS))
        ours_best = min(ours_best or figures, figures, key=lambda figures: figures["seconds"])
        numpy_best = min(numpy_best or numpy.best(), numpy.best())
    seconds = ours_best["seconds"]
    print("| program | seconds for 50 rounds | times ours | memory, MiB |\n|---|---|---|---|")
    print(f"| ours | {seconds:.3f} | 1 | {ours_best['peak_mib']:.0f} |")
    print(f"| numpy ({numpy_best[1]}) | {numpy_best[0]:.3f} | {numpy_best[0] / seconds:.1f} | |")
    other = gossipy(gossipy_rounds) if gossipy_rounds else None
    if other:
        print(f"| gossipy, scaled | {other:.1f} | {other / seconds:.0f} | |")


def scale(largest):
    print("\n| run | nodes | seconds | ns per node and step | messages | memory, MiB |\n|---|---|---|---|---|---|")
    for exponent in range(3, 7):
        nodes, steps = 10**exponent, 20
        if nodes <= largest:
            row("mean", nodes, nodes * steps, ours(*averaging(nodes, steps)))
    if largest >= 100_000:
        row("gossip", 100_000, 100_000 * 10, ours(*learning(100_000, 10)))


def row(name, nodes, node_steps, figures):
    cost = 1e9 * figures["seconds"] / node_steps
    print(
        f"| {name} | {nodes:,} | {figures['seconds']:.2f} | {cost:,.0f} | {figures['messages']:,} "
        f"| {figures['peak_mib']:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--gossipy-rounds", type=int, default=1)
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--largest", type=int, default=1_000_000)
    arguments = parser.parse_args()
    compare(arguments.repeat, arguments.gossipy_rounds)
    if arguments.scale:
        scale(arguments.largest)
