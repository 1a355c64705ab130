# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the programs say of themselves and their man pages agree."""

import re
import subprocess

import pytest
from programs import (
    BASE_RTT,
    BIN,
    COMMANDS,
    OPT_IN,
    PRAGUE,
    PROGRAMS,
    PROJECT,
    commands,
    help_of,
    options,
    output,
)

PAGES = ("dualpi2-load.8", "dualpi2-stats.8", "tcp-prague.8", "tcp-base-rtt.8", "bpf_dualpi2.7",
         "dualpi2-plot.1", "dualpi2.conf.5", *(f"{name}.8" for name in OPT_IN))
# What all of them have.
GENERAL = {"--help", "--version", "--verbose"}


def packaged(program):
    """Its options without those of AQMs that are for tests alone."""
    return options(f"packaged/{program}")


def page(name):
    """As the source of roff has it, without its escapes of hyphens."""
    return (BIN / name).read_text(encoding="utf-8").replace(r"\-", "-")


def fill(program):
    return subprocess.run(["awk", "-v", f"program={program}", "-v", "version=1", "-f",
                           "man/fill.awk", "man/dualpi2-load.8.in"], cwd=PROJECT,
                          capture_output=True, text=True, check=False)


def test_page_of_a_program_that_does_not_run_is_none():
    """It may be for another machine."""
    assert fill(BIN / "dualpi2-load").returncode == 0
    assert fill("false").returncode == 1
    assert fill("/no/such/program").returncode == 1


@pytest.mark.builds
def test_program_that_only_lists_its_options(tmp_path):
    """As for the pages of programs for another machine: made anew, without a library."""
    made = tmp_path / "listing/tcp-base-rtt"
    subprocess.run(["make", "-s", f"O={tmp_path}", made], cwd=PROJECT, check=True,
                   capture_output=True)
    assert output(made, "add", "--help", "all") == help_of(BASE_RTT, "add")
    assert "libbpf" not in output("ldd", made)


@pytest.mark.parametrize("program", PROGRAMS)
def test_page_has_every_option(program):
    assert len(packaged(program)) >= 5
    assert described(page(f"{program}.8")) == sorted(packaged(program))


def described(section):
    """The options that a part of a page has entries for."""
    return sorted(re.findall(r"^\.TP\n\\fB(?:-\w, )?(--[a-z0-9-]+)", section, re.M))


@pytest.mark.parametrize("program, command", COMMANDS)
def test_page_has_every_option_of_a_command(program, command):
    described_there = page(f"{program}.8").partition(f".SS {program} {command}\n")[2]
    section = re.split(r"^\.S[SH] ", described_there, maxsplit=1, flags=re.M)[0]
    assert described(section) == sorted(options(program, command) - GENERAL)


@pytest.mark.parametrize("program, count", [(PRAGUE, 6), (BASE_RTT, 5)])
def test_page_has_what_all_commands_have(program, count):
    assert len(commands(program)) >= count
    assert all(GENERAL <= options(program, command) for command in commands(program))
    assert described(page(f"{program}.8").partition(".SH OPTIONS\n")[2]) == sorted(GENERAL)


@pytest.mark.parametrize("program, command", COMMANDS)
def test_page_has_the_synopsis_of_a_command(program, command):
    synopsis = page(f"{program}.8").partition(".SH SYNOPSIS\n")[2].partition(".SH ")[0]
    assert f"\n.B {program} {command}\n" in f"\n{synopsis}"


def test_page_has_every_way_to_respond():
    """As `tcp-prague status` says it."""
    source = (PROJECT / "user/prague/status.c").read_text(encoding="utf-8")
    modes = re.findall(r'\[PRAGUE_\w+\] = \{\s*"([a-z0-9-]+)",\s*"([^"(]+?) ?["(]', source)
    assert len(modes) >= 8
    for key, text in modes:
        assert re.search(rf'^\.BR {key} ": {text}', page(f"{PRAGUE}.8"), re.M), key


@pytest.mark.skipif(not OPT_IN, reason="built without VDQ=1")
@pytest.mark.parametrize("program", ["dualpi2-load", *OPT_IN])
def test_patents_are_named(program):
    for text in (help_of(program), page(f"{program}.8")):
        for patent in ("12500850", "11038806", "12021756", "11695703"):
            assert patent in text


@pytest.mark.parametrize("name", PAGES)
def test_page_speaks_of_options_that_exist(name):
    spoken = set(re.findall(r"(?<![\w-])--[a-z0-9-]+", page(name)))
    known = set().union(*map(options, (*PROGRAMS, "dualpi2-plot")))
    assert spoken <= known.union({"--now"}, *(options(*command) for command in COMMANDS))


def test_page_has_every_option_of_the_plot():
    """Whose help is argparse's."""
    found = re.findall(r"^\\fB-\w\\fR, \\fB(--[a-z-]+)|^\\fB(--[a-z-]+)", page("dualpi2-plot.1"),
                       re.M)
    assert {one or other for one, other in found} == options("dualpi2-plot")


def test_page_has_every_counter():
    header = (PROJECT / "include/stats.h").read_text(encoding="utf-8")
    counters = re.findall(r'^\tX\(\w+, \w+, "[a-z ]+", "([a-z.-]+)"', header, re.M)
    assert len(counters) >= 20
    for counter in counters:
        assert rf"\fB{counter}\fR" in page("bpf_dualpi2.7")


@pytest.mark.parametrize("aqm, key", [("pi2", "queue-delay"), ("codel", "drop-next"),
                                      ("curvy-red", "smoothed-delay-c")])
def test_page_has_what_an_aqm_measures(aqm, key):
    own = page("bpf_dualpi2.7").split(f".SS Of --aqm {aqm}\n")[1].split("\n.S")[0]
    assert rf"\fB{key}\fR" in own


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_option_is_described_once(program):
    """In one paragraph of the description, beside its entry."""
    section = page(f"{program}.8").partition(".SH DESCRIPTION\n")[2].partition("\n.SH ")[0]
    named = [option for part in section.split(".PP\n")
             for option in set(re.findall(r"^\.[BIR]+ .*?(--[a-z][\w-]*)", part, re.M))]
    assert sorted(named) == sorted(set(named))


@pytest.mark.parametrize("name", PAGES)
def test_page_is_well_formed(name):
    assert not re.search("@[A-Za-z]+@", page(name)), "what was to be filled in"
    assert output("mandoc", "-T", "lint", "-W", "style", BIN / name) == ""
