# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is counted of each subscriber, and how `dualpi2-stats --subscribers` shows it."""

import itertools
import json
import re

import pytest
from conftest import BIN, LOADER, drops, one_line
from frames import ECT_1, NOT_ECT, ipv4_frame
from subscriber_maps import load
from terminal import Terminal

pytestmark = pytest.mark.oldest_kernel

ALSO_REGISTERED = ("pi2-subscribers",)
FILE = """\
north - 500mbit 500mbit
a 10.0.0.0/24 100mbit 100mbit north
b 10.0.1.0/24 100mbit 100mbit north
c 10.0.2.0/24 100mbit 100mbit
"""
ADDRESS = {"a": "10.0.0.1", "b": "10.0.1.1", "c": "10.0.2.1", "nobody": "10.9.9.9"}
NOBODY = None  # the name of who has none: nobody's addresses
CALM = ("--target", "4000s", "--step-thresh", "4000s")
LENGTH = 1000


class Used:
    def __init__(self, cable, path):
        self.cable, self.path = cable, path

    def load(self, text, *options):
        self.path.write_text(text)
        load(self.cable, "--subscribers", self.path, *options)

    def unload(self):
        """What was sent so far is of the past."""
        self.cable.tx.run(LOADER, "d0", "--unload")
        self.cable.receive()
        self.cable.sent = self.cable.arrived = 0

    def send(self, name, count, ecn=NOT_ECT):
        self.cable.send(*(ipv4_frame(serial, ecn, LENGTH, target=ADDRESS[name])
                          for serial in itertools.islice(self.cable.serials, count)))

    def shown(self, *options, check=True):
        return self.cable.tx.run(BIN / "dualpi2-stats", "d0", *options, check=check)

    def told(self, *options):
        return json.loads(self.shown("--subscribers", "--json", *options).stdout)

    def of_each(self, queue, key):
        return {each["name"]: each[f"{queue}-queue"][key] for each in self.told()}


@pytest.fixture
def used(cable, tmp_path):
    used = Used(cable, tmp_path / "customers")
    used.load(FILE, *CALM, "--rate", "1gbit")
    yield used
    if cable.qdisc.is_attached():
        load(cable, "--rate", 0)


def test_bytes_are_those_of_the_owner(used):
    """And a parent has those of all below it."""
    used.send("a", 10)
    used.send("b", 20, ECT_1)
    used.send("nobody", 40)
    used.cable.drain()
    of_c, of_l = 10 * LENGTH, 20 * LENGTH
    assert used.of_each("c", "bytes-out") == {"north": of_c, "a": of_c, "b": 0, "c": 0,
                                              NOBODY: 40 * LENGTH}
    assert used.of_each("l", "bytes-out") == {"north": of_l, "a": 0, "b": of_l, "c": 0, NOBODY: 0}


def test_nobody_is_told_of_by_what_it_has(used):
    """No name, no plan, no addresses; and with it the sum is the interface's."""
    used.send("a", 3)
    used.send("nobody", 2)
    used.cable.drain()
    *_, nobody = used.told()
    assert (nobody["name"], nobody["rate"], nobody["parent"], nobody["prefixes"]) == (
        None, 0, None, [])
    assert nobody["is-parent"] is False and nobody["c-queue"]["delay"]["p99"] is not None
    assert sum(each["c-queue"]["bytes-out"] for each in used.told() if not each["is-parent"]) == (
        used.cable.qdisc.stats()["c-queue"]["bytes-out"])


def test_nobody_begins_anew_with_the_qdisc(used):
    used.send("nobody", 2)
    used.cable.drain()
    used.unload()
    used.load(FILE, *CALM, "--rate", "1gbit")
    assert used.of_each("c", "bytes-out")[NOBODY] == 0


def test_marks_and_drops_are_all_that_there_were(used):
    load(used.cable, "--rate", "10mbit", "--step-thresh", "1us", "--limit", 100)
    for name in ("a", "b", "c", "nobody"):
        used.send(name, 60, ECT_1)
        used.send(name, 60)
    used.cable.drain()
    stats = used.cable.qdisc.stats()
    for queue in ("l", "c"):
        counted = stats[f"{queue}-queue"]
        marks, lost = used.of_each(queue, "marks"), used.of_each(queue, "drops")
        print(queue, marks, lost)
        everybody = ("a", "b", "c", NOBODY)
        assert sum(marks[name] for name in everybody) == counted["mark-native"] + counted[
            "mark-coupled"]
        assert sum(lost[name] for name in everybody) == drops(counted)
        assert marks["north"] == marks["a"] + marks["b"]
        assert lost["north"] == lost["a"] + lost["b"]
    assert marks == dict.fromkeys(marks, 0) and lost["c"] > 0 < lost[NOBODY]
    assert used.of_each("l", "marks")["a"] > 0 < used.of_each("l", "marks")[NOBODY]


def test_p99_is_that_of_the_histogram(used):
    load(used.cable, "--rate", "10mbit", "--limit", 10_000)
    for _ in range(10):
        used.send("a", 60)
        used.cable.drain()
    stats = used.cable.qdisc.stats()
    p99 = used.of_each("c", "delay")["a"]["p99"]
    print(p99, stats["c-queue"]["delay"])
    assert p99 == pytest.approx(stats["c-queue"]["delay"]["p99"], rel=.2)
    assert used.of_each("l", "delay")["a"]["p99"] is None


def test_somebody_else_begins_with_nothing(used):
    used.send("a", 10)
    used.cable.drain()
    without_a = FILE.replace("a 10", "# 10")
    used.load(without_a)
    used.load(FILE)
    assert used.of_each("c", "bytes-out")["a"] == 0
    used.send("a", 1)
    used.cable.drain()
    assert used.of_each("c", "bytes-out")["a"] == LENGTH


