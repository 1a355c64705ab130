# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--help has what most need, on a screen; `--help all` has all options."""

import re
import subprocess

import pytest
from programs import BASE_RTT, BIN, COMMANDS, PRAGUE, PROGRAMS, help_of, options, output

LINES = 40
COLUMNS = 80
# What a router needs, and what somebody needs who looks at it.
USUAL = {"dualpi2-load": {"--rate", "--docsis", "--pppoe-ptm", "--overhead", "--ingress",
                          "--per-host", "--guard", "--sparse", "--unload", "--check"},
         "dualpi2-stats": {"--watch", "--json", "--histogram", "--openmetrics", "--interval"}}


def brief(*command):
    return output(BIN / command[0], *command[1:], "--help")


def described(text):
    """{option: its description, in one line}"""
    rows = re.findall(r"^ +(?:-\w, )?(--[a-z0-9-]+)(?: \S+)?((?:\n? {6,}(?!-)\S.*|  +\S.*)+)",
                      text, re.M)
    return {name: " ".join(words.split()) for name, words in rows}


@pytest.mark.parametrize("command", [*zip(PROGRAMS), (PRAGUE,), (BASE_RTT,), *COMMANDS])
def test_help_is_a_screen(command):
    lines = brief(*command).splitlines()
    assert len(lines) <= LINES
    if command[0] in USUAL:
        assert max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize("program", USUAL)
def test_help_has_the_usual_options(program):
    shown = described(brief(program))
    assert USUAL[program] <= set(shown) < options(program)
    assert f"`{program} --help all` shows all options" in brief(program)


@pytest.mark.parametrize("program", USUAL)
def test_each_is_described_as_among_all(program):
    """By the beginning, up to the end of a clause."""
    everything = described(help_of(program))
    assert len(everything) > 20
    for name, words in described(brief(program)).items():
        assert everything[name].startswith(words)
        assert re.match(r"$|[;:.] | \(", everything[name][len(words):]), name


@pytest.mark.parametrize("words", [("--help", "all"), ("-h", "all"), ("eth0", "--help", "all"),
                                   ("--help", "eth0", "all")])
def test_all_options_wherever_help_stands(words):
    assert output(BIN / "dualpi2-load", *words) == help_of("dualpi2-load")


def test_all_alone_is_an_interface():
    """As any other name: only behind --help it means more."""
    for words in (("all", "--help"), ("--help", "--", "all")):
        assert output(BIN / "dualpi2-load", *words) == brief("dualpi2-load")
    done = subprocess.run([BIN / "dualpi2-load", "eth0", "all"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and "all: unexpected argument after eth0" in done.stderr
