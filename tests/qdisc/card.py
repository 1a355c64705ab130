# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--check of a network card that says its speed: run in a guest that has one (tests/run)."""

from pathlib import Path

import pytest
from conftest import Qdisc
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


def test_its_speed_tells_what_is_split(card, registered):
    space, name = card
    assert "a device made for it will split GSO packets of more than 31250 bytes" in of_kind(
        findings_of(card, "--auto-split-gso"), "ok")
    qdisc = Qdisc(space, name)
    qdisc.load("--auto-split-gso")
    assert qdisc.stats()["options"]["split-gso-above"] == 31250
    qdisc.load("--rate", "100mbit")
    assert qdisc.stats()["options"]["split-gso-above"] == 3125
    qdisc.load("--rate", 0)
    assert qdisc.stats()["options"]["split-gso-above"] == 31250
    qdisc.load("--unload")


def findings_of(card, *arguments):
    space, name = card
    return findings(space, name, *arguments)
