# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The outputs of dualpi2-stats, of qdiscs whose every figure is known (pretend.c)."""

import json
import os
import re
import signal
import subprocess

import pytest
from pretender import PRETENDER, environment, running, stats

FAST = ("--interval", "10ms")


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


# ---- --jsonl ----------------------------------------------------------------------------


def test_lines_have_the_figures_of_json_and_those_of_the_interval():
    [line] = lines_of(stats("busy", "--jsonl", *FAST, "--count", "1").stdout)
    [whole] = json.loads(stats("busy", "--json").stdout)
    assert set(line) == set(whole) | {"time", "interval"}
    interval = line["interval"]
    assert interval["seconds"] == 1
    assert interval["l-queue"]["packets-out"] == 2000
    assert interval["l-queue"]["mark-coupled"] == 150
    assert interval["l-queue"]["rate-out"] == 2000 * 1000 * 8
    assert interval["c-queue"]["rate-in"] == (1000 + 2) * 1000 * 8
    assert interval["c-queue"]["delay"]["p50"] == pytest.approx(15000, rel=1 / 16)
    assert interval["empty"] == 0
    assert line["l-queue"]["packets-out"] == 4000, "since it was attached: two samples"


def test_without_packets_there_is_no_delay():
    """Neither in the words of a program nor in those for people."""
    [whole] = json.loads(stats("idle", "--json").stdout)
    for queue in ("l-queue", "c-queue"):
        assert set(whole[queue]["delay"].values()) == {None}
    table = stats("idle").stdout
    assert re.search(r"^ +- +-  delay in the queue: mean$", table, re.M)
    assert re.search(r"^ +- +-    highest$", table, re.M)
    assert re.search(r"^ +99 %  - +-$", stats("idle", "--histogram").stdout, re.M)
    [line] = lines_of(stats("idle", "--jsonl", *FAST, "--count", "1").stdout)
    assert line["interval"]["l-queue"]["delay"]["p99"] is None


def test_a_line_for_each_qdisc_and_interval():
    lines = lines_of(stats("several", "--jsonl", *FAST, "--count", "3").stdout)
    assert [line["dev"] for line in lines] == ["eth0", "eth1", 'wlan"0\\'] * 3
    times = [line["time"] for line in lines[::3]]
    assert times == sorted(set(times))


def test_both_directions_of_an_interface():
    """By its name and direction; `dev`, as tc has it, is where the qdisc is."""
    shown = json.loads(stats("both", "--json").stdout)
    assert [(entry["interface"], entry["direction"], entry["dev"]) for entry in shown] == [
        ("eth0", "egress", "eth0"), ("eth0", "ingress", "in-eth0")]
    assert re.findall(r"dev (\S+)", stats("both", "--tc").stdout) == ["eth0", "in-eth0"]
    table = stats("both").stdout
    assert re.findall("^eth0.*?:", table, re.M) == ["eth0:", "eth0, ingress (in-eth0):"]
    assert "`dualpi2-load eth0 --ingress` attaches it" in table
    assert "\neth0, ingress: delays" in stats("both", "--histogram").stdout
    told = " ".join(stats("both", "--interval", "1s", "--count", "1").stdout.split())
    assert "`dualpi2-load eth0 --ingress`" in told


def test_queues_that_are_empty():
    [line] = lines_of(stats("empty", "--jsonl", *FAST, "--count", "1").stdout)
    assert line["interval"]["empty"] == pytest.approx(1 - 1000 * 5e-6)


def test_a_qdisc_that_goes_ends_nothing():
    assert len(lines_of(stats("goes", "--jsonl", *FAST, "--count", "5").stdout)) == 2


def test_nothing_to_begin_with_is_a_failure():
    done = stats("none", "--jsonl", check=False)
    assert done.returncode == 1 and not done.stdout and done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_between_lines(number):
    with running("busy", "--jsonl", *FAST, stdout=subprocess.PIPE) as process:
        json.loads(process.stdout.readline())
        process.send_signal(number)
        rest = process.stdout.read()
    assert process.returncode == 0
    assert not rest or rest.endswith("\n")
    lines_of(rest)


