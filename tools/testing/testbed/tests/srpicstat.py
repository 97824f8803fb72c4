#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What srpicstat says: of made counters, and of real traffic on igb. With UnpatchedTest
or OldKernelTest, on Debian's kernels without SRPIC.
"""

import json
import re
import signal
import threading
import time
import unittest
from importlib.machinery import SourceFileLoader

import guest
import verdict

PROGRAM = "/job/srpicstat"
GAUGES = "srpic_packets_held", "srpic_held_usecs_max"

# A second of 10,000 packets in segments of 10, with SRPIC on: in order.
COUNTERS = {
    "seconds": 1.0, "rx_packets": 10000, "InSegs": 1000, "TCPOFOQueue": 0,
    "ip_packets": 10000, "ip_segments": 1000, "packets_taken": 10000,
    "packets_passed": 0, "packets_out_of_order": 0, "blocks": 1000}
FACTS = {
    "device": "eth0", "driver": "igb", "release": "6.12.117", "version": "6.12",
    "srpic": True, "gro": 1, "below": [], "rx_usecs": 1000, "adaptive": 0,
    "block_size": 32, "hold_usecs": 0}
OFF, NONE = {"srpic": False}, {"srpic": None}
# nearly each packet is a segment of its own, half of which wait
LATE = {"InSegs": 9000, "ip_segments": 9000, "TCPOFOQueue": 4500}
LOST = {"TCPOFOQueue": 50}
SORTED = {"packets_out_of_order": 5000}


def spawn(ns, *args):
    """The program as a user who is nobody, with both streams in one."""
    return guest.spawn(ns, ["setpriv", "--reuid=65534", "--regid=65534",
                            "--clear-groups", PROGRAM, *args])


class JudgeTest(unittest.TestCase):
    """The verdict follows from the counters and the device's facts alone."""

    def says(self, name, command=None, counters=(), facts=()):
        """This name, and a command with that in it, or none if it is empty."""
        found = verdict.judge(COUNTERS | dict(counters), FACTS | dict(facts))
        self.assertEqual(found.name, name)
        if command is not None:
            self.assertIn(command, found.command)
            self.assertEqual(bool(command), bool(found.command))
        return " ".join(found.advice)

    def test_idle(self):
        self.says("idle", "--seconds 60", {"rx_packets": 99} | LATE)
        self.says("idle", "--seconds 60", {"InSegs": 5})

    def test_by_another_device(self):
        for facts in {}, OFF, NONE:
            self.says("idle", "ip -s link", LATE | {"rx_packets": 800}, facts)
        self.says("within", "hold_usecs", LATE | SORTED | {
            "rx_packets": 800, "packets_taken": 800, "packets_out_of_order": 500,
            "TCPOFOQueue": 50})

    def test_in_order(self):
        for facts in {}, OFF, NONE:
            self.assertIn("No reordering", self.says("in_order", "", (), facts))
        self.assertIn("Hardly any", self.says("in_order", "", {"TCPOFOQueue": 1}))
        self.says("late_or_lost", counters={"TCPOFOQueue": 2})

    def test_off(self):
        text = self.says("off", "set-priv-flags eth0 srpic on", LATE, OFF)
        self.assertNotIn("or are lost", text)
        self.says("off", "srpic on", LATE, OFF | {"rx_usecs": 240})
        self.says("off", "on; ethtool -C eth0 rx-usecs 300", LATE,
                  OFF | {"rx_usecs": 0})
        # what igb calls 3 microseconds is another interval
        for facts in {"rx_usecs": 3}, {"rx_usecs": 100}, {"gro": 0}:
            text = self.says("off", "srpic on", LOST, OFF | facts)
            self.assertIn("nothing here tells", text)
            self.assertIn("most likely", self.says(
                "off", "srpic on", LATE | {"rx_packets": 1000}, OFF | facts))

    def test_unsupported(self):
        self.says("unsupported", "less", LATE, NONE | {"driver": "r8169"})
        self.says("unsupported", "srpicstat eth0 eth1", LATE, NONE | {
            "driver": "bonding", "below": ["eth0", "eth1"]})

    def test_kernel(self):
        for release in "5.10.0-8-amd64", "6.1.0", "6.13.2", "7.30.1":
            version = ".".join(release.split(".")[:2])
            text = self.says("kernel", "make apply", LATE, NONE | {
                "release": release, "version": version})
            self.assertIn(f"kernel {version}:", text)

    def test_unpatched(self):
        self.says("unpatched", "make apply KDIR=/path/to/linux-6.12", LATE, NONE)
        for release in "6.12.1+deb12-amd64", "6.12.1+deb13+1-amd64":
            self.says("unpatched", f"deb/*.deb linux-headers-{release}", LATE,
                      NONE | {"release": release})
        text = self.says("unpatched", "make apply", LATE, NONE | {
            "driver": "ice", "release": "6.12.1+deb12-amd64"})
        self.assertIn("KUnit alone", text)
        for release in "6.12.0-55.el10.x86_64+debug", "6.12.1+deb13-cloud-amd64", \
                "6.12.1+deb13-rt-amd64", "7.3.4+deb13-amd64":
            self.says("unpatched", "make apply", LATE, NONE | {"release": release})

    def test_late_or_lost(self):
        for counters in LOST, LOST | {"TCPOFOQueue": 600}, \
                LATE | {"TCPOFOQueue": 1000}:
            self.says("late_or_lost", "srpic on", counters, OFF)
            self.says("late_or_lost", "nstat", counters, NONE)
        for facts, why in ({"driver": "r8169"}, "no SRPIC for r8169"), \
                ({"version": "6.1"}, "not for kernel 6.1"), \
                ({"driver": "bonding", "below": ["eth0"]}, "look at those"):
            text = self.says("late_or_lost", "nstat", LOST, NONE | facts)
            self.assertIn(why, text)
            self.assertNotIn("can help", text)
        for early in 0, 200, 4000:
            for blocks in 1000, 9000:
                self.says("late_or_lost", "hold_usecs=2000", {
                    "TCPOFOQueue": 800, "packets_out_of_order": early,
                    "blocks": blocks})

    def test_lost(self):
        for counters in {}, {"flush_deadline": 5}, {"flush_hole": 2}:
            self.says("lost", "ethtool -S eth0", LOST | counters,
                      {"hold_usecs": 500})

    def test_coalescing(self):
        alone = LATE | {"blocks": 9900}
        self.says("coalescing", "-C eth0 rx-usecs 300", alone, {"rx_usecs": 0})
        self.says("coalescing", "rx-usecs 40", alone, {"rx_usecs": 20})
        self.says("coalescing", "adaptive-rx off; ethtool -C eth0 rx-usecs 300",
                  alone, {"adaptive": 1})
        self.says("coalescing", "napi_defer_hard_irqs", alone,
                  {"driver": "virtio_net", "rx_usecs": 0})
        self.says("coalescing", "echo 600000 >", alone,
                  {"driver": "virtio_net", "rx_usecs": 0, "timer_usecs": 300})
        self.says("coalescing", "block_size=256", alone | {"flush_block": 9900},
                  {"block_size": 1})
        # as where few of many flows come at a time
        self.assertIn("packets are lost", self.says("coalescing", "rx-usecs 100", {
            "TCPOFOQueue": 30, "packets_out_of_order": 8, "blocks": 7500},
            {"rx_usecs": 50}))

    def test_within(self):
        self.says("within", "", SORTED)
        self.says("within", "", SORTED | {"blocks": 9900})
        self.says("within", "", SORTED | {"packets_passed": 990000})
        self.says("within", "", SORTED, {"hold_usecs": 500})
        self.says("within", "", SORTED | {"TCPOFOQueue": 100},
                  {"hold_usecs": 500})
        self.says("within", "hold_usecs", SORTED | {"TCPOFOQueue": 100})
        self.says("beyond", "hold_usecs", SORTED | {"TCPOFOQueue": 400})

    def test_interval(self):
        """Small values of rx-usecs are modes, not times."""
        for driver, mode in ("igb", 3), ("e1000e", 4), ("ixgbe", 1), ("i40e", 0):
            for usecs in 0, mode, mode + 1:
                self.assertEqual(
                    verdict.interval_usecs({"driver": driver, "rx_usecs": usecs}),
                    None if 0 < usecs <= mode else usecs)

    def test_beyond(self):
        for counters in {"packets_passed": 990000}, {"blocks": 4000}:
            self.says("beyond", "rx-usecs", SORTED | LATE | counters,
                      {"rx_usecs": 100})
        self.says("beyond", "rx-usecs 200", SORTED | LATE, {"rx_usecs": 100})
        self.says("beyond", "hold_usecs=1000", SORTED | LATE, {"rx_usecs": 400})
        self.says("beyond", "block_size=256",
                  SORTED | LATE | {"flush_block": 900})
        self.says("beyond", "hold_usecs=1000",
                  SORTED | LATE | {"flush_deadline": 500, "flush_hole": 10},
                  {"hold_usecs": 500})
        self.says("beyond", "", SORTED | LATE, {"hold_usecs": 100000})
        self.says("beyond", "hold_usecs", SORTED | LATE | {"flush_block": 900},
                  {"block_size": 65536})
        # the flow is slow, as it is reordered
        slow = SORTED | LATE | {"blocks": 7500}
        self.says("beyond", "hold_usecs=1000", slow, {"rx_usecs": 100})
        self.says("beyond", "hold_usecs=600", slow, {"hold_usecs": 300})

    def test_held(self):
        self.says("held", "", SORTED | {"flush_hole": 500, "flush_deadline": 10},
                  {"hold_usecs": 500})

    def test_unsuitable(self):
        where = "less Documentation/networking/srpic.rst # What is sorted; in a clone"
        self.says("unsuitable", where, LATE | {
            "packets_taken": 100, "packets_passed": 9900, "blocks": 100})
        self.says("unsuitable", where, LATE | {"packets_taken": 0, "blocks": 0})


