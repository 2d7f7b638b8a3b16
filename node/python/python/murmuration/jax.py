"""A trainer for JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .trainers import Trainer


class Rows(Trainer):
    """Records are protected: ``loss(params, *record)`` is of one record, ``params`` a dictionary of arrays, ``data`` a tuple of arrays with a row per record."""

    def __init__(self, loss: Callable[..., Any], params: Mapping[str, Any], data: tuple[Any, ...]) -> None:
        self.tensors = {name: tuple(np.shape(value)) for name, value in params.items()}
        self.records = len(data[0])
        self._data = [jnp.asarray(part) for part in data]
        each = jax.vmap(jax.grad(lambda flat, *record: loss(self._named(flat), *record)), in_axes=(None, *([0] * len(data))))
        self._rows = jax.jit(each)

    def _named(self, flat: Any) -> dict[str, Any]:
        named, at = {}, 0
        for name, shape in self.tensors.items():
            count = int(np.prod(shape, dtype=np.int64))
            named[name] = flat[at : at + count].reshape(shape)
            at += count
        return named

    def rows(self, records: Any, params: Any, *, seed: int) -> Any:
        # A power of two, filled up with the first record: one compilation for many sizes of a sample.
        count = len(records)
        padded = np.resize(records, 1 << max(count - 1, 0).bit_length())
        found = self._rows(jnp.asarray(params), *(part[padded] for part in self._data))
        return np.asarray(found)[:count]
