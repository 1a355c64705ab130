# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#	make demo     see it work: a 40 Mbit/s bottleneck in a virtual machine
#	make quick    after a change: a minute
#	make check T=tests/qdisc/test_shaper.py K=rate    one test file, of it what has this name
#	make test     all tests            (KERNEL=6.17.13 boots another kernel,
#	                                    NATIVE=1 uses the running one,
#	                                    ARCH=arm64 boots another machine)
#	make          build with this machine's own toolchain
#	                                   (CC=aarch64-linux-gnu-gcc: for another one)
#	make test-kernels, make test-long    the same on seven kernels, and for longer
#	make install  DESTDIR= PREFIX=/usr/local, make uninstall
#	make help     all targets
#
# RECORD=1 with demo, screens, test-trixie, test-kernels, compare, claims and the benches puts what
# they print into docs/.
#
# `make demo` and `make test` install what they need through apt, saying so first,
# and build in a root of their own under .cache/, so they need root.

O ?= .output
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/dualpi2-bpf
UNITDIR ?= $(PREFIX)/lib/systemd/system
UDEVDIR ?= $(PREFIX)/lib/udev
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
SYSCONFDIR ?= /etc
# What node_exporter's textfile collector reads: this is Debian's.
TEXTFILEDIR ?= /var/lib/prometheus/node-exporter
CLANG ?= clang
BPFTOOL ?= bpftool
# For the machine that builds, which CC need not be.
BUILD_CC ?= cc
CFLAGS ?= -O2 -g
V ?= 0
# The machine of the lab's guests.
ARCH ?= amd64
export ARCH
NEWEST := 7.3.4
KERNEL ?= $(if $(filter amd64,$(ARCH)),7.2.12,$(NEWEST))
SECONDS ?= 60
SEED ?= 1

VERSION := $(file < VERSION)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

LAB := tests/lab/lab
LAB_O := .output/$(if $(filter amd64,$(ARCH)),lab,$(ARCH))
# What a tool says; nothing where it is missing, as compilers may be on a host that enters the lab's
# roots.
asked = $(shell { $(1); } 2> /dev/null)
# No path of this machine gets into the programs.
PREFIX_MAP := -ffile-prefix-map=$(CURDIR)=.
# A warning is an error where we know the compiler: in the lab.
WERROR := $(if $(filter $(LAB_O),$(O)),-Werror)
BPF_CFLAGS := $(PREFIX_MAP) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter $(WERROR) \
	-I. -Iinclude -Ibpf $(patsubst %,-I/usr/include/%,$(call asked,$(CC) -print-multiarch))
OWN_CFLAGS := $(PREFIX_MAP) -std=gnu11 -Wall -Wextra $(WERROR) -D_GNU_SOURCE \
	-DDUALPI2_VERSION='"$(VERSION)"' -I. -Iinclude -Iuser -I$(O)
ALL_CFLAGS := $(CPPFLAGS) $(CFLAGS) $(OWN_CFLAGS)
CC_MACHINE := $(call asked,$(CC) -dumpmachine)
IS_FOREIGN := $(filter-out $(call asked,$(BUILD_CC) -dumpmachine),$(CC_MACHINE))
PKG_CONFIG ?= $(if $(IS_FOREIGN),$(CC_MACHINE)-)pkg-config
NCURSES ?= $(call asked,$(PKG_CONFIG) --exists ncursesw && echo 1)
# Asked when it comes to link.
libraries = $(or $(shell $(PKG_CONFIG) --libs $(1)),$(error $(PKG_CONFIG) does not find $(1)))
LDLIBS = $(call libraries,libbpf libmnl libelf zlib)

