#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measure one part in the lab's guest; the result goes to /results/PART.json."""

import argparse
import importlib
import json
from pathlib import Path

import guest

RESULTS = Path("/results")
PARTS = ("packets", "gso", "beyond")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("part", choices=PARTS)
    part = parser.parse_args().part
    guest.load_modules()
    result = importlib.import_module(part).measure()
    (RESULTS / f"{part}.json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
