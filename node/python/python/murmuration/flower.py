"""An existing Flower client as a trainer: it runs without a server, and whole nodes are protected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .trainers import Trainer


class Update(Trainer):
    """``client`` is a ``flwr.client.NumPyClient``: its ``get_parameters`` gives the shapes, its ``fit`` trains.

    ``records`` is how many it holds; where whole nodes are protected nothing depends on it.
    """

    def __init__(self, client: Any, *, records: int = 1, config: Mapping[str, Any] | None = None) -> None:
        self.client, self.records, self._config = client, records, dict(config or {})
        self.tensors = {f"layer{at}": np.shape(layer) for at, layer in enumerate(client.get_parameters({}))}

    def update(self, params: Any, *, round: int, seed: int) -> Any:
        layers, at = [], 0
        for shape in self.tensors.values():
            count = int(np.prod(shape, dtype=np.int64))
            layers.append(np.array(params[at : at + count]).reshape(shape))
            at += count
        found, _, told = self.client.fit(layers, {**self._config, "server_round": round + 1, "seed": seed})
        loss = (told or {}).get("loss")
        self.loss = None if loss is None else float(loss)
        return np.concatenate([np.asarray(layer, dtype=np.float32).ravel() for layer in found]) - params