def test_each_line_is_one_write():
    """A pipe that keeps writes apart: what a signal, or a reader, cannot come in between."""
    end, begin = os.pipe2(os.O_DIRECT)
    with running("several", "--jsonl", *FAST, "--count", "2", stdout=begin) as process:
        os.close(begin)
        writes = list(iter(lambda: os.read(end, 1 << 16), b""))
    os.close(end)
    assert process.returncode == 0
    assert len(writes) == 6 and all(len(lines_of(write.decode())) == 1 for write in writes)


def test_a_full_disk_is_a_failure():
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([PRETENDER, "--jsonl", *FAST], stdout=full, check=False,
                              stderr=subprocess.PIPE, text=True, env=environment("busy"))
    assert done.returncode == 1 and done.stderr.count("\n") == 1


# ---- --record -----------------------------------------------------------------------------


def test_recording_has_the_lines_of_jsonl(tmp_path):
    file = tmp_path / "lines.jsonl"
    done = stats("several", "--record", file, *FAST, "--count", "3")
    assert not done.stdout and not done.stderr
    recorded = lines_of(file.read_text(encoding="utf-8"))
    streamed = lines_of(stats("several", "--jsonl", *FAST, "--count", "3").stdout)
    for line in recorded + streamed:
        del line["time"]  # their clocks were read at different moments
    assert recorded == streamed and len(recorded) == 9


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_recording_has_whole_lines_whenever_it_ends(tmp_path, number):
    file = tmp_path / "lines.jsonl"
    with running("several", "--record", file, *FAST, "--histogram") as process:
        while not file.exists() or file.stat().st_size < 30000:
            assert process.poll() is None
        process.send_signal(number)
    assert process.returncode == 0
    text = file.read_text(encoding="utf-8")
    assert text.endswith("\n") and len(lines_of(text)) >= 9


@pytest.mark.parametrize("file, reason", [
    ("/nonesuch/file", "No such file"), ("/dev/full", "is the disk full"), ("/", "directory"),
])
def test_recording_where_there_can_be_none(file, reason):
    done = stats("busy", "--record", file, *FAST, "--count", "2", check=False)
    assert done.returncode == 1 and reason in done.stderr and done.stderr.count("\n") == 1


# ---- --output -----------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["--prometheus", "--json", "--histogram", "--tc"])
def test_output_replaces_a_file(tmp_path, output):
    file = tmp_path / "shown"
    file.write_text("old", encoding="ascii")
    before = file.stat().st_ino
    done = stats("busy", output, "--output", file)
    assert not done.stdout and not done.stderr
    assert file.read_text(encoding="utf-8") == stats("busy", output).stdout
    assert file.stat().st_ino != before
    assert list(tmp_path.iterdir()) == [file]


def plant_fifo(path, _other):
    os.mkfifo(path)


def plant_link(path, other):
    path.symlink_to(other)


def plant_hard_link(path, other):
    os.link(other, path)


@pytest.mark.parametrize("plant", [plant_fifo, plant_link, plant_hard_link])
def test_output_follows_nothing_that_is_planted(tmp_path, plant):
    """Under the name that the file has before it is whole: nothing waits, or is written to."""
    other, file = tmp_path / "other", tmp_path / "file"
    other.write_text("somebody's", encoding="utf-8")
    plant(tmp_path / "file.new", other)
    stats("busy", "--json", "--output", file)
    assert json.loads(file.read_text(encoding="utf-8"))
    assert other.read_text(encoding="utf-8") == "somebody's"
    assert set(tmp_path.iterdir()) == {other, file}


@pytest.mark.parametrize("plant", [plant_fifo, plant_link, plant_hard_link])
def test_recording_goes_to_a_file_alone(tmp_path, plant):
    other, file = tmp_path / "other", tmp_path / "file"
    other.write_text("somebody's", encoding="utf-8")
    plant(file, other)
    done = stats("busy", "--record", file, *FAST, "--count", "1", check=False)
    assert done.returncode == 1 and f"--record {file}: cannot be made" in done.stderr
    assert other.read_text(encoding="utf-8") == "somebody's"


