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

# As xterm has them in its keypad mode.
UP, DOWN, RIGHT, LEFT = "\x1bOA", "\x1bOB", "\x1bOC", "\x1bOD"
ESCAPE = "\x1b"


def watching(scenario, *arguments, interval="50ms", **options):
    return Terminal([PRETENDER, *arguments, "--watch", "--interval", interval],
                    DUALPI2_PRETEND=scenario, **options)


def row(text, name):
    """The cells of a line of figures."""
    [line] = [line for line in text.split("\n") if line.startswith(name)]
    return line[20:50].strip(), line[50:].strip()


def plots(text):
    return text.split("\n")[18:23]


def test_figures_are_those_of_jsonl():
    line = json.loads(stats("busy", "--jsonl", "--interval", "10ms", "--count", "1").stdout)
    interval = line["interval"]
    with watching("busy") as terminal:
        text = terminal.wait_for_word("99 % below")
    rates = [interval[queue]["rate-out"] / 1e6 for queue in ("l-queue", "c-queue")]
    leaving = [cell.split(", ") for cell in row(text, "leaving")]
    assert [float(speed.removesuffix("mbit")) for speed, _ in leaving] == rates
    assert [share for _, share in leaving] == ["40.0 % of rate", "20.0 % of rate"]
    assert row(text, "arriving") == ("16.0mbit", "8.02mbit")
    assert row(text, "delay: half") == ("500us", "15.0ms")
    assert interval["l-queue"]["delay"]["p50"] == 500
    assert row(text, "queued") == ("0 packets, 0 bytes", "12 packets, 12000 bytes")
    assert row(text, "p' 4.00 %") == ("p_CL 8.00 %", "p_C 0.16 %")
    assert row(text, "marks") == ("150/s, 7.50 %", "-")
    assert row(text, "drops") == ("-", "2/s, 0.20 %")  # of 1002 packets
    lines = text.split("\n")
    causes = [lines[lines.index(line) + 1][20:].split("  ") for line in lines
              if line.startswith(("marks", "drops"))]
    assert [cause[0] or cause[-1].strip() for cause in causes] == ["coupled 150/s", "aqm 2/s"]
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


# What each AQM that has gauges measures itself, by the names of --json: pretend.c has known values.
# Of what is counted, how often it was in the last step, which is a second.
GAUGES = {
    "bpf_dualpi2": "pi2 queue-delay 1.00us",
    "bpf_dualq_codel": "codel drop-next 1.00us, count 2002, dropping 3003",
    "bpf_dualq_curvy": "curvy-red smoothed-delay-c 1.00us",
    "bpf_dualq_vdq": "vdq without-value 1001/s, virtual-overflows 2002/s, flows-evicted 3003/s, "
                     "flows 4004, ctv-l 5005, ctv 6006, virtual-l 7007, virtual 8008",
}


def test_aqms_show_what_they_measure():
    listed = json.loads(stats("aqms", "--json").stdout)
    kinds = {line["dev"]: line["kind"] for line in listed}
    assert set(GAUGES) - {"bpf_dualq_vdq"} <= set(kinds.values())
    for device, kind in kinds.items():
        with watching("aqms", device) as terminal:
            text = terminal.wait_for_word("L 99 %")
        below = text.split("      by cause")[2].split("\n")[1:]
        end = next(i for i, line in enumerate(below) if line.startswith("the last 3s, "))
        assert " ".join(" ".join(below[:end]).split()) == GAUGES.get(kind, "")


def test_overload_is_told_once_there_was_one():
    with watching("busy") as terminal:
        assert "overload" not in terminal.wait_for_word("L 99 %")
    with watching("overload") as terminal:
        text = terminal.wait_for_word("L 99 %")
        assert re.search(r"\noverload +now: 1 since it was attached, \S+ in all\npi2 ", text)
        # There is a line less for the plots: the least of them makes room.
        assert "\nC leaving" in text and "\np' " not in text.split("the last")[1]


def test_history_grows_from_the_right_to_the_width():
    with watching("busy", interval="10ms") as terminal:
        text = terminal.wait_for(lambda text: "█" in text, "a plot")
        assert re.search(r"^L 99 % +500us +█+$", plots(text)[0])
        # A screen is drawn from the top: the last plot is the last to be whole.
        text = terminal.wait_for(lambda text: "█" * 60 in plots(text)[-1], "60 intervals")
        for line in plots(text)[:2]:
            assert re.fullmatch(r"[LC] 99 % +\S+ █{60}", line), line
        assert re.fullmatch(r"p' +4.00 % █{60}", plots(text)[-1])
        assert max(map(len, text.split("\n"))) <= 80
        assert "the last 600ms, " in text


