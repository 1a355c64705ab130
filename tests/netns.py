# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Network namespaces for the tests: made and removed through iproute2."""

import contextlib
import fcntl
import functools
import json
import os
import socket
import struct
import subprocess
import time
from pathlib import Path

IFREQ = struct.Struct("16sH22x")  # struct ifreq with flags, netdevice(7)
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def run(*argv, check=True, **kwargs):
    """Run a program, return the finished process; a failure shows its output."""
    done = subprocess.run([str(arg) for arg in argv], capture_output=True, text=True,
                          check=False, **kwargs)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(done.args)}: status {done.returncode}\n"
                             f"{done.stdout}{done.stderr}")
    return done


def wait_until(condition, what, seconds=30.0, step=0.2):
    """Wait until `condition()` is true, for a bounded time; return its value. In virtual
    time sleeping is free and asking is not: it asks rarely."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain until {what}")
        time.sleep(step)
    return value


class Namespace:
    """A network namespace with a loopback that is up."""

    def __init__(self, name):
        self.name = name
        run("ip", "netns", "add", name)
        self.up("lo")

    def argv(self, *argv):
        """The command line that runs `argv` in here, for who cannot enter. Not `ip netns exec`,
        which mounts a /sys of its own and so hides bpffs."""
        return ["nsenter", f"--net=/run/netns/{self.name}", *[str(arg) for arg in argv]]

    def run(self, *argv, check=True, **kwargs):
        with self.entered():
            return run(*argv, check=check, **kwargs)

    def popen(self, *argv, **kwargs):
        with self.entered():
            return subprocess.Popen([str(arg) for arg in argv], stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True, **kwargs)

    def ip(self, command):
        run("ip", "-n", self.name, *command.split())

    def up(self, dev):
        """As `ip link set DEV up`, without a process."""
        with self.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            *_, flags = IFREQ.unpack(fcntl.ioctl(asked, SIOCGIFFLAGS, IFREQ.pack(dev.encode(), 0)))
            fcntl.ioctl(asked, SIOCSIFFLAGS, IFREQ.pack(dev.encode(), flags | IFF_UP))

    def up_without_ipv6(self, dev, *addresses):
        """Its own packets would be counted by the tests."""
        self.sysctl(f"net.ipv6.conf.{dev}.disable_ipv6", 1)
        for address in addresses:
            self.ip(f"addr add {address} dev {dev}")
        self.up(dev)

    def cookie(self):
        """What tells it from all others that ever were."""
        with self.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asked:
            return int.from_bytes(asked.getsockopt(socket.SOL_SOCKET, 71, 8), "little")

    def links(self, *options):
        """What `ip link show` knows of each device, by name."""
        shown = json.loads(self.run("ip", "-j", *options, "link", "show").stdout)
        return {link["ifname"]: link for link in shown}

    def programs(self, dev):
        """At the traffic control hooks of a device, in their order: "kind", "name", "prog_id"."""
        [shown] = json.loads(self.run("bpftool", "-j", "net", "show", "dev", dev).stdout)
        return shown["tc"]

    def sysctl(self, key, value):
        with self.entered():
            Path("/proc/sys", key.replace(".", "/")).write_text(str(value))

    @contextlib.contextmanager
    def entered(self):
        """What is opened inside belongs to this namespace (sockets, netlink)."""
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        try:
            os.setns(there, os.CLONE_NEWNET)
            yield
        finally:
            os.setns(home, os.CLONE_NEWNET)
            os.close(there)
            os.close(home)

    def socket(self, *args):
        with self.entered():
            return socket.socket(*args)

    def delete(self):
        """Remove the namespace, after whatever still runs in it."""
        pids = run("ip", "netns", "pids", self.name).stdout.split()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), 9)
        run("ip", "netns", "delete", self.name)


def switch_off_offloads(space, name):
    """No packet on this interface is larger than the MTU from now on."""
    space.run("ethtool", "-K", name, "tso", "off", "gso", "off", "gro", "off",
              "tx-udp-segmentation", "off", check=False)
    space.ip(f"link set {name} gso_max_segs 1")


@functools.cache
def has_modules():
    """Does the running kernel have its modules? The archive loses those of some kernels
    (tests/lab/kernels.py); what is built in has to do then."""
    return run("modprobe", "-qn", "veth", check=False).returncode == 0


def dummy(space, name, *words):
    """A device that takes all packets, up, and without IPv6, whose packets would be counted.
    `words`: more for `ip link add`."""
    space.run("ip", "link", "add", name, *words, "type", "dummy")
    space.up_without_ipv6(name)


def veth(left, left_name, right, right_name, *, offload=False, words=(),
         peer_words=()):
    """A cable between two namespaces, both ends up; fixed MAC addresses, so that
    runs repeat to the bit. Without offload no packet on it is larger than the MTU.
    `words`, `peer_words`: more for `ip link add` of the left end, and the right. Of a kernel
    without modules the cable is a pair of netkit devices."""
    kind = ("veth",) if has_modules() else ("netkit", "mode", "l2")
    run("ip", "link", "add", left_name, "netns", left.name, "address", "02:00:00:00:00:01",
        *words, "type", *kind, "peer", "name", right_name, "netns", right.name,
        "address", "02:00:00:00:00:02", *peer_words)
    for space, name in ((left, left_name), (right, right_name)):
        space.up_without_ipv6(name)
        if not offload:
            switch_off_offloads(space, name)
