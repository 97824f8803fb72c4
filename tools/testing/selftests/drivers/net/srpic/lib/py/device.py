# SPDX-License-Identifier: GPL-2.0
"""Settings of the devices, which are restored when the case ends."""

import ctypes
import errno
import fcntl
import json
import os
import re
import socket
import struct

from lib.py import KsftSkipEx, ksft_busy_wait, ksft_disruptive

from .env import command
from .run import undo

# What "ethtool -K" calls them, and "ethtool -k".
FEATURES = {"gro": "generic-receive-offload",
            "lro": "large-receive-offload",
            "rx": "rx-checksumming",
            "rxhash": "receive-hashing",
            "rxvlan": "rx-vlan-offload"}

SIOCSHWTSTAMP, SIOCGHWTSTAMP = 0x89B0, 0x89B1
HWTSTAMP_FILTER_ALL = 1

LINK_S = 20         # to come back after a reset


def wait_link(env):
    """Return when both ends have a link."""
    name = env.remote_dev["ifname"]

    def up():
        return all("LOWER_UP" in run(f"ip -j link show dev {dev}") for run, dev
                   in ((env.here, env.ifname), (env.there, name)))

    ksft_busy_wait(up, sleep=0.1, deadline=LINK_S,
                   comment=f"no link between {env.ifname} and {name}")


@ksft_disruptive
def expect_reset(env):
    """What follows may take the link down; it is up when the case ends."""
    undo(wait_link, env)


def change(comm, reason, host=None):
    """Run a command that changes the device; skip the case if it cannot."""
    done = command(comm, host, fail=False)
    if done.ret:
        detail = (done.stderr.strip() or done.stdout.strip()).split("\n")[-1]
        raise KsftSkipEx(f"{reason}: {detail}")


def feature(env, name):
    """{"active": ..., "fixed": ...} of an offload of the device."""
    text = env.here(f"ethtool --json -k {env.ifname}")
    return json.loads(text)[0][FEATURES[name]]


def set_feature(env, name, on):
    """Switch an offload for the case."""
    was = feature(env, name)
    if was["active"] == on:
        return
    if was["fixed"]:
        raise KsftSkipEx(f"{env.ifname} has {FEATURES[name]} fixed")
    if name == "lro":
        expect_reset(env)       # of some devices
    states = {False: "off", True: "on"}
    comm = f"ethtool -K {env.ifname} {name} "
    undo(env.here, comm + states[not on])
    change(comm + states[on],
           f"{env.ifname} cannot switch {FEATURES[name]}")
    if feature(env, name)["active"] != on:
        raise KsftSkipEx(f"{env.ifname} keeps {FEATURES[name]} "
                         f"{states[not on]}")
    if name == "lro":
        wait_link(env)


def set_queues(env, count):
    """
    Have so many receive queues for the case, or as many as there can be if
    count is None.
    """
    now = env.here(f"ls /sys/class/net/{env.ifname}/queues").count("rx-")
    if count == now:
        return
    text = env.here(f"ethtool -l {env.ifname}", fail=False)
    # the maximum comes first
    most = re.search(r"^Combined:\s+(\d+)$", text, re.MULTILINE)
    if not most or (count is None and int(most[1]) == 1):
        raise KsftSkipEx(f"{env.ifname} has its number of queues fixed")
    count = count or int(most[1])
    if count == now:
        return
    expect_reset(env)
    undo(env.here, f"ethtool -L {env.ifname} combined {now}")
    change(f"ethtool -L {env.ifname} combined {count}",
           f"{env.ifname} cannot have {count} queues")
    wait_link(env)


def set_mtu(env, mtu):
    """Both ends take packets of this length for the case."""
    dev = env.remote_dev
    expect_reset(env)
    # the receiver is first to take more, and last to take less
    for run, host, name, was in (
            (env.here, None, env.ifname, env.dev["mtu"]),
            (env.there, env.remote, dev["ifname"], dev["mtu"])):
        undo(run, f"ip link set dev {name} mtu {was}")
        change(f"ip link set dev {name} mtu {mtu}",
               f"{name} cannot have an MTU of {mtu}", host)
    wait_link(env)


def add_vlan(env, ipver, vid, addresses):
    """Have a VLAN between the hosts for the case, with an address each."""
    family, options = ("-6", "nodad") if ipver == "6" else ("-4", "")
    name = f"srpic{os.getpid()}"
    # env.netem() limits the device below, and this one does not follow it
    for run, host, dev, address in (
            (env.here, None, env.ifname, addresses[0]),
            (env.there, env.remote, env.remote_dev["ifname"], addresses[1])):
        undo(run, f"ip link del dev {name}", fail=False)
        change(f"ip link add link {dev} name {name} gso_max_segs 1 "
                    f"type vlan id {vid}", f"no VLAN on {dev}", host)
        run(f"ip {family} addr add {address} dev {name} {options}")
        run(f"ip link set dev {name} up")


def hwtstamp(env, request, *config):
    """What the device stamps: (flags, tx_type, rx_filter), now or from now."""
    buffer = ctypes.create_string_buffer(struct.pack("=iii", *config))
    ifreq = struct.pack("16sP16x", env.ifname.encode(),
                        ctypes.addressof(buffer))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, request, ifreq)
    return struct.unpack("=iii", buffer.raw[:12])


def stamp_all(env):
    """The device puts time stamps on all packets, for the case."""
    try:
        was = hwtstamp(env, SIOCGHWTSTAMP, 0, 0, 0)
        undo(hwtstamp, env, SIOCSHWTSTAMP, *was)
        now = hwtstamp(env, SIOCSHWTSTAMP, *was[:2], HWTSTAMP_FILTER_ALL)
    except OSError as error:
        raise KsftSkipEx(f"{env.ifname} cannot stamp all packets: "
                         f"{errno.errorcode.get(error.errno, error.errno)}"
                         ) from error
    if now[2] != HWTSTAMP_FILTER_ALL:
        raise KsftSkipEx(f"{env.ifname} stamps other packets than all: "
                         f"filter {now[2]}")
