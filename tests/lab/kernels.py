# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's kernels: which there are, fetching, and the modules of a guest."""

import lzma
import re
import shutil
import subprocess
from fnmatch import fnmatch

import roots
from common import (
    CACHE,
    HERE,
    LabError,
    digest,
    is_made,
    logged,
    making,
    read_list,
    remove,
    say,
    step,
)
from machine import MACHINE

KERNELS = CACHE / "kernels"
DEFAULT = "7.2.12"
# One of each series with BPF qdiscs, oldest first: what `make test-kernels` runs on.
KNOWN_GOOD = ("6.17.13", "6.18.15", "6.19.14", "7.0.13", "7.1.13", "7.2.12", "7.3.4")
FIRST = (6, 12)  # trixie's own: without BPF qdiscs, to see what is said of that

# As they are called here: "7.2.12", "7.2.12-16k" (pages of 16 KiB).
VERSION = re.compile(rf"\d+\.\d+\.\d+({'|'.join(MACHINE.flavours)})")
# Up to 6.18 one package holds all, later kernels come in parts. `unsigned` is the image
# before Debian has signed it.
PACKAGE = re.compile(r"linux-(?P<part>image|base|binary|binary-unsigned|modules)-"
                     r"(?P<release>\d+\.\d+\.\d+\+deb13(\.\d+)?-"
                     rf"(?P<flavour>{'|'.join(MACHINE.flavours.values())}))")
KINDS = {flavour: kind for kind, flavour in MACHINE.flavours.items()}


def in_archive(update=False):
    """What the archive has, as {version: (release, packages)}: kernels with their modules,
    and those without: it keeps an image for long when its modules have gone."""
    roots.add_backports()
    if update:
        with step("reading the archive's package lists"):
            roots.ask("apt-get", "-qq", "update")
    names = roots.ask("apt-cache", "--names-only", "search", f"^linux-.*-{MACHINE.name}")
    releases = {}
    for line in names.split("\n"):
        if package := PACKAGE.fullmatch(line.split(" ")[0]):
            release = package["release"], KINDS[package["flavour"]]
            releases.setdefault(release, {})[package["part"]] = f"{package[0]}:{MACHINE.name}"
    whole, bare = {}, {}
    for (release, kind), parts in sorted(releases.items()):
        version = release.split("+")[0] + kind
        if numbers(version) >= FIRST and (packages := needed(parts)):
            found = whole if is_whole(packages) else bare
            found[version] = release, packages
    return whole, {version: kernel for version, kernel in bare.items() if version not in whole}


def needed(parts):
    """The packages to unpack; nothing if there is no image among them."""
    image = parts.get("binary", parts.get("binary-unsigned"))
    if not image:
        return [parts["image"]] if "image" in parts else []
    return [parts[part] for part in ("base", "modules") if part in parts] + [image]


def is_whole(packages):
    """Do they hold the modules? Those that are called image hold everything."""
    return any("-modules-" in package or "-image-" in package for package in packages)


def numbers(version):
    return tuple(int(part) for part in version.split("-")[0].split("."))


def cached():
    """The kernels that are here, oldest first."""
    if not KERNELS.exists():
        return []
    versions = [path.name for path in KERNELS.iterdir() if VERSION.fullmatch(path.name)]
    return sorted(versions, key=numbers)


def fetch(version):
    """Have a kernel here; return its directory. A version that has left the archive
    is replaced by the newest of its series, under the name that was asked for. Where all of
    a series have lost their modules, the image alone has to do."""
    place = KERNELS / version
    if not place.exists():
        download(version, place)
    if place.is_symlink():
        say(f"kernel {version} has left the archive, {place.readlink()} takes its place")
    kernel = place.resolve()
    if not has_modules(kernel):
        say(f"the modules of kernel {kernel.name} have left the archive, and so have those of "
            "its series: it boots without any")
    return kernel


def has_modules(kernel):
    return (kernel / "lib/modules" / release_of(kernel) / "kernel").exists()


def download(version, place):
    if not VERSION.fullmatch(version):
        raise LabError(f"kernel '{version}' is not a version like {DEFAULT}: see lab kernels")
    for update in (False, True):  # the lists in the cache may be old, or not there
        whole, bare = in_archive(update)
        if version in whole:
            try:
                return unpack(version, *whole[version], place)
            except LabError:
                if update:
                    raise
    here = [other for other in cached() if has_modules(KERNELS / other)]
    best = newest_of(version, [*whole, *here]) or newest_of(version, bare)
    if not best:
        raise LabError(f"there is no kernel {version}, nor any of its series: see lab kernels")
    if not (KERNELS / best).exists():
        unpack(best, *(whole | bare)[best], KERNELS / best)
    if best != version:
        place.symlink_to(best)
    return None


