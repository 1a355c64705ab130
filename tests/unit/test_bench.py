# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The bench's own arithmetic: cells, figures of a run, verdicts (bench/)."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

BENCH = Path(__file__).resolve().parents[2] / "bench"
TESTS = BENCH.parent / "tests"
sys.path[:0] = [str(path) for path in (BENCH, BENCH / "guest", TESTS, TESTS / "traffic",
                                       TESTS / "compare")]
import commands  # noqa: E402
import contenders  # noqa: E402
import gridlines  # noqa: E402
import gridtable  # noqa: E402
import kept  # noqa: E402
import matrix  # noqa: E402
import path  # noqa: E402
import records  # noqa: E402
import senders  # noqa: E402
import store  # noqa: E402
import summary  # noqa: E402
import table  # noqa: E402
import verdict  # noqa: E402
import web  # noqa: E402
from cell import Placement  # noqa: E402

UNLOADED_NS = 5000
GOOD = 'title = "t"\nrtt_ms = 10\nflows = [{ kind = "l4s" }]\n'


def delays_of(values_ns):
    return {"sum_ns": sum(values_ns), "max_ns": max(values_ns, default=0),
            "buckets": [[ns, ns + 1, 1] for ns in values_ns]}


def stream(source, protocol=6, **phases):
    return {"source": source, "destination": "10.2.0.101", "protocol": protocol,
            "phases": phases, "series": []}


def phase(l_ns=(), c_ns=(), payload=0, frames=0, arrived=None):
    counts = arrived or [len(c_ns), len(l_ns), 0, 0]
    return {"arrived": counts, "left": [len(c_ns), len(l_ns), 0, 0], "marked": [0, 0, 0, 0],
            "payload_bytes": payload, "frame_bytes": frames, "reordered": 0,
            "largest_before": 1514, "largest_after": 1514,
            "delay": {"l": delays_of(list(l_ns)), "c": delays_of(list(c_ns))}}


def run_of(*streams, rates=(10,), seconds=10, flows=None, idle=0.5, **tap):
    ping = stream("10.1.0.1", protocol=summary.ICMP, unloaded=phase(c_ns=[UNLOADED_NS] * 5))
    if flows is None:
        flows = [{"kind": "l4s", "sender": "10.1.0.101"}]
    phases = [["", 0.0], *([str(number), 1.0 + seconds * number]
                           for number in range(len(rates)))]
    return {"specification": {"rates_mbit": list(rates), "seconds": seconds, "warmup_s": 3,
                              "offload": False, "at_sender": False},
            "flows": flows, "cpu_idle": idle, "tcp": dict.fromkeys(
                ("TcpRetransSegs", "TcpExtTCPDSACKRecv", "TcpExtTCPDSACKOfoRecv",
                 "TcpExtTCPSpuriousRTOs"), 0),
            "tap": {"before": {"missed": 0}, "after": {"missed": 0}, "unmatched": 0,
                    "bin_s": 0.1, "phases": phases, "streams": [ping, *streams]} | tap}


# ---- cells -----------------------------------------------------------------


def test_every_cell_of_the_bench_can_be_read():
    cells = matrix.all_cells()
    assert len({cell.name for cell in cells}) == len(cells)
    for cell in cells:
        assert [run for run in cell.runs() if store.ours_in(run)]


def test_the_cell_of_the_page_for_researchers_is_a_file():
    [block] = [block for block in commands.blocks()
               if block.page == "docs/research.md" and block.text.startswith("title =")]
    file = matrix.CELLS.joinpath("own.toml").read_text(encoding="utf-8")
    assert "".join(line for line in file.splitlines(keepends=True)
                   if not line.startswith("#")) == block.text


def test_short_matrix_names_cells_that_exist():
    names = {cell.name for cell in matrix.all_cells()}
    for cell in matrix.all_cells():
        if isinstance(cell.description["short"], list):
            assert set(cell.description["short"]) <= names


