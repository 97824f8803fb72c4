# SPDX-License-Identifier: GPL-2.0
#
# The front door. "make help" says what there is.

KVER	?= 6.12
export KVER KERNEL_SRC
export LC_ALL := C.UTF-8
export PYTHONDONTWRITEBYTECODE := 1

TESTBED	:= tools/testing/testbed
TREE	:= out/linux-$(KVER)
SOURCE	:= out/src/linux-$(KVER)

TIMEOUT	?= 600
SMP	?= 1
NIC	?= igb
override NIC := $(NIC:virtio=virtio_net)
ICOUNT	?= $(if $(filter 1,$(SMP)),1,0)

# Bad use is said before anything is installed or built.
goal = $(filter $(1),$(MAKECMDGOALS))
comma := ,
# $(call number,NAME,FROM,TO): what NAME= is, if anything
number = $(if $($(1)),$(if $(shell echo '$($(1))' | \
	awk '/^(0|[1-9][0-9]*)$$/ && $$1 >= $(2) && $$1 <= $(3)'),,$(error \
	$(1)=$($(1)): it is a number from $(2) to $(3))))
$(call number,SEED,1,999999999)
ifneq ($(and $(call goal,test test-full),$(T)$(CONTINUE)),)
wrong := $(shell LIST=1 KVER='$(KVER)' KERNEL_SRC='$(KERNEL_SRC)' T='$(T)' \
	SEED='$(SEED)' CONTINUE='$(CONTINUE)' tools/testing/run-tests $(call goal,test test-full) \
	2>&1 > /dev/null)