class QueueTest(unittest.TestCase):
    """Drivers have names of their own for what a receive queue got."""

    def setUp(self):
        self.program = SourceFileLoader("srpicstat", PROGRAM).load_module()

    def test_names(self):
        for name in "rx_queue_3_packets", "rx3_packets", "rx-3.packets":
            self.assertEqual(self.program.QUEUE.fullmatch(name)[1], "3")
        for name in "rx_packets", "rx3_xdp_packets", "rx_queue_3_bytes", \
                "tx_queue_3_packets", "rx-3.packets_bad":
            self.assertIsNone(self.program.QUEUE.fullmatch(name))

    def test_another_driver(self):
        """One without SRPIC, since the device was opened."""
        device = self.program.Device("lo")
        self.assertEqual(device.stats(), {})
        device.flags = ["srpic"]
        with self.assertRaisesRegex(self.program.Trouble, "lo has another driver"):
            device.stats()


class Watched(unittest.TestCase):
    """
    One flow of 40 Mbit/s, polled each 3 ms: a tenth of the packets and ten times
    the interval of one of 400.
    """

    @classmethod
    def setUpClass(cls):
        guest.set_sender("RACK")

    def prepare(self, rx_usecs=3000, **path):
        guest.set_path(rate_mbit=40, delay_us=5000, **path)
        guest.coalesce(rx_usecs)

    def start(self, *args, ns="rcv", dev=guest.DUT, traffic=""):
        """The program, while there is traffic."""
        thread = threading.Thread(target=guest.iperf3, args=(2, traffic))
        thread.start()
        self.addCleanup(thread.join)
        time.sleep(0.7)
        return spawn(ns, *args, dev)

    def watch(self, *args, **kwargs):
        """What it prints in a second; it ends well."""
        process = self.start("--seconds", "1", *args, **kwargs)
        text = process.communicate()[0]
        self.assertEqual(process.returncode, 0, text)
        return text

    def says(self, name, **kwargs):
        text = self.watch("--once", "--json", **kwargs)
        found = json.loads(text)
        self.assertEqual(found["verdict"], name, text)
        return found


