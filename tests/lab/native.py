# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The kernel's own sch_dualpi2, to compare with: Debian's source built as a module.

Debian's kernels leave it out. Its source and the headers of the guest's kernel come from
the archive; all of it stays in the cache. The device that the comparison sends
through (tests/compare/gate.c) is built with it.
"""

import os
import re
import shutil
import tarfile

import kernels
import roots
from common import (
    CACHE,
    REPOSITORY,
    LabError,
    NotToBeHad,
    digest,
    is_made,
    logged,
    making,
    remove,
    say,
    step,
)
from machine import MACHINE

NATIVE = CACHE / "native"
SOURCE = "net/sched/sch_dualpi2.c"
GATE = REPOSITORY / "tests/compare/gate.c"
FLAVOUR = "-cloud-amd64"
HEADERS = re.compile(r"linux-headers-(?P<version>\d+\.\d+\.\d+)\+deb13(\.\d+)?-cloud-amd64")


def version_for(version):
    """The kernel to compare on: `version` or, where its headers have left the archive, the
    newest of its series that has them."""
    if not MACHINE.is_native:
        raise NotToBeHad(f"sch_dualpi2 is not built for {MACHINE.name} here")
    if (NATIVE / version / "kit").exists():
        return version
    found = {}
    for update in (False, True):  # the lists in the cache may be old, or not there
        found = headers_in_archive(update)
        if version in found:
            return version
    series = [other for other in found if kernels.numbers(other)[:2] ==
              kernels.numbers(version)[:2]]
    if not series:
        raise NotToBeHad(f"the archive has no kernel headers for {version}, nor for any of its "
                         "series")
    newest = max(series, key=kernels.numbers)
    say(f"the headers of {version} have left the archive, {newest} takes its place")
    return newest


def headers_in_archive(update):
    """The versions whose headers are there."""
    try:
        roots.add_backports()
        if update:
            roots.ask("apt-get", "-qq", "update", "--error-on=any")
    except LabError as error:
        raise NotToBeHad(f"no package lists: {first_line(error)}") from error
    names = roots.ask("apt-cache", "--names-only", "search", "^linux-headers-.*-cloud-amd64$")
    return {match["version"] for line in names.split("\n")
            if (match := HEADERS.fullmatch(line.split(" ")[0]))}


def first_line(error):
    return str(error).split("\n", maxsplit=1)[0]


def modules(kernel):
    """The directory with sch_dualpi2.ko and gate.ko for a kernel."""
    place = NATIVE / kernel.name / "modules"
    kit = fetch_kit(kernel)
    stamp = digest(kernels.release_of(kernel), kit.stat().st_mtime_ns, GATE.read_bytes())
    if not is_made(place, stamp):
        with step(f"building sch_dualpi2 for kernel {kernel.name}"), \
                making(place, stamp) as temporary:
            build(kit, kernels.release_of(kernel), temporary)
    return place


def fetch_kit(kernel):
    """What modules are built with: tree/ with headers and Kbuild, and the source."""
    kit = NATIVE / kernel.name / "kit"
    release = kernels.release_of(kernel)
    if is_made(kit, release):
        return kit
    with step(f"fetching sch_dualpi2's source and the headers of {kernel.name} (180 MB)"), \
            making(kit, release) as temporary:
        tree = temporary / "tree"
        series = ".".join(kernel.name.split(".")[:2])
        common = release.removesuffix(FLAVOUR)
        headers = f"linux-headers-{release}"
        try:
            kernels.unpack_packages(
                [headers, f"linux-headers-{common}-common", f"linux-kbuild-{common}",
                 f"linux-source-{series}={package_version(headers)}"],
                tree, f"native {kernel.name}")
        except LabError as error:
            raise NotToBeHad(first_line(error)) from error
        archive = tree / f"usr/src/linux-source-{series}.tar.xz"
        take_source(archive, f"linux-source-{series}/{SOURCE}", temporary)
        remove(archive)
    return kit


def package_version(package):
    """The version in the archive: the kernel's source of the same version goes with it."""
    shown = roots.ask("apt-cache", "show", "--no-all-versions", package)
    return re.search(r"^Version: (\S+)$", shown, re.M)[1]


def take_source(archive, name, directory):
    """One file of the kernel's source; reading ends where it is found."""
    with tarfile.open(archive, "r|xz") as tar:
        for member in tar:
            if member.name == name:
                (directory / os.path.basename(name)).write_bytes(tar.extractfile(member).read())
                return
    raise NotToBeHad(f"{archive.name} has no {name}")


def build(kit, release, place):
    """Build as external modules, in the build root (which mounts the /proc that
    objtool needs)."""
    place.mkdir()
    for source in (kit / os.path.basename(SOURCE), GATE):
        shutil.copy(source, place)
    (place / "Kbuild").write_text("obj-m := sch_dualpi2.o gate.o\n", encoding="ascii")
    headers = roots.in_src(kit / "tree/usr/src/linux-headers-")
    # Not through the Makefile in the headers of the flavour: that one wants to be in /usr/src.
    logged(roots.chroot_argv(["make", "-s", "--no-print-directory",
                              "-C", f"{headers}{release.removesuffix(FLAVOUR)}-common",
                              f"KBUILD_OUTPUT={headers}{release}",
                              f"M={roots.in_src(place)}", "modules"]),
           NATIVE / "build.log", "building sch_dualpi2")
    for path in place.iterdir():
        if path.suffix != ".ko":
            remove(path)
