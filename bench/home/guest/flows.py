# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What people do at home: each of it with addresses of its own, so that a queue for each host is
one for each flow."""

import dataclasses
import json
import re
from pathlib import Path

from netns import wait_until
from path import AS_HOST, Flow, ect1_rules, listen, report_of, transfer
from talk import within

TALK, PAGES = (Path(__file__).with_name(name) for name in ("talk.py", "pages.py"))
FIRST_PORT = 5200  # of iperf3 and of talk.py
PING_S = 0.02
ETHERNET_IP_UDP = 42  # bytes of headers


@dataclasses.dataclass(frozen=True)
class Window:
    """What is measured, of the guest's clock."""

    begin_ns: int
    end_ns: int

    def has(self, when_ns):
        return self.begin_ns <= when_ns < self.end_ns


class Bulk:
    """An upload or a download, as much as its congestion control allows. Its receiver is iperf3's
    client, which tells what it got each second."""

    CONGESTION = {"cubic": {"congestion": "cubic"},
                  "l4s": {"congestion": "dctcp", "scalable": True}}

    def __init__(self, line, number, direction, kind):
        self.kind, self.direction = kind, direction
        congestion = self.CONGESTION[kind]
        options = Flow("", "", **congestion).route_options()
        home, server = line.add_hosts(number, options)
        ends = {"up": (line.home, home, line.server, server),
                "down": (line.server, server, line.home, home)}
        self.source, source, self.sink, sink = ends[direction]
        self.flow = Flow(source, sink, **congestion)
        # Of iperf3, which connects the other way.
        self.client = Flow(sink, source, port=FIRST_PORT + number)
        listen(self.source, self.client)
        if self.flow.scalable:
            rules = ect1_rules([self.flow]).replace("table ip l4s", f"table ip l4s{number}")
            self.source.run("nft", "-f", "-", input=rules)

    def start(self, seconds, _seed):
        self.process = transfer(self.sink, self.client, seconds, "-R")

    def finish(self, _window):
        each = [part["sum"] for part in report_of(self.process)["intervals"]]
        return {"kind": self.kind, "direction": self.direction,
                "seconds": [[part["start"], part["end"], part["bytes"]] for part in each]}


class Talk:
    """A game or a call: the same both ways."""

    def __init__(self, line, number, frame_bytes, interval_ms, tos=0):
        self.words = [FIRST_PORT + number, frame_bytes - ETHERNET_IP_UDP, interval_ms]
        self.tos = tos
        home, server = line.add_hosts(number)
        self.ends = ((line.home, home, server), (line.server, server, home))

    def start(self, seconds, _seed):
        self.processes = [space.popen(*AS_HOST, "python3", TALK, own, peer, *self.words, seconds,
                                      self.tos) for space, own, peer in self.ends]

    def finish(self, window):
        home, server = (json.loads(process.communicate()[0]) for process in self.processes)
        return {"up": within(home, server, window.begin_ns, window.end_ns),
                "down": within(server, home, window.begin_ns, window.end_ns)}


class Site:
    """Look-ups, or pages."""

    def __init__(self, line, number, what):
        self.what, self.space = what, line.home
        self.home, self.server = line.add_hosts(number)
        line.server.popen(*AS_HOST, "python3", PAGES, "serve", self.server)
        wait_until(lambda: f"{self.server}:" in line.server.run("ss", "-Hltn").stdout,
                   f"{self.server} listens")

    def start(self, seconds, seed):
        self.process = self.space.popen(*AS_HOST, "python3", PAGES, self.what, self.server,
                                        self.home, seconds, seed)

    def finish(self, window):
        """Seconds of each that began in that time; null: no answer."""
        output, _ = self.process.communicate()
        return [took for began_ns, took in json.loads(output) if window.has(began_ns)]


class Ping:
    """Only while it is measured, for ping itself tells the figures."""

    SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+) received.*\n"
                         r"rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms")

    def __init__(self, line, number):
        self.space = line.home
        self.home, self.server = line.add_hosts(number)
        self.space.run("ping", "-n", "-q", "-c", 3, "-I", self.home, self.server)

    def start(self, seconds):
        self.process = self.space.popen(*AS_HOST, "ping", "-n", "-q", "-i", PING_S,
                                        "-c", round(seconds / PING_S), "-I", self.home,
                                        self.server)

    def finish(self):
        output, _ = self.process.communicate()
        sent, received, least, mean, most, mdev = self.SUMMARY.search(output).groups()
        return {"sent": int(sent), "received": int(received), "min_ms": float(least),
                "mean_ms": float(mean), "max_ms": float(most), "mdev_ms": float(mdev)}


def call_interval_ms(frame_bytes, mbit):
    return frame_bytes * 8e-3 / mbit


# Frames of a game: 128 bytes every 20 ms. Those of a call are of video.
GAME_BYTES, GAME_MS = 128, 20
CALL_BYTES = 1250
ECT1 = 1
BESIDE = {
    "game": lambda line, number, _: Talk(line, number, GAME_BYTES, GAME_MS),
    "game-l4s": lambda line, number, _: Talk(line, number, GAME_BYTES, GAME_MS, ECT1),
    "call": lambda line, number, specification: Talk(
        line, number, CALL_BYTES, call_interval_ms(CALL_BYTES, specification["call_mbit"])),
    "look-up": lambda line, number, _: Site(line, number, "look-up"),
    "browse": lambda line, number, _: Site(line, number, "browse"),
}
