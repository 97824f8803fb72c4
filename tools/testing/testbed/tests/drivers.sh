#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Loads the drivers of NICs that QEMU does not have, each of which runs its KUnit
# suite then, and removes them again.

set -e
for driver in i40e ice mlx5_core; do
	modprobe $driver
	modprobe -r $driver
done
