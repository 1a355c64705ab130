# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The machine that the lab builds for and boots: ARCH, as Debian names it, or amd64."""

import dataclasses
import os
import sys

NATIVE = "amd64"
# Where the machine has one serial port of its own.
TWO_ON_PCI = ("-chardev", "file,id=output,path={0}", "-chardev", "file,id=results,path={1}",
              "-device", "pci-serial-2x,chardev1=output,chardev2=results")


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str
    gnu: str  # prefix of the cross compiler, and directory of libraries
    emulator: tuple
    console: str  # the kernel's terminal, and at first the only one
    channels: tuple  # more terminals: what the command prints, and its results
    serial: tuple  # QEMU's words for both; {0} and {1} are files
    command_line: str = ""  # of the kernel
    # What is behind a version: the flavour of Debian's kernel.
    flavours: dict = dataclasses.field(default_factory=dict)

    @property
    def is_native(self):
        return self.name == NATIVE


MACHINES = {machine.name: machine for machine in (
    # With ERMS and FSRM Linux copies and clears memory by single bytes (rep movsb, rep stosb), each
    # of which is an instruction in emulation; without them by eight.
    Machine("amd64", "x86_64-linux-gnu",
            ("qemu-system-x86_64", "-cpu", "max,erms=off,fsrm=off"),
            "ttyS0", ("ttyS1", "ttyS2"), ("-serial", "file:{0}", "-serial", "file:{1}"),
            # rdrand is seeded (-seed), so trusting it makes every random number repeatable
            "tsc=reliable random.trust_cpu=on", {"": "cloud-amd64"}),
    # Authentication of pointers as the architecture has it takes most of the time in emulation.
    Machine("arm64", "aarch64-linux-gnu",
            ("qemu-system-aarch64", "-machine", "virt", "-cpu", "max,pauth-impdef=on"),
            "ttyAMA0", ("ttyS0", "ttyS1"), TWO_ON_PCI,
            "", {"": "cloud-arm64", "-16k": "arm64-16k"}),
    Machine("riscv64", "riscv64-linux-gnu", ("qemu-system-riscv64", "-machine", "virt"),
            "ttyS0", ("ttyS1", "ttyS2"), TWO_ON_PCI,
            "", {"": "riscv64"}),
)}


def chosen():
    name = os.environ.get("ARCH") or NATIVE
    if name not in MACHINES:
        sys.exit(f"lab: ARCH={name}: not one of {', '.join(MACHINES)}")
    return MACHINES[name]


MACHINE = chosen()