# The AQMs, of which those for tests alone are not in packages, and those to be asked for (VDQ=1) are
# not built otherwise.
DEFAULT_AQM := pi2
aqms_with = $(patsubst include/aqm/%.h,%,$(shell grep -l '^\#define $(1)' include/aqm/*.h))
OPT_IN_AQMS := $(call aqms_with,AQM_OPT_IN)
AQMS := $(DEFAULT_AQM) $(filter-out $(DEFAULT_AQM) $(if $(VDQ),,$(OPT_IN_AQMS)),$(patsubst bpf/aqm/%.bpf.h,%,$(wildcard bpf/aqm/*.bpf.h)))
TEST_AQMS := $(call aqms_with,AQM_FOR_TESTS)
# What they can be (enum aqm_variant of user/aqm/aqm.h): all are plain; some can be where several
# queues share a rate, which have another link (bpf/link/), or have a DualQ for each host or each
# subscriber, with another schedule (bpf/schedule/). A directory for each variant has a BPF object
# of each such AQM and an object of user/, from the same sources; list.o has them all.
VARIANTS := aqm shared hosts subscribers
AQMS_aqm := $(AQMS)
AQMS_shared := $(filter $(AQMS),$(call aqms_with,AQM_SHARED_KIND))
AQMS_hosts := $(filter $(AQMS),$(call aqms_with,AQM_HOSTS_KIND))
AQMS_subscribers := $(filter $(AQMS),$(call aqms_with,AQM_SUBSCRIBERS_KIND))
BPF_CFLAGS_shared := -DLINK_H='"link/shared.bpf.h"'
BPF_CFLAGS_hosts := -DSCHEDULE_H='"schedule/hosts.bpf.h"'
BPF_CFLAGS_subscribers := -DSCHEDULE_H='"schedule/plans.bpf.h"'
MACRO_aqm := PLAIN
MACRO_shared := MQ
MACRO_hosts := HOSTS
MACRO_subscribers := SUBSCRIBERS
SUFFIX_shared := _mq
SUFFIX_hosts := _hosts
SUFFIX_subscribers := _subscribers
# All variants of AQMs, from their names: $(1)VARIANT/NAME$(2), or the symbols.
variants_of = $(foreach variant,$(VARIANTS),$(patsubst %,$(2)$(variant)/%$(3),$(filter $(1),$(AQMS_$(variant)))))
symbols_of = $(foreach variant,$(VARIANTS),$(patsubst %,%$(SUFFIX_$(variant)),$(filter $(1),$(AQMS_$(variant)))))
BPF_O := $(call variants_of,$(AQMS),$(O)/,.bpf.o)
SKELETONS := $(BPF_O:.bpf.o=.skel.h)
PLUG := user/aqm/plug.c
PLUGS_O := $(call variants_of,$(AQMS),$(O)/,.o)
# Of the variant $(1) of the AQM $(2), whose other variants it knows.
plug_cflags = -DAQM_HEADER='"aqm/$(2).h"' -DAQM_SKELETON='"$(1)/$(2).skel.h"' -DIS_$(MACRO_$(1)) \
	$(foreach variant,$(VARIANTS),$(patsubst %,-DSYMBOL_$(MACRO_$(variant))=aqm_%$(SUFFIX_$(variant)),$(filter $(2),$(AQMS_$(variant)))))
AQMS_O := $(PLUGS_O) $(O)/aqm/list.o
# What only dualpi2-load has.
LOADER := user/loader.c user/show/outcome.c $(wildcard user/attach/*.c)
# For network.json of LibreQoS: a file that one build reads and another does not would be worse.
LOADER_LDLIBS = $(call libraries,json-c)
# What only dualpi2-stats has, and the libraries for it.
WITHOUT_NCURSES := user/watch/without.c
WATCH := $(if $(NCURSES),$(filter-out $(WITHOUT_NCURSES),$(wildcard user/watch/*.c)),$(WITHOUT_NCURSES))
FIGURES := $(filter-out $(LOADER),$(wildcard user/sample/*.c user/show/*.c)) $(WATCH)
STATS_LDLIBS = $(call libraries,json-c $(if $(NCURSES),ncursesw))
# The other programs, which share the lower rooms with them; that of VDQ-CSAQM has to be asked for,
# too.
PRAGUE := user/prague.c $(wildcard user/prague/*.c)
BASE_RTT := user/base_rtt.c $(wildcard user/base_rtt/*.c)
MARK_VALUES := user/mark_values.c $(wildcard user/mark_values/*.c)
# What both dualpi2-load and dualpi2-stats have, and unit tests by itself.
SUBSCRIBERS := $(wildcard user/subscribers/*.c)
LOW := $(wildcard user/cli/*.c user/kernel/*.c) user/check/report.c user/show/json.c \
	$(addprefix user/pinned/,bpffs.c pin_dir.c pins.c tcx_link.c)
OTHER_SKELETONS := $(O)/has_timer.skel.h $(O)/prague.skel.h $(O)/opt_in.skel.h $(O)/base_rtt.skel.h \
	$(O)/vdq/mark_values.skel.h
NOT_SHARED := $(LOADER) $(FIGURES) $(wildcard user/watch/*.c) $(PLUG) $(PRAGUE) $(BASE_RTT) $(MARK_VALUES) \
	$(if $(VDQ),,$(OPT_IN_AQMS:%=user/aqm/%.c))
SHARED := $(filter-out $(NOT_SHARED),$(wildcard user/*/*.c))
# The objects of each program.
dualpi2-load_O := $(patsubst %.c,$(O)/%.o,$(LOADER) $(SHARED)) $(AQMS_O)
dualpi2-stats_O := $(patsubst %.c,$(O)/%.o,user/stats.c $(FIGURES) $(SHARED)) $(AQMS_O)
tcp-prague_O := $(patsubst %.c,$(O)/%.o,$(PRAGUE) $(LOW))
tcp-base-rtt_O := $(patsubst %.c,$(O)/%.o,$(BASE_RTT) $(LOW))
dualpi2-mark-values_O := $(patsubst %.c,$(O)/%.o,$(MARK_VALUES) $(LOW))
NAMES := dualpi2-load dualpi2-stats tcp-prague tcp-base-rtt $(if $(VDQ),dualpi2-mark-values)
USER_O := $(sort $(foreach name,$(NAMES),$($(name)_O)))
PROGRAMS := $(NAMES:%=$(O)/%)
# For packages: the same without the AQMs for tests.
PACKAGED := $(PROGRAMS:$(O)/%=$(O)/packaged/%)
packaged = $(patsubst $(O)/aqm/list.o,$(O)/aqm/packaged.o,$(filter-out $(call variants_of,$(TEST_AQMS),$(O)/,.o),$(1)))
# For the man pages, which have the options that each program lists: the packaged one, unless it is
# for another machine and may not run on this. Then the same sources are compiled for this machine
# as well, and linked without libraries, of which --help needs none.
LISTING := $(O)/$(if $(IS_FOREIGN),listing,packaged)
listing = $(patsubst $(O)/%,$(O)/listing/%,$(call packaged,$(1)))
PLOT := $(O)/dualpi2-plot
# So that `./dualpi2-load` works beside the README: links to what the default build makes. Those of
# other builds, as the lab's, are not for this machine.
LINKS := $(if $(filter .output,$(O)),$(notdir $(PROGRAMS) $(PLOT)))
# For the tests: what the next version of both programs has in place of what says the version.
NEXT := $(PROGRAMS:$(O)/%=$(O)/next/%)
NEXT_VERSION_O := $(O)/next/options.o
next_version = $(patsubst $(O)/user/cli/options.o,$(NEXT_VERSION_O),$(1))
# PI2 with two DualQs in a qdisc.
TWO := $(O)/two/dualpi2-load

