"""The quickest trainer there is: `trainer.py PARAMETERS` sends numbers that it made once, so that what is measured is the way to it and back."""

import sys

import numpy as np

import murmuration as mm

PARAMETERS, MOST = int(sys.argv[1]), 256
NUMBERS = np.random.default_rng(1).standard_normal(max(PARAMETERS, MOST * PARAMETERS if PARAMETERS < 50_000 else 0), dtype=np.float32)


class Quick(mm.Trainer):
    tensors, records = {"w": (PARAMETERS,)}, MOST

    def update(self, params, *, round, seed):
        return NUMBERS[:PARAMETERS]

    def rows(self, records, params, *, seed):
        return NUMBERS[: len(records) * PARAMETERS]


mm.serve(Quick())
