#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measure some parts in the lab's guest; what is found goes to /results/PART.json."""

import argparse
import importlib
import json
import os
from pathlib import Path

import guest

RESULTS = Path("/results")
PARTS = ("packets", "queues", "hosts", "subscribers", "gso", "congestion", "load", "memory", "idle")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("part", nargs="+", choices=PARTS)
    guest.load_modules()
    for part in parser.parse_args().part:
        found = {"kernel": os.uname().release, part: importlib.import_module(part).measure()}
        (RESULTS / f"{part}.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
