# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The first load on a host and the last unload: what they refuse, make and leave."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from conftest import BIN, DEFAULT_QDISC, LOADER, PIN_DIR, Qdisc, following, one_line, root, written
from netns import run, wait_until

pytestmark = pytest.mark.oldest_kernel

STATS = BIN / "dualpi2-stats"


@pytest.fixture
def space(box):
    yield box
    for name in ("one", "two"):
        box.run(LOADER, name, "--unload", check=False)
    assert not PIN_DIR.exists(), "the last --unload leaves nothing behind"


def test_attach_says_one_line_and_unload_restores(space):
    before = root(space, "one")
    done = space.run(LOADER, "one", "--rate", "40mbit", "--target", "10ms")
    assert done.stdout.count("\n") == 1 and "one" in done.stdout and "40mbit" in done.stdout.lower()
    assert done.stderr == ""
    assert root(space, "one")["kind"] == "bpf_dualpi2"
    assert (PIN_DIR.stat().st_mode & 0o777) == 0o700
    done = space.run(LOADER, "one", "--unload")
    assert "unloaded" in done.stdout
    assert root(space, "one") == before
    assert not PIN_DIR.exists()


def test_unload_of_nothing_fails(space):
    line = one_line(space.run(LOADER, "one", "--unload", check=False), 1)
    assert "unloaded" not in line


def test_somebodys_qdisc_is_refused_and_shown(space):
    space.run("tc", "qdisc", "add", "dev", "one", "root", "handle", "7:", "fq_codel",
              "limit", 123, "target", "7ms")
    before = space.run("tc", "qdisc", "show", "dev", "one").stdout
    line = one_line(space.run(LOADER, "one", check=False), 1)
    assert "fq_codel 7:" in line and "--replace" in line
    assert space.run("tc", "qdisc", "show", "dev", "one").stdout == before
    assert not PIN_DIR.exists()


def test_two_loaders_at_once(space):
    """They take turns; both are done."""
    loaders = [space.popen(LOADER, dev, "--limit", 50 + number)
               for number in range(3) for dev in ("one", "two")]
    for loader in loaders:
        output, _ = loader.communicate(timeout=60)
        assert loader.returncode == 0, output
    for dev in ("one", "two"):
        assert Qdisc(space, dev).stats()["options"]["limit"] in (50, 51, 52)


def test_killed_loader_leaves_live_qdiscs_alone(space):
    qdisc = Qdisc(space, "one")
    qdisc.load("--limit", 50)
    loader = space.popen(LOADER, "two")
    wait_until(lambda: loader.poll() is not None or loader.kill() is None, "it is killed")
    loader.wait()
    assert qdisc.stats()["options"]["limit"] == 50
    qdisc.load("--limit", 60)
    Qdisc(space, "two").load()


BAD = [
    ("--rate 40bananas", 2), ("--rate -1mbit", 2), ("--rate 99999999gbit", 2), ("--rate", 2),
    ("--target 15parsecs", 2), ("--target -5ms", 2), ("--target 99999s", 2), ("--tupdate 0", 2),
    ("--alpha 0", 2), ("--alpha x", 2), ("--beta 99999999", 2), ("--coupling-factor 0", 2),
    ("--coupling-factor 256", 2), ("--coupling-factor 1.5", 2), ("--step-thresh 5parsecs", 2),
    ("--step-thresh 1ms --step-thresh 5p", 2), ("--classic-protection 101", 2),
    ("--limit 0", 2), ("--limit 99999999999", 2), ("--memlimit 0", 2), ("--memlimit -5", 2),
    ("two", 2), ("--nonsense", 2), ("--unload --rate 4mbit", 2),
]


@pytest.mark.parametrize("arguments, status", BAD)
def test_bad_input_changes_nothing(space, arguments, status):
    before = root(space, "one")
    line = one_line(space.run(LOADER, "one", *arguments.split(), check=False), status)
    if len(arguments.split()) == 2 and status == 2 and arguments.startswith("--"):
        option, value = arguments.split()
        assert option in line or value in line
    assert root(space, "one") == before
    assert not PIN_DIR.exists()


def test_unknown_interface(space):
    assert "nonesuch" in one_line(space.run(LOADER, "nonesuch", check=False), 1)
    assert not PIN_DIR.exists()


