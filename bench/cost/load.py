# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What loading costs: the verifier's work on each program, and the CPU time of the tools."""

import ctypes
import os
import re
import resource

from guest import BIN, LOADER, PRAGUE, SINK, STATS, add_device, be_quiet, delete_device, run

OBJECT = BIN / "aqm/pi2.bpf.o"
OF_MANY = {"--per-host": BIN / "hosts/pi2.bpf.o", "--subscribers": BIN / "subscribers/pi2.bpf.o"}
BPF_LOG_STATS = 4  # include/linux/bpf_verifier.h
LOG_BYTES = 1 << 22  # of one way through a program, which is what the verifier keeps
PER_PACKET = ("dualpi2_mark", "dualpi2_enqueue", "dualpi2_dequeue")
AQMS = ("curvy-red", "codel", "vdq")  # besides PI2
QUEUES = 4
ACCURATE_ECN = 6, 18  # which tcp-prague needs: Linux
VERDICT = re.compile(r"processed (?P<instructions>\d+) insns .* total_states (?P<states>\d+) ")


def libbpf():
    lib = ctypes.CDLL("libbpf.so.1", use_errno=True)
    pointer = ctypes.c_void_p
    for name, result, arguments in (
            ("bpf_object__open_file", pointer, (ctypes.c_char_p, pointer)),
            ("bpf_object__next_program", pointer, (pointer, pointer)),
            ("bpf_object__load", ctypes.c_int, (pointer,)),
            ("bpf_object__close", None, (pointer,)),
            ("bpf_program__name", ctypes.c_char_p, (pointer,)),
            ("bpf_program__set_log_level", ctypes.c_int, (pointer, ctypes.c_uint32)),
            ("bpf_program__set_log_buf", ctypes.c_int,
             (pointer, ctypes.c_char_p, ctypes.c_size_t))):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def verified(path):
    """{program: {instructions, states}}, as the verifier counts what it has looked at."""
    lib = libbpf()
    opened = lib.bpf_object__open_file(os.fsencode(path), None)
    assert opened, os.strerror(ctypes.get_errno())
    logs = {}
    program = lib.bpf_object__next_program(opened, None)
    while program:
        log = ctypes.create_string_buffer(LOG_BYTES)
        lib.bpf_program__set_log_level(program, BPF_LOG_STATS)
        lib.bpf_program__set_log_buf(program, log, LOG_BYTES)
        logs[lib.bpf_program__name(program).decode()] = log
        program = lib.bpf_object__next_program(opened, program)
    assert not lib.bpf_object__load(opened), os.strerror(ctypes.get_errno())
    found = {name: {key: int(value) for key, value in
                    VERDICT.search(log.value.decode()).groupdict().items()}
             for name, log in logs.items()}
    lib.bpf_object__close(opened)
    return dict(sorted(found.items()))


def cpu_ms(*argv):
    """CPU time of a command, in user mode and in the kernel, ms of the guest."""
    be_quiet()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*argv)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def tools():
    """{what: CPU time in ms}"""
    for dev in (SINK, f"{SINK}b"):
        add_device(dev, "dummy")
    found = {
        "dualpi2-load, the first on a host": cpu_ms(LOADER, SINK),
        "dualpi2-load, one more interface": cpu_ms(LOADER, f"{SINK}b", "--rate", "40mbit"),
        "dualpi2-load, a change of a live qdisc": cpu_ms(LOADER, SINK, "--rate", "40mbit"),
        "dualpi2-stats, two interfaces": cpu_ms(STATS),
        "dualpi2-load --unload, not the last": cpu_ms(LOADER, f"{SINK}b", "--unload"),
        "dualpi2-load --unload, the last on a host": cpu_ms(LOADER, SINK, "--unload"),
    }
    for dev in (SINK, f"{SINK}b"):
        delete_device(dev)
    return found | others()


def others():
    """The first of what else has programs to verify."""
    add_device(SINK, f"dummy numtxqueues {QUEUES}")
    found = {}
    for options in (*(("--aqm", aqm) for aqm in AQMS), ("--mq", "--rate", "40mbit"),
                    ("--per-host", "dst")):
        what = f"dualpi2-load, the first with {' '.join(options)}"
        found[what] = cpu_ms(LOADER, SINK, *options)
        run(LOADER, SINK, "--unload")
    delete_device(SINK)
    if tuple(map(int, os.uname().release.split(".")[:2])) >= ACCURATE_ECN:
        found["tcp-prague on"] = cpu_ms(PRAGUE, "on")
        found["tcp-prague off"] = cpu_ms(PRAGUE, "off")
    return found


def measure():
    of_many = {f"{program} {option}": figures for option, path in OF_MANY.items()
               for program, figures in verified(path).items() if program in PER_PACKET}
    return {"verified": verified(OBJECT) | of_many, "cpu_ms": tools()}
