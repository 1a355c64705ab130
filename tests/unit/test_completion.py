# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What bash and zsh offer behind our programs: the same."""

import functools
import os
import pty
import shutil
import socket
import subprocess

import pytest
from programs import BASE_RTT, BIN, COMMANDS, PRAGUE, PROGRAMS, PROJECT, commands, options, output

COMPLETION = PROJECT / "completion"
INTERFACES = {name for _, name in socket.if_nameindex()}

# As bash calls what is registered for a program.
BASH = f"""
source "{COMPLETION}/dualpi2.bash"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
read -r _ _ registered _ < <(complete -p "${{1##*/}}")
"$registered" "$1" "${{@: -1}}" "${{@: -2:1}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

# Completion of zsh runs in the line editor alone. So the editor begins with $LINE, inserts all that
# there is to offer, and the shell ends. Nothing is left in the line by then, for all that is drawn
# has to find room in a terminal that nobody reads. The first shell caches the list of zsh's
# functions for the others.
ZSHRC = f"""
fpath=("{COMPLETION}" $fpath)
autoload -Uz compinit && compinit -C -u -d "$ZDOTDIR/functions"
insert-all() {{ _main_complete; compstate[insert]=all compstate[list]= }}
zle -C insert-all complete-word insert-all
zle-line-init() {{
    BUFFER=$LINE CURSOR=$#LINE
    zle insert-all
    print -r -- "$BUFFER"
    BUFFER=
    exit
}}
zle -N zle-line-init
"""


def bash(program, *words):
    return set(output("bash", "-c", BASH, "-", BIN / program, *words).split())


def zsh(directory, program, *words):
    line = " ".join([str(BIN / program), *words])
    terminal, ours = pty.openpty()
    try:
        edited = subprocess.run(
            ["zsh", "-d", "-i"], stdin=ours, stdout=subprocess.PIPE, stderr=ours, text=True,
            timeout=60, start_new_session=True, check=False,
            env=os.environ | {"ZDOTDIR": str(directory), "LINE": line, "TERM": "dumb"},
        ).stdout.removesuffix("\n")
    finally:
        os.close(terminal)
        os.close(ours)
    before = line.removesuffix(words[-1])
    assert edited.startswith(before)
    # It has a '/' behind a directory.
    return set() if edited == line else {one.rstrip("/") for one in
                                         edited.removeprefix(before).split()}


@pytest.fixture(scope="module", params=["bash", "zsh"])
def offered(request, tmp_path_factory):
    """What a shell offers for the last of some words."""
    if request.param == "bash":
        return bash
    if not shutil.which("zsh"):
        pytest.skip("there is no zsh here")
    directory = tmp_path_factory.mktemp("zsh")
    (directory / ".zshrc").write_text(ZSHRC, encoding="utf-8")
    return functools.partial(zsh, directory)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_option(offered, program):
    assert offered(program, "--") == options(program)


def test_words_about_all_interfaces(offered):
    assert offered("dualpi2-load", "sta") == {"status"}


def test_the_beginning_of_an_option(offered):
    assert offered("dualpi2-load", "lo", "--min-q") == {"--min-qlen-step"}


def test_one_of_a_few(offered):
    assert offered("dualpi2-load", "--l-aqm", "") == {"step", "ramp"}
    assert offered("dualpi2-load", "--l-aqm", "r") == {"ramp"}
    assert offered("dualpi2-load", "--aqm", "curvy") == {"curvy-red"}


@pytest.mark.parametrize("option, usual", [
    ("--rate", "40mbit"), ("rate", "40mbit"), ("--target", "15ms"), ("step_thresh", "1ms"),
    ("--classic-protection", "25%"), ("--l4s-dscp", "nqb"), ("--limit", None), ("--alpha", None),
    ("--min-qlen-step", None),
])
def test_where_a_value_belongs(offered, option, usual):
    """Usual ones, or nothing; no interfaces."""
    shown = offered("dualpi2-load", option, "")
    assert not usual or usual in shown
    assert bool(shown) == bool(usual)
    assert not shown & INTERFACES


def test_the_end_of_a_list(offered):
    assert offered("dualpi2-load", "--l4s-dscp", "ef,nq") == {"ef,nqb"}


def test_where_no_value_belongs(offered):
    """--split-gso takes none, though its help begins with capital letters."""
    assert offered("dualpi2-load", "--split-gso", "") == INTERFACES


def test_files(offered, tmp_path):
    (tmp_path / "eth0.conf").touch()
    assert offered("dualpi2-load", "--config", f"{tmp_path}/e") == {f"{tmp_path}/eth0.conf"}


def test_interfaces(offered):
    assert offered("dualpi2-load", "") == INTERFACES | {"status", "off"}
    assert offered("dualpi2-stats", "") == INTERFACES
    assert offered("dualpi2-load", "rate", "40mbit", "") == INTERFACES


# ---- programs whose first word is a command -------------------------------------------------


@pytest.mark.parametrize("program", [PRAGUE, BASE_RTT])
def test_every_command(offered, program):
    assert offered(program, "") == {*commands(program), "--help", "--version"}


def test_the_beginning_of_a_command(offered):
    assert offered(PRAGUE, "s") == {"status", "sink"}


@pytest.mark.parametrize("program, command", COMMANDS)
def test_every_option_of_a_command(offered, program, command):
    assert offered(program, command, "--") == options(program, command)


def test_devices(offered):
    assert offered(PRAGUE, "on", "--dev", "") == INTERFACES


def test_control_groups(offered, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "file").touch()
    assert offered(BASE_RTT, "off", "--cgroup", f"{tmp_path}/") == {f"{tmp_path}/inner"}


def test_units(offered, tmp_path, monkeypatch):
    systemctl = tmp_path / "systemctl"
    systemctl.write_text("#!/bin/sh\necho nginx.service loaded active running A web server\n",
                         encoding="ascii")
    systemctl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert offered(PRAGUE, "on", "--unit", "ng") == {"nginx.service"}


def test_hosts(offered):
    assert "localhost" in offered(PRAGUE, "check", "local")


def test_what_is_to_run(offered, tmp_path):
    (tmp_path / "file").touch()
    for options_ in ([], ["--"], ["--to", "192.0.2.0/24"], ["--no-classic-detection", "--"]):
        assert "python3" in offered(PRAGUE, "run", *options_, "python")
        assert offered(PRAGUE, "run", *options_, "ls", f"{tmp_path}/f") == {f"{tmp_path}/file"}
    assert not offered(PRAGUE, "run", "--to", "python")