.DELETE_ON_ERROR:
.PHONY: all foreign check quick quick-source quick-guest test test-kernels test-long test-deb test-trixie \
	test-monitoring test-compilers fuzz soak demo screens compare bench bench-kernels bench-home bench-grid bench-cost bench-lines bench-overload \
	claims model check-vmlinux \
	clean help force
all:
	@:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(filter-out %.d,$(MAKEFILE_LIST)) | expand -t 24

# ---- what depends on what ------------------------------------------------------

# The compiler tells which headers a file includes: beside each object is a .d for make.
DEPEND := -MMD -MP

# $(O)/flags/NAME changes when its COMMAND does: what that makes depends on it, not on the
# Makefile.
quoted = '$(subst ','\'',$1)'
.PRECIOUS: $(O)/flags/%
$(O)/flags/%: force
	@mkdir -p $(@D)
	@echo $(call quoted,$(COMMAND)) | cmp -s - $@ || echo $(call quoted,$(COMMAND)) > $@

$(O)/flags/version: COMMAND = $(VERSION)
$(O)/flags/bpf: COMMAND = $(CLANG) $(BPF_CFLAGS)
$(O)/flags/cc: COMMAND = $(CC) $(ALL_CFLAGS)
$(O)/flags/link: COMMAND = $(CC) $(CFLAGS) $(LDFLAGS) $(STATS_LDLIBS) $(LDLIBS) $(USER_O)

