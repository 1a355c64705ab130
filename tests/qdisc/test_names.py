# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names of interfaces: the kernel allows almost any, and none is more than a name to the tools."""

import json
import re
import subprocess

import pytest
from conftest import BIN, LOADER, one_line, root

pytestmark = pytest.mark.oldest_kernel

STATS = BIN / "dualpi2-stats"
NAMES = ["a;reboot", "$(id)", "`id`", "a&b|c", "..a", "-x", "a'b\"c\\d", "*", "~root", "a%d"]
NO_NAMES = ["one:1", "../one", "one/../one", " one", "one ", "one\n", "o%e", "%n%n%s",
            "one" + 14 * "e", "lo/..", "."]


def run_bytes(space, *command):
    """What it prints; an argument may be no text."""
    done = subprocess.run([*space.argv(), *command], capture_output=True, check=False)
    assert done.returncode == 0, done
    return done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_just_a_name(registered, box, name):
    box.run("ip", "link", "add", "name", name, "type", "dummy")
    name = name.replace("%d", "0")  # the kernel's own
    before = box.links()
    box.run(LOADER, "--rate", "40mbit", "--", name)
    assert root(box, name)["kind"] == "bpf_dualpi2"
    [stats] = json.loads(box.run(STATS, "--json", "--", name).stdout)
    assert stats["dev"] == name
    box.run(LOADER, "--unload", "--", name)
    assert box.links() == before


@pytest.mark.parametrize("name, shown", [
    (b"a\xffb", r"a\xffb"), (b"a\x1b[2Jb", r"a\x1b[2Jb"), (b"a\xc2\x9bb", r"a\xc2\x9bb")])
def test_bytes_that_are_no_text(registered, box, name, shown):
    """Documents stay what they are, and nothing reaches the terminal as a command."""
    def stats(*options):
        return run_bytes(box, STATS, *options, "--", name).decode("utf-8")

    run_bytes(box, "ip", "link", "add", "name", name, "type", "dummy")
    assert run_bytes(box, LOADER, "--", name).decode("utf-8").startswith(f"{shown}: ")
    [entry] = json.loads(stats("--json"))
    assert entry["dev"] == entry["interface"] == shown
    label = shown.replace("\\", r"\\")
    assert f'device="{label}"' in stats("--openmetrics")
    for options in ([], ["--tc"], ["--histogram"]):
        assert shown in stats(*options) and "\x1b" not in stats(*options)
    assert shown in run_bytes(box, LOADER, "--check", "--", name).decode("utf-8")
    run_bytes(box, "tc", "qdisc", "del", "dev", name, "root")
    left = subprocess.run([*box.argv(), STATS], capture_output=True, check=False).stdout
    assert f"`dualpi2-load {shown} --unload --if-attached`" in left.decode("utf-8")
    run_bytes(box, LOADER, "--", name)
    unloaded = run_bytes(box, LOADER, "--unload", "--", name).decode("utf-8")
    assert unloaded == f"{shown}: unloaded\n"
    run_bytes(box, "ip", "link", "del", "dev", name)
    refused = subprocess.run([*box.argv(), LOADER, "--", name], capture_output=True, check=False)
    assert refused.returncode == 1 and shown in refused.stderr.decode("utf-8")


def test_no_two_names_are_shown_as_one(registered, box):
    """Otherwise metrics of two interfaces would have the same labels, which is invalid."""
    names = b"a\x01", rb"a\x01", rb"a\x5cx01"
    for name in names:
        run_bytes(box, "ip", "link", "add", "name", name, "type", "dummy")
        run_bytes(box, LOADER, "--", name)
    shown = json.loads(box.run(STATS, "--json").stdout)
    assert len({entry["dev"] for entry in shown}) == len(names)
    labels = re.findall(r'^dualpi2_split_gso\{device="(.*?)",',
                        box.run(STATS, "--prometheus").stdout, re.M)
    assert len(set(labels)) == len(names)
    for name in names:
        run_bytes(box, LOADER, "--unload", "--", name)


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_is_no_name_finds_nothing(box, name):
    for program in LOADER, STATS:
        line = one_line(box.run(program, "--", name, check=False), 1)
        assert "no such interface" in line
    assert root(box, "one")["kind"] != "bpf_dualpi2"


def test_an_empty_name_is_bad_input(box):
    """As of every argument."""
    for program in LOADER, STATS:
        line = one_line(box.run(program, "--", "", check=False), 2)
        assert f"{program.name}: interface '': not a name (for example eth0" in line
