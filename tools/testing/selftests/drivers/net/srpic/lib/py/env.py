# SPDX-License-Identifier: GPL-2.0
"""Two hosts: a device that has SRPIC, and a remote that sends to it."""

import functools
import json
import os
import re
import select
import shlex
import shutil
import subprocess
from pathlib import Path

from lib.py import (
    KsftSkipEx,
    KsftXfailEx,
    NetDrvEpEnv,
    cmd,
    ksft_pr,
    ksft_true,
)

from .run import undo, uninterrupted

# Over ssh, a command on a busy machine may take a while.
CMD_TIMEOUT = 30


def command(comm, host=None, fail=True):
    """Run a command to its end: what it changes is known then."""
    with uninterrupted():
        done = cmd(comm, shell=True, background=True, host=host)
        # 6.12's cmd.process() has no limit, whatever its timeout
        try:
            out, errors = done.proc.communicate(timeout=CMD_TIMEOUT)
        except subprocess.TimeoutExpired:
            done.proc.kill()
            done.proc.wait()
            raise
    done.ret = done.proc.returncode
    done.stdout, done.stderr = out.decode(), errors.decode()
    if fail and done.ret:
        raise RuntimeError(f"{comm}: status {done.ret}: "
                           f"{done.stderr.strip()}")
    return done


class Background:
    """A command that runs, here or on a host, with SIGNALS held back."""

    def __init__(self, comm, host):
        self.host = host
        self.name = Path(comm.split()[0]).name
        self.proc = cmd(f"echo $$; exec {comm}", shell=True, background=True,
                        host=host).proc
        self.pid = self.first_line()
        undo(self.end)

    def first_line(self):
        """The PID, and nothing of what comes after it."""
        line, pipe = b"", self.proc.stdout
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([pipe], [], [], CMD_TIMEOUT)
            char = os.read(pipe.fileno(), 1) if ready else b""
            if not char:
                self.proc.kill()
                raise RuntimeError(f"{self.name} does not start")
            line += char
        return int(line)

    def signal(self, number, fail=True):
        """Send a signal, but not to another program that has the PID now."""
        command(f"grep -qx {self.name} /proc/{self.pid}/comm && "
                f"kill -{number} {self.pid}", self.host, fail)

    def end(self):
        try:
            # 255: ssh has ended, but what it started may not have
            if self.proc.poll() in (None, 255):
                self.signal("KILL", fail=False)
        finally:
            self.proc.kill()
            self.proc.wait()

    def output(self):
        """What it printed, when it has ended by itself."""
        out, errors = self.proc.communicate(timeout=CMD_TIMEOUT)
        if self.proc.returncode:
            # iperf3 complains in its JSON
            raise RuntimeError(f"{self.name} ended: "
                               f"{(errors or out).decode().strip()[-500:]}")
        return out.decode().strip()


