# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tcp-prague: which sockets respond as Prague, what their packets say, and that nothing stays."""

import contextlib
import json
import os
import re
import signal
import subprocess

import pytest
from cgroups import CGROUPS
from conftest import BIN, LOADER, one_line
from frames import ECT_0, ECT_1
from netns import Namespace, dummy, run, wait_until
from prague_pair import KERNEL, PINS, PORT, RIGHT, TOOL, UNPRIVILEGED, client, needs_accecn

pytestmark = needs_accecn


def chooses(congestion):
    return f"sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'{congestion}')"


# ---- run ----------------------------------------------------------------------------------

def test_what_runs_sends_ect1_and_nothing_else_does(pair):
    pair.accept()
    other = pair.send()
    pair.send(TOOL, "run", "--")
    wait_until(lambda: pair.wire.of(PORT).get(ECT_1, 0) > 500, "ECT(1) on the wire")
    assert len(pair.congestion()) == 2
    pair.end(other)
    before = pair.wire.of(PORT)
    wait_until(lambda: pair.wire.of(PORT).get(ECT_1, 0) > before[ECT_1] + 500, "more of it")
    # Of the two ports one has all of it.
    ports = {key[1] for key in pair.wire.counts if key[2] == PORT and key[3] == ECT_1}
    assert len(ports) == 1
    [port] = ports
    assert {key[3] for key in pair.wire.counts if key[1] == port} <= {ECT_1, 3}


def test_run_takes_everything_back(pair):
    assert pair.tool("run", "--", "sh", "-c", "sleep 1000 & exit 7", check=False).returncode == 7
    wait_until(lambda: not pair.programs(), "the programs are gone")
    assert pair.tool("run", "--", "/nosuch", check=False).returncode == 127


def test_run_warns_where_its_command_does_not_look(pair):
    done = pair.tool("run", "--no-classic-detection", "--", "echo", "mine")
    assert done.stdout == "mine\n"
    assert done.stderr.startswith("tcp-prague: warning: without the detection")


def test_run_that_is_killed_leaves_nothing_that_works(pair):
    """Its kernel objects end with it; the program goes on, responding as Reno to what it sends as
    ECT(0)."""
    pair.accept()
    child = pair.send(TOOL, "run", "--")
    wait_until(lambda: pair.wire.of(PORT).get(ECT_1, 0) > 100, "ECT(1) on the wire")
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    wait_until(lambda: "prague_ect1" not in pair.programs(), "the tcx program is gone")
    pair.wire.next_fields()  # one packet may have been on its way
    assert pair.wire.next_fields() == {ECT_0}
    pids = next(CGROUPS.rglob("tcp-prague-*/cgroup.procs")).read_text().split()
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
    wait_until(lambda: not pair.programs(), "no program is left")
    pair.tool("run", "--", "true")  # which removes the directory


# ---- no Accurate ECN, no Prague ----------------------------------------------------------------

@pytest.mark.parametrize("ecn", [0, 1])
def test_a_peer_without_accurate_ecn(pair, ecn):
    """Cubic, with the ECN that the peer has."""
    pair.accept(ecn)
    pair.tool("on", "--netns", "left")
    pair.send()
    pair.wire.wait_for(500)
    pair.wait_for_mode("no-accecn")
    assert pair.congestion() == {"cubic"}
    assert ECT_1 not in pair.wire.of(PORT)
    assert "the peer or the path has no Accurate ECN" in pair.tool("status").stdout


def test_a_route_that_is_locked(pair):
    """The kernel refuses the fallback: Reno, and no ECT(1)."""
    pair.accept(0)
    pair.tool("on")
    pair.left.ip(f"route add {RIGHT} dev s0 congctl lock prague")
    pair.send()
    pair.wire.wait_for(500)
    pair.wait_for_mode("no-accecn")
    assert pair.congestion() == {"prague"}
    assert ECT_1 not in pair.wire.of(PORT)
    assert "congctl lock" in pair.tool("status").stdout


def test_a_program_leaves(pair):
    """It chooses another congestion control while it sends."""
    pair.begin(mode="left", client=client("sock.send(bytes(1000000))", chooses("reno")))
    assert pair.congestion() == {"reno"}
    assert pair.wire.next_fields() == {ECT_0}


