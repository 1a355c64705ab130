# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What an idle link costs; and what each program takes while packets flow."""

import json
import re
import time
from pathlib import Path

from contenders import OURS, attached, live_instances
from guest import MARKER, SINK, STATS, add_device, delete_device, run, wait_until
from senders import PACKETS, pktgen

INSTANCES = 8
IDLE_SECONDS = 60
PACKET_COUNT = 1000
TRACING = Path("/sys/kernel/tracing")
TIMER_EVENT = TRACING / "events/timer/hrtimer_expire_entry/enable"
OURS_BEGIN = ("dualpi2_", "mark_values")  # names of programs
# The kernel functions behind a bpf_timer and bpf_qdisc_watchdog_schedule().
TIMERS = ("bpf_timer_cb", "qdisc_watchdog")


def updates():
    """PI updates of all instances."""
    return sum(shown["updates"] for shown in json.loads(run(STATS, "--json").stdout))


def programs():
    """{program: (runs, instructions in all of them)} of ours (kernel.bpf_stats_enabled)."""
    shown = json.loads(run("bpftool", "-j", "prog", "show").stdout)
    return {program["name"]: (program["run_cnt"], program["run_time_ns"]) for program in shown
            if program.get("name", "").startswith(OURS_BEGIN) and "run_cnt" in program}


def program_runs():
    return sum(runs for runs, _ in programs().values())


def timers_expired(action):
    """How often a timer of ours woke the CPU up during an action."""
    (TRACING / "trace").write_text("")
    TIMER_EVENT.write_text("1")
    action()
    TIMER_EVENT.write_text("0")
    expired = re.findall(r"function=(\w+)", (TRACING / "trace").read_text())
    return sum(expired.count(name) for name in TIMERS)


def counted(action):
    """What happens during an action. (dualpi2-stats runs a program, too: it asks outside.)"""
    updates_before, runs_before = updates(), program_runs()
    expired = timers_expired(action)
    runs = program_runs() - runs_before
    return {"timers expired": expired, "program runs": runs,
            "PI updates": updates() - updates_before}


def send(ipv6=False):
    for packet in PACKETS:
        pktgen(SINK, packet, PACKET_COUNT, ipv6)


def is_asleep():
    before = updates()
    time.sleep(1)
    return updates() == before


def by_program(ipv6=False):
    """{program: runs a packet, instructions a run}. Reading the clock for this is counted,
    too, some 50 of each."""
    before = programs()
    send(ipv6)
    sent = len(PACKETS) * PACKET_COUNT
    found = {}
    for name, (runs, took) in programs().items():
        runs_before, took_before = before.get(name, (0, 0))
        more, longer = runs - runs_before, took - took_before
        if more >= sent:
            found[name] = {"runs a packet": more / sent, "instructions a run": longer / more}
    return found


def by_marker():
    """The same of dualpi2-mark-values, which has nothing to do with IPv4."""
    add_device(SINK, "dummy")
    run(MARKER, SINK)
    found = by_program(ipv6=True)
    run(MARKER, SINK, "--unload")
    delete_device(SINK)
    return found


def measure():
    """What woke up while packets flowed and afterwards, with several instances live."""
    run("sysctl", "-q", "kernel.bpf_stats_enabled=1")
    live_instances(INSTANCES)
    with attached(OURS[1], SINK, "dummy"):
        busy = counted(send)
        found = by_program()
        wait_until(is_asleep, "the timer sleeps")
        asleep = counted(lambda: time.sleep(IDLE_SECONDS))
    found |= by_marker()
    run("sysctl", "-q", "kernel.bpf_stats_enabled=0")
    assert all(busy.values()), f"something is not counted: {busy}"
    return {"instances": INSTANCES, "programs": found, "packets": len(PACKETS) * PACKET_COUNT,
            "busy": busy, "idle seconds": IDLE_SECONDS, "idle": asleep}
