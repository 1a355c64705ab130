# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dualpi2-plot, of recordings whose every figure is known (pretend.c)."""

import contextlib
import copy
import importlib.machinery
import importlib.util
import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib import pyplot
from pretender import stats

PROGRAM = Path(os.environ["DUALPI2_BIN"], "dualpi2-plot")


def load():
    """The program as a module."""
    loader = importlib.machinery.SourceFileLoader("dualpi2_plot", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


plot = load()


def record(directory, scenario, count=5):
    file = directory / f"{scenario}.jsonl"
    stats(scenario, "--record", file, "--interval", "10ms", "--count", str(count))
    return file


def run(*arguments):
    """As a program; in here, because matplotlib takes a second to start."""
    argv, sys.argv = sys.argv, [str(PROGRAM), *map(str, arguments)]
    error = io.StringIO()
    status = 0
    with contextlib.redirect_stderr(error):
        try:
            plot.main()
        except SystemExit as end:
            status = end.code
            if isinstance(status, str):  # the interpreter prints it and exits with 1
                print(status, file=sys.stderr)
                status = 1
        finally:
            sys.argv = argv
            pyplot.close("all")
    return subprocess.CompletedProcess(arguments, status, stderr=error.getvalue())


def curves(axis):
    return {line.get_label(): list(line.get_ydata()) for line in axis.get_lines()}


def test_curves_are_the_figures(tmp_path):
    figure = plot.picture(plot.recordings_of([record(tmp_path, "busy")], None))
    delay, rates, probability = figure.get_axes()
    assert curves(delay)["L4S, 99 %"] == [0.5] * 5
    assert curves(delay)["Classic, highest"] == pytest.approx([15.0] * 5, rel=1 / 16)
    assert (delay.get_ylabel(), delay.get_yscale()) == ("ms", "log")
    assert curves(rates)["L4S"] == [16] * 5 and curves(rates)["Classic"] == [8] * 5
    assert curves(rates)["shaper"] == [40, 40] and rates.get_ylabel() == "Mbit/s"
    assert curves(probability)["p'"] == pytest.approx([4] * 5)
    assert curves(probability)["L4S"] == pytest.approx([7.5] * 5)
    assert curves(probability)["Classic"] == pytest.approx([100 * 2 / 1002] * 5)
    [line] = [line for line in rates.get_lines() if line.get_label() == "L4S"]
    assert list(line.get_xdata()) == pytest.approx([0, 1, 2, 3, 4], abs=0.01)


def test_title_names_place_and_kind(tmp_path):
    [sample] = plot.read(record(tmp_path, "busy", 1))
    titles = {kind: plot.picture([plot.Recording([sample | {"kind": kind}])]).get_suptitle()
              for kind in (sample["kind"], "bpf_dualq_codel", "mq")}
    place = plot.place(sample)
    assert titles[sample["kind"]] == f"{place}: bpf_dualpi2"
    assert titles["bpf_dualq_codel"] == f"{place}: bpf_dualq_codel"
    assert "mq:" not in titles["mq"]
    assert plot.picture([plot.Recording([sample])], "mine").get_suptitle() == "mine"


def test_two_recordings(tmp_path):
    """The first one in full lines, the second one in dashes, on the same axes."""
    files = [record(tmp_path, "busy"), record(tmp_path, "empty")]
    figure = plot.picture(plot.recordings_of(files, None))
    delay, rates, _ = figure.get_axes()
    assert set(curves(delay)) == {f"{queue}, 99 % ({name})" for queue in ("L4S", "Classic")
                                  for name in ("busy", "empty")}
    styles = {line.get_label(): line.get_linestyle() for line in rates.get_lines()}
    assert styles["L4S (busy)"] == "-" and styles["L4S (empty)"] == "--"
    assert run(*files, "-o", tmp_path / "out.svg", "--title", "both").returncode == 0
    assert run(*files, files[0], "-o", tmp_path / "out.svg").returncode == 2


def test_no_packets_no_delay(tmp_path):
    figure = plot.picture(plot.recordings_of([record(tmp_path, "idle")], None))
    values = curves(figure.get_axes()[0])["L4S, 99 %"]
    assert len(values) == 5 and all(map(math.isnan, values))


@pytest.mark.parametrize("name", ["out.svg", "out.png", "out.pdf"])
def test_pictures(tmp_path, name):
    assert run(record(tmp_path, "busy"), "-o", tmp_path / name).returncode == 0
    begins = (tmp_path / name).read_bytes()[:5]
    assert begins in (b"<?xml", b"\x89PNG\r", b"%PDF-")


def test_a_picture_takes_the_place_of_a_link(tmp_path):
    """Nor is anything left of one that cannot be drawn."""
    other, file = tmp_path / "other", record(tmp_path, "busy")
    other.write_text("somebody's", encoding="utf-8")
    (tmp_path / "out.svg").symlink_to(other)
    assert run(file, "-o", tmp_path / "out.svg").returncode == 0
    assert other.read_text(encoding="utf-8") == "somebody's"
    assert not (tmp_path / "out.svg").is_symlink()
    (tmp_path / "taken.svg").mkdir()
    assert run(file, "-o", tmp_path / "taken.svg").returncode == 1
    assert {path.name for path in tmp_path.iterdir()} == {"busy.jsonl", "other", "out.svg",
                                                          "taken.svg"}


def test_program(tmp_path):
    done = subprocess.run([PROGRAM, record(tmp_path, "busy"), "-o", tmp_path / "out.svg"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out.svg").exists()


def test_same_recording_same_bytes(tmp_path):
    file = record(tmp_path, "busy")
    for name in ("one.svg", "two.svg"):
        assert run(file, "-o", tmp_path / name).returncode == 0
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert ElementTree.parse(tmp_path / "one.svg").getroot().tag.endswith("svg")


def test_half_a_line_at_the_end(tmp_path):
    file = record(tmp_path, "busy")
    text = file.read_text(encoding="utf-8")
    file.write_text(text[:-100], encoding="utf-8")
    assert len(plot.read(file)) == 4
    assert run(file, "-o", tmp_path / "out.svg").returncode == 0


def test_one_of_several(tmp_path):
    file = record(tmp_path, "several")
    done = run(file, "-o", tmp_path / "out.svg")
    assert done.returncode == 1 and "eth0, eth1" in done.stderr
    assert run(file, "-o", tmp_path / "out.svg", "-i", "eth1").returncode == 0
    done = run(file, "-o", tmp_path / "out.svg", "-i", "eth7")
    assert done.returncode == 1 and "not recorded" in done.stderr


@pytest.mark.parametrize("content", ["", "\n", "{}\n", "nonsense\n", "[1]\n", '{"time": 1}\n',
                                     '{"time":', "\x00\n"])
def test_what_is_no_recording(tmp_path, content):
    file = tmp_path / "file"
    file.write_text(content, encoding="utf-8")
    done = run(file, "-o", tmp_path / "out.svg")
    assert done.returncode == (2 if "\n" in content else 1) and done.stderr.count("\n") == 1, done
    assert done.stderr.startswith("dualpi2-plot: ") and not (tmp_path / "out.svg").exists()


@pytest.fixture(name="sample", scope="module")
def fixture_sample(tmp_path_factory):
    return json.loads(record(tmp_path_factory.mktemp("sample"), "busy", 1).read_text())


def draw(directory, *samples, **options):
    """A recording of these, drawn as a program does."""
    file = directory / "file.jsonl"
    file.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    words = (word for name, value in options.items() for word in (f"--{name}", value))
    return run(file, "-o", directory / "out.svg", *words)


GONE = object()


@pytest.mark.parametrize("path, value", [
    ("kind", GONE), ("interval.l-queue", GONE), ("interval.c-queue.packets-in", GONE),
    ("interval.l-queue.delay.p99", GONE), ("interval.l-queue.delay", [1]),
    ("interval.l-queue.delay.p50", "1"), ("interval.c-queue.mark-coupled", None),
    ("time", math.nan), ("time", math.inf), ("time", "noon"), ("time", True), ("time", -1),
    ("interval.l-queue.rate-out", 10**400), ("dev", ["eth0"]), ("kind", 7), ("parent", {}),
    ("prob", "high"), ("options", []), ("options.rate", "40mbit"), ("interval", None)])
def test_lines_that_are_not_whole(tmp_path, sample, path, value):
    """The message has the number of the second line, and the part that is wrong."""
    wrong = copy.deepcopy(sample)
    *parents, key = path.split(".")
    parent = wrong
    for name in parents:
        parent = parent[name]
    parent[key] = value
    if value is GONE:
        del parent[key]
    done = draw(tmp_path, sample, wrong)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    assert "file.jsonl: line 2 " in done.stderr
    assert done.stderr.endswith(f": {key} is missing or wrong\n")
    assert not (tmp_path / "out.svg").exists()


def test_a_line_that_is_nested_too_deep(tmp_path):
    (tmp_path / "file").write_text("[" * 100000 + "\n", encoding="utf-8")
    assert run(tmp_path / "file", "-o", tmp_path / "out.svg").returncode == 2


@pytest.mark.parametrize("name", [r"$\foo$", "$x$", "a\x1b[2Jb", "a\x01", "\ud800", "a\nb", "_"])
def test_any_name_is_plain_text(tmp_path, sample, name):
    """No formula of matplotlib, no command to the terminal, and the picture is valid XML."""
    one, other = sample | {"dev": name}, sample | {"dev": "eth1"}
    assert draw(tmp_path, one).returncode == 0
    ElementTree.parse(tmp_path / "out.svg")
    assert draw(tmp_path, one, title=f"title {name}".encode("utf-8", "replace")
                .decode()).returncode == 0
    ElementTree.parse(tmp_path / "out.svg")
    done = draw(tmp_path, one, other)
    assert done.returncode == 1 and done.stderr.rstrip("\n").isprintable()


def test_names_of_files_are_plain_text(tmp_path):
    files = [record(tmp_path, "busy").rename(tmp_path / name)
             for name in (r"$\foo$", "b\x01")]
    assert run(*files, "-o", tmp_path / "out.svg").returncode == 0
    ElementTree.parse(tmp_path / "out.svg")


def test_files_that_are_not_there(tmp_path):
    assert run(tmp_path / "none", "-o", tmp_path / "out.svg").returncode == 1
    assert run(record(tmp_path, "busy"), "-o", "/nonesuch/out.svg").returncode == 1


@pytest.mark.parametrize("arguments", [[], ["file"], ["file", "-o", "out.gif"]])
def test_wrong_usage(arguments):
    assert run(*arguments).returncode == 2
