# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dualpi2-stats --watch on a terminal, with qdiscs whose every figure is known (pretend.c)."""

import json
import re
import sys
from pathlib import Path

import pytest
from pretender import PRETENDER, stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from terminal import ENDS, Terminal  # noqa: E402

UP, DOWN, ESCAPE = "\x1bOA", "\x1bOB", "\x1b"  # as xterm has them in its keypad mode


def watching(scenario, *arguments, interval="50ms", **options):
    return Terminal([PRETENDER, *arguments, "--watch", "--interval", interval],
                    DUALPI2_PRETEND=scenario, **options)


def row(text, name):
    """The cells of a line of figures."""
    [line] = [line for line in text.split("\n") if line.startswith(name)]
    return line[20:50].strip(), line[50:].strip()


def plots(text):
    return text.split("\n")[16:23]


def test_figures_are_those_of_jsonl():
    line = json.loads(stats("busy", "--jsonl", "--interval", "10ms", "--count", "1").stdout)
    interval = line["interval"]
    with watching("busy") as terminal:
        text = terminal.wait_for_word("99 % below")
    rates = [interval[queue]["rate-out"] / 1e6 for queue in ("l-queue", "c-queue")]
    assert [float(cell.removesuffix("mbit")) for cell in row(text, "leaving")] == rates
    assert row(text, "arriving") == ("16.0mbit", "8.02mbit")
    assert row(text, "delay: half") == ("500us", "15.0ms")
    assert interval["l-queue"]["delay"]["p50"] == 500
    assert row(text, "queued") == ("0 packets, 0 bytes", "12 packets, 12000 bytes")
    assert row(text, "p' 4.00 %") == ("p_CL 8.00 %", "p_C 0.16 %")
    assert row(text, "marks") == ("coupled 150/s", "-")
    assert row(text, "drops") == ("-", "aqm 2/s")
    assert "eth0: bpf_dualpi2, rate 40mbit, target 15ms" in text


@pytest.mark.parametrize("scenario, words", [
    ("busy", "the bottleneck: 99 % of the L4S packets wait up to 500us"),
    ("empty", "8.00mbit of 40mbit used: the queue was empty for at least 99 %"),
    ("idle", "no packets in the last"),
    ("overload", "overload for"),
    ("without-tcx", "our tcx program is not attached"),
])
def test_words(scenario, words):
    with watching(scenario) as terminal:
        terminal.wait_for_word(words)


def test_history_grows_from_the_right_to_a_minute():
    with watching("busy", interval="10ms") as terminal:
        text = terminal.wait_for(lambda text: "█" in text, "a plot")
        assert re.search(r"^L 99 % +500us +█+$", plots(text)[0])
        # A screen is drawn from the top: the last plot is the last to be whole.
        text = terminal.wait_for(lambda text: "█" * 60 in plots(text)[-1], "a minute")
        for line in plots(text)[::2][:2]:
            assert re.fullmatch(r"[LC] 99 % +\S+ █{60}", line), line
        assert re.fullmatch(r"p' +4.00 % █{60}", plots(text)[-1])
        assert max(map(len, text.split("\n"))) <= 80


def test_ascii_where_the_locale_has_no_more():
    with watching("busy", LC_ALL="C", interval="10ms") as terminal:
        text = terminal.wait_for_word("#" * 60)
    assert text.isascii() and terminal.written.isascii()


def test_resize():
    with watching("busy", COLUMNS="100", LINES="30") as terminal:
        terminal.wait_for_word("leaving")
        terminal.resize(60, 20)
        terminal.wait_for_word("60x20 is too small")
        terminal.resize(132, 50)
        text = terminal.wait_for_word("drops by cause")
        assert text.split("\n")[-1] == "q quit", "the last line is the keys'"
        terminal.resize(80, 24)
        terminal.wait_for(lambda text: text.split("\n")[-1] == "q quit" and "p'" in plots(text)[-1],
                          "all of it, in 24 lines")


@pytest.mark.parametrize("size", [(79, 24), (80, 23), (1, 1), (10, 3)])
def test_too_small(size):
    with watching("busy", columns=size[0], lines=size[1]) as terminal:
        terminal.wait_for(lambda text: text.strip(), "anything")
        terminal.press("q")
        assert terminal.end() == 0


@pytest.mark.parametrize("scenario", ["busy", "several", "idle"])
def test_q_ends_it(scenario):
    with watching(scenario) as terminal:
        terminal.wait_for_word("q quit")
        terminal.press("q")
        assert terminal.end() == 0


@pytest.mark.parametrize("number", ENDS)
def test_signals_end_it(number):
    with watching("busy") as terminal:
        terminal.wait_for_word("leaving")
        # setsid has become the program itself.
        assert terminal.end(number) == 0


def test_qdisc_that_goes():
    with watching("goes", "eth0") as terminal:
        terminal.wait_for_word("eth0: no bpf_dualpi2 qdisc now; waiting for one")
        terminal.press("q")
        assert terminal.end() == 0


def test_failure_on_the_way_is_reported_on_the_terminal_as_it_was():
    with watching("fails") as terminal:
        assert terminal.end() == 1
    after = bytes(terminal.written).rpartition(b"\x1b[?1049l")[2]
    assert b"out of order" in after


def test_list_to_move_in():
    with watching("several") as terminal:
        text = terminal.wait_for_word("drops\n")
        assert [line.split()[0] for line in text.split("\n")[1:4]] == ["eth0", "eth1", 'wlan"0\\']
        terminal.wait_for_word("16.0mbit")
        terminal.wait_for_word("the bottleneck: 99 %")
        terminal.press(DOWN)
        terminal.wait_for_word("nothing had to be marked: 99 %")
        terminal.press("\r")
        terminal.wait_for_word("eth1: bpf_dualpi2")
        terminal.press(DOWN)
        terminal.wait_for_word('wlan"0\\: bpf_dualpi2')
        terminal.press(DOWN)
        terminal.press(UP)
        terminal.wait_for_word("eth1: bpf_dualpi2")
        terminal.press(ESCAPE)
        terminal.wait_for_word("Enter: look at it")
        terminal.press("q")
        assert terminal.end() == 0


def test_queues_of_an_mq_have_their_names():
    with watching("queues") as terminal:
        terminal.wait_for_word("eth0, queue 8001:2")


@pytest.mark.parametrize("arguments", ["--watch --json", "--watch --count 3", "--watch --events",
                                       "--watch --histogram"])
def test_what_it_does_not_go_with(arguments):
    assert stats("busy", *arguments.split(), check=False).returncode == 2


def test_no_terminal():
    done = stats("busy", "--watch", check=False)
    assert done.returncode == 1 and "no terminal" in done.stderr and not done.stdout


def test_unknown_terminal():
    with watching("busy", TERM="nonesuch") as terminal:
        assert terminal.end() == 1
        assert b"TERM" in terminal.written


def test_nothing_to_begin_with():
    with watching("none") as terminal:
        assert terminal.end() == 1
        assert b"nothing there" in terminal.written
