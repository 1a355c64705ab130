# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dualpi2-load --check: what stands in the way, made real where this guest can have it. Other
guests have the rest: card.py, locked_down.py, without_bpf_qdiscs.py, without_netkit.py; rights
and the BPF file system are in test_privilege.py, root qdiscs in test_interfaces.py."""

import json
from pathlib import Path

import pytest
from conftest import LOADER, PIN_DIR, one_line, root, written
from findings import findings, of_kind
from netns import dummy, run
from terminal import Terminal

pytestmark = pytest.mark.oldest_kernel

JIT = Path("/proc/sys/net/core/bpf_jit_enable")


def links(space):
    return json.loads(space.run("ip", "-j", "link", "show").stdout)


def test_nothing_is_missing_and_nothing_changes(box):
    before = links(box)
    found = findings(box, "one", "--rate", "40mbit")
    assert {kind for kind, _ in found} == {"ok"}, found
    assert ("ok", "packets wait here unless what comes behind has less than 40mbit") in found
    assert links(box) == before and not PIN_DIR.exists()


def test_host_alone(box):
    found = findings(box)
    assert len(found) == 7 and {kind for kind, _ in found} == {"ok"}


def test_compiler_is_off(box):
    """Seen also where the sysctl is not: in a network namespace of its own."""
    with written(JIT, "0"):
        [told] = of_kind(findings(box), "MISSING")
        assert "JIT" in told and "`sysctl net.core.bpf_jit_enable=1`" in told
        line = one_line(box.run(LOADER, "one", check=False), 1)
        assert line == f"dualpi2-load: {told}\n"
    assert not PIN_DIR.exists() and root(box, "one")["kind"] != "bpf_dualpi2"


@pytest.fixture
def without_tcx(tmp_path):
    """As a kernel without CONFIG_NET_XGRESS: its types are not among the kernel's."""
    types = Path("/sys/kernel/btf/vmlinux")
    others = tmp_path / "btf"
    others.write_bytes(types.read_bytes().replace(b"\0tcx_link\0", b"\0xct_link\0"))
    run("mount", "--bind", others, types)
    yield
    run("umount", types)


def test_no_tcx(box, without_tcx):
    [told] = of_kind(findings(box), "MISSING")
    assert told.startswith("BPF programs at tcx: ") and "CONFIG_NET_XGRESS=y" in told


def test_bpffs_that_is_not_there_yet(box):
    """It will be mounted; to look is not to mount."""
    run("umount", "/sys/fs/bpf")
    try:
        assert not of_kind(findings(box), "MISSING")
        assert run("mountpoint", "-q", "/sys/fs/bpf", check=False).returncode
    finally:
        run("mount", "-t", "bpf", "bpf", "/sys/fs/bpf")


def test_what_cannot_be_told_without_sysfs(box):
    """Only what is not there is missing."""
    done = box.run("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh",
                   LOADER, "--check", check=False)
    found = [(line[:9].strip(), line[9:]) for line in done.stdout.splitlines()]
    assert [text.split(":")[0] for text in of_kind(found, "MISSING")] == [
        "kernel type information (BTF)"]
    assert of_kind(found, "hint") == [f"{what}: cannot be told without type information"
                                      for what in ("qdiscs in BPF", "BPF programs at tcx")]
    assert (done.returncode, done.stderr) == (1, "")


def test_no_such_interface(box):
    assert of_kind(findings(box, "nine"), "MISSING") == ["interface nine: see `ip link`"]


def test_qdisc_that_would_be_replaced(box):
    box.run("tc", "qdisc", "add", "dev", "one", "root", "fq_codel")
    [told] = of_kind(findings(box, "one"), "MISSING")
    assert "fq_codel" in told and "--replace takes its place" in told
    assert ("ok", "its root qdisc, fq_codel, can be put back") in findings(box, "one", "--replace")
    assert root(box, "one")["kind"] == "fq_codel"


def test_virtual_device_has_no_speed(box):
    [told] = of_kind(findings(box, "one"), "hint")
    assert told.startswith("a dummy device has no speed of its own: without --rate")


def test_interface_that_is_down(box):
    box.ip("link set one down")
    [told] = of_kind(findings(box, "one", "--rate", "1mbit"), "hint")
    assert told == "one is down or not connected: `ip link set one up`"


def test_rate_in_force_counts(space):
    """For an interface that has it, what is told is about what it has."""
    space.run(LOADER, "one", "--rate", "30mbit")
    found = findings(space, "one")
    assert ("ok", "its root qdisc is bpf_dualpi2 already") in found
    assert ("ok", "packets wait here unless what comes behind has less than 30mbit") in found


def test_transmit_queues(registered, box):
    dummy(box, "wide", "numtxqueues", 4)
    hint = "its 4 transmit queues share one instance: --mq gives each its own"
    assert ("hint", hint) in findings(box, "wide")
    assert ("ok", "its 4 transmit queues share one instance, and so the rate") in \
        findings(box, "wide", "--rate", "1mbit")
    own = ("ok", "each of its 4 transmit queues has an instance of its own")
    assert own in findings(box, "wide", "--mq")
    [told] = of_kind(findings(box, "one", "--mq"), "MISSING")
    assert "has one transmit queue" in told
    box.run(LOADER, "wide", "--mq")
    assert own in findings(box, "wide")
    box.run(LOADER, "wide", "--unload")


def test_offload(box):
    assert ("ok", "a device made for it will split GSO packets") in findings(box, "one")
    box.ip("link add tunnel type ipip local 192.0.2.1 remote 192.0.2.2")
    box.up("tunnel")
    [told] = of_kind(findings(box, "tunnel"), "WARNING")
    assert "GSO packets cannot be split" in told and "gso_max_segs 1" in told
    assert not of_kind(findings(box, "tunnel", "--no-split-gso"), "WARNING")


def test_config(box, tmp_path):
    path = tmp_path / "one.conf"
    path.write_text("rate 20mbit\nlimit 0\n")
    assert box.run(LOADER, "--check", "one", "--config", path, check=False).returncode == 2
    path.write_text("rate 20mbit\n")
    assert ("ok", "packets wait here unless what comes behind has less than 20mbit") in \
        findings(box, "one", "--config", path)


def test_terminal(box):
    """Lines that are too long for it go on below their text, with the next word."""
    told = box.run(LOADER, "--check", "one").stdout
    with Terminal(box.argv(LOADER, "--check", "one"), columns=40) as terminal:
        assert terminal.end() == 0
        shown = terminal.text
    assert shown.split() == told.split()
    assert shown.count("\n" + " " * len("hint     ")) > 3


@pytest.mark.parametrize("arguments", [["one"], ["one", "--ingress", "--rate", "5mbit"]])
def test_it_keeps_what_it_says(box, arguments):
    """No obstacle found: then it attaches."""
    assert not of_kind(findings(box, *arguments), "MISSING")
    box.run(LOADER, *arguments)
    box.run(LOADER, "one", "--unload", *(["--ingress"] if "--ingress" in arguments else []))