# ---- programs ------------------------------------------------------------------

all: $(PROGRAMS) $(PLOT) $(LINKS)

$(LINKS): %: $(O)/%
	$(Q)ln -sf $< $@

# In these rules % is VARIANT/NAME.
$(BPF_O): $(O)/%.bpf.o: bpf/dualpi2.bpf.c $(O)/flags/bpf
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -DAQM_H='"aqm/$(*F).bpf.h"' $(BPF_CFLAGS_$(*D)) $(DEPEND) -c $< -o $@

$(OTHER_SKELETONS:.skel.h=.bpf.o): $(O)/%.bpf.o: bpf/%.bpf.c $(O)/flags/bpf
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(DEPEND) -c $< -o $@

# Those of the AQMs are of one kind.
$(SKELETONS): private SKELETON = dualpi2
$(OTHER_SKELETONS): private SKELETON = $(patsubst %.skel.h,%_bpf,$(@F))
$(SKELETONS) $(OTHER_SKELETONS) $(O)/two/pi2.skel.h: %.skel.h: %.bpf.o
	$(say) SKEL $@
	$(Q)echo '/* NOLINTBEGIN: not ours to check */' > $@
	$(Q)$(BPFTOOL) gen skeleton $< name $(SKELETON) >> $@
	$(Q)echo '/* NOLINTEND */' >> $@

# Position-independent, for the tests: one of them is a shared library.
$(PLUGS_O): $(O)/%.o: $(PLUG) $(O)/%.skel.h $(O)/flags/cc
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC $(call plug_cflags,$(*D),$(*F)) $(DEPEND) -c $< -o $@

$(O)/aqm/list.c: LISTED = $(call symbols_of,$(AQMS))
$(O)/aqm/packaged.c: LISTED = $(call symbols_of,$(filter-out $(TEST_AQMS),$(AQMS)))
$(O)/flags/aqms: COMMAND = $(call symbols_of,$(AQMS)) / $(TEST_AQMS)
$(O)/aqm/list.c $(O)/aqm/packaged.c $(O)/two/list.c: $(O)/flags/aqms
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include "aqm/aqm.h"\n$(LISTED:%=extern const struct aqm aqm_%;\n)' > $@
	$(Q)printf 'const struct aqm *const aqms[] = { $(LISTED:%=&aqm_%,) NULL };\n' >> $@

$(O)/aqm/list.o $(O)/aqm/packaged.o $(O)/two/list.o: %.o: %.c $(O)/flags/cc
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC $(DEPEND) -c $< -o $@

$(O)/user/%.o: user/%.c $(O)/flags/cc
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(DEPEND) -c $< -o $@

