# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tcp-base-rtt: what TCP-NV is told, by whom, and that nothing stays."""

import contextlib
import json
import re
import socket
import sys
import threading
from pathlib import Path

import pytest
from cgroups import CGROUPS, clear
from conftest import BIN, needs, one_line
from faults import kill_at_each_step, refuse_at_each_step
from netns import Namespace, run, veth, wait_until
from prague_pair import UNPRIVILEGED

TOOL = BIN / "tcp-base-rtt"
PINS = Path("/sys/fs/bpf/tcp-base-rtt")
PORT = 5009
LEFT, RIGHT = "10.9.0.1", "10.9.0.2"
LEFT_6, RIGHT_6 = "2001:db8::1", "2001:db8::2"
# Sends with NV, until all has arrived, and says the least RTT that NV believes in, in us: the last
# of struct tcpvegas_info. In the control group of its first argument.
CLIENT = """
import os, pathlib, socket, struct, sys
group, family, address, port = sys.argv[1:]
pathlib.Path(group, "cgroup.procs").write_text(str(os.getpid()))
sock = socket.socket(getattr(socket, family))
sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"nv")
sock.connect((address, int(port)))
for _ in range(20):
    sock.sendall(bytes(14480))
    assert sock.recv(1)
TCP_CC_INFO = 26
print(struct.unpack("4I", sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 16))[3])
"""


DELAY_MS = 20  # of the path: NV believes in nothing beyond the double of it in its first seconds


def lowest(rtt_us):
    """The least RTT that NV believes in, told this (net/ipv4/tcp_nv.c, tcpnv_init())."""
    return rtt_us * 205 >> 8


class Host:
    """A host with NV, and one that takes what it sends."""

    def __init__(self):
        self.left, self.right = Namespace("left"), Namespace("right")
        veth(self.left, "s0", self.right, "c0")
        for space, dev, *addresses in ((self.left, "s0", f"{LEFT}/24", f"{LEFT_6}/64"),
                                       (self.right, "c0", f"{RIGHT}/24", f"{RIGHT_6}/64")):
            space.sysctl(f"net.ipv6.conf.{dev}.disable_ipv6", 0)
            for address in addresses:
                space.ip(f"addr add {address} dev {dev}" + " nodad" * (":" in address))
        self.delay(f"{DELAY_MS}ms")
        self.listener = self.right.socket(socket.AF_INET6, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.listener.bind(("::", PORT))
        self.listener.listen()
        threading.Thread(target=self.take, daemon=True).start()
        self.groups = []

    def take(self):
        def receive(sock):
            received = 0
            with contextlib.suppress(OSError), sock:
                while part := sock.recv(1 << 16):
                    received += len(part)
                    if received % 14480 == 0:
                        sock.send(b".")

        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=receive, args=(self.listener.accept()[0],),
                                 daemon=True).start()

    def delay(self, *words):
        self.left.run("tc", "qdisc", "replace", "dev", "s0", "root", "netem", "delay", *words)

    def tool(self, *arguments, check=True):
        return self.left.run(TOOL, *arguments, check=check)

    def told(self):
        """(prefix, control group) -> base RTT in us, times asked"""
        rows = json.loads(self.tool("list", "--json").stdout)["base-rtts"]
        return {(row["prefix"], row["cgroup"]): (round(row["base-rtt"] * 1e6), row["asked"])
                for row in rows}

    def group(self, name, parent=CGROUPS):
        path = parent / name
        path.mkdir()
        self.groups.insert(0, path)
        return path

    def lowest_rtt(self, group=CGROUPS, family="AF_INET", address=RIGHT):
        done = self.left.run(sys.executable, "-c", CLIENT, group, family, address, PORT)
        return int(done.stdout)

    def close(self):
        self.listener.close()
        run(TOOL, "off", "--if-on")
        for group in self.groups:
            clear(group)
        self.left.delete()
        self.right.delete()


@pytest.fixture
def host():
    needs("tcp_nv")
    made = Host()
    before = attached()
    yield made
    made.close()
    assert attached() == before and not PINS.exists()


def attached(group=CGROUPS):
    """Names of the programs on a control group and on those in it."""
    shown = run("bpftool", "-j", "cgroup", "tree", group, check=False).stdout.strip() or "[]"
    return sorted(program["name"] for one in json.loads(shown) for program in one["programs"])


# ---- what is told ------------------------------------------------------------------------------

@pytest.mark.parametrize("family, address, prefix", [
    ("AF_INET", RIGHT, "10.9.0.0/24"), ("AF_INET6", RIGHT_6, "2001:db8::/32"),
    ("AF_INET6", f"::ffff:{RIGHT}", "10.9.0.0/24")], ids=["IPv4", "IPv6", "v4-mapped"])
