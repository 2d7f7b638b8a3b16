"""A small convolutional network of torch on MNIST: a swarm of eight beside Opacus alone, at the same ε. Minutes: `./test heavy` has torch and Opacus.

MNIST is not ours to ship: it is looked for in `../shared/data` beside the repository, or in `MURMUR_SHARED`.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import murmuration as mm

NODES, ROUNDS, BATCH, CLIP, RATE, EPSILON, DELTA = 8, 120, 64, 1.0, 2.0, 3.0, 1e-5
#: The result is the mean of the models of the last quarter: it costs nothing, and single models of this network move by points from round to round under noise.
AVERAGE = 0.25


@pytest.fixture(scope="module")
def torch():
    torch = pytest.importorskip("torch")
    pytest.importorskip("opacus")
    torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
    return torch


@pytest.fixture(scope="module")
def mnist(torch):
    """Images and labels for training, then for the test."""
    shared = Path(os.environ.get("MURMUR_SHARED", Path(__file__).resolve().parents[4] / "shared"))
    folder = shared / "data/mnist"
    if not folder.is_dir():
        pytest.skip("no mnist in ../shared/data")

    def read(name, head, shape):
        values = np.frombuffer(gzip.decompress((folder / name).read_bytes()), dtype=np.uint8, offset=head)
        return torch.from_numpy(values.reshape(shape).copy())

    def pair(part):
        images = read(f"{part}-images-idx3-ubyte.gz", 16, (-1, 1, 28, 28)).float() / 255
        return (images - 0.1307) / 0.3081, read(f"{part}-labels-idx1-ubyte.gz", 8, (-1,)).long()

    return pair("train"), pair("t10k")


def network(torch):
    """26,010 parameters: the network of Opacus' own example."""
    torch.manual_seed(7)
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10),
    )  # fmt: skip


def accuracy(torch, module, test):
    module.eval()
    with torch.no_grad():
        found = torch.cat([module(part).argmax(1) for part in test[0].split(1000)])
    return 100 * float((found == test[1]).float().mean())


def with_opacus(torch, train, test):
    """One curator with all records: the same network, rounds, rate of sampling, clip norm and step."""
    import opacus
    from opacus.accountants.utils import get_noise_multiplier
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer

    records, expected = len(train[0]), NODES * BATCH
    sigma = get_noise_multiplier(
        target_epsilon=EPSILON, target_delta=DELTA, sample_rate=expected / records, steps=ROUNDS, accountant="prv"
    )
    module = GradSampleModule(network(torch))
    plain = torch.optim.SGD(module.parameters(), lr=RATE)
    optimiser = DPOptimizer(plain, noise_multiplier=sigma, max_grad_norm=CLIP, expected_batch_size=expected)
    draw = torch.Generator().manual_seed(11)
    torch.manual_seed(12)
    assert opacus.__version__
    for _ in range(ROUNDS):
        chosen = torch.nonzero(torch.rand(records, generator=draw) < expected / records).flatten()
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(module(train[0][chosen]), train[1][chosen]).backward()
        optimiser.step()
    return accuracy(torch, module, test), sigma


@pytest.fixture(scope="module")
def alone(torch, mnist):
    """Accuracy and noise of Opacus alone."""
    return with_opacus(torch, *mnist)


def shard(torch, train, node):
    return torch.utils.data.TensorDataset(*(part[node::NODES] for part in train))


def settings(torch, folder, **more):
    first = folder / "init.safetensors"
    mm.save_initial(first, mm.torch.initial(network(torch)))
    return {"nodes": NODES, "learning_rate": RATE, "privacy.clip_norm": CLIP, "privacy.delta": DELTA, "model.initial": f'"{first}"', **more}


def judged(torch, params, test):
    made = mm.torch.Rows(network(torch), torch.nn.functional.cross_entropy, shard(torch, test, 0))
    made._load(params)
    return accuracy(torch, made.module, test)


def test_records_of_eight_are_learnt_as_well_as_by_opacus_at_the_same_epsilon(torch, mnist, alone, tmp_path):
    (train, test), (accuracy_alone, sigma) = mnist, alone
    make = lambda node: mm.torch.Rows(network(torch), torch.nn.functional.cross_entropy, shard(torch, train, node))  # noqa: E731
    more = {"privacy.epsilon": EPSILON, "privacy.masking": "pairwise", "average": AVERAGE}
    wanted = settings(torch, tmp_path, rounds=ROUNDS, batch_size=BATCH, **more)
    run = mm.simulate(set=wanted, trainer=make)
    ours, worst = judged(torch, run.model, test), run.result.privacy["worst"]
    print(f"records: eight nodes {ours:.1f} %, {worst['analysis']} ε {worst['epsilon']:.3f}; Opacus {accuracy_alone:.1f} %, noise {sigma:.3f}")
    assert worst["analysis"] == "masked" and worst["epsilon"] <= EPSILON * (1 + 1e-6)
    assert ours >= accuracy_alone - 1 and accuracy_alone > 85, (ours, accuracy_alone)


