"""Trainers for PyTorch modules. A map-style data set, not a loader: which records enter a round is decided by the node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.func import functional_call, grad, vmap

from .trainers import Trainer


def tensors(module: Any) -> dict[str, tuple[int, ...]]:
    """Names and shapes of what is trained."""
    return {name: tuple(value.shape) for name, value in module.named_parameters() if value.requires_grad}


def initial(module: Any) -> dict[str, Any]:
    """The module's own first values, for ``murmuration.save_initial``."""
    return {name: value.detach().cpu().numpy() for name, value in module.named_parameters() if value.requires_grad}


class _Module(Trainer):
    def __init__(self, module: Any, dataset: Any) -> None:
        self.module, self.dataset = module, dataset
        self.tensors, self.records = tensors(module), 1 if dataset is None else len(dataset)
        first = next(module.parameters())
        self._device, self._dtype = first.device, first.dtype

    def _named(self, params: Any) -> dict[str, Any]:
        flat, named, at = torch.from_numpy(np.array(params)).to(self._device, self._dtype), {}, 0
        for name, shape in self.tensors.items():
            count = int(np.prod(shape, dtype=np.int64))
            named[name] = flat[at : at + count].view(*shape)
            at += count
        return named

    def _load(self, params: Any) -> None:
        named = self._named(params)
        with torch.no_grad():
            for name, value in self.module.named_parameters():
                if value.requires_grad:
                    value.copy_(named[name])

    def _flat(self) -> Any:
        parts = [value.detach().reshape(-1) for value in self.module.parameters() if value.requires_grad]
        return torch.cat(parts).float().cpu().numpy()

    def _batch(self, records: Any) -> tuple[Any, Any]:
        pairs = [self.dataset[int(record)] for record in records]
        inputs = torch.stack([torch.as_tensor(pair[0]) for pair in pairs]).to(self._device)
        return inputs, torch.stack([torch.as_tensor(pair[1]) for pair in pairs]).to(self._device)


class Update(_Module):
    """Whole nodes are protected: ``fit(module, dataset)`` may do anything, with BatchNorm, Adam or LoRA; what it changed is sent, clipped and noised.

    Without ``dataset`` it is ``fit(module)``, which has its records from elsewhere.
    """

    def __init__(self, module: Any, fit: Callable[..., object], dataset: Any = None) -> None:
        super().__init__(module, dataset)
        self.fit = fit

    def update(self, params: Any, *, round: int, seed: int) -> Any:
        torch.manual_seed(seed)
        self._load(params)
        before = self._flat()
        told = self.fit(self.module) if self.dataset is None else self.fit(self.module, self.dataset)
        if isinstance(told, (int, float)):
            self.loss = float(told)
        return self._flat() - before


class Rows(_Module):
    """Records are protected: one gradient each, by ``vmap(grad)``. For up to about 50,000 trainable parameters: freeze the rest.

    ``loss(outputs, targets)`` is of one record, with a batch of one, such as ``torch.nn.functional.cross_entropy``.
    """

    def __init__(self, module: Any, loss: Callable[[Any, Any], Any], dataset: Any) -> None:
        super().__init__(module, dataset)
        self._frozen = {name: value for name, value in module.named_parameters() if not value.requires_grad}
        self._frozen |= dict(module.named_buffers())
        self._loss = loss
        self._rows = vmap(grad(self._of_one), in_dims=(None, 0, 0), randomness="error")

    def _of_one(self, named: Any, features: Any, target: Any) -> Any:
        outputs = functional_call(self.module, (named, self._frozen), (features.unsqueeze(0),))
        return self._loss(outputs, target.unsqueeze(0))

    def rows(self, records: Any, params: Any, *, seed: int) -> Any:
        torch.manual_seed(seed)
        found = self._rows(self._named(params), *self._batch(records))
        return torch.cat([found[name].reshape(len(records), -1) for name in self.tensors], dim=1).detach().float().cpu().numpy()


class Ghost(Rows):
    """Records are protected and the trainer clips (``model.clipping = "trainer"``): norms by the hooks of Opacus, then one weighted backward pass.

    For large models, whose single gradients are too many numbers to send. The report says that the guarantee rests on this.
    """

    def __init__(self, module: Any, loss: Callable[[Any, Any], Any], dataset: Any) -> None:
        from opacus.grad_sample import GradSampleModuleFastGradientClipping

        super().__init__(module, loss, dataset)
        self._hooked = GradSampleModuleFastGradientClipping(module, loss_reduction="sum", use_ghost_clipping=True)

    def answers(self) -> list[str]:
        return ["norms", "sum"]

    def norms(self, records: Any, params: Any, *, seed: int) -> Any:
        torch.manual_seed(seed)
        self._load(params)
        inputs, targets = self._batch(records)
        self._hooked.enable_hooks()
        self._hooked.zero_grad(set_to_none=True)
        outputs = self._hooked(inputs)
        sum(self._loss(outputs[at : at + 1], targets[at : at + 1]) for at in range(len(records))).backward()
        found = self._hooked.get_norm_sample().detach().float().cpu().numpy()
        self._hooked.zero_grad(set_to_none=True)
        self._hooked.disable_hooks()
        return found

    def sum(self, records: Any, params: Any, factors: Any, *, seed: int) -> Any:
        torch.manual_seed(seed)
        self._load(params)
        inputs, targets = self._batch(records)
        self.module.zero_grad(set_to_none=True)
        outputs = self.module(inputs)
        total = 0.0
        for at, factor in enumerate(factors):
            # A factor of 0 belongs to a row that holds no number, and 0 · NaN is NaN.
            if factor > 0:
                total = total + float(factor) * self._loss(outputs[at : at + 1], targets[at : at + 1])
        if isinstance(total, float):
            return np.zeros(sum(int(np.prod(shape)) for shape in self.tensors.values()), dtype=np.float32)
        total.backward()
        parts = [value.grad.reshape(-1) for value in self.module.parameters() if value.requires_grad]
        return torch.cat(parts).float().cpu().numpy()
