# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What `tcp-prague status` tells a monitoring system."""

import re

import pytest
from conftest import BIN, one_line, pinned_program
from prague_pair import TOOL, UPLOAD, needs_accecn

pytestmark = needs_accecn


def metrics(pair):
    """{(metric, mode): value}; mode: None where it has none."""
    text = pair.tool("status", "--openmetrics").stdout
    assert text.endswith("\n# EOF\n")
    samples = re.findall(r'^(\w+)(?:{mode="([\w-]+)"})? (\S+)$', text, re.M)
    assert len(samples) + text.count("\n# ") + 1 == text.count("\n")
    return {(metric.removeprefix("tcp_prague_"), mode or None): float(value)
            for metric, mode, value in samples}


def test_metrics_are_sums_over_sockets(pair):
    """Over none before, and over three that a queue marks."""
    pair.accept()
    nothing = metrics(pair)
    assert set(nothing.values()) == {0} and ("alpha", None) not in nothing
    pair.tool("on", "--netns", "left")
    pair.remember("10.7.0.0", 1)
    pair.left.run(BIN / "dualpi2-load", "s0", "--rate", "10mbit")
    children = [pair.send(client=UPLOAD) for _ in range(3)]
    pair.upload(children, 1_000_000)
    pair.wait_for_mode("prague")
    pair.left.run(BIN / "dualpi2-load", "s0", "--unload")
    sockets, shown = pair.sockets(), metrics(pair)
    assert shown["sockets", "prague"] == len(sockets) == 3
    assert sum(value for (metric, _), value in shown.items() if metric == "sockets") == 3
    ce, delivered = (sum(one[key] for one in sockets) for key in ("delivered-ce", "delivered"))
    assert ce and shown["ce_share", None] == pytest.approx(ce / delivered, abs=1e-5)
    alphas = sum(one["alpha"] for one in sockets)
    assert shown["alpha", None] == pytest.approx(alphas / 3, abs=1e-4)
    assert shown["classic_destinations", None] == 1


def test_maps_that_cannot_be_looked_at(pair):
    """They are not none for that."""
    line = one_line(pair.tool("run", "--", "strace", "-o", "/dev/null",
                              "--inject=readlink:error=EIO", TOOL, "status", check=False), 1)
    assert "cannot look at the BPF maps of this host: Input/output error" in line


def test_a_strangers_iterator_is_not_ours(pair):
    """Whatever its name."""
    with pinned_program("foreign_report"):
        pair.begin()
