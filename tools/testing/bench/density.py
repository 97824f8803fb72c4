# SPDX-License-Identifier: GPL-2.0
"""How far packets arrive from their place in their flow: reorder density."""

from collections import defaultdict

LATER_THAN = (0, 3, 30, 300)    # places: the columns of the paper's table


def displacements(seqs):
    """
    How many places late each packet of a flow arrived; early is negative.

    Of A B C D that arrive as A D B C, B and C are one place late and D is two
    early:

    >>> displacements([10, 40, 20, 30])
    [0, -2, 1, 1]

    What comes twice is counted once, and numbers wrap:

    >>> displacements([0xffffff00, 0x100, 0xffffff00, 0])
    [0, -1, 1]
    """
    place, arrived = 0, {}
    for seq in seqs:
        place += ((seq - place + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
        arrived.setdefault(place, len(arrived))
    rank = {place: n for n, place in enumerate(sorted(arrived))}
    return [n - rank[place] for place, n in arrived.items()]


def density(frames):
    """
    The percentage of packets that arrived later than so many places.

    frames has (time_ns, flow, seq, payload length) in the order of arrival;
    those without payload do not count. seq is any number of 32 bits that the
    sender counts up. With TCP's own, what was lost and sent again is late.
    With IPv4's identification in the upper half it is a packet of its own,
    as when a switch's two sides are compared.

    >>> list(density([(0, "a", 1, 9), (1, "b", 7, 9), (2, "a", 0, 0),
    ...               (3, "a", 2, 9), (4, "b", 6, 9)]).values())
    [25.0, 0.0, 0.0, 0.0]
    >>> late = [(n, "a", n, 9) for n in range(1, 32)] + [(32, "a", 0, 9)]
    >>> density(late)["rd_30_percent"], density(late[1:])["rd_30_percent"]
    (3.125, 0.0)
    """
    flows = defaultdict(list)
    for _, flow, seq, length in frames:
        if length:
            flows[flow].append(seq)
    late = [places for seqs in flows.values() for places in displacements(seqs)]
    return {f"rd_{limit}_percent": round(
                100 * sum(places > limit for places in late)
                / max(len(late), 1), 3)
            for limit in LATER_THAN}
