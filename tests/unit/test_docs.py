# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the Markdown pages say of the project is there: files, headings, make targets, options,
tests, and the figures that commands have written to docs/records/."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests"))
import commands  # noqa: E402
import links  # noqa: E402
import records  # noqa: E402

BIN = Path(os.environ.get("DUALPI2_BIN", ".output"))
WIDTH = 80
NAMES = sorted(str(path.relative_to(PROJECT)) for path in records.pages())
CONFORMANCE = (PROJECT / "docs/conformance.md").read_text(encoding="utf-8")
FUNCTIONS = {name for file in (PROJECT / "tests").glob("*/test_*.py")
             for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.M)}
# Options that the pages name and other programs have.
FOREIGN = {"--ambient-caps", "--clear-groups", "--format", "--inh-caps", "--net", "--now",
           "--reuid", "--tb", "--template"}
# What stands for a file, or comes only with a run.
MADE = re.compile(r"bench/report|NAME")


def text_of(name):
    return (PROJECT / name).read_text(encoding="utf-8")


def without_records(text):
    return records.BLOCK.sub("", text)


def without_code(text):
    """Without blocks of code: indented ones, and those between fences."""
    unfenced = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"^(?: {4}|\t).*$", "", unfenced, flags=re.M)


def code_of(text):
    """All that stands as code, in blocks or in a line."""
    blocks = re.findall(r"^(?: {4}|\t)(.*)$", text, re.M)
    fenced = re.findall(r"^```.*?\n(.*?)^```$", text, re.M | re.S)
    spans = re.findall(r"`([^`]+)`", without_code(text))
    return [*blocks, *"\n".join(fenced).splitlines(), *spans]


# ---- each page --------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_prose_is_wrapped(name):
    """At 80 columns, but for headings, tables, pictures and single words."""
    prose = without_code(without_records(text_of(name)))
    long = [line for line in prose.splitlines() if len(line) > WIDTH and
            not line.startswith(("|", "<!--", "![", "#")) and " " in line.lstrip("- ")]
    assert not long


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_said_twice(name):
    """A paragraph, or a heading of the second level."""
    text = without_records(text_of(name))
    paragraphs = [part for part in text.split("\n\n")
                  if part.startswith("## ") or part.count("\n") > 1]
    assert sorted(set(paragraphs)) == sorted(paragraphs)


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    assert not list(links.dead(PROJECT / name))


@pytest.mark.parametrize("name", NAMES)
def test_records_are_as_commands_wrote_them(name):
    assert records.filled(text_of(name)) == text_of(name), "tests/records.py brings it up to date"


@pytest.mark.parametrize("name", NAMES)
def test_named_files_exist(name):
    top = "|".join(path.name for path in PROJECT.iterdir() if path.is_dir() and path.name[0] != ".")
    for span in code_of(without_records(text_of(name))):
        for path in re.findall(rf"(?<![\w./@-])((?:{top})/[\w./*@-]*[\w*/])", span):
            assert MADE.search(path) or list(PROJECT.glob(path)), path


@pytest.mark.parametrize("name", NAMES)
def test_named_targets_exist(name):
    rules = "".join(path.read_text(encoding="utf-8") for path in
                    [PROJECT / "Makefile", *PROJECT.glob("*/Makefile.inc"),
                     *PROJECT.glob("tests/*/Makefile.inc")])
    targets = set(re.findall(r"^([a-z][\w-]*):", rules, re.M))
    for span in code_of(text_of(name)):
        for target in re.findall(r"(?:^|&& |-- )make ([a-z][a-z-]*)(?![\w=/])", span):
            assert target in targets, span


def options_of_programs():
    for command in ("dualpi2-load", "dualpi2-stats", "dualpi2-plot", "tcp-prague run",
                    "tcp-prague on", "tcp-prague off", "tcp-prague status", "tcp-base-rtt list",
                    "tcp-base-rtt off"):
        program, *words = command.split()
        done = subprocess.run([BIN / program, *words, "--help", "all"], capture_output=True,
                              text=True, check=True)
        yield from re.findall(r"--[a-z][\w-]*", done.stdout)


def options_of_scripts():
    """Of what is written in Python here and takes options."""
    scripts = [*PROJECT.glob("tests/**/*.py"), *PROJECT.glob("bench/**/*.py"),
               PROJECT / "bench/run", PROJECT / "bench/cost/run", PROJECT / "tests/run",
               PROJECT / "tests/lab/lab"]
    for script in scripts:
        yield from re.findall(r'"(--[a-z][\w-]*)"', script.read_text(encoding="utf-8"))


