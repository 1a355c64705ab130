# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""docs/recipes.md and docs/moving.md: the commands of each section do what the page shows."""

import re
from pathlib import Path

import pytest
from conftest import BIN
from netns import Namespace, veth

DOCS = Path(__file__).resolve().parents[2] / "docs"


def recipes():
    """{heading: [(command, what it prints)]}"""
    found = {}
    for page in (DOCS / "recipes.md", DOCS / "moving.md"):
        for heading, text in re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", page.read_text(), re.M):
            shown = re.findall(r"^    # (.*)\n((?:    [^#\n].*\n)*)", text, re.M)
            assert heading not in found
            assert shown or page.name == "moving.md", heading
            if shown:
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
    interfaces = {}
    for command, shown in recipes()[heading]:
        program, *arguments = command.split()
        done = router.run(program if program == "tc" else BIN / program, *arguments)
        assert done.stdout == shown, command
        if program == "dualpi2-load":
            interfaces[arguments[0], "--ingress" in arguments] = "--unload" in arguments
    for (name, is_ingress), is_unloaded in interfaces.items():
        if not is_unloaded:
            router.run(BIN / "dualpi2-load", name, *(["--ingress"] if is_ingress else []),
                       "--unload")