# The compiler would tell too late that they are missing.
$(O)/user/pinned/registration.o: $(O)/has_timer.skel.h
$(O)/user/prague/programs.o: $(O)/prague.skel.h
$(O)/user/prague/opt_in.o: $(O)/opt_in.skel.h
$(O)/user/base_rtt/rtt_map.o: $(O)/base_rtt.skel.h
$(O)/user/mark_values/marker.o: $(O)/vdq/mark_values.skel.h

define made_of
$(O)/$(1): $($(1)_O)
$(O)/next/$(1): $(call next_version,$($(1)_O))
$(O)/packaged/$(1): $(call packaged,$($(1)_O))
$(O)/listing/$(1): $(call listing,$($(1)_O))
endef
$(foreach name,$(NAMES),$(eval $(call made_of,$(name))))
$(filter-out %/dualpi2-load,$(PROGRAMS) $(NEXT) $(PACKAGED)): private MORE_LDLIBS = $(STATS_LDLIBS)
$(filter %/dualpi2-load,$(PROGRAMS) $(NEXT) $(PACKAGED) $(TWO)): private MORE_LDLIBS = $(LOADER_LDLIBS)
$(PROGRAMS) $(NEXT) $(PACKAGED) $(TWO): $(O)/flags/link
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(MORE_LDLIBS) $(LDLIBS) -o $@

# Each object depends on its twin, which depends on the headers.
LISTING_O := $(call listing,$(USER_O) $(AQMS_O))
$(NAMES:%=$(O)/listing/%): man/listing.c
	$(say) LINK $@
	$(Q)$(BUILD_CC) $(OWN_CFLAGS) -no-pie -Wl,--unresolved-symbols=ignore-all $^ -o $@
$(filter $(O)/listing/user/%,$(LISTING_O)): $(O)/listing/%.o: %.c
$(call listing,$(PLUGS_O)): $(PLUG)
$(call listing,$(PLUGS_O)): private OWN_CFLAGS += $(call plug_cflags,$(notdir $(@D)),$(basename $(@F)))
$(O)/listing/aqm/packaged.o: $(O)/aqm/packaged.c
$(sort $(LISTING_O)): $(O)/listing/%.o: $(O)/%.o
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(BUILD_CC) $(OWN_CFLAGS) -c $(filter %.c,$^) -o $@

$(NEXT_VERSION_O): user/cli/options.c $(O)/flags/cc
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(subst "$(VERSION)","$(VERSION)-next",$(ALL_CFLAGS)) $(DEPEND) -c $< -o $@

$(PLOT): user/dualpi2-plot $(O)/flags/version
	$(say) GEN $@
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< > $@
	$(Q)chmod +x $@

