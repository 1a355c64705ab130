# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Boot a kernel in QEMU, run one command in it, bring back what it printed and wrote."""

import contextlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import archive
import kernels
import native
import roots
from common import BUILD_OUTPUT, CACHE, HERE, REPOSITORY, LabError, digest, is_made, making, step
from machine import MACHINE

# What the guest sees of the project, at /src.
PROJECT = ("tests", "bench", "bpf", "include", "vmlinux.h", "Makefile", BUILD_OUTPUT,
           *sorted(str(path.relative_to(REPOSITORY)) for pattern in
                   ("README.md", "docs/*.md", "man/*.in") for path in REPOSITORY.glob(pattern)))

# An oops is a failure whatever the command makes of it. khugepaged would take the CPU
# for some milliseconds at a time, in the middle of a measurement. A program that is at
# the same address whenever it runs is translated once: QEMU starts one in a third of the time.
# The last two save seconds of boot and change nothing later.
COMMAND_LINE = (f"console={MACHINE.console} quiet panic=-1 rdinit=/init {MACHINE.command_line} "
                "oops=panic transparent_hugepage=never norandmaps cryptomgr.notests "
                "retain_initrd")

# A network card that says its speed (Mbit/s), with no cable in it: nothing of the host.
CARD = "virtio-net-pci,speed=1000,duplex=full,romfile="

STARTED = b"lab: started"
# With real threads a CPU may meet an instruction that another one is patching (static keys, on
# their way through int3): the emulator, unlike hardware, lets it, and the kernel dies of it.
# Seen while booting, before any command, once in some hundred boots.
BOOTS_MAX = 3
LAST_WORDS = "sysrq: Resetting"  # how every guest ends
POLL_SECONDS = 0.02
TAIL_LINES = 25
LAYOUT = 2  # of the cached archive: count up when archive.py packs differently

# What a guest root has in spite of archive.LEFT_OUT.
KEPT = {roots.GUEST_ROOT: (), roots.SYSTEMD_ROOT: ("usr/lib/systemd",)}

def system_archive(kernel, root=roots.GUEST_ROOT):
    """A guest root and the kernel's modules, packed once."""
    place = kernel / f"{root.name}.cpio"
    stamp = digest(LAYOUT, roots.root_stamp(root), roots.built_at(root), KEPT[root],
                   kernels.release_of(kernel), kernels.modules_stamp(), sorted(archive.LEFT_OUT))
    if not is_made(place, stamp):
        with step(f"packing the {root.name} for kernel {kernel.name}"), \
                making(place, stamp) as temporary, open(temporary, "wb") as output:
            pack = archive.Archive(output)
            pack.add_tree(root, skip=lambda name: archive.in_root(name, KEPT[root]))
            # For the first process, before it has mounted devtmpfs
            pack.add("dev/console", 0o020600, device=(5, 1))
            modules = kernels.guest_modules(kernel) / "lib/modules"
            pack.add_directory("usr/lib/modules")
            pack.add_tree(modules, "usr/lib/modules/")
            pack.close()
    return place


def write_initramfs(path, system, command, *, modules=None, overlays=(), interactive=False):
    """The packed system, then what differs between runs. `modules`: a directory with
    more kernel modules; `overlays`: some whose files lie over the system's."""
    with open(path, "wb") as output, open(system, "rb") as packed:
        shutil.copyfileobj(packed, output, 1 << 20)
        pack = archive.Archive(output)
        pack.add_path(HERE / "guest-init", "init")
        for overlay in overlays:
            pack.add_tree(overlay)
        pack.add_directory("lab")
        # Through a file: the kernel's command line knows no quoting.
        pack.add_file("lab/command", f"exec {shlex.join(command)}\n")
        output_, results = MACHINE.channels
        pack.add_file("lab/machine", f"console={MACHINE.console} output={output_} "
                                     f"results={results} DUALPI2_BIN=/src/{BUILD_OUTPUT}\n")
        if interactive:
            pack.add_file("lab/interactive", "")
        if modules:
            pack.add_directory("lab/modules")
            pack.add_tree(modules, "lab/modules/")
        pack.add_directory("src")
        for name in PROJECT:
            for parent in reversed(Path(name).parents[:-1]):
                pack.add_directory(f"src/{parent}")
            source = REPOSITORY / name
            if source.exists():
                pack.add_path(source, f"src/{name}")
            if source.is_dir():
                pack.add_tree(source, f"src/{name}/", skip=archive.is_byproduct)
        compiled = REPOSITORY / BUILD_OUTPUT / archive.COMPILED
        if compiled.is_dir():
            pack.add_tree(compiled, "src/")
        pack.close()


