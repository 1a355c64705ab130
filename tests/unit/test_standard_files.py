# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The tools when the standard input, output or error output is full or closed."""

import json
import subprocess

import pytest
from pretender import PRETENDER, environment
from programs import BASE_RTT, BIN, OPT_IN, PRAGUE, PROGRAMS, help_of

NOT_WRITTEN = "output cannot be written"


def redirected(redirection, *argv, **options):
    """Run it with a redirection of the shell."""
    return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", *argv], check=False,
                          capture_output=True, text=True, timeout=30, **options)


def check_not_written(done):
    assert done.returncode == 1, done
    assert NOT_WRITTEN in done.stderr and done.stderr.count("\n") == 1, done


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize("program", [*PROGRAMS, PRAGUE, BASE_RTT])
def test_what_is_not_written_is_a_failure(program, redirection):
    commands = [["--help"], ["--version"]] + [["off", "--help"]] * (program not in PROGRAMS)
    for arguments in commands:
        check_not_written(redirected(redirection, BIN / program, *arguments))


@pytest.mark.parametrize("command", [("dualpi2-load",), (BASE_RTT, "add"), *zip(OPT_IN)])
def test_help_says_what_a_failure_has_changed(command):
    """All, if only the output was not written."""
    assert "nothing is changed, unless only the output could\nnot be written" in help_of(*command)


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize("output", [
    "--json", "--tc", "--prometheus", "--openmetrics", "--histogram", "--jsonl --interval 10ms",
    "--interval 10ms", ""])
def test_figures_that_are_not_written_are_a_failure(output, redirection):
    check_not_written(redirected(redirection, PRETENDER, *output.split(),
                                 env=environment("busy")))


@pytest.mark.parametrize("redirection", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_no_other_file_takes_the_place_of_a_closed_one(tmp_path, redirection):
    """open() takes the lowest free number, and what we print goes to whatever has number 1 or 2."""
    file, record = tmp_path / "file", tmp_path / "record"
    done = redirected(redirection, PRETENDER, "--json", "--output", file, env=environment("busy"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads(file.read_text(encoding="utf-8"))
    done = redirected(redirection, PRETENDER, "--record", record, "--interval", "10ms",
                      env=environment("fails"))
    assert done.returncode == 1 and not done.stdout
    assert len([json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]) == 2
    assert set(tmp_path.iterdir()) == {file, record}