def test_named_options_exist():
    known = FOREIGN | set(options_of_programs()) | set(options_of_scripts())
    for name in NAMES:
        if name == "CHANGELOG.md":  # has those that went as well
            continue
        for span in code_of(without_records(text_of(name))):
            for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", span):
                assert option in known, f"{name}: {span}"


# ---- all pages --------------------------------------------------------------------------


def test_every_record_is_shown():
    shown = {block["name"] for name in NAMES for block in records.BLOCK.finditer(text_of(name))}
    assert shown == {path.name for path in records.RECORDS.iterdir()}


def test_every_block_is_run_or_said_not_to_be():
    """In a guest by test_pages.py, by something else that is named, or it is no command."""
    found = [command for block in commands.blocks() for command, _ in block.commands]
    assert len(found) > 100
    assert [command for command in found if not commands.PROGRAMS.match(command) and
            not commands.runs_elsewhere(command)] == []
    assert not [pattern for pattern in commands.ELSEWHERE
                if not any(re.match(pattern, command) for command in found)], "nothing is left of"
    assert not [begin for page, begin in commands.NOT_RUN
                if not any((block.page, block.text.startswith(begin)) == (page, True)
                           for block in commands.blocks())], "nothing is left of"
    named = re.findall(r"\w+\.py", " ".join([*commands.ELSEWHERE.values(),
                                             *commands.NOT_RUN.values()]))
    assert not [name for name in named if not list(PROJECT.glob(f"tests/*/{name}"))]


def test_readme_is_short():
    assert len(text_of("README.md").splitlines()) <= 120


def test_readme_has_what_a_bare_machine_was_seen_to_do():
    """Up to the qdisc."""
    first = next(block for block in commands.blocks()
                 if block.page == "README.md" and block.text.startswith("apt-get update"))
    seen = re.findall(r"^# (.*)$", text_of("docs/records/trixie.txt"), re.M)
    attach = next(command for command in seen if command.startswith("dualpi2-load "))
    until = seen[:seen.index(attach) + 1]
    assert [command for command, _ in first.commands] == [
        command for command in until if not command.startswith("uname ")]


def cell(name, section, row, column):
    """What a table of a record has."""
    text = (records.RECORDS / name).read_text(encoding="utf-8")
    heads, _, *rows = [[part.strip() for part in line.strip("|").split("|")] for line in
                       records.section_of(text, section).splitlines() if line.startswith("|")]
    return next(found for found in rows if found[0].startswith(row))[heads.index(column)]


def figures(name, section, column, rows):
    """Those of several rows, for the same contender."""
    return [cell(name, section, row, column) for row in rows]


def home(traffic, contender, *rows):
    return figures("bench-home.md", f"home-40-10-20ms-{traffic}", contender, rows)


def summary(row, columns=("bpf_dualpi2", "cake", "htb+fq_codel", "htb+pfifo")):
    return [cell("bench.md", "Summary", row, column) for column in columns]


GAME = ("game up P99 ms", "game down P99 ms")
PAIR = "One L4S and one Cubic download (40 Mbit/s"
# What README.md says of delays, and where the records have it.
README_FIGURES = [
    ("at most {} ms up and {} down (cake: {} and {}; without `--sparse`: {} and {})",
     [*home(1, "sparse", *GAME), *home(1, "cake", *GAME), *home(1, "bpf_dualpi2", *GAME)]),
    ("pages load in {} ms (cake: {}). With 16 of each: {} ms (cake: {}), but {} ms down for the "
     "game (cake: {})",
     [*home(1, "sparse", "page P50 ms"), *home(1, "cake", "page P50 ms"),
      *home(16, "sparse", "page P50 ms"), *home(16, "cake", "page P50 ms"),
      *home(16, "sparse", GAME[1]), *home(16, "cake", GAME[1])]),
    ("wait {} ms where cake has {}; others wait longer, {} ms where cake has {} (40 Mbit/s",
     [part for both in zip(*(figure.split(" / ") for figure in summary(PAIR)[:2]))
      for part in both]),
    ("beside a Cubic one, 40 Mbit/s | {} | {} | {} | {} |",
     [figure.split(" / ")[0] for figure in summary(PAIR)]),
    ("an upload of 10 Mbit/s, `--sparse` | {} | {} | – | – |",
     [*home(1, "sparse", GAME[0]), *home(1, "cake", GAME[0])]),
    ("a UDP flood marked as L4S, 100 Mbit/s | {} | {} | {} | {} |",
     summary("100 Mbit/s of unresponsive UDP in the L4S queue")),
]


