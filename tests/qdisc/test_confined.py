# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The loader where something is scarce or forbidden: address space, system calls, instances."""

import ctypes
import json
import re
import struct

import pytest
from conftest import BIN, LOADER, PIN_DIR, Qdisc, one_line, root
from frames import NOT_ECT, ipv4_frame, send
from netns import dummy

pytestmark = pytest.mark.oldest_kernel

MAX_INSTANCES = 256  # include/dualpi2.h


def forwards(space, dev):
    """A frame goes through the qdisc and is counted."""
    before = Qdisc(space, dev).check_conservation()["packets"]
    send(space, dev, ipv4_frame(1, NOT_ECT, 200))
    assert Qdisc(space, dev).check_conservation()["packets"] == before + 1


# ---- address space ------------------------------------------------------------------------

# Bytes of address space: the program itself starts with some 5 MB, and reads the kernel's types,
# which take 11 MB more.
LIMITS = range(3_000_000, 40_000_000, 400_000)


def limited(space, limit):
    return space.run("prlimit", f"--as={limit}", LOADER, "one", check=False)


def test_little_address_space(box):
    """RLIMIT_AS: from some limit on it works; below, it ends in one line, or before it has begun:
    then the line is the dynamic linker's, or the kernel has no room for the program at all."""
    before = root(box, "one")
    ours = 0
    for limit in LIMITS:
        done = limited(box, limit)
        if not done.returncode:
            break
        if done.returncode == 1:
            assert "memory" in one_line(done, 1)
            ours += 1
        else:
            assert done.returncode in (127, -11, -9), done
        assert root(box, "one") == before
        assert not PIN_DIR.exists()
    assert done.returncode == 0, "it never had enough"
    assert ours, "the loader itself never had too little"
    forwards(box, "one")
    box.run(LOADER, "one", "--unload")


# ---- system calls -------------------------------------------------------------------------

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
# include/uapi/linux/seccomp.h
KILL_PROCESS, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
EPERM, ENOSYS, SIGSYS = 1, 38, 31
# include/uapi/linux/bpf_common.h; the first word of struct seccomp_data is the number
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBERS = {"bpf": 321, "capset": 126, "flock": 73, "membarrier": 324, "memfd_create": 319,
           "mkdir": 83, "prctl": 157, "recvmsg": 47, "sendto": 44, "socket": 41,
           "unlink": 87}  # x86-64


def forbid(name, action):
    """For a child process: what happens at a system call, instead of it."""
    rows = ((LOAD_WORD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, NUMBERS[name]), (RETURN, 0, 0, action),
            (RETURN, 0, 0, ALLOW))
    code = b"".join(struct.pack("=HBBI", *row) for row in rows)
    libc = ctypes.CDLL(None, use_errno=True)

    def apply():
        memory = ctypes.create_string_buffer(code)
        program = struct.pack("=H6xQ", len(rows), ctypes.addressof(memory))
        assert not libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        assert not libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)

    return apply


@pytest.mark.parametrize("name, error", [*((name, EPERM) for name in NUMBERS), ("bpf", ENOSYS)])
def test_forbidden_call(box, name, error):
    """A filter like those of containers and services: it works without the call, or one line
    says what does not, and nothing has changed."""
    before = root(box, "one")
    done = box.run(LOADER, "one", check=False, preexec_fn=forbid(name, ERRNO | error))
    if done.returncode:
        line = one_line(done, 1)
        assert "others" not in line, "nobody else has anything to do with it"
        assert root(box, "one") == before
    else:
        assert done.stderr.count("\n") <= 1, done
        forwards(box, "one")
        box.run(LOADER, "one", "--unload")
    assert not PIN_DIR.exists()


def test_deadly_call(box):
    """A filter that kills: as any kill, it leaves the interface as it was."""
    before = root(box, "one")
    done = box.run(LOADER, "one", check=False, preexec_fn=forbid("bpf", KILL_PROCESS))
    assert done.returncode == -SIGSYS
    assert root(box, "one") == before
    box.run(LOADER, "one")
    forwards(box, "one")
    box.run(LOADER, "one", "--unload")
    assert not PIN_DIR.exists()


def test_statistics_where_bpf_is_forbidden(registered, box):
    box.run(LOADER, "one")
    line = one_line(box.run(BIN / "dualpi2-stats", "one", check=False,
                            preexec_fn=forbid("bpf", ERRNO | EPERM)), 1)
    assert "root" in line, line
    forwards(box, "one")
    box.run(LOADER, "one", "--unload")


