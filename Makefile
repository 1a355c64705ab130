# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#	make demo     see it work: a 40 Mbit/s bottleneck in a virtual machine
#	make test     all tests            (KERNEL=6.17.13 boots another kernel,
#	                                    NATIVE=1 uses the running one)
#	make          build with this machine's own toolchain
#	make test-kernels, make test-long    the same on seven kernels, and for longer
#	make install  DESTDIR= PREFIX=/usr/local
#	make help     all targets
#
# `make demo` and `make test` install what they need through apt, saying so first,
# and build in a root of their own under .cache/, so they need root.

O ?= .output
PREFIX ?= /usr/local
DESTDIR ?=
CLANG ?= clang
BPFTOOL ?= bpftool
CFLAGS ?= -O2 -g
V ?= 0
KERNEL ?= 7.2.12
SECONDS ?= 60

VERSION := 0.1.0

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

LAB := tests/lab/lab
LAB_O := .output/lab
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror \
	-I. -Iinclude -Ibpf -I/usr/include/$(shell uname -m)-linux-gnu
ALL_CFLAGS := $(CFLAGS) -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE \
	-DDUALPI2_VERSION='"$(VERSION)"' -I. -Iinclude -I$(O)
LDLIBS := -lbpf -lmnl -lelf -lz

