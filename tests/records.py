#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Keep what a command prints in docs/records/, and show it in the pages.

    tests/records.py NAME -- COMMAND...    run COMMAND; its output becomes the record NAME
    tests/records.py                       bring the pages up to date

`make TARGET RECORD=1` does the first. A page shows a record between two comments:

    <!-- record NAME: SECTION -->
    ...
    <!-- end -->

SECTION is one that the record heads by `## SECTION`; without it the page shows all. A .txt
becomes a code block, a .md stays as it is. tests/unit/test_docs.py compares both.
"""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
RECORDS = PROJECT / "docs/records"
BLOCK = re.compile(r"(<!-- record (?P<name>[\w.-]+)(?:: (?P<section>.+))? -->\n)"
                   r"(?:.*\n)*?(<!-- end -->)")


class RecordError(Exception):
    """What is wrong, in one line."""


def pages():
    """All Markdown files of the project."""
    return [path for path in PROJECT.glob("**/*.md")
            if not {".cache", ".output", "report", "records"} & set(path.parts)]


def section_of(record, heading):
    """The lines between this heading and the next."""
    found = re.search(rf"^## {re.escape(heading)}\n((?:(?!## ).*\n)*)", record, re.M)
    if not found:
        raise RecordError(f"no section {heading}")
    return found[1]


def shown(name, section):
    """What a page has between the comments."""
    try:
        text = (RECORDS / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise RecordError(f"no record {name}") from error
    if section:
        text = section_of(text, section)
    text = text.strip("\n")
    if not name.endswith(".md"):
        text = textwrap.indent(text, "    ")
    return f"\n{text}\n\n"


def filled(page):
    """The text of a page with its records as they are now."""
    return BLOCK.sub(lambda block: block[1] + shown(block["name"], block["section"]) + block[4],
                     page)


def fill_pages():
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before)
        if after != before:
            page.write_text(after, encoding="utf-8")


def record(name, command):
    """Run it with its output on the terminal as well; its exit status."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        return process.returncode
    if not lines:
        raise RecordError(f"{command[0]} has printed nothing, {name} stays as it was")
    (RECORDS / name).write_text("".join(lines), encoding="utf-8")
    fill_pages()
    return 0


def main():
    arguments = sys.argv[1:]
    if not arguments:
        fill_pages()
        return 0
    if len(arguments) < 3 or arguments[1] != "--":
        print(__doc__, file=sys.stderr)
        return 2
    return record(arguments[0], arguments[2:])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RecordError as error:
        print(f"records.py: {error}", file=sys.stderr)
        sys.exit(1)