def test_nv_is_told(host, family, address, prefix):
    own = host.lowest_rtt(family=family, address=address)
    assert own < lowest(30_000)
    told = host.tool("add", prefix, "30ms").stdout
    assert told == "in force for new connections with TCP-NV\n"
    assert host.lowest_rtt(family=family, address=address) == lowest(30_000)
    assert host.told() == {(prefix, str(CGROUPS)): (30_000, 1)}
    host.tool("off")
    assert host.lowest_rtt(family=family, address=address) < lowest(30_000)


def test_the_longest_prefix_counts(host):
    for prefix, time in (("10.0.0.0/8", "30ms"), (RIGHT, "36ms"), ("0.0.0.0/0", "42ms"),
                         ("2001:db8::/32", "50ms")):
        host.tool("add", prefix, time)
    assert host.lowest_rtt() == lowest(36_000)
    host.tool("del", f"{RIGHT}/32")
    assert host.lowest_rtt() == lowest(30_000)
    host.tool("del", "10.1.2.3/8")  # the same as 10.0.0.0/8
    assert host.lowest_rtt() == lowest(42_000)
    host.tool("del", "0.0.0.0/0")
    assert host.lowest_rtt() < lowest(30_000)
    assert host.told() == {("2001:db8::/32", str(CGROUPS)): (50_000, 0)}


def test_a_new_value_keeps_the_count(host):
    host.tool("add", "10.0.0.0/8", "30ms")
    host.lowest_rtt()
    host.tool("add", "10.0.0.0/8", "36ms")
    assert host.told() == {("10.0.0.0/8", str(CGROUPS)): (36_000, 1)}
    assert host.lowest_rtt() == lowest(36_000)
    assert host.told() == {("10.0.0.0/8", str(CGROUPS)): (36_000, 2)}
    shown = host.tool("list").stdout.splitlines()
    assert re.fullmatch(r"10\.0\.0\.0/8 +36ms +2  /sys/fs/cgroup", shown[1])


def test_nothing_is_told_to_others(host):
    """Of the control groups beside it, and of other congestion controls, who do not ask."""
    inner, beside = host.group("inner"), host.group("beside")
    host.tool("add", "10.0.0.0/8", "30ms", "--cgroup", inner)
    assert host.lowest_rtt(beside) < lowest(30_000)
    with host.left.entered():
        socket.create_connection((RIGHT, PORT)).close()
    assert host.told() == {("10.0.0.0/8", str(inner)): (30_000, 0)}
    assert host.lowest_rtt(inner) == lowest(30_000)


def test_the_nearest_control_group_counts(host):
    outer = host.group("outer")
    inner = host.group("inner", outer)
    host.tool("add", "10.0.0.0/8", "30ms")
    host.tool("add", RIGHT, "36ms", "--cgroup", "outer")
    host.tool("add", "10.9.0.0/24", "42ms", "--cgroup", inner)
    assert [host.lowest_rtt(group) for group in (inner, outer, CGROUPS)] == [
        lowest(42_000), lowest(36_000), lowest(30_000)]
    host.tool("off", "--cgroup", inner)
    assert host.lowest_rtt(inner) == lowest(36_000)
    assert {group for _, group in host.told()} == {str(CGROUPS), str(outer)}
    only = host.tool("list", "--cgroup", outer, "--json").stdout
    assert [row["cgroup"] for row in json.loads(only)["base-rtts"]] == [str(outer)]


# ---- beside others -----------------------------------------------------------------------------

@pytest.fixture
def foreign(host):
    """Attaches a stranger's program to a control group."""
    pins = PINS.parent / "foreign"
    run("bpftool", "prog", "loadall", BIN / "foreign_sockops.bpf.o", pins)
    yield lambda name, group: run("bpftool", "cgroup", "attach", group, "sock_ops", "pinned",
                                  pins / name, "multi")
    for pin in pins.iterdir():
        pin.unlink()
    pins.rmdir()


@pytest.mark.parametrize("first", [False, True])
def test_other_programs_are_asked_as_well(host, foreign, first):
    """One that answers another question, and -1 to ours; it is asked before us, or after."""
    group = host.group("both")
    window = ("ss", "-tinH", "dport", f"= :{PORT}")
    if first:
        foreign("foreign_window", group)
    host.tool("add", "10.0.0.0/8", "30ms", "--cgroup", group)
    if not first:
        foreign("foreign_window", group)
    assert attached(group) == ["foreign_window", "tcp_base_rtt"]
    talks = CLIENT.replace("print(", "print(sys.stdin.readline(), ")
    child = host.left.popen(sys.executable, "-c", talks, group, "AF_INET", RIGHT, str(PORT),
                            stdin=-1)
    wait_until(lambda: "nv" in host.left.run(*window).stdout, "it is connected")
    # The window that we offer: 40 segments, in place of ten.
    assert re.search(r"rcv_ssthresh:(\d+)", host.left.run(*window).stdout)[1] == str(40 * 1460)
    [lowest_us] = re.findall(r"\d+", child.communicate("\n")[0])
    assert (int(lowest_us) == lowest(30_000)) == first
    assert host.told()["10.0.0.0/8", str(group)] == (30_000, 1)
    host.tool("off")
    assert attached(group) == ["foreign_window"]


