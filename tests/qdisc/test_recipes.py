# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""docs/recipes.md: each recipe's commands do what the page shows."""

import re
from pathlib import Path

import pytest
from conftest import BIN
from netns import Namespace, veth

PAGE = Path(__file__).resolve().parents[2] / "docs/recipes.md"


def recipes():
    """{heading: [(command, what it prints)]}"""
    found = {}
    for heading, text in re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", PAGE.read_text(), re.M):
        shown = re.findall(r"^    # (.*)\n((?:    [^#\n].*\n)*)", text, re.M)
        found[heading] = [(command, re.sub(r"^    ", "", output, flags=re.M))
                          for command, output in shown]
    return found


@pytest.fixture
def router(registered):
    """A host with the interfaces that the page has."""
    here, there = Namespace("router"), Namespace("there")
    for name in ("wan", "veth-web"):
        veth(here, name, there, name)
    here.ip("link add eth0 numtxqueues 4 numrxqueues 4 type veth peer name far")
    for name in ("line1", "line2"):
        here.ip(f"link add {name} type dummy")
    for name in ("eth0", "far", "line1", "line2"):
        here.ip(f"link set {name} up")
    yield here
    here.delete()
    there.delete()


@pytest.mark.parametrize("heading", recipes())
def test_recipe(router, heading):
    commands = recipes()[heading]
    assert commands
    interfaces = {}
    for command, shown in commands:
        program, *arguments = command.split()
        done = router.run(BIN / program, *arguments)
        assert done.stdout == shown, command
        interfaces[arguments[0], "--ingress" in arguments] = "--unload" in arguments
    for (name, is_ingress), is_unloaded in interfaces.items():
        if not is_unloaded:
            router.run(BIN / "dualpi2-load", name, *(["--ingress"] if is_ingress else []),
                       "--unload")
