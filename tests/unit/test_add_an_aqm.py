# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The page "Add an AQM" of docs/hacking.md, followed word by word: with the files that it names,
made from those of its example, an AQM is built, listed, documented and installed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
BUILD = os.path.relpath(os.environ["DUALPI2_BIN"], PROJECT)
EXAMPLE, NAME = "fixed", "still"
HACKING = "docs/hacking.md"
# What has been asked for on the way to these tests does not hold for those in the copy.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS", "PYTEST"))}
CHECKED = ("test_docs", "test_man", "test_rooms", "test_watch", "test_rows", "test_completion")


def section():
    text = (PROJECT / HACKING).read_text(encoding="utf-8")
    return re.search(r"^## Add an AQM\n(.*?)^## ", text, re.M | re.S)[1]


def files_to_write():
    """Those that the numbered steps begin with."""
    return re.findall(r"^\d\. `(\S*NAME\S*)`", section(), re.M)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The project with another AQM, and its build so far: make sees what is old by the times."""
    if BUILD.startswith(".."):
        pytest.skip("it is built outside of the project")
    top = tmp_path_factory.mktemp("aqm") / "project"
    shutil.copytree(PROJECT, top, symlinks=True, ignore=lambda directory, names: [
        name for name in names if name in (".git", ".cache", ".output", "report")])
    # Without what other tests and compilers that run now may take away meanwhile.
    shutil.copytree(PROJECT / BUILD, top / BUILD, symlinks=True,
                    ignore=shutil.ignore_patterns("lint", "*.passed", "*.tmp"))
    for pattern in files_to_write():
        text = (top / pattern.replace("NAME", EXAMPLE)).read_text(encoding="utf-8")
        for word in (EXAMPLE, EXAMPLE.upper()):
            text = text.replace(word, NAME if word == EXAMPLE else NAME.upper())
        (top / pattern.replace("NAME", NAME)).write_text(text, encoding="utf-8")
    page = (top / HACKING).read_text(encoding="utf-8")
    (top / HACKING).write_text(re.sub(rf"^(\| `{EXAMPLE}` \| .*\n)", rf"\1| `{NAME}` | another |\n",
                                      page, flags=re.M), encoding="utf-8")
    return top


def make(top, *arguments):
    done = subprocess.run(["make", "--no-print-directory", "-j2", f"O={BUILD}", *arguments,
                           f"PREFIX_MAP=-ffile-prefix-map={PROJECT}=."],  # built as the original
                          cwd=top, check=False, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_the_page_names_three_files():
    assert files_to_write() == ["include/aqm/NAME.h", "bpf/aqm/NAME.bpf.h",
                                "tests/qdisc/test_NAME.py"]


@pytest.mark.builds
def test_it_is_built_and_listed(copy):
    make(copy, "all")
    told = subprocess.run([copy / BUILD / "dualpi2-load", "--help", "all"], check=True,
                          capture_output=True, text=True).stdout
    assert f"\nAQM {NAME}: " in told and f"--{NAME}-prob" in told


@pytest.mark.builds
@pytest.mark.parametrize("name", CHECKED)
def test_it_passes(copy, name):
    make(copy, f"T=tests/unit/{name}.py", "QUICK=1", "unit-test")
