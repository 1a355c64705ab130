# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The home line's own arithmetic: cells, figures of a run, comparison (bench/home/)."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

BENCH = Path(__file__).resolve().parents[2] / "bench"
TESTS = BENCH.parent / "tests"
sys.path[:0] = [str(path) for path in (BENCH / "home", BENCH / "home/guest", BENCH,
                                       BENCH / "guest", TESTS, TESTS / "traffic",
                                       TESTS / "compare")]
import experience  # noqa: E402
import flows  # noqa: E402
import line  # noqa: E402
import matrix  # noqa: E402
import pages  # noqa: E402
import shapers  # noqa: E402
import situations  # noqa: E402
import store  # noqa: E402
import talk  # noqa: E402

CELL = """
title = "t"
lines_mbit = [[40, 10], [4, 1]]
rtt_ms = [20]
cubic = [1, 16]
beside = ["game"]
variants = [{ contender = "cake" }, { name = "x", contender = "bpf_dualpi2", options = ["-y"] }]
"""


def talked(sent, *delays_us):
    return {"sent": sent, "delays_us": sorted(delays_us)}


def run_of(bulk=(), idle=0.5, **beside):
    return {"specification": {"rtt_ms": 20, "warmup_s": 5, "seconds": 2}, "cpu_idle": idle,
            "ping": {"mean_ms": 21.5, "max_ms": 23.0, "mdev_ms": 0.5}, "bulk": list(bulk),
            "beside": beside}


def flow(direction, kind, *mbits):
    """That got so much in the first second, the second, and so on."""
    return {"direction": direction, "kind": kind,
            "seconds": [[number, number + 1, mbit * 125000] for number, mbit in enumerate(mbits)]}


def figures(**changed):
    return dict.fromkeys(experience.DIGITS_OF) | changed


# ---- cells -----------------------------------------------------------------


def test_every_cell_can_be_read_and_a_guest_knows_what_it_names():
    cells = situations.all_cells()
    assert len({cell.name for cell in cells}) == len(cells)
    for cell in cells:
        assert set(cell.situation["beside"]) <= set(flows.BESIDE)
        assert {run.contender for run in cell.runs()} <= set(shapers.SHAPERS)
        assert [run for run in cell.runs() if store.ours_in(run)]


def test_lists_make_a_cell_of_each_value():
    cells = list(situations.expand("c", CELL))
    assert [cell.name for cell in cells] == ["c-40-10-20ms-1", "c-40-10-20ms-16", "c-4-1-20ms-1",
                                             "c-4-1-20ms-16"]
    wide, many, narrow, _ = (cell.situation for cell in cells)
    assert (wide["shaped_down_kbit"], wide["shaped_up_kbit"]) == (37000, 9500)
    assert (wide["call_mbit"], narrow["call_mbit"]) == (1, 0.2)
    assert many["cubic"] == {"up": 16, "down": 16}


def test_runs_differ_in_contender_options_and_seed_only():
    runs = list(next(situations.expand("c", CELL)).runs())
    assert [(run.variant, run.seed) for run in runs] == [
        (variant, seed) for variant in ("cake", "x") for seed in range(situations.SEEDS)]
    assert {key for run in runs for key in run.specification
            if run.specification[key] != runs[0].specification[key]} == {
                "contender", "options", "seed"}


@pytest.mark.parametrize("text", [
    "colour = 1\n" + CELL, CELL.replace("rtt_ms", "rtt_s"), "one_host = true\nl4s = 1\n" + CELL])
def test_wrong_cells_are_refused(text):
    with pytest.raises(matrix.CellError):
        list(situations.expand("c", text))


# ---- in the guest ----------------------------------------------------------


@pytest.mark.parametrize(("mbit", "fifo_ms", "frames"), [(40, 100, 329), (1, 100, 50)])
def test_a_fifo_holds_what_takes_so_long_and_never_only_a_few(mbit, fifo_ms, frames):
    assert line.fifo_frames(mbit, fifo_ms) == frames


def test_packets_count_by_when_they_were_sent():
    said = {"sent": [10, 20, 30, 40]}
    heard = {"got": [[10, 5000], [20, 7000], [40, 9000]]}
    assert talk.within(said, heard, 20, 40) == talked(2, 7)
    assert talk.within(said, heard, 10, 41) == talked(4, 5, 7, 9)


def test_ping_tells_its_summary():
    text = ("--- 10.2.0.1 ping statistics ---\n"
            "500 packets transmitted, 499 received, 0.2% packet loss, time 9981ms\n"
            "rtt min/avg/max/mdev = 20.061/21.601/23.012/0.471 ms, pipe 2\n")
    assert flows.Ping.SUMMARY.search(text).groups() == (
        "500", "499", "20.061", "21.601", "23.012", "0.471")


def test_a_call_has_its_rate():
    assert flows.call_interval_ms(1250, 0.2) == pytest.approx(50)


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_page_is_the_same_for_every_queue(seed, number):
    parts = pages.parts_of(seed, number)
    assert parts == pages.parts_of(seed, number) != pages.parts_of(seed, number + 1)
    assert len(parts) == pages.PARTS
    assert all(0 < size <= pages.MOST_BYTES for size in parts)


