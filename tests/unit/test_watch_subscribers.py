# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dualpi2-stats --subscribers --watch on a terminal, with subscribers whose every figure is known
(pretend_crowd.c): s24 of 24 has most of the rate, the shortest delay and the last name."""

import sys
from pathlib import Path

import pytest
from pretender import PRETENDER, stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from terminal import ENDS, Terminal  # noqa: E402

# As xterm has them in its keypad mode.
UP, DOWN, RIGHT, LEFT = "\x1bOA", "\x1bOB", "\x1bOC", "\x1bOD"
PAGE_UP, PAGE_DOWN, HOME, END = "\x1b[5~", "\x1b[6~", "\x1bOH", "\x1bOF"
ABOVE = 2  # lines: what it is, and the headings


def watching(crowd="24", scenario="busy", interval="50ms", **options):
    return Terminal([PRETENDER, "--subscribers", "--watch", "--interval", interval],
                    DUALPI2_PRETEND=scenario, DUALPI2_CROWD=crowd, **options)


def rows(text):
    return [line.split() for line in text.split("\n")[ABOVE:-1] if line]


def names(text):
    return [row[0] for row in rows(text)]


def begins_with(*wanted):
    """Is there a rate, and these are the first?"""
    return lambda text: "bit" in text and names(text)[:len(wanted)] == list(wanted)


def last_line(text):
    return text.split("\n")[-1]


def test_cells():
    with watching("3") as terminal:
        text = terminal.wait_for(lambda text: "s02" in names(text) and "98.0ms" in text,
                                 "all three")
    lines = text.split("\n")
    assert lines[0] == "eth0: subscribers and parents: 4, by rate"
    assert lines[1].split() == "name plan now P99 L P99 C marks drops parent".split()
    assert rows(text) == [
        "site unlimited 600kbit - - 12/s 3/s (parent)".split(),
        "s03 3mbit 300kbit 97.0ms - 6/s - site".split(),
        "(nobody) unlimited 200kbit - - - - -".split(),
        "s02 2mbit 200kbit - 98.0ms 4/s 2/s site".split(),
        "s01 1mbit 100kbit 99.0ms - 2/s 1/s site".split(),
    ]
    assert last_line(text).startswith(
        "q quit  ? help  by: r rate, l P99 L, c P99 C, d drops, n name")
    assert last_line(text).endswith("every 50ms")


def test_who_comes_is_told_of():
    """While the screen is on; and what it has used is of the interval in which it has come."""
    with watching("3", interval="200ms") as terminal:
        terminal.wait_for(lambda text: "parents: 3," in text, "before it has come")
        terminal.wait_for(lambda text: "parents: 4," in text and "s02" in names(text), "then")


@pytest.mark.parametrize("key, word, first", [
    ("r", "rate", ("site", "s24", "s23")),
    ("l", "P99 L", ("s01", "s03", "s05")),
    ("c", "P99 C", ("s02", "s04", "s06")),
    ("d", "drops", ("site", "s02", "s05")),  # then those with as many, from A on
    ("n", "name", ("(nobody)", "s01", "s02")),
])
def test_order(key, word, first):
    with watching() as terminal:
        terminal.wait_for(begins_with("site", "s24", "s23"), "by the rate")
        terminal.press("n" if key == "r" else "r")
        terminal.press(key)
        terminal.wait_for_word(f", by {word}\n")
        terminal.wait_for(begins_with(*first), word)


def test_as_many_as_the_screen_has():
    """The rest by keys; the end stays at the lower edge when the window grows."""
    with watching() as terminal:
        text = terminal.wait_for(begins_with("site", "s24"), "by the rate")
        assert len(rows(text)) == 24 - ABOVE - 1
        terminal.press("n")
        terminal.wait_for(begins_with("(nobody)", "s01"), "by names")
        terminal.press(DOWN + "jj" + UP)
        terminal.wait_for(begins_with("s02", "s03"), "two further")
        terminal.press(PAGE_DOWN)
        text = terminal.wait_for(begins_with("s05"), "the last page")
        assert names(text)[-1] == "site" and len(rows(text)) == 21
        terminal.press(PAGE_UP)
        terminal.wait_for(begins_with("(nobody)"), "the first page")
        terminal.press(END)
        terminal.wait_for(begins_with("s05"), "the end")
        terminal.resize(80, 26)
        text = terminal.wait_for(begins_with("s03"), "two more lines")
        assert names(text)[-1] == "site"
        terminal.press(HOME)
        terminal.wait_for(begins_with("(nobody)"), "the beginning")


def test_resize():
    with watching(COLUMNS="100", LINES="30") as terminal:
        terminal.wait_for_word("s24")
        terminal.resize(50, 15)
        terminal.wait_for_word("50x15 is too small")
        terminal.resize(60, 18)
        text = terminal.wait_for(lambda text: last_line(text).startswith("q quit"), "18 lines")
        assert "by: r , l , c , d , n " in last_line(text) and "marks" not in text
        assert max(map(len, text.split("\n"))) <= 60 and len(rows(text)) == 15
        terminal.resize(132, 50)
        terminal.wait_for(lambda text: "by: r rate" in last_line(text) and "s01" in names(text),
                          "all of them")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "vt100"}])
def test_without_a_colour(environment):
    with watching(**environment) as terminal:
        terminal.wait_for(begins_with("site", "s24"), "the list")
        assert all(cell.fg == "default" for line in terminal.screen.buffer.values()
                   for cell in line.values())


def test_another_qdisc():
    with watching("3,5", "several") as terminal:
        terminal.wait_for_word("eth0 (1 of 2): subscribers and parents: 4")
        terminal.press(LEFT + RIGHT + RIGHT)
        terminal.wait_for_word("eth1 (2 of 2): subscribers and parents: 6")
        terminal.press(LEFT)
        terminal.wait_for_word("eth0 (1 of 2)")


def test_help():
    with watching() as terminal:
        terminal.wait_for_word("s24")
        terminal.press("?")
        text = terminal.wait_for_word("any key goes back")
        for word in ("r, l, c, d, n", "PgUp", "space", "+, -", "(nobody)"):
            assert word in text
        terminal.press("n")
        terminal.wait_for(begins_with("site"), "the order stays")


def test_pause_and_interval():
    with watching(interval="10ms") as terminal:
        terminal.wait_for_word("s24")
        terminal.press(" ")
        terminal.wait_for(lambda text: last_line(text).endswith("paused"), "a pause")
        terminal.press("n")
        terminal.wait_for(begins_with("(nobody)"), "another order in a pause")
        terminal.press("+")
        terminal.wait_for_word("every 20ms")


@pytest.mark.parametrize("number", ENDS)
def test_signals_end_it(number):
    with watching() as terminal:
        terminal.wait_for_word("s24")
        assert terminal.end(number) == 0


def test_q_ends_it():
    with watching() as terminal:
        terminal.wait_for_word("s24")
        terminal.press("q")
        assert terminal.end() == 0


def test_qdisc_that_goes():
    with watching(scenario="goes") as terminal:
        terminal.wait_for_word("no subscribers now; waiting for some")
        terminal.press("njk" + END + RIGHT)
        terminal.press("q")
        assert terminal.end() == 0


def test_nobody_to_begin_with():
    with watching("0") as terminal:
        assert terminal.end() == 1
        assert b"no qdisc here has subscribers" in terminal.written
    with watching(scenario="none") as terminal:
        assert terminal.end() == 1
        assert b"nothing there" in terminal.written


def test_no_terminal():
    done = stats("busy", "--subscribers", "--watch", check=False)
    assert done.returncode == 1 and "is not a terminal" in done.stderr and not done.stdout


@pytest.mark.parametrize("arguments", ["--watch --json", "--watch --count 3", "--watch --top 3",
                                       "--interval 1s"])
def test_what_it_does_not_go_with(arguments):
    assert stats("busy", "--subscribers", *arguments.split(), check=False).returncode == 2
