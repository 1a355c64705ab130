# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A parameter or a counter is a row (include/): few files know it by name."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
# What a new one may touch: the programs, their man pages and what is packaged with them. Prose
# (docs/, *.md) explains it, and tests use it, but neither has a list that it would miss in.
PRODUCT = ("bpf", "include", "user", "man", "completion", "packaging")
# Prague's alpha is another one.
OTHERS = re.compile("prague|opt_in|classic_ecn")
FILES_OF_A_PARAMETER = 6
FILES_OF_A_CAUSE = 4

AQM_ROW = re.compile(r'^\t(?:PARAM|CHOICE)\(\w+, (\w+), "([a-z-]+)"', re.M)
STAT_ROW = re.compile(r'^\tX\(\w+, (\w+), "[a-z ]+", "([a-z.-]+)"', re.M)


def rows(header, pattern):
    return pattern.findall((PROJECT / header).read_text(encoding="utf-8"))


AQM_PARAMS = [row for header in sorted(PROJECT.glob("include/aqm/*.h"))
              for row in rows(header, AQM_ROW)]
CAUSES = [row for row in rows("include/stats.h", STAT_ROW) if row[0].startswith(("mark_", "drop_"))]


def files_that_name(*names):
    """As `git grep -lw` finds them."""
    word = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-])")
    return sorted(str(path.relative_to(PROJECT)) for part in PRODUCT
                  for path in (PROJECT / part).rglob("*")
                  if path.is_file() and not OTHERS.search(str(path.relative_to(PROJECT)))
                  and word.search(path.read_text(encoding="utf-8")))


def test_there_are_rows():
    assert len(AQM_PARAMS) >= 5 and len(CAUSES) >= 10


@pytest.mark.parametrize("member", [member for member, _ in AQM_PARAMS])
def test_few_files_name_a_parameter_of_an_aqm(member):
    files = files_that_name(member)
    assert len(files) <= FILES_OF_A_PARAMETER, files


@pytest.mark.parametrize("member, key", CAUSES)
def test_few_files_name_a_cause(member, key):
    """Of marks and drops."""
    files = files_that_name(member, key)
    assert len(files) <= FILES_OF_A_CAUSE, files
