# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bpf(2) by its number, for what bpftool cannot do."""

import contextlib
import ctypes
import os
import struct

# include/uapi/asm-generic/unistd.h, which newer machines share
SYS_BPF = 321 if os.uname().machine == "x86_64" else 280
# include/uapi/linux/bpf.h
BPF_MAP_CREATE, BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM = range(4)
BPF_PROG_LOAD, BPF_OBJ_PIN, BPF_OBJ_GET, BPF_PROG_ATTACH = range(5, 9)
BPF_PROG_TEST_RUN, BPF_MAP_GET_FD_BY_ID, BPF_BTF_GET_FD_BY_ID = 10, 14, 19
BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_LPM_TRIE = 2, 11
BPF_F_NO_PREALLOC, BPF_F_INNER_MAP = 1, 1 << 12
BPF_MAP_UPDATE_BATCH = 26
BPF_PROG_TYPE_SCHED_CLS, BPF_PROG_TYPE_XDP = 3, 6


def bpf(command, attributes):
    """What the call returns: a file, for most commands."""
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(SYS_BPF, command, attributes, len(attributes))
    assert result >= 0, os.strerror(ctypes.get_errno())
    return result


@contextlib.contextmanager
def opened(pin):
    """A pinned object."""
    path = ctypes.create_string_buffer(str(pin).encode())
    file = bpf(BPF_OBJ_GET, struct.pack("<QII", ctypes.addressof(path), 0, 0))
    try:
        yield file
    finally:
        os.close(file)


def run_program(program, argument=b""):
    """One of type syscall."""
    data = ctypes.create_string_buffer(argument, len(argument))
    bpf(BPF_PROG_TEST_RUN, struct.pack("<I36xIxxxxQ24x", program, len(argument),
                                       ctypes.addressof(data) if argument else 0))


def lookup(bpf_map, key, size):
    """The value of a map, `size` bytes."""
    key, value = ctypes.create_string_buffer(key, len(key)), ctypes.create_string_buffer(size)
    bpf(BPF_MAP_LOOKUP_ELEM, struct.pack("<IxxxxQQQ", bpf_map, ctypes.addressof(key),
                                         ctypes.addressof(value), 0))
    return value.raw


def update(bpf_map, key, value):
    key = ctypes.create_string_buffer(key, len(key))
    value = ctypes.create_string_buffer(value, len(value))
    bpf(BPF_MAP_UPDATE_ELEM, struct.pack("<IxxxxQQQ", bpf_map, ctypes.addressof(key),
                                         ctypes.addressof(value), 0))


def delete(bpf_map, key):
    key = ctypes.create_string_buffer(key, len(key))
    bpf(BPF_MAP_DELETE_ELEM, struct.pack("<IxxxxQQQ", bpf_map, ctypes.addressof(key), 0, 0))


def create(kind, key_size, value_size, entries, flags, types=(0, 0, 0)):
    """A map; its types: a file, and the numbers of key and value in it."""
    return bpf(BPF_MAP_CREATE, struct.pack("<5I8x16sI3I", kind, key_size, value_size, entries,
                                           flags, b"", 0, *types))


def by_id(command, number):
    return bpf(command, struct.pack("<III", number, 0, 0))


def fill(bpf_map, values):
    """All elements of an array map, in their order."""
    keys = ctypes.create_string_buffer(b"".join(struct.pack("=I", i) for i in range(len(values))))
    data = ctypes.create_string_buffer(b"".join(values))
    bpf(BPF_MAP_UPDATE_BATCH, struct.pack("<QQQQIIQQ", 0, 0, ctypes.addressof(keys),
                                          ctypes.addressof(data), len(values), bpf_map, 0, 0))


@contextlib.contextmanager
def pinned_verdict(kind, verdict, pin, name=b""):
    """A pinned program of this type and name, with the same verdict for each packet."""
    code = ctypes.create_string_buffer(struct.pack("<BBhi", 0xB7, 0, 0, verdict) +
                                       struct.pack("<BBhi", 0x95, 0, 0, 0), 16)
    licence = ctypes.create_string_buffer(b"GPL")
    program = bpf(BPF_PROG_LOAD, struct.pack(
        "<IIQQIIQII16s", kind, 2, ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0,
        name))
    path = ctypes.create_string_buffer(str(pin).encode())
    bpf(BPF_OBJ_PIN, struct.pack("<QII", ctypes.addressof(path), program, 0))
    os.close(program)
    try:
        yield
    finally:
        pin.unlink()