class UnpatchedTest(Watched):
    """Before anything is installed."""

    def test_in_order(self):
        self.prepare()
        self.assertEqual(self.says("in_order")["command"], "")

    def test_reordered(self):
        self.prepare(jitter_us=600)
        self.assertIn("make deb DRIVERS=igb",
                      self.says("unpatched")["command"])

    def test_lost(self):
        self.prepare(loss_percent=0.1)
        self.assertIn("nstat", self.says("late_or_lost")["command"])


class OldKernelTest(Watched):
    """For which there are no patches."""

    def test_reordered(self):
        self.prepare(jitter_us=600)
        self.assertIn("make apply", self.says("kernel")["command"])


class TrafficTest(Watched):
    """With SRPIC in the driver."""

    def prepare(self, on=True, hold_usecs=0, **path):
        super().prepare(**path)
        guest.switch(on)
        guest.sysctl("rcv", {"net.srpic.hold_usecs": hold_usecs})

    def test_in_order(self):
        self.prepare()
        self.assertEqual(self.says("in_order")["command"], "")

    def test_within(self):
        self.prepare(jitter_us=600)
        found = self.says("within")
        self.assertGreater(found["counters"]["packets_out_of_order"], 500)

    def test_beyond(self):
        self.prepare(jitter_us=6000)
        self.assertIn("hold_usecs", self.says("beyond")["command"])

    def test_held(self):
        self.prepare(jitter_us=6000, hold_usecs=30000)
        self.says("held")

    def test_lost(self):
        """What is lost is not told from what is late before it is waited for."""
        self.prepare(loss_percent=0.3)
        self.says("late_or_lost")

    def test_lost_while_held(self):
        self.prepare(loss_percent=0.3, hold_usecs=30000)
        self.says("lost")

    def test_lost_while_off(self):
        self.prepare(on=False, loss_percent=0.1)
        self.says("late_or_lost")

    def test_unsupported(self):
        """Of traffic the other way."""
        self.prepare(back={"jitter_us": 600})
        found = self.says("unsupported", ns="snd", dev=guest.SND_DEV,
                          traffic="-R")
        self.assertIn("no SRPIC for veth", found["advice"])

    def test_off(self):
        self.prepare(on=False, jitter_us=600)
        self.assertEqual(self.says("off")["command"],
                         f"ethtool --set-priv-flags {guest.DUT} srpic on")

    def test_coalescing_off(self):
        self.prepare(rx_usecs=0, jitter_us=600)
        self.assertEqual(self.says("coalescing")["command"],
                         f"ethtool -C {guest.DUT} rx-usecs 300")

    def test_report(self):
        self.prepare(on=False, jitter_us=600)
        text = self.watch("--once")
        print(text)
        self.assertRegex(text, r"driver +igb, kernel \d")
        self.assertRegex(text, r"out of order +[1-9][0-9.]* % of ")
        self.assertRegex(text, r"by queue +0:\d")
        self.assertIn(f"\n{guest.DUT}: off\n", text)

    def test_live(self):
        """A line per interval, the advice when it changes and at the end."""
        self.prepare(jitter_us=600)
        process = self.start("--interval", "0.2", "--queues")
        time.sleep(1)
        guest.switch(False)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        text = process.communicate()[0]
        print(text)
        self.assertEqual(process.returncode, 0, text)
        rows = re.findall(r"^\d\d:\d\d:\d\d .*\n  by queue 0:\d", text, re.M)
        self.assertGreater(len(rows), 6)
        self.assertEqual(
            re.findall(rf"^{guest.DUT}: (.*)", text, re.M),
            ["within", "off", "off"])

    def test_live_json(self):
        self.prepare()
        rows = self.watch("--json", "--interval", "0.2").splitlines()
        self.assertEqual(len(rows), 5)
        self.assertEqual({json.loads(row)["verdict"] for row in rows},
                         {"in_order"})

    def test_prometheus(self):
        guest.switch(True)
        before = guest.ethtool_stats("rcv", guest.DUT)
        text = guest.ns("rcv", [PROGRAM, "--prometheus"])
        after = guest.ethtool_stats("rcv", guest.DUT)
        found = dict(line.rsplit(" ", 1) for line in text.splitlines()
                     if not line.startswith("#"))
        device = f'device="{guest.DUT}"'
        for name, value in before.items():
            if re.fullmatch(r"rx_queue_\d+_packets", name):
                queue = name.split("_")[2]
                key = f'srpic_rx_queue_packets_total{{{device},queue="{queue}"}}'
                self.assertIn(int(found.pop(key)), range(value, after[name] + 1))
        self.assertEqual(found.pop(f"srpic_enabled{{{device}}}"), "1")
        for name, value in before.items():
            if not name.startswith("srpic_"):
                continue
            cause = name.removeprefix("srpic_flush_")
            key = f'srpic_flush_total{{{device},cause="{cause}"}}' \
                if cause != name else \
                f"{name}{{{device}}}" if name in GAUGES \
                else f"{name}_total{{{device}}}"
            self.assertIn(int(found.pop(key)), range(value, after[name] + 1))
        self.assertEqual(found, {})

    def test_refuses(self):
        """With one line."""
        for *args, says in (["nosuch", "there is no device nosuch"],
                            ["--prometheus", "lo", "has SRPIC"]):
            process = spawn("rcv", *args)
            text = process.communicate()[0]
            self.assertEqual(process.returncode, 1)
            self.assertRegex(text, rf"^srpicstat: .*{says}.*\n$")

    def test_the_device_goes(self):
        guest.ns("rcv", "ip link add veth1 type veth peer name veth2")
        process = spawn("rcv", "--seconds", "1", "veth1")
        time.sleep(0.5)
        guest.ns("rcv", "ip link del veth1")
        text = process.communicate()[0]
        self.assertEqual(process.returncode, 1)
        self.assertRegex(text, r"^srpicstat: veth1 is gone.*\n$")

    def test_interrupted(self):
        process = spawn("rcv", "--once")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.communicate()[0], process.returncode),
                         ("", 130))


if __name__ == "__main__":
    unittest.main(verbosity=2, defaultTest=("JudgeTest", "QueueTest", "TrafficTest"))