# ---- 256 instances, and one more ---------------------------------------------------------


@pytest.fixture
def full(registered, new_space):
    """A namespace for as many as there can be."""
    return new_space("full")


def test_one_instance_too_many(full, long):
    """256 work, the next is refused, and any that goes makes room for it."""
    space = full
    names = [f"s{number}" for number in range(MAX_INSTANCES - 2 if long else 4)]
    for name in [*names, "more"]:
        dummy(space, name)
    # The quickest way to many; and one is that of `registered`.
    queues = MAX_INSTANCES - 1 - len(names)
    dummy(space, "wide", "numtxqueues", queues + 1)  # one too many
    dummy(space, "two", "numtxqueues", 2)
    before = {name: root(space, name) for name in ("more", "two", "wide")}
    for name in names:
        space.run(LOADER, name)
    line = one_line(space.run(LOADER, "wide", "--mq", check=False), 1)
    assert f"{queues + 1} qdiscs" in line and f"{queues} are free" in line, line
    assert root(space, "wide") == before["wide"]
    fill(space, queues)
    for refused in ("more", "--rate", "1mbit"), ("two", "--mq"), ("more", "--replace"):
        line = one_line(space.run(LOADER, *refused, check=False), 1)
        assert str(MAX_INSTANCES) in line and "0 are free" in line, line
        assert root(space, refused[0]) == before[refused[0]]
    for name in names:
        forwards(space, name)
    assert len(instances(space)) == MAX_INSTANCES - 1
    space.run(LOADER, names[0], "--unload")
    one_line(space.run(LOADER, "two", "--mq", check=False), 1)
    space.run("tc", "qdisc", "replace", "dev", "two", "root", "handle", "7:", "mq")
    somebodys = space.run("tc", "qdisc", "show", "dev", "two").stdout
    for handle in "7:", "9:":
        one_line(space.run(LOADER, "two", "--mq", "--replace", "--handle", handle, check=False), 1)
        assert space.run("tc", "qdisc", "show", "dev", "two").stdout == somebodys
    space.run("tc", "qdisc", "del", "dev", "two", "root")
    assert root(space, "two") == before["two"]
    space.run(LOADER, "more", "--rate", "1mbit")
    forwards(space, "more")
    for name in [*names[1:], "more", "rest"]:
        space.run(LOADER, name, "--unload")
    assert not instances(space)


def fill(space, queues):
    """The rest, by an interface of so many queues."""
    dummy(space, "rest", "numtxqueues", max(queues, 2))
    space.run(LOADER, "rest", *(["--mq"] if queues > 1 else []))


def instances(space):
    shown = json.loads(space.run(BIN / "dualpi2-stats", "--json").stdout)
    return [entry for entry in shown if entry["kind"] == "bpf_dualpi2"]


def test_check_tells_that_there_is_no_room(full):
    fill(full, MAX_INSTANCES - 1)
    dummy(full, "more")
    checks = [full.run(LOADER, "--check", "more", *options, check=False)
              for options in ((), ("--ingress", "--rate", "1mbit"))]
    full.run(LOADER, "rest", "--unload")
    for check in checks:
        assert check.returncode == 1 and "0 are free" in check.stdout, check.stdout


# ---- without /proc -----------------------------------------------------------------------

WITHOUT_PROC = ("unshare", "--mount", "sh", "-c", 'umount -l /proc && exec "$@"', "sh")
# What looks for pins.
LOOKS = [(LOADER, "one"), (LOADER, "one", "--unload"), *(
    (BIN / tool, *arguments.split()) for tool, all_arguments in (
        ("tcp-prague", ("on", "off", "status", "status --json")),
        ("tcp-base-rtt", ("add 10.0.0.0/8 80us", "list", "del 10.0.0.0/8", "off", "off --if-on")),
        ("dualpi2-stats", ("one", "--events")),
    ) for arguments in all_arguments)]


def test_without_proc(space):
    """What is pinned cannot be told: that is not that there is nothing, nor a missing device."""
    space.run(LOADER, "one")
    before = root(space, "one")
    for argv in LOOKS:
        line = one_line(space.run(*WITHOUT_PROC, *argv, check=False), 1)
        assert "without /proc: `mount -t proc proc /proc`" in line, (argv, line)
    done = space.run(*WITHOUT_PROC, LOADER, "--check", "one", check=False)
    assert done.returncode == 1 and done.stderr == ""
    assert re.search("^MISSING .*without /proc: `mount", done.stdout, re.MULTILINE), done.stdout
    assert root(space, "one") == before