@pytest.mark.parametrize("name, reason", [
    ("nonesuch/shown", "No such file"), ("", "Is a directory"), (251 * "x", "too long"),
    ("kept", "cannot be replaced"),
])
def test_output_that_cannot_be(tmp_path, name, reason):
    (tmp_path / "kept").mkdir()
    done = stats("busy", "--output", f"{tmp_path}/{name}", check=False)
    assert done.returncode == 1 and reason in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [tmp_path / "kept"]


@pytest.mark.parametrize("options", [(), ("--interval", "10ms", "--count", "1")])
def test_nothing_reaches_the_terminal_as_a_command(options):
    """Nor do the sentences, which name the interface."""
    text = stats("escape", *options).stdout
    assert "`dualpi2-load a\\x1b[2Jb` attaches" in " ".join(text.split())
    assert "\x1b" not in text


# ---- --interval ---------------------------------------------------------------------------


def test_table_of_an_interval():
    text = stats("busy", *FAST, "--count", "2").stdout
    assert text.count("eth0: bpf_dualpi2, rate 40mbit, target 15ms; the last 1.00s\n") == 2
    assert "16.0mbit  8.00mbit  a second forwarded to the device\n" in text
    assert "    2000      1000  packets forwarded to the device\n" in text
    assert ("  the bottleneck: 99 % of the L4S packets wait up to 500us, of the Classic ones\n"
            "  15.0ms\n") in text
    assert max(map(len, text.splitlines())) <= 80


# ---- the table -----------------------------------------------------------------------------------


def test_last_second_stands_before_the_total():
    head, recent, total = stats("busy", "eth0").stdout.split("\n\n")
    assert head.startswith("eth0: bpf_dualpi2, rate 40mbit, target 15ms\n")
    assert recent.splitlines() == [
        "     L4S   Classic  in the last 1.00s",
        "16.0mbit  8.00mbit  a second forwarded to the device",
        "  40.0 %    20.0 %  of the rate",
        "  7.50 %     0.0 %  of the arrived: CE-marked",
        "   0.0 %    0.20 %  of the arrived: dropped",
        "   500us    15.0ms  delay in the queue: mean",
        "   500us    15.0ms    99 % of the packets at most"]
    assert total.startswith("     L4S   Classic  since it was attached; ")
    assert "    4000      2000  packets forwarded to the device\n" in total


@pytest.mark.parametrize("interface", [(), ("eth0",)])
def test_a_queue_elsewhere_is_told_of(interface):
    text = " ".join(stats("empty", *interface).stdout.split())
    assert ("hint: 8.00mbit of 40mbit used: the queue was empty for at least 99 % of the last "
            "1.00s. If something behind has less than --rate, give less.") in text
    assert "hint" not in stats("idle").stdout, "little traffic has no queue anywhere"


def test_only_the_table_waits_for_the_last_second():
    assert stats("several").stdout.count("in the last 1.00s") == 3
    for other in ("--tc", "--json", "--histogram"):
        assert "in the last" not in stats("busy", "eth0", other).stdout


# ---- --histogram ----------------------------------------------------------------------------


def test_distribution():
    text = stats("busy", "--histogram").stdout
    head, *rows = text.splitlines()
    assert head == "eth0: delays since it was attached"
    assert rows[0].split() == ["below", "L4S:", "2000", "packets", "Classic:", "1000", "packets"]
    assert re.fullmatch(r" +\S+  █{22} 100\.0 %", rows[1])
    assert re.fullmatch(r" +\S+ {34}█{22} 100\.0 %", rows[-4]) or rows[-4].count("█") == 22
    assert rows[-1].split() == ["highest", "500us", "15.0ms"]


@pytest.mark.parametrize("scenario", ["busy", "empty", "idle", "several", "queues"])
def test_distribution_fits_the_screen(scenario):
    text = stats(scenario, "--histogram", *FAST, "--count", "1").stdout
    for plot in text.rstrip().split("\n\n"):
        assert len(plot.splitlines()) <= 23
    for line in text.splitlines():
        assert len(line) <= 80 and line == line.rstrip()


def test_distribution_in_ascii():
    text = stats("busy", "--histogram", LC_ALL="C").stdout
    assert text.isascii() and "#" * 22 in text


