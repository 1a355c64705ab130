# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The AQM `fixed`: the coupling alone, with a p' that is set (RFC 9332, 2.1 and A.1)."""

import pytest
from frames import CE, ECT_0, ECT_1, NOT_ECT
from held import COUNT, NO_STEP, ce_count, fits, flood

ALSO_REGISTERED = ("fixed",)

@pytest.mark.parametrize("percent, k", [(25, 2), (10, 2), (10, 4)])
def test_each_kind_of_packet_gets_what_p_means_to_it(cable, percent, k):
    prob = percent / 100
    cable.load("--aqm", "fixed", "--fixed-prob", f"{percent}%", "--coupling-factor", k,
               "--rate", "1mbit", *NO_STEP)
    arrived, _ = flood(cable, ECT_1)
    assert fits(ce_count(arrived), k * prob) and len(arrived) == COUNT
    arrived, _ = flood(cable, ECT_0)
    assert fits(ce_count(arrived), prob**2) and len(arrived) == COUNT
    arrived, _ = flood(cable, NOT_ECT)
    assert fits(COUNT - len(arrived), prob**2)
    stats = cable.qdisc.stats()
    assert stats["prob"] == pytest.approx(prob)
    assert stats["options"]["fixed-prob"] == pytest.approx(prob)


def test_a_new_p_is_in_force_at_once(cable):
    cable.load("--aqm", "fixed", "--fixed-prob", "0", "--rate", "1mbit", *NO_STEP)
    arrived, _ = flood(cable, ECT_1)
    assert ce_count(arrived) == 0
    cable.load("--fixed-prob", "40%")
    arrived, change = flood(cable, ECT_1)
    assert fits(ce_count(arrived), 0.8)
    assert change["l-queue"]["mark-coupled"] == ce_count(arrived)
    assert CE in {packet.ecn for packet in arrived}