def test_without_root(space):
    done = space.run("setpriv", "--reuid=65534", "--clear-groups", LOADER, "one", check=False)
    assert "root" in one_line(done, 1)
    assert root(space, "one")["kind"] != "bpf_dualpi2"


def test_pins_that_somebody_deleted(space):
    """The next run knows the helper devices by what they say of themselves."""
    commands = (LOADER, "one"), (LOADER, "one", "--ingress", "--rate", "5mbit")
    for command in commands:
        space.run(*command)
    before = set(space.links())
    assert {"gso-one", "gsx-one", "in-one"} <= before
    shutil.rmtree(PIN_DIR)
    for command in commands:
        space.run(*command)
    assert set(space.links()) == before
    assert Qdisc(space, "in-one").stats()["options"]["rate"] == 5_000_000
    shutil.rmtree(PIN_DIR)
    space.run(LOADER, "one", "--egress", "--unload")
    assert set(space.links()) == before - {"gso-one", "gsx-one"}
    space.run(LOADER, "one", "--ingress", "--unload")
    assert set(space.links()) == before - {"gso-one", "gsx-one", "in-one"}
    assert not PIN_DIR.exists()


def test_check_changes_nothing(space):
    before = root(space, "one")
    done = space.run(LOADER, "--check", "one")
    assert done.returncode == 0
    assert root(space, "one") == before
    assert not PIN_DIR.exists()
    space.run("tc", "qdisc", "add", "dev", "one", "root", "handle", "7:", "pfifo")
    assert space.run(LOADER, "--check", "one", check=False).returncode == 1


def test_check_looks_once_at_the_mounts(space, tmp_path):
    trace = tmp_path / "trace"
    space.run("strace", "-o", trace, "-e", "trace=openat", LOADER, "--check", "one")
    assert trace.read_text().count("/proc/self/mountinfo") == 1


@pytest.mark.skipif("DUALPI2_LAB" not in os.environ, reason="unmounts /sys/fs/bpf: lab only")
def test_mounts_bpffs(space):
    run("umount", "/sys/fs/bpf")
    try:
        assert space.run(LOADER, "--check", "one", check=False).returncode in (0, 1)
        assert not os.path.ismount("/sys/fs/bpf"), "--check changes nothing"
        space.run(LOADER, "one")
        assert os.path.ismount("/sys/fs/bpf")
        space.run(LOADER, "one", "--unload")
    finally:
        if not os.path.ismount("/sys/fs/bpf"):
            run("mount", "-t", "bpf", "bpf", "/sys/fs/bpf")
        Path("/sys/fs/bpf").chmod(0o1777)  # as the lab mounts it


@pytest.mark.skipif("DUALPI2_LAB" not in os.environ, reason="unmounts /sys/fs/bpf: lab only")
def test_two_at_once_mount_one_bpffs(space):
    """Each takes long to mount, so the other one looks meanwhile."""
    run("umount", "/sys/fs/bpf")
    try:
        loaders = [space.popen("strace", "-o", "/dev/null", "-e", "trace=mount",
                               "--inject=mount:delay_enter=500000", LOADER, dev)
                   for dev in ("one", "two")]
        for loader in loaders:
            output, _ = loader.communicate(timeout=60)
            assert loader.returncode == 0, output
        assert run("findmnt", "--noheadings", "--type", "bpf").stdout.count("/sys/fs/bpf") == 1
        for dev in ("one", "two"):
            assert Qdisc(space, dev).stats()["tcx-attached"] is True
            space.run(LOADER, dev, "--unload")
    finally:
        while os.path.ismount("/sys/fs/bpf"):
            run("umount", "/sys/fs/bpf")
        run("mount", "-t", "bpf", "bpf", "/sys/fs/bpf")
        Path("/sys/fs/bpf").chmod(0o1777)  # as the lab mounts it


def test_from_ip_netns_exec(space):
    """`ip netns exec` hides bpffs behind a /sys of its own; it is found all the same."""
    run("ip", "netns", "exec", space.name, LOADER, "one")
    assert Qdisc(space, "one").stats()["dev"] == "one"
    run("ip", "netns", "exec", space.name, LOADER, "one", "--unload")
    assert not PIN_DIR.exists()


