# SPDX-License-Identifier: GPL-2.0
"""
What the papers measured, for the tables next to ours.

SRPIC: W. Wu, P. DeMar, M. Crawford, Computer Networks 53 (2009), tables 4 to
8, 1 Gbit/s and 2.5 ms each way, 50 s. Each value is without SRPIC, then with,
as mean±half of the 95 % confidence interval. Counts in _per_mbps are those of
50 s by Mbit/s of throughput; those of table 7 are samples of 100,000 events.
"""

TABLES = {
    "table4": (
        ("sender streams jitter_percent",
         "throughput_mbps retransmits_per_mbps wire_dup_acks_per_mbps", """
S  1  10 59.7±0.1   62.5±0.1  1094.2±5.1  1061.5±8.83 2959.9±0.9  2882.1±2.9
S  1   2 132.0±2.2  176.7±1.7 1014.2±0.6  771.6±0.6   2252.1±2.7  1742.2±4.2
S  1   1 145.3±5.1  240.3±1.3 985.1±3.9   553.0±1.6   2148.9±16.8 1242.3±2.3
S  1 0.2 225.0±14.4 472.0±4.1 794.6±5.8   311.6±4.1   1660.1±14.6 694.1±8.0
S  5   1 518.7±4.6  634.3±1.7 971.7±0.9   814.4±0.9   2306.2±3.1  1906.8±5.6
S  5 0.2 759.6±2.3  876.3±4.6 782.0±1.3   347.1±27.3  1705.4±2.2  813.7±25.8
S 10   1 762.7±0.7  787.0±5.9 1023.5±4.0  847.8±87.3  2253.7±18.2 1800.7±79.8
S 10 0.2 804.0±3.0  894.7±3.5 768.1±20.7  248.2±20.3  1662.8±31.8 706.9±30.5
A  1  10 338.7±0.7  440.7±0.7 0.5±0.1     0.4±0.1     3344.3±5.1  3349.0±2.8
A  1   2 800.0±1.1  944.0±0.0 0.3±0.1     0.4±0.3     3031.2±5.3  2490.9±57.9
A  1   1 944±0.0    944.0±0.0 0.6±0.4     0.3±0.3     2817.9±24.1 2268.9±13.4
A  1 0.2 944.6±1.3  944.3±0.7 0.8±0.7     0.5±0.3     1601.1±41.7 744.1±6.6
A  5   1 944.3±0.7  943.0±3.9 0.6±0.1     0.7±0.3     1821.0±42.8 1418.2±70.9
A  5 0.2 945.3±0.7  947.3±0.7 0.9±0.1     0.5±0.1     1169.7±21.3 535.6±26.8
A 10   1 944.7±0.7  945.3±0.7 0.8±0.4     0.5±0.1     1575.8±48.9 1195.8±40.9
A 10 0.2 945.3±0.7  945.3±1.3 0.9±0.1     0.5±0.02    1164.6±15.2 537.7±4.4
"""),
    ),
    "table5": (
        ("sender loss_percent",
         "throughput_mbps retransmits_per_mbps", """
S   0.1  35.7±1.0   36.1±3.3    4.3±0.5    4.3±0.5
S  0.01  139.3±21.9 140.7±17.1  0.4±0.04   0.4±0.1
S 0.001  561.6±22.4 563.3±27.2  0.04±0.002 0.0±0.0
A   0.1  37.6±1.3   36.9±0.3    4.4±0.3    4.1±0.3
A  0.01  130.0±18.1 129.0±5.9   0.5±0.1    0.5±0.02
A 0.001  615.3±23.9 620.3±17.1  0.03±0.001 0.04±0.004
"""),
        ("sender loss_percent",
         "wire_dup_acks_per_mbps wire_sack_blocks_per_mbps", """
S   0.1  31.8±4.7 31.3±3.1  32.9±4.9 32.7±2.8
S  0.01  12.6±2.6 11.9±2.5  13.1±3.2 12.6±3.5
S 0.001  4.3±0.1  4.8±0.7   4.3±0.1  4.8±0.8
A   0.1  34.9±1.9 29.5±2.9  36.5±2.1 30.7±3.3
A  0.01  10.7±2.0 11.4±1.6  10.9±2.3 11.9±2.3
A 0.001  3.8±0.7  4.3±0.5   3.9±0.7  4.3±0.5
"""),
    ),
    "table6": (
        ("sender streams loss_percent",
         "throughput_mbps retransmits_per_mbps", """
S  1   0.1  26.6±0.11  38.2±0.34  124.5±1.26 45.8±0.43
S  1  0.01  67.3±1.6   78.6±1.4   125.8±2.2  40.8±1.3
S  1 0.001  89.6±1.4   103.0±2.3  199.9±10.0 50.4±8.0
S  5  0.01  174.3±0.7  278.3±0.7  157.6±1.2  55.3±1.4
S 10  0.01  309.0±0    461.3±2.6  165.5±0.7  81.9±0.9
A  1   0.1  56.6±1.1   60.5±0.84  4.6±0.2    4.6±0.18
A  1  0.01  207.7±3.3  217.7±6.2  0.5±0.08   0.6±0.1
A  1 0.001  556.0±8.1  624.7±5.2  0.07±0.01  0.07±0.01
A  5  0.01  911.0±2.3  929.9±3.0  0.48±0.001 0.5±0.01
A 10  0.01  941.3±0.7  941.7±0.7  0.5±0.02   0.49±0.01
"""),
        ("sender streams loss_percent",
         "wire_dup_acks_per_mbps wire_sack_blocks_per_mbps", """
S  1   0.1  1155.9±3.9  537.4±1.8   1286.1±4.6  647.4±2.9
S  1  0.01  1041.1±9.0  478.9±3.8   1125.8±9.3  566.5±5.7
S  1 0.001  1135.7±19.7 475.7±10.9  1241.4±25.3 565.1±13.2
S  5  0.01  1185.6±4.8  467.8±2.7   1326.2±5.7  578.1±4.0
S 10  0.01  1217.9±1.7  490.8±1.7   1377.3±2.2  631.0±2.7
A  1   0.1  1337.4±5.1  564.9±7.8   1608.9±6.4  704.2±9.0
A  1  0.01  1207.9±8.0  493.8±2.7   1445.9±16.9 643.9±7.4
A  1 0.001  1915.3±15.7 1134.8±6.9  4069.4±67.3 2777.4±32.1
A  5  0.01  1439.2±0.9  907.4±1.7   1983.6±5.2  1263.7±5.7
A 10  0.01  1320.9±10.6 840.0±8.2   1710.7±13.3 1115.0±10.2
"""),
    ),
    "table8": (
        ("sender loss_percent",
         "throughput_mbps retransmits_per_mbps", """
S   0.1  27.1±0.06 33.7±0.39  67.5±0.7   29.2±0.11
S  0.01  60.7±1.4  64.1±1.0   75.3±0.9   31.3±1.3
S 0.001  84.4±1.1  87.5±0.7   103.3±6.2  40.4±2.5
A   0.1  43.5±0.56 44.9±0.5   4.4±0.09   4.58±0.02
A  0.01  183.0±0.0 179.7±3.5  0.4±0.01   0.4±0.02
A 0.001  306.3±3.6 356.7±3.9  0.04±0.003 0.05±0.001
"""),
        ("sender loss_percent",
         "wire_dup_acks_per_mbps wire_sack_blocks_per_mbps", """
S   0.1  794.9±2.8  493.6±1.59  1290.5±5.3  622.9±1.38
S  0.01  728.7±2.0  445.7±1.4   1128.3±5.0  550.1±3.5
S 0.001  747.6±12.6 446.2±2.4   1165.6±18.8 554.2±4.7
A   0.1  825.2±2.6  524.8±6.5   1510.8±4.7  675.5±7.3
A  0.01  752.6±2.5  449.9±2.6   1309.6±6.3  575.3±6.2
A 0.001  719.6±4.3  352.3±3.4   1775.9±15.3 729.9±13.8
"""),
    ),
    "table7": (
        ("sender loss_percent",
         "sender_instructions receiver_instructions", """
S   0.1  7139.5±308.5   7371.5±400.8   10590.7±1212.3  11895.3±1200.7
S  0.01  18030.0±661.4  18224.0±642.3  29403.0±1640.1  29034.6±1473.3
S 0.001  63124.2±4903.4 64588.5±3092.6 103279.0±8365.5 104679.0±4363.6
A   0.1  7363.3±394.7   7042.3±170.6   10963.3±1784.9  10153.7±965.0
A  0.01  20555.3±1617.9 17738.5±1126.0 33767.7±4173.0  28903.0±2574.7
A 0.001  63694.2±572.1  63787.0±5052.1 105082.5±4147.2 103703.5±7433.4
"""),
    ),
    # Table I of the paper on the switch. Late by more than so many places,
    # in percent; the paper's line is 20 times as fast as the job's.
    "switch": (
        ("sender mbps sprayed",
         "rd_0_percent rd_3_percent rd_30_percent rd_300_percent "
         "utilisation_percent", """
RACK 225 True  32.81 -  22.90 -  6.32 -  0.05 -  47.2 -
A    225 True  34.49 -  23.75 -  7.29 -  0.10 -  47.9 -
S    225 True  33.26 -  22.46 -  5.77 -  0.04 -  54.7 -
"""),
    ),
    # Tables III, V and VII of the paper on Linux 2.6's bottleneck, whose kernel
    # preempts anywhere.
    "backlog": (
        ("preempt hogs busy nice rto_min_us grace_us", "throughput_mbps", """
full 0  False 0 200000 0    504  -
full 10 False 0 200000 0    72.1 -
full 10 False 0 200000 5000 88.8 -
"""),
        ("hogs busy rto_min_us grace_us", "share_percent", """
1 True 200000 5000 52.58 -
3 True 200000 5000 28.38 -
4 True 200000 5000 23.80 -
9 True 200000 5000 13.86 -
"""),
    ),
}

