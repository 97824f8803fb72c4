# SPDX-License-Identifier: GPL-2.0
"""Imported first, before what may be missing: answers --help, and has the Python
of out/venv run the program, for which report/ is a place for modules, too."""

import os
import sys
from pathlib import Path

VENV = Path(__file__).resolve().parents[3] / "out/venv"

if {"-h", "--help"} & set(sys.argv[1:]):
    sys.exit(print(sys.modules["__main__"].__doc__.strip()))
# Numpy's threads would wait for each other spinning, minutes where CPUs are few.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if Path(sys.prefix) != VENV:
    python = VENV / "bin/python3"
    if not python.exists():
        sys.exit(f"{Path(sys.argv[0]).name}: there is no {VENV}: make venv")
    os.execv(python, [python, *sys.argv])
sys.path.append(str(Path(__file__).resolve().parent / "report"))
