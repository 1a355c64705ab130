# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Files of options (dualpi2-load --config): what is refused, and in which words. That what is
taken means the same as on the command line the fuzzer shows, and tests/systemd on a live qdisc."""

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest
from pretender import stats

PROJECT = Path(__file__).resolve().parents[2]
LOADER = Path(os.environ["DUALPI2_BIN"]) / "dualpi2-load"

# Text of the file, what stderr has behind the program's name and the path.
BAD_FILES = [
    ("rate fast\n", ":1: --rate fast: not a rate (for example 40mbit; 0, or 8kbit to 1tbit)"),
    ("\n# 2\n  target 10parsecs # 3\n",
     ":3: --target 10parsecs: not a time (for example 15ms; 0us to 4294s)"),
    ("rate 40", ":1: --rate 40: 40bit/s is out of range (for example 40mbit; 0, or 8kbit to "
                "1tbit)"),
    ("limit 0", ":1: --limit 0: out of range (for example 10000; 1 to 8388608)"),
    ("any-ect\nrate\n",
     ":2: --rate: a value is missing (for example 40mbit; 0, or 8kbit to 1tbit)"),
    ("rate 1mbit\n--rate 2mbit\n",
     ":2: --rate 2mbit: given twice: give it once"),
    ("any-ect\r\nl4s_ect\r\n", ":2: --l4s-ect: excludes --any-ect: give one of them"),
    ("docsis yes", ":1: --docsis yes: --docsis takes no value"),
    ("split-gso=auto", ":1: --split-gso auto: --split-gso takes no value: did you mean "
                       "--auto-split-gso?"),
    ("rate 40 mbit", ":1: mbit: one option per line, with one word as its value"),
    ("rat 40mbit", ":1: rat: no option that a file may have: did you mean --rate? "
                   "(see dualpi2-load --help)"),
    ("-rate 4mbit", ":1: -rate: no option that a file may have: did you mean --rate? "
                    "(see dualpi2-load --help)"),
    ("rate==40mbit", ":1: --rate =40mbit: not a rate (for example 40mbit; 0, or 8kbit to 1tbit)"),
    ("rate=", ":1: --rate: a value is missing (for example 40mbit; 0, or 8kbit to 1tbit)"),
    ("=", ":1: =: the name of an option is missing"),
    ("rate 1mbit\negress\n", ":2: egress: given twice: give it once"),
    ("ingress\nrate 1mbit\ningress\n", ":3: ingress: given twice: give it once"),
    ("ingress 5mbit", ":1: ingress 5mbit: a line of its own, and the options below it"),
    ("rate 1mbit\ningress\nrate 2mbit\nrate 3mbit", ":4: --rate 3mbit: given twice: give it once"),
    ("ingress\nrate 0", ": --rate 0: not with --ingress, without a rate nothing waits there"),
    ("config x", ":1: config: no option that a file may have (see dualpi2-load --help)"),
    ("help", ":1: help: no option that a file may have (see dualpi2-load --help)"),
    ("rate 1\x1b[2Jmbit", ":1: --rate 1\\x1b[2Jmbit: not a rate "
                          "(for example 40mbit; 0, or 8kbit to 1tbit)"),
    ("rate 1\0mbit", ":1: contains a NUL byte: not a text file"),
    ("\n\0", ":2: contains a NUL byte: not a text file"),
    ("#" * 65537, ": longer than 65536 bytes: is it another file?"),
    # more than one line at fault
    ("max-rtt 10ms\ntypical-rtt 20ms", ": --typical-rtt 20ms: above --max-rtt 10ms"),
]

GOOD_FILES = ["", "\n\n", "# nothing", "rate 40mbit", "\t--rate\t40mbit\t", "rate 40mbit#x\r\n",
              "rate=40mbit", " rate = 40mbit # x",
              "rate 1mbit\n\ningress # what arrives\nrate 2mbit", "ingress\nrate 1mbit",
              "\ufeffrate 1mbit\n", "\ufeff", "\ufeff# nothing\ningress\nrate 1mbit",
              "egress\nany-ect\ningress\nrate 1mbit\nl4s-ect\n",
              "classic_protection 20%\n--classic-dscp le\n", "mq\nreplace\n", "#" * 65536]


def load(*arguments):
    """Without a kernel for it: 2 is for bad input, and 1 what is not there."""
    return subprocess.run([LOADER, "no-such-interface", *arguments], capture_output=True,
                          text=True, check=False, timeout=30)


@pytest.mark.parametrize("words, told", [
    (["bandwidth", "40mbit"], "bandwidth: unexpected argument after "
                              "no-such-interface: did you mean --rate?"),
    (["--bandwidth", "40mbit"], "--bandwidth: no such option, or not enough of its name: did you "
                                "mean --rate?"),
    (["root"], "root: unexpected argument after no-such-interface: leave it "
               "out, the root is meant"),
    (["targt", "5ms"], "targt: unexpected argument after no-such-interface: "
                       "did you mean --target?"),
    (["--split-gso", "auto"], "auto: unexpected argument after "
                              "no-such-interface: did you mean --auto-split-gso?"),
    (["--split-gso=auto"], "--split-gso=auto: --split-gso takes no value: did you mean "
                           "--auto-split-gso?"),
    (["--step-treshold", "5ms"], "--step-treshold: no such option, or not enough of its name"),
    (["mq"], "mq: unexpected argument after no-such-interface: did you mean "
             "--mq?"),
    (["--xyz"], "--xyz: no such option, or not enough of its name"),
])
def test_words_of_other_programs_and_slips(words, told):
    done = load(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"dualpi2-load: {told} (see dualpi2-load --help)\n"


# Words of cake, fq_codel, tc and sqm-scripts, and what the answer names.
STRANGERS = {
    "atm overhead 44": "no ATM framing", "pppoa-vcmux": "no ATM framing",
    "conservative": "no ATM framing",
    "ptm": "--pppoe-ptm", "bridged-ptm": "--pppoe-ptm --overhead 22",
    "ether-vlan": "--ethernet --overhead 42", "noatm": "leave it out",
    "nat": "addresses do not matter", "triple-isolate": "two queues", "flows 1024": "two queues",
    "diffserv4": "--l4s-dscp", "besteffort": "--l4s-dscp", "wash": "DSCPs stay",
    "ack-filter": "ACKs are sent", "rtt 50ms": "--max-rtt?", "metro": "--max-rtt 10ms?",
    "quantum 300": "two queues", "interval 100ms": "--codel-interval", "ecn": "always marked",
    "ce_threshold 1ms": "--step-thresh?", "memory_limit 32Mb": "--memlimit?",
    "stab": "--overhead and --mpu", "cake": "leave it out",
    "UPLINK=40000": "--ingress --rate", "linklayer=atm": "--pppoe-ptm",
}


@pytest.mark.parametrize("words", STRANGERS)
def test_words_that_have_no_option(words):
    """In tc's spelling, as an option, and in a file."""
    name, *rest = words.split()
    for line in [name, *rest], [f"--{name}", *rest]:
        done = load(*line)
        assert (done.returncode, done.stdout) == (2, "")
        assert STRANGERS[words] in done.stderr
        assert "did you mean" not in done.stderr or STRANGERS[words].endswith("?") or (
            "--codel-interval" in done.stderr)