$(if $(wrong),$(error $(wrong)))
endif
$(call number,RX_USECS,0,8191)
$(call number,TIMEOUT,1,86400)
$(call number,SMP,1,4)
$(call number,ICOUNT,0,$(if $(filter 1,$(SMP)),1,0))
series := $(patsubst patches/%/series,%,$(wildcard patches/*/series))
$(if $(filter $(KVER),$(series)),,$(error there is no series for kernel $(KVER), only \
	for: $(series)))
ifneq ($(and $(call goal,bench),$(EXP)),)
experiments := $(shell cd tools/testing/bench && python3 -c \
	'import experiments; print(*experiments.EXPERIMENTS)' 2> /dev/null)
$(foreach name,$(if $(experiments),$(subst $(comma), ,$(EXP))),$(if \
	$(filter $(name),$(experiments)),,$(error there is no experiment $(name), \
	only: $(experiments))))
endif
ifneq ($(call goal,apply),)
$(if $(KDIR),,$(error say which tree: make apply KDIR=/path/to/linux))
endif
ifneq ($(call goal,modules modules_install modules_uninstall),)
release := $(file < $(KDIR)/include/config/kernel.release)
$(if $(and $(release),$(wildcard $(KDIR)/Module.symvers)),,$(error "$(KDIR)" holds no \
	kernel headers: apt install linux-headers-$$(uname -r), then \
	KDIR=/lib/modules/$$(uname -r)/build))
endif
ifneq ($(call goal,modules),)
$(if $(filter $(KVER).%,$(release)),,$(error "$(KDIR)" is of kernel $(release), and \
	KVER=$(KVER): there are series for $(series)))
endif
ifneq ($(and $(call goal,modules deb),$(DRIVERS)),)
drivers := $(shell scripts/stage-modules)
$(foreach name,$(DRIVERS),$(if $(filter $(name),$(drivers)),,$(error there is no patch \
	for $(name), only for: $(drivers))))
endif
ifneq ($(call goal,deb),)
$(if $(filter 6.12,$(KVER)),,$(error packages are made of kernel 6.12 alone: leave out \
	KVER=$(KVER)))
$(if $(filter ice,$(DRIVERS)),$(error irdma of the kernel does not load beside a packaged \
	ice: make modules has it))
endif
ifneq ($(and $(call goal,kernel-deb),$(CONFIG)),)
$(if $(wildcard $(CONFIG)),,$(error there is no file $(CONFIG): CONFIG= names a kernel's \
	configuration))
endif
ifneq ($(call goal,vm),)
nics := $(shell bash -c '. scripts/lib.sh && tested_drivers')
$(if $(filter $(NIC),$(nics)),,$(error there is no NIC=$(NIC), only $(nics)))
$(if $(SCRIPT),$(if $(wildcard $(SCRIPT)),,$(error there is no file $(SCRIPT))))
endif

ifneq ($(call goal,lab),)
$(if $(and $(NETIF),$(REMOTE)),,$(error say which device and which other host: \
	make lab NETIF=eth0 REMOTE=user@host))
endif

.PHONY: help demo test test-full bench results lab kernel apply series vm clean
.PHONY: matrix deb kernel-deb modules modules_install modules_uninstall setup tree rootfs venv

help:
	@echo 'make demo                 sort reordered TCP traffic in igb, with SRPIC off and on,'
	@echo '                          in a virtual testbed, and show what it buys in a table'
	@echo '                          and in out/demo.html;'
	@echo '                          RX_USECS=150 for shorter blocks'
	@echo 'make test                 all that is tested on every change; SEED=number repeats'
	@echo '                          the random part of a run; LIST=1 lists the tests, and'
	@echo "                          T='debug-*' runs those of such a name"
	@echo 'make test-full            all tests; with CONTINUE=1 those that the last run of the'
	@echo '                          same tree did not pass, as for make test'
	@echo 'make bench                all experiments, over a day on 2 CPUs; what was stopped goes on.'
	@echo '                          EXP=table4,fig5 for some, QUICK=1 for a few short runs of each'
	@echo 'make results              their figures and tables, from the rows of this commit, which go'
	@echo '                          to tools/testing/bench/rows unless more runs are there'
	@echo 'make matrix               which driver was tested how, from the last tests to'
	@echo '                          tools/testing/README.md'
	@echo 'make lab NETIF=eth0 REMOTE=user@host'
	@echo '                          the selftests between two machines: this one, which runs a'
	@echo '                          kernel with SRPIC, and one that ssh reaches; with a report'
	@echo
	@echo 'make kernel               build the kernel of the testbed'
	@echo 'make vm                   a shell in the testbed'
	@echo 'make vm SCRIPT=file       run a script there; what it leaves in $$OUT comes back'
	@echo '                          to out/vm. TIMEOUT=seconds SMP=cpus ICOUNT=0 (real time)'
	@echo '                          NIC=e1000e or virtio_net: another device under test than igb'
	@echo 'make apply KDIR=tree      put SRPIC into a kernel source tree'
	@echo 'make series               make patches of it for netdev, in your name: out/series'
	@echo 'make modules KDIR=headers build srpic and the drivers as modules for an installed'
	@echo '                          kernel $(KVER), from its headers; DRIVERS="igb ixgbe" for some'
	@echo 'make modules_install KDIR=headers'
	@echo '                          have modprobe prefer them to those of the kernel;'
	@echo '                          make modules_uninstall KDIR=headers undoes that'
	@echo 'make deb                  make Debian packages of srpicstat and the drivers, which dkms'
	@echo '                          builds for each kernel 6.12: out/deb; DRIVERS=igb for some'
	@echo 'make kernel-deb           make Debian packages of the patched kernel, with Debian'"'"'s'
	@echo '                          configuration or CONFIG=file: out/kernel-deb'
	@echo 'make clean                remove out/, all that was built'
	@echo
	@echo 'KVER=$(KVER) selects the kernel; KERNEL_SRC=tree takes its source from there.'
	@echo 'What builds or measures installs missing Debian packages and says so: run it as root,'
	@echo 'or with sudo.'

setup:
	@scripts/host-setup

tree: setup
	@scripts/fetch-kernel
	@scripts/apply-to-tree $(TREE) $(SOURCE)

kernel: tree
	@$(TESTBED)/build-kernel $(KVER)

venv: setup
	@scripts/host-venv

rootfs: setup
	@$(TESTBED)/build-rootfs

demo: kernel rootfs venv
	@tools/testing/bench/demo

test test-full: $(if $(LIST),,kernel rootfs venv)
	@tools/testing/run-tests $@

bench: kernel rootfs venv
	@tools/testing/bench/bench $(if $(filter-out 0,$(QUICK)),--quick) $(EXP)

matrix:
	@tools/testing/checks/driver-matrix --readme

results: venv
	@tools/testing/bench/results

# Needs no testbed. What is missing is said before anything is downloaded.
lab:
	@tools/srpic/lab check "$(NETIF)" "$(REMOTE)"
	@scripts/fetch-kernel
	@scripts/apply-to-tree $(TREE) $(SOURCE)
	@rm -rf out/lab/selftests
	@scripts/install-selftests out/lab/selftests
	@tools/srpic/lab run "$(NETIF)" "$(REMOTE)"

apply:
	@scripts/apply-to-tree "$(KDIR)"

# Needs no testbed.
series:
	@scripts/make-series

# Needs no testbed.
modules:
	@scripts/host-setup build
	@scripts/fetch-kernel
	@scripts/apply-to-tree $(TREE) $(SOURCE)
	@scripts/build-modules "$(KDIR)" $(DRIVERS)

modules_install:
	@scripts/install-modules "$(KDIR)"

modules_uninstall:
	@scripts/install-modules "$(KDIR)" remove

# Needs no testbed.
deb:
	@scripts/host-setup build debhelper dh-dkms
	@scripts/fetch-kernel
	@scripts/apply-to-tree $(TREE) $(SOURCE)
	@scripts/build-deb $(DRIVERS)

# Needs no testbed.
kernel-deb:
	@scripts/host-setup build debhelper rsync cpio
	@scripts/fetch-kernel
	@scripts/apply-to-tree $(TREE) $(SOURCE)
	@scripts/build-kernel-deb $(CONFIG)

vm: kernel rootfs
	@$(TESTBED)/vm --kver $(KVER) --nic $(NIC) $(if $(SCRIPT),\
		--script $(SCRIPT) --timeout $(TIMEOUT) --smp $(SMP) --icount $(ICOUNT))

clean:
	rm -rf out