def newest_of(version, others):
    """The newest of a version's series; None if there is none."""
    def series_of(one):
        return numbers(one)[:2], VERSION.fullmatch(one)[1]

    series = [other for other in others if series_of(other) == series_of(version)]
    return max(series, key=numbers, default=None)


def unpack(version, release, packages, place):
    """Make a directory with `vmlinuz`, `release` and lib/modules/."""
    with step(f"fetching kernel {version}"), making(place, release) as temporary:
        tree = temporary / "tree"
        unpack_packages(packages, tree, f"kernel {version}")
        lib = tree / "usr/lib/modules" / release
        image = next((path for path in (tree / f"boot/vmlinuz-{release}", lib / "vmlinuz",
                                        lib / "vmlinuz.unsigned") if path.exists()), None)
        if not image or (is_whole(packages) and not (lib / "kernel").exists()):
            raise LabError(f"no image or no modules in {', '.join(packages)}")
        (temporary / "release").write_text(release, encoding="ascii")
        image.rename(temporary / "vmlinuz")
        lib.mkdir(parents=True, exist_ok=True)
        (temporary / "lib/modules").mkdir(parents=True)
        lib.rename(temporary / "lib/modules" / release)
        remove(tree)
        depmod(temporary, release)


def unpack_packages(packages, tree, what):
    """Fetch packages of the archive and unpack them, without installing, into `tree`."""
    debs = tree.with_name("debs")
    debs.mkdir(parents=True)
    logged(roots.chroot_argv(["sh", "-ec", 'cd "$1"; shift; exec apt-get download "$@"', "sh",
                              roots.in_src(debs), "-qq", "-oAPT::Sandbox::User=root", *packages]),
           CACHE / f"{what.replace(' ', '-')}.log", f"downloading {what}")
    for deb in debs.iterdir():
        subprocess.run(["dpkg", "-x", deb, tree], check=True)
    remove(debs)


def depmod(base, release):
    done = subprocess.run(["depmod", "-b", base, release], capture_output=True, text=True,
                          check=False, env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"})
    if done.returncode:
        raise LabError(f"depmod for {release}: {done.stderr.strip()}")


def release_of(kernel):
    return (kernel / "release").read_text(encoding="ascii")


def modules_stamp():
    return digest(read_list(HERE / "guest.modules"))


def guest_modules(kernel):
    """A tree with lib/modules/RELEASE of just what guest.modules lists, uncompressed:
    unpacking xz in an emulated CPU costs more than copying a few megabytes."""
    place = kernel / "guest"
    if is_made(place, modules_stamp()):
        return place
    release = release_of(kernel)
    source = kernel / "lib/modules" / release
    with making(place, modules_stamp()) as temporary:
        target = temporary / "lib/modules" / release
        target.mkdir(parents=True)
        for path in source.glob("modules.*"):
            if path.name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
                shutil.copy(path, target)
        for name in selected(source, read_list(HERE / "guest.modules")):
            copy = target / name.removesuffix(".xz")
            copy.parent.mkdir(parents=True, exist_ok=True)
            data = (source / name).read_bytes()
            copy.write_bytes(lzma.decompress(data) if name.endswith(".xz") else data)
        depmod(temporary, release)
    return place


def selected(tree, wanted):
    """The modules that match the patterns and all that they depend on."""
    depends = {}
    for line in (tree / "modules.dep").read_text(encoding="ascii").split("\n"):
        if line:
            name, needs = line.split(":")
            depends[name] = needs.split()
    names = {name for name in depends
             if any(fnmatch(name.removesuffix(".xz"), f"kernel/{pattern}") for pattern in wanted)}
    for name in sorted(names):  # modules.dep is transitive already
        names.update(depends[name])
    return sorted(names)


def listing():
    """Lines about what `lab run --kernel` takes."""
    here = cached()
    whole, bare = in_archive(update=True)
    for version in sorted({*here, *whole, *bare}, key=lambda version: (numbers(version), version)):
        notes = [note for note, true in (
            ("default", version == DEFAULT), ("tested", version in KNOWN_GOOD),
            ("in the cache", version in here), ("without modules", version in bare),
            ("left the archive", version not in whole | bare)) if true]
        yield f"{version:12}{', '.join(notes)}".rstrip()
