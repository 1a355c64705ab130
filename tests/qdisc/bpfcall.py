# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bpf(2) by its number, for what bpftool cannot do."""

import ctypes
import os

# include/uapi/asm-generic/unistd.h, which newer machines share
SYS_BPF = 321 if os.uname().machine == "x86_64" else 280
# include/uapi/linux/bpf.h
BPF_PROG_LOAD, BPF_OBJ_PIN, BPF_OBJ_GET, BPF_PROG_ATTACH = range(5, 9)


def bpf(command, attributes):
    """What the call returns: a file, for most commands."""
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(SYS_BPF, command, attributes, len(attributes))
    assert result >= 0, os.strerror(ctypes.get_errno())
    return result