def test_lists_make_a_cell_of_each_value():
    cells = list(matrix.expand("x", GOOD.replace("10", "[5, 10]") + "rate_mbit = [4, 40]\n"))
    assert [cell.name for cell in cells] == ["x-4-5ms", "x-4-10ms", "x-40-5ms", "x-40-10ms"]
    assert cells[2].description["rates_mbit"] == [40]
    assert [cell.name for cell in matrix.expand("x", GOOD + "rate_mbit = 4\n")] == ["x"]


def test_steps_are_one_cell():
    [cell] = matrix.expand("x", GOOD + "steps_mbit = [50, 5, 50]\n")
    assert cell.description["rates_mbit"] == [50, 5, 50]


@pytest.mark.parametrize("text", [
    GOOD, GOOD + "rate_mbit = 4\nsteps_mbit = [4]\n", GOOD + "rate_mbit = 4\ncolour = 1\n",
    GOOD + "rate_mbit = 4\nmixes = [[1], [1, 2]]\n",
    GOOD + "rate_mbit = 4\nmixes = [[1], [2]]\nmix_titles = ['one']\n",
    GOOD.replace("}", ", queues = [0, 2] }") + "rate_mbit = 4\ntx_queues = 2\n",
    GOOD + "rate_mbit = 4\ntx_queues = 2\n",
    GOOD.replace("}", ", host = 0 }") + "rate_mbit = 4\n",
    GOOD.replace("}", ", host = 255 }") + "rate_mbit = 4\n",
    GOOD.replace('"l4s"', '"prague", host = 1') + "rate_mbit = 4\n",
    'title = "t"\nrate_mbit = 4\n'])
def test_wrong_cells_are_refused(text):
    with pytest.raises(matrix.CellError):
        list(matrix.expand("x", text))


def test_runs_differ_in_contender_and_seed_only():
    [cell] = matrix.expand("x", GOOD + "rate_mbit = 4\nseeds = 3\n")
    runs = list(cell.runs())
    assert len(runs) == 3 * (len(matrix.SEEDS) - len(matrix.ONLY_NAMED))
    assert len({json.dumps(run.specification) for run in runs}) == len(runs)
    varying = {key for run in runs for key in run.specification
               if run.specification[key] != runs[0].specification[key]}
    assert varying == {"contender", "seed"}


def test_each_mix_is_a_cell():
    text = GOOD.replace('"l4s" }]', '"l4s" }, { kind = "cubic", count = 9 }]')
    cells = list(matrix.expand("x", text + "rate_mbit = 4\nmixes = [[2, 3], [0, 1]]\n"))
    assert [(cell.name, cell.description["flows"]) for cell in cells] == [
        ("x-2x3", [{"kind": "l4s", "count": 2}, {"kind": "cubic", "count": 3}]),
        ("x-0x1", [{"kind": "cubic", "count": 1}])]
    assert [cell.title for cell in matrix.expand(
        "x", text + "rate_mbit = 4\nmixes = [[2, 3], [0, 1]]\nmix_titles = ['both', 'one']\n")
    ] == ["t: both", "t: one"]


def test_each_flow_has_its_queue():
    flows = [{"kind": "l4s", "count": 3, "queues": [1, 0]}, {"kind": "cubic"}]
    made = senders.make_senders(flows, "cubic")
    assert [flow.addresses.queue for flow in made] == [1, 0, 1, None]


def test_flows_of_a_host_have_its_address_and_a_port_each():
    flows = [{"kind": "cubic", "count": 2, "host": 7}, {"kind": "l4s", "host": 8},
             {"kind": "cubic"}]
    made = [flow.addresses for flow in senders.make_senders(flows, "cubic")]
    assert [flow.receiver for flow in made] == ["10.2.1.7", "10.2.1.7", "10.2.1.8", "10.2.0.104"]
    assert len({flow.sender for flow in made}) == 4
    assert made[0].port != made[1].port and made[3].port == path.IPERF_PORT


def test_a_result_names_the_hosts_that_the_cell_names():
    there, own = senders.make_senders([{"kind": "game-l4s", "host": 7}, {"kind": "cubic"}], "cubic")
    assert there.told() == {"kind": "game-l4s", "sender": "10.1.0.101", "host": 7}
    assert own.told() == {"kind": "cubic", "sender": "10.1.0.102"}


