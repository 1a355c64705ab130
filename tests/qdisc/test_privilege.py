# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The rights of the tools: which they need, which they give up, and what others may do."""

import contextlib
import json
import os
import re
import shutil
import stat
import struct
from pathlib import Path

import pytest
from conftest import (
    BIN,
    LOADER,
    PI2_PINS,
    PIN_DIR,
    PUBLIC_PIN_DIR,
    following,
    one_line,
    root,
    written,
)
from frames import NOT_ECT, ipv4_frame, send
from netns import run, wait_until

STATS = BIN / "dualpi2-stats"
BPFFS = PIN_DIR.parent
NOBODY = 65534
NEEDED = ("bpf", "net_admin", "perfmon")
# include/uapi/linux/capability.h
NUMBERS = {"net_admin": 12, "perfmon": 38, "bpf": 39}


@contextlib.contextmanager
def mode(path, bits):
    """Distributions mount /sys/fs/bpf with mode 0700, the lab with 1777."""
    before = path.stat().st_mode
    path.chmod(bits)
    try:
        yield
    finally:
        path.chmod(before)


@pytest.fixture
def own_directory():
    """A directory for pins that is not root's, in a file system that is."""
    PIN_DIR.mkdir(mode=0o700)
    os.chown(PIN_DIR, NOBODY, NOBODY)
    with mode(BPFFS, 0o711):
        yield
    shutil.rmtree(PIN_DIR)


def as_nobody(*argv, rights=()):
    """The command line without root's rights but these."""
    granted = ",".join(["-all", *(f"+{right}" for right in rights)])
    return ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            f"--inh-caps={granted}", f"--ambient-caps={granted}", *argv)


def send_one(space, dev):
    send(space, dev, ipv4_frame(1, NOT_ECT, 200))


# ---- what is needed -------------------------------------------------------------------


def test_least_rights(own_directory, box):
    """Three capabilities and a directory; nothing else of root's."""
    before = root(box, "one")
    for options in ("--rate 40mbit", "--target 9ms --no-split-gso", "--split-gso"):
        box.run(*as_nobody(LOADER, "one", *options.split(), rights=NEEDED))
    send_one(box, "one")
    [stats] = json.loads(box.run(*as_nobody(STATS, "one", "--json")).stdout)
    assert stats["options"]["target"] == 9000
    assert stats["packets"] == 1 and stats["bypassed-tcx"] == 0
    assert stats["tcx-attached"] is True
    done = box.run(*as_nobody(LOADER, "one", "--unload", rights=["net_admin"]))
    assert root(box, "one") == before
    assert "stays registered" in done.stdout, "net.core.default_qdisc is not to be seen here"
    run(*as_nobody(LOADER, "lo", "--unload", "--if-attached", rights=["net_admin"]))
    assert list(PIN_DIR.iterdir()) == []


@pytest.mark.parametrize("missing", NEEDED)
def test_a_right_that_is_missing_is_told(own_directory, box, missing):
    rights = [right for right in NEEDED if right != missing]
    line = one_line(box.run(*as_nobody(LOADER, "one", rights=rights), check=False), 1)
    assert f"CAP_{missing.upper()}" in line and "root" in line
    assert list(PIN_DIR.iterdir()) == []


@pytest.mark.skipif("DUALPI2_LAB" not in os.environ, reason="unmounts /sys/fs/bpf: lab only")
def test_root_is_told_what_it_lacks(bare):
    """To run it as root does not help it: a container has taken rights from it."""
    def without(*rights):
        taken = ",".join(f"-{right}" for right in rights)
        return "setpriv", f"--bounding-set={taken}", f"--inh-caps={taken}"

    line = one_line(bare.run(*without("bpf", "perfmon"), LOADER, "one", check=False), 1)
    assert line.endswith("run it with CAP_PERFMON, CAP_BPF, which root does not have here\n")
    run("umount", BPFFS)
    try:
        # Nor is the first mount namespace's to be entered.
        line = one_line(bare.run("unshare", "--mount", *without("sys_admin"), LOADER, "one",
                                  check=False), 1)
        assert line.endswith("run it with CAP_SYS_ADMIN, which root does not have here\n")
        line = one_line(bare.run(*without("sys_admin"), LOADER, "one", check=False), 1)
        assert "`mount -t bpf bpf /sys/fs/bpf` with CAP_SYS_ADMIN, which root" in line
        line = one_line(bare.run("unshare", "--mount", "strace", "-o", "/dev/null",
                                 "--inject=setns:error=EPERM", LOADER, "one", check=False), 1)
        assert "outside of the container or sandbox that forbids it to root" in line
    finally:
        run("mount", "-t", "bpf", "bpf", BPFFS)