@pytest.mark.parametrize("tool, word, told", [
    ("tcp-prague", "stat", ": did you mean status?"),
    ("tcp-base-rtt", "mesure", ": did you mean measure?"),
    ("tcp-prague", "fly", ""),
    ("tcp-prague", "o", ""),
])
def test_slips_in_a_command(tool, word, told):
    done = subprocess.run([LOADER.with_name(tool), word], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tool}: {word}: no such command{told} (see {tool} --help)\n"


def test_interface_is_given_without_dev():
    done = subprocess.run([LOADER, "dev", "eth0", "root"], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stderr) == (
        2, "dualpi2-load: eth0: unexpected argument after dev: leave out "
           "dev (see dualpi2-load --help)\n")


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "eth0.conf"
        path.write_bytes(text.encode())
        return path

    return write


@pytest.mark.parametrize("text, told", BAD_FILES, ids=[told[:40] for _, told in BAD_FILES])
def test_bad_file(config, text, told):
    path = config(text)
    done = load("--config", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"dualpi2-load: {path}{told}\n"


@pytest.mark.parametrize("text", GOOD_FILES, ids=[text[:20] for text in GOOD_FILES])
def test_good_file(config, text):
    assert load("--config", config(text)).returncode == 1


def test_options_of_the_line_and_the_file_are_together(config):
    path = config("ingress\nrate 40mbit")
    assert load("--config", path).returncode == 1
    assert f"{path}" in load("--mq", "--config", path).stderr


def test_file_cannot_be_twice_of_a_mind(config):
    """Whatever the command line says."""
    path = config("any-ect\nl4s-ect")
    assert "excludes" in load("--rate", "1mbit", "--config", path).stderr
    assert load("--no-l4s", "--config", path).returncode == 1


@pytest.mark.parametrize("path, told", [
    ("/no/such.conf", "/no/such.conf: cannot be read: No such file or directory"),
    ("/proc", "/proc: no file there is for no-such-interface: see dualpi2.conf(5)"),
    ("", "--config '': not a name (for example /etc/dualpi2/eth0.conf; any)")])
def test_no_such_file(path, told):
    done = load("--config", path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"dualpi2-load: {told}") and done.stderr.count("\n") == 1


def plant_fifo(path):
    os.mkfifo(path)


def plant_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def plant_device(path):
    path.symlink_to("/dev/zero")


def plant_directory(path):
    path.mkdir()


@pytest.mark.parametrize("plant", [plant_fifo, plant_socket, plant_device, plant_directory])
def test_what_is_no_regular_file(tmp_path, plant):
    """No tool waits for it."""
    path = tmp_path / "no-such-interface.conf"
    plant(path)
    told = f"{path}: cannot be read: it is not a regular file\n"
    for config in {tmp_path, path if not path.is_dir() else tmp_path}:
        done = load("--config", config)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"dualpi2-load: {told}")
    done = stats("none", "--prometheus", "--config", tmp_path)
    assert done.stderr == f"dualpi2-stats: {told}" and "configuration_known 0\n" in done.stdout


