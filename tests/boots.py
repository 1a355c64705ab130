# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Guests of the lab that run tests: boot them, as many at a time as there are CPUs, and collect
what passed, by test file."""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

LAB = Path(__file__).resolve().parent / "lab" / "lab"
PYTEST = ("python3", "-m", "pytest", "-v", "--color=no", "-p", "no:cacheprovider",
          "-p", "tests.counted", "-rfEs", "--tb=short")
# Ten times what an idle machine takes, and at least this long.
PATIENCE = 10
TIMEOUT_SECONDS = 900
LONG_TIMEOUT_SECONDS = 6 * 3600
RAN = re.compile(r"^(\S+::\S.*?) (?:PASSED|FAILED|ERROR|SKIPPED)", re.M)


def say(line):
    """Progress is not part of the result."""
    print(line, file=sys.stderr, flush=True)


def patience():
    """PATIENCE=4 in the environment gives everything four times as long."""
    return float(os.environ.get("PATIENCE") or 1)


class Guest:
    """One boot. `title`: its row in the table, where that is not one for each file; `boot`: more
    options of `lab run`; `seconds`: how long it is expected to take on an idle machine."""

    def __init__(self, kernel, *arguments, title=None, boot=(), seconds=0):
        self.kernel = kernel
        self.arguments = arguments
        self.title = title
        self.boot = boot
        self.expected = seconds

    @property
    def label(self):
        names = [Path(word).stem.removeprefix("test_") for word in self.arguments
                 if word.endswith(".py")]
        return self.title or " ".join(names)

    def timeout(self, is_long):
        if is_long:
            return LONG_TIMEOUT_SECONDS
        return int(patience() * max(PATIENCE * self.expected, TIMEOUT_SECONDS))

    def run(self, results, is_long, sample):
        self.results = results / str(id(self))
        long = ["--long"] if is_long and "tests/qdisc/" in self.arguments[0] else []
        timeout = self.timeout(is_long)
        began = time.monotonic()
        done = subprocess.run([LAB, "run", *self.boot, "--kernel", self.kernel,
                               "--timeout", str(timeout), "--results", self.results, "--",
                               "env", f"DUALPI2_SAMPLE={sample}", *PYTEST, *self.arguments, *long],
                              capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        self.seconds = time.monotonic() - began
        self.status = done.returncode
        self.output = done.stdout + (done.stderr if done.returncode else "")
        if self.seconds > timeout:
            self.output += (f"It was ended after {timeout} s, {self.last_test()}: "
                            f"PATIENCE=4 in the environment gives it four times as long.\n")
        return self

    def last_test(self):
        """Where a guest was when it ended."""
        begun = re.findall(r"^(\S+\.py::\S[^\n]*)$", self.output, re.M)
        ended = RAN.findall(self.output)
        if begun and not RAN.match(begun[-1]):
            return f"while it ran {begun[-1].strip()}"
        return f"after {ended[-1]}" if ended else "before its first test"

    def counted(self):
        """Outcomes and busy seconds by row of the table."""
        try:
            files = json.loads((self.results / "counted.json").read_text(encoding="ascii"))
        except FileNotFoundError:
            files = {}
        rows = {}
        for file, counts in files.items():
            row = self.title or Path(file).stem.removeprefix("test_")
            rows.setdefault(row, Counter()).update(counts)
        if self.status and not any(row["failed"] for row in rows.values()):
            # A guest that died has not counted its failure.
            rows.setdefault(self.label, Counter())["failed"] += 1
        return rows

    def count(self, outcome):
        return sum(row[outcome] for row in self.counted().values())

    @property
    def failed(self):
        return self.count("failed")

    def skipped(self):
        """How many tests were not run, by reason."""
        reasons = Counter()
        for count, reason in re.findall(r"^SKIPPED \[(\d+)\] \S+: (.*)", self.output, re.M):
            reasons[reason] += int(count)
        return reasons

    def traffic(self):
        try:
            return (self.results / "traffic.json").read_bytes()
        except FileNotFoundError:
            return None


def run_stages(stages, *how):
    """Run guests, as many at a time as there are CPUs. In each stage the longest begin first, so
    that all CPUs are busy to the end. After a guest of the first stage has failed, no guest of
    another stage begins. `how`: of Guest.run(). Returns the guests that ran."""
    in_order = [guest for stage in stages
                for guest in sorted(stage, key=lambda guest: -guest.expected)]
    say(f"{len(in_order)} guest{'s' * (len(in_order) > 1)} to run, {os.cpu_count()} at a time")
    ran = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(guest.run, *how): guest for guest in in_order}
        for ended in concurrent.futures.as_completed(running):
            if ended.cancelled():
                continue
            guest = ended.result()
            ran.append(guest)
            say(f"{'FAILED' if guest.failed else 'ok    '} {guest.kernel}: {guest.label} "
                f"({guest.seconds:.0f} s)")
            if guest.failed:
                say(guest.output)
            if guest.failed and guest in stages[0]:
                for other in running:
                    if running[other] not in stages[0]:
                        other.cancel()
    return ran