def test_a_directory_that_is_missing_is_told(bare):
    with mode(BPFFS, 0o700):
        line = one_line(bare.run(*as_nobody(LOADER, "one", rights=NEEDED), check=False), 1)
        assert str(PIN_DIR) in line and "root" in line
        assert "MISSING  BPF file system" in bare.run(
            *as_nobody(LOADER, "--check", rights=NEEDED), check=False).stdout


def test_file_capabilities(own_directory, box, tmp_path):
    """The program has the rights, whoever runs it; and takes nothing from the environment."""
    program = Path(shutil.copy(LOADER, "/tmp/dualpi2-load"))
    bits = sum(1 << NUMBERS[right] for right in NEEDED)
    # struct vfs_cap_data, include/uapi/linux/capability.h: revision 2, effective
    value = struct.pack("<IIIII", 0x02000001, bits & 0xffffffff, 0, bits >> 32, 0)
    os.setxattr(program, "security.capability", value)
    try:
        box.run(*as_nobody(program, "one", "--rate", "40mbit"))
        assert root(box, "one")["kind"] == "bpf_dualpi2"
        box.run(*as_nobody(program, "one", "--unload"))
        assert root(box, "one")["kind"] != "bpf_dualpi2"
    finally:
        program.unlink()


# ---- what is given up -----------------------------------------------------------------


def rights_of(text):
    """The permitted capabilities of a line `capset(...)` of strace."""
    permitted = re.search(r"permitted=(.*?), inheritable=0[,}]", text)[1]
    return {name.removeprefix("CAP_").lower() for name in re.findall(r"CAP_\w+", permitted)}


def test_loader_gives_up_rights(bare, tmp_path):
    trace = tmp_path / "trace"
    bare.run("strace", "-o", trace, "-e", "trace=prctl,capset,bpf,sendto,mkdir", LOADER, "one")
    calls = [line for line in trace.read_text().splitlines() if re.match(r"\w+\(", line)]
    held, at_call = None, {}
    for call in calls:
        if call.startswith("capset("):
            held = rights_of(call)
        else:
            at_call.setdefault(re.match(r"\w+\((?:BPF_\w+)?", call)[0], []).append(held)
    assert any("PR_SET_NO_NEW_PRIVS, 1" in call for call in calls)
    for call in "mkdir(", "bpf(BPF_PROG_LOAD", "bpf(BPF_OBJ_PIN":
        assert at_call[call][0] == set(NEEDED), call
    for call in ("bpf(BPF_LINK_CREATE", "bpf(BPF_PROG_ATTACH"):
        assert at_call[call][-1] == {"net_admin"}, call
    assert at_call["sendto("][-1] == {"net_admin"}
    assert held == {"net_admin"}


def test_stats_gives_up_all_rights(space):
    space.run(LOADER, "one")
    with following(space, STATS, "--events") as follower:
        status = dict(line.split(":\t", 1)
                      for line in Path(f"/proc/{follower.pid}/status").read_text().splitlines())
    assert int(status["CapPrm"], 16) == int(status["CapEff"], 16) == 0
    assert int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0
    assert status["NoNewPrivs"] == "1"


# ---- who else may look ----------------------------------------------------------------


def test_everybody_may_look(space):
    space.run(LOADER, "one", "--rate", "40mbit")
    send_one(space, "one")
    with mode(BPFFS, 0o711):
        wait_until(lambda: json.loads(space.run(*as_nobody(STATS, "one", "--json")).stdout)[0]
                   ["c-queue"]["packets-out"] == 1, "the timer has published it")
        [stats] = json.loads(space.run(*as_nobody(STATS, "one", "--json")).stdout)
        assert stats["options"]["rate"] == 40_000_000
        assert stats["tcx-attached"] is None, "that takes the right to open its pin"
        assert "warning" not in space.run(*as_nobody(STATS, "one")).stdout
        with following(space, *as_nobody(STATS, "--events")) as follower:
            follower.terminate()
            assert follower.stdout.read() == "" and follower.wait() == 0
    with mode(BPFFS, 0o700):
        line = one_line(space.run(*as_nobody(STATS, "one"), check=False), 1)
        assert "root" in line and f"chmod 711 {BPFFS}" in line


