# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Figures of the guest (sample.py) through node_exporter and Prometheus, to queries."""

import contextlib
import json
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
RESULTS = PROJECT / ".output/monitoring"
RULES = PROJECT / "packaging/prometheus"
DEADLINE_SECONDS = 60
CONFIGURATION = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files:
  - {rules}
scrape_configs:
  - job_name: node
    static_configs:
      - targets: ["{target}"]
"""


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@contextlib.contextmanager
def running(log, *argv):
    with open(log, "w", encoding="utf-8") as output, \
            subprocess.Popen([str(arg) for arg in argv], stdout=output,
                             stderr=subprocess.STDOUT) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=DEADLINE_SECONDS)


def get(address, path):
    with urllib.request.urlopen(f"http://{address}{path}", timeout=DEADLINE_SECONDS) as answer:
        return answer.read().decode()


def wait_until(condition, what):
    end = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if found := condition():
                return found
        time.sleep(0.2)
    raise AssertionError(f"waited in vain until {what}")


@pytest.fixture(scope="module", params=["dualpi2.prom", "dualpi2.om"])
def exporter(request, tmp_path_factory):
    """node_exporter, with the figures in one of the two formats in its directory."""
    directory = tmp_path_factory.mktemp("textfile")
    shutil.copy(RESULTS / request.param, directory / "dualpi2.prom")
    address = free_address()
    with running(directory / "log", "prometheus-node-exporter", "--collector.disable-defaults",
                 "--collector.textfile", f"--collector.textfile.directory={directory}",
                 f"--web.listen-address={address}"):
        wait_until(lambda: get(address, "/metrics"), "node_exporter answers")
        yield address


@pytest.fixture(scope="module")
def query(exporter, tmp_path_factory):
    """Prometheus that scrapes it; a function that asks it and returns [(labels, value)]."""
    directory = tmp_path_factory.mktemp("prometheus")
    configuration = directory / "prometheus.yml"
    configuration.write_text(CONFIGURATION.format(rules=RULES / "dualpi2-rules.yml",
                                                  target=exporter), encoding="utf-8")
    address = free_address()

    def ask(expression):
        answer = json.loads(get(address, "/api/v1/query?" +
                                urllib.parse.urlencode({"query": expression})))
        assert answer["status"] == "success", answer
        return [(item["metric"], float(item["value"][1])) for item in answer["data"]["result"]]

    with running(directory / "log", "prometheus", f"--config.file={configuration}",
                 f"--storage.tsdb.path={directory / 'data'}", f"--web.listen-address={address}"):
        wait_until(lambda: ask("dualpi2_tcx_attached"), "Prometheus has scraped")
        yield ask


@pytest.fixture(scope="module")
def figures():
    return json.loads((RESULTS / "dualpi2.json").read_text(encoding="utf-8"))[0]


def test_collector_takes_the_file(exporter):
    text = get(exporter, "/metrics")
    assert "node_textfile_scrape_error 0" in text
    assert ('dualpi2_forwarded_packets_total{device="r1",direction="egress",parent="root",'
            'queue="l4s"}') in text


def test_queries_answer_our_numbers(query, figures):
    for label, key in (("l4s", "l-queue"), ("classic", "c-queue")):
        queue = figures[key]
        assert queue["packets-out"] > 1000, "there was traffic"
        for expression, expected in (
                ("dualpi2_forwarded_packets_total", queue["packets-out"]),
                ("dualpi2_forwarded_bytes_total", queue["bytes-out"]),
                ("sum by (device) (dualpi2_marked_packets_total)", None),
                ("dualpi2_delay_seconds_count", queue["packets-out"])):
            if expected is None:
                expression = f'sum(dualpi2_marked_packets_total{{queue="{label}"}})'
                expected = queue["mark-native"] + queue["mark-coupled"]
            else:
                expression = f'{expression}{{device="r1",queue="{label}"}}'
            [(_, found)] = query(expression)
            assert found == expected, expression


def test_quantiles_are_those_of_our_histogram(query, figures):
    """Its buckets are wider: the answer is in that of ours, half an octave wide."""
    for label, key in (("l4s", "l-queue"), ("classic", "c-queue")):
        for share, name in ((0.5, "p50"), (0.99, "p99")):
            [(_, found)] = query(f"histogram_quantile({share}, "
                                 f'dualpi2_delay_seconds_bucket{{queue="{label}"}})')
            ours = figures[key]["delay"][name] / 1e6
            assert ours / 1.5 < found < ours * 1.5


def test_rules_are_evaluated(query):
    """The figures stand still, so the queue has been empty."""
    [(labels, share)] = wait_until(lambda: query("dualpi2:empty:ratio_rate5m"), "the rule ran")
    assert (labels["device"], share) == ("r1", 1)
    assert query("ALERTS") == []


def test_interface_with_a_file_is_attached(query):
    assert query("dualpi2_configuration_known")[0][1] == 1
    [(labels, attached)] = query("dualpi2_configured_attached")
    assert (labels["device"], attached) == ("r1", 1)


def expressions():
    """Of the dashboard, with what Grafana puts in."""
    dashboard = json.loads((PROJECT / "packaging/grafana/dualpi2.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "1m")
            # Grafana puts in what a variable has for "All".
            expression = expression.replace("$instance", ".*").replace("$direction", ".*")
            yield expression.replace("$device", "r1")


@pytest.mark.parametrize("expression", expressions())
def test_dashboard_asks_what_can_be_answered(query, expression):
    """No rate is left out for want of a second sample; what is compared may be empty."""
    found = wait_until(lambda: query(expression) or re.search("(>|==) 0", expression),
                       "there are answers")
    assert isinstance(found, re.Match) or all(
        labels.get("device", "r1") == "r1" for labels, _ in found)


# ---- promtool ---------------------------------------------------------------------------


def promtool(*arguments, **kwargs):
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True,
                          check=False, **kwargs)


def test_promtool_finds_nothing_amiss():
    """In the older format; in OpenMetrics it does not find the counters' help."""
    for name, remarks in (("dualpi2.prom", ""), ("dualpi2.om", "no help text")):
        done = promtool("check", "metrics",
                        input=(RESULTS / name).read_text(encoding="utf-8"))
        assert bool(done.returncode) == bool(remarks), done
        assert all(remarks in line for line in (done.stdout + done.stderr).splitlines()), done


def test_rules_are_valid():
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", RULES / "dualpi2-rules.yml")
    assert done.returncode == 0 and "12 rules found" in done.stdout, done


def test_rules_fire_when_they_should():
    done = promtool("test", "rules", RULES / "dualpi2-rules.test.yml")
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done