def test_a_changed_plan_counts_on(used):
    used.send("a", 10)
    used.cable.drain()
    used.load(FILE.replace("a 10.0.0.0/24 100mbit", "a 10.0.0.0/24 50mbit"))
    used.send("a", 10)
    used.cable.drain()
    assert used.of_each("c", "bytes-out")["a"] == 20 * LENGTH


def test_those_that_use_most(used):
    used.send("a", 10)
    used.send("b", 30)
    used.send("c", 20)
    used.send("nobody", 50)
    used.cable.drain()
    assert [each["name"] for each in used.told("--top", 2)] == ["b", "c", NOBODY]
    assert [each["name"] for each in used.told("--top", 1000)] == ["b", "c", "a", NOBODY]


def test_the_last_second(used):
    """Of packets that leave meanwhile."""
    load(used.cable, "--rate", "100kbit")
    used.send("a", 40)
    lines = used.shown("--subscribers").stdout.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert rows["b"] == ["100mbit", "0bit", "-", "-", "0", "0", "north", "10.0.1.0/24"]
    plan, now, l_p99, c_p99, *_ = rows["a"]
    assert (plan, l_p99) == ("100mbit", "-") and c_p99 != "-"
    assert float(now.removesuffix("kbit")) == pytest.approx(100, rel=.1)
    assert rows["north"][1:4] == [now, "-", "-"]
    assert rows["(nobody)"] == ["unlimited", "0bit", "-", "-", "0", "0", "-", "-"]
    load(used.cable, "--rate", "1gbit")
    used.cable.drain()


def test_the_last_second_of_nobody(used):
    load(used.cable, "--rate", "100kbit")
    used.send("nobody", 40)
    [row] = [line.split() for line in used.shown("--subscribers").stdout.splitlines()
             if "(nobody)" in line]
    assert float(row[2].removesuffix("kbit")) == pytest.approx(100, rel=.1)
    load(used.cable, "--rate", "1gbit")
    used.cable.drain()


def test_top_is_of_a_list(used):
    assert "--top: only with --subscribers" in one_line(used.shown("--top", 3, check=False), 2)


def metrics(text):
    """{(name, subscriber, queue): value}"""
    return {(name, subscriber, queue or None): float(value) for name, subscriber, queue, value in
            re.findall(r'^dualpi2_(\w+)\{device="d0",direction="egress",parent="root",'
                       r'subscriber="(\w*)",site="\w*"(?:,queue="(\w+)")?\} (\S+)$', text, re.M)}


@pytest.mark.parametrize("form", ["openmetrics", "prometheus"])
def test_metrics(used, form):
    """Of subscribers and, without a name and a plan, nobody; not of parents, which are a label."""
    used.send("a", 10)
    used.send("b", 20, ECT_1)
    used.send("nobody", 30)
    used.cable.drain()
    text = used.shown("--subscribers", f"--{form}").stdout
    found = metrics(text)
    assert {subscriber for _, subscriber, _ in found} == {"a", "b", "c", ""}
    assert found["subscriber_bytes_total", "", "classic"] == 30 * LENGTH
    assert ("subscriber_plan_bytes_per_second", "", None) not in found
    assert found["subscriber_bytes_total", "a", "classic"] == 10 * LENGTH
    assert found["subscriber_bytes_total", "b", "l4s"] == 20 * LENGTH
    assert found["subscriber_plan_bytes_per_second", "a", None] == 12_500_000
    assert ("subscriber_delay_p99_seconds", "a", "classic") in found
    assert ("subscriber_delay_p99_seconds", "a", "l4s") not in found
    assert 'subscriber="a",site="north"' in text and 'subscriber="c",site=""' in text
    assert text.endswith("# EOF\n") == (form == "openmetrics")
    of_one = metrics(used.shown("--subscribers", f"--{form}", "--top", 1).stdout)
    assert {subscriber for _, subscriber, _ in of_one} == {"b", ""}


def test_live_list(used):
    """What really leaves, and a file that is loaded meanwhile."""
    load(used.cable, "--rate", "100kbit")
    used.send("a", 40)
    used.send("c", 40)
    with Terminal(used.cable.tx.argv(BIN / "dualpi2-stats", "d0", "--subscribers", "--watch",
                                     "--interval", "500ms")) as terminal:
        text = terminal.wait_for(lambda text: re.search("^a .*kbit", text, re.M), "the first step")
        assert text.startswith("d0: subscribers and parents: 4, by rate\n")
        rows = {line.split()[0]: line.split()[1:] for line in text.split("\n")[2:-1] if line}
        assert set(rows) == {"north", "a", "b", "c", "(nobody)"}
        assert rows["b"] == ["100mbit", "0bit", "-", "-", "-", "-", "north"]
        assert rows["a"][2] == "-" != rows["a"][3], "it has forwarded in C alone"
        used.load(FILE.replace("b 10", "new 10") + "other 192.0.2.1 1mbit 1mbit\n")
        text = terminal.wait_for_word("other")
        assert "parents: 5, by rate" in text and "\nnew " in text and "\nb " not in text
        used.unload()
        terminal.wait_for_word("no subscribers now; waiting for some")
        used.load(FILE)
        terminal.wait_for_word("subscribers and parents: 4")
        terminal.press("q")
        assert terminal.end() == 0


def test_a_signal_ends_the_wait(used):
    done = used.cable.tx.run("timeout", "--preserve-status", "-s", "INT", "0.3",
                             BIN / "dualpi2-stats", "d0", "--subscribers")
    assert done.stdout == "" == done.stderr
