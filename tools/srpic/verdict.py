# SPDX-License-Identifier: GPL-2.0
"""What srpicstat concludes. It reads nothing, so that it can be tested so."""

import collections
import re

# What patches/drivers.tsv says, which is not installed.
TESTED = {
    "igb": "run in a testbed", "e1000e": "run in a testbed",
    "virtio_net": "run in a testbed", "ixgbe": "run by KUnit alone",
    "i40e": "run by KUnit alone", "ice": "run by KUnit alone",
    "mlx5_core": "run by KUnit alone"}
KERNELS = "6.12", "7.3"
# As srpic-dkms.dkms has it.
PACKAGED = re.compile(r"6\.12\.\d+(\+[a-z0-9]+)+-amd64")
# With these, a small rx-usecs is no time: it has the driver adapt the interval.
ADAPTING = {"igb": 3, "e1000e": 4, "ixgbe": 1}

# Of a flush, as srpic.rst has them.
CAUSES = ("block", "ring", "poll", "barrier", "timestamp", "overlap", "evict",
          "hole", "deadline")

ENOUGH = 100        # packets, to say something
FEW = 0.001         # a share that is none
FOREIGN = 0.1       # of what IP received; with less, TCP's counters are of others
# Of late packets, TCP queues a larger share of its segments.
MUCH = 0.25
# Of what was out of order, more segments that TCP queues than this were not sorted.
SORTED = 0.13
GUESS_USECS = 50    # of an interval that the driver adapts, at the least
SENDER_KNOWS = "The sending host knows: TCPSACKReorder counts up there, if it is" \
    " reordering."

# What is the case: advice is a list of sentences, command the next one to type.
Verdict = collections.namedtuple("Verdict", "name advice command")


def share(part, whole):
    return part / whole if whole else 0.0


def segment(moved):
    """The packets that one has, on the mean."""
    return share(moved["ip_packets"], moved["ip_segments"])


def percent(part, whole):
    return f"{100 * share(part, whole):.3g} %"


def interval_usecs(facts):
    """Between two polls under traffic: 0 if at once, None if nobody knows."""
    if facts.get("timer_usecs"):
        return facts["timer_usecs"]
    usecs = facts.get("rx_usecs")
    if facts.get("adaptive") or usecs and usecs <= ADAPTING.get(
            facts["driver"], 0):
        return None
    return usecs


def rather_lost(moved, facts):
    """
    Whether this may as well be loss: False also if too little comes at a time to
    see that. Where TCP loses packets, a smaller share waits mostly, and GRO still
    makes segments of what lies between; where many packets are late, it cannot.
    No proof: nor can it where the packets are of many flows or queues.
    """
    interval = interval_usecs(facts)
    block = min(moved["rx_packets"] / moved["seconds"] / 1e6 * (
        GUESS_USECS if interval is None else interval), 40)
    return block >= 2 and facts["gro"] and (
        moved["TCPOFOQueue"] <= MUCH * moved["InSegs"]
        or block >= 5 and segment(moved) >= 0.4 * block)


def lengthen(facts):
    """(what, the command) that makes blocks longer."""
    dev, timer = facts["device"], facts.get("timer_usecs")
    if timer:
        return ("a longer interval of the timer makes longer blocks",
                f"echo {2000 * timer} > /sys/class/net/{dev}/gro_flush_timeout")
    if facts["driver"] == "virtio_net" and interval_usecs(facts) == 0:
        return ("a timer makes blocks where the device cannot coalesce",
                f"echo 300000 > /sys/class/net/{dev}/gro_flush_timeout; "
                f"echo 1 > /sys/class/net/{dev}/napi_defer_hard_irqs")
    off = f"ethtool -C {dev} adaptive-rx off; " if facts.get("adaptive") else ""
    return ("a longer interval between interrupts makes longer blocks",
            f"{off}ethtool -C {dev} rx-usecs "
            f"{2 * (interval_usecs(facts) or 150)}")


def coalescing(facts):
    """A sentence if the device does not coalesce, else an empty string."""
    return "" if interval_usecs(facts) != 0 else \
        "The device does not coalesce interrupts (rx-usecs is 0): most blocks" \
        " hold one or two packets, and little can be sorted."