def test_following_events_ends_with_the_registration(space):
    """And not with a change of AQM, after which another one is registered."""
    space.run(LOADER, "one")
    with following(space, STATS, "--events") as follower:
        for aqm in "codel", "pi2", "codel":
            space.run(LOADER, "one", "--aqm", aqm)
        assert follower.poll() is None, follower.communicate()
        space.run(LOADER, "one", "--unload")
        output = follower.stdout.read()
        assert follower.wait(timeout=60) == 1
    assert output.count("\n") == 1 and "no more events" in output


def test_kernel_without_bpf_qdiscs(space, tmp_path):
    """As its type information has it, which is what libbpf asks."""
    types = tmp_path / "vmlinux"
    types.write_bytes(Path("/sys/kernel/btf/vmlinux").read_bytes().replace(
        b"bpf_struct_ops_Qdisc_ops", b"bpf_struct_ops_Other_ops"))
    before = root(space, "one")

    def load(*options):
        command = f"mount --bind {types} /sys/kernel/btf/vmlinux && exec \"$@\""
        return space.run("unshare", "--mount", "sh", "-c", command, "sh", LOADER, "one", *options,
                         check=False)

    line = one_line(load(), 1)
    assert "qdiscs in BPF" in line and "was built without: boot one of" in line
    assert root(space, "one") == before
    assert not PIN_DIR.exists()
    assert "MISSING  qdiscs in BPF" in load("--check").stdout


def as_default_qdisc():
    """Only the first network namespace, that of the tests, shows the setting."""
    return written(DEFAULT_QDISC, "bpf_dualpi2")


@contextlib.contextmanager
def new_ifb(space):
    space.ip("link add ifb7 type ifb")
    space.up("ifb7")
    try:
        yield Qdisc(space, "ifb7")
    finally:
        space.ip("link del ifb7")


def test_default_qdisc(space):
    """New interfaces get it by themselves."""
    Qdisc(space, "one").load()
    with as_default_qdisc(), new_ifb(space) as tap:
        assert tap.stats()["handle"] == "0:"
        assert tap.stats()["options"]["limit"] == 10000


@pytest.mark.parametrize("way", ["nsenter", "ip netns exec"])
def test_default_qdisc_outlives_the_last_unload(space, way):
    """Also one in another network namespace, which does not show what the default is. New
    interfaces still get a qdisc that is registered."""
    unload = (LOADER, "one", "--unload")
    Qdisc(space, "one").load()
    with as_default_qdisc():
        if way == "nsenter":
            done = space.run(*unload)
        else:
            done = run("ip", "netns", "exec", space.name, *unload)
        assert done.stdout == "one: unloaded\n"
        with new_ifb(space) as tap:
            assert tap.stats()["options"]["limit"] == 10000
    space.run(*unload, "--if-attached")
    assert not PIN_DIR.exists()


def less_root(*argv):
    """The command line without the right to enter a namespace."""
    return "setpriv", "--bounding-set=-sys_admin", *argv


def test_default_qdisc_that_cannot_be_seen(space):
    """Then the registration stays, and it is said."""
    Qdisc(space, "one").load()
    done = space.run(*less_root(LOADER, "one", "--unload"))
    assert done.stdout.startswith("one: unloaded\n") and done.stderr == ""
    assert "stays registered" in done.stdout and f"rm -r {PIN_DIR}*" in done.stdout
    assert root(space, "one")["kind"] != "bpf_dualpi2"
    with as_default_qdisc(), new_ifb(space) as tap:
        assert tap.stats()["options"]["limit"] == 10000
    done = space.run(LOADER, "one", "--unload", "--if-attached")
    assert done.stdout == "one: nothing to unload\n"
    assert not PIN_DIR.exists()


def test_default_qdisc_that_is_seen_without_rights(space):
    """In the first network namespace nothing has to be entered."""
    Qdisc(space, "one").load()
    space.run(*less_root(LOADER, "one", "--unload"))
    done = run(*less_root(LOADER, "lo", "--unload", "--if-attached"))
    assert done.stdout == "lo: nothing to unload\n"
    assert not PIN_DIR.exists()


def test_names_are_free_again_when_the_pins_are_deleted(space):
    """The qdisc lives on, but its kind is registered no more."""
    space.run(LOADER, "one")
    shutil.rmtree(PIN_DIR)
    assert "ok       names of the qdiscs" in space.run(LOADER, "--check", "one").stdout
    space.run(LOADER, "one")
