# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands of README.md, docs/ and the manual do what the pages show, section by section.
tests/commands.py has them, and says what shows that the others do."""

import os
import re
from pathlib import Path

import commands
import pytest
from conftest import BIN
from netns import Namespace, dummy, run, veth, wait_until
from prague_pair import KERNEL
from terminal import Terminal

pytestmark = pytest.mark.newest_kernel

# What the pages call the neighbours of eth0, by the host's own address there.
NEIGHBOURS = {"192.0.2.2/24": "192.0.2.1/24", "10.0.0.2/8": "10.0.0.7/8"}
SSH = ("import socket; s = socket.create_server(('10.0.0.7', 22))\n"
       "while True: s.accept()")
LISTENERS = (("iperf3", "-s"), ("tcp-prague", "sink"), ("python3", "-c", SSH))
CABLES = ("eth0", "eth1", "wan")
GROUP = Path("/sys/fs/cgroup/system.slice/nginx.service")
CONF = Path("/etc/dualpi2")
# They look at a qdisc that is there.
WATCHING = {("docs/watching.md", "Recording, and a picture"), ("man/dualpi2-plot.1.in", "EXAMPLES"),
            ("man/dualpi2-stats.8.in", "EXAMPLES")}
# They go on until somebody ends them.
ENDLESS = re.compile(r"tcpdump|dualpi2-stats .*(--watch|--jsonl|--interval(?!.*--count))")


def sections():
    """{(page, heading): [(command, what it prints)]} of what is run here."""
    found = {}
    for block in commands.blocks():
        for shown in block.commands:
            if not commands.runs_elsewhere(shown[0]):
                found.setdefault((block.page, block.heading), []).append(shown)
    return found


SECTIONS = sections()


@pytest.fixture(scope="module")
def machines(registered):
    """The host, with the interfaces and neighbours that the pages name, and who listens there."""
    run("modprobe", "-q", "tcp_nv", check=False)
    # Only the first network namespace may choose others than these.
    run("sysctl", "net.ipv4.tcp_allowed_congestion_control=reno cubic nv")
    here, there, web = (Namespace(name) for name in ("host", "there", "web"))
    for name in CABLES:
        veth(here, name, there, name, words=("numtxqueues", 4, "numrxqueues", 4))
    veth(here, "veth-web", web, "eth0")
    for name in ("eth2", "line1", "line2"):
        dummy(here, name)
    here.run("tc", "qdisc", "add", "dev", "eth2", "root", "fq_codel")
    for own, neighbour in NEIGHBOURS.items():
        here.ip(f"addr add {own} dev eth0")
        there.ip(f"addr add {neighbour} dev eth0")
    # 64 kB in 20 ms: the ten seconds of an iperf3 on a link without a limit are ten of the CPU.
    here.run("sysctl", "net.ipv4.tcp_wmem=4096 16384 65536")
    there.run("tc", "qdisc", "add", "dev", "eth0", "root", "netem", "delay", "20ms")
    # Accurate ECN, of kernels that have it as a value of this.
    there.run("sysctl", "net.ipv4.tcp_ecn=3", check=False)
    for tool, *words in LISTENERS:
        there.popen(BIN / tool if (BIN / tool).exists() else tool, *words)
    wait_until(lambda: there.run("ss", "-Hltn").stdout.count("\n") >= len(LISTENERS), "all listen")
    CONF.mkdir(exist_ok=True)
    (CONF / "eth0.conf").write_text("rate 40mbit\n")
    (CONF / "customers").write_text(
        "north - 500mbit 200mbit\nc1001 192.0.2.7,2001:db8:1001::/48 100mbit 20mbit north\n")
    (CONF / "wan.conf").write_text("rate 38mbit\ndocsis\n")
    (CONF / "ppp*.conf").write_text("rate 9mbit\n")
    GROUP.mkdir(parents=True, exist_ok=True)
    yield here
    for space in (here, there, web):
        space.delete()


@pytest.fixture
def host(machines, monkeypatch, tmp_path):
    """Where an administrator begins: nothing of ours is on."""
    monkeypatch.setenv("PATH", f"{BIN}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    yield machines
    for tool in ("tcp-prague", "tcp-base-rtt"):
        machines.run(tool, "off", "--if-on")
    for name in machines.links():
        if not name.startswith(("gso-", "gsx-", "in-")):  # those are ours
            machines.run("dualpi2-load", name, "--unload", "--if-attached")
    # What the pages set up by other tools; some of it is not there.
    for name in CABLES:
        machines.run("tc", "qdisc", "del", "dev", name, "root", check=False)
    machines.run("ip", "link", "del", "sub100", check=False)
    machines.run("nft", "flush", "ruleset")
    machines.run("sysctl", "net.ipv4.tcp_congestion_control=cubic")


def output_of(space, command):
    """What it prints; one that goes on, until it has printed something."""
    if not ENDLESS.match(command):
        return space.run("sh", "-c", command).stdout
    with Terminal(space.argv("sh", "-c", command)) as terminal:
        shown = terminal.wait_for(str.strip, "it prints something")
        terminal.press("\x03")
        terminal.end()
        return shown


@pytest.mark.parametrize("page, heading", SECTIONS)
def test_commands(host, page, heading):
    if (page, heading) in WATCHING:
        host.run("dualpi2-load", "eth0", "--rate", "40mbit")
    for command, shown in SECTIONS[page, heading]:
        if command.startswith("tcp-prague ") and KERNEL < (6, 18):
            continue
        printed = output_of(host, command)
        if shown is not None:
            assert re.fullmatch(commands.as_shown(shown), printed), (command, printed)