# For the tests: a stranger's programs, the next version of ours, and other machines.
FOREIGN := $(patsubst tests/qdisc/%.c,$(O)/%.o,$(wildcard tests/qdisc/*.bpf.c))
PRELOADED := $(addprefix $(O)/,without_cmpxchg.so kernels_own.so missed.so)
# In the lab also what a guest runs of Python.
GUEST_PY := $(wildcard tests/*.py tests/qdisc/*.py tests/systemd/*.py tests/traffic/*.py)
COMPILED := $(if $(filter .output/lab,$(O)),$(O)/compiled.stamp)
foreign: $(FOREIGN) $(NEXT) $(PRELOADED) $(TWO) $(COMPILED)
	@:

$(COMPILED): tests/lab/compile_tests $(GUEST_PY)
	$(say) GEN $(O)/compiled
	$(Q)$< $(O)/compiled $(GUEST_PY)
	$(Q)touch $@

$(FOREIGN): $(O)/%.bpf.o: tests/qdisc/%.bpf.c $(O)/flags/bpf
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(DEPEND) -c $< -o $@

$(O)/two/pi2.bpf.o: bpf/dualpi2.bpf.c $(O)/flags/bpf
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -Itests/qdisc -DSCHEDULE_H='"two_dualqs.bpf.h"' $(DEPEND) -c $< -o $@
$(O)/two/pi2.skel.h: private SKELETON = dualpi2
$(O)/two/pi2.o: $(PLUG) $(O)/two/pi2.skel.h $(O)/flags/cc
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -DAQM_HEADER='"aqm/pi2.h"' -DAQM_SKELETON='"two/pi2.skel.h"' -DSYMBOL_PLAIN=aqm_pi2 $(DEPEND) -c $< -o $@
$(O)/two/list.c: LISTED = pi2
$(TWO): $(filter-out $(AQMS_O),$(dualpi2-load_O)) $(O)/two/pi2.o $(O)/two/list.o

$(PRELOADED): $(O)/%.so: tests/qdisc/%.c $(O)/flags/cc
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -shared -fPIC $< -o $@

# What the bench measures with, in the lab's guest.
$(O)/tap: $(wildcard bench/guest/*.[ch]) $(O)/flags/cc
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) $(filter %.c,$^) -o $@

# What it measures runs on this machine. The headers of bpf/ hold more than it needs.
$(O)/lines: bench/cost/lines.c $(wildcard bpf/*.h bpf/*/*.h include/*.h include/*/*.h) $(O)/flags/cc
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-unused-function -Wno-unused-parameter -Wno-attributes -Ibpf -pthread $< -o $@

-include $(patsubst %.o,%.d,$(BPF_O) $(OTHER_SKELETONS:.skel.h=.bpf.o) $(FOREIGN) $(USER_O) $(NEXT_VERSION_O) $(O)/aqm/packaged.o $(O)/two/pi2.bpf.o $(O)/two/pi2.o)

include man/Makefile.inc
include packaging/Makefile.inc

# ---- tests and demo ------------------------------------------------------------

include tests/unit/Makefile.inc
include tests/fuzz/Makefile.inc

GNU_arm64 := aarch64-linux-gnu
GNU_riscv64 := riscv64-linux-gnu
IN_ROOT := $(LAB) chroot -- make --no-print-directory O=$(LAB_O) VDQ=1 ARCH=$(ARCH) \
	$(GNU_$(ARCH):%=CC=%-gcc)

# With RECORD=1 what a command prints goes to docs/records/ and to the pages that show it.
recorded = $(if $(RECORD),tests/records.py $(1) --)

# What needs no kernel of its own and takes seconds.
SOURCE_TESTS := all foreign installed unit-tests lint

quick: ## after a change: build, unit tests, lint of what changed, one guest: a minute
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) -j$$(nproc) all foreign
	$(Q)$(MAKE) --no-print-directory -j2 quick-source quick-guest
quick-source:
	$(Q)$(IN_ROOT) -j$$(nproc) QUICK=1 $(SOURCE_TESTS)
quick-guest:
	$(Q)tests/run --quick --kernel $(KERNEL)

# The guest's: as tests/run runs it.
IN_GUEST = $(LAB) run --kernel $(KERNEL) --timeout 3600 -- python3 -m pytest -v -p no:cacheprovider \
	--tb=short
check: ## one test file: T=tests/qdisc/test_shaper.py or tests/unit/test_pi2.py, K=rate: of it what has this name
	$(Q)$(if $(wildcard $(T)),,echo "check: T=$(T): no such test file (for example T=tests/qdisc/test_shaper.py)" >&2; exit 2)
	$(Q)tests/lab/bootstrap
	$(Q)$(if $(filter tests/unit/%,$(T)),$(IN_ROOT) -j$$(nproc) T=$(T) K=$(K) unit-test,$(IN_ROOT) -j$$(nproc) all foreign)
	$(Q)$(if $(filter tests/unit/%,$(T)),,$(IN_GUEST) $(T) $(if $(K),-k '$(K)'))

# $(call TEST,COMMAND,SECONDS): the source, so many seconds of each fuzzer, then the guests of a
# command, the quick one first: what fails soon comes before what takes long.
define TEST
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) -j$$(nproc) $(SOURCE_TESTS)
	$(Q)$(IN_ROOT) -j$$(nproc) FUZZ_SECONDS=$(2) fuzzers
	$(Q)$(1)
