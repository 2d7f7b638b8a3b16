#!/usr/bin/env python3
"""Reference values from dp-accounting 0.6.0 (PyPI) for the tests of the accountants.

Writes testdata/dp_accounting_pld.csv: for each (q, sigma, steps, delta) of the grid the optimistic (lower) and the
pessimistic (upper) epsilon by privacy-loss distribution; and testdata/dp_accounting_rdp.csv: the Renyi divergence of one
step at whole orders, where dp-accounting is exact. Cases that take longer than 100 seconds are left out.

Usage: python3 -m venv .venv && .venv/bin/pip install dp-accounting==0.6.0 && \
       .venv/bin/python scripts/dp_accounting_values.py testdata
"""
import itertools
import math
import multiprocessing
import sys

from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import rdp_privacy_accountant

OUT = sys.argv[1] if len(sys.argv) > 1 else "testdata"
RATES = [1e-4, 1e-2, 0.1, 1.0]
SIGMAS = [0.5, 1.0, 5.0, 50.0]
STEPS = [1, 100, 10_000, 1_000_000]
DELTAS = [1e-9, 1e-6, 1e-3]
ORDERS = [2, 3, 5, 8, 16, 32, 64, 128]
SECONDS_PER_CASE = 100


def epsilons(rate, sigma, steps):
    """Lower and upper epsilon at every delta."""
    # One step's loss has about this standard deviation; a sixteenth of it keeps both bounds close.
    deviation = rate * math.sqrt(min(math.expm1(min(1 / sigma**2, 5.0)), 50.0))
    found = []
    for pessimistic in (False, True):
        if rate == 1.0:
            scale, count = sigma / math.sqrt(steps), 1
            interval = min(1e-3, 1 / scale / 64)
        else:
            scale, count = sigma, steps
            interval = min(1e-3, deviation / 16)
        one = pld.from_gaussian_mechanism(
            scale, value_discretization_interval=interval, sampling_prob=rate, pessimistic_estimate=pessimistic
        )
        whole = one.self_compose(count) if count > 1 else one
        found.append([whole.get_epsilon_for_delta(delta) for delta in DELTAS])
    return found


def worker(case, queue):
    queue.put(epsilons(*case))


def main():
    with open(f"{OUT}/dp_accounting_rdp.csv", "w") as out:
        out.write("q,sigma,order,rdp\n")
        for rate, sigma in itertools.product(RATES, SIGMAS):
            accountant = rdp_privacy_accountant.RdpAccountant(ORDERS)
            accountant.compose(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma)))
            for order, value in zip(ORDERS, accountant._rdp):
                out.write(f"{rate},{sigma},{order},{value!r}\n".replace("np.float64(", "").replace(")", ""))
    with open(f"{OUT}/dp_accounting_pld.csv", "w") as out:
        out.write("q,sigma,steps,delta,lower,upper\n")
        for case in itertools.product(RATES, SIGMAS, STEPS):
            # An epsilon beyond a thousand means nothing to anybody.
            if case[0] * math.sqrt(case[2]) * math.sqrt(math.expm1(min(1 / case[1] ** 2, 20.0))) > 100:
                continue
            queue = multiprocessing.Queue()
            process = multiprocessing.Process(target=worker, args=(case, queue))
            process.start()
            try:
                lower, upper = queue.get(timeout=SECONDS_PER_CASE)
            except Exception:
                print("left out (too slow or refused):", case, file=sys.stderr)
                process.terminate()
                continue
            process.join()
            for delta, low, high in zip(DELTAS, lower, upper):
                out.write(f"{case[0]},{case[1]},{case[2]},{delta},{float(low)!r},{float(high)!r}\n")
            out.flush()


if __name__ == "__main__":
    main()