@pytest.mark.parametrize("times, mode", [(1, "prague"), (2, "remembered")])
def test_a_destination_with_a_classic_queue(pair, times, mode):
    """Seen for the second time in the last day: new connections to its /24 are Cubic's."""
    pair.accept()
    pair.tool("on", "--netns", "left")
    pair.remember("10.9.0.0", times)
    pair.send()
    pair.wait_for_mode(mode)
    assert pair.congestion() == {"prague" if times == 1 else "cubic"}
    [shown] = json.loads(pair.tool("status", "--json").stdout)["classic-destinations"]
    assert shown["prefix"] == "10.9.0.0/24" and shown["times"] == times


# ---- no ECT(1), no Prague ------------------------------------------------------------------------

def test_a_device_without_the_program(pair):
    pair.begin("--dev", "lo", mode="not-ect1")
    pair.wire.wait_for(500)
    assert set(pair.wire.of(PORT)) == {ECT_0}


def test_the_program_stops(pair):
    """Deleted pins: from the next packet on it is Reno's response."""
    pair.begin()
    for pin in (PINS / "devices").iterdir():
        pin.unlink()
    pair.wait_for_mode("not-ect1")
    assert ECT_1 not in pair.wire.next_fields()
    pair.tool("on", "--netns", "left")  # and back
    pair.wait_for_mode("prague")


# ---- on and off ----------------------------------------------------------------------------

def test_on_and_off(pair):
    pair.begin()
    [one] = pair.sockets()
    assert one["peer"] == f"{RIGHT}:{PORT}" and one["ecn"] == "accurate" and one["srtt"] > 0
    assert "off: 1 socket fell back to cubic" in pair.tool("off").stdout
    assert pair.congestion() == {"cubic"}
    assert not PINS.exists()
    assert ECT_1 not in pair.wire.next_fields()
    assert one_line(pair.tool("off", check=False), 1) == (
        "tcp-prague: nothing to undo: tcp-prague is not on\n")


def test_a_program_asks_for_it(pair):
    """Before it connects, and without any right."""
    pair.accept()
    pair.tool("on")
    pair.send("setpriv", "--reuid=65534", "--clear-groups",
              client=client(chooses("prague"), "sock.connect(peer)", made_by="socket.socket()"))
    pair.wait_for_mode("prague")


@pytest.mark.parametrize("options, is_prague", [
    (["--to", "10.9.0.0/24"], True), (["--to", "10.7.0.0/16", "--to", RIGHT], True),
    (["--to", "10.7.0.0/16"], False), (["--not-to", "10.9.0.0/24"], False),
    (["--to", "10.0.0.0/8", "--not-to", RIGHT], False)])
def test_destinations(pair, options, is_prague):
    pair.accept()
    pair.tool("on", "--netns", "left", *options)
    pair.send()
    pair.wire.wait_for(300)
    assert pair.congestion() == {"prague" if is_prague else "cubic"}


def default_of(space):
    return space.run("sysctl", "-n", "net.ipv4.tcp_congestion_control").stdout.strip()


def test_the_last_default_is_put_back(pair):
    """One that somebody else has set between two `on`."""
    for other in ("cubic", "reno"):
        pair.left.sysctl("net.ipv4.tcp_congestion_control", other)
        pair.tool("on", "--netns", "left", "--default")
        assert default_of(pair.left) == "prague"
    pair.tool("on", "--netns", "left", "--default")
    pair.tool("off")
    assert default_of(pair.left) == "reno"


