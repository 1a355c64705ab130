# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Policies of dualpi2-mark-values, as far as no kernel is needed: what a file may say."""

import os
import subprocess
from pathlib import Path

import pytest

TOOL = Path(os.environ["DUALPI2_BIN"]) / "dualpi2-mark-values"

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="built without VDQ=1")


def mark(*arguments):
    """On an interface that is none: what is wrong with the file is said before that."""
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
    assert done.stdout == "" and done.stderr.count("\n") == 1
    return done.returncode, done.stderr.removeprefix("dualpi2-mark-values: ").rstrip("\n")


@pytest.mark.parametrize("text", [
    "", "# nothing\n\n", "default gold", "policy a share 1%\ndefault a\n",
    "dscp ef,41,af11\tsilver",
    "policy b 8bit=1048575\ndscp 0 b", "policy c " + " ".join(f"{n}mbit=9" for n in range(1, 17)),
    "default gold # twice as much\ndscp 0 silver",
])
def test_what_is_understood(tmp_path, text):
    path = tmp_path / "policy"
    path.write_text(text)
    status, said = mark("no/such", "--policy", path)
    assert status == 1 and said.startswith("no/such: ")


@pytest.mark.parametrize("text, said", [
    ("golden", "1: golden: not one of policy, dscp and default"),
    ("\n\ndefault", "3: default: the name of a policy is missing (for example gold)"),
    ("default gild", "1: gild: no such policy: silver, gold, or one of a line before this one"),
    ("default gold silver", "1: unexpected `silver` after `default`"),
    ("default gold\ndefault gold", "2: default: given twice: give it once"),
    ("dscp", "1: dscp: DSCPs and a policy are missing (for example ef,af41 gold)"),
    ("dscp ef", "1: dscp: the name of a policy is missing (for example gold)"),
    ("dscp ef,64 gold", "1: dscp ef,64: not a list of DSCPs"),
    ("dscp ef gold\ndscp af11,46 gold", "2: af11,46: one of them has a policy already"),
    ("policy", "1: policy: a name, and `share PERCENT` or RATE=VALUE ... are missing"),
    ("policy a", "1: policy: a name, and `share PERCENT` or RATE=VALUE ... are missing"),
    ("policy gold share 10%", "1: gold: there is such a policy already: choose another name"),
    ("policy a share", "1: share: one percentage (for example 200; 1 to 10000)"),
    ("policy a share 1% 2%", "1: share: one percentage (for example 200; 1 to 10000)"),
    ("policy a share 0", "1: share 0: out of range (for example 200; 1 to 10000)"),
    ("policy a share much", "1: share much: not a whole percentage"),
    ("policy a 1mbit", "1: 1mbit: not RATE=VALUE (for example 40mbit=500000)"),
    ("policy a 1mbot=5", "1: rate 1mbot: not a rate"),
    ("policy a 0mbit=5", "1: rate 0mbit: out of range (for example 40mbit; 8bit to "),
    ("policy a 1mbit=", "1: value '': not a whole number"),
    ("policy a 1mbit=0", "1: value 0: out of range (for example 524288; 1 to 1048575)"),
    ("policy a 1mbit=1048576", "1: value 1048576: out of range"),
    ("policy a 1mbit=5 1mbit=4", "1: 1mbit: with a higher rate the value has to fall, or to stay"),
    ("policy a 1mbit=5 2mbit=6", "1: 2mbit: with a higher rate the value has to fall, or to stay"),
    ("policy a " + " ".join(f"{n}mbit=9" for n in range(1, 18)),
     "1: 17mbit=9: a policy has at most 16 points"),
    ("\n".join(f"policy p{n} share 1%" for n in range(31)),
     "31: p30: too many policies: at most 30 besides silver and gold"),
    ("default gold\0", "1: contains a NUL byte: not a text file"),
])
def test_what_is_refused(tmp_path, text, said):
    path = tmp_path / "policy"
    path.write_text(text)
    status, seen = mark("no/such", "--policy", path)
    assert status == 2 and seen.startswith(f"{path}:{said}")


@pytest.mark.parametrize("arguments, said", [
    ([], "an interface is missing"), (["one", "two"], "two: unexpected argument after"),
    (["one", "--json"], "--json: only with --show"),
    (["one", "--show", "--unload"], "--unload: excludes --show"),
    (["one", "--policy", "p", "--show"], "--policy: excludes --show"),
    (["one", "--policy"], "--policy: a value is missing"),
    (["one", "--rate-memory", "3s"], "--rate-memory 3s: out of range (for example 1s; 1ms to 2s)"),
    (["one", "--policy", "/no/such"], "/no/such: cannot be read: No such file or directory"),
])
def test_wrong_usage(arguments, said):
    status, seen = mark(*arguments)
    assert status == 2 and seen.startswith(said)
