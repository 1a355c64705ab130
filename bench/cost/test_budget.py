# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The quick part of `make bench-cost`, for every run of the tests: an empty queue."""

import os

import budget
import pytest
from contenders import BASELINE, OURS
from guest import load_modules
from packets import empty
from senders import PACKETS

CASES = [(contender, packet) for contender in OURS for packet in PACKETS]


@pytest.fixture(scope="module")
def above_noqueue():
    """{contender: {packet: instructions}}"""
    load_modules()
    noqueue = empty(BASELINE)
    measured = {contender: empty(contender) for contender in OURS}
    return {contender: {packet: found[packet] - noqueue[packet] for packet in found}
            for contender, found in measured.items()}


@pytest.mark.parametrize("contender, packet", CASES, ids=[
    f"{'shaped' if contender.shaped else 'unshaped'}-{packet}" for contender, packet in CASES])
def test_budget(above_noqueue, contender, packet):
    kernel = os.uname().release
    recorded = budget.recorded(kernel, "packets")
    if not recorded:
        pytest.skip(f"no budget is recorded for {kernel}")
    case = budget.packet_case(contender.name, contender.shaped, packet, "empty")
    line = budget.excess(kernel, "packets", case, above_noqueue[contender][packet],
                         recorded.get(case))
    assert line is None, line