def to_have(facts):
    """How a device that does not sort would come to: the verdict, if it should."""
    dev, driver = facts["device"], facts["driver"]
    if facts["srpic"] is not None:
        command = f"ethtool --set-priv-flags {dev} srpic on"
        if coalescing(facts):
            command += "; " + lengthen(facts)[1]
        return Verdict("off", ["SRPIC is in the driver and off."], command)
    if facts["below"]:
        return Verdict("unsupported", [
            f"{dev} is on top of others: look at those. SRPIC cannot sort one flow"
            " that comes by several of them."],
            f"srpicstat {' '.join(facts['below'])}")
    if driver not in TESTED:
        return Verdict("unsupported", [
            f"There is no SRPIC for {driver}, only for"
            f" {', '.join(sorted(TESTED))}."],
            "less Documentation/networking/srpic.rst"
            " # Using it in a driver; in a clone of SRPIC for Linux")
    if facts["version"] not in KERNELS:
        return Verdict("kernel", [
            f"There is SRPIC for {driver}, but not for kernel {facts['version']}:"
            f" it has been made for {' and '.join(KERNELS)}."],
            f"make apply KDIR=/path/to/linux-{KERNELS[0]}"
            " # in a clone of SRPIC for Linux")
    command = f"make apply KDIR=/path/to/linux-{facts['version']}"
    if driver != "ice" and PACKAGED.fullmatch(facts["release"]):
        made = f"sudo make deb DRIVERS={driver}"
        command = f"sudo apt install ./out/deb/*.deb linux-headers-{facts['release']}"
        if "deb13" in facts["release"]:
            command += f" # out/deb copied from a Debian 12, after {made} there"
        else:
            command = f"{made} && {command}"
    return Verdict("unpatched", [
        f"There is SRPIC for {driver} and kernel {facts['version']} (that driver was"
        f" {TESTED[driver]}), but this kernel was built without."],
        command + " # in a clone of SRPIC for Linux" * ("#" not in command))


def judge_without(moved, facts):
    """SRPIC is off, or not there, and not all is in order."""
    queued = percent(moved["TCPOFOQueue"], moved["InSegs"])
    there = to_have(facts)
    if rather_lost(moved, facts):
        return Verdict("late_or_lost", [
            "Packets are late, or are lost, and TCP's counters do not tell which: it"
            f" queues {queued} of its segments.",
            "SRPIC can help with what is late." * (there.name in (
                "off", "unpatched")), *there.advice, SENDER_KNOWS],
            "nstat -z TcpExtTCPSACKReorder TcpRetransSegs # on the sending host"
            if facts["srpic"] is None else f"{there.command}; sysctl"
            " net.srpic.hold_usecs=1000 # srpic_flush_hole tells")
    return there._replace(advice=[
        f"Packets most likely arrive out of order: TCP queues {queued} of its"
        " segments, more than where some are lost, unless the sender uses BBR."
        if moved["TCPOFOQueue"] > MUCH * moved["InSegs"] else
        "Packets arrive out of order, or are lost: where few come at a time, or"
        " GRO is off, nothing here tells. " + SENDER_KNOWS,
        coalescing(facts), *there.advice])