def test_whom_the_guard_has_convicted_not_everybody_may_see(space):
    """How often it has, and not who: that is unknown to others, which is not nobody."""
    space.run(LOADER, "one", "--rate", "40mbit", "--guard")
    assert json.loads(space.run(STATS, "one", "--json").stdout)[0]["guard"]["convicts"] == 0
    with mode(BPFFS, 0o711):
        [stats] = json.loads(space.run(*as_nobody(STATS, "one", "--json")).stdout)
        assert stats["guard"]["convictions"] == 0 and stats["guard"]["convicts"] is None
        assert "guard_convicts" not in space.run(*as_nobody(STATS, "--prometheus")).stdout.replace(
            "# HELP dualpi2_guard_convicts ", "").replace("# TYPE dualpi2_guard_convicts ", "")
        for options in ("--flows",), ("--flows", "--json"):
            line = one_line(space.run(*as_nobody(STATS, "one", *options), check=False), 1)
            assert "run it as root" in line
    space.run(LOADER, "one", "--no-guard")
    with mode(BPFFS, 0o711):
        assert "the guard is off" in space.run(*as_nobody(STATS, "one", "--flows")).stdout


def test_statistics_that_are_hidden(space):
    """By `ip netns exec`: they cannot be seen, which is not that they are gone."""
    space.run(LOADER, "one")

    def look(*argv):
        return run("ip", "netns", "exec", space.name, *as_nobody(STATS, *argv), check=False)

    for argv in ("one",), (), ("one", "--json"), ("--prometheus",), ("--jsonl",), ("--events",):
        line = one_line(look(*argv), 1)
        assert "cannot be seen" in line and "ip netns exec" in line and "run it as root" in line
        assert "gone" not in line
    assert "no bpf_dualpi2 qdisc" in one_line(look("two"), 1)
    assert json.loads(look("two", "--json").stdout) == []


def test_statistics_that_are_not_public(bare):
    """Where the owner of the pins may not publish them."""
    bare.run(LOADER, "one")
    shutil.rmtree(PUBLIC_PIN_DIR)
    with mode(BPFFS, 0o711):
        line = one_line(bare.run(*as_nobody(STATS, "one"), check=False), 1)
    assert f"only the owner of {PIN_DIR}" in line and "run it as root" in line


def test_pins_that_are_hidden(space):
    """Three rights are enough to attach, but not to find the pins behind `ip netns exec`."""
    space.run(LOADER, "one")
    for argv in ("one",), ("two",), ("one", "--unload"):
        done = run("ip", "netns", "exec", space.name, *as_nobody(LOADER, *argv, rights=NEEDED),
                   check=False)
        line = one_line(done, 1)
        assert "cannot be seen" in line and "ip netns exec" in line and "run it as root" in line
    assert root(space, "one")["kind"] == "bpf_dualpi2"
    assert root(space, "two")["kind"] != "bpf_dualpi2"


# ---- a user namespace -------------------------------------------------------------------


IN_USER_NAMESPACE = ("unshare", "--user", "--map-root-user", "--net")


@pytest.mark.parametrize("who", ["root", "nobody"])
def test_user_namespace(bare, who):
    """Its root has all rights there, but the kernel takes no BPF programs from it."""
    def confined(*argv):
        command = (*IN_USER_NAMESPACE, *argv)
        return run(*(as_nobody(*command) if who == "nobody" else command), check=False)

    line = one_line(confined(LOADER, "lo"), 1)
    assert "user namespace" in line and "root of the host" in line
    assert not PIN_DIR.exists()
    with mode(BPFFS, 0o1777):
        done = confined(LOADER, "--check")
    [missing] = [line for line in done.stdout.splitlines() if line.startswith("MISSING")]
    assert done.returncode == 1 and done.stderr == ""
    assert "rights to load" in missing and "user namespace" in missing
    with mode(BPFFS, 0o700):
        line = one_line(confined(LOADER, "lo"), 1)
        assert "user namespace" in line and "root of the host" in line


def test_user_namespace_where_it_is_registered(space):
    """Then nothing has to be loaded."""
    space.run(LOADER, "one")
    done = run(*IN_USER_NAMESPACE, "sh", "-ec", f"""
        ip link add dev dum0 type dummy
        ip link set dum0 up
        {LOADER} --check dum0
        {LOADER} dum0 --no-split-gso
        {STATS} dum0 --json
        {LOADER} dum0 --unload""")
    assert "MISSING" not in done.stdout and "dum0: unloaded" in done.stdout


def modes(files):
    return {stat.S_IMODE(file.stat().st_mode) for file in files}


