# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What --openmetrics and --prometheus print, read by the client library's parsers."""

import json
import re
from pathlib import Path

import pytest
from pretender import stats
from prometheus_client import parser as prometheus
from prometheus_client.openmetrics import parser as openmetrics

SCENARIOS = ("busy", "several", "queues", "both", "overload", "guarded", "without-tcx", "none")


def read(text, parser=openmetrics):
    """{(name of a sample, its labels): value}"""
    found = {}
    for family in parser.text_string_to_metric_families(text):
        for sample in family.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            assert key not in found, f"{key} twice"
            found[key] = sample.value
    return found


def value(samples, name, **labels):
    labels = {"device": "eth0", "direction": "egress", "parent": "root"} | labels
    return samples[f"dualpi2_{name}", tuple(sorted(labels.items()))]


def text_of(scenario, form="openmetrics"):
    return stats(scenario, f"--{form}").stdout


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_openmetrics_is_valid(scenario):
    """The parser refuses what the standard does not allow; what it lets pass comes here."""
    text = text_of(scenario)
    assert text.endswith("\n# EOF\n")
    families = list(openmetrics.text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families) > 20
    for family in families:
        assert re.fullmatch(r"dualpi2_[a-z0-9_]+", family.name)
        assert family.documentation.endswith("."), family.name
        assert family.type in ("counter", "gauge", "histogram")
        assert not family.unit or family.name.endswith(f"_{family.unit}")
        assert not re.search(r"_(milli|micro|nano|us|ms|kilo|bits|total)\b", family.name)
        for sample in family.samples:
            assert sample.timestamp is None and sample.exemplar is None
            assert not sample.name.endswith("_created"), "the textfile collector refuses it"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_three_readers_find_the_same(scenario):
    """OpenMetrics, what reads the older format and is given OpenMetrics, and the older format."""
    samples = read(text_of(scenario))
    assert read(text_of(scenario), prometheus) == samples
    older = stats(scenario, "--prometheus").stdout
    assert read(older, prometheus) == samples
    assert "# EOF" not in older and "# UNIT" not in older


def test_older_format_knows_types_and_meanings_of_counters():
    families = {family.name: family for family in
                prometheus.text_string_to_metric_families(text_of("busy", "prometheus"))}
    counter = families["dualpi2_dropped_packets"]  # this parser takes _total away
    assert counter.type == "counter" and counter.documentation


def test_values_are_those_of_json():
    samples = read(text_of("busy"))
    [shown] = json.loads(stats("busy", "--json").stdout)
    for label, key in (("l4s", "l-queue"), ("classic", "c-queue")):
        queue = shown[key]
        for metric, counter in (("received_packets", "packets-in"), ("received_bytes", "bytes-in"),
                                ("forwarded_packets", "packets-out"),
                                ("forwarded_bytes", "bytes-out"), ("dropped_bytes", "drop-bytes")):
            assert value(samples, f"{metric}_total", queue=label) == queue[counter]
        for counter, number in queue.items():
            kind, _, cause = counter.partition("-")
            if kind in ("mark", "drop") and cause != "bytes":
                metric = {"mark": "marked", "drop": "dropped"}[kind]
                assert value(samples, f"{metric}_packets_total", queue=label,
                             cause=cause.replace("-", "_")) == number
        assert value(samples, "queued_packets", queue=label) == queue["backlog-packets"]
        assert value(samples, "queued_bytes", queue=label) == queue["backlog-bytes"]
    assert value(samples, "base_probability_ratio") == pytest.approx(shown["prob"], rel=1e-5)
    assert value(samples, "probability_ratio", queue="l4s") == pytest.approx(0.08)
    assert value(samples, "probability_ratio", queue="classic") == pytest.approx(0.0016)
    assert value(samples, "shaper_rate_bytes_per_second") * 8 == shown["options"]["rate"]
    assert value(samples, "target_delay_seconds") == 0.015
    assert value(samples, "tcx_attached") == 1
    assert value(samples, "overload_active") == 0
    assert value(read(text_of("overload")), "overload_active") == 1
    assert value(read(text_of("overload")), "overload_seconds_total") == 1
    assert value(read(text_of("without-tcx")), "tcx_attached") == 0


def test_who_is_convicted_may_not_be_known():
    """Then the metrics are missing, which is not that there is nobody."""
    known, unknown = read(text_of("guarded")), read(text_of("guard-unknown"))
    assert value(known, "guard_convicts") == 2
    assert value(known, "guard_worst_score_ratio") == 0.43
    assert value(read(text_of("busy")), "guard_convicts") == 0
    assert value(unknown, "guard_convictions_total") == 2
    assert not {name for name, _ in unknown} & {"dualpi2_guard_convicts",
                                               "dualpi2_guard_worst_score_ratio"}


def test_histogram_is_that_of_the_delays():
    samples = read(text_of("busy"))
    for label, packets, delay in (("l4s", 2000, 0.0005), ("classic", 1000, 0.015)):
        buckets = {float(dict(labels)["le"]): count for (name, labels), count in samples.items()
                   if name == "dualpi2_delay_seconds_bucket" and dict(labels)["queue"] == label}
        assert len(buckets) == 32
        assert all(count == (packets if edge > delay else 0) for edge, count in buckets.items())
        edges = sorted(buckets)
        assert all(1 < high / low <= 1.5 for low, high in zip(edges, edges[1:], strict=False)
                   if high != float("inf"))
        assert value(samples, "delay_seconds_count", queue=label) == packets
        assert value(samples, "delay_seconds_sum", queue=label) == pytest.approx(packets * delay)