# What the texts say where they have no table.
SAID = {
    "reverse": "All runs fill the link (about 940 Mbit/s), and no metric "
               "differs noticeably between a receiver with SRPIC and one "
               "without (section 4.2; no table).",
    "fig2": "A block holds one packet at 95.3 Mbit/s (sender with a NIC of "
            "100 Mbit/s), about 7 at 938 Mbit/s (1 Gbit/s), and 30 to 60 at "
            "5.89 Gbit/s (10 Gbit/s).",
    "fig5": "With about 940 Mbit/s throughout: the load is nearly the same "
            "without reordering, and lower with SRPIC at both hosts with it "
            "(jitter of 0.2 %; the bars have no numbers).",
    "fig6": "The two distributions of round trips cover each other nearly "
            "wholly: all are 5 or 6 ms, since the clock has a resolution of "
            "1 ms (ping: 5.207 at the least, 5.212 on average, 5.232 at the "
            "most). So do those of the time it takes to empty the ring, "
            "mostly below 20 µs.",
    "ablation": "Combined with LRO, the overhead of SRPIC is at least cut in "
                "half (section 5; no figures).",
    "switch": "At 4.5 Gbit/s and load balanced, the median completion time of "
              "a sender with a threshold of 3 is 1.59 times, its median "
              "retransmission ratio about 189 times that of RACK. Not "
              "balanced, all three do equally well; RACK comes the closer to "
              "that the higher the rate. In the switch, 76, 84 and 99 % of "
              "its packets wait less than 5 ms, a quarter of the shortest "
              "round trip, at 1, 2 and 4.5 Gbit/s (RACK). The link is used to "
              "51±4 %. (U. Usubütün, F. Fund, S. Panwar, Do Switches Still "
              "Need to Deliver Packets in Sequence?, 2023.)",
    "steer": "At 10 Gbit/s and with 100 to 2,000 streams, 0.13 to 0.90 % of the "
             "packets are out of order where the processes migrate, none where "
             "they are pinned; throughput is 0.2 to 3.9 % lower then. (W. Wu, "
             "P. DeMar, M. Crawford, Why Can Some Advanced Ethernet NICs Cause "
             "Packet Reordering?, 2011.)",
    "rr4": "TA keeps over 71 % of the throughput without late packets where 30 % "
           "are late, at an FA ratio of 99 % (RR-TCP, section 5.1.1; figures "
           "without numbers).",
    "rr7": "TA carries the most; what is between it and FA narrows with P (RR-TCP, "
           "section 5.2).",
    "rr8": "TA's FA ratio is about 60 to 70 %, where throughput is about the best "
           "(RR-TCP, section 5.2).",
    "rr10": "Mean RTO with k = 6: SACK and R 1.0 s, TA 1.6, FA and TAES 3.1 "
            "(RR-TCP, table 3).",
    "rr14": "Late ACKs have no significant effect (RR-TCP, section 5.4).",
    "rr16": "TA carries seven times as much as SACK where half of the packets are late "
            "by 200 ms (RR-TCP, section 5.6).",
    "rrburst": "Packets without and with rows of losses: TA 103,770 and 81,916, "
               "an adaptive threshold that forgets 97,184 and 60,708; fast "
               "retransmissions 0.03 and 0.19 % against 0.13 and 0.48 % "
               "(RR-TCP, table 4).",
    "backlog": "At 1 Gbit/s, make -j10 beside the receiver: of 124,712 packets "
               "896 waited 10 to 100 ms, 40 up to 200 ms, 300 up to 1 s and 75 "
               "longer; with the remedy 618, 29, 0 and 0 of 157,798. Without "
               "load none of 863,065 waited 10 ms. (W. Wu, M. Crawford, "
               "Potential performance bottleneck in Linux TCP, 2007.)",
    "paths": "Path skews of 250 to 750 µs are absorbed at 10 Gbit/s where the "
             "timeout is long enough; in-order traffic costs up to 6 % more, "
             "and reordered traffic about what in-order traffic does. (Y. Geng "
             "et al., Juggler, EuroSys 2016.)",
}


def value(text):
    """
    Mean and half of the interval; None for none.

    >>> value("59.7±0.1"), value("6.32"), value("-")
    ((59.7, 0.1), (6.32, None), None)
    """
    if text == "-":
        return None
    mean, _, half = text.partition("±")
    return float(mean), float(half) if half else None


def lines(exp):
    """The tables' lines: keys of a job, their words, metrics and their words."""
    for keys, metrics, text in TABLES.get(exp, ()):
        names = keys.split()
        for line in filter(None, text.split("\n")):
            said = line.split()
            yield names, said[:len(names)], metrics.split(), said[len(names):]


def words(job, names):
    """The values of a job, as the tables have them."""
    return [f"{job[name]:g}" if type(job.get(name)) is float
            else str(job.get(name)) for name in names]


def find(exp, job):
    """
    What the paper has for a job: {metric: (without, with)}, or {}.

    >>> find("table4", {"sender": "S", "streams": 1, "jitter_percent": 0.2})[
    ...     "throughput_mbps"]
    ((225.0, 14.4), (472.0, 4.1))
    >>> find("table4", {"sender": "RACK", "streams": 1, "jitter_percent": 2})
    {}
    """
    found = {}
    for names, wanted, metrics, said in lines(exp):
        if words(job, names) == wanted:
            values = list(map(value, said))
            found |= zip(metrics, zip(values[::2], values[1::2]))
    return found
