# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What dualpi2-stats, --help and bpftool show."""

import pytest
from conftest import BIN, LOADER, one_line, published, root
from frames import ECT_1, NOT_ECT
from netns import run

pytestmark = pytest.mark.oldest_kernel

NATIVE_OPTIONS = {"limit", "memory-limit", "target", "tupdate", "alpha", "beta", "step-thresh-us",
                  "min-qlen-step", "coupling", "drop-overload", "drop-early", "c-protection",
                  "ecn-mask", "split-gso"}
NATIVE_KEYS = {"kind", "handle", "dev", "root", "options", "bytes", "packets", "drops",
               "overlimits", "backlog", "qlen", "prob", "delay-c", "delay-l", "pkts-in-c",
               "pkts-in-l", "maxq", "ecn-mark", "step-mark", "credit", "memory-used",
               "max-memory-used", "memory-limit"}


def test_json_has_every_key_of_native(cable):
    cable.load()
    stats = cable.qdisc.stats()
    assert set(stats) >= NATIVE_KEYS | {"l-queue", "c-queue"}
    assert set(stats["options"]) >= NATIVE_OPTIONS
    assert stats["kind"] == "bpf_dualpi2"
    assert stats["dev"] == "d0"
    assert set(stats["l-queue"]["delay"]) == {"mean", "p50", "p99", "p99.9", "max"}


def test_delays_are_those_of_the_packets(cable):
    """1 Mbit/s, 10 frames: the n-th one waits n times 12.112 ms."""
    cable.load("--rate", "1mbit", "--target", "4000s")
    cable.burst(NOT_ECT, 11)
    cable.drain()
    delay = cable.qdisc.stats()["c-queue"]["delay"]
    assert delay["max"] == pytest.approx(10 * 12112, rel=0.02)
    assert delay["p50"] == pytest.approx(5 * 12112, rel=0.07)
    assert delay["p99.9"] == pytest.approx(10 * 12112, rel=0.07)
    assert delay["mean"] == pytest.approx(5 * 12112, rel=0.02)


def test_table_fits_the_screen(cable):
    cable.load("--rate", "1mbit")
    cable.burst(ECT_1, 50)
    cable.burst(NOT_ECT, 50)
    for text in (cable.qdisc.table(), run(BIN / "dualpi2-stats", "--help", "all").stdout,
                 run(BIN / "dualpi2-load", "--help", "all").stdout):
        assert max(len(line) for line in text.splitlines()) <= 80, text


def test_bpftool_prints_the_live_interfaces_with_names(cable):
    cable.load("--limit", 99)
    cable.burst(ECT_1, 3)
    cable.qdisc.stats()
    value = published("d0")
    assert value["params"]["limit"] == 99
    assert value["l"]["counters"]["packets_in"] == 3


@pytest.mark.parametrize("tool", ["dualpi2-load", "dualpi2-stats"])
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version(tool, option):
    done = run(BIN / tool, option)
    assert tool in done.stdout and not done.stderr


@pytest.mark.parametrize("arguments, status", [
    ("--nonsense", 2), ("one two", 2), ("nonesuch", 1), ("", 1),
])
def test_stats_refuses_what_it_cannot_show(arguments, status):
    done = run(BIN / "dualpi2-stats", *arguments.split(), check=False)
    assert done.returncode == status
    assert done.stderr.count("\n") == 1 and done.stdout == ""


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_what_is_done_stays_though_it_cannot_be_told(registered, box, tmp_path, redirection):
    def tell(*argv):
        done = box.run("timeout", 30, "sh", "-c", f'exec "$@" {redirection}', "sh", *argv,
                       check=False)
        assert "output cannot be written" in one_line(done, 1)

    (tmp_path / "one.conf").touch()
    tell(LOADER, "--check", "one")
    tell(LOADER, "one", "--config", tmp_path, "--find-config")
    for command in "status", "check", "sink":
        tell(BIN / "tcp-prague", command)
    tell(BIN / "tcp-base-rtt", "list")
    tell(LOADER, "one")
    assert root(box, "one")["kind"] == "bpf_dualpi2"
    tell(BIN / "dualpi2-stats", "one")
    tell(LOADER, "one", "--unload")
    assert root(box, "one")["kind"] != "bpf_dualpi2"