def test_queues_of_an_mq_have_their_parent():
    samples = read(text_of("queues"))
    assert value(samples, "forwarded_packets_total", parent="8001:1", queue="l4s") == 2000
    assert value(samples, "forwarded_packets_total", parent="8001:2", queue="l4s") == 100


def test_both_directions_have_the_name_of_the_interface():
    samples = read(text_of("both"))
    assert value(samples, "forwarded_packets_total", queue="l4s") == 2000
    assert value(samples, "forwarded_packets_total", direction="ingress", queue="l4s") == 100


def test_any_name_of_an_interface_can_be_read():
    assert value(read(text_of("several")), "tcx_attached", device='wlan"0\\') == 1


def configured_of(form, directory):
    """What is known of interfaces with a file of options, and what is said besides."""
    done = stats("none", f"--{form}", "--config", str(directory))
    samples = read(done.stdout, openmetrics if form == "openmetrics" else prometheus)
    return samples, done.stderr


@pytest.mark.parametrize("form, name", [("openmetrics", "lo.conf"), ("prometheus", "l[o].conf")])
@pytest.mark.parametrize("text, directions", [
    ("", ["egress"]),
    ("rate 40mbit\n", ["egress"]),
    ("# as measured\n\ningress\nrate 40mbit\n", ["ingress"]),
    ("rate 10mbit\n ingress # from there\nrate 40mbit\n", ["egress", "ingress"]),
    ("ingress\negress\n", ["egress", "ingress"]),
    ("no such option\n", ["egress"]),  # which is why it has no qdisc
])
def test_directions_that_are_configured(tmp_path, form, name, text, directions):
    """Only the loopback is there in every network namespace, and no qdisc of ours is on it."""
    (tmp_path / "*o.conf").write_text("ingress\n", encoding="utf-8")  # counts less
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "notthere0.conf").touch()
    (tmp_path / "default.conf").touch()
    samples, errors = configured_of(form, tmp_path)
    attached = {("dualpi2_configured_attached", (("device", "lo"), ("direction", one))): 0
                for one in directions}
    assert samples == {("dualpi2_configuration_known", ()): 1} | attached
    assert not errors


def test_a_file_that_is_no_text_is_not_known(tmp_path):
    (tmp_path / "lo.conf").write_bytes(b"rate\0")
    samples, errors = configured_of("prometheus", tmp_path)
    assert samples == {("dualpi2_configuration_known", ()): 0}
    assert re.fullmatch(r"dualpi2-stats: .*/lo\.conf:1: contains a NUL byte.*\n", errors)


def test_what_is_configured_may_not_be_known(tmp_path):
    samples, errors = configured_of("prometheus", tmp_path / "notthere")
    assert samples == {("dualpi2_configuration_known", ()): 0}
    assert errors.count("\n") == 1 and f"--config {tmp_path}/notthere: cannot be read" in errors


# ---- who reads them ----------------------------------------------------------------------------

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
DASHBOARD = PACKAGING / "grafana/dualpi2.json"
RULES = PACKAGING / "prometheus/dualpi2-rules.yml"


def printed(scenario, directory):
    """As the service for Prometheus has it."""
    (directory / "lo.conf").touch()
    return read(stats(scenario, "--openmetrics", "--config", str(directory)).stdout)


@pytest.mark.parametrize("reader", [DASHBOARD, RULES], ids=lambda path: path.name)
def test_metrics_that_are_asked_for_exist(reader, tmp_path):
    text = reader.read_text(encoding="utf-8")
    asked = set(re.findall(r"\bdualpi2_[a-z0-9_]+", text)) - {"dualpi2_stats"}
    assert len(asked) >= 4
    assert asked <= {name for scenario in SCENARIOS for name, _ in printed(scenario, tmp_path)}


def panels():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel["title"])
def test_panel_asks_for_labels_that_exist(panel, tmp_path):
    """With values that exist: none of these says "no data" on a host that is as expected."""
    samples = printed("busy", tmp_path)
    for target in panel["targets"]:
        for name, matchers in re.findall(r"\b(dualpi2_\w+)\{([^}]*)\}", target["expr"]):
            wanted = dict(re.findall(r'(\w+)="([^"$]*)"', matchers))
            found = [labels for sample, labels in samples
                     if sample == name and wanted.items() <= dict(labels).items()]
            assert found, (panel["title"], name, wanted)


def test_all_is_whatever_there_is():
    """Not the interfaces with a qdisc alone: a panel tells of those that are to have one."""
    variables = json.loads(DASHBOARD.read_text(encoding="utf-8"))["templating"]["list"]
    assert {variable["name"]: variable["allValue"] for variable in variables
            if variable.get("includeAll")} == {
                name: ".*" for name in ("instance", "device", "direction")}


def test_panels_do_not_overlap():
    taken = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells
