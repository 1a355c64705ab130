# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The tools where a process has no more open files, or a look at something is refused: they say so,
and take it neither for "there is none" nor for "wrong"."""

import json

import pytest
from conftest import BIN, LOADER, PIN_DIR, PUBLIC_PIN_DIR, Qdisc, one_line, root
from faults import SAMPLE
from netns import run, wait_until

pytestmark = pytest.mark.oldest_kernel

STATS = BIN / "dualpi2-stats"


# ---- open files -------------------------------------------------------------------------


def with_files(limit, *argv):
    """The command line with so many open files at most."""
    return "prlimit", f"--nofile={limit}", *argv


FEW = range(4, 48)  # with three the programs find no shared libraries
FEW_ONE_IN = 6


@pytest.mark.parametrize("command", [
    (LOADER, "one", "--rate", "5mbit"), (LOADER, "--check", "one")], ids=["load", "check"])
def test_few_files_on_a_host_without_it(bare, command, long):
    """A first load takes long, even one that fails."""
    check_few_files(bare, command, FEW if long else FEW[SAMPLE % FEW_ONE_IN::FEW_ONE_IN])


def test_few_files_for_the_last_unload(bare):
    Qdisc(bare, "one").load()
    check_few_files(bare, (LOADER, "one", "--unload"))
    assert not PIN_DIR.exists()


@pytest.mark.parametrize("command", [
    (LOADER, "one", "--limit", 50), (LOADER, "one", "--unload"), (LOADER, "--check", "one"),
    (STATS, "one"), (STATS, "--json")], ids=["change", "unload", "check", "stats", "json"])
def test_few_files(space, command):
    Qdisc(space, "one").load()
    check_few_files(space, command)


def check_few_files(space, command, limits=FEW):
    """It works, or says what is short of and changes nothing. From some limit on it works."""
    def state():
        attached = root(space, "one")["kind"] == "bpf_dualpi2"
        return attached and Qdisc(space, "one").stats()["options"], set(space.links())

    before = state()
    for limit in limits:
        done = space.run(*with_files(limit, *command), check=False)
        if done.returncode == 0:
            assert done.stderr == "", (limit, done)
            break
        assert done.returncode == 1, (limit, done)
        told = done.stderr or "".join(line for line in done.stdout.splitlines(keepends=True)
                                      if line.startswith("MISSING"))
        assert told.count("\n") == 1 and "too few open files" in told, (limit, done)
        assert "`ulimit -n" in told, (limit, done)
        assert "--check" in command or done.stdout == "", (limit, done)
    if done.returncode:
        assert state() == before
        space.run(*with_files(64, *command))


# ---- refused looks ----------------------------------------------------------------------


def test_registration_that_cannot_be_looked_at(space):
    """It is not one of another version for that."""
    Qdisc(space, "one").load()
    looks = run("strace", "-e", "trace=bpf", *space.argv(STATS, "one")).stderr.splitlines()
    first = 1 + min(number for number, line in enumerate(
        line for line in looks if line.startswith("bpf(")) if "BPF_MAP_LOOKUP_ELEM" in line)
    for error, told in (("ENFILE", "fs.file-max"), ("ENOMEM", "out of memory"),
                        ("EIO", "cannot look at the maps")):
        inject = f"--inject=bpf:error={error}:when={first}"
        done = space.run("strace", "-o", "/dev/null", "-e", "trace=bpf", inject, STATS, "one",
                         check=False)
        assert told in one_line(done, 1)


def test_statistics_that_are_missed(space):
    """By each look-up, as may happen while they are written all the time."""
    Qdisc(space, "one").load("--limit", 77)
    done = space.run("env", f"LD_PRELOAD={BIN / 'missed.so'}", STATS, "one", "--json")
    [stats] = json.loads(done.stdout)
    assert stats["options"]["limit"] == 77
    space.run(LOADER, "one", "--unload")
    assert json.loads(space.run(STATS, "one", "--json").stdout) == []


def test_tcx_program_that_cannot_be_looked_for(space):
    """It is not missing for that."""
    Qdisc(space, "one").load()
    look = space.argv(STATS, "one", "--json")
    looks = run("strace", "-e", "trace=bpf", *look).stderr.splitlines()
    pin = 1 + max(number for number, line in enumerate(
        line for line in looks if line.startswith("bpf(")) if "BPF_OBJ_GET, " in line)
    inject = f"--inject=bpf:error=ENFILE:when={pin}"
    done = space.run("strace", "-o", "/dev/null", "-e", "trace=bpf", inject, STATS, "one", "--json")
    assert json.loads(done.stdout)[0]["tcx-attached"] is None


@pytest.mark.parametrize("path, call, options, told", [
    ("/sys/kernel/btf/vmlinux", "openat", ["--check"], "this host has no room"),
    ("/sys/fs/bpf", "newfstatat", ["--limit", 50], "out of memory")])
def test_a_file_that_cannot_be_looked_at(space, path, call, options, told):
    check_refused_look(space, path, call, options, told)


def test_default_qdisc_that_cannot_be_looked_at(bare):
    """The last --unload asks for it."""
    check_refused_look(bare, "/proc/sys/net/core/default_qdisc", "openat", ["--unload"],
                       "this host has no room")


def check_refused_look(space, path, call, options, told):
    """It is neither missing nor wrong for that."""
    qdisc = Qdisc(space, "one")
    qdisc.load()
    before = qdisc.stats()["options"]
    error = "ENOMEM" if call == "newfstatat" else "ENFILE"
    done = space.run("strace", "-o", "/dev/null", "-P", path, f"--inject={call}:error={error}",
                     LOADER, "one", *options, check=False)
    assert done.returncode == 1
    assert told in (done.stdout if options == ["--check"] else one_line(done, 1)), done
    assert "built without" not in done.stdout
    assert qdisc.stats()["options"] == before


def test_events_that_cannot_be_looked_for(bare, tmp_path):
    """The kind is still registered for all that --events knows, so it goes on."""
    trace = tmp_path / "trace"
    bare.run(LOADER, "one")
    follower = bare.popen("strace", "-I", "2", "-o", trace, "-e", "trace=bpf,faccessat2", STATS,
                           "--events")
    try:
        wait_until(lambda: trace.exists() and trace.read_text().count('dualpi2_events"') > 1,
                   "it looks whether it is still registered")
        PIN_DIR.chmod(0)  # root without the right to pass
        PUBLIC_PIN_DIR.chmod(0)
        wait_until(lambda: trace.read_text().count("EACCES") > 2 or follower.poll() is not None,
                   "it has looked in vain three times, or given up")
        assert follower.poll() is None, follower.communicate()
    finally:
        PIN_DIR.chmod(0o700)
        PUBLIC_PIN_DIR.chmod(0o755)
        follower.terminate()
        output, _ = follower.communicate(timeout=60)
    assert output == ""
