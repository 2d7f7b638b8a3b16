"""Clipped gradient sums by Opacus, as reference values for tests/opacus.rs.

    ./make-venv --torch && .venv/bin/python opacus_reference.py

Writes ../testdata/opacus.safetensors: for each model the sum of per-example gradients clipped by Opacus (DPOptimizer,
per-example gradients by hooks, double precision), parameters flattened in the order of `model.parameters()`, with the
median norm as clip norm. Inputs and parameters are not stored: both sides compute them by `number`, whose values are
exact in single precision. The versions of torch and opacus are in the file's metadata.
"""

from pathlib import Path

import numpy as np
import opacus
import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from safetensors.numpy import save_file
from torch import nn

BATCH = 24


def number(count, salt):
    """Numbers in [-1, 1) by integer arithmetic: multiples of 1/32768."""
    i = np.arange(count, dtype=np.uint64)
    h = (i * np.uint64(2654435761) + np.uint64(salt) * np.uint64(40503)) % np.uint64(1 << 32)
    h = (h ^ (h >> np.uint64(15))) * np.uint64(2246822519) % np.uint64(1 << 32)
    return ((h >> np.uint64(16)).astype(np.float64) - 32768.0) / 32768.0


def logistic():
    return nn.Sequential(nn.Linear(30, 1)), 30, 2


def mlp():
    layers = [nn.Linear(40, 24), nn.Tanh(), nn.Linear(24, 12), nn.Tanh(), nn.Linear(12, 5)]
    return nn.Sequential(*layers), 40, 5


def cnn():
    layers = [
        nn.Unflatten(1, (1, 28, 28)),
        nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1),
        nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10),
    ]
    return nn.Sequential(*layers), 784, 10


def reference(build, salt, scale):
    model, inputs, classes = build()
    model = model.double()
    values = torch.from_numpy(scale * number(sum(p.numel() for p in model.parameters()), salt))
    nn.utils.vector_to_parameters(values, model.parameters())
    features = torch.from_numpy(number(BATCH * inputs, salt + 1).reshape(BATCH, inputs))
    labels = torch.arange(BATCH) * 7 % classes

    def losses(outputs):
        if classes == 2:
            return nn.functional.binary_cross_entropy_with_logits(outputs[:, 0], labels.double(), reduction="sum")
        return nn.functional.cross_entropy(outputs, labels, reduction="sum")

    wrapped = GradSampleModule(model, loss_reduction="sum")

    def backward(clip):
        inner = torch.optim.SGD(wrapped.parameters(), lr=1.0)
        optimiser = DPOptimizer(
            inner, noise_multiplier=0.0, max_grad_norm=clip, expected_batch_size=BATCH, loss_reduction="sum"
        )
        optimiser.zero_grad()
        losses(wrapped(features)).backward()
        samples = [p.grad_sample.reshape(BATCH, -1) for p in wrapped.parameters()]
        norms = torch.cat(samples, dim=1).norm(dim=1)
        optimiser.clip_and_accumulate()
        return norms, torch.cat([p.summed_grad.flatten() for p in wrapped.parameters()])

    norms, _ = backward(1.0)
    # A round number near the median: about half of the examples are clipped.
    clip = float(np.float32(round(float(norms.median()), 3)))
    norms, total = backward(clip)
    print(f"{build.__name__}: norms {norms.min():.4f} .. {norms.max():.4f}, clip {clip}, clipped {int((norms > clip).sum())}")
    return total.detach().numpy().astype(np.float32), np.array([clip], dtype=np.float64), norms.detach().numpy()


def main():
    tensors = {}
    for build, salt, scale in [(logistic, 1, 0.5), (mlp, 3, 0.5), (cnn, 5, 0.125)]:
        name = build.__name__
        tensors[f"{name}.sum"], tensors[f"{name}.clip"], tensors[f"{name}.norms"] = reference(build, salt, scale)
    out = Path(__file__).parent.parent / "testdata" / "opacus.safetensors"
    metadata = {"opacus": opacus.__version__, "torch": torch.__version__.split("+")[0], "script": "opacus_reference.py"}
    save_file(tensors, out, metadata=metadata)


main()
