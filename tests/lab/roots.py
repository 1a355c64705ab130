# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Debian roots: those that are entered with chroot (to build in, with Prometheus), and those
for the guest."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from common import (
    BUILD_OUTPUT,
    CACHE,
    HERE,
    REPOSITORY,
    LabError,
    NotToBeHad,
    digest,
    is_made,
    logged,
    making,
    read_list,
    stamp_of,
    step,
)
from machine import MACHINE, NATIVE

SUITE = "trixie"
# Programs of the build root run here, whatever they build for; those of a guest's need not.
BUILD_ROOT = CACHE / ("build-root" if MACHINE.is_native else "cross-root")
GUEST_ROOT = CACHE / "guest-root"
MONITOR_ROOT = CACHE / "monitor-root"  # with Prometheus
COMPILERS_ROOT = CACHE / "compilers-root"  # with every clang of trixie
# To build the Debian package in
PACKAGE_ROOT = CACHE / "package-root" if MACHINE.is_native else BUILD_ROOT
CLEAN_ROOT = CACHE / "clean-root"  # to install it in
TRIXIE_ROOT = CACHE / "trixie-root"  # as an installer leaves it, without a kernel
SYSTEMD_ROOT = CACHE / "systemd-root"  # for the guest as well: with systemd as its first process

# Nobody reads manuals in there; but the clean root is to have all that a package brings.
MANUALS = ["/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*"]

# `apt` variant: the build root also answers questions about kernel packages. The
# guest never installs anything. `extract`: no program of another machine runs, so packages are only
# unpacked.
VARIANTS = {BUILD_ROOT: "apt", PACKAGE_ROOT: "apt", CLEAN_ROOT: "apt",
            GUEST_ROOT: "essential" if MACHINE.is_native else "extract",
            SYSTEMD_ROOT: "essential", MONITOR_ROOT: "essential",
            COMPILERS_ROOT: "apt", TRIXIE_ROOT: "important"}

# Users that a package's own script makes: tcpdump gives up root's rights for its.
USERS = {"passwd": "tcpdump:x:102:102::/nonexistent:/usr/sbin/nologin\n",
         "group": "tcpdump:x:102:\n"}

# A private mount namespace: nothing is left mounted, however the command ends.
OWN_MOUNTS = ("unshare", "--mount", "--propagation", "private")
# $1: repository, $2: root, then the command.
ENTER = """
source=$1 root=$2
shift 2
# A mount of its own, as / is elsewhere: the lab can be used in there, too.
mount --bind "$root" "$root"
mount --bind "$source" "$root/src"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
[ ! -e /etc/resolv.conf ] || mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
cd "$root"
exec chroot "$root" sh -c 'cd /src && exec "$@"' sh "$@"
"""

# Nothing else of the caller's environment gets in, so that builds do not depend on it.
ENVIRONMENT = {
    # llvm's directory has the tools by their plain names
    "PATH": "/usr/lib/llvm-19/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
    "DUALPI2_BIN": BUILD_OUTPUT,
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "agg",
}
PASSED_ON = ("TERM", "SOURCE_DATE_EPOCH", "http_proxy", "https_proxy", "no_proxy", "PATIENCE")


