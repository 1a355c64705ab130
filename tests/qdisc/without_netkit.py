# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--split-gso on a kernel without netkit devices: run in a guest of its own (tests/run)."""

import json

import pytest
from conftest import Qdisc, one_line
from findings import findings, of_kind

OWN_SEGS = 1000  # gso_max_segs of the interface before we come


@pytest.fixture
def qdisc(registered, box):
    box.ip(f"link set one gso_max_segs {OWN_SEGS}")
    qdisc = Qdisc(box, "one")
    yield qdisc
    if qdisc.is_attached():
        qdisc.load("--unload")


def gso_max_segs(qdisc):
    [link] = json.loads(qdisc.space.run("ip", "-j", "-d", "link", "show", qdisc.dev).stdout)
    return link["gso_max_segs"]


def test_this_is_such_a_kernel(box):
    done = box.run("ip", "link", "add", "nk0", "type", "netkit", check=False)
    assert done.returncode and "Unknown device type" in done.stderr


def test_check_tells(qdisc):
    found = findings(qdisc.space, qdisc.dev, "--rate", "40mbit")
    [told] = of_kind(found, "WARNING")
    assert "GSO packets cannot be split without CONFIG_NETKIT" in told
    assert gso_max_segs(qdisc) == OWN_SEGS


def test_local_senders_make_no_gso_packets(qdisc):
    done = qdisc.load("--rate", "40mbit")
    assert done.returncode == 0 and done.stderr == ""
    assert "without CONFIG_NETKIT" in done.stdout and "gso_max_segs 1" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert gso_max_segs(qdisc) == 1
    again = qdisc.load()
    assert again.stdout == "one: bpf_dualpi2 is attached already, nothing changed\n"
    qdisc.load("--unload")
    assert gso_max_segs(qdisc) == OWN_SEGS


def test_live_change(qdisc):
    qdisc.load("--no-split-gso")
    assert gso_max_segs(qdisc) == OWN_SEGS
    assert "gso_max_segs 1" in qdisc.load("--split-gso").stdout
    assert gso_max_segs(qdisc) == 1
    qdisc.load("--no-split-gso")
    assert gso_max_segs(qdisc) == OWN_SEGS


def test_local_senders_make_short_ones(qdisc):
    """As many full frames as take a quarter of a millisecond, and no more than before."""
    assert "gso_max_segs 20" in qdisc.load("--rate", "1gbit", "--auto-split-gso").stdout
    assert gso_max_segs(qdisc) == 31250 // 1514
    assert "gso_max_segs 2" in qdisc.load("--rate", "100mbit").stdout
    assert gso_max_segs(qdisc) == 2
    qdisc.load("--rate", "100gbit")
    assert gso_max_segs(qdisc) == OWN_SEGS
    qdisc.load("--split-gso")
    assert gso_max_segs(qdisc) == 1
    qdisc.load("--unload")
    assert gso_max_segs(qdisc) == OWN_SEGS


def test_what_somebody_has_set_since_stays(qdisc):
    qdisc.load()
    qdisc.space.ip("link set one gso_max_segs 77")
    qdisc.load("--unload")
    assert gso_max_segs(qdisc) == 77


def test_refused_attach_puts_it_back(qdisc):
    """The qdisc comes last: no room for it."""
    qdisc.space.ip("link add wide numtxqueues 300 gso_max_segs 500 type dummy")
    wide = Qdisc(qdisc.space, "wide")
    one_line(wide.load("--mq", check=False), 1)
    assert gso_max_segs(wide) == 500
