# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The programs as they are built, and what their `--help all` says of them."""

import os
import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["DUALPI2_BIN"])
# Only built if it is asked for.
OPT_IN = tuple(name for name in ("dualpi2-mark-values",) if (BIN / name).exists())
PROGRAMS = ("dualpi2-load", "dualpi2-stats", *OPT_IN)
# Whose commands have options of their own.
PRAGUE, BASE_RTT = "tcp-prague", "tcp-base-rtt"


def output(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def help_of(program, *command):
    return output(BIN / program, *command, "--help", "all")


def options(program, *command):
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z0-9-]+)", help_of(program, *command), re.M))


def commands(program):
    listed = help_of(program).partition("Commands:")[2].split("\n\n")[0]
    return re.findall(r"^ +([a-z]+) ", listed, re.M)


COMMANDS = [(program, command) for program in (PRAGUE, BASE_RTT) for command in commands(program)]
