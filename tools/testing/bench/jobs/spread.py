# SPDX-License-Identifier: GPL-2.0
"""Distributions, as a row keeps them."""

import statistics

STEPS = 200             # of the cumulative distribution


def quantiles(values, steps):
    """The values below which there are 0/steps, 1/steps ... of all."""
    values = sorted(values)
    last = len(values) - 1
    return [values[round(last * step / steps)] for step in range(steps + 1)]


def distribution(name, unit, values):
    """{name_p99_unit: ...} and its like, and the distribution as a list."""
    if not values:
        raise RuntimeError(f"{name}: nothing was measured")
    percent = quantiles(values, 100)
    found = {"min": percent[0], "p50": percent[50], "p90": percent[90],
             "p99": percent[99], "max": percent[100],
             "mean": statistics.fmean(values),
             "cdf": quantiles(values, STEPS)}
    return {f"{name}_count": len(values)} | {
        f"{name}_{key}_{unit}": [round(one, 3) for one in value]
        if key == "cdf" else round(value, 3) for key, value in found.items()}