def require_tools(with_guests):
    """The host's part, installed by tests/lab/bootstrap."""
    for_guests = (MACHINE.emulator[0], "depmod") if with_guests else ()
    missing = [tool for tool in ("mmdebstrap", "unshare", "setpriv", *for_guests)
               if not shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")]
    if missing:
        raise LabError(f"{', '.join(missing)} not found: run tests/lab/bootstrap")
    if os.geteuid() != 0:
        raise LabError("making and entering roots needs root: run it with sudo")
    require_own_mounts()


def require_own_mounts():
    """Asked first: a root takes minutes to make, and is entered only then."""
    done = subprocess.run([*OWN_MOUNTS, "true"], capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"})
    if not done.returncode:
        return
    if "Invalid argument" in done.stderr:
        raise LabError("/ is no mount here, as in a plain chroot, so none can be made in it: leave "
                       "it, `mount --bind DIR DIR` on its directory, and chroot there again")
    raise LabError(f"no mounts can be made here ({done.stderr.strip()}): run it where root may "
                   "mount (a container needs --privileged)")


def excluded(root):
    return [] if root == CLEAN_ROOT else MANUALS


def packages_of(root):
    packages = [name.replace("@ARCH@", MACHINE.name).replace("@GNU@", MACHINE.gnu)
                for name in read_list(HERE / f"{root.name}.packages")]
    return [*(["?essential"] if VARIANTS[root] == "extract" else []), *packages]


def architectures(root):
    if MACHINE.is_native:
        return [NATIVE]
    return [NATIVE, MACHINE.name] if root == BUILD_ROOT else [MACHINE.name]


def release_only():
    """The release is the same for all machines, as libraries of two of them in one root have to
    be; updates reach each machine at a time of its own."""
    if MACHINE.is_native:
        return []
    return [f"--setup-hook=sed -i '/ {SUITE} /!d' \"$1/etc/apt/sources.list\""]


def root_stamp(root):
    configured = [USERS] if VARIANTS[root] == "extract" else []
    return digest(SUITE, VARIANTS[root], sorted(packages_of(root)), excluded(root),
                  *release_only(), *configured)


def make_root(root):
    """Make a root with the packages on its list, unless it is there."""
    stamp = root_stamp(root)
    if is_made(root, stamp):
        return
    packages = packages_of(root)
    with step(f"making the {root.name} ({len(packages)} packages and what they need)"), \
            making(root, stamp) as temporary:
        try:
            logged(["mmdebstrap", f"--variant={VARIANTS[root]}", "--mode=root",
                    f"--architectures={','.join(architectures(root))}",
                    *[f"--include={package}" for package in packages],
                    *[f"--dpkgopt=path-exclude={pattern}" for pattern in excluded(root)],
                    *release_only(),
                    SUITE, temporary], CACHE / f"{root.name}.log", f"making the {root.name}")
        except LabError as error:
            if MACHINE.is_native:
                raise
            # A mirror need not have all architectures, nor all of one at a time.
            raise NotToBeHad(str(error)) from error
        (temporary / "src").mkdir()
        (temporary / "etc/resolv.conf").touch()
        if VARIANTS[root] == "extract":
            configure(temporary)


def configure(root):
    """What the packages' own scripts do, as far as a guest needs it: users, awk, and Python's
    libraries compiled, once for all boots."""
    for name, more in USERS.items():
        known = (root / f"usr/share/base-passwd/{name}.master").read_text(encoding="ascii")
        (root / "etc" / name).write_text(known + more, encoding="ascii")
    (root / "usr/bin/awk").symlink_to("mawk")
    logged(chroot_argv(["python3", "-m", "compileall", "-q", "-s", in_src(root), "-p", "/",
                        in_src(root / "usr/lib/python3.13"),
                        in_src(root / "usr/lib/python3/dist-packages")]),
           CACHE / "compileall.log", "compiling Python's libraries")


def built_at(root):
    """Changes whenever the root is made anew, and only then."""
    return stamp_of(root).stat().st_mtime_ns


def add_backports():
    """Newer kernels are in backports, which the mirror has beside the suite."""
    sources = BUILD_ROOT / "etc/apt/sources.list"
    backports = BUILD_ROOT / "etc/apt/sources.list.d/backports.list"
    if not backports.exists():
        line = re.search(rf"^deb .* {SUITE} .*$", sources.read_text(encoding="utf-8"), re.M)
        backports.write_text(line[0].replace(f" {SUITE} ", f" {SUITE}-backports ") + "\n",
                             encoding="utf-8")


def chroot_argv(argv, root=BUILD_ROOT, source=REPOSITORY):
    """Of a program in a root, in /src, which is `source`."""
    environment = ENVIRONMENT | {name: os.environ[name] for name in PASSED_ON
                                 if name in os.environ}
    return ["env", "-i", *[f"{name}={value}" for name, value in environment.items()],
            *OWN_MOUNTS, "sh", "-ec", ENTER, "sh", str(source), str(root), *argv]


def enter(argv, root=BUILD_ROOT):
    """Become `argv` in a root, in /src, which is the repository."""
    argv = chroot_argv(argv, root)
    os.execvp(argv[0], argv)


def ask(*argv):
    """What a program in the build root prints."""
    done = subprocess.run(chroot_argv(argv), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise LabError(f"{argv[0]} in the build root: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def in_src(path):
    """Where the chroot sees a path of the repository."""
    return str(Path("/src") / path.relative_to(REPOSITORY))
