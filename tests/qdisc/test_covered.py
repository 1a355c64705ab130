# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A file system over /sys/fs/bpf hides the pins there. Then nobody knows what is pinned: no tool
says that there is nothing, and none changes anything."""

import contextlib
import json
import os
from pathlib import Path

import pytest
from conftest import AQMS, BIN, LOADER, PIN_DIR, Qdisc, one_line, root
from findings import findings, of_kind
from netns import run
from prague_pair import UNPRIVILEGED, needs_accecn
from test_privilege import mode

pytestmark = [pytest.mark.newest_kernel,
              pytest.mark.skipif("DUALPI2_LAB" not in os.environ,
                                 reason="mounts over /sys/fs/bpf: lab only")]

STATS, PRAGUE, BASE_RTT = BIN / "dualpi2-stats", BIN / "tcp-prague", BIN / "tcp-base-rtt"
MARK_VALUES = BIN / "dualpi2-mark-values"
BPFFS = PIN_DIR.parent
BASE_RTT_PINS, PRAGUE_PINS = BPFFS / "tcp-base-rtt", BPFFS / "tcp-prague"
# File systems to mount over it, and where.
COVERS = {"bpf": BPFFS, "tmpfs": BPFFS, "sysfs": Path("/sys")}
# The rights of the systemd services.
RIGHTS = {"root": (),
          "service": ("setpriv", "--inh-caps=-all",
                      "--bounding-set=-all,+bpf,+net_admin,+perfmon")}


def mounts():
    """Those at /sys/fs/bpf or over it, the topmost last."""
    return [line.split()[1:3] for line in Path("/proc/self/mounts").read_text().splitlines()
            if line.split()[1] in ("/sys", "/sys/fs/bpf")]


@contextlib.contextmanager
def covered(kind):
    run("mount", "-t", kind, "second", COVERS[kind])
    before = mounts()
    try:
        yield
        assert mounts() == before, "nothing is mounted over it"
    finally:
        while mounts()[:-1] != before[:-1]:
            run("umount", mounts()[-1][0])
        run("umount", COVERS[kind])


@pytest.fixture(params=COVERS)
def cover(request):
    return request.param


@pytest.fixture(params=RIGHTS)
def rights(request):
    return RIGHTS[request.param]


def refuses(space, cover, *argv):
    """In one line, which names both file systems and the remedy."""
    line = one_line(space.run(*argv, check=False), 1)
    assert "bpf (bpf) is hidden below" in line and f"`umount {COVERS[cover]}`" in line, (argv, line)
    assert ("`mkdir -m 700" in line) == (cover == "bpf"), (argv, line)


def test_qdiscs(space, cover, rights):
    space.run(LOADER, "one")
    before = root(space, "one"), space.links()
    with covered(cover):
        for options in ("one", "two", "one --unload", "one --unload --if-attached"):
            refuses(space, cover, *rights, LOADER, *options.split())
        for options in ("", "one", "one --json", "--prometheus", "--events"):
            refuses(space, cover, *rights, STATS, *options.split())
        checked = space.run(*rights, LOADER, "--check", "one", check=False)
        assert checked.returncode == 1 and checked.stderr == ""
        assert "MISSING  BPF file system at /sys/fs/bpf: bpf (bpf) is hidden" in checked.stdout
    assert (root(space, "one"), space.links()) == before
    assert Qdisc(space, "one").stats()["tcx-attached"] is True


@needs_accecn
def test_prague(box, cover, rights):
    box.run(PRAGUE, "on", "--default")
    try:
        with covered(cover):
            for command in ("status", "status --json", "off", "off --if-on", "on --default"):
                refuses(box, cover, *rights, PRAGUE, *command.split())
            checked = box.run(*rights, PRAGUE, "check").stdout
            assert "WARNING  pins: bpf (bpf) is hidden" in checked
    finally:
        assert "fell back" in box.run(PRAGUE, "off").stdout
    with mode(BPFFS, 0o700):
        for who in (), UNPRIVILEGED:
            assert "WARNING  pins" not in box.run(*who, PRAGUE, "check").stdout


def test_base_rtts(box, rights):
    box.run(BASE_RTT, "add", "10.0.0.0/8", "30ms")
    try:
        with covered("bpf"):
            for command in ("list", "list --json", "off", "off --if-on", "add 10.0.0.0/8 20ms",
                            "del 10.0.0.0/8"):
                refuses(box, "bpf", *rights, BASE_RTT, *command.split())
        assert json.loads(box.run(BASE_RTT, "list", "--json").stdout)["base-rtts"]
    finally:
        box.run(BASE_RTT, "off")


@pytest.mark.skipif("vdq" not in AQMS, reason="built without VDQ=1")
def test_values(box, rights):
    box.run(MARK_VALUES, "one")
    try:
        with covered("bpf"):
            for option in ("", "--show", "--unload"):
                refuses(box, "bpf", *rights, MARK_VALUES, "one", *option.split())
    finally:
        box.run(MARK_VALUES, "one", "--unload")


def check_all_tools(space, *rights):
    """Each can attach and undo it."""
    for _ in range(2):
        space.run(*rights, LOADER, "one")
        assert Qdisc(space, "one").stats()["tcx-attached"] is True
        space.run(*rights, LOADER, "one", "--unload")
    space.run(*rights, BASE_RTT, "add", "10.0.0.0/8", "30ms")
    space.run(*rights, BASE_RTT, "off")
    space.run(LOADER, "one", "--unload", "--if-attached")  # what only root may end


def test_a_second_bpffs_may_be_meant(box, rights):
    """If it has a directory for our pins, which stays for the next run."""
    with covered("bpf"):
        for directory in PIN_DIR, BASE_RTT_PINS:
            directory.mkdir(mode=0o700)
        check_all_tools(box, *rights)
        for directory in PIN_DIR, BASE_RTT_PINS:
            directory.rmdir()


def test_a_second_bpffs_where_nothing_of_ours_is_loaded(bare):
    """The kernel says so; the hidden one can have no pins of ours."""
    with covered("bpf"):
        refuses(bare, "bpf", *RIGHTS["service"], LOADER, "one")  # which may not ask the kernel
        assert not of_kind(findings(bare, "one"), "MISSING")
        assert json.loads(bare.run(STATS, "--json").stdout) == []
        check_all_tools(bare)


def test_the_same_bpffs_twice(box, rights):
    """It hides nothing; hosts that share it with containers may have this."""
    run("mount", "--bind", BPFFS, BPFFS)
    try:
        check_all_tools(box, *rights)
        assert not PIN_DIR.exists() and not BASE_RTT_PINS.exists()
        assert not of_kind(findings(box, "one"), "MISSING")
    finally:
        run("umount", BPFFS)


def test_nothing_is_mounted_over_something_else(box):
    """If a file system that is no BPF file system is at /sys/fs/bpf, the tools leave it alone."""
    run("umount", BPFFS)
    try:
        with covered("tmpfs"):
            for argv in (LOADER, "one"), (BASE_RTT, "add", "10.0.0.0/8", "30ms"):
                line = one_line(box.run(*argv, check=False), 1)
                assert "second (tmpfs) is mounted at /sys/fs/bpf" in line and "`umount" in line
            [told] = of_kind(findings(box, "one"), "MISSING")
            assert "second (tmpfs) is mounted at /sys/fs/bpf" in told
    finally:
        run("mount", "-t", "bpf", "bpf", BPFFS)
        BPFFS.chmod(0o1777)  # as the lab mounts it
