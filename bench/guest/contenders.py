# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The qdiscs that the bench compares, each behind a limit of the rate on the router's port.

All of them with their defaults, unless a cell gives options.
"""

import json
import os
import struct
from pathlib import Path

from netns import run
from rtnetlink import Qdiscs, attribute

BIN = Path(os.environ.get("DUALPI2_BIN", ".output")).resolve()
NATIVE_MODULE = Path("/lab/modules/sch_dualpi2.ko")
HTB_CLASS = "1:1"
TCA_DUALPI2_SPLIT_GSO = 15


class MissingError(Exception):
    """A contender is not to be had here; the text says why."""


def load_module(name):
    done = run("modprobe", name, check=False)
    if done.returncode:
        raise MissingError(f"the kernel has no {name}: {done.stderr.strip()}")


class Contender:
    def __init__(self, space, dev, options):
        self.space, self.dev, self.options = space, dev, options

    def attach(self, rate):
        raise NotImplementedError

    def change_rate(self, rate):
        raise NotImplementedError

    def convictions(self):
        """How often a guard took a flow out of L; None where there is no guard."""

    def queue_packets(self):
        """What each transmit queue has sent; None where all of them have one qdisc."""

    def tc(self, what, verb, *words):
        self.space.run("tc", what, verb, "dev", self.dev, *words)


class BpfDualpi2(Contender):
    """Shapes by itself."""

    aqm = "pi2"

    def attach(self, rate):
        self.load(rate, *self.options)

    def change_rate(self, rate):
        self.load(rate)

    def convictions(self):
        if "--guard" not in self.options:
            return None
        return self.stats()[0]["guard"]["convictions"]

    def stats(self, *options):
        return json.loads(self.space.run(BIN / "dualpi2-stats", self.dev, "--json",
                                         *options).stdout)

    def load(self, rate, *options):
        self.space.run(BIN / "dualpi2-load", self.dev, "--aqm", self.aqm, "--rate", rate, *options)


class SharedLink(BpfDualpi2):
    """One rate for all transmit queues of the port."""

    def load(self, rate, *options):
        super().load(rate, "--mq", *options)

    def queue_packets(self):
        return [queue["packets"] for queue in self.stats("--queues")[1:]]


class CurvyRed(BpfDualpi2):
    aqm = "curvy-red"


class Codel(BpfDualpi2):
    aqm = "codel"


class Vdq(BpfDualpi2):
    aqm = "vdq"


class Cake(Contender):
    """Shapes by itself."""

    def attach(self, rate):
        load_module("sch_cake")
        self.tc("qdisc", "add", "root", "cake", "bandwidth", rate, *self.options)

    def change_rate(self, rate):
        self.tc("qdisc", "change", "root", "cake", "bandwidth", rate)


class UnderHtb(Contender):
    """A qdisc below an HTB class with the rate. The class's `quantum` has no effect, as
    there is no other, but keeps the kernel from complaining about its default."""

    kind = None

    def tc_class(self, verb, rate):
        self.tc("class", verb, "parent", "1:", "classid", HTB_CLASS, "htb", "rate", rate,
                "quantum", 1514)

    def attach(self, rate):
        load_module("sch_htb")
        self.load_child()
        self.tc("qdisc", "add", "root", "handle", "1:", "htb", "default", 1)
        self.tc_class("add", rate)
        self.add_child()

    def change_rate(self, rate):
        self.tc_class("change", rate)

    def load_child(self):
        load_module(f"sch_{self.kind}")

    def add_child(self):
        self.tc("qdisc", "add", "parent", HTB_CLASS, self.kind, *self.options)


class FqCodel(UnderHtb):
    kind = "fq_codel"


class FqPie(UnderHtb):
    kind = "fq_pie"


class NativeCodel(UnderHtb):
    kind = "codel"


class Pie(UnderHtb):
    kind = "pie"


class Red(UnderHtb):
    """It has no defaults. By the rule of tc-red(8): `max` is what takes MAX_SECONDS, `min` a third
    of it, `limit` eight times that, and `burst` is (2 min + max) / (3 avpkt)."""

    kind = "red"
    MAX_SECONDS = 0.03
    PACKET = 1000
    LEAST = 3 * 1514  # min is a frame at least

    def attach(self, rate):
        most = max(self.LEAST, int(float(rate.removesuffix("mbit")) * 1e6 / 8 * self.MAX_SECONDS))
        least = most // 3
        self.options = ["limit", 8 * most, "min", least, "max", most, "avpkt", self.PACKET,
                        "burst", (2 * least + most) // (3 * self.PACKET) + 1, "probability", 0.02,
                        "bandwidth", rate, *self.options]
        super().attach(rate)


class Pfifo(UnderHtb):
    """As long as the device's own FIFO: 1000 packets."""

    kind = "pfifo"

    def load_child(self):
        """Every kernel has it."""


class Own(UnderHtb):
    """One that the bench does not know. The first of the options is its kind, the others are for
    tc. Its module lies beside our programs, or is the kernel's."""

    def attach(self, rate):
        self.kind, *self.options = self.options
        super().attach(rate)

    def load_child(self):
        module = BIN / f"sch_{self.kind}.ko"
        if not module.exists():
            super().load_child()
        elif not Path(f"/sys/module/sch_{self.kind}").exists():
            run("insmod", module)


class NativeDualpi2(UnderHtb):
    """Through rtnetlink: Debian's tc does not know this kind."""

    kind = "dualpi2"
    OPTIONS = {
        "split_gso": attribute(TCA_DUALPI2_SPLIT_GSO, struct.pack("=B", 1)),
        "no_split_gso": attribute(TCA_DUALPI2_SPLIT_GSO, struct.pack("=B", 0)),
    }

    def load_child(self):
        if not NATIVE_MODULE.exists():
            raise MissingError("sch_dualpi2 could not be built for this kernel")
        if not Path("/sys/module/sch_dualpi2").exists():
            run("insmod", NATIVE_MODULE)

    def add_child(self):
        options = b"".join(self.OPTIONS[option] for option in self.options)
        with self.space.entered():
            Qdiscs().add(self.dev, self.kind, options, handle=0x20000, parent=0x10001)


CONTENDERS = {
    "bpf_dualpi2": BpfDualpi2,
    "bpf_dualpi2_mq": SharedLink,
    "curvy-red": CurvyRed,
    "codel": Codel,
    "vdq": Vdq,
    "htb+dualpi2": NativeDualpi2,
    "htb+fq_codel": FqCodel,
    "cake": Cake,
    "htb+fq_pie": FqPie,
    "htb+codel": NativeCodel,
    "htb+pie": Pie,
    "htb+red": Red,
    "htb+pfifo": Pfifo,
    "htb+own": Own,
}