def qemu_argv(kernel, initramfs, options):
    """Virtual time: it advances by instructions, and what is idle is skipped."""
    if options.races:
        clock = ["-accel", "tcg,thread=multi"]
    else:
        # Recording, though nobody reads it: without, the thread that skips idle time may
        # look at a CPU that goes idle before its last instructions are counted; with it,
        # the two take turns. QEMU can record one CPU only.
        record = ",rr=record,rrfile=/dev/null" if options.smp == 1 else ""
        clock = ["-accel", "tcg", "-icount", f"shift={options.shift},sleep=off{record}"]
    card = ["-device", CARD] if options.card else []
    # QEMU dies with us, even if we are killed.
    return ["setpriv", "--pdeathsig", "KILL", *MACHINE.emulator, *clock,
            "-smp", str(options.smp), "-m", str(options.memory), "-seed", "1",
            "-rtc", "base=2026-01-01,clock=vm", "-nodefaults", "-nographic", "-no-reboot",
            *card, "-kernel", str(kernel / "vmlinuz"), "-initrd", str(initramfs),
            "-append", f"{COMMAND_LINE} {options.append}".rstrip()]


class Follower:
    """Reads what is appended to a file. QEMU writes to files, never to pipes: a full
    pipe would make the guest's serial port wait for us, in real time."""

    def __init__(self, path):
        path.touch()
        self.input = open(path, "rb")  # noqa: SIM115 - lives as long as the run's directory
        self.all = bytearray()

    def read(self):
        data = self.input.read()
        self.all += data
        return data

    def tail(self):
        # From our mark on, if it is there: the firmware's and the boot's words before it
        # matter only if the boot failed.
        said = self.all.rpartition(STARTED)[2]
        lines = said.decode(errors="replace").replace("\r", "").split("\n")
        return "\n".join([line for line in lines
                          if line.strip() and not line.endswith(LAST_WORDS)][-TAIL_LINES:])


