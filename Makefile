# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#	make demo     see it work: a 40 Mbit/s bottleneck in a virtual machine
#	make test     all tests            (KERNEL=6.17.13 boots another kernel,
#	                                    NATIVE=1 uses the running one)
#	make          build with this machine's own toolchain
#	make test-kernels, make test-long    the same on seven kernels, and for longer
#	make install  DESTDIR= PREFIX=/usr/local, make uninstall
#	make help     all targets
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
CFLAGS ?= -O2 -g
V ?= 0
KERNEL ?= 7.2.12
SECONDS ?= 60
SEED ?= 1

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
# No path of this machine gets into the programs.
PREFIX_MAP := -ffile-prefix-map=$(CURDIR)=.
BPF_CFLAGS := $(PREFIX_MAP) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror \
	-I. -Iinclude -Ibpf -I/usr/include/$(shell uname -m)-linux-gnu
ALL_CFLAGS := $(CPPFLAGS) $(CFLAGS) $(PREFIX_MAP) -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE \
	-DDUALPI2_VERSION='"$(VERSION)"' -I. -Iinclude -Iuser -I$(O)
LDLIBS := -lbpf -lmnl -lelf -lz

# What only dualpi2-stats has, and the library for it.
STATS := $(wildcard user/watch/*.c)
STATS_O := $(STATS:%.c=$(O)/%.o)
STATS_LDLIBS := -lncursesw -ltinfo
SHARED := $(filter-out $(STATS),$(wildcard user/*/*.c))
SHARED_O := $(SHARED:%.c=$(O)/%.o)
PROGRAMS := $(O)/dualpi2-load $(O)/dualpi2-stats
PLOT := $(O)/dualpi2-plot
MAN8 := $(PROGRAMS:=.8)
MAN1 := $(PLOT).1
MAN7 := $(O)/bpf_dualpi2.7
MAN5 := $(O)/dualpi2.conf.5

.DELETE_ON_ERROR:
.PHONY: all foreign test test-kernels test-long test-deb test-monitoring unit-tests fuzz soak demo \
	compare bench bench-cost bench-overload check-vmlinux install installed uninstall deb clean help
all: $(PROGRAMS) $(PLOT) $(MAN1) $(MAN8) $(MAN7) $(MAN5)
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

