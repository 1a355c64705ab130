# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the programs say of themselves, their man pages and their completion agree."""

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["DUALPI2_BIN"])
PROGRAMS = ("dualpi2-load", "dualpi2-stats")
PAGES = ("dualpi2-load.8", "dualpi2-stats.8", "bpf_dualpi2.7", "dualpi2-plot.1", "dualpi2.conf.5")
COMPLETION = PROJECT / "completion/dualpi2.bash"


def output(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def help_of(program):
    return output(BIN / program, "--help")


def options(program):
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z0-9-]+)", help_of(program), re.M))


def packaged(program):
    """Its options without those of AQMs that are for tests alone."""
    return options(f"packaged/{program}")


def page(name):
    """As the source of roff has it, without its escapes of hyphens."""
    return (BIN / name).read_text(encoding="utf-8").replace(r"\-", "-")


@pytest.mark.parametrize("program", PROGRAMS)
def test_page_has_every_option(program):
    assert len(packaged(program)) >= 5
    described = re.findall(r"^\.TP\n\\fB(?:-\w, )?(--[a-z0-9-]+)", page(f"{program}.8"), re.M)
    assert sorted(described) == sorted(packaged(program))


@pytest.mark.parametrize("name", PAGES)
def test_page_speaks_of_options_that_exist(name):
    spoken = set(re.findall(r"(?<![\w-])--[a-z0-9-]+", page(name)))
    assert spoken <= set().union(*map(options, (*PROGRAMS, "dualpi2-plot")))


def test_page_has_every_option_of_the_plot():
    """Whose help is argparse's."""
    described = re.findall(r"^\\fB-\w\\fR, \\fB(--[a-z-]+)|^\\fB(--[a-z-]+)",
                           page("dualpi2-plot.1"), re.M)
    assert {one or other for one, other in described} == options("dualpi2-plot")


def test_page_has_every_counter():
    header = (PROJECT / "include/stats.h").read_text(encoding="utf-8")
    counters = re.findall(r'^\tX\(\w+, \w+, "[a-z ]+", "([a-z.-]+)"', header, re.M)
    assert len(counters) >= 20
    for counter in counters:
        assert rf"\fB{counter}\fR" in page("bpf_dualpi2.7")


@pytest.mark.parametrize("name", PAGES)
def test_page_is_well_formed(name):
    assert not re.search("@[A-Z]+@", page(name)), "what was to be filled in"
    assert output("mandoc", "-T", "lint", "-W", "style", BIN / name) == ""


def complete(program, word, before):
    """What bash offers for `word` behind `before`."""
    script = (f'source "{COMPLETION}"; _dualpi2 "$1" "$2" "$3"; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    return set(output("bash", "-c", script, "-", BIN / program, word, before).split())


@pytest.mark.parametrize("program", PROGRAMS)
def test_completion_offers_every_option(program):
    assert complete(program, "--", program) == options(program)


def test_completion_of_the_beginning_of_an_option():
    assert complete("dualpi2-load", "--min-q", "lo") == {"--min-qlen-step"}


def test_completion_of_values():
    assert complete("dualpi2-load", "", "--l-aqm") == {"step", "ramp"}
    assert complete("dualpi2-load", "r", "--l-aqm") == {"ramp"}


def test_completion_of_files(tmp_path):
    (tmp_path / "eth0.conf").touch()
    assert complete("dualpi2-load", f"{tmp_path}/e", "--config") == {f"{tmp_path}/eth0.conf"}


def test_completion_of_interfaces():
    names = {name for _, name in socket.if_nameindex()}
    assert complete("dualpi2-load", "", "dualpi2-load") == names