def test_an_answer_that_is_there_stays(host, foreign):
    group = host.group("both")
    foreign("foreign_base_rtt", group)
    host.tool("add", "10.0.0.0/8", "30ms", "--cgroup", group)
    assert host.lowest_rtt(group) == lowest(48_000)
    assert host.told() == {("10.0.0.0/8", str(group)): (30_000, 0)}


# ---- life ----------------------------------------------------------------------------------------

def test_live_connections_keep_what_they_know(host):
    """And nothing of us is left but what they know."""
    host.tool("add", "10.0.0.0/8", "30ms")
    talks = CLIENT.replace("print(", "sys.stdin.readline()\nprint(")
    child = host.left.popen(sys.executable, "-c", talks, CGROUPS, "AF_INET", RIGHT, str(PORT),
                            stdin=-1)
    wait_until(lambda: host.told()["10.0.0.0/8", str(CGROUPS)][1], "it has asked")
    host.tool("off")
    assert not attached() and not PINS.exists()
    assert int(child.communicate("\n")[0]) == lowest(30_000)


def test_the_last_prefix_takes_the_program_with_it(host):
    for prefix in ("10.0.0.0/8", "2001:db8::/32"):
        host.tool("add", prefix, "30ms")
    host.tool("del", "10.0.0.0/8")
    assert attached() == ["tcp_base_rtt"]
    host.tool("del", "2001:db8::/32")
    assert not attached() and not PINS.exists()


def test_a_control_group_that_goes(host):
    group = host.group("short")
    host.tool("add", "10.0.0.0/8", "30ms", "--cgroup", group)
    host.groups.remove(group)
    group.rmdir()
    assert list(host.told()) == [("10.0.0.0/8", "(gone)")]
    host.tool("add", "10.0.0.0/8", "30ms")
    assert list(host.told()) == [("10.0.0.0/8", str(CGROUPS))]
    again = host.group("short")
    assert host.lowest_rtt(again) == lowest(30_000)  # of the root
    host.tool("off")


def test_pins_that_go(host):
    host.tool("add", "10.0.0.0/8", "30ms")
    for pin in PINS.iterdir():
        pin.unlink()
    wait_until(lambda: not attached(), "the program is gone")
    assert host.told() == {}
    assert host.tool("list").stdout == "there is no base RTT\n"
    one_line(host.tool("off", check=False), 1)
    host.tool("add", "10.0.0.0/8", "30ms")
    assert host.lowest_rtt() == lowest(30_000)
    host.tool("off")


def test_another_version_is_left_alone(host):
    """What its map means is not known; `off` ends it."""
    host.tool("add", "10.0.0.0/8", "30ms")
    [pin] = PINS.glob("prefixes-*")
    pin.rename(PINS / pin.name.replace("-1-", "-2-", 1))
    for command in (("add", "10.0.0.0/8", "1ms"), ("del", "10.0.0.0/8"), ("list",)):
        assert "another version of tcp-base-rtt" in one_line(host.tool(*command, check=False), 1)
    assert attached() == ["tcp_base_rtt"]
    host.tool("off")
    assert not attached() and not PINS.exists()


def state():
    """Not by names of programs: libbpf does without them if it is refused what tells it that the
    kernel has names."""
    return len(attached()), sorted(re.sub(r"\d+$", "N", pin.name) for pin in PINS.glob("*"))


ADD = (TOOL, "add", "10.0.0.0/8", "30ms")
OFF = (TOOL, "off")


@pytest.mark.oldest_kernel
def test_it_is_killed_at_each_step(host, tmp_path, long):
    kill_at_each_step(host.left, ADD, OFF, lambda: (state(), host.told()), tmp_path, long)


@pytest.mark.oldest_kernel
def test_add_is_refused_at_each_step(host, tmp_path, long):
    refuse_at_each_step(host.left, ADD, OFF, lambda: (state(), host.told()), tmp_path, long)


# ---- who may -------------------------------------------------------------------------------------

