# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by the scripts: one line for an error, one for progress; --help shows what
# a script begins with.

set -euo pipefail
trap 'exit 130' INT
trap 'exit 143' TERM HUP
export LC_ALL=C.UTF-8

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OUT=$TOP/out
KVER=${KVER:-6.12}
export TOP OUT KVER

case ${1:-} in -h | --help)
	sed -n '1,/^#$/d; /^#/!q; s/^# \{0,1\}//p' "$0"
	exit ;;
esac

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

say() {
	echo "srpic: $*"
}

# need_space DIR MIB: fails early rather than half way through
need_space() {
	local free

	mkdir -p "$1"
	free=$(df --output=avail -m "$1" | tail -n 1 | tr -d ' ')
	[ "$free" -ge "$2" ] ||
		die "$1 has $free MiB free, $2 MiB are needed: make room, or put the working tree on a larger disk"
}

# quietly WHAT COMMAND...: says nothing, unless it fails to do that
quietly() {
	local what=$1 log
	shift

	log=$(mktemp)
	if ! "$@" > "$log" 2>&1 < /dev/null; then
		grep '^[EW]:' "$log" >&2 || tail -n 3 "$log" >&2
		rm -f "$log"
		die "cannot $what: see above, and check the network and 'df -h /'"
	fi
	rm -f "$log"
}

# need_packages NAME...: installs the Debian packages that are missing, and says so
need_packages() {
	local missing

	missing=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" \
		2> /dev/null | sed -n 's/ installed$//p' |
		grep -vxFf - <(printf '%s\n' "$@") | xargs || :)
	[ -n "$missing" ] || return 0
	command -v apt-get > /dev/null ||
		die "this is not Debian: install these yourself: $missing"
	[ "$(id -u)" = 0 ] ||
		die "$missing must be installed, and that needs root: sudo make ..."
	say "installing on this machine: $missing"
	mkdir -p "$OUT"
	# it waits for dpkg's lock, and not for that of its lists
	quietly 'read the package lists' flock "$OUT/apt.lock" apt-get -qq update
	# shellcheck disable=SC2086 # a list
	quietly "install $missing" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
		-o DPkg::Lock::Timeout=300 install --no-install-recommends $missing
}

# download DIR PACKAGE [SUITE]: puts a Debian package, of the machine's suites or of
# this one, into DIR; in DIR/log is why it could not
download() {
	local dir=$1 get=(apt-get -q)

	[ -z "${3:-}" ] || get=("$TOP/scripts/apt-suite" "$3" -q)
	get+=(download "$2")
	(cd "$dir" && "${get[@]}") > "$dir/log" 2>&1 ||
		(apt-get -qq update && cd "$dir" && "${get[@]}") > "$dir/log" 2>&1
}

# kernel_errors LOG: prints what a build of the kernel ended for
kernel_errors() {
	grep -E -A 2 ' (error|fatal error): |^make.*\*\*\*|^ld: ' "$1" | head -n 12 || :
}

# link_tree FROM TO: copies a source tree by hard links, which take no space, where
# the file system can; what changes a file in it must replace it, not write into it
link_tree() {
	cp -al "$1/." "$2" 2> /dev/null ||
		{ rm -rf "$2" && cp -a "$1/." "$2"; } ||
		die "cannot copy $1 to $2: is there space?"
}

# tree_version TREE: prints VERSION.PATCHLEVEL
tree_version() {
	[ -f "$1/Makefile" ] && [ -f "$1/Kconfig" ] && [ -d "$1/drivers/net" ] ||
		die "$1 is no kernel source tree: name the directory that holds the kernel's Makefile"
	awk '$1 == "VERSION" { v = $3 } $1 == "PATCHLEVEL" { p = $3 }
	     END { print v "." p }' "$1/Makefile"
}

# config_of VERSION: prints the files of the testbed's configuration for it, of
# which a later one has the last word
config_of() {
	local config=$TOP/tools/testing/testbed/config

	echo "$config"
	[ ! -f "$config-$1" ] || echo "$config-$1"
}

# not_for_us VERSION: prints types of checkpatch's complaints that our sources have
# nothing to do about: macros that are lists of initialisers; what 6.12 has
# nothing for (kvzalloc_obj()), or has under another name (hrtimer_setup()); what
# is wanted to be const and is filled in, as a namespace's copy of the sysctls
not_for_us() {
	echo "MACRO_ARG_REUSE,LINUX_VERSION_CODE,CONSTANT_COMPARISON$([ "$1" = 6.12 ] || echo ,ALLOC_WITH_SIZEOF,CONST_STRUCT)"
}

# drivers [CONDITION [WHAT]]: prints the module, or WHAT, of each driver that there is, or
# for which CONDITION holds; both are awk's
drivers() {
	awk -F '\t' "/^#/ { next }
		{ module = \$1; name = \$2; path = \$3; device = \$4; suite = \$6 }
		${1:-1} { print ${2:-module} }" "$TOP/patches/drivers.tsv"
}

# tested_drivers: prints those whose devices QEMU has
tested_drivers() {
	drivers 'device != "-"'
}

# driver_objects: prints the drivers of the testbed's kernel, and the objects of each,
# a pattern, in drivers/net
driver_objects() {
	drivers 'suite != "debug-kunit"' \
		'module, sub(/\.c$/, ".o", path) ? path : path "/*.o"'
}

# series_of VERSION: prints the directory of the patches for it
series_of() {
	local dir=$TOP/patches/$1

	[ -f "$dir/series" ] ||
		die "there is no series for kernel $1, only for: $(cd "$TOP/patches" && dirname -- */series | xargs)"
	echo "$dir"
}

# identity: prints NAME <ADDRESS> of whoever runs this, if git was told
identity() {
	git -C "$TOP" -c safe.directory='*' -c user.useConfigOnly=true \
		var GIT_AUTHOR_IDENT 2> /dev/null | sed 's/ [0-9]* [-+][0-9]*$//'
}
