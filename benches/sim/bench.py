"""The simulator beside a vectorised numpy loop of the same work and gossipy from PyPI, in one run.

    cargo build --release -p murmuration-sim --example bench
    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy scipy [torch torchvision gossipy-dfl==0.0.1]
    /tmp/venv/bin/python benches/sim/bench.py [--repeat 5] [--gossipy-rounds 1] [--scale] [--largest 1000000]

The work: 1,000 nodes on a random 6-regular graph with 10 records each of 64 features and 10 classes; 50 rounds of: gradient
of the softmax loss per example, clipped to norm 1, summed, Gaussian noise, one step, one mixing step with Metropolis
weights. A batch of 32 is all records of a node, in all programs.

numpy holds all models in one array, writes into buffers made once, draws from its fastest generator (SFC64), is given the
norms of the records for free, and uses the faster of two ways to mix. It has no messages, no checks of them, no faults, no
log, no account and no digests; ours has all of these but the account and the log file. Noise is the largest part of
either. Ours draws each normal with 52 random bits in double precision and rounds the noisy sum once, so numpy is timed
twice: `double` does the same, `single` draws with numpy's single-precision ziggurat of 23 bits: faster, and noise that no
guarantee of ours would be stated for.

gossipy is timed on a few rounds and scaled, on one thread (with two it is slower); its rounds are lighter (one neighbour
instead of six, no clipping, no noise). It needs `torchvision` too, which it does not declare.

Contenders take turns, the best of all repeats counts; processor time (of all threads) is printed beside the clock's,
since it says more where others use the machine.

`--scale` also prints the cost of one node in one mixing step for `mean` from 10^3 to 10^6 nodes, and `gossip` with 100,000
nodes. Prints the tables of README.md.
"""

import argparse
import json
import os
import resource
import subprocess
import time
from pathlib import Path

import numpy as np

NODES, DEGREE, ROUNDS, RECORDS, FEATURES, CLASSES = 1_000, 6, 50, 10, 64, 10
HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target"))
OURS = TARGET / "release" / "examples" / "bench"


def ours(*pairs):
    """Runs our engine and returns its figures, with the processor time of the whole process, preparation included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([OURS, *pairs], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(out) | {"cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


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
        rng = np.random.Generator(np.random.SFC64(1))
        self.rng = rng
        self.x = rng.standard_normal((NODES, RECORDS, FEATURES + 1), dtype=np.float32)
        self.x[:, :, -1] = 1
        labels = rng.integers(CLASSES, size=(NODES, RECORDS))
        self.y = np.eye(CLASSES, dtype=np.float32)[labels]
        self.x_norms = np.linalg.norm(self.x, axis=2)
        self.graph = regular_graph(rng)

    def mixer(self, name):
        """A function that overwrites `out` with the mixed models."""
        weight = np.float32(1 / (DEGREE + 1))
        if name == "gather":
            columns = [np.ascontiguousarray(self.graph[:, k]) for k in range(DEGREE)]
            heard = np.empty((NODES, FEATURES + 1, CLASSES), np.float32)

            def gather(models, out):
                np.copyto(out, models)
                for column in columns:
                    np.take(models, column, axis=0, out=heard, mode="clip")
                    np.add(out, heard, out=out)
                np.multiply(out, weight, out=out)

            return gather
        from scipy.sparse import csr_matrix

        rows = np.repeat(np.arange(NODES), DEGREE + 1)
        columns = np.hstack([np.arange(NODES)[:, None], self.graph]).ravel()
        matrix = csr_matrix((np.full(rows.size, weight, np.float32), (rows, columns)))
        return lambda models, out: np.copyto(out, (matrix @ models.reshape(NODES, -1)).reshape(models.shape))

    def run(self, name, dtype):
        shape = (NODES, FEATURES + 1, CLASSES)
        mix, models, mixed = self.mixer(name), np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        gradient, noise = np.zeros(shape, np.float32), np.zeros(shape, dtype)
        scores = np.zeros((NODES, RECORDS, CLASSES), np.float32)
        transposed = np.ascontiguousarray(self.x.transpose(0, 2, 1))
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(ROUNDS):
            np.matmul(self.x, models, out=scores)
            scores -= scores.max(axis=2, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=2, keepdims=True)
            scores -= self.y
            norms = np.sqrt(np.einsum("nrc,nrc->nr", scores, scores)) * self.x_norms
            scores *= np.minimum(1, 1 / np.maximum(norms, 1e-12))[:, :, None]
            np.matmul(transposed, scores, out=gradient)
            self.rng.standard_normal(dtype=dtype, out=noise)
            # Of doubles the sum is made in double precision and rounded once.
            np.add(gradient, noise, out=gradient, casting="same_kind")
            gradient *= np.float32(0.1 / RECORDS)
            models -= gradient
            mix(models, mixed)
            models, mixed = mixed, models
        assert np.isfinite(models).all() and models.std() > 0
        return time.perf_counter() - start, time.process_time() - cpu, name

    def best(self, dtype):
        """The better of the two ways to mix: seconds, processor time, way."""
        times = []
        for name in ("gather", "scipy"):
            try:
                times.append(self.run(name, dtype))
            except ImportError:
                pass
        return min(times)


def gossipy(rounds):
    """Seconds and processor seconds for all rounds, scaled from a few; None where gossipy is not installed."""
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
    torch.set_num_threads(1)
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
    start, cpu = time.perf_counter(), time.process_time()
    simulator.start(n_rounds=rounds)
    scale = ROUNDS / rounds
    return (time.perf_counter() - start) * scale, (time.process_time() - cpu) * scale


def compare(repeat, gossipy_rounds):
    numpy, mine, others = Numpy(), [], {"double": [], "single": []}
    for _ in range(repeat):
        mine.append(ours(*learning(NODES, ROUNDS)))
        others["double"].append(numpy.best(np.float64))
        others["single"].append(numpy.best(np.float32))
    best = min(mine, key=lambda figures: figures["seconds"])
    seconds = best["seconds"]
    print("| program | seconds for 50 rounds | times ours | processor seconds | memory, MiB |\n|---|---|---|---|---|")
    cpu = min(figures["cpu"] for figures in mine)
    print(f"| ours | {seconds:.3f} | 1 | {cpu:.2f} | {best['peak_mib']:.0f} |")
    for name, runs in others.items():
        clock, _, way = min(runs)
        cpu = min(cpu for _, cpu, _ in runs)
        print(f"| numpy, {name} ({way}) | {clock:.3f} | {clock / seconds:.1f} | {cpu:.2f} | |")
    other = gossipy(gossipy_rounds) if gossipy_rounds else None
    if other:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| gossipy, scaled | {other[0]:.0f} | {other[0] / seconds:,.0f} | {other[1]:.0f} | {memory:.0f} |")


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
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--gossipy-rounds", type=int, default=1)
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--largest", type=int, default=1_000_000)
    arguments = parser.parse_args()
    compare(arguments.repeat, arguments.gossipy_rounds)
    if arguments.scale:
        scale(arguments.largest)
