# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What docs/conformance.md claims is shown by tests that exist."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs/conformance.md").read_text(encoding="utf-8")
FUNCTIONS = {name for file in (PROJECT / "tests").glob("*/test_*.py")
             for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.M)}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", PAGE))))
def test_named_function_exists(name):
    assert name in FUNCTIONS


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(tests/\w+/test_[\w.]+)`", PAGE))))
def test_named_file_exists(name):
    assert (PROJECT / name).is_file()


def test_rows_name_tests():
    """Every row of the tables, but those that say that there is nothing to show."""
    rows = [row for row in re.findall(r"^\| (.*) \|$", PAGE, re.M)
            if not row.startswith(("§", "option", "---"))]
    assert len(rows) > 40
    silent = [row for row in rows if "`test" not in row and "every test" not in row]
    assert all("not yet" in row or "not possible" in row for row in silent), silent