endef

test: ## source, then the qdisc tests in the lab (NATIVE=1: on this kernel; ARCH=arm64: some, there)
ifeq ($(NATIVE),1)
	$(Q)$(MAKE) --no-print-directory all foreign unit-tests
	DUALPI2_BIN=$(O) python3 -m pytest -q -p no:cacheprovider -rfEs tests/qdisc
else ifneq ($(ARCH),amd64)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) -j$$(nproc) all foreign
	$(Q)$(call recorded,test-$(ARCH).txt) tests/run --kernel $(KERNEL)
else
	$(call TEST,tests/run --kernel $(KERNEL),2)
endif

test-kernels: SECONDS = 15
test-kernels: ## one kernel of each series, oldest and newest in full (FULL=1: all in full)
	$(call TEST,$(if $(FULL),,$(call recorded,test-kernels.txt)) \
		tests/run --kernels $(if $(FULL),--full),$(SECONDS))
	$(Q)ARCH=arm64 tests/lab/bootstrap
	$(Q)if ARCH=arm64 $(LAB) prepare --kernel $(NEWEST); then \
		$(MAKE) --no-print-directory test ARCH=arm64; \
	elif [ $$? = 3 ]; then echo "arm64: not tested, for its packages cannot be had (see above)"; \
	else exit 1; fi

test-long: ## as test, with the long version of tests that have one: hours
	$(call TEST,tests/run --kernel $(KERNEL) --long,$(SECONDS))
	$(Q)$(MAKE) --no-print-directory test-deb

test-deb: deb ## the package: reproducible, installed with apt, run in the lab, purged
	$(Q)tests/package/run

test-trixie: ## from a bare Debian trixie to an attached qdisc, kernel included (RECORD=1)
	$(Q)tests/lab/bootstrap
	$(Q)$(call recorded,trixie.txt) tests/package/trixie

test-compilers: ## the BPF objects of every clang of trixie, on the oldest and the newest kernel
	$(Q)tests/lab/bootstrap
	$(Q)tests/compilers/run 6.17.13 $(NEWEST)

test-monitoring: ## the lab's figures through node_exporter and Prometheus; promtool on the rules
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)tests/monitoring/run --kernel $(KERNEL)

# Of real time, beside what starts and ends it.
soak: SECONDS = 600
soak: ## renames, deletions, loads and traffic at once for ten minutes (SECONDS=, SEED=)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all foreign
	$(Q)$(LAB) run --races --kernel $(KERNEL) --timeout $$(($(SECONDS) + 1200)) -- \
		env DUALPI2_SECONDS=$(SECONDS) DUALPI2_SEED=$(SEED) \
		python3 -m pytest -q -s -p no:cacheprovider --tb=short tests/qdisc/soak.py

fuzz: ## a libFuzzer target for each parser, in the build root (SECONDS=60 each)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) -j$$(nproc) FUZZ_SECONDS=$(SECONDS) fuzzers

demo: ## the default FIFO, then bpf_dualpi2, in the lab: a table and a picture
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)$(call recorded,demo.txt) tests/demo --kernel $(KERNEL)
	$(Q)$(if $(RECORD),cp .output/demo/delay.svg docs/)

screens: ## the tools at work on the demo's router: the screens in docs/
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)$(call recorded,screens.txt) $(LAB) run --shift 0 --kernel $(KERNEL) \
		--results .output/screens -- tests/traffic/screens.py
	$(Q)$(LAB) chroot -- $(LAB_O)/dualpi2-plot .output/screens/r1.jsonl -o .output/screens/watching.svg
	$(Q)$(if $(RECORD),cp .output/screens/watching.svg docs/)

compare: ## the same packets through sch_dualpi2 and bpf_dualpi2: a table
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)$(call recorded,compare.txt) tests/compare/run --kernel $(KERNEL)

