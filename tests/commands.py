# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands that README.md, docs/ and the manual show, and what says of each that it works.

tests/qdisc/test_pages.py runs all but those in ELSEWHERE. A block of something else is in NOT_RUN,
or is what a command has printed (records.py). tests/unit/test_docs.py sees to it.
"""

import dataclasses
import re
from pathlib import Path

import records

PROJECT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", *sorted(str(path.relative_to(PROJECT)) for pattern in
                              ("docs/*.md", "man/*.in") for path in PROJECT.glob(pattern)))

# What may begin a command of a page.
PROGRAMS = re.compile(r"(dualpi2-(load|stats)|tcp-(prague|base-rtt)|tc|ip|nft|ping|sysctl|tcpdump|"
                      r"cat|nsenter|bpftool)( |$)")
# Commands that no guest of test_pages.py can run, and what shows instead that they work.
ELSEWHERE = {
    r"bench/(run|csv) ": "the bench needs the lab: test_bench.py",
    r"make\b": "builds, tests and measures in the lab: test_docs.py finds each target",
    r"tests/lab/lab ": "the lab does not run in itself; every test run calls it",
    r"sudo \./dualpi2-load ": "the links that `make` leaves: test_links.py",
    r"apt-get ": "tests/package/run and tests/package/trixie, with real packages",
    r'echo "deb |reboot$': "tests/package/trixie, which boots what that brings",
    r"systemctl ": "needs systemd: tests/systemd/test_units.py",
    r"(sudo )?dualpi2-plot ": "needs matplotlib: `make screens`, tests/unit/test_plot.py",
    r"\.output/dualpi2-load .* vdq|dualpi2-mark-values |dualpi2-load .* vdq":
        "only with make VDQ=1: test_vdq.py, test_mark_values.py",
    r"mkdir -m 700 /sys/fs/bpf/dualpi2|setpriv ": "needs a host without pins: test_privilege.py",
    r"tc qdisc add .* root dualpi2 ": "what a page moves away from: tests/compare",
    r"tcp-prague run .* rsync ": "any program would do: test_prague_choice.py",
}
# Blocks that are no commands, or need more than that guest has, by page and how they begin.
NOT_RUN = {
    ("docs/gso.md", "dualpi2_mark "): "the way of a packet",
    ("docs/guide.md", "# dualpi2-load --check eth0"): "needs a card with a speed: card.py",
    ("docs/guide.md", "dualpi2-load: /etc"): "a message: test_config.py",
    ("docs/guide.md", "rate 38mbit"): "a file",
    ("docs/guide.md", "ingress\n"): "the rest of it",
    ("docs/hacking.md", "| macro"): "a table, in a list",
    ("docs/reliability.md", "python3 -B"): "a script for the lab, which does not run in itself",
    ("docs/research.md", "title ="): "a file",
    ("docs/moving.md", "rate 9500kbit"): "a file",
    ("docs/subscribers.md", ""): "files and a message: test_subscribers.py",
    ("docs/watching.md", "eth0: 2 flows are out"): "what floods leave: test_guard.py",
    ("docs/prague.md", "[Service]"): "a part of a unit",
    ("man/dualpi2-mark-values.8.in", "policy "): "a file: test_policy.py",
    ("man/dualpi2.conf.5.in", "rate 38mbit"): "a file",
    ("man/dualpi2.conf.5.in", "ingress\n"): "a file",
}


@dataclasses.dataclass(frozen=True)
class Block:
    page: str
    heading: str  # of the section that it stands in
    text: str

    @property
    def is_of_commands(self):
        return not any(page == self.page and self.text.startswith(begin)
                       for page, begin in NOT_RUN)

    @property
    def commands(self):
        """[(command, what the page shows of its output, None if nothing)]. A command stands
        behind a # or $, with its output below; or in a line, with a comment two blanks away."""
        if not self.is_of_commands:
            return []
        if re.match(r"[#$] ", self.text):
            shown = re.findall(r"^[#$] (.*)\n((?:(?![#$] ).*\n)*)", self.text, re.M)
            return [(command, output if self.page.endswith(".md") else None)
                    for command, output in shown]
        lines = re.sub(r" \\\n\s*", " ", self.text).splitlines()
        return [(line.split("  ")[0], None) for line in lines]


def runs_elsewhere(command):
    return any(re.match(pattern, command) for pattern in ELSEWHERE)


def as_shown(output):
    """A pattern: ... stands for lines, or the rest of one, that the page leaves out."""
    return re.escape(output).replace("\\.\\.\\.\\\n", "(.*\n)*").replace(r"\.\.\.", ".*")


def in_markdown(page, text):
    for heading, section in re.findall(r"^##? (.*)\n((?:(?!##? ).*\n)*)",
                                       records.BLOCK.sub("", text), re.M):
        for block in re.findall(r"(?:^    .*\n)+", section, re.M):
            yield Block(page, heading, re.sub(r"^    ", "", block, flags=re.M))


def in_manual(page, text):
    plain = re.sub(r"\\\((.q)", lambda quote: {"aq": "'", "dq": '"'}[quote[1]],
                   text.replace(r"\-", "-"))
    for heading, section in re.findall(r"^\.SH (.*)\n((?:(?!\.SH ).*\n)*)", plain, re.M):
        for block in re.findall(r"^\.(?:EX|nf)\n((?:.*\n)*?)\.(?:EE|fi)\n", section, re.M):
            yield Block(page, heading, re.sub(r"^(\.R[SE]\n| +)", "", block, flags=re.M))
        if heading == "EXAMPLES":
            for line in re.findall(r"^\.TP\n\.B (.*\n)", section, re.M):
                yield Block(page, heading, line)


def blocks():
    """All of them, without the records."""
    for page in PAGES:
        text = (PROJECT / page).read_text(encoding="utf-8")
        yield from (in_markdown if page.endswith(".md") else in_manual)(page, text)
