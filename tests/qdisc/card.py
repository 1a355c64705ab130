# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--check of a network card that says its speed: run in a guest that has one (tests/run)."""

from pathlib import Path

import pytest
from findings import findings, of_kind
from netns import Namespace, run


@pytest.fixture
def card():
    """Its name; it is up, and no cable is in it."""
    run("modprobe", "virtio_net")
    [name] = [path.name for path in Path("/sys/class/net").iterdir() if (path / "device").exists()]
    space = Namespace("carded")
    run("ip", "link", "set", name, "netns", space.name, "up")
    yield space, name
    space.ip(f"link set {name} netns 1")
    space.delete()


def test_bottleneck_may_be_elsewhere(card):
    told = of_kind(findings_of(card), "hint")
    assert told == ["without --rate packets wait here only at the 1gbit of the device: if "
                    "something behind it is slower, give --rate"]


def test_rate_above_that_of_the_card(card):
    assert of_kind(findings_of(card, "--rate", "2gbit"), "hint") == [
        "rate 2gbit: the device itself has 1gbit, so nothing waits for the rate: give less"]
    assert not of_kind(findings_of(card, "--rate", "900mbit"), "hint")


def findings_of(card, *arguments):
    space, name = card
    return findings(space, name, *arguments)