def test_an_unnamed_pipe_is_read():
    """As a shell makes one for <(COMMAND)."""
    command = f"{LOADER} no-such-interface --config <(sleep 0.1; echo rate nowhere)"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "rate nowhere" in done.stderr


@pytest.fixture
def directory(tmp_path):
    """Makes a file of each name, of options that name it when they are refused."""
    def write(*names):
        for name in names:
            (tmp_path / name).write_text("rate nowhere")
        return tmp_path

    return write


def find(directory, name):
    return subprocess.run([LOADER, name, "--config", directory, "--find-config"],
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name, file", [
    ("ppp0", "ppp0.conf"), ("ppp12", "ppp1?.conf"), ("ppp22", "ppp*.conf"),
    ("pppoe7", "pppoe*.conf"), ("pa", "p[ab].conf"), ("a.conf", "a.conf.conf"),
    ("a*", "a*.conf"), ("ab", "a*.conf"),
    ("eth0", None), ("gso-eth0", None), ("in-eth0", None),
    ("default", "default.conf")])
def test_file_of_an_interface(directory, name, file):
    """Its own name before a pattern, a long pattern before a short one, the default last."""
    files = directory("ppp0.conf", "ppp*.conf", "ppp1?.conf", "pppoe*.conf", "p*.conf",
                      "p[ab].conf", "a*.conf", "a.conf.conf", "gs*.conf", "in*.conf",
                      "default.conf", "eth*", "*.conf~")
    done = find(files, name)
    if file:
        assert (done.returncode, done.stdout) == (0, f"{files / file}\n")
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (f"dualpi2-load: {files}: no file there is for {name}: "
                               "see dualpi2.conf(5)\n")
    done = subprocess.run([LOADER, name, "--config", files], capture_output=True, text=True,
                          check=False)
    assert done.stderr.startswith(f"dualpi2-load: {files / (file or 'default.conf')}:1: --rate")


def test_of_patterns_of_one_length_the_first_counts(directory):
    assert find(directory("e?h*.conf", "e*h*.conf", "et?*.conf"), "eth0").stdout.endswith(
        "/e*h*.conf\n")


def test_find_config_needs_a_directory(config):
    assert find(config(""), "eth0").returncode == 2
    assert subprocess.run([LOADER, "--check", "--config", "/etc"], capture_output=True,
                          check=False).returncode == 2


def test_options_that_do_not_go_together(config):
    assert load("--unload", "--config", config("")).returncode == 2
    assert load("--ingress", "--config", config("")).returncode == 2
    assert load("--egress", "--ingress", "--unload").returncode == 2
    done = load("--if-attached")
    assert done.returncode == 2 and "--if-attached: only with --unload" in done.stderr


def test_each_line_of_the_example_is_taken(config):
    text = (PROJECT / "packaging/example.conf").read_text(encoding="utf-8")
    assert load("--config", config(text)).returncode == 1
    lines = re.findall(r"^#(\S.*)$", text, re.M)
    assert len(lines) >= 10
    for line in lines:
        assert load("--config", config(line)).returncode == 1, line
    assert not re.search(r"^[^#\n]", text, re.M), "all commented out"