def test_wide_terminal_is_used():
    with watching("busy", interval="10ms", columns=200, lines=60) as terminal:
        text = terminal.wait_for(
            lambda text: text.count("\n" + " " * 20 + "█" * 180) > 20, "180 intervals")
    assert "the last 1.8s, " in text
    shown = [line for line in text.split("\n") if "█" in line]
    assert len(shown) == 5 + sum((60 - 17 - 2 - 5) * weight // 7 for weight in (2, 2, 1, 1, 1))
    assert text.split("\n")[4].index("Classic") == 20 + (200 - 20) // 2


def test_sentence_is_about_the_last_minute():
    """60 steps, of a second each, however many there were."""
    with watching("empty", interval="10ms", columns=200, lines=60) as terminal:
        text = terminal.wait_for(lambda text: "█" * 130 in text, "130 intervals")
    assert "empty for at least 99 % of the last minute" in text.split("\n")[1]


def test_narrow_terminal_has_the_figures():
    with watching("busy", columns=60, lines=18) as terminal:
        text = terminal.wait_for_word("queue-delay")
    lines = text.split("\n")
    assert lines[1].startswith("good       the bottleneck")
    assert "coupled 150/s" in text and "aqm 2/s" in text and "L 99 %" not in text
    assert lines[-1].startswith("q quit") and lines[-1].endswith("every 50ms")


def test_ascii_where_the_locale_has_no_more():
    with watching("busy", LC_ALL="C", interval="10ms") as terminal:
        text = terminal.wait_for_word("#" * 60)
    assert text.isascii() and terminal.written.isascii()


def last_line(text):
    return text.split("\n")[-1]


def test_resize():
    with watching("busy", COLUMNS="100", LINES="30") as terminal:
        terminal.wait_for_word("leaving")
        terminal.resize(50, 15)
        terminal.wait_for_word("50x15 is too small")
        terminal.resize(132, 50)
        text = terminal.wait_for_word("drops")
        assert last_line(text).startswith("q quit"), "the last line is the keys'"
        terminal.resize(80, 24)
        terminal.wait_for(lambda text: last_line(text).startswith("q quit")
                          and "p'" in plots(text)[-1], "all of it, in 24 lines")


@pytest.mark.parametrize("size", [(59, 18), (60, 17), (1, 1), (10, 3)])
def test_too_small(size):
    with watching("busy", columns=size[0], lines=size[1]) as terminal:
        terminal.wait_for(lambda text: text.strip(), "anything")
        terminal.press("q")
        assert terminal.end() == 0


def test_help():
    with watching("busy") as terminal:
        terminal.wait_for_word("leaving")
        for key in "?h":
            terminal.press(key)
            text = terminal.wait_for_word("any key goes back")
            for key_of_help in ("space", "+, -", "1 to 9", "good", "attention", "broken"):
                assert key_of_help in text
            terminal.resize(100, 30)  # which is no key
            terminal.wait_for(lambda text: last_line(text) == "any key goes back", "30 lines")
            terminal.press("q")
            terminal.wait_for_word("leaving")
            terminal.resize(80, 24)


def plotted(text):
    return plots(text)[-1].count("█")


def test_pause():
    """No step comes in a pause, in which the screen is read several times, and then they do."""
    with watching("busy") as terminal:
        terminal.wait_for(lambda text: plotted(text) > 2, "some steps")
        terminal.press(" ")
        before = terminal.wait_for(lambda text: last_line(text).endswith("paused"), "a pause")
        for _ in range(3):
            terminal.press("?")
            terminal.wait_for_word("any key")
            terminal.press(" ")
            after = terminal.wait_for_word("leaving")
        assert plotted(after) == plotted(before) < 60
        terminal.press(" ")
        terminal.wait_for(lambda text: plotted(text) > plotted(after), "more steps")
        assert last_line(terminal.text).endswith("every 50ms")


def test_interval_is_changed_by_keys():
    with watching("busy", interval="10ms") as terminal:
        terminal.wait_for(lambda text: plotted(text) == 60, "a whole line of steps")
        terminal.press("-")  # there is no shorter one
        terminal.press("+")
        # A busy machine has more than a second until the line is whole again.
        text = terminal.wait_for_word("every 20ms")
        assert plotted(text) < 60, "steps of one length"
        terminal.press(" +")
        terminal.wait_for_word("every 50ms")
        terminal.wait_for_word("the last 3s, highest value at the left, steps of 50ms")
        terminal.press("-")
        terminal.wait_for_word("every 20ms")
    with watching("busy", interval="3s") as terminal:
        terminal.wait_for_word("every 3s")
        terminal.press("+")
        terminal.wait_for_word("every 5s")
        terminal.press("---")
        terminal.wait_for_word("every 500ms")


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
        text = terminal.wait_for_word("state\n")
        assert [line.split()[:2] for line in text.split("\n")[1:4]] == \
            [["1", "eth0"], ["2", "eth1"], ["3", 'wlan"0\\']]
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
        terminal.wait_for_word("Enter: show one")
        terminal.press("3")
        terminal.wait_for_word('wlan"0\\: bpf_dualpi2')
        terminal.press(LEFT)
        terminal.wait_for_word("Enter: show one")
        terminal.press("4")  # there is none
        terminal.press(RIGHT)
        terminal.wait_for_word('wlan"0\\: bpf_dualpi2')
        terminal.press("q")
        assert terminal.end() == 0


CONDITIONS = [  # colour, and what the line says, at 80 columns
    ("green", r"1 eth0 +egress +40.0mbit +60 % +500us +15.0ms +5.0 % +the bottleneck"),
    ("brown", r"2 eth0 +ingress +40.0mbit +40 % +885us +- +100 % +! overload"),
    ("red", r"3 eth1 +egress +40.0mbit +0.0 % +- +- +- +! no tcx program"),
]


def state_colours(terminal):
    """Of the last character of each line."""
    return [terminal.screen.buffer[line + 1][len(terminal.screen.display[line + 1].rstrip()) - 1].fg
            for line in range(len(CONDITIONS))]


@pytest.mark.parametrize("environment, has_colours", [
    ({}, True),
    ({"NO_COLOR": ""}, True),
    ({"NO_COLOR": "1"}, False),
    ({"TERM": "vt100"}, False),
])
def test_list_tells_conditions_in_words_and_in_colours(environment, has_colours):
    with watching("conditions", **environment) as terminal:
        text = terminal.wait_for_word("! overload")
        for (_, words), line in zip(CONDITIONS, text.split("\n")[1:4], strict=True):
            assert re.fullmatch(words, line.strip()), line
        assert state_colours(terminal) == [colour if has_colours else "default"
                                           for colour, _ in CONDITIONS]
        terminal.press("3")
        text = terminal.wait_for_word("eth1: bpf_dualpi2")
        assert text.split("\n")[1].startswith("broken     nothing is marked")
        assert terminal.screen.buffer[1][0].fg == ("red" if has_colours else "default")


def test_list_has_more_where_there_is_room():
    with watching("conditions", columns=120) as terminal:
        text = terminal.wait_for_word("! overload")
    assert "L leaves C leaves L 99 % C 99 % marks drops" in text
    assert re.search(r"60 % 16.0mbit 8.00mbit +500us 15.0ms 5.0 % 0.1 % +the bottleneck", text)
    with watching("conditions", columns=60, lines=18) as terminal:
        text = terminal.wait_for_word("! overload")
    assert re.search(r"1 eth0 +egress 40.0mbit +60 % +the bottleneck\n", text)


def test_the_same_one_stays_selected():
    """While another comes before it."""
    with watching("comes") as terminal:
        text = terminal.wait_for_word("Esc all interfaces")
        assert text.startswith("eth1: bpf_dualpi2")


def test_queues_of_an_mq_have_their_names():
    with watching("queues") as terminal:
        terminal.wait_for_word("eth0, queue 8001:1\n")
        terminal.press(DOWN)
        terminal.wait_for_word("eth0, queue 8001:2\n")


@pytest.mark.parametrize("arguments", ["--watch --json", "--watch --count 3", "--watch --events",
                                       "--watch --histogram"])
def test_what_it_does_not_go_with(arguments):
    assert stats("busy", *arguments.split(), check=False).returncode == 2


def test_no_terminal():
    done = stats("busy", "--watch", check=False)
    assert done.returncode == 1 and "is not a terminal" in done.stderr and not done.stdout


def test_unknown_terminal():
    with watching("busy", TERM="nonesuch") as terminal:
        assert terminal.end() == 1
        assert b"TERM" in terminal.written


def test_nothing_to_begin_with():
    with watching("none") as terminal:
        assert terminal.end() == 1
        assert b"nothing there" in terminal.written