$(O)/user/%.o: user/%.c $(wildcard user/*/*.h include/*.h) $(O)/dualpi2.skel.h Makefile
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(O)/dualpi2-load: $(O)/user/loader.o $(SHARED_O)
$(O)/dualpi2-stats: $(O)/user/stats.o $(STATS_O) $(SHARED_O)
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

$(MAN5): man/dualpi2.conf.5.in Makefile
	$(say) MAN $@
	$(Q)mkdir -p $(O)
	$(Q)sed -e 's/@VERSION@/$(VERSION)/' $< > $@

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

# $(call install_filled,FROM,TO,MORE): a file that names places, which are known only now.
define install_filled
	install -d $(DESTDIR)$(dir $2)
	sed $3 -e 's|@SBINDIR@|$(SBINDIR)|' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|' \
		-e 's|@TEXTFILEDIR@|$(TEXTFILEDIR)|' \
		-e '/^@SANDBOX@$$/{r packaging/systemd/sandbox.inc' -e 'd}' $1 > $(DESTDIR)$2
	chmod 644 $(DESTDIR)$2
endef

EXAMPLES := packaging/example.conf packaging/grafana/dualpi2.json packaging/prometheus/dualpi2-rules.yml

# One unit for each direction of an interface.
SENDS := -e 's|@NAME@|dualpi2|' -e 's|@DIRECTION@|sends|' -e 's|@OPTION@||' \
	-e 's|@CONFDIR@|$(SYSCONFDIR)/dualpi2|'
RECEIVES := -e 's|@NAME@|dualpi2-ingress|' -e 's|@DIRECTION@|receives|' \
	-e 's|@OPTION@|--ingress |' -e 's|@CONFDIR@|$(SYSCONFDIR)/dualpi2/ingress|'

install: all ## install it: programs, man pages, completion, systemd units, dashboard, alerts
	install -D -t $(DESTDIR)$(SBINDIR) $(PROGRAMS)
	install -D -t $(DESTDIR)$(BINDIR) $(PLOT)
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man1 $(MAN1)
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man8 $(MAN8)
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man7 $(MAN7)
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man5 $(MAN5)
	install -D -m 644 completion/dualpi2.bash $(DESTDIR)$(BASHDIR)/dualpi2-load
	ln -sf dualpi2-load $(DESTDIR)$(BASHDIR)/dualpi2-stats
	install -D -m 644 -t $(DESTDIR)$(ZSHDIR) completion/_dualpi2
	$(call install_filled,packaging/systemd/dualpi2@.service.in,$(UNITDIR)/dualpi2@.service,$(SENDS))
	$(call install_filled,packaging/systemd/dualpi2@.service.in,$(UNITDIR)/dualpi2-ingress@.service,$(RECEIVES))
	$(call install_filled,packaging/systemd/dualpi2-metrics.service.in,$(UNITDIR)/dualpi2-metrics.service)
	install -D -m 644 -t $(DESTDIR)$(UNITDIR) packaging/systemd/dualpi2-metrics.timer
	$(call install_filled,packaging/90-dualpi2.rules.in,$(UDEVDIR)/rules.d/90-dualpi2.rules)
	install -D -m 644 -t $(DESTDIR)$(DOCDIR)/examples $(EXAMPLES)
	install -d $(DESTDIR)$(SYSCONFDIR)/dualpi2/ingress

uninstall: ## remove what `make install` with the same places has installed, but no options
	rm -f $(addprefix $(DESTDIR)$(SBINDIR)/,$(notdir $(PROGRAMS))) \
		$(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(PLOT))) \
		$(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(MAN1))) \
		$(addprefix $(DESTDIR)$(MANDIR)/man8/,$(notdir $(MAN8))) \
		$(addprefix $(DESTDIR)$(MANDIR)/man7/,$(notdir $(MAN7))) \
		$(addprefix $(DESTDIR)$(MANDIR)/man5/,$(notdir $(MAN5))) \
		$(addprefix $(DESTDIR)$(BASHDIR)/,dualpi2-load dualpi2-stats) \
		$(DESTDIR)$(ZSHDIR)/_dualpi2 $(DESTDIR)$(UDEVDIR)/rules.d/90-dualpi2.rules \
		$(addprefix $(DESTDIR)$(UNITDIR)/,dualpi2@.service dualpi2-ingress@.service \
			dualpi2-metrics.service dualpi2-metrics.timer) \
		$(addprefix $(DESTDIR)$(DOCDIR)/examples/,$(notdir $(EXAMPLES)))
	-rmdir --ignore-fail-on-non-empty $(DESTDIR)$(DOCDIR)/examples $(DESTDIR)$(DOCDIR)
	-rmdir --ignore-fail-on-non-empty $(DESTDIR)$(SYSCONFDIR)/dualpi2/ingress $(DESTDIR)$(SYSCONFDIR)/dualpi2

deb: ## a Debian package of this work tree, in .output/deb
	$(Q)tests/lab/bootstrap
	$(Q)$(LAB) chroot --package -- packaging/build-deb .output/deb
	$(Q)$(LAB) chroot --package -- sh -c 'lintian --allow-root --fail-on error,warning .output/deb/*.changes'

installed: all ## as a package has it, in $(O)/installed: for tests
	$(Q)$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(abspath $(O))/installed > $(O)/installed.log

# ---- tests and demo ------------------------------------------------------------

include tests/unit/Makefile.inc
include tests/fuzz/Makefile.inc

IN_ROOT := $(LAB) chroot -- make --no-print-directory O=$(LAB_O)

# All that needs no kernel of its own, with so many seconds for each fuzzer.
define TEST_SOURCE
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) -j$$(nproc) all foreign installed unit-tests lint
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
	$(Q)$(MAKE) --no-print-directory test-deb

test-deb: deb ## the package: reproducible, installed with apt, run in the lab, purged
	$(Q)tests/package/run

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
	$(Q)tests/demo --kernel $(KERNEL)

compare: ## the same packets through sch_dualpi2 and bpf_dualpi2: a table
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)tests/compare/run --kernel $(KERNEL)

bench: ## beside other qdiscs: a report (FULL=1: all of it, CELL=pair-40-10ms: that one)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all $(LAB_O)/tap
	$(Q)bench/run --kernel $(KERNEL) $(if $(CELL),--cell $(CELL),$(if $(FULL),--full))

bench-overload: ## what unresponsive floods leave to others, beside sch_dualpi2 (20 minutes)
	$(Q)tests/lab/bootstrap
	$(Q)$(IN_ROOT) all
	$(Q)$(LAB) run --shift 0 --with-native --kernel $(KERNEL) --timeout 3600 -- \
		python3 bench/guest/overload.py

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
