# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What all parts of the lab share: places, errors, progress, the lock, stamps."""

import contextlib
import fcntl
import hashlib
import shutil
import subprocess
import sys
import time
from pathlib import Path

from machine import MACHINE

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
CACHE = REPOSITORY / ".cache/lab" / ("" if MACHINE.is_native else MACHINE.name)
BUILD_OUTPUT = f".output/{'lab' if MACHINE.is_native else MACHINE.name}"


class LabError(Exception):
    """Something the user has to know, in one line: the cause and the remedy."""

    status = 1


class NotToBeHad(LabError):
    """What is asked for cannot be had here: it has left the archive, or there is no network."""

    status = 3


def say(line):
    """Progress and warnings: on stderr, for stdout belongs to the guest's command."""
    print(f"lab: {line}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def step(what):
    """One line of progress, with the seconds it took."""
    began = time.monotonic()
    yield
    say(f"{what}: {time.monotonic() - began:.0f} s")


@contextlib.contextmanager
def locked():
    """Only one lab at a time changes the cache; the kernel drops the lock with us."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another lab that prepares the cache")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def logged(argv, log, what):
    """Run a program, its output goes to a log file; a failure quotes the last line."""
    with open(log, "w", encoding="utf-8") as output:
        done = subprocess.run([str(arg) for arg in argv], stdin=subprocess.DEVNULL,
                              stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
        # The first error is the cause, what follows it are consequences.
        errors = [line for line in lines if line.startswith(("E:", "Err:"))]
        last = (errors or [line for line in lines if line.strip()] or ["no output"])[0]
        raise LabError(f"{what} failed: {last.strip()} (see {log.relative_to(REPOSITORY)})")


def read_list(path):
    """The entries of a list file: one a line, '#' starts a comment."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [entry for line in lines if (entry := line.split("#")[0].strip())]


def digest(*parts):
    """A short name for what something is made of."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def stamp_of(path):
    return path.with_name(path.name + ".stamp")


def is_made(path, stamp):
    """Was `path` made completely, and of what `stamp` stands for?"""
    mark = stamp_of(path)
    return path.exists() and mark.exists() and mark.read_text(encoding="ascii") == stamp


@contextlib.contextmanager
def making(path, stamp):
    """Yield a temporary place; on success it takes the place of `path`.

    An interrupted run leaves only the temporary, which the next one removes."""
    temporary = path.with_name(path.name + ".tmp")
    remove(temporary)
    path.parent.mkdir(parents=True, exist_ok=True)
    yield temporary
    stamp_of(path).unlink(missing_ok=True)
    remove(path)
    temporary.rename(path)
    stamp_of(path).write_text(stamp, encoding="ascii")


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
