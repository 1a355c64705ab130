# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`make install` with the places that packagers choose, and `make uninstall`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests"))
import links  # noqa: E402

# As the build that is tested: with other words for its compilers all would be built anew.
BUILD = os.path.relpath(os.environ["DUALPI2_BIN"], PROJECT)
ENVIRONMENT = {name: os.environ[name] for name in ("PATH", "CC", "CLANG", "CPPFLAGS", "CFLAGS",
                                                   "LDFLAGS", "VDQ") if name in os.environ}
PLACES = {"PREFIX": "/opt/x", "BINDIR": "/opt/x/bin", "SBINDIR": "/opt/x/bin", "MANDIR": "/opt/man",
          "UNITDIR": "/opt/units", "UDEVDIR": "/opt/udev", "DOCDIR": "/opt/doc",
          "SYSCONFDIR": "/opt/etc", "TEXTFILEDIR": "/opt/prom"}


def make(goal, destination, places):
    variables = [f"{name}={value}" for name, value in places.items()]
    subprocess.run(["make", "-C", PROJECT, f"O={BUILD}", goal,
                    f"DESTDIR={destination}", *variables],
                   check=True, capture_output=True, env=ENVIRONMENT)


def files(top):
    return {path.relative_to(top) for path in top.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("places", [{}, PLACES], ids=["default", "chosen"])
def test_install_and_uninstall(tmp_path, places):
    make("install", tmp_path, places)
    installed = files(tmp_path)
    bin_, sbin = (Path(places.get(name, f"/usr/local/{name[:-3].lower()}")).relative_to("/")
                  for name in ("BINDIR", "SBINDIR"))
    assert {sbin / "dualpi2-load", sbin / "dualpi2-stats", sbin / "tcp-prague",
            sbin / "tcp-base-rtt", bin_ / "dualpi2-plot"} <= installed
    share = Path(places.get("PREFIX", "/usr/local")).relative_to("/") / "share"
    assert {share / f"{place}/_dualpi2_values" for place in
            ("bash-completion/completions", "zsh/site-functions")} <= installed
    doc = Path(places.get("DOCDIR", "/usr/local/share/doc/dualpi2-bpf")).relative_to("/")
    assert {doc / name for name in ("README.md", "docs/guide.md", "docs/delay.svg",
                                    "GPL-2.0-only.txt", "BSD-2-Clause.txt")} <= installed
    assert {path.parts[:1] for path in installed} == {("opt",) if places else ("usr",)}
    for path in installed:
        mode = (tmp_path / path).stat().st_mode & 0o777
        assert mode == (0o755 if path.parent in (bin_, sbin) else 0o644), path
    own = tmp_path / places.get("SYSCONFDIR", "/etc").lstrip("/") / "dualpi2/eth0.conf"
    own.touch()
    make("uninstall", tmp_path, places)
    assert files(tmp_path) == {own.relative_to(tmp_path)}


def test_links_of_installed_pages_lead_somewhere(tmp_path):
    """What is not installed is named, not linked."""
    make("install", tmp_path, {"DOCDIR": "/doc"})
    pages = list((tmp_path / "doc").rglob("*.md"))
    assert len(pages) > 20
    assert not {page.name: dead for page in pages if (dead := list(links.dead(page)))}


def test_what_is_installed_names_the_places(tmp_path):
    make("install", tmp_path, PLACES)
    unit = (tmp_path / "opt/units/dualpi2@.service").read_text(encoding="utf-8")
    assert "ExecStart=/opt/x/bin/dualpi2-load --config /opt/etc/dualpi2 -- %I\n" in unit
    prague = (tmp_path / "opt/units/tcp-prague@.service").read_text(encoding="utf-8")
    assert "ExecStart=/opt/x/bin/tcp-prague on --unit %i.service\n" in prague
    rules = (tmp_path / "opt/udev/rules.d/90-dualpi2.rules").read_text(encoding="utf-8")
    assert 'TEST=="/opt/etc/dualpi2/$name.conf"' in rules
    figures = (tmp_path / "opt/units/dualpi2-metrics.service").read_text(encoding="utf-8")
    assert "--output /opt/prom/dualpi2.prom\n" in figures


def test_debian_has_the_same_version():
    changelog = (PROJECT / "packaging/debian/changelog").read_text(encoding="utf-8")
    version = (PROJECT / "VERSION").read_text(encoding="utf-8").strip()
    assert re.match(rf"dualpi2-bpf \({re.escape(version)}-\d+\) ", changelog)


def test_rpm_has_the_same_version():
    version = (PROJECT / "VERSION").read_text(encoding="utf-8").strip()
    spec = (PROJECT / "packaging/dualpi2-bpf.spec").read_text(encoding="utf-8")
    assert re.search(rf"^Version: +{re.escape(version)}$", spec, re.M)


def test_citation_is_of_the_same_version():
    version = (PROJECT / "VERSION").read_text(encoding="utf-8").strip()
    assert f'\nversion: "{version}"\n' in (PROJECT / "CITATION.cff").read_text(encoding="utf-8")


def test_aqms_for_tests_are_not_installed(tmp_path):
    make("install", tmp_path, {})
    text = subprocess.run([tmp_path / "usr/local/sbin/dualpi2-load", "--help", "all"], check=True,
                          capture_output=True, text=True).stdout
    for header in (PROJECT / "include/aqm").glob("*.h"):
        defined = header.read_text(encoding="utf-8")
        if "#define AQM_OPT_IN" in defined:
            continue
        name = re.search(r'AQM_NAME "(.+)"', defined)[1]
        assert (f"\nAQM {name}: " in text) != ("#define AQM_FOR_TESTS" in defined)


@pytest.mark.builds
def test_without_ncurses_all_but_the_live_view_is_built(tmp_path):
    program = tmp_path / "dualpi2-stats"
    subprocess.run(["make", "--no-print-directory", "-j2", f"O={tmp_path}", "NCURSES=", program],
                   cwd=PROJECT, check=True, capture_output=True)
    assert b"ncurses.so" not in program.read_bytes()
    assert b"built without ncurses" in program.read_bytes()
    subprocess.run([program, "--help"], check=True, capture_output=True)


def test_make_needs_no_compiler_to_enter_a_root():
    """The first thing that a bare host sees of `make deb`."""
    done = subprocess.run(["make", "--no-print-directory", "CC=gone", "BUILD_CC=gone", "help"],
                          cwd=PROJECT, check=True, capture_output=True, text=True)
    assert "make deb" in done.stdout and not done.stderr


@pytest.mark.builds
def test_vdq_is_built_only_if_asked_for(tmp_path):
    """And changes no byte of another AQM."""
    objects = [f"aqm/{file.stem}.bpf.o" for file in (PROJECT / "include/aqm").glob("*.h")
               if "#define AQM_OPT_IN" not in file.read_text(encoding="utf-8")]
    assert objects
    built = {}
    for asked in ("", "1"):
        out = tmp_path / f"o{asked}"
        wanted = [out / name for name in (*objects, "aqm/list.c", "aqm/packaged.c")]
        subprocess.run(["make", "--no-print-directory", f"O={out}", f"VDQ={asked}", *wanted],
                       cwd=PROJECT, check=True, capture_output=True)
        built[asked] = [(out / name).read_bytes() for name in objects]
        for name in ("list.c", "packaged.c"):
            assert ("aqm_vdq" in (out / "aqm" / name).read_text()) == bool(asked)
        listed = subprocess.run(["make", "-n", f"O={out}", f"VDQ={asked}", "install"], cwd=PROJECT,
                                check=True, capture_output=True, text=True).stdout
        assert ("dualpi2-mark-values.8" in listed) == bool(asked)
    assert built[""] == built["1"]
