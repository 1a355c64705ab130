# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The links of Markdown pages: which lead nowhere."""

import re


def slug(heading):
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def dead(page):
    """Those of a page (Path) to files or headings that do not exist. The web is not asked."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        found = page.parent / path if path else page
        if not found.exists():
            yield target
        elif anchor:
            headings = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), re.M)
            if anchor not in map(slug, headings):
                yield target
