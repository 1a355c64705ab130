# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What `dualpi2-load --check` prints, as (kind, text) a line."""

from conftest import LOADER


def findings(space, *arguments):
    """What it finds; the exit status has to say whether something is missing."""
    done = space.run(LOADER, "--check", *arguments, check=False)
    assert done.stderr == "", done
    found = [(line[:9].strip(), line[9:]) for line in done.stdout.splitlines()]
    kinds = {kind for kind, _ in found}
    assert kinds <= {"ok", "hint", "WARNING", "MISSING"}, found
    assert done.returncode == ("MISSING" in kinds), done
    return found


def of_kind(found, wanted):
    return [text for kind, text in found if kind == wanted]
