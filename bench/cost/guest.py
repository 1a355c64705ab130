# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What all measurements in the guest share: devices, a quiet guest, counted instructions.

The guest's clock is its instruction counter (`lab run --shift 0`): one virtual nanosecond
is one instruction, of whatever kind. Caches and memory cost nothing here: this compares
the work that programs do, not the time that a certain machine takes for it.
"""

import os
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / name) for name in ("tests", "tests/compare", "tests/qdisc")]
from netns import run, wait_until  # noqa: E402

BIN = Path(os.environ.get("DUALPI2_BIN", ".output")).resolve()
LOADER = BIN / "dualpi2-load"
STATS = BIN / "dualpi2-stats"
PRAGUE = BIN / "tcp-prague"
MARKER = BIN / "dualpi2-mark-values"
MODULES = Path("/lab/modules")  # with --with-native
SO_SNDBUFFORCE = 32  # include/uapi/asm-generic/socket.h

# Devices under test: packets vanish in a sink, and a gate holds them back (gate.c).
SINK, GATE = "sink0", "gate0"
# The other end of each device under test: nobody is there, and nobody is asked for.
ADDRESS, PEER = "10.9.0.1", "10.9.0.2"
ADDRESS6, PEER6 = "fd00::1", "fd00::2"
PEER_MAC = "02:00:00:00:00:02"


def has_native():
    """Are sch_dualpi2 and the gate there? They are built together."""
    return (MODULES / "sch_dualpi2.ko").exists()


def load_modules():
    run("modprobe", "-a", "pktgen", "dummy")
    if has_native():
        for module in ("sch_dualpi2", "gate"):
            run("insmod", MODULES / f"{module}.ko")


def busy_ticks():
    """Time that the CPU was not idle, in 10 ms (proc_stat(5))."""
    user, nice, system, _idle, _iowait, irq, softirq = map(
        int, Path("/proc/stat").read_text().split()[1:8])
    return user + nice + system + irq + softirq


def be_quiet():
    """Wait until nothing runs here: what a command left behind (RCU callbacks, work
    queues) would be counted as well. Idle time costs nothing."""
    def is_quiet():
        before = busy_ticks()
        time.sleep(2)
        return busy_ticks() == before

    wait_until(is_quiet, "the guest is quiet", 120, step=0)


def add_device(name, kind):
    """A device that takes packets and throws them away; up, with an address, without ARP. `kind`:
    with more words for `ip link add`, if it takes some."""
    kind, *words = kind.split()
    run("ip", "link", "add", name, *words, "type", kind)
    Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
    run("ip", "addr", "add", f"{ADDRESS}/24", "dev", name)
    run("ip", "link", "set", name, "up", "arp", "off")
    run("ip", "neigh", "replace", PEER, "lladdr", PEER_MAC, "dev", name)


def delete_device(name):
    run("ip", "link", "delete", name)
