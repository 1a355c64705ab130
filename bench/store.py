# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Results of finished runs, kept in report/runs/ under a digest of all that they depend on:
they repeat to the byte, so a run whose digest is there need not be done again."""

import hashlib
import json
from pathlib import Path

BENCH = Path(__file__).resolve().parent
REPOSITORY = BENCH.parent
REPORT = BENCH / "report"
RUNS = REPORT / "runs"
LINES = REPORT / "results.jsonl"
# What a run depends on, besides its specification and the kernel.
SOURCES = ("bench/guest/*.py", "tests/netns.py", "tests/traffic/path.py",
           "tests/compare/rtnetlink.py", "tests/lab/guest.py", "tests/lab/guest-init",
           ".cache/lab/guest-root.stamp")
PROGRAMS = ("tap",)
OURS = ("dualpi2-load",)  # only of OUR_CONTENDERS
OUR_CONTENDERS = ("bpf_dualpi2", "bpf_dualpi2_mq", "curvy-red", "codel", "vdq")
OUR_SENDERS = ("prague.bpf.o", "opt_in.bpf.o")  # only of flows of this kind
OUR_BASE_RTT = ("base_rtt.bpf.o",)  # only where one is told


def ours_in(run):
    """What of ours, or of the reader, a run is about: names of programs and modules."""
    contends = run.contender in OUR_CONTENDERS
    sends = any(flow["kind"] == "prague" for flow in run.specification.get("flows", []))
    told = run.specification.get("base_rtt_us")
    own = [f"sch_{run.specification['options'][0]}.ko"] if run.contender == "htb+own" else []
    return (*(OURS if contends else ()), *(OUR_SENDERS if sends else ()),
            *(OUR_BASE_RTT if told else ()), *own)


def digest_of_files(paths):
    whole = hashlib.sha256()
    for path in sorted(paths):
        if path.is_file():
            whole.update(f"{path.relative_to(REPOSITORY)}\n".encode())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


class Store:
    sources = SOURCES
    tools = PROGRAMS

    def __init__(self, kernel, programs):
        """`programs`: the directory with what was built for the guest."""
        files = [path for pattern in self.sources for path in REPOSITORY.glob(pattern)]
        files += [programs / name for name in self.tools]
        self.environment = [kernel, digest_of_files(files)]
        self.programs = programs
        RUNS.mkdir(parents=True, exist_ok=True)

    def place(self, run):
        depends = [*self.environment, run.specification]
        depends += [digest_of_files([self.programs / name]) for name in ours_in(run)]
        whole = json.dumps(depends, sort_keys=True)
        return RUNS / f"{hashlib.sha256(whole.encode()).hexdigest()[:24]}.json"

    def load(self, run):
        """The result of a finished run, or None."""
        try:
            return json.loads(self.place(run).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def keep(self, run, result):
        place = self.place(run)
        temporary = place.with_suffix(".tmp")
        temporary.write_text(json.dumps(result), encoding="utf-8")
        temporary.rename(place)


def write_lines(finished, path=LINES):
    """`finished`: [(run, its result)], as JSON Lines."""
    with open(path, "w", encoding="utf-8") as output:
        for run, result in finished:
            named = {"cell": run.cell, "variant": run.variant, "contender": run.contender,
                     "seed": run.seed}
            output.write(json.dumps(named | result) + "\n")


def read_lines(path=LINES):
    with open(path, encoding="utf-8") as lines:
        yield from map(json.loads, lines)