class Told:
    """A namespace that notes what `ip` is told."""

    def __init__(self):
        self.lines = []

    def ip(self, line):
        self.lines.append(line.strip())


def test_flows_to_the_same_host_have_their_own_congestion_control():
    flows = [path.Flow("10.1.0.3", "10.2.0.3", congestion="dctcp", scalable=True),
             path.Flow("10.1.0.4", "10.2.0.3", port=5202), path.Flow("10.1.0.5", "10.2.0.5")]
    sender = Told()
    path.add_routes(sender, flows)
    to = f"route add 10.2.0.3 via {path.ROUTER} src"
    assert sender.lines == [
        f"rule add from 10.1.0.3 lookup {path.FIRST_TABLE}",
        f"{to} 10.1.0.3 congctl dctcp table {path.FIRST_TABLE}",
        f"rule add from 10.1.0.4 lookup {path.FIRST_TABLE + 1}",
        f"{to} 10.1.0.4 congctl cubic table {path.FIRST_TABLE + 1}",
        f"route add 10.2.0.5 via {path.ROUTER} src 10.1.0.5 congctl cubic"]
    rewritten = [line for line in path.ect1_rules(flows).splitlines() if "ect1" in line]
    assert ["ip saddr 10.1.0.3 ip daddr 10.2.0.3" in line for line in rewritten] == [True]


class Queues:
    """A contender with as many transmit queues as it has counted packets."""

    def __init__(self, *counted):
        self.counted = iter(counted)

    def queue_packets(self):
        return next(self.counted)


@pytest.mark.parametrize("after, is_right", [([1010, 5, 207], True), ([210, 5, 1007], False)])
def test_a_flow_in_another_queue_is_found(after, is_right):
    """A few leave between the looks at the queues and those of the tap."""
    flows = senders.make_senders([{"kind": "l4s", "queues": [0]},
                                  {"kind": "cubic", "queues": [2]}], "cubic")
    seen = {"streams": [stream("10.1.0.101", **{"0": phase(l_ns=[1] * 1000), "": phase()}),
                        stream("10.1.0.102", **{"0": phase(c_ns=[1] * 200)})]}
    placement = Placement(Queues([5, 5, 5], after))
    placement.end()
    if is_right:
        placement.check(flows, seen)
    else:
        with pytest.raises(SystemExit, match="transmit queues"):
            placement.check(flows, seen)


def test_one_qdisc_for_all_queues_tells_nothing_of_them():
    placement = Placement(Queues(None, None))
    placement.end()
    placement.check([], {})


def test_a_flow_may_send_a_part_of_the_link():
    text = GOOD.replace('{ kind = "l4s" }', '{ kind = "udp", of_link = 0.25 }')
    cells = list(matrix.expand("x", text + "rate_mbit = [4, 40]\n"))
    assert [cell.description["flows"] for cell in cells] == [
        [{"kind": "udp", "rate_mbit": 1}], [{"kind": "udp", "rate_mbit": 10}]]


def test_a_file_names_all_its_cells():
    cells = matrix.all_cells()
    assert {cell.name for cell in matrix.named(cells, "gso")} == {"gso-40", "gso-200", "gso-1000"}
    assert [cell.name for cell in matrix.named(cells, "gso-40")] == ["gso-40"]
    assert matrix.named(cells, "no-such-cell") == []


