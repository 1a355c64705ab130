# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The claims of papers (bench/claims/): each can be measured, and says when it is lost."""

import importlib.machinery
import importlib.util
import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "claims")]
import matrix  # noqa: E402
from claim import Claim, Seen  # noqa: E402


def load_program():
    """bench/claims/run, which has no .py."""
    loader = importlib.machinery.SourceFileLoader("claims_run", str(BENCH / "claims/run"))
    spec = importlib.util.spec_from_loader("claims_run", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


RUN = load_program()
CLAIMS = [(paper, claim) for paper in RUN.PAPERS.values() for claim in paper.claims]


class Anything:
    """A Measured in which every figure is 1."""

    def kinds(self):
        return {"tcp", "rpc"}

    def goodputs_mbit(self, _kinds):
        return [1.0, 1.0]

    def goodputs_back_mbit(self):
        return [1.0]

    def ratio(self):
        return 1.0

    def utilisation(self):
        return 1.0

    def count(self, _what, _queue):
        return 1.0

    def dropped(self, _queue):
        return 1.0

    def share(self, count, _queue):
        return count

    def delays(self, _queue, _kind=None):
        return self

    def requests(self, _size):
        return [1.0], 1.0

    def mean_ms(self):
        return 1.0

    def quantile_ms(self, _part):
        return 1.0


def seen_of(paper):
    figures = paper.figures(Anything()) if paper.figures else Anything()
    return Seen({(run.cell, run.variant): [figures] for run in RUN.runs_of(paper)})


class LinesOnly:
    """A bench that knows lines of finished runs, and no run itself."""

    def __init__(self, paper):
        self.line = json.loads(json.dumps({"figures": paper.figures(Anything())}))

    def result(self, _run):
        return self.line


@pytest.mark.parametrize("name", [name for name, paper in RUN.PAPERS.items() if paper.figures])
def test_lines_that_are_kept_are_all_that_claims_need(name):
    paper = RUN.PAPERS[name]
    seen, faults = RUN.see(LinesOnly(paper), paper)
    assert not faults
    assert not any("not measured" in RUN.row(claim, seen)[0] for claim in paper.claims)


def test_a_run_that_failed_is_told():
    paper = RUN.PAPERS["vdq"]
    bench = LinesOnly(paper)
    bench.line = {"fault": "CPU-bound"}
    seen, faults = RUN.see(bench, paper)
    assert f"{next(iter(paper.cells))}, vdq: CPU-bound" in faults
    assert all(RUN.row(claim, seen)[1] is None for claim in paper.claims)


def test_table_has_every_mix():
    paper = RUN.PAPERS["vdq"]
    rows = [line.split(" | ") for line in paper.table(seen_of(paper))][3:]
    assert len(rows) == 9 + 7 + 9
    assert {tuple(row[2:]) for row in rows} == {("1.00 / 1.00", "1.000 / 1.000", "100.0 / 100.0 |")}
    text, _ = RUN.section("vdq", paper, seen_of(paper))
    assert "| BBR, 5 ms | 50x50 |" in text


def test_keys_are_unique():
    assert len({claim.key for _, claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("paper", RUN.PAPERS.values(), ids=RUN.PAPERS)
def test_cells_that_a_paper_needs_exist(paper):
    variants = {(run.cell, run.variant) for cell in matrix.all_cells() for run in cell.runs()}
    for cell, names in paper.cells.items():
        assert {cell} <= {name for name, _ in variants}
        assert {(cell, name) for name in names or ()} <= variants


@pytest.mark.parametrize("paper, claim", CLAIMS, ids=[claim.key for _, claim in CLAIMS])
def test_paper_names_all_that_its_claims_look_at(paper, claim):
    text, holds = claim.measure(seen_of(paper))
    assert text and holds in (True, False, None)


@pytest.mark.parametrize("holds", [True, False, None])
def test_row_can_be_read_back(holds):
    def measure(_seen):
        if holds is None:
            raise KeyError("cell")
        return "1 | 2 Mbit/s", holds
    claim = Claim("a-key", "it says", "so", measure, "for a reason.")
    line, seen = RUN.row(claim, Seen({}))
    assert seen is holds
    read = dict(RUN.ROW.findall(f"{line}\n"))
    assert read == ({} if holds is None else
                    {"a-key": "holds" if holds else "does not hold"})


@pytest.mark.parametrize("before, now, lost", [
    ("holds", True, []), ("holds", False, ["a-key"]), ("holds", None, ["a-key"]),
    ("does not hold", False, []), (None, False, []), ("does not hold", True, []),
])
def test_row_that_held_and_no_longer_does_is_lost(before, now, lost):
    assert RUN.lost({"a-key": before} if before else {}, {"a-key": now}) == lost
