# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`tcp-prague run`: its control group is its own whoever else has its number, and what `status` and
`check` see of Pragues that end with a process."""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import time
from pathlib import Path

import pytest
from cgroups import CGROUPS
from conftest import one_line
from netns import run, wait_until
from prague_pair import KERNEL, PORT, RIGHT, TOOL, UNPRIVILEGED, needs_accecn

pytestmark = needs_accecn
OWN = "tcp-prague-*"


def groups():
    return set(CGROUPS.glob(OWN))


@contextlib.contextmanager
def running(pair, *under):
    """A run whose command waits; its process and its control group."""
    before = groups()
    child = pair.left.popen(*under, TOOL, "run", "--", "sh", "-c", "echo in; exec sleep 1000")
    pair.children.append(child)
    assert child.stdout.readline() == "in\n"
    [group] = groups() - before
    yield child, group
    if child.poll() is None:
        pair.end(child)


def test_two_with_the_same_number_leave_each_other_alone(pair):
    """Each is the first process of its namespace."""
    first_there = ("unshare", "--pid", "--fork", "--kill-child")
    with running(pair, *first_there) as (_, first), running(pair, *first_there) as (_, second):
        done = pair.left.run(*first_there, TOOL, "run", "--", "true")
        assert done.returncode == 0
        assert groups() == {first, second}
        assert all((group / "cgroup.procs").read_text() for group in (first, second))


def test_the_children_of_a_killed_run_are_not_those_of_another(pair):
    """They go on, and their directory stays as long as they do."""
    with running(pair) as (child, group):
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        [left] = (group / "cgroup.procs").read_text().split()
        with running(pair) as (_, another):
            assert another != group
        assert (group / "cgroup.procs").read_text().split() == [left]
        os.kill(int(left), signal.SIGKILL)
        wait_until(lambda: not (group / "cgroup.procs").read_text(), "it has ended")
        pair.tool("run", "--", "true")
    assert not groups()


@contextlib.contextmanager
def locked(path, flags):
    held = os.open(path, flags)
    fcntl.flock(held, fcntl.LOCK_EX)
    yield
    os.close(held)


def test_a_run_that_is_just_beginning_keeps_its_directory(pair):
    """It has no process in it yet, but a lock, which only root can hold; anybody can lock what
    anybody may read."""
    group = CGROUPS / "tcp-prague-0badf00d"
    group.mkdir()
    with locked(group, os.O_RDONLY), locked(group / "cgroup.procs", os.O_RDONLY):
        pair.tool("run", "--", "true")
    assert not group.exists()
    group.mkdir()
    assert not (group / "cgroup.kill").stat().st_mode & 0o077
    with locked(group / "cgroup.kill", os.O_WRONLY):
        pair.tool("run", "--", "true")
        assert group.exists()
    pair.tool("run", "--", "true")
    assert not group.exists()


@contextlib.contextmanager
def nested(pair):
    """A run in a run: the outer process, the inner one, and the control group of that."""
    with running(pair, TOOL, "run", "--") as (outer, group):
        [inner] = (group / "cgroup.procs").read_text().split()
        [below] = group.glob(OWN)
        yield outer, int(inner), below


def test_a_killed_run_inside_another(pair):
    """The outer run does not wait for it."""
    with nested(pair) as (outer, inner, _):
        began = time.monotonic()
        os.kill(inner, signal.SIGKILL)
        assert outer.communicate()[0] == "" and outer.returncode == 128 + signal.SIGKILL
        assert time.monotonic() - began < 5
    assert not groups()


def test_two_killed_runs_one_inside_the_other(pair):
    """The next one removes the directories of both when nothing is left in them."""
    with nested(pair) as (outer, inner, below):
        outer.kill()
        os.kill(inner, signal.SIGKILL)
        outer.wait()
        pair.tool("run", "--", "true")
        [left] = (below / "cgroup.procs").read_text().split()
        os.kill(int(left), signal.SIGKILL)
        wait_until(lambda: not (below / "cgroup.procs").read_text(), "it has ended")
        pair.tool("run", "--", "true")
    assert not groups()


@pytest.mark.parametrize("prepare, told", [
    ("mkdir -p $0/full; echo 0 > $0/full/cgroup.max.descendants; echo 0 > $0/full/cgroup.procs",
     "cgroup.max.descendants or cgroup.max.depth, there or above, allows no more control groups: "
     "raise it"),
    ("mount -o remount,bind,ro $0", "is mounted read-only: `mount -o remount,rw ")],
    ids=["full", "read-only"])
def test_root_is_told_why_there_is_no_control_group(pair, prepare, told):
    done = pair.left.run("unshare", "--mount", "sh", "-c", f'{prepare}; exec "$@"', CGROUPS, TOOL,
                         "run", "--", "true", check=False)
    with contextlib.suppress(FileNotFoundError):
        (CGROUPS / "full").rmdir()
    assert told in one_line(done, 1)


def test_where_ip_netns_hides_control_groups(pair):
    """Its command has a /sys of its own."""
    pair.accept()
    child = pair.send("ip", "netns", "exec", "left", TOOL, "run", "--")
    assert re.fullmatch(r"prague\.[0-9a-f]{8}", pair.congestion().pop())
    pair.end(child)
    done = run("ip", "netns", "exec", "left", TOOL, "run", "--", "cat", "/proc/self/cgroup")
    assert re.fullmatch(r"0::/tcp-prague-[0-9a-f]{8}\n", done.stdout)


def test_check_takes_the_name_servers_of_ip_netns(pair):
    """What it mounts over /etc is no longer seen once the pins have been looked for."""
    pair.accept()
    own = Path("/etc/netns/left/hosts")
    own.parent.mkdir(parents=True)
    own.write_text(f"{RIGHT} own-peer\n")
    try:
        checked = run("ip", "netns", "exec", "left", TOOL, "check", f"own-peer:{PORT}",
                      check=False).stdout
    finally:
        shutil.rmtree("/etc/netns")
    assert f"own-peer:{PORT}: negotiates ECN" in checked


# ---- what sees it -----------------------------------------------------------------------------

def test_status_shows_the_sockets_of_a_run(pair):
    assert pair.tool("status").stdout == (
        "tcp-prague is not on, and no `tcp-prague run` is at work\n")
    pair.accept()
    child = pair.send(TOOL, "run", "--")
    pair.wait_for_mode("prague")
    assert f"{RIGHT}:{PORT}" in pair.tool("status").stdout
    assert 'tcp_prague_sockets{mode="prague"} 1' in pair.tool("status", "--openmetrics").stdout
    pair.tool("on", "--netns", "left")
    assert len(pair.sockets()) == 1
    pair.send()
    wait_until(lambda: len(pair.sockets()) == 2, "both are shown, each once")
    pair.end(child)


def test_check_tries_a_peer_with_a_prague_of_its_own(pair):
    before = pair.programs()
    with contextlib.suppress(OSError):
        pair.right.sysctl("net.ipv4.tcp_ecn", 3)
    sink = pair.right.popen(TOOL, *(("sink",) if KERNEL >= (7, 0) else ("run", "--", TOOL, "sink")))
    pair.children.append(sink)
    assert sink.stdout.readline() == "listening at port 5009\n"
    # One that has connected and says nothing keeps nobody waiting.
    with pair.left.socket() as silent:
        silent.connect((RIGHT, 5009))
        done = pair.tool("check", RIGHT)
    assert re.search(r"^ok +ECT\(1\) arrives: 262144 bytes$", done.stdout, re.M)
    assert "262144 bytes; as ECT(1) " in sink.stdout.readline()
    pair.end(sink)
    wait_until(lambda: pair.programs() == before, "its programs are gone")


@pytest.mark.parametrize("open_files, slow_peers", [(1024, 300), (64, 70)])
def test_a_sink_has_room_for_another(pair, open_files, slow_peers):
    """However many peers send a little now and then."""
    with contextlib.suppress(OSError):
        pair.right.sysctl("net.ipv4.tcp_ecn", 3)
    sink = pair.right.popen("prlimit", f"--nofile={open_files}",
                            *(() if KERNEL >= (7, 0) else (TOOL, "run", "--")), TOOL, "sink")
    pair.children.append(sink)
    assert sink.stdout.readline() == "listening at port 5009\n"
    with contextlib.ExitStack() as slow:
        for _ in range(slow_peers):
            sock = slow.enter_context(pair.left.socket())
            sock.connect((RIGHT, 5009))
            sock.settimeout(10)
            assert sock.recv(64) == b"tcp-prague sink\n"
            sock.send(b"x")
        assert pair.tool("check", RIGHT).returncode == 0


def test_check_without_the_right_to_try_says_so(pair):
    pair.accept()
    done = pair.left.run(*UNPRIVILEGED, TOOL, "check", f"{RIGHT}:{PORT}", check=False)
    assert done.returncode == 1
    told = rf"^MISSING +{RIGHT}:{PORT}: not tested: there is no Prague"
    assert re.search(told, done.stdout, re.M)


def test_on_alone_says_that_nobody_uses_it(pair):
    assert pair.tool("on").stdout == (
        'on: only programs that select it (TCP_CONGESTION, "prague") use it: choose others by '
        "--unit, --cgroup, --netns or --default\n")
    assert pair.tool("on", "--netns", "left").stdout == (
        "on: new connections use Prague where the peer has Accurate ECN\n")


def test_a_control_group_of_somebody_stays(pair):
    """Though its name begins as those of runs do."""
    group = CGROUPS / "tcp-prague-users"
    group.mkdir()
    try:
        pair.tool("run", "--", "true")
        assert group.is_dir()
    finally:
        with contextlib.suppress(FileNotFoundError):
            group.rmdir()
