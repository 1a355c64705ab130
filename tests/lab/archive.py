# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""initramfs archives (cpio, "newc") that depend only on what is in them.

Names are sorted, owners are root, times are 0: with the same files the guest gets
the same bytes, and so the same experiment gives the same result.
"""

import os
import stat
from pathlib import Path

from common import BUILD_OUTPUT
from machine import MACHINE

TRAILER = "TRAILER!!!"

# What a guest of the lab never uses; it would have to be unpacked at every boot.
LEFT_OUT = frozenset({
    "boot", "media", "mnt", "usr/include", "usr/games",
    # manuals and what shells want to know about other programs
    "usr/share/bash-completion", "usr/share/common-licenses", "usr/share/doc",
    "usr/share/lintian", "usr/share/man", "usr/share/zoneinfo", "usr/share/zsh",
    # package management and users
    "usr/bin/dpkg", "usr/lib/apt", "usr/lib/dpkg", "usr/lib/systemd", "usr/sbin/ldconfig",
    # what udev knows of hardware
    "usr/lib/udev/hwdb.bin", "usr/lib/udev/hwdb.d",
    # what systemd would start at boot, and no unit of ours has a use for: half of the boot
    *(f"{place}/systemd/system/{target}.target.wants" for place in ("etc", "usr/lib")
      for target in ("getty", "local-fs", "multi-user", "sockets", "sysinit", "timers")),
    "var/cache", "var/lib/apt", "var/lib/dpkg", "var/log",
    # perl comes with every Debian root
    "usr/bin/perl", "usr/bin/perl5.40.1", f"usr/lib/{MACHINE.gnu}/perl-base",
    "usr/share/perl5",
    # character sets and parts of Python that tests have no use for
    "usr/bin/localedef", f"usr/lib/{MACHINE.gnu}/gconv",
    "usr/lib/python3.13/pydoc_data", "usr/lib/python3.13/test", "usr/lib/python3.13/xmlrpc",
    "usr/lib/valgrind",
})


class Archive:
    """Writes cpio members to a binary file."""

    def __init__(self, output):
        self.output = output
        self.inode = 0

    def add(self, name, mode, data=b"", mtime=0, device=(0, 0)):
        self.inode += 1
        encoded = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, mtime, len(data), 0, 0, *device, len(encoded), 0)
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        self.output.write(padded(header + encoded) + padded(data))

    def add_file(self, name, text, mode=0o644):
        self.add(name, stat.S_IFREG | mode, text.encode())

    def add_directory(self, name):
        self.add(name, stat.S_IFDIR | 0o755)

    def add_path(self, path, name):
        """A file, symbolic link or directory (without what is in it)."""
        info = path.lstat()
        mode = info.st_mode
        if stat.S_ISLNK(mode):
            self.add(name, mode, os.readlink(path).encode())
        elif stat.S_ISREG(mode):
            # .pyc files name their source's time; Python would compile all of it again.
            mtime = int(info.st_mtime) if name.endswith(".py") else 0
            self.add(name, mode, path.read_bytes(), mtime)
        elif stat.S_ISDIR(mode):
            self.add(name, mode)

    def add_tree(self, top, prefix="", *, skip=lambda name: False):
        """All that is below `top`, under `prefix` in the archive."""
        for entry in sorted(os.scandir(top), key=lambda entry: entry.name):
            name = f"{prefix}{entry.name}"
            if skip(name):
                continue
            self.add_path(Path(entry.path), name)
            if entry.is_dir(follow_symlinks=False):
                self.add_tree(entry.path, f"{name}/", skip=skip)

    def close(self):
        self.add(TRAILER, 0)


def padded(data):
    return data + bytes(-len(data) % 4)


def in_root(name, kept=()):
    """Is this part of the guest root left out? `kept`: what is not, in spite of LEFT_OUT. The
    init fills proc, sys and dev."""
    return (name in LEFT_OUT and name not in kept) or \
        name.startswith(("dev/", "proc/", "sys/", "run/"))


# Python's caches change without the sources changing.
CACHES = frozenset({"__pycache__", ".pytest_cache", ".hypothesis", ".ruff_cache"})
# Nor do results of the bench and what was built for tests that need no guest; a fuzzer's corpus
# grows without end.
COMPILED = "compiled"  # Python, by compile_tests: goes elsewhere
OF_THE_HOST = ("bench/report", *(f"{BUILD_OUTPUT}/{name}" for name in
                                 ("flags", "fuzz", "installed", "lint", "unit", "user", COMPILED)))


def is_byproduct(name):
    """What is in the work tree and of no use in the guest."""
    return name.rsplit("/", 1)[-1] in CACHES or name.endswith(OF_THE_HOST)
