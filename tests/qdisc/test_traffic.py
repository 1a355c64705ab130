# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Real TCP through a 40 Mbit/s, 10 ms bottleneck: the product's promise in figures."""

import json
import os
from pathlib import Path

import bottleneck
import pytest


@pytest.fixture(scope="module")
def report():
    """The experiment, run once; its figures also go to the lab's results."""
    report = bottleneck.experiment("bpf_dualpi2", "40mbit", rtt_ms=10, seconds=12)
    results = Path("/results")
    if "DUALPI2_LAB" in os.environ and results.is_dir():
        (results / "traffic.json").write_text(json.dumps(report, indent=1))
    shown = {key: report[key] for key in ("kernel", "goodput_mbit", "ratio", "delay")}
    print(json.dumps(shown))
    return report


def test_link_is_used(report):
    assert report["goodput_mbit"] >= 37.5


def test_l4s_and_cubic_share_the_link(report):
    assert 0.6 <= report["ratio"] <= 1.7


def test_l_queue_is_short(report):
    """The highest is of one ping: whether a burst has come just before it is chance."""
    assert report["delay"]["l"]["mean_ms"] <= 0.8
    assert report["delay"]["l"]["p99_ms"] <= 2.0
    assert report["delay"]["l"]["max_ms"] <= 4.0


def test_c_queue_is_at_its_target(report):
    assert 12 <= report["delay"]["c"]["mean_ms"] <= 18


def test_l4s_is_marked_and_not_dropped(report):
    queue = report["counters"]["l-queue"]
    assert queue["mark-coupled"] > 0
    assert queue["packets-in"] == queue["packets-out"]


def test_cubic_is_dropped_by_pi2_alone(report):
    queue = report["counters"]["c-queue"]
    assert queue["drop-aqm"] > 0
    assert queue["packets-in"] == queue["packets-out"] + queue["drop-aqm"]


def test_both_ways_of_measuring_agree(report):
    """The qdisc's own delay of the L queue against the pings'."""
    own_ms = report["counters"]["l-queue"]["delay"]["mean"] / 1000
    assert own_ms == pytest.approx(report["delay"]["l"]["mean_ms"], abs=0.4)
