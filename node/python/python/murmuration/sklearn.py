"""A trainer for estimators of scikit-learn that can be trained on: those with ``partial_fit`` and ``coef_``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .trainers import Trainer


class Update(Trainer):
    """Whole nodes are protected: ``estimator.partial_fit`` on this node's records, ``epochs`` times, from the swarm's coefficients.

    ``classes`` are those of all nodes, in one order, also those that this node has no record of.
    """

    def __init__(self, estimator: Any, features: Any, targets: Any, *, classes: Any = None, epochs: int = 1) -> None:
        self.estimator, self.epochs = estimator, epochs
        self._features, self._targets = np.asarray(features), np.asarray(targets)
        self._more = {} if classes is None else {"classes": np.asarray(classes)}
        # Makes the coefficients; their values do not matter.
        estimator.partial_fit(self._features[:1], self._targets[:1], **self._more)
        self.tensors = {"coef": np.shape(estimator.coef_), "intercept": np.shape(estimator.intercept_)}
        self.records = len(self._features)

    def load(self, params: Any) -> Any:
        """Puts parameters into the estimator, which can then predict."""
        size = int(np.prod(self.tensors["coef"]))
        self.estimator.coef_ = np.array(params[:size], dtype=float).reshape(self.tensors["coef"])
        self.estimator.intercept_ = np.array(params[size:], dtype=float).reshape(self.tensors["intercept"])
        return self.estimator

    def update(self, params: Any, *, round: int, seed: int) -> Any:
        self.load(params)
        order = np.random.default_rng(seed)
        for _ in range(self.epochs):
            mixed = order.permutation(self.records)
            self.estimator.partial_fit(self._features[mixed], self._targets[mixed])
        return np.concatenate([self.estimator.coef_.ravel(), self.estimator.intercept_.ravel()]) - params