class SrpicEnv(NetDrvEpEnv):
    """
    Upstream's environment of two hosts, and the settings in README.rst. The
    reason why nothing can be tested here, or None, is in "lacks".
    """

    def __init__(self, src_path):
        self.lacks = None
        self.case = None        # the name of the one that runs
        self.missed = []        # figures, where they may be
        self.env = {}
        try:
            super().__init__(src_path, nsim_test=False)
        except KsftXfailEx:
            self.lacks = "needs a device: set NETIF, see README.rst"
        except Exception as error:
            if "NETIF" not in self.env or "REMOTE_TYPE" in self.env:
                raise
            self.lacks = f"needs a remote host: {error.args}"
        self.quick = self.says("QUICK")
        self.slow = self.says("KSFT_MACHINE_SLOW")
        self.duration_s = float(self.env.get("DURATION", "3"))
        self.delay_us = int(self.env.get("DELAY_US", "2500"))
        self.rate_mbit = int(self.env.get("RATE_MBIT", "0"))
        self.rx_usecs = self.env.get("RX_USECS")
        if not self.lacks and not shutil.which("ethtool"):
            self.lacks = "Test requires command: ethtool"   # as upstream says
        elif not self.lacks and self.switched() is None:
            self.lacks = f"{self.ifname} has no srpic flag: its driver or " \
                         "this kernel is without SRPIC"

    def __enter__(self):
        """Later kernels' set the device up."""
        return self if self.lacks else super().__enter__()

    def says(self, name):
        """Whether a setting is yes; it is no if it is not there."""
        return self.env.get(name, "no").lower() in ("1", "yes", "true")

    def here(self, comm, fail=True):
        """Run a command on this host; what it prints."""
        return command(comm, fail=fail).stdout

    def there(self, comm, fail=True):
        """Run a command on the remote host; what it prints."""
        return command(comm, self.remote, fail).stdout

    def find_address(self, ipver, remote=False):
        """An address of this host, or of the remote one, or None."""
        prefix = "remote_" if remote else ""
        # dictionaries since 6.15
        by_version = getattr(self, prefix + "addr_v", None)
        return by_version[ipver] if by_version else \
            getattr(self, f"{prefix}v{ipver}")

    def address(self, ipver, remote=False):
        """The same; the case is skipped if there is none."""
        found = self.find_address(ipver, remote)
        if not found:
            raise KsftSkipEx(f"no IPv{ipver}: set LOCAL_V{ipver} and "
                             f"REMOTE_V{ipver}")
        return found

    @functools.cached_property
    def remote_dev(self):
        """The remote's device that sends to us, as "ip -d link" has it."""
        address = self.find_address("4", remote=True) or \
            self.find_address("6", remote=True)
        links = json.loads(self.there(f"ip -j addr show to {address}"))
        self.need(links, f"the remote has no address {address}")
        name = links[0]["ifname"]
        return json.loads(self.there(f"ip -j -d link show dev {name}"))[0]

    def start(self, comm, remote=False):
        """Start a command that ends with the case, at the latest."""
        with uninterrupted():
            return Background(comm, self.remote if remote else None)

    def start_python(self, path, args):
        """
        Start a Python program of ours on the remote host, without leaving a
        file there.
        """
        self.require_cmd("python3", local=False, remote=True)
        source = shlex.quote(Path(path).read_text())
        return self.start(f"python3 -c {source} {args}", remote=True)

    def switched(self):
        """Whether SRPIC is on; None if there is none."""
        flags = self.here(f"ethtool --show-priv-flags {self.ifname}",
                          fail=False)
        found = re.search(r"^srpic\s*: (on|off)$", flags, re.MULTILINE)
        return found and found[1] == "on"

    def switch(self, on):
        """Switch SRPIC."""
        self.here(f"ethtool --set-priv-flags {self.ifname} srpic "
                  f"{'on' if on else 'off'}")

    def keep_switch(self):
        """The flag is what it was when the case ends."""
        undo(self.switch, self.switched())

    def coalesce(self):
        """Set rx-usecs for the case, if RX_USECS says so."""
        if not self.rx_usecs:
            return
        text = self.here(f"ethtool -c {self.ifname}")
        if "Adaptive RX: on" in text:
            adapt = f"ethtool -C {self.ifname} adaptive-rx "
            undo(command, adapt + "on", fail=False)
            self.here(adapt + "off")
            text = self.here(f"ethtool -c {self.ifname}")   # of itself
        now = re.search(r"^rx-usecs:\s+(\d+)$", text, re.MULTILINE)
        if now and now[1] == self.rx_usecs:
            return
        if now:
            undo(command, f"ethtool -C {self.ifname} rx-usecs {now[1]}",
                 fail=False)
        change = f"ethtool -C {self.ifname} rx-usecs "
        done = command(change + self.rx_usecs, fail=False)
        if not now or "not supported" in done.stderr:
            self.poll_by_timer()
        elif done.ret:
            raise KsftSkipEx(f"no rx-usecs {self.rx_usecs}: "
                             f"{done.stderr.strip()}")

    def poll_by_timer(self):
        """
        What coalesces for a device that cannot: while packets come, NAPI polls
        it every RX_USECS, and its interrupt stays masked.
        """
        for name, value in (("napi_defer_hard_irqs", 1),
                            ("gro_flush_timeout", 1000 * int(self.rx_usecs))):
            path = f"/sys/class/net/{self.ifname}/{name}"
            now = self.here(f"cat {path}").strip()
            undo(self.here, f"echo {now} >{path}")
            self.here(f"echo {value} >{path}")

    def stats(self):
        """SRPIC's counters, {"blocks": 7, ...}."""
        text = self.here(f"ethtool -S {self.ifname}")
        return {name: int(value) for name, value in re.findall(
            r"^\s*srpic_(\w+): (\d+)$", text, re.MULTILINE)}

    def sysctl(self, name, value=None):
        """Read one of net.srpic.*, or set it for the case."""
        now = self.here(f"sysctl -n net.srpic.{name}").strip()
        if value is not None:
            undo(self.here, f"sysctl -qw net.srpic.{name}={now}")
            self.here(f"sysctl -qw net.srpic.{name}={value}")
        return int(now)

    def remote_at_most(self, name, value):
        """Lower a sysctl of the remote for the case, where it is above."""
        now = self.there(f"sysctl -n {name}", fail=False).strip()
        if now and int(now) > value:
            undo(self.there, f"sysctl -qw {name}={now}")
            self.there(f"sysctl -qw {name}={value:.0f}")

    def egress(self, spec):
        """Have a queue discipline on the remote's egress for the case."""
        self.require_cmd("tc", local=False, remote=True)
        name = self.remote_dev["ifname"]
        text = self.there(f"tc -j qdisc show dev {name}")
        ours = [q for q in json.loads(text) if q.get("root")]
        if ours and ours[0]["handle"] != "0:":
            raise KsftSkipEx(f"the remote's {name} has a qdisc of its own, "
                             f"{ours[0]['kind']}: delete it")
        undo(self.there, f"tc qdisc del dev {name} root", fail=False)
        done = command(f"tc qdisc add dev {name} root {spec}", self.remote,
                       fail=False)
        if done.ret:
            reason = done.stderr.strip().split("\n")[-1]
            raise KsftSkipEx(f"no {spec.split()[0]} on the remote's {name}: "
                             f"{reason}")

    def netem(self, spec):
        """
        Have netem on the remote's egress for the case. It sees packets of
        the MTU's size, not those that the remote's NIC or stack splits up.
        """
        dev, name = self.remote_dev, self.remote_dev["ifname"]
        undo(self.there, f"ip link set dev {name} "
                         f"gso_max_segs {dev['gso_max_segs']}")
        self.there(f"ip link set dev {name} gso_max_segs 1")
        self.egress(f"netem limit 100000 {spec}")

    def figures(self, **values):
        """Print a case's figures so that a program can read them as well."""
        ksft_pr(f"{self.case}: {json.dumps(values)}")

    def expect(self, fine, text):
        """
        A figure is what it should be; on a machine that is too slow for
        figures, that is not a failure.
        """
        if self.slow and not fine:
            self.missed.append(text)
        else:
            ksft_true(fine, text)

    def need(self, fine, text):
        """What a case assumes of the traffic is so, else it is skipped."""
        if not fine:
            raise KsftSkipEx(text)
