# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""For programs that compare with the kernel's own sch_dualpi2, which cannot always be had."""

import subprocess
import sys

from common import HERE, NotToBeHad


def prepare(kernel):
    """Make what is missing. None, or why the peer cannot be had."""
    reason = ""
    with subprocess.Popen([HERE / "lab", "prepare", "--with-native", "--kernel", kernel],
                          stderr=subprocess.PIPE, text=True) as lab:
        for line in lab.stderr:
            print(line, end="", file=sys.stderr, flush=True)
            reason = line.removeprefix("lab: ").strip()
    if lab.returncode == NotToBeHad.status:
        return reason
    if lab.returncode:
        sys.exit(lab.returncode)
    return None
