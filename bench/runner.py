# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs in the lab's guests, several at a time; what is finished is kept (store.py)."""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from store import REPOSITORY, Store
from verdict import YARDSTICK

sys.path.append(str(REPOSITORY / "tests" / "lab"))
import peer  # noqa: E402

LAB = REPOSITORY / "tests" / "lab" / "lab"
PROGRAMS = REPOSITORY / ".output/lab"
TIMEOUT_SECONDS = 3600  # of real time for a guest


def parser_of(documentation):
    """Of a command that runs guests: what all of them take."""
    parser = argparse.ArgumentParser(description=documentation.split("\n", maxsplit=1)[0])
    parser.add_argument("--kernel", default="7.2.12", metavar="V", help="default %(default)s")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="guests at a time (default: one for each CPU)")
    return parser


def say(line):
    print(f"bench: {line}", file=sys.stderr, flush=True)


def minutes(seconds):
    return f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"


class Progress:
    """Tells what has ended, and what time is left."""

    def __init__(self, runs, jobs):
        self.began = time.monotonic()
        self.count, self.ended = len(runs), 0
        self.cost, self.ended_cost = sum(run.cost() for run in runs), 0
        say(f"{self.count} runs, {jobs} at a time: about {minutes(self.cost / jobs)}")

    def tell(self, run, outcome):
        self.ended += 1
        self.ended_cost += run.cost()
        pace = (time.monotonic() - self.began) / self.ended_cost
        seed = f", seed {run.seed}" if run.seed else ""
        say(f"{self.ended} of {self.count}, "
            f"{minutes(pace * (self.cost - self.ended_cost))} left: "
            f"{run.cell}, {run.variant}{seed}{outcome}")


class Bench:
    guest = "bench/guest/cell.py"  # what measures a run there
    store_of = Store

    def __init__(self, kernel, jobs):
        self.kernel = kernel
        self.jobs = jobs
        self.why_no_native = peer.prepare(kernel)
        self.store = self.store_of(kernel, PROGRAMS)
        self.missing = {}  # not kept: next time the contender may be there
        self.failed = False

    def measure(self, run):
        """Run a guest; keep what it saw. What went wrong, or nothing."""
        if run.contender == YARDSTICK and self.why_no_native:
            self.missing[run.name] = {"kernel": self.kernel, "missing": self.why_no_native}
            return ""
        native = [] if self.why_no_native else ["--with-native"]
        with tempfile.TemporaryDirectory(prefix="dualpi2-bench-") as results:
            # The guest ends with us, even if we are killed.
            done = subprocess.run(
                ["setpriv", "--pdeathsig", "TERM", LAB, "run", "--quiet", "--shift", "0", *native,
                 "--kernel", self.kernel, "--timeout", str(TIMEOUT_SECONDS),
                 "--results", results, "--",
                 "python3", self.guest, json.dumps(run.specification)],
                capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            if done.returncode:
                return done.stdout + done.stderr
            result = json.loads((Path(results) / "run.json").read_text(encoding="utf-8"))
        if "missing" in result:
            self.missing[run.name] = result
        else:
            self.store.keep(run, result)
        return ""

    def measure_all(self, runs):
        """All runs that are not finished yet."""
        pending = sorted((run for run in runs if not self.result(run)), key=self.order)
        if len(pending) < len(runs):
            say(f"{len(runs) - len(pending)} of {len(runs)} runs are finished already")
        if not pending:
            return
        progress = Progress(pending, self.jobs)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            running = {pool.submit(self.measure, run): run for run in pending}
            try:
                for ended in concurrent.futures.as_completed(running):
                    self.note(running[ended], ended.result(), progress)
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                raise

    def order(self, run):
        """First one seed of everything: a first look at the whole is worth more than its parts."""
        return run.seed

    def note(self, run, error, progress):
        missing = self.missing.get(run.name)
        progress.tell(run, ": FAILED" if error else
                      f": missing, {missing['missing']}" if missing else "")
        if error:
            self.failed = True
            print(error, file=sys.stderr, flush=True)

    def result(self, run):
        return self.missing.get(run.name) or self.store.load(run)

    def finished(self, cells):
        """[(run, its result)]"""
        return [(run, result) for cell in cells for run in cell.runs()
                if (result := self.result(run))]
