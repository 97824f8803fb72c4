# SPDX-License-Identifier: GPL-2.0
"""Numbers and jobs in words."""

import json

# How a job's keys end, and the unit that it means.
UNITS = {"_percent": ", %", "_us": ", µs", "_mbps": ", Mbit/s",
         "_mbit": ", Mbit/s", "_pkts": ", packets"}
NAMES = {"ipv": "IP version", "gro": "GRO", "mbps": "rate, Mbit/s",
         "rx_usecs": "rx-usecs", "hold_usecs": "hold, µs", "sack": "SACK",
         "where": "impaired on the way"}
NONE = "–"


def number(value, like=None):
    """
    A number with as many digits as say something; another with as many as it.

    >>> [number(x) for x in (0, 12345.6, 229.24, 13.71, 1.3444, 0.04321, 10)]
    ['0', '12,346', '229.2', '13.7', '1.34', '0.043', '10']
    >>> number(0.345, like=229.24)
    '0.3'
    """
    if value is None:
        return NONE
    size = abs(value if like is None else like)
    if isinstance(value, int) and like is None or size == 0 == value:
        return f"{value:,}"
    digits = 0 if size >= 1000 else 1 if size >= 10 else \
        2 if size >= 0.1 else 3 if size >= 0.01 else 5
    return f"{value:,.{digits}f}"


def estimate(found):
    """
    A mean with its interval, which may have none.

    >>> estimate((229.24, 228.9, 229.6)), estimate((13.0, None, None))
    ('229.2 (228.9–229.6)', '13.0')
    """
    if found is None:
        return NONE
    mean, low, high = found
    return number(mean) if low is None else \
        f"{number(mean)} ({number(low, mean)}–{number(high, mean)})"


def label(key):
    """
    What a key of a job is called.

    >>> label("jitter_percent"), label("sender")
    ('jitter, %', 'sender')
    """
    if key in NAMES:
        return NAMES[key]
    for suffix, unit in UNITS.items():
        if key.endswith(suffix):
            return key.removesuffix(suffix).replace("_", " ") + unit
    return key.replace("_", " ")


def text(value):
    """
    The value of a job's key; only a rate can be none.

    >>> [text(value) for value in (None, True, 0.2, "S", [1, 2])]
    ['unlimited', 'yes', '0.2', 'S', '[1, 2]']
    """
    if value is None:
        return "unlimited"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value)


def place(value, words=()):
    """
    What to sort by: numbers by size, then words as they are listed.

    >>> sorted([None, 10, "b", 2, "a"], key=lambda v: place(v, ["b", "a"]))
    [2, 10, 'b', 'a', None]
    """
    if isinstance(value, (int, float)):
        return 0, value
    return 1, words.index(value) if value in words else len(words)


def describe(job, keys):
    """
    Such keys of a job in one line.

    >>> describe({"rate_mbit": None, "jitter_percent": 2},
    ...          ["jitter_percent", "rate_mbit"])
    'jitter 2 %, rate unlimited'
    """
    said = []
    for key in keys:
        name, _, unit = label(key).partition(", ")
        value = job.get(key)
        said.append(f"{name} {text(value)} {unit if value is not None else ''}"
                    .rstrip())
    return ", ".join(said)