@pytest.mark.parametrize("words, found", README_FIGURES, ids=[words for words, _ in README_FIGURES])
def test_readme_has_the_figures_of_the_records(words, found):
    assert words.format(*found) in " ".join(text_of("README.md").split())


def test_readme_has_no_other_figure_with_a_decimal_point():
    """But versions, rates and licences."""
    text = " ".join(without_code(without_records(text_of("README.md"))).split())
    for words, found in README_FIGURES:
        text = text.replace(words.format(*found), "")
    assert re.findall(r"\d+\.\d+", text) == ["6.17", "6.18", "2.0", "2.0"]


def test_kernels_page_says_where_each_row_is_from():
    """A file with its date, or that nothing is known; and of Debian the kernels of the lab."""
    page = text_of("docs/kernels.md")
    rows = [[part.strip() for part in line.strip("|").split("|")]
            for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 12
    for name, kernel, bpf, btf, _, source in rows:
        unknown = (kernel, bpf, btf) == ("unknown",) * 3
        assert unknown == (not source), name
        assert unknown or re.search(r"20\d\d|does not name", source), name
    good = re.search(r"^KNOWN_GOOD = \((.*?)\)$", text_of("tests/lab/kernels.py"), re.M | re.S)[1]
    series = [".".join(version.split(".")[:2]) for version in re.findall(r'"([\d.]+)"', good)]
    assert f"| {series[0]} to {series[-1]} | yes | yes |" in page


def test_readme_names_all_that_the_package_is_built_with():
    control = text_of("packaging/debian/control")
    needs = re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.M)[1]
    packages = set(re.findall(r"^ ([\w.+-]+)", needs, re.M)) - {"debhelper-compat"}
    named = re.search(r"apt-get install (make gcc [^&]*)", text_of("README.md"))[1]
    assert set(named.replace("\\", " ").split()) == packages | {"make", "gcc"}


# ---- docs/conformance.md: tests exist, and every row has one -------------------------------


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", CONFORMANCE))))
def test_named_function_exists(name):
    assert name in FUNCTIONS


def test_rows_name_tests():
    """Every row of the tables, but those that say that there is nothing to show."""
    rows = [row for row in re.findall(r"^\| (.*) \|$", CONFORMANCE, re.M)
            if not row.startswith(("§", "option", "---"))]
    assert len(rows) > 40
    silent = [row for row in rows if "`test" not in row and "every test" not in row]
    assert all("not yet" in row or "not possible" in row for row in silent), silent


# ---- records ------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A project with one page and one record."""
    monkeypatch.setattr(records, "PROJECT", tmp_path)
    monkeypatch.setattr(records, "RECORDS", tmp_path / "docs/records")
    records.RECORDS.mkdir(parents=True)
    page = tmp_path / "page.md"
    page.write_text("a\n\n<!-- record r.txt: Two -->\nold\n<!-- end -->\n\nb\n")
    return page


def test_record_is_what_a_command_prints(kept, capfd):
    assert records.record("r.txt", ["printf", "## One\\n1\\n## Two\\n2\\n\\n3\\n"]) == 0
    assert capfd.readouterr().out == (records.RECORDS / "r.txt").read_text()
    assert kept.read_text() == ("a\n\n<!-- record r.txt: Two -->\n\n    2\n\n    3\n\n"
                                "<!-- end -->\n\nb\n")


@pytest.mark.parametrize("command", [["sh", "-c", "echo x; exit 3"], ["true"]])
def test_failed_or_silent_command_leaves_the_record(kept, command):
    (records.RECORDS / "r.txt").write_text("## Two\n2\n")
    before = kept.read_text()
    try:
        assert records.record("r.txt", command) == 3
    except records.RecordError:
        assert command == ["true"]
    assert (records.RECORDS / "r.txt").read_text() == "## Two\n2\n"
    assert kept.read_text() == before


def test_missing_section_is_an_error(kept):
    (records.RECORDS / "r.txt").write_text("## One\n1\n")
    with pytest.raises(records.RecordError, match="no section Two"):
        records.filled(kept.read_text())