def test_bins():
    [line] = json.loads(stats("busy", "--json", "--histogram").stdout)
    [bin_] = line["l-queue"]["delay"]["bins"]
    assert bin_["from-ns"] <= 500000 < bin_["to-ns"] and bin_["packets"] == 2000
    [line] = lines_of(stats("busy", "--jsonl", "--histogram", *FAST, "--count", "1").stdout)
    assert line["l-queue"]["delay"]["bins"][0]["packets"] == 4000
    assert line["interval"]["l-queue"]["delay"]["bins"][0]["packets"] == 2000


# ---- hosts -----------------------------------------------------------------------------------


def test_hosts_in_words():
    table = stats("hosts").stdout
    assert ("  hosts: packets wait for 3 now\n"
            "    6 packets shared the queues of another host, as all were in use\n") in table
    assert "not default: per-host dst\n" in table
    assert "  hosts:" not in stats("busy").stdout


# ---- the guard -------------------------------------------------------------------------------


def test_gauges_of_the_guard():
    [known], [unknown] = (json.loads(stats(scenario, "--json").stdout)
                          for scenario in ("guarded", "guard-unknown"))
    assert known["guard"] == {"convictions": 2, "redirected": 300, "unjudged": 0, "convicts": 2,
                              "worst-score": 43}
    assert unknown["guard"]["convictions"] == 2
    assert unknown["guard"]["convicts"] is unknown["guard"]["worst-score"] is None


def test_the_guard_in_words():
    table = stats("guarded").stdout
    assert ("  guard: flows taken out of the L4S queue 4 times, 600 of their packets\n"
            "    came to the Classic queue\n"
            "    2 are out now; the worst of the others has 43 % of the blame that is\n"
            "    too much\n") in table
    assert "    (run it as root to see who is out now)\n" in stats("guard-unknown").stdout
    assert "guard" not in stats("busy").stdout
    said = " ".join(stats("guarded", "--interval", "1s", "--count", "1").stdout.split())
    assert "out of it: 9.99 % of the packets; 2 flows now" in said
    said = " ".join(stats("guard-unknown", "--interval", "1s", "--count", "1").stdout.split())
    assert said.endswith("out of it: 9.99 % of the packets")


def test_nobody_is_convicted_where_the_guard_is_off():
    assert stats("both", "--flows").stdout == (
        "eth0: the guard is off: `dualpi2-load eth0 --guard` turns it on\n"
        "eth0, ingress: the guard is off: `dualpi2-load eth0 --ingress --guard` turns it on\n")
    [egress, ingress] = json.loads(stats("both", "--flows", "--json").stdout)
    assert egress == {"dev": "eth0", "interface": "eth0", "direction": "egress", "guard": False,
                      "convicts": 0, "worst-score": 0, "flows": []}
    assert ingress["direction"] == "ingress"
    assert json.loads(stats("none", "--flows", "--json").stdout) == []
    assert stats("none", "--flows", check=False).returncode == 1


# ---- what does not go together -----------------------------------------------------------------


@pytest.mark.parametrize("arguments", [
    "--jsonl --json", "--jsonl --tc", "--jsonl --events", "--json --interval 1s",
    "--tc --interval 1s", "--tc --histogram", "--events --interval 1s", "--events --histogram",
    "--openmetrics --histogram", "--prometheus --interval 1s", "--openmetrics --events",
    "--openmetrics --prometheus", "--output", "--output x --jsonl", "--output x --record y",
    "--output x --watch", "--output x --events", "--output x --interval 1s", "--record",
    "--record x --json", "--record x --watch", "--record x --events", "--count 3",
    "--count 0 --jsonl", "--count x --jsonl", "--count", "--interval", "--interval 1ms",
    "--interval 1d --jsonl", "--interval 1s --interval 1s",
    "--config", "--config /etc", "--config /etc --json", "--flows --tc", "--flows --jsonl",
    "--flows --watch", "--flows --events", "--flows --interval 1s", "--flows --histogram",
    "--flows --record x", "--flows --prometheus",
])
def test_wrong_usage(arguments):
    done = stats("busy", *arguments.split(), check=False)
    assert done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1
