# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The links to the tools that `make` leaves in the root of the repository: `./dualpi2-load`."""

import os
import shutil
import subprocess

import pytest
from programs import OPT_IN, PROJECT

TOOLS = ("dualpi2-load", "dualpi2-stats", "dualpi2-plot", "tcp-prague", "tcp-base-rtt")
# Nothing of what make was asked for on the way to these tests.
ENVIRONMENT = {"PATH": os.environ["PATH"]}


@pytest.fixture(name="top")
def project(tmp_path):
    """The project as it is checked out, and tools that need not be built."""
    top = tmp_path / "project"
    shutil.copytree(PROJECT, top, symlinks=True, ignore=shutil.ignore_patterns(
        ".git", ".cache", ".output", "report", *TOOLS, "dualpi2-mark-values"))
    (top / "user/dualpi2-plot").touch()  # which is one of the sources, too
    return top


def make(top, *arguments):
    return subprocess.run(["make", "--no-print-directory", *arguments], cwd=top, check=True,
                          capture_output=True, text=True, env=ENVIRONMENT).stdout


def build(top, out=".output"):
    """Put tools there; the arguments by which make takes them for new, whatever is newer."""
    (top / out).mkdir(parents=True)
    tools = [f"{out}/{tool}" for tool in TOOLS]
    for tool in tools:
        (top / tool).write_text("#!/bin/sh\necho $0\n", encoding="ascii")
        (top / tool).chmod(0o755)
    return [f"--old-file={tool}" for tool in tools]


def links(top):
    return {path.name: os.readlink(path) for path in top.iterdir() if path.is_symlink()}


def test_a_tool_runs_as_typed_after_make(top):
    make(top, *build(top), *TOOLS)
    assert links(top) == {tool: f".output/{tool}" for tool in TOOLS}
    for tool in TOOLS:
        told = subprocess.run([f"./{tool}"], cwd=top, check=True, capture_output=True, text=True)
        assert told.stdout == f"./{tool}\n"


def test_make_alone_makes_them(top):
    """So does it for those that are only built if they are asked for."""
    listed = make(top, "--dry-run", "VDQ=1", *build(top))
    linked = {line.split()[-1] for line in listed.splitlines() if line.startswith("ln -sf ")}
    assert linked == {*TOOLS, "dualpi2-mark-values"}


def test_another_build_has_none(top):
    """That of the lab may not run on this machine."""
    assert "ln -sf" not in make(top, "--dry-run", "O=.output/lab", *build(top, ".output/lab"))


def test_clean_takes_its_own_away(top):
    make(top, *build(top), *TOOLS)
    theirs = top / "theirs"
    theirs.symlink_to("README.md")
    make(top, "clean")
    assert links(top) == {"theirs": "README.md"} and not (top / ".output").exists()


def test_git_ignores_them():
    ignored = (PROJECT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {f"/{tool}" for tool in (*TOOLS, "dualpi2-mark-values", *OPT_IN)} <= set(ignored)
