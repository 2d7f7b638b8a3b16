#!/usr/bin/env python3
"""High-precision values for the tests of special.rs and gdp.rs.

Computed from the definitions with mpmath 1.4.1 at 400 digits; depends on no accountant library.
Usage: python3 -m venv .venv && .venv/bin/pip install mpmath==1.4.1 && .venv/bin/python scripts/special_values.py testdata
"""
import sys
import mpmath as mp

mp.mp.dps = 400
OUT = sys.argv[1] if len(sys.argv) > 1 else "testdata"


def f(x):
    return mp.nstr(x, 20, min_fixed=0, max_fixed=0)


def upper_tail(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def hockey(mu, eps):
    return upper_tail(eps / mu - mu / 2) - mp.e**eps * upper_tail(eps / mu + mu / 2)


with open(f"{OUT}/special.csv", "w") as out:
    out.write("quantity,argument,value\n")
    for text in "-1e8 -1000 -200 -40 -37.5 -20 -10 -5 -4 -3.9 -3 -1 -0.5 -1e-9 0 1e-9 0.25 1 2.5 4 6 8 12 37".split():
        x = mp.mpf(float(text))
        out.write(f"log_normal_cdf,{text},{f(mp.log(upper_tail(-x)))}\n")
        if x > -38:
            out.write(f"normal_cdf,{text},{f(upper_tail(-x))}\n")
    for text in "-30 -5 -1 0 0.1 1 2.9 3.1 3.9 4 4.1 5 8 15 40 1000 1e8".split():
        x = mp.mpf(float(text))
        mills = upper_tail(x) * mp.sqrt(2 * mp.pi) * mp.e ** (x * x / 2)
        out.write(f"mills_ratio,{text},{f(mills)}\n")
        if x <= 1000:
            out.write(f"mills_slope,{text},{f(1 - x * mills)}\n")

with open(f"{OUT}/gdp_extreme.csv", "w") as out:
    out.write("quantity,mu,second,value\n")
    for mu in "1e-8 1e-4 0.01 0.3 0.99 1.01 3 30 1e3 1e4".split():
        m = mp.mpf(float(mu))
        for z in "-3 -0.1 0 0.1 1 5 12 30 37".split():
            eps = float(m * (mp.mpf(z) + m / 2))
            if eps < 0:
                continue
            d = hockey(m, mp.mpf(eps))
            if d > mp.mpf("1e-305"):
                out.write(f"delta,{mu},{eps!r},{f(d)}\n")
        for delta in "1e-300 1e-100 1e-12 1e-5 1e-3 0.1 0.5 0.999".split():
            d = mp.mpf(float(delta))
            if hockey(m, mp.mpf(0)) <= d:
                out.write(f"epsilon,{mu},{delta},0\n")
                continue
            lo, hi = mp.mpf(0), m * (m / 2 + 40)
            for _ in range(220):
                mid = (lo + hi) / 2
                lo, hi = (mid, hi) if hockey(m, mid) > d else (lo, mid)
            out.write(f"epsilon,{mu},{delta},{f(hi)}\n")