@pytest.fixture(params=["process", "mount", "file"])
def nameless(request, tmp_path):
    """A path to a network namespace without a name: a process is in it, as in a container's, or it
    is mounted elsewhere, or somebody has it open."""
    mount = tmp_path / "net"
    mount.touch()
    run("unshare", f"--net={mount}", "true")
    with contextlib.ExitStack() as stack:
        if request.param == "mount":
            stack.callback(run, "umount", mount)
            yield mount
            return
        if request.param == "process":
            inside = stack.enter_context(subprocess.Popen(
                ["nsenter", f"--net={mount}", "sh", "-c", "echo in; exec cat"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            stack.callback(inside.stdin.close)
            assert inside.stdout.readline() == "in\n"
            path = f"/proc/{inside.pid}/ns/net"
        else:
            held = stack.enter_context(open(mount, "rb"))
            path = f"/proc/{os.getpid()}/fd/{held.fileno()}"
        run("umount", "--lazy", mount)
        yield path


def test_a_default_is_put_back_where_there_is_no_name(pair, nameless):
    default = ("nsenter", f"--net={nameless}", "sysctl", "-n", "net.ipv4.tcp_congestion_control")
    before = run(*default).stdout
    pair.tool("on", "--netns", nameless, "--default")
    assert run(*default).stdout == "prague\n"
    off = pair.tool("off")
    assert run(*default).stdout == before
    assert off.stdout.startswith("off: ")


def test_a_default_that_cannot_be_put_back_is_named(pair, new_space):
    """Without a right its namespace cannot be entered; with it, another `off` puts it back."""
    other = new_space("other")
    pair.tool("on", "--netns", "other", "--default")
    bare = ("setpriv", "--bounding-set=-sys_admin,-dac_read_search", TOOL)
    line = one_line(pair.left.run(*bare, "off", check=False), 1)
    assert f"the network namespace with the cookie {other.cookie()} cannot be entered" in line
    assert default_of(other) == "prague"
    assert pair.tool("off").stdout == "off\n"
    assert default_of(other) == "cubic"


@pytest.mark.skipif(KERNEL < (7, 0), reason="the namespace can be entered")
@pytest.mark.parametrize("nameless", ["mount"], indirect=True)
def test_defaults_from_a_container(pair, nameless):
    """With processes of its own it may open no handle: what has no name has not ended for that."""
    default = ("nsenter", f"--net={nameless}", "sysctl", "-n", "net.ipv4.tcp_congestion_control")
    pair.left.sysctl("net.ipv4.tcp_congestion_control", "reno")
    for space in "left", nameless:
        pair.tool("on", "--netns", space, "--default")
    line = one_line(run("unshare", "--pid", "--fork", "--mount-proc", TOOL, "off", check=False), 1)
    assert re.search(r"the network namespace with the cookie \d+ cannot be entered, so its default "
                     "may still be prague", line)
    assert (default_of(pair.left), run(*default).stdout) == ("reno", "prague\n")
    assert pair.tool("off").stdout == "off\n"
    assert run(*default).stdout == "cubic\n"


@pytest.mark.skipif(KERNEL < (6, 19), reason="the namespace can be entered")
def test_a_namespace_that_nobody_can_enter_is_named(pair):
    """Only a socket is left of it."""
    other = Namespace("other")
    cookie = other.cookie()
    pair.tool("on", "--netns", "other", "--default")
    with other.socket():
        other.delete()
        assert (f"the network namespace with the cookie {cookie} has ended, or only sockets are "
                "left of it\n") in pair.tool("off").stdout
        assert not PINS.exists()


@pytest.mark.parametrize("place", ["defaults", "devices", "on", "prague", ""])
def test_what_is_not_ours_among_the_pins_is_named(pair, place):
    """Everything else is undone."""
    pair.tool("on", "--netns", "left", "--default")
    stray = PINS / place / "stray"
    stray.mkdir()
    for _ in range(2):
        line = one_line(pair.tool("off", check=False), 1)
        assert f"{PINS / (place or 'stray')}: cannot be removed" in line
        wait_until(lambda: not pair.programs(), "no program is left")
        assert default_of(pair.left) == "cubic"
    pair.tool("on", "--netns", "left", "--default")
    stray.rmdir()
    pair.tool("off")


NEEDS_BPFTOOL = pytest.mark.skipif(KERNEL < (7, 2), reason="bpftool cannot register what this "
                                                           "kernel lacks a member of")


@pytest.fixture
def strangers():
    """A registration that is not pinned where tcp-prague looks."""
    run("bpftool", "struct_ops", "register", BIN / "prague.bpf.o", "/sys/fs/bpf/stranger")
    yield
    run("rm", "-r", "/sys/fs/bpf/stranger")


@NEEDS_BPFTOOL
def test_the_kernel_has_its_own(pair, strangers):
    """It is used as it is. Here another registration stands for it, of which the tools do not see
    that it is one."""
    def tool(*arguments):
        return pair.left.run("env", f"LD_PRELOAD={BIN / 'kernels_own.so'}", TOOL, *arguments).stdout

    assert "the kernel has a prague of its own" in tool("on", "--netns", "left")
    assert [entry.name for entry in PINS.iterdir()] == ["on"]
    pair.accept()
    pair.send()
    assert pair.congestion() == {"prague"}
    assert "the kernel's own prague is used" in tool("status")
    assert tool("off") == "off\n"


@NEEDS_BPFTOOL
def test_a_strangers_is_not_the_kernels_own(pair, strangers):
    """Nor one of ours that is pinned in another mount namespace: nobody would make ECT(1) here."""
    line = one_line(pair.tool("on", "--netns", "left", check=False), 1)
    assert line.startswith("tcp-prague: prague is registered, but not pinned in /sys/fs/bpf/")
    assert not PINS.exists()
    pair.accept()
    pair.send(TOOL, "run", "--")
    [name] = pair.congestion()
    assert name.startswith("prague.")  # its own, which does not depend on the stranger
    wait_until(lambda: pair.wire.of(PORT).get(ECT_1, 0) > 100, "ECT(1) on the wire")


def test_a_namespace_that_began_with_our_default(pair, new_space):
    """`off` finds it, though nothing was done there."""
    first = run("sysctl", "-n", "net.ipv4.tcp_congestion_control").stdout
    run(TOOL, "on", "--default")
    late = new_space("late")
    assert default_of(late) == "prague"
    run(TOOL, "off")
    assert default_of(late) == "cubic"
    assert run("sysctl", "-n", "net.ipv4.tcp_congestion_control").stdout == first


def test_a_default_is_the_one_that_is_on(pair):
    """Not what has its name, of an earlier one."""
    pair.accept()
    pair.tool("on", "--netns", "left", "--default")
    # `off` interrupted: the registration has gone, the namespace has kept it.
    run("rm", "-r", PINS)
    assert default_of(pair.left) == "prague"
    pair.tool("on", "--default")
    pair.send()
    pair.wait_for_mode("prague")


def test_the_next_version_takes_over(pair):
    pair.begin()
    before = set(re.findall(r"^(\d+):.*prague_ect1", run("bpftool", "prog").stdout, re.MULTILINE))
    pair.tool("on", "--netns", "left", tool=BIN / "next/tcp-prague")
    after = set(re.findall(r"^(\d+):.*prague_ect1", run("bpftool", "prog").stdout, re.MULTILINE))
    assert len(after) == 1 and after != before
    count = pair.sockets()[0]["delivered"]
    wait_until(lambda: pair.sockets()[0]["delivered"] > count + 300, "it goes on")
    assert pair.mode() == "prague"
    assert "1 socket fell back" in pair.tool("off", tool=BIN / "next/tcp-prague").stdout


@pytest.fixture
def sink(pair):
    """A peer that says what arrives."""
    with contextlib.suppress(OSError):
        pair.right.sysctl("net.ipv4.tcp_ecn", 3)
    if KERNEL < (7, 0):
        pair.tool("on")
    made = pair.right.popen(TOOL, "sink")
    pair.children.append(made)
    assert made.stdout.readline() == "listening at port 5009\n"
    yield made
    made.terminate()
    assert made.wait() == 0


@pytest.mark.parametrize("under", [(), UNPRIVILEGED], ids=["root", "unprivileged"])
def test_check_with_a_peer(pair, sink, under):
    shown = pair.tool("run", "--", *under, TOOL, "check", RIGHT).stdout
    assert re.search(r"^ok +ECT\(1\) arrives: 262144 bytes$", shown, re.MULTILINE)


@pytest.mark.parametrize("field, status, told", [
    ("not-ect", 1, "neither ECT(1) nor CE arrived"),
    ("ect0", 1, "ECT(0) arrived for 262144 bytes: something on the way rewrites"),
    ("ce", 0, "CE arrived for ")])
def test_check_finds_what_is_done_on_the_way(pair, sink, field, status, told):
    pair.right.run("nft", "-f", "-", input=f"""table ip t {{ chain c {{
        type filter hook prerouting priority 0
        ip ecn ect1 ip ecn set {field}
    }}
    }}""")
    done = pair.tool("run", "--", TOOL, "check", RIGHT, check=False)
    assert told in done.stdout and done.returncode == status


@pytest.mark.parametrize("ecn, told", [
    (0, "no ECN: "),
    pytest.param(1, "only the ECN of RFC 3168: ", marks=pytest.mark.skipif(
        KERNEL < (7, 0), reason="the kernel does not tell which ECN it is"))])
def test_check_finds_a_peer_without_accurate_ecn(pair, ecn, told):
    pair.accept(ecn=ecn)
    done = pair.tool("run", "--", TOOL, "check", f"{RIGHT}:{PORT}", check=False)
    assert told + "the peer needs Accurate ECN" in done.stdout and done.returncode == 1


def test_checks_advise_a_target_on_the_host_that_sends(pair):
    """Of what both tools know: the queue, and that this host sends."""
    def told():
        shown = pair.left.run(LOADER, "--check", "s0").stdout
        return "this host has TCP Prague" in shown, "--target 2ms" in pair.tool("check").stdout

    pair.left.run(LOADER, "s0")
    assert told() == (False, True)
    pair.tool("on")
    assert told() == (True, True)
    pair.left.run(LOADER, "s0", "--target", "2ms")
    assert told() == (False, False)
    pair.left.run(LOADER, "s0", "--unload")


def test_check_advises_a_target_once_for_all_queues(pair):
    dummy(pair.left, "many", "numtxqueues", 4)
    pair.left.run(LOADER, "many", "--mq")
    assert pair.tool("check").stdout.count("`dualpi2-load many --target 2ms`") == 1
    pair.left.run(LOADER, "many", "--unload")


def test_check_advises_what_can_be_done_here(pair):
    """Nothing for other namespaces or incoming traffic, and under the present name of a device."""
    def told():
        return re.findall(r"`dualpi2-load (\S+) --target 2ms`", pair.tool("check").stdout)

    pair.right.run(LOADER, "c0")
    pair.left.run(LOADER, "s0", "--ingress", "--rate", "100mbit")
    assert not told()
    pair.left.run(LOADER, "s0")
    pair.left.ip("link set s0 down")
    pair.left.ip("link set s0 name s9")
    assert told() == ["s9"]
    pair.left.run(LOADER, "s9", "--unload")
    assert not told()
    pair.right.run(LOADER, "c0", "--unload")


def test_check_warns_of_loss_by_counting(pair):
    pair.left.sysctl("net.ipv4.tcp_recovery", 0)
    assert re.search(r"^WARNING +loss is not detected by time", pair.tool("check").stdout,
                     re.MULTILINE)


# ---- wrong usage ---------------------------------------------------------------------------

@pytest.mark.parametrize("arguments", [["on", "--cgroup", "nosuch"], ["on", "--unit", "nosuch"],
                                       ["on", "--netns", "left", "--dev", "nosuch"]])
def test_a_failure_changes_nothing(pair, arguments):
    one_line(pair.tool(*arguments, check=False), 1)
    assert not PINS.exists()
    wait_until(lambda: not pair.programs(), "the programs are gone")


def test_a_failure_changes_nothing_of_what_is_on(pair):
    def state():
        shown = run("bpftool", "-j", "map", "dump", "pinned", PINS / "prague/prague_config").stdout
        return shown, sorted(str(path) for path in PINS.rglob("*"))

    pair.tool("on", "--netns", "left", "--dev", "s0")
    before = state()
    one_line(pair.tool("on", "--netns", "left", "--no-classic-detection", "--dev", "lo", "--dev",
                       "nosuch", check=False), 1)
    assert state() == before


def test_twice(pair):
    """And two at once."""
    pair.tool("on", "--netns", "left")
    both = [pair.left.popen(TOOL, "on", "--netns", "left") for _ in range(2)]
    for each in both:
        output, _ = each.communicate()
        assert each.returncode == 0, output
    assert len([name for name in pair.programs() if name == "prague_ect1"]) == 1
    assert subprocess.run([TOOL, "off"], check=False).returncode == 0


def test_a_bpffs_that_cannot_be_written(pair):
    """Root is told the remedy."""
    pair.tool("on", "--netns", "left")
    run("mount", "-o", "remount,ro", "/sys/fs/bpf")
    try:
        for argv in (("status",), ("off",), ("off", "--if-on"), ("on", "--netns", "left")):
            line = one_line(pair.tool(*argv, check=False), 1)
            assert "with that file system writable (`mount -o remount,rw`)" in line
    finally:
        run("mount", "-o", "remount,rw", "/sys/fs/bpf")
    pair.tool("off")
