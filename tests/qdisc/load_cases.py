# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Commands of dualpi2-load that meet a fault (faults.py), with the one that takes each back, and
all that they may change."""

import contextlib
import json
import re

from conftest import LOADER, PIN_DIR, PUBLIC_PIN_DIR, Qdisc
from faults import calls_of, disturb
from frames import NOT_ECT, ipv4_frame, send
from subscriber_maps import one_subscriber

PIN_DIRS = PIN_DIR, PUBLIC_PIN_DIR
# `one` has several queues.
WIDE = ("ip link del one", "ip link add one numtxqueues 4 numrxqueues 4 type dummy",
        "sysctl -qw net.ipv6.conf.one.disable_ipv6=1", "ip link set one up")
# The command that meets a fault, the one that takes it back, and what goes before.
CASES = {
    "attach": ("--rate 40mbit", "--unload"),
    "in place of somebody's": ("--replace --no-split-gso", "--unload",
                               "tc qdisc replace dev one root handle 7: pfifo limit 77"),
    "change": ("--rate 50mbit --target 9ms --no-split-gso",
               "--rate 40mbit --target 15ms --split-gso", f"{LOADER} one --rate 40mbit"),
    "ingress": ("--ingress --rate 5mbit", "--ingress --unload"),
    "hosts": ("--per-host dst --hosts 16 --rate 40mbit", "--unload"),
    "hosts from now on": ("--per-host dst --hosts 16", "--per-host off --hosts 4096",
                          f"{LOADER} one --rate 40mbit"),
    "subscribers": (f"--per-host dst --subscribers {one_subscriber()} --rate 40mbit", "--unload"),
    "one rate for all queues": ("--mq --rate 40mbit", "--unload", *WIDE),
    "change of that rate": ("--rate 50mbit --limit 99", "--rate 40mbit --limit 10000", *WIDE,
                            f"{LOADER} one --mq --rate 40mbit"),
    "for all queues, ingress": ("--ingress --mq --rate 5mbit", "--ingress --unload", *WIDE),
    "in place of somebody's mq": ("--replace --mq --handle 7: --rate 40mbit", "--unload", *WIDE,
                                  "tc qdisc replace dev one root handle 7: mq"),
}


def shown(space, *command):
    return json.loads(space.run(*command).stdout)


def state(space):
    """All that the loader may change, by name: devices, their qdiscs and programs, pins."""
    links = {link["ifname"]: (sorted(link["flags"]), link["gso_max_segs"], link["gro_max_size"],
                              link.get("ifalias"))
             for link in shown(space, "ip", "-j", "-d", "link", "show")}
    # Others than we give are the kernel's choice.
    qdiscs = sorted((qdisc["dev"], qdisc["kind"], str(qdisc.get("options")),
                     qdisc["handle"] == "7:")
                    for qdisc in shown(space, "tc", "-j", "qdisc", "show"))
    [net] = shown(space, "bpftool", "-j", "net", "show")
    programs = sorted((program["devname"], program["kind"], program["name"])
                      for program in net["tc"])
    # A pin's name may have the number of an ifb, which is new each time.
    pins = sorted(re.sub(r"\d+$", "N", str(pin)) for directory in PIN_DIRS if directory.exists()
                  for pin in directory.rglob("*"))
    return {"links": links, "qdiscs": qdiscs, "programs": programs, "pins": pins,
            "parameters": parameters(space)}


def parameters(space):
    stats = shown(space, LOADER.with_name("dualpi2-stats"), "--json")
    return {entry["dev"]: (entry["options"], entry["tcx-attached"]) for entry in stats}


class Case:
    """One line of CASES in a namespace: there, back, and what is seen before and after."""

    def __init__(self, space, there, back, *before):
        self.space = space
        self.commands = {"there": there.split(), "back": back.split()}
        for command in before:
            space.run(*command.split())
        self.before = state(space)
        self.go("there")
        self.after = state(space)
        self.go("back")
        assert state(space) == self.before

    def argv(self, way):
        return [LOADER, "one", *self.commands[way]]

    def go(self, way, check=True):
        return self.space.run(*self.argv(way), check=check)

    def goal(self, way):
        return self.after if way == "there" else self.before

    def calls(self, *how):
        """Those of both ways (calls_of()); we are as before then."""
        return [(way, call) for way in ("there", "back")
                for call in calls_of(self.space, self.argv(way), *how)]

    def disturb(self, way, call, how):
        return disturb(self.space, self.argv(way), call, how)


@contextlib.contextmanager
def load_case(space, name):
    """One of CASES; what it leaves goes."""
    try:
        yield Case(space, *CASES[name])
    finally:
        for options in ([], ["--ingress"]):
            space.run(LOADER, "one", *options, "--unload", check=False)


@contextlib.contextmanager
def first_load_case(space, name):
    """One on a host without the registration: it makes it, and the last unload ends it."""
    with load_case(space, name) as case:
        yield case
    assert not PIN_DIR.exists(), "the last --unload leaves nothing behind"


def check_forwarding(space):
    """One packet goes through and is accounted for, whatever is at the root."""
    qdisc = Qdisc(space, "one")
    attached = "one" in parameters(space)
    before = qdisc.stats()["packets"] if attached else 0
    send(space, "one", ipv4_frame(1, NOT_ECT, 200))
    if attached:
        stats = qdisc.check_conservation()
        assert stats["packets"] == before + 1, stats
        assert stats["bypassed-tcx"] == 0, stats