bench: ## beside other qdiscs: a report (FULL=1: all of it, CELL=pair-40-10ms: that one)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all $(LAB_O)/tap
	$(Q)$(if $(FULL),,$(call recorded,bench$(if $(CELL),-$(CELL)).md)) \
		bench/run --kernel $(KERNEL) $(if $(CELL),--cell $(CELL),$(if $(FULL),--full)) \
		$(if $(RECORD)$(KEPT),$(if $(CELL),--lines bench/$(CELL).jsonl)) $(if $(KEPT),--kept)

bench-kernels: ## cells of the bench on one kernel of several series (CELL=prague, RECORD=1)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all $(LAB_O)/tap
	$(Q)$(call recorded,bench-kernels-$(CELL).md) bench/kernels --cell $(CELL)

# With RECORD=1 resumed by itself: what is in bench/home.jsonl is not measured again, and with
# KEPT=1 nothing else is.
bench-home: ## a home line beside other queues: hours; it says how many (CELL=ping, RECORD=1, KEPT=1)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)$(call recorded,bench-home.md) bench/home/run --kernel $(KERNEL) \
		$(if $(CELL),--cell $(CELL)) $(if $(RECORD)$(KEPT),--lines bench/home.jsonl) $(if $(KEPT),--kept)

# Resumed by itself: what is in bench/grid.jsonl is not measured again.
bench-grid: ## the whole bench once, for the maps in docs/ (10 hours, resumed; RECORD=1)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all $(LAB_O)/tap
	$(Q)bench/grid --kernel $(KERNEL)
	$(Q)$(call recorded,bench-grid.md) bench/gridtable.py
	$(Q)$(if $(RECORD),cp bench/report/map-sharing.svg bench/report/map-delay.svg docs/)

claims: ## the claims of papers, repeated: hours (PAPER=codel, RECORD=1)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all $(LAB_O)/tap
	$(Q)bench/claims/run --kernel $(KERNEL) $(if $(RECORD),--record) $(if $(PAPER),--paper $(PAPER))

model: ## what Prague gets beside Cubic, predicted and measured: a minute
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all $(LAB_O)/unit/_clib.so
	$(Q)$(call recorded,prague-model.md) $(LAB) chroot -- \
		env PYTHONPATH=$(LAB_O)/unit bench/model

bench-overload: ## what unresponsive floods leave to others, beside sch_dualpi2 (20 minutes)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)$(call recorded,overload.txt) $(LAB) run --shift 0 --with-native --kernel $(KERNEL) \
		--timeout 3600 -- python3 bench/guest/overload.py

bench-cost: ## instructions per packet, against a budget (PART=packets|gso|congestion|beyond, RECORD=1)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)$(if $(PART),,$(call recorded,cost$(ARCH:%=-%).md)) bench/cost/run --kernel $(KERNEL) \
		$(if $(PART),--part $(PART)) $(if $(RECORD),--record)

bench-lines: ## ns that a CPU waits for cache lines that another one writes to, on this machine (RECORD=1)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) $(LAB_O)/lines
	$(Q)$(call recorded,lines.md) $(LAB) chroot -- $(LAB_O)/lines

CHECKED_O := $(LAB_O)/aqm/$(DEFAULT_AQM).bpf.o $(LAB_O)/prague.bpf.o $(LAB_O)/opt_in.bpf.o
check-vmlinux: ## compare vmlinux.h with the BTF of a kernel (KERNEL=7.2.12)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)$(LAB) run --kernel $(KERNEL) -- sh -ec 'for object in $(CHECKED_O); do \
		python3 tests/qdisc/check_vmlinux.py /sys/kernel/btf/vmlinux $$object; done'

# ---- housekeeping --------------------------------------------------------------

include tests/lint/Makefile.inc

clean: ## remove build products (the lab's roots stay in .cache/)
	rm -rf $(O)
	find . -maxdepth 1 -type l -lname '$(O)/*' -delete