def loss_of(epsilon, delta):
    """μ of the Gaussian mechanism that costs this ε."""
    low, high = 0.0, 1e4
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if mm.gdp_epsilon(middle, delta) < epsilon else (low, middle)
    return low


def train_locally(torch, module, data):
    """What a node does at home: a quarter of its records, once, in batches."""
    optimiser = torch.optim.SGD(module.parameters(), lr=0.1)
    images, labels = data.tensors
    for part in torch.randperm(len(labels))[:1920].split(64):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(module(images[part]), labels[part]).backward()
        optimiser.step()


def nodes_with_opacus(torch, shards, test, rounds, epsilon):
    """One curator to whom eight nodes send updates: each is one row for Opacus' optimiser. Replacing all data of a node moves the sum by 2C."""
    from opacus.optimizers import DPOptimizer

    module = network(torch)
    sigma = 2 * rounds**0.5 / loss_of(epsilon, DELTA)
    plain = torch.optim.SGD(module.parameters(), lr=1.0)
    optimiser = DPOptimizer(plain, noise_multiplier=sigma, max_grad_norm=CLIP, expected_batch_size=NODES)
    made = [mm.torch.Update(network(torch), lambda *given: train_locally(torch, *given), data) for data in shards]
    torch.manual_seed(12)
    for number in range(rounds):
        flat = np.concatenate([value.detach().numpy().ravel() for value in module.parameters()])
        rows = torch.from_numpy(np.stack([one.update(flat, round=number, seed=1000 * number + at) for at, one in enumerate(made)]))
        start = 0
        for value in module.parameters():
            value.grad_sample = -rows[:, start : start + value.numel()].reshape(NODES, *value.shape)
            start += value.numel()
        optimiser.step()
        optimiser.zero_grad()
    return accuracy(torch, module, test)


def test_whole_nodes_are_learnt_as_well_as_by_a_curator_with_opacus_at_the_same_epsilon(torch, mnist, tmp_path):
    # With eight nodes no ε that promises much leaves anything to learn for anybody: 26,010 noises stand against eight vectors of norm 1. The figures are compared all
    # the same, at an ε that promises nothing.
    rounds, epsilon = 12, 4000.0
    train, test = mnist
    shards = [shard(torch, train, node) for node in range(NODES)]
    alone = nodes_with_opacus(torch, shards, test, rounds, epsilon)
    make = lambda node: mm.torch.Update(network(torch), lambda *given: train_locally(torch, *given), shards[node])  # noqa: E731
    wanted = settings(torch, tmp_path, rounds=rounds, **{"privacy.epsilon": epsilon, "privacy.unit": "node", "privacy.masking": "pairwise"})
    run = mm.simulate(set={**wanted, "learning_rate": 1.0}, trainer=make)
    ours, worst = judged(torch, run.model, test), run.result.privacy["worst"]
    print(f"nodes: eight nodes {ours:.1f} %, {worst['analysis']} ε {worst['epsilon']:.0f}; Opacus {alone:.1f} %")
    assert worst["epsilon"] <= epsilon * (1 + 1e-6)
    assert ours >= alone - 1 and alone > 80, (ours, alone)


def test_eight_real_nodes_learn_what_the_simulation_says(torch, mnist, alone, tmp_path, program):
    """Noise of real nodes is drawn anew each time: two seeds of the simulation gave 93.7 and 93.9 %, and Opacus 94.4 %."""
    import json
    import threading

    from test_trainers import free_port, meeting, swarm

    train, test = mnist
    first = tmp_path / "init.safetensors"
    mm.save_initial(first, mm.torch.initial(network(torch)))
    more = {"rounds": ROUNDS, "batch_size": BATCH, "partition.min_size": 7500, "learning_rate": RATE, "model.initial": f'"{first}"'}
    more["average"] = AVERAGE
    private = {"privacy.epsilon": EPSILON, "privacy.clip_norm": CLIP, "privacy.delta": DELTA, "timeouts.silence": "120s"}
    file, ports = swarm(program, tmp_path, NODES, **more, **private), [free_port() for _ in range(NODES)]
    loss, options = torch.nn.functional.cross_entropy, lambda at: meeting(ports, ports[at])  # noqa: E731
    nodes = [
        mm.Node(file, mm.torch.Rows(network(torch), loss, shard(torch, train, at)), state=tmp_path / str(at), options=options(at))
        for at in range(NODES)
    ]
    threads = [threading.Thread(target=node.run) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    model = nodes[0].model
    ours = judged(torch, np.concatenate([model[name].ravel() for name in mm.torch.tensors(network(torch))]), test)
    worst = mm.report(tmp_path / "0")["worst"]
    print(f"real nodes {ours:.1f} %, {json.dumps(worst)}")
    assert worst["epsilon"] <= EPSILON and ours >= alone[0] - 1
