# SPDX-License-Identifier: GPL-2.0
"""Imported first: what these share with bench."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import _venv  # noqa: E402, F401
