#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# drivers.sh MODULE...: loads the drivers of NICs that QEMU does not have, each of which
# runs its KUnit suite then, and removes them again.

set -e
[ $# -gt 0 ] || { echo "usage: drivers.sh MODULE..." >&2; exit 2; }
for driver; do
	modprobe "$driver"
	modprobe -r "$driver"
done
