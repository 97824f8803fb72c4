# SPDX-License-Identifier: GPL-2.0
# ruff: noqa: E402, F403, I001 - as upstream has such files

import sys
from pathlib import Path

KSFT_DIR = (Path(__file__).parent / "../../../../..").resolve()

try:
    sys.path.append(KSFT_DIR.as_posix())
    from net.lib.py import *
    from drivers.net.lib.py import *
except ModuleNotFoundError as error:
    print("KTAP version 1\n1..0 # SKIP", f"no {error.name}: install "
          "net/lib of the kernel's selftests beside this test")
    sys.exit(4)

from .device import *
from .env import *
from .frame import *
from .run import *
from .traffic import *
