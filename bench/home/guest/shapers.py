# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a home router can do about the queues of its line: shape both ways, a little below the
line's rates, so that its own queues fill and not the modem's and the provider's.

All of them count a frame as DOCSIS does.
"""

import contenders
from contenders import BIN, load_module
from line import WAN

IFB = "ifb-wan"
# As sqm-scripts' layer_cake.qos does (defaults.sh): `ingress` is what its documentation adds for
# the incoming direction.
CAKE_EGRESS = ("diffserv3", "nat", "docsis")
CAKE_INGRESS = ("besteffort", "nat", "wash", "ingress", "docsis")
HTB_DOCSIS = ("overhead", 4, "mpu", 64)


class OnCable:
    """A contender below HTB, which counts the bytes of the cable here."""

    def tc_class(self, verb, rate):
        self.tc("class", verb, "parent", "1:", "classid", contenders.HTB_CLASS, "htb",
                "rate", rate, "quantum", 1514, *HTB_DOCSIS)


class NativeDualpi2(OnCable, contenders.NativeDualpi2):
    pass


class FqCodel(OnCable, contenders.FqCodel):
    pass


def redirect(router):
    """What arrives goes through an ifb first."""
    for module in ("ifb", "sch_ingress", "cls_matchall", "act_mirred"):
        load_module(module)
    router.ip(f"link add {IFB} type ifb")
    router.up_without_ipv6(IFB)
    router.run("tc", "qdisc", "add", "dev", WAN, "handle", "ffff:", "ingress")
    router.run("tc", "filter", "add", "dev", WAN, "parent", "ffff:", "matchall",
               "action", "mirred", "egress", "redirect", "dev", IFB)


def through_ifb(make, egress=(), ingress=()):
    """A contender of bench/guest for each direction. `egress`, `ingress`: their own options."""
    def attach(router, options, up, down):
        redirect(router)
        make(router, WAN, [*egress, *options]).attach(up)
        make(router, IFB, [*ingress, *options]).attach(down)
    return attach


def bpf_dualpi2(router, options, up, down):
    """It makes its ifb itself."""
    for direction, rate in (("--egress", up), ("--ingress", down)):
        router.run(BIN / "dualpi2-load", WAN, direction, "--rate", rate, "--docsis", *options)


def none(_router, _options, _up, _down):
    """The FIFOs of the line."""


SHAPERS = {
    "bpf_dualpi2": bpf_dualpi2,
    "htb+dualpi2": through_ifb(NativeDualpi2),
    "cake": through_ifb(contenders.Cake, CAKE_EGRESS, CAKE_INGRESS),
    "htb+fq_codel": through_ifb(FqCodel),
    "none": none,
}


def shape(router, contender, options, up_kbit, down_kbit):
    """MissingError if this kernel does not have it."""
    SHAPERS[contender](router, options, f"{up_kbit}kbit", f"{down_kbit}kbit")