# ---- figures of a run ------------------------------------------------------


def test_the_way_down_has_the_lines_own_time():
    seen = experience.Seen(run_of(game={"up": talked(4, 1000, 2000, 3000),
                                        "down": talked(4, 21000, 22000, 26000, 24000)}))
    assert seen.wait_ms("game", "up", 0.5) == pytest.approx(2)
    assert seen.wait_ms("game", "down", 0.5) == pytest.approx(2)
    assert seen.wait_ms("game", "down", 1) == pytest.approx(6)
    assert seen.lost_percent("game") == pytest.approx(12.5)
    assert seen.wait_ms("call", "up", 0.5) is seen.lost_percent("call") is None


def test_a_talk_of_which_nothing_came_has_no_delay():
    seen = experience.Seen(run_of(game={"up": talked(4), "down": talked(4)}))
    assert seen.wait_ms("game", "up", 0.99) is None
    assert seen.lost_percent("game") == 100


def test_goodput_is_of_the_whole_seconds_that_are_measured():
    seen = experience.Seen(run_of(
        [flow("up", "cubic", 99, 99, 99, 99, 99, 2, 4, 99), flow("up", "cubic", *[1] * 9),
         flow("up", "l4s", *[5] * 9), flow("down", "cubic", *[30] * 9)]))
    assert seen.goodput_mbit("up") == pytest.approx(3 + 1 + 5)
    assert seen.goodput_mbit("up", "l4s") == pytest.approx(5)
    assert seen.goodput_mbit("down") == pytest.approx(30)
    assert seen.goodput_mbit("down", "l4s") is None


def test_a_look_up_without_answer_is_no_time():
    seen = experience.Seen(run_of(**{"look-up": [0.02, None, 0.03, 0.04]}))
    assert seen.took_ms("look-up", 0.5) == pytest.approx(30)
    assert seen.took_ms("look-up", 0.99) == pytest.approx(40)
    assert seen.unanswered() == pytest.approx(25)
    assert experience.Seen(run_of()).unanswered() is None


def test_a_guest_without_idle_time_gives_no_figures():
    assert experience.told(run_of(idle=0.02)) == {"fault": "CPU-bound"}


# ---- comparison ------------------------------------------------------------


def test_tables_have_the_medians_and_what_is_worse():
    cell = next(situations.expand("c", CELL))
    runs = {variant: [experience.told(run_of([flow("up", "cubic", *[mbit] * 9)]) | {
        "ping": {"mean_ms": mean, "max_ms": 30, "mdev_ms": 1}}) for mean in means]
        for variant, mbit, means in (("cake", 8, (21, 22, 29)), ("x", 7.5, (20, 22.5, 40)))}
    medians = experience.medians_of(runs | {"gone": [{"missing": "no module"}]})
    text = "\n".join(experience.table(cell, medians))
    assert "| ping mean ms | 22.00 | 22.50 | – |" in text
    assert "gone: missing: no module." in text
    assert "game" not in text
    assert list(experience.overview([(cell, medians)]))[2:] == [
        "| | | ping mean ms | ping max ms | up Mbit/s |", "|---|---|---:|---:|---:|",
        "| c-40-10-20ms-1 | cake | 22.00 | 30.0 | 8.00 |",
        "| c-40-10-20ms-1 | x | 22.50 | 30.0 | 7.50 |", ""]
    assert list(experience.comparison([(cell, medians)]))[4:] == [
        "| c-40-10-20ms-1 | x | ping mean ms 22.50 (22.00), up Mbit/s 7.50 (8.00) |",
        "| c-40-10-20ms-1 | gone | – |", ""]


@pytest.mark.parametrize(("own", "is_worse"), [(21.5, False), (21.504, False), (21.51, True)])
def test_what_is_printed_is_compared(own, is_worse):
    found = experience.worse(figures(**{"ping mean ms": own}), figures(**{"ping mean ms": 21.5}))
    assert bool(found) == is_worse


def test_the_baseline_and_all_that_is_compared_are_columns():
    assert experience.BASELINE in shapers.SHAPERS
    assert set(experience.LEAST + experience.MOST) <= set(experience.DIGITS_OF)


def test_results_depend_on_the_guests_of_home_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "REPOSITORY", tmp_path)
    monkeypatch.setattr(store, "RUNS", tmp_path / "runs")
    [run] = list(next(situations.expand("c", CELL.replace("cubic = [1, 16]",
                                                          "cubic = [1]\nseeds = 1"))).runs())[:1]

    class Home(store.Store):
        sources = (*store.SOURCES, "home/*.py")

    Home("7.2.12", tmp_path).keep(run, {"cpu_idle": 0.5})
    assert Home("7.2.12", tmp_path).load(run)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/x.py").write_text("")
    assert not Home("7.2.12", tmp_path).load(run)