@pytest.mark.parametrize("missing", ["net_admin", "bpf"])
def test_without_rights(host, missing):
    """Which CAP_SYS_ADMIN would stand for. Nothing happens to a control group, nor to what somebody
    else tells it."""
    group = host.group("theirs")
    bare = ("setpriv", f"--bounding-set=-sys_admin,-{missing}", TOOL)
    one_line(host.left.run(*bare, "add", "10.0.0.0/8", "1ms", "--cgroup", group, check=False), 1)
    assert not attached() and not PINS.exists()
    host.tool("add", "10.0.0.0/8", "30ms", "--cgroup", group)
    stranger = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", TOOL)
    for command in (("add", "10.0.0.0/8", "1ms"), ("del", "10.0.0.0/8"), ("off",)):
        one_line(host.left.run(*stranger, *command, "--cgroup", group, check=False), 1)
    assert host.told() == {("10.0.0.0/8", str(group)): (30_000, 0)}


def test_where_ip_netns_hides_control_groups(host):
    """Its command has a /sys of its own; the tool uses the control groups of the host."""
    inside = ("ip", "netns", "exec", "left", TOOL)
    group = host.group("service")
    run(*inside, "add", "10.0.0.0/8", "30ms", "--cgroup", group)
    assert str(group) in run(*inside, "list").stdout
    assert str(group) in run(*inside, "list", "--cgroup", group).stdout
    run(*inside, "del", "10.0.0.0/8", "--cgroup", "service")
    assert not host.told()
    run(*inside, "add", "10.0.0.0/8", "30ms")
    line = one_line(run(*inside, "list", "--cgroup", "nosuch", check=False), 1)
    assert f"{CGROUPS}/nosuch: no such control group" in line
    run(*inside, "off", "--cgroup", CGROUPS)
    assert not host.told()


def test_who_may_not_look_is_told_who_may(host):
    host.tool("add", "10.0.0.0/8", "30ms")
    line = one_line(host.left.run(*UNPRIVILEGED, TOOL, "list", check=False), 1)
    assert "run it as root" in line and "run it again" not in line


# ---- measure -------------------------------------------------------------------------------------

def measured(host, *words):
    """(the lowest RTT, what is proposed, in us; a word of trust)"""
    shown = host.tool("measure", *words).stdout
    units = {"us": 1, "ms": 1000}
    lowest_us, proposed = (float(number) * units[unit] for number, unit in re.findall(
        r"(?:RTT|add \S+) ([\d.]+)(us|ms)", shown))
    assert f"\n  tcp-base-rtt add {RIGHT} " in shown
    return lowest_us, proposed, re.search(r"^  (\w+): ", shown, re.M)[1]


def test_measure_proposes_twice_the_rtt(host):
    host.delay("2ms")
    lowest_us, proposed, trust = measured(host, RIGHT)
    assert 2000 <= lowest_us < 2500 and trust == "good"
    assert 2 * lowest_us <= proposed <= 2.2 * lowest_us
    done = one_line(host.tool("measure", f"{RIGHT}:1", check=False), 1)
    assert f"{RIGHT}:1: cannot connect: Connection refused" in done


def test_measure_doubts_a_path_that_varies(host):
    host.delay("4ms", "4ms")
    assert measured(host, f"{RIGHT}:{PORT}")[2] == "poor"


# ---- wrong usage ---------------------------------------------------------------------------------

@pytest.mark.oldest_kernel
@pytest.mark.parametrize("arguments, status, told", [
    ([], 2, "a command is missing"), (["fly"], 2, "fly: no such command"),
    (["add"], 2, "a prefix is missing"), (["add", "10.0.0.0/8"], 2, "a time is missing"),
    (["add", "10.0.0.0/33", "1ms"], 2, "prefix 10.0.0.0/33: not a prefix"),
    (["add", "10.0.0.0/8", "0"], 2, "time 0: out of range (for example 80us; 1us to 1s)"),
    (["add", "10.0.0.0/8", "1001ms"], 2, "time 1001ms: out of range"),
    (["add", "10.0.0.0/8", "soon"], 2, "time soon: not a time"),
    (["add", "10.0.0.0/8", "1ms", "now"], 2, "now: unexpected argument after"),
    (["list", "all"], 2, "all: tcp-base-rtt list takes no argument"),
    (["measure"], 2, "a peer is missing"), (["measure", "a:99999"], 2, "not a peer"),
    (["add", "10.0.0.0/8", "1ms", "--cgroup", "nosuch"], 1, "no such control group"),
    (["del", "10.0.0.0/8"], 1, "10.0.0.0/8: has no base RTT"),
    (["off"], 1, "nothing to undo: there is no base RTT")])
def test_wrong_usage(host, arguments, status, told):
    assert told in one_line(host.tool(*arguments, check=False), status)
    assert not PINS.exists() and not attached()