# ---- results that are kept -------------------------------------------------


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A place for results, and one with stand-ins of what a run depends on."""
    monkeypatch.setattr(store, "REPOSITORY", tmp_path)
    monkeypatch.setattr(store, "RUNS", tmp_path / "runs")
    for name in store.PROGRAMS + store.OURS:
        (tmp_path / name).write_bytes(b"program")
    return tmp_path


def test_a_result_is_found_again_until_something_it_depends_on_changes(programs):
    one, other = list(next(matrix.expand("x", GOOD + "rate_mbit = 4\n")).runs())[:2]
    kept = store.Store("7.2.12", programs)
    assert kept.load(one) is None
    kept.keep(one, {"cpu_idle": 0.5})
    assert store.Store("7.2.12", programs).load(one) == {"cpu_idle": 0.5}
    assert kept.load(other) is None
    assert store.Store("6.18.15", programs).load(one) is None
    (programs / "tap").write_bytes(b"another program")
    assert store.Store("7.2.12", programs).load(one) is None


def test_a_line_that_was_kept_says_what_the_run_said(programs):
    """On another machine, which has no results."""
    cell = next(cell for cell in matrix.all_cells() if cell.name == "prague-two")
    [run] = cell.runs()
    raw = run_of(stream("10.1.0.101", **{"0": phase(l_ns=[10**6 + 1234], payload=1250000)})) | {
        "kernel": "7.2.12"}
    lines = kept.Lines(programs / "lines.jsonl")
    lines.write({lines.key(run): lines.line(run, raw, "v1")})
    again = kept.Lines(programs / "lines.jsonl").read()
    assert again[run.name]["tree"] == "v1"
    assert list(table.table(cell, {"a": [again[run.name]]})) == list(
        table.table(cell, {"a": [table.told(raw)]}))
    faulty = lines.line(run, raw | {"tap": raw["tap"] | {"unmatched": 1}}, "v1")
    assert "not measured: 1 packets" in "".join(table.table(cell, {"a": [faulty]}))


def test_a_change_of_ours_leaves_the_results_of_others(programs):
    runs = {run.contender: run for run in
            next(matrix.expand("x", GOOD + "rate_mbit = 4\n")).runs()}
    for run in runs.values():
        store.Store("7.2.12", programs).keep(run, {"cpu_idle": 0.5})
    (programs / "dualpi2-load").write_bytes(b"another program")
    after = store.Store("7.2.12", programs)
    assert [name for name, run in runs.items() if not after.load(run)] == [
        "bpf_dualpi2", "curvy-red", "codel"]


def test_a_change_of_the_readers_module_is_another_result(programs):
    own = 'variants = [{ contender = "htb+own", options = ["mine", "limit", "9"] }]\n'
    [run] = next(matrix.expand("x", f"{GOOD}rate_mbit = 4\n{own}")).runs()
    store.Store("7.2.12", programs).keep(run, {"cpu_idle": 0.5})
    assert store.Store("7.2.12", programs).load(run)
    (programs / "sch_mine.ko").write_bytes(b"a module")
    assert not store.Store("7.2.12", programs).load(run)


def test_figures_as_csv(tmp_path):
    named = {"cell": "pair", "variant": "cake", "contender": "cake", "seed": 0, "kernel": "7.2.12"}
    stored = {"stream": run_of(stream("10.1.0.101", **{"0": phase(l_ns=[6000] * 9, frames=100)})),
              "missing": {"specification": {}, "missing": "the kernel has no sch_cake"}}
    lines = [*(named | stored[name] for name in stored),
             {"cell": "kept", "figures": {"L P99 ms": 1.5, "each of them": [1, 2.5]}}]
    path = tmp_path / "lines"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    printed = subprocess.run([BENCH / "csv", path], capture_output=True, text=True, check=True)
    found, missing, line = csv.DictReader(printed.stdout.splitlines())
    assert (found["cell"], found["seed"], found["CPU idle %"]) == ("pair", "0", "50.0")
    assert (missing["missing"], missing["CPU idle %"]) == ("the kernel has no sch_cake", "")
    assert (line["each of them"], line["L P99 ms"]) == ("1 2.5", "1.5")


def test_results_of_all_that_run_our_loader_depend_on_it():
    assert set(store.OUR_CONTENDERS) == {
        name for name, made in contenders.CONTENDERS.items()
        if issubclass(made, contenders.BpfDualpi2)}


def test_contenders_are_those_that_a_guest_knows():
    assert set(matrix.SEEDS) == set(contenders.CONTENDERS)


# ---- figures of a run ------------------------------------------------------


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50), st.integers(1, 999))
def test_quantile_is_the_nearest_rank(values, permille):
    seen = summary.Delays([delays_of(values)], 0).quantile_ms(permille / 1000) * 1e6
    rank = max(0, -(-len(values) * permille // 1000) - 1)
    assert seen == pytest.approx(sorted(values)[rank], abs=1)


@given(st.lists(st.integers(UNLOADED_NS, 10**9), min_size=1),
       st.lists(st.integers(UNLOADED_NS, 10**9), min_size=1))
def test_distributions_add_up(one, other):
    both = summary.Delays([delays_of(one), delays_of(other)], UNLOADED_NS)
    whole = summary.Delays([delays_of(one + other)], UNLOADED_NS)
    assert both.count == whole.count == len(one + other)
    assert both.mean_ms() == pytest.approx(whole.mean_ms())
    assert both.quantile_ms(0.9) == whole.quantile_ms(0.9)
    assert both.curve()[-1][1] == 1


def test_the_unloaded_delay_is_taken_off():
    measured = summary.Measured(run_of(
        stream("10.1.0.101", **{"0": phase(l_ns=[UNLOADED_NS + 2000000] * 4)})))
    assert measured.delays("l").mean_ms() == pytest.approx(2)
    assert measured.delays("c").mean_ms() is None


def test_goodput_and_use_of_the_link_over_all_phases():
    measured = summary.Measured(run_of(
        stream("10.1.0.101", **{"0": phase(payload=12000000, frames=12500000),
                                "1": phase(payload=1000000, frames=1250000)}),
        rates=(10, 1)))
    assert measured.goodputs_mbit({"l4s"}) == [pytest.approx(13000000 * 8e-6 / 20)]
    assert measured.utilisation() == pytest.approx(1)


def test_drops_are_what_arrived_and_did_not_leave():
    measured = summary.Measured(run_of(
        stream("10.1.0.101", **{"0": phase(c_ns=[10000] * 3, arrived=[5, 0, 0, 0])})))
    assert measured.dropped("c") == 2
    assert measured.share(measured.dropped("c"), "c") == pytest.approx(0.4)
    assert measured.share(measured.dropped("l"), "l") is None


@pytest.mark.parametrize("fault", [{"unmatched": 1}, {"before": {"missed": 1}},
                                   {"after": {"missed": 1}}])
def test_a_run_that_the_tap_did_not_see_whole_does_not_count(fault):
    run = run_of(stream("10.1.0.101", **{"0": phase()}), **fault)
    with pytest.raises(summary.MeasurementError):
        summary.Measured(run)
    assert verdict.Results([run]).fault.startswith("not measured")


def test_games_have_figures_of_their_own():
    flows = [{"kind": kind, "sender": f"10.1.0.{host}"}
             for host, kind in enumerate(("game-l4s", "game", "crowd", "cubic"), 101)]
    run = run_of(stream("10.1.0.101", **{"0": phase(l_ns=[1_005_000] * 4)}),
                 stream("10.1.0.102", **{"0": phase(c_ns=[9_005_000] * 3, arrived=[4, 0, 0, 0])}),
                 stream("10.1.0.103", **{"0": phase(payload=1_250_000, c_ns=[50])}),
                 stream("10.1.0.104", **{"0": phase(c_ns=[50])}), flows=flows)
    told = table.told(run)["figures"]
    assert [told[title] for title in ("L4S game P99 ms", "game P99 ms", "games lost %",
                                      "unresponsive Mbit/s")] == [1, 9, 12.5, 1]
    told = table.told(run_of(stream("10.1.0.101", **{"0": phase(l_ns=[50])})))["figures"]
    assert told["game P99 ms"] is told["games lost %"] is told["unresponsive Mbit/s"] is None


def hosts_run(frames):
    """`frames`: of [host, its bytes of a flow]; None: of no host."""
    flows = [{"kind": "cubic", "sender": f"10.1.0.{number}"} | ({"host": host} if host else {})
             for number, (host, _) in enumerate(frames, 101)]
    return run_of(*(stream(flow["sender"], **{"0": phase(c_ns=[50], frames=size)})
                    for flow, (_, size) in zip(flows, frames, strict=True)), flows=flows)


def test_a_host_has_what_all_its_flows_take():
    run = hosts_run([(2, 1_250_000), (1, 2_500_000), (2, 3_750_000), (None, 1_250_000)])
    assert summary.Measured(run).hosts_mbit() == {1: 2, 2: pytest.approx(4)}
    told = table.told(run)["figures"]
    assert told["each host Mbit/s"] == [2, 4]
    assert told["least of a host Mbit/s"] is told["Jain's index of the hosts"] is None


def test_of_many_hosts_the_least_and_the_most_are_told():
    told = table.told(hosts_run([(host, host * 1_250_000) for host in range(1, 6)]))["figures"]
    assert told["each host Mbit/s"] is None
    assert (told["least of a host Mbit/s"], told["most of a host Mbit/s"]) == (1, 5)
    assert told["Jain's index of the hosts"] == pytest.approx(15 * 15 / (5 * 55), abs=1e-6)


def test_without_hosts_there_is_none():
    told = table.told(hosts_run([(None, 1)]))["figures"]
    assert {told[title] for title in told if "host" in title} == {None}


def test_flows_the_other_way_count_by_whole_seconds_after_the_warm_up():
    back = {"kind": "cubic", "sender": "10.1.0.102",
            "back": [[0, 1, 9e9], [2, 3, 9e9], [3, 4, 125000], [4, 5, 375000], [13, 14, 9e9]]}
    flows = [{"kind": "cubic", "sender": "10.1.0.101"}, back]
    measured = summary.Measured(run_of(
        stream("10.1.0.101", **{"0": phase(payload=12500000)}),
        stream("10.1.0.102", **{"0": phase()}), flows=flows))
    assert measured.goodputs_mbit({"cubic"}) == [pytest.approx(10)]
    assert measured.goodputs_back_mbit() == [pytest.approx(2)]


@given(st.lists(st.floats(0.01, 1000), min_size=1, max_size=20))
def test_jain_is_between_one_nth_and_one(goodputs):
    assert 1 / len(goodputs) - 1e-9 <= summary.jain(goodputs) <= 1 + 1e-9
    assert summary.jain([5.0] * len(goodputs)) == pytest.approx(1)


def test_settling_waits_for_use_and_for_delay():
    """The link falls to 1 Mbit/s: 2 s of 100 ms delay, then 10 ms; used from the start."""
    series = [[number, 8, 12500, 0, 8 * (100000 if number < 120 else 10000), 0]
              for number in range(10, 210)]
    flow = stream("10.1.0.101", **{"0": phase(), "1": phase()}) | {"series": series}
    measured = summary.Measured(run_of(flow, rates=(10, 1), seconds=10))
    assert measured.settling_s(1) == pytest.approx(1.0)
    idle = flow | {"series": [[number, 1, 100, 0, 1000, 0] for number in range(10, 210)]}
    assert summary.Measured(run_of(idle, rates=(10, 1))).settling_s(1) == 10


def test_short_downloads_of_the_warm_up_do_not_count():
    flows = [{"kind": "web", "sender": "10.1.0.101",
              "downloads": [[1.0, 20000, 9.0], [4.0, 20000, 0.2], [5.0, 20000, 0.1]]}]
    measured = summary.Measured(run_of(stream("10.1.0.101", **{"0": phase()}), flows=flows))
    assert measured.completion_ms() == [100, 200]


@given(st.integers(0, 100))
def test_a_seed_decides_when_short_downloads_begin_and_how_long_they_are(seed):
    planned = web.schedule(8, 20, seed)
    assert planned == web.schedule(8, 20, seed) != web.schedule(8, 20, seed + 1)
    assert 90 <= len(planned) <= 240  # 160 expected; 5.5 standard deviations
    assert planned == sorted(planned)
    assert all(0 < when < 20 and 0 < size <= web.MOST_BYTES for when, size in planned)


# ---- verdicts --------------------------------------------------------------


def results(*p99_ms, idle=0.5):
    return verdict.Results([
        run_of(stream("10.1.0.101", **{"0": phase(l_ns=[UNLOADED_NS + int(ms * 1e6)] * 200,
                                                  frames=12500000)}), idle=idle)
        for ms in p99_ms])


@pytest.mark.parametrize(("ours", "native", "word"), [
    ((1.0,), (1.0,), "equal"),
    ((1.05,), (1.0,), "equal"),    # less than matters
    ((21,), (20,), "equal"),       # within a tenth
    ((25,), (18, 26), "equal"),    # within what native's runs differ
    ((25,), (20, 20), "worse"),
    ((15,), (20, 20), "better"),
])
def test_rule_for_equal(ours, native, word):
    assert verdict.verdict(results(*ours), results(*native))[0] == word


@given(st.floats(0.1, 100), st.floats(0.1, 100))
def test_better_and_worse_are_opposites_unless_one_is_within_a_tenth(one, other):
    figure = verdict.FIGURES[0]
    there = verdict.compare(figure, results(one), results(other))
    back = verdict.compare(figure, results(other), results(one))
    assert there == -back or 0 in (there, back)


def test_no_verdict_without_a_link_that_decides_or_without_the_peer():
    assert "CPU" in verdict.verdict(results(1, idle=0.0), results(1))[0]
    missing = verdict.Results([{"missing": "not built"}])
    assert verdict.verdict(missing, results(1)) == ("missing: not built", {})
    assert verdict.verdict(results(1), missing)[0] == "no yardstick"


def test_table_has_mean_and_range_of_the_seeds():
    assert table.entry([1.0, 3.0], 1) == "2.0 (1.0–3.0)"
    assert table.entry([2.0, 2.0], 1) == "2.0"
    assert table.entry([None], 1) == "–"
    assert table.entry([[1.0, 5.0], [2.0, 5.0]], 1) == "1.5 (1.0–2.0) : 5.0"


def test_table_leaves_out_columns_that_apply_to_no_row():
    cell = next(cell for cell in matrix.all_cells() if cell.name == "prague-two")
    flows = [{"kind": "prague", "sender": f"198.18.{host}.1", "alarms": host - 101}
             for host in (101, 102)]
    seen = run_of(*(stream(flow["sender"], **{"0": phase(l_ns=[10**6], payload=1250000)})
                    for flow in flows), flows=flows)
    results = {"a": [table.told(seen)], "b": [{"missing": "not built"}]}
    heads, _, *rows = list(table.table(cell, results))[4:-1]
    titles = [word.strip() for word in heads.split("|")[1:-1]]
    assert {"each of them", "Classic ECN found", "L P99 ms"} <= set(titles)
    assert not {"C mean ms", "largest frame in", "all others Mbit/s"} & set(titles)
    ours = dict(zip(titles, (word.strip() for word in rows[0].split("|")[1:-1]), strict=True))
    assert ours["L4S downloads Mbit/s"] == "2.0" and ours["each of them"] == "1.0 : 1.0"
    assert ours["Classic ECN found"] == "1"
    assert rows[1] == "| b | missing: not built |"
    assert table.brief(table.told(seen)["figures"]) == "2.0 Mbit/s, 0.99 ms"


def test_overview_has_a_row_for_each_variant_of_each_cell():
    cells = [cell for cell in matrix.all_cells() if cell.name in ("prague-two", "prague-eight")]
    seen = run_of(stream("10.1.0.101", **{"0": phase(l_ns=[10**6], payload=1250000)}))
    lines = list(table.overview([(cell, {"a": [table.told(seen)]}) for cell in cells]))
    assert lines[0] == "## Overview" and lines[2] == (
        "|  | queue | L4S downloads Mbit/s | L P99 ms | L dropped | link used % |")
    assert lines[4:6] == [
        "| Eight Prague downloads on a slow link (4 Mbit/s, RTT 5 ms) | a | 1.0 | 0.99 | 0 | 0.0 |",
        "| Two Prague downloads (40 Mbit/s, RTT 10 ms) | a | 1.0 | 0.99 | 0 | 0.0 |"]


def test_delays_behind_a_queue_on_the_senders_host_are_not_known():
    seen = run_of(stream("10.1.0.101", **{"0": phase(l_ns=[10**6])}))
    seen["specification"]["at_sender"] = True
    assert table.waits(summary.Measured(seen), "l") is None


def test_record_has_a_summary_and_a_table_for_each_cell():
    cell = next(cell for cell in matrix.all_cells() if cell.name == "pair-40-10ms")
    seen = {"bpf_dualpi2": results(0.5), "htb+dualpi2": results(20),
            "cake": verdict.Results([{"missing": "not built"}])}
    lines = list(verdict.tables({cell: seen}))
    situation = "One L4S and one Cubic download (40 Mbit/s, RTT 10 ms)"
    assert lines[0] == "## Summary"
    assert f"| {situation} | 0.50 | 20 | – |" in lines
    assert lines[lines.index("## pair-40-10ms") + 2] == f"{situation}."
    assert lines[-3:] == ["| bpf_dualpi2 | 0.50 ms | 100.0 % | better: L4S delay |",
                          "| htb+dualpi2 | 20.00 ms | 100.0 % |  |",
                          "| cake | – | – | missing: not built |"]


# ---- the grid --------------------------------------------------------------


@pytest.fixture
def grid_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(gridlines, "LINES", tmp_path / "grid.jsonl")


def pair_run(contender):
    [cell] = matrix.named(matrix.all_cells(), "pair-40-10ms")
    return next(run for run in cell.runs() if run.contender == contender)


def test_line_of_the_grid_has_the_figures_that_apply(grid_lines):
    flows = [{"kind": "l4s", "sender": "10.1.0.101"}, {"kind": "cubic", "sender": "10.1.0.102"}]
    raw = run_of(stream("10.1.0.101", **{"0": phase(l_ns=[2005000] * 200, payload=30000000)}),
                 stream("10.1.0.102", **{"0": phase(c_ns=[5005000] * 200, payload=10000000)}),
                 flows=flows) | {"kernel": "7.2"}
    line = gridlines.line(pair_run("codel"), raw, "abc")
    assert line["cell"] == "pair-40-10ms" and line["contender"] == "codel"
    assert line["ratio"] == 3 and line["L4S delay"] == 2 and line["Classic mean"] == 5
    assert "settling" not in line and "short downloads" not in line


def test_run_that_does_not_count_has_no_figures(grid_lines):
    raw = run_of(stream("10.1.0.101", **{"0": phase()}), idle=0.01) | {"kernel": "7.2"}
    assert gridlines.line(pair_run("cake"), raw, "abc")["fault"] == "CPU-bound"


def test_lines_are_read_as_they_were_written_in_the_order_of_the_bench(grid_lines):
    assert gridlines.read() == {}
    lines = {(cell, contender): {"cell": cell, "contender": contender, "ratio": 1.5}
             for cell in ("web", "pair-4-5ms") for contender in ("cake", "bpf_dualpi2")}
    gridlines.write(lines)
    assert gridlines.read() == lines
    assert list(gridlines.read()) == [("pair-4-5ms", "bpf_dualpi2"), ("pair-4-5ms", "cake"),
                                      ("web", "bpf_dualpi2"), ("web", "cake")]


def test_tables_of_the_grid():
    rates = {4: (1, 30), 12: (2, 30.5), 40: (1, 40)}  # ratio and Classic delay of codel
    lines = {}
    for rate, (ratio, delay) in rates.items():
        cell = f"pair-{rate}-5ms"
        lines[cell, "bpf_dualpi2"] = {"ratio": 1, "Classic delay": 30, "L4S dropped": 0.0}
        lines[cell, "codel"] = {"ratio": ratio, "Classic delay": delay, "L4S dropped": rate / 1000}
    lines["web", "codel"] = {"fault": "CPU-bound"}
    tables = list(gridtable.tables(lines))
    pair = "One L4S and one Cubic download"
    assert "| codel | 4 | – | 0 / 1 | – | – | – | – |" in tables
    assert tables[tables.index("## codel"):].index(f"| {pair} | 3 | – | 0 / 1 | – | – | – | – |")
    rates = tables[tables.index("## Rates"):tables.index("## L4S packets dropped")]
    assert rates[4:] == [f"| {pair} | 1 | – | – | 1–2 | – | – |", ""]
    assert tables[-2] == f"| {pair} | 0 | – | – | 4 | – | – |"


def test_record_of_the_grid_is_of_its_lines():
    record = records.RECORDS / "bench-grid.md"
    assert record.read_text() == "\n".join(gridtable.tables(gridlines.read()))