def judge_on(moved, facts):
    """SRPIC is on, and not all is in order."""
    taken, early = moved["packets_taken"], moved["packets_out_of_order"]
    queued, mean = moved["TCPOFOQueue"], share(taken, moved["blocks"])
    held = facts["hold_usecs"]
    holes = f"{moved['flush_hole']:,} holes were filled in time," \
        f" {moved['flush_deadline']:,} were not"
    full = share(moved["flush_block"], moved["blocks"]) > 0.5 and \
        facts["block_size"] < 65536
    how, command = lengthen(facts) if not full else (
        "most are full, and larger ones sort more", "sysctl net.srpic.block_size="
        f"{max(256, min(2 * facts['block_size'], 65536))}")
    interval = interval_usecs(facts) or 0
    hold = f"sysctl net.srpic.hold_usecs={max(1000, min(2 * interval, 100000))}"
    tells = "net.srpic.hold_usecs, with more than the time by which they are late:" \
        " then srpic_flush_hole counts up for those that come in time," \
        " srpic_flush_deadline for those that do not"
    if queued <= SORTED * early and (held or queued <= MUCH * moved["InSegs"]):
        if held and moved["flush_hole"] > FEW * moved["blocks"]:
            return Verdict("held", [
                "Packets are late by more than a block, and come within"
                f" net.srpic.hold_usecs ({held}): {holes}."], "")
        some = queued > FEW * moved["InSegs"] and not held
        return Verdict("within", [
            f"Packets are late by less than a block, and SRPIC sorts them:"
            f" {percent(early, taken)} came out of order, in blocks of"
            f" {mean:.1f}; TCP still queued {queued:,} segments.",
            f"What helps with those is {tells}." * some], hold * some)
    if taken < queued and taken <= 0.1 * (taken + moved["packets_passed"]):
        return Verdict("unsuitable", [
            f"Of what {facts['device']} received, just"
            f" {percent(taken, taken + moved['packets_passed'])} was suitable:"
            " SRPIC sorts TCP packets with data, but none in tunnels or IPsec,"
            " and none with options other than timestamps."],
            "less Documentation/networking/srpic.rst"
            " # What is sorted; in a clone of SRPIC for Linux")
    # else blocks are short as the flows are slow, for which a hold is better
    if mean < 2 and (full or not interval or interval <= 300 and early <= FEW * taken):
        lost = interval and queued <= MUCH * moved["InSegs"]
        return Verdict("coalescing", [
            not full and coalescing(facts) or f"Blocks hold {mean:.1f} packets, too"
            f" few to sort much: {how}.",
            f"Or packets are lost. {SENDER_KNOWS}" if lost else ""], command)
    few = early < 0.5 * taken
    if held and few:
        return Verdict("lost", [
            "TCP waits for packets that are lost rather than late, or late by more"
            f" than net.srpic.hold_usecs ({held}): {holes}, and a flow that loses is"
            " not waited for. If that is half a round trip, they are lost: SRPIC"
            " cannot help."],
            f"ethtool -S {facts['device']} | grep -iE 'drop|miss|err|fifo'"
            " # lost in this host?")
    if held:
        return Verdict("beyond", [
            f"Much is late by more than net.srpic.hold_usecs ({held}): {holes}."],
            f"sysctl net.srpic.hold_usecs={min(2 * held, 100000)}"
            if held < 100000 else "")
    if few:
        return Verdict("late_or_lost", [
            f"Packets are late by more than a block ({mean:.1f}), or lost: TCP still"
            f" queues {queued:,} segments. What tells is {tells}."], hold)
    if not full and (interval >= 300 or mean < 2):
        command = hold
    return Verdict("beyond", [
        f"Much is late by more than a block: TCP still queues {queued:,} segments,"
        f" blocks have {mean:.1f} packets; {how}. What helps as well is {tells}."
        " SRPIC cannot sort a flow that comes by several queues or devices."],
        command)


def judge(moved, facts):
    """
    The Verdict on how the counters moved, and on what is so of the device. Of
    these two alone.
    """
    moved = {**dict.fromkeys(("flush_" + cause for cause in CAUSES), 0), **moved}
    if moved["rx_packets"] < ENOUGH or moved["InSegs"] < ENOUGH / 10:
        return Verdict("idle", [
            f"Just {moved['rx_packets']:,} packets and {moved['InSegs']:,} TCP"
            f" segments in {moved['seconds']:.0f} s, too few to say anything:"
            " look again while it matters."],
            f"srpicstat --once --seconds 60 {facts['device']}")
    early = moved["packets_out_of_order"] if facts["srpic"] else 0
    few = early <= FEW * moved["rx_packets"]
    if few and moved["TCPOFOQueue"] <= FEW * moved["InSegs"]:
        on = " There is nothing to sort: SRPIC, where it is on, just merges." \
            if facts["srpic"] is not None else " There is nothing to do."
        return Verdict("in_order", [
            f"{'Hardly any' if moved['TCPOFOQueue'] or early else 'No'} reordering"
            f" in {moved['seconds']:.0f} s.{on}"], "")
    if few and moved["rx_packets"] < FOREIGN * moved["ip_segments"]:
        return Verdict("idle", [
            f"Just {moved['rx_packets']:,} packets came by {facts['device']}, of"
            f" {moved['ip_segments']:,} that IP received, too few to say anything of"
            " it: look at the device that receives most."],
            "ip -s link # which receives most?")
    return (judge_on if facts["srpic"] else judge_without)(moved, facts)
