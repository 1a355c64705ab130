# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Kill a program at, or refuse it, one of its system calls.

strace does it (`--inject`), so no step can be forgotten and the product needs no code for
it. A SIGKILL that arrives with a call ends the process before that call is carried out:
what is seen is the state after the one before it.
"""

import os
import re
from collections import Counter

from conftest import one_line
from netns import wait_until

CALLS = "bpf,sendto,mkdir,rmdir,unlink,unlinkat,mount,membarrier"
STRACE = ("strace", "-f", "-e", f"trace={CALLS}")
# Where nobody reads what it prints: to find out what a socket is for takes it longer than all else.
UNREAD = ("-e", f"raw={CALLS}", "-o", "/dev/null")
# Of bpf(2), those that only look.
LOOKING = ("BPF_OBJ_GET", "BPF_OBJ_GET_INFO_BY_FD", "BPF_MAP_LOOKUP_ELEM", "BPF_MAP_GET_NEXT_KEY",
           "BPF_PROG_QUERY")
# With the numbers of include/uapi/linux/rtnetlink.h, which strace does not print.
RTM_GET = ("0x12", "0x26", "0x2e")  # LINK, QDISC, TFILTER
# What each call is refused with: an error that the kernel does give there.
ERRORS = {"bpf": "ENOMEM", "sendto": "ENOBUFS", "mkdir": "EROFS", "rmdir": "EROFS",
          "unlink": "EROFS", "unlinkat": "EROFS", "mount": "EPERM", "membarrier": "ENOSYS"}
ONE_IN = 12  # of the calls that change something, in the short version
FIRST_ONE_IN = 4 * ONE_IN  # where each run takes a second, for it loads programs
# Which of them: tests/run chooses another one each time, and says which.
SAMPLE = int(os.environ.get("DUALPI2_SAMPLE", "0"))


def calls_of(space, argv, tmp_path, long, one_in=ONE_IN):
    """Calls of an undisturbed run as (name, how manieth of that name in its process, which is how
    strace counts): all in the `long` version, else one in so many of those that change something,
    and one at least."""
    trace = tmp_path / "trace"
    space.run(*STRACE, "-o", trace, *argv)
    calls, count = [], Counter()
    for pid, name, rest in re.findall(r"^(\d+) +(\w+)\((.*)$", trace.read_text(), re.M):
        count[pid, name] += 1
        first = rest.split(",")[0]
        kind = re.search(r"nlmsg_type=(0x[0-9a-f]+)", rest)
        looks = first in LOOKING or (kind and kind[1] in RTM_GET)
        if long or not looks:
            calls.append((name, count[pid, name]))
    assert calls
    calls = list(dict.fromkeys(calls))
    return calls if long else calls[SAMPLE % min(one_in, len(calls))::one_in]


def disturb(space, argv, call, how):
    name, number = call
    return space.run(*STRACE, *UNREAD, f"--inject={name}:{how}:when={number}", *argv, check=False)


def kill_at_each_step(space, there, back, state, *how):
    """Kill each of two commands at each of its calls (calls_of()): after that `there` still does
    all its work, and `back` leaves nothing. `state()`: all that they may change."""
    before = state()
    calls = [(there, call) for call in calls_of(space, there, *how)]
    after = state()
    calls += [(back, call) for call in calls_of(space, back, *how)]
    for argv, call in calls:
        if argv is back:
            space.run(*there)
        assert disturb(space, argv, call, "signal=KILL").returncode == -9, call
        space.run(*there)
        assert state() == after, call
        space.run(*back)
        assert state() == before, call


def refuse_at_each_step(space, there, back, state, *how, seconds=0):
    """Refused each of its calls, a command says so in one line, and everything is as it was (after
    so many seconds at most, which the kernel may take); or it can do without. `back` takes back
    what it does; None: it has been done before."""
    before = state()
    calls = calls_of(space, there, *how)
    after = state()
    if back:
        space.run(*back)
    for call in calls:
        done = disturb(space, there, call, f"error={ERRORS[call[0]]}")
        if done.returncode:
            one_line(done, 1)
            wait_until(lambda: state() == before, f"all is as before: {call}", seconds)
        else:
            assert state() == after, call
            if back:
                space.run(*back)
