# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A bench of hours, that goes on on any machine: its finished runs have a line each in a file of
the repository."""

import json
import subprocess
from pathlib import Path

from runner import Bench
from store import REPOSITORY
from table import told


def git(*words):
    return subprocess.run(["git", *words], cwd=REPOSITORY, check=True, capture_output=True,
                          text=True).stdout.strip()


def tree():
    """Which version of the project is measured. Lines themselves do not change it."""
    changed = git("status", "--porcelain", "-uno", "--", ".", ":!*.jsonl")
    return git("describe", "--always") + ("-dirty" if changed else "")


def read(path):
    """The lines of a file, if there is one."""
    try:
        return list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
    except FileNotFoundError:
        return []


def write(path, lines):
    temporary = path.with_suffix(".tmp")
    temporary.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    temporary.rename(path)


def keep_options(parser):
    """Of a command whose runs may have lines."""
    parser.add_argument("--lines", metavar="FILE",
                        help="keep figures of finished runs here, and take them from here")
    parser.add_argument("--kept", action="store_true",
                        help="only what is kept there: measure nothing")


def check_options(parser, options):
    if options.kept and not options.lines:
        parser.error("--kept needs --lines")


class Kept(Bench):
    """`lines`: knows the file. A run that has a line there is not done again, whatever machine did
    it; to measure anew, remove lines."""

    def __init__(self, kernel, jobs, lines):
        super().__init__(kernel, jobs)
        self.file, self.lines = lines, lines.read()
        self.tree = tree()

    def take(self, run):
        """Its line, if it is finished."""
        raw = self.store.load(run)
        if raw:
            self.lines[self.file.key(run)] = self.file.line(run, raw, self.tree)
            self.file.write(self.lines)

    def result(self, run):
        """That of another bench will do."""
        key = self.file.key(run)
        if key not in self.lines:
            self.take(run)
        return self.lines.get(key) or self.missing.get(run.name)

    def note(self, run, error, progress):
        super().note(run, error, progress)
        self.take(run)


class Lines:
    """What is told of each run: what a table needs to know, or something else."""

    def __init__(self, path, tell=told):
        self.path, self.tell = Path(path), tell

    @staticmethod
    def key(run):
        return run.name

    def line(self, run, raw, version):
        return {"cell": run.cell, "variant": run.variant, "seed": run.seed,
                "kernel": raw["kernel"], "tree": version} | self.tell(raw)

    def read(self):
        return {(line["cell"], line["variant"], line["seed"]): line for line in read(self.path)}

    def write(self, lines):
        write(self.path, [lines[key] for key in sorted(lines)])