def test_nobody_may_do_more(space):
    space.run(LOADER, "one")
    assert stat.S_IMODE(PIN_DIR.stat().st_mode) == 0o700
    assert modes(PIN_DIR.iterdir()) == {0o700} and modes(PIN_DIR.glob("*/*")) == {0o600}
    public = PUBLIC_PIN_DIR / PI2_PINS.name
    assert modes([PUBLIC_PIN_DIR, public]) == {0o755} and modes(public.iterdir()) == {0o444}
    assert {pin.name for pin in public.iterdir()} == {"dualpi2_abi", "dualpi2_delays",
                                                      "dualpi2_events", "dualpi2_stats"}
    with mode(BPFFS, 0o711):
        for name, length in ("dualpi2_stats", 16), ("dualpi2_events", 4):
            for pin in PI2_PINS / name, public / name:
                done = space.run(*as_nobody("bpftool", "map", "update", "pinned", pin, "key",
                                            *[0] * length, "value", *[1] * 80), check=False)
                assert done.returncode
                assert "ermission denied" in done.stderr or "bpffs" in done.stderr
        assert "root" in one_line(space.run(*as_nobody(LOADER, "one", "--unload"), check=False), 1)
    assert root(space, "one")["kind"] == "bpf_dualpi2"


def test_a_directory_that_others_made_is_refused(bare):
    """Where everybody may write to /sys/fs/bpf."""
    with mode(BPFFS, 0o1777):
        run(*as_nobody("mkdir", "-m", "700", PIN_DIR))
        line = one_line(bare.run(LOADER, "one", check=False), 1)
        assert f"rm -r {PIN_DIR}" in line
        assert list(PIN_DIR.iterdir()) == []
        PIN_DIR.rmdir()
        PIN_DIR.mkdir()
        PIN_DIR.chmod(0o777)
        assert f"rm -r {PIN_DIR}" in one_line(bare.run(LOADER, "one", check=False), 1)
        PIN_DIR.rmdir()


def test_a_link_that_others_made_is_not_followed(bare, tmp_path):
    """Where everybody may write to /sys/fs/bpf; even if the kernel would follow it."""
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o700)
    (victim / "file").touch()
    before = victim.stat().st_mode
    with written(Path("/proc/sys/fs/protected_symlinks"), "0"), mode(BPFFS, 0o1777):
        run(*as_nobody("ln", "-s", victim, PUBLIC_PIN_DIR))
        one_line(bare.run(LOADER, "one", check=False), 1)
        bare.run(LOADER, "one", "--unload", check=False)
        PUBLIC_PIN_DIR.unlink()
    assert victim.stat().st_mode == before
    assert [left.name for left in victim.iterdir()] == ["file"]


# ---- the BPF file system ---------------------------------------------------------------


@contextlib.contextmanager
def read_only(path):
    run("mount", "-o", "remount,ro", path)
    try:
        yield
    finally:
        run("mount", "-o", "remount,rw", path)


@pytest.mark.skipif("DUALPI2_LAB" not in os.environ, reason="remounts /sys/fs/bpf: lab only")
def test_read_only_bpffs(bare):
    before = root(bare, "one")
    with read_only(BPFFS):
        assert "read-only" in one_line(bare.run(LOADER, "one", check=False), 1)
        assert root(bare, "one") == before
    bare.run(LOADER, "one")
    with read_only(BPFFS):
        assert "read-only" in one_line(bare.run(LOADER, "one", "--limit", 5, check=False), 1)
        send_one(bare, "one")
        assert json.loads(bare.run(STATS, "one", "--json").stdout)[0]["packets"] == 1
    bare.run(LOADER, "one", "--unload")
    assert root(bare, "one") == before
    assert not PIN_DIR.exists()


def test_foreign_files_in_bpffs(bare, foreign_program):
    """Beside our directory and in it: the first stay, the others are nobody's business there."""
    PIN_DIR.mkdir(mode=0o700)
    (PIN_DIR / "somebodys").mkdir()
    others = [pin_again(foreign_program, BPFFS / f"foreign{number}")
              for number in range(3)]
    bare.run(LOADER, "one")
    assert root(bare, "one")["kind"] == "bpf_dualpi2"
    bare.run(LOADER, "one", "--unload")
    assert all(pin.exists() for pin in others)
    assert [left.name for left in PIN_DIR.iterdir()] == ["somebodys"]
    for pin in others:
        pin.unlink()
    (PIN_DIR / "somebodys").rmdir()
    PIN_DIR.rmdir()


def pin_again(pinned, path):
    """Pin a program once more."""
    run("bpftool", "prog", "pin", "pinned", pinned, path)
    return path


@pytest.mark.parametrize("program", [LOADER, STATS])
def test_nothing_is_asked_of_the_environment(program):
    """But by secure_getenv(3), which has no answer where the file gave rights; and no shell."""
    imported = program.read_bytes()
    for function in b"getenv", b"system", b"popen", b"execv":
        assert b"\0" + function + b"\0" not in imported
