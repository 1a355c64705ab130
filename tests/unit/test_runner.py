# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What runs the tests: how files are dealt out, what the table says, and what a limit says."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "lab")]
import boots  # noqa: E402
import ran  # noqa: E402

LOADER = importlib.machinery.SourceFileLoader("runner", str(TESTS / "run"))
runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", LOADER))
LOADER.exec_module(runner)


def ended(guest, tmp_path, files, output="", status=0):
    """A guest as it is after run()."""
    guest.results, guest.output, guest.status, guest.seconds = tmp_path, output, status, 12.3
    tmp_path.mkdir(exist_ok=True)
    if files is not None:
        (tmp_path / "counted.json").write_text(json.dumps(files), encoding="ascii")
    return guest


@given(st.lists(st.sampled_from(runner.qdisc_tests()), unique=True), st.integers(1, 12))
def test_each_file_is_dealt_once(tests, pieces):
    dealt = runner.deal(tests, pieces)
    assert sorted(sum(dealt, [])) == sorted(tests)
    assert len(dealt) <= pieces and all(dealt)


def test_pieces_take_about_the_same_time(monkeypatch):
    """No more than the longest file apart."""
    monkeypatch.setattr(runner, "seconds_of", len)
    tests = ["x" * number for number in range(1, 40)]
    taken = [sum(map(len, piece)) for piece in runner.deal(tests, 6)]
    assert max(taken) - min(taken) <= max(map(len, tests))


@pytest.mark.parametrize("fails", [True, False])
def test_nothing_more_begins_when_a_first_guest_fails(monkeypatch, fails):
    """The others of its stage still run; one of another stage that has begun comes to its end."""
    told, all_told = [], threading.Event()

    def say(line):
        told.append(line)
        if sum(line.startswith(("ok", "FAILED")) for line in told) == 3:
            all_told.set()

    class Guest:
        kernel = label = output = "x"
        seconds = 0

        def __init__(self, expected, failed=False):
            self.expected, self.failed = expected, failed

        def run(self):
            assert self.expected > 1 or all_told.wait(60)
            return self

    monkeypatch.setattr(boots, "say", say)
    monkeypatch.setattr(boots.os, "cpu_count", lambda: 1)
    first, rest = [Guest(4), Guest(3, fails), Guest(2)], [Guest(1) for _ in range(9)]
    ran = boots.run_stages([first, rest])
    assert ran[:3] == first
    assert len(ran) <= 4 if fails else ran[3:] == rest


def test_what_no_kernel_changes_runs_at_one_end(monkeypatch):
    monkeypatch.setattr(runner.kernels, "has_modules", lambda kernel: True)
    guests = [guest for stage in runner.on_each(full=False) for guest in stage]

    def missing(kernel):
        return ({*runner.qdisc_tests(), runner.TRAFFIC} -
                {word for guest in guests if guest.kernel == kernel for word in guest.arguments})

    oldest, newest = missing(runner.kernels.KNOWN_GOOD[0]), missing(runner.kernels.KNOWN_GOOD[-1])
    assert oldest and all(runner.is_marked(file, runner.NEWEST) for file in oldest)
    assert newest and all(runner.is_marked(file, runner.OLDEST) for file in newest)


def test_the_table_is_read_as_it_is_written(monkeypatch, tmp_path):
    files = {"tests/qdisc/test_a.py": {"passed": 3, "seconds": 41.6},
             "tests/qdisc/test_b_c.py": {"passed": 1, "failed": 1, "seconds": 2.0}}
    guests = [ended(boots.Guest("7.2.12", *files), tmp_path / "1", files, status=1),
              ended(boots.Guest("6.17.13", "tests/qdisc/test_a.py"), tmp_path / "2",
                    {"tests/qdisc/test_a.py": {"passed": 2, "skipped": 1, "seconds": 30}}),
              ended(boots.Guest("7.2.12", "tests/qdisc/soak.py", title="a b"), tmp_path / "3",
                    {"tests/qdisc/soak.py": {"passed": 1, "seconds": 5}})]
    lines = ran.table(guests, runner.kernels.numbers)
    assert [line.split() for line in lines] == [
        ["passed,", "seconds", "of", "the", "CPU", "6.17.13", "7.2.12"],
        ["a", "2", "30s", "3", "42s"],
        ["a", "b", "-", "1", "5s"],
        ["b_c", "-", "1", "1", "FAILED", "2s"],
        ["guests,", "seconds", "of", "real", "time", "1", "12s", "2", "24s"]]
    record = tmp_path / "record"
    record.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(ran, "RECORD", record)
    assert ran.recorded_seconds() == {"a": 42, "a b": 5, "b_c": 2, ran.IN_ALL: 24}


def test_a_guest_that_died_has_failed(tmp_path):
    guest = ended(boots.Guest("7.2.12", "tests/qdisc/test_a.py", "tests/qdisc/test_b.py"),
                  tmp_path, None, status=1)
    assert guest.failed == 1
    assert list(guest.counted()) == ["a b"]


def test_reasons_are_counted(tmp_path):
    output = """SKIPPED [2] tests/qdisc/conftest.py:49: this kernel has no module hsr
SKIPPED [1] tests/qdisc/test_prague.py:53: Accurate ECN is of Linux 6.18
SKIPPED [4] tests/qdisc/test_prague_path.py:9: Accurate ECN is of Linux 6.18
"""
    assert ended(boots.Guest("7.2.12"), tmp_path, {}, output).skipped() == {
        "this kernel has no module hsr": 2, "Accurate ECN is of Linux 6.18": 5}


@pytest.mark.parametrize("output, where", [
    ("", "before its first test"),
    ("tests/a.py::test_x[1 2] PASSED  [ 3%]\n", "after tests/a.py::test_x[1 2]"),
    ("tests/a.py::test_x PASSED  [ 3%]\ntests/a.py::test_y[3] ",
     "while it ran tests/a.py::test_y[3]"),
])
def test_a_limit_names_the_test(tmp_path, output, where):
    assert ended(boots.Guest("7.2.12"), tmp_path, {}, output).last_test() == where


def test_patience_is_for_every_limit(monkeypatch):
    guest = boots.Guest("7.2.12", seconds=500)
    assert guest.timeout(False) == 5000
    monkeypatch.setenv("PATIENCE", "0.5")
    assert guest.timeout(False) == 2500


def limited(tmp_path, seconds, *command):
    return subprocess.run([TESTS / "limited", str(seconds), tmp_path / "log", *command],
                          capture_output=True, text=True, check=False)


def test_what_does_not_end_is_ended_and_says_so(tmp_path):
    script = "print('test_first PASSED\\ntest_second ', flush=True); import time; time.sleep(60)"
    done = limited(tmp_path, 1, sys.executable, "-c", script)
    assert done.returncode == 124
    assert "was ended after 1 s; its last line: 'test_second '. PATIENCE=4" in done.stdout


def test_what_fails_is_shown(tmp_path):
    done = limited(tmp_path, 60, "sh", "-c", "echo told; exit 3")
    assert (done.returncode, done.stdout) == (3, "told\n")


def test_what_passes_is_silent(tmp_path):
    done = limited(tmp_path, 60, "echo", "told")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "log").read_text(encoding="utf-8") == "told\n"
