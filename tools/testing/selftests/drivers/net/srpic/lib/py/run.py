# SPDX-License-Identifier: GPL-2.0
"""Run cases so that nothing is left behind, whatever ends the run."""

import contextlib
import signal
import sys

from lib.py import (
    KsftSkipEx,
    KsftXfailEx,
    defer,
    ksft_exit,
    ksft_pr,
    ksft_run,
)
from net.lib.py import ksft, utils
from net.lib.py.ksft import ksft_flush_defer

SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

# What defer() adds to; earlier kernels have it by another name.
QUEUE = utils.GLOBAL_DEFER_QUEUE if hasattr(utils, "GLOBAL_DEFER_QUEUE") \
    else utils.global_defer_queue

# Connections of TCP are tested in both families, one and many at a time.
FLOWS = [(ipver, streams) for ipver in "46" for streams in (1, 10)]
QUICK_FLOWS = [("4", 1), ("6", 10)]


class Interrupts:
    """SIGINT, SIGTERM and SIGHUP end the run, in an orderly way, once."""

    seen = False

    @classmethod
    def install(cls):
        """Before each case: the library may have handlers of its own."""
        if cls.seen:
            raise KeyboardInterrupt
        for number in SIGNALS:
            # nohup(1) has it ignored
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, cls.take)

    @classmethod
    def take(cls, _signal, _frame):
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        cls.seen = True
        raise KeyboardInterrupt


@contextlib.contextmanager
def uninterrupted():
    """
    Hold signals back: from this thread, and from commands and threads that
    are started inside, for good. A thread that does not hold them back would
    take them for all others.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def undo(func, *args, **kwargs):
    """
    Call a function when the case ends. Say so before the change is made:
    the function must do no harm if there is nothing to undo.
    """
    def restore():
        with uninterrupted():
            func(*args, **kwargs)

    defer(restore)


def case(name, func, *args):
    """A case for run(): func(env, *args), by the name of the report."""
    def test(env):
        Interrupts.install()
        env.case, env.missed = name, []
        try:
            func(env, *args)
            if env.missed:
                raise KsftXfailEx("; ".join(env.missed))
        except (KsftSkipEx, KsftXfailEx) as reason:
            # it must not hide what failed, or was missed, before
            if not ksft.KSFT_RESULT:
                ksft_pr(reason)
            elif env.missed:
                raise KsftXfailEx("; ".join(env.missed)) from reason
            else:
                raise
        finally:
            with uninterrupted():
                ksft_flush_defer()

    test.__name__ = name
    return test


def flow_cases(env, name, func, *args):
    """func(env, ipver, streams, *args) for all kinds of FLOWS."""
    flows = QUICK_FLOWS if env.quick else FLOWS
    return [case(f"{name}_v{ipver}_{streams}", func, ipver, streams, *args)
            for ipver, streams in flows]


def run(env, cases):
    """Run the cases; skip all of them if the environment says why."""
    def skip(_env):
        raise KsftSkipEx(env.lacks)

    sys.stdout.reconfigure(line_buffering=True)
    if env.lacks:
        cases = [case(test.__name__, skip) for test in cases]
    try:
        ksft_run(cases, args=(env,))
    finally:
        # all of it, even if what reads our output has gone
        with uninterrupted():
            while QUEUE:
                with contextlib.suppress(Exception):
                    ksft_flush_defer()
    ksft_exit()
