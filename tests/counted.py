# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A plugin of pytest for the lab's guest (`-p tests.counted`): what passed in each test file, and
how long the guest's CPUs were busy with it, for tests/run to read."""

import json
import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest

RESULT = Path("/results/counted.json")


def busy_seconds():
    """Of all CPUs since the boot, proc_stat(5). In virtual time idle seconds cost nothing, so these
    are what a test costs. (What is idle cannot be taken from the clock: where interrupts end it
    often it comes to more than has passed.)"""
    _, *columns = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    user, nice, system, _idle, _iowait, irq, softirq, steal, *_ = map(int, columns)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Counting:
    """By test file: outcomes, and seconds."""

    def __init__(self):
        self.outcomes = defaultdict(Counter)
        self.seconds = Counter()
        self.since = 0

    def pytest_collection_finish(self):
        self.since = busy_seconds()

    def pytest_runtest_logreport(self, report):
        outcomes = self.outcomes[report.location[0]]
        # Setup and teardown count where they do not pass.
        if report.when == "call" or not report.passed:
            outcomes[report.outcome] += 1

    def pytest_runtest_logfinish(self, location):
        now = busy_seconds()
        self.seconds[location[0]] += now - self.since
        self.since = now

    def pytest_sessionfinish(self):
        counted = {file: {**outcomes, "seconds": round(self.seconds[file], 1)}
                   for file, outcomes in self.outcomes.items()}
        RESULT.write_text(json.dumps(counted), encoding="ascii")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.pluginmanager.register(Counting(), "counting")