class Run:
    """One boot of one command, with files of its own."""

    def __init__(self, directory, options):
        self.directory = directory
        self.options = options
        self.console = Follower(directory / "console")
        self.output = Follower(directory / "output")
        self.began = time.monotonic()

    def boot(self, kernel):
        """Run QEMU to its end; the guest's words go to stdout and stderr meanwhile."""
        initramfs = self.directory / "initramfs"
        results = self.directory / "results"
        modules = native.modules(kernel) if self.options.with_native else None
        write_initramfs(initramfs, system_archive(kernel, self.options.root),
                        self.options.command, modules=modules, overlays=self.overlays())
        argv = [*qemu_argv(kernel, initramfs, self.options),
                "-serial", f"file:{self.console.input.name}",
                *(word.format(self.output.input.name, results) for word in MACHINE.serial)]
        with open(self.directory / "qemu", "wb") as messages, \
                subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=messages,
                                 stderr=subprocess.STDOUT) as qemu:
            try:
                self.follow(qemu)
            finally:
                qemu.kill()
        if qemu.returncode:
            raise LabError(f"QEMU failed: {(self.directory / 'qemu').read_text().strip()}")

    def overlays(self):
        own = HERE / self.options.root.name  # what the lab itself adds to that root
        given = [self.options.overlay] if self.options.overlay else []
        return [*([own] if own.is_dir() else []), *given]

    def follow(self, qemu):
        ended = False
        while not ended:
            ended = qemu.poll() is not None  # then read once more
            self.console.read()
            output = self.output.read()
            if not self.options.quiet:
                sys.stdout.buffer.write(output)
                sys.stdout.flush()
            if not ended:
                if time.monotonic() - self.began > self.options.timeout:
                    raise self.failure(f"the guest did not end within {self.options.timeout} s "
                                       "of real time: see --timeout")
                time.sleep(POLL_SECONDS)

    @property
    def started(self):
        """Did the guest get as far as the command?"""
        return STARTED in self.console.all

    def failure(self, reason):
        """Show what the guest said last; return the error that says why it failed."""
        if self.options.quiet:
            print(self.output.tail(), flush=True)
        print(self.console.tail(), file=sys.stderr, flush=True)
        return LabError(reason)

    def finish(self):
        """Unpack what the guest carried out; return its command's exit status."""
        contents = {}
        with contextlib.suppress(tarfile.ReadError, EOFError), \
                tarfile.open(self.directory / "results") as tar:
            for name in ("status", "warned"):
                with contextlib.suppress(KeyError):
                    contents[name] = tar.extractfile(name).read().decode(errors="replace")
            if self.options.results:
                take_results(tar, self.options.results)
        if "status" not in contents:
            raise self.failure(f"the guest died: {self.reason()}")
        if "warned" in contents:
            print(contents["warned"][contents["warned"].find("cut here"):], file=sys.stderr)
            raise LabError("the guest's kernel warned (see above)")
        if kernel_said := self.console.tail():
            print(kernel_said, file=sys.stderr)
        status = int(contents["status"])
        if status and self.options.quiet:
            sys.stdout.buffer.write(self.output.all)
        return status

    def reason(self):
        said = self.console.all.decode(errors="replace")
        found = re.search(r"Kernel panic - not syncing: (.*?)\r?$|^guest-init: (.*?)\r?$", said,
                          re.M)
        if found:
            return f"kernel panic: {found[1]}" if found[1] else found[2]
        if not self.started:
            return "it did not boot"
        return "it ended without an exit status"


def take_results(tar, directory):
    """Plain files only: the host follows no link that a guest made."""
    directory.mkdir(parents=True, exist_ok=True)
    for member in tar:
        name = Path(member.name)
        if member.isfile() and name.parts[0] == "results" and ".." not in name.parts:
            target = directory / name.relative_to("results")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(tar.extractfile(member).read())


def stopped(_signal, _frame):
    """SIGTERM takes the same way out as Ctrl-C: the temporaries go, QEMU ends."""
    raise KeyboardInterrupt


def run(kernel, options):
    """Returns the exit status of the guest's command."""
    signal.signal(signal.SIGTERM, stopped)
    boots = BOOTS_MAX if options.races else 1
    while True:
        with tempfile.TemporaryDirectory(prefix="run-", dir=CACHE) as directory:
            guest = Run(Path(directory), options)
            guest.boot(kernel)
            boots -= 1
            if guest.started or not boots:
                return guest.finish()
            print(f"lab: {guest.reason()}, while it booted: once more", file=sys.stderr)


def shell(kernel, options):
    """An interactive guest, in real time: a playground."""
    with tempfile.TemporaryDirectory(prefix="run-", dir=CACHE) as directory:
        initramfs = Path(directory) / "initramfs"
        write_initramfs(initramfs, system_archive(kernel), ["true"], interactive=True)
        return subprocess.run([*qemu_argv(kernel, initramfs, options), "-chardev",
                               "stdio,id=terminal,signal=off", "-serial", "chardev:terminal"],
                              check=False).returncode