MAINS := user/loader.c user/stats.c
# What only dualpi2-stats has, and the library for it.
STATS := $(wildcard user/watch*.c)
STATS_O := $(STATS:user/%.c=$(O)/%.o)
STATS_LDLIBS := -lncursesw -ltinfo
SHARED := $(filter-out $(MAINS) $(STATS),$(wildcard user/*.c))
SHARED_O := $(SHARED:user/%.c=$(O)/%.o)
PROGRAMS := $(O)/dualpi2-load $(O)/dualpi2-stats
PLOT := $(O)/dualpi2-plot
MAN8 := $(PROGRAMS:=.8)
MAN1 := $(PLOT).1
MAN7 := $(O)/bpf_dualpi2.7

.DELETE_ON_ERROR:
.PHONY: all foreign test test-kernels test-long test-monitoring unit-tests fuzz demo \
	compare bench bench-cost check-vmlinux install clean help
all: $(PROGRAMS) $(PLOT) $(MAN1) $(MAN8) $(MAN7)
	@:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

# ---- programs ----------------------------------------------------------------

$(O)/dualpi2.bpf.o: bpf/dualpi2.bpf.c $(wildcard bpf/*.h include/*.h) vmlinux.h Makefile
	$(say) BPF $@
	$(Q)mkdir -p $(O)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/dualpi2.skel.h: $(O)/dualpi2.bpf.o
	$(say) SKEL $@
	$(Q)echo '/* NOLINTBEGIN: not ours to check */' > $@
	$(Q)$(BPFTOOL) gen skeleton $< name dualpi2 >> $@
	$(Q)echo '/* NOLINTEND */' >> $@

# For the tests: a stranger's program, and the next version of ours.
foreign: $(O)/foreign.bpf.o
	$(Q)$(MAKE) --no-print-directory O=$(O)/next VERSION=$(VERSION)-next all
$(O)/foreign.bpf.o: tests/qdisc/foreign.bpf.c Makefile
	$(say) BPF $@
	$(Q)mkdir -p $(O)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/%.o: user/%.c $(wildcard user/*.h include/*.h) $(O)/dualpi2.skel.h Makefile
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(O)/dualpi2-load: $(O)/loader.o $(SHARED_O)
$(O)/dualpi2-stats: $(O)/stats.o $(STATS_O) $(SHARED_O)
$(O)/dualpi2-stats: LDLIBS := $(STATS_LDLIBS) $(LDLIBS)
$(PROGRAMS):
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(PLOT): user/dualpi2-plot Makefile
	$(say) GEN $@
	$(Q)mkdir -p $(O)
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< > $@
	$(Q)chmod +x $@

$(MAN1): man/dualpi2-plot.1.in Makefile
	$(say) MAN $@
	$(Q)mkdir -p $(O)
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< > $@

# A page is what man/ has for it, with the options that the program lists and the counters
# that its header has.
$(O)/%.8: man/%.8.in man/options.awk $(O)/% Makefile
	$(say) MAN $@
	$(Q)$(O)/$* --help | awk -f man/options.awk > $@.options
	$(Q)sed -e 's/@VERSION@/$(VERSION)/' -e '/^@OPTIONS@$$/{r $@.options' -e 'd}' $< > $@

$(MAN7): man/bpf_dualpi2.7.in man/counters.awk include/dualpi2.h Makefile
	$(say) MAN $@
	$(Q)mkdir -p $(O)
	$(Q)awk -f man/counters.awk include/dualpi2.h > $@.counters
	$(Q)sed -e 's/@VERSION@/$(VERSION)/' -e '/^@COUNTERS@$$/{r $@.counters' -e 'd}' $< > $@

# What the bench measures with, in the lab's guest.
$(O)/tap: $(wildcard bench/guest/*.[ch]) Makefile
	$(say) CC $@
	$(Q)mkdir -p $(O)
	$(Q)$(CC) $(ALL_CFLAGS) $(filter %.c,$^) -o $@

SHARE := $(DESTDIR)$(PREFIX)/share

install: all ## install programs, man pages, completion, dashboard and rules
	install -D -t $(DESTDIR)$(PREFIX)/sbin $(PROGRAMS)
	install -D -t $(DESTDIR)$(PREFIX)/bin $(PLOT)
	install -D -m 644 -t $(SHARE)/man/man1 $(MAN1)
	install -D -m 644 -t $(SHARE)/man/man8 $(MAN8)
	install -D -m 644 -t $(SHARE)/man/man7 $(MAN7)
	install -D -m 644 -t $(SHARE)/dualpi2/grafana packaging/grafana/dualpi2.json
	install -D -m 644 -t $(SHARE)/dualpi2/prometheus packaging/prometheus/*
	install -D -m 644 completion/dualpi2.bash $(SHARE)/bash-completion/completions/dualpi2-load
	ln -sf dualpi2-load $(SHARE)/bash-completion/completions/dualpi2-stats
	install -D -m 644 -t $(SHARE)/zsh/site-functions completion/_dualpi2

# ---- tests and demo ------------------------------------------------------------

include tests/unit/Makefile.inc
include tests/fuzz/Makefile.inc

IN_ROOT := $(LAB) chroot -- make --no-print-directory O=$(LAB_O)

# All that needs no kernel of its own, with so many seconds for each fuzzer.
define TEST_SOURCE
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) -j$$(nproc) all foreign unit-tests lint
	$(Q)$(IN_ROOT) -j$$(nproc) FUZZ_SECONDS=$(1) fuzzers
endef

test: ## source, then the qdisc tests in the lab (NATIVE=1: on this kernel)
ifeq ($(NATIVE),1)
	$(Q)$(MAKE) --no-print-directory all foreign unit-tests
	DUALPI2_BIN=$(O) python3 -m pytest -q -p no:cacheprovider -rfEs tests/qdisc
else
	$(call TEST_SOURCE,2)
	$(Q)tests/run --kernel $(KERNEL)
endif

test-kernels: ## one kernel of each series, oldest and newest in full (FULL=1: all in full)
	$(call TEST_SOURCE,$(SECONDS))
	$(Q)tests/run --kernels $(if $(FULL),--full)

test-long: ## as test, with the long version of tests that have one: hours
	$(call TEST_SOURCE,$(SECONDS))
	$(Q)tests/run --kernel $(KERNEL) --long

test-monitoring: ## the lab's figures through node_exporter and Prometheus; promtool on the rules
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)tests/monitoring/run --kernel $(KERNEL)

fuzz: ## a libFuzzer target for each parser, in the build root (SECONDS=60 each)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) -j$$(nproc) FUZZ_SECONDS=$(SECONDS) fuzzers

demo: ## the default FIFO, then bpf_dualpi2, in the lab: a table and a picture
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)tests/demo --kernel $(KERNEL)

compare: ## the same packets through sch_dualpi2 and bpf_dualpi2: a table
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)tests/compare/run --kernel $(KERNEL)

bench: ## beside other qdiscs: a report (FULL=1: all of it, CELL=pair-40-10ms: that one)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all $(LAB_O)/tap
	$(Q)bench/run --kernel $(KERNEL) $(if $(CELL),--cell $(CELL),$(if $(FULL),--full))

bench-cost: ## instructions a packet, against a budget (PART=packets|gso|beyond, RECORD=1)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)bench/cost/run --kernel $(KERNEL) $(if $(PART),--part $(PART)) $(if $(RECORD),--record)

check-vmlinux: ## compare vmlinux.h with the BTF of a kernel (KERNEL=7.2.12)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)$(LAB) run --kernel $(KERNEL) -- python3 tests/qdisc/check_vmlinux.py \
		/sys/kernel/btf/vmlinux $(LAB_O)/dualpi2.bpf.o

# ---- housekeeping --------------------------------------------------------------

include tests/lint/Makefile.inc

clean: ## remove build products (the lab's roots stay in .cache/)
	rm -rf $(O)
