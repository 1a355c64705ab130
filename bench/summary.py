# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Figures from what one run saw (the JSON that guest/cell.py leaves)."""

TCP, UDP, ICMP = 6, 17, 1
NS_PER_MS = 1e6
CLASSES = {"l": "L4S", "c": "Classic"}
# Of the ECN field: which of the numbers belong to which class.
CODEPOINTS = {"l": (1, 3), "c": (0, 2)}


class MeasurementError(Exception):
    """The tap did not see all: the run does not count."""


class Delays:
    """A distribution of delays, less that of the unloaded path."""

    def __init__(self, parts, unloaded_ns):
        """`parts`: what the tap says of the delays of some streams, alike."""
        self.unloaded_ns = unloaded_ns
        self.sum_ns = sum(part["sum_ns"] for part in parts)
        self.max_ns = max((part["max_ns"] for part in parts), default=0)
        merged = {}
        for part in parts:
            for low, high, count in part["buckets"]:
                merged[low, high] = merged.get((low, high), 0) + count
        self.buckets = sorted((low, high, count) for (low, high), count in merged.items())
        self.count = sum(count for _, _, count in self.buckets)

    def ms(self, ns):
        """Clocks and caches let an unqueued packet be quicker than the median by nanoseconds."""
        return max(0.0, (ns - self.unloaded_ns) / NS_PER_MS)

    def mean_ms(self):
        return self.ms(self.sum_ns / self.count) if self.count else None

    def quantile_ms(self, part):
        """Nearest rank; the middle of its bucket, which is 1.6 % wide at most."""
        seen = 0
        for low, high, count in self.buckets:
            seen += count
            if seen >= part * self.count:
                return self.ms(min((low + high) / 2, self.max_ns))
        return None

    def curve(self):
        """[(delay in ms, part of the packets that waited no longer)]"""
        points, seen = [], 0
        for _, high, count in self.buckets:
            seen += count
            points.append((self.ms(high), seen / self.count))
        return points


def unloaded_ns(run):
    """The median of the pings before the flows began."""
    delays = [stream["phases"]["unloaded"]["delay"]["c"] for stream in run["tap"]["streams"]
              if stream["protocol"] == ICMP]
    pings = Delays(delays, 0)
    if not pings.count:
        raise MeasurementError("no ping went through the unloaded path")
    return pings.quantile_ms(0.5) * NS_PER_MS


def check(run):
    tap = run["tap"]
    faults = {
        "frames missed before the bottleneck": tap["before"]["missed"],
        "frames missed after it": tap["after"]["missed"],
        "packets that left without having arrived": tap["unmatched"],
        "packets forgotten": tap["forgotten"],
    }
    if any(faults.values()):
        raise MeasurementError(", ".join(f"{count} {what}" for what, count in faults.items()
                                         if count))


class Measured:
    """What a run tells of one phase."""

    def __init__(self, run, phase="0"):
        check(run)
        self.run = run
        self.seconds = run["specification"]["seconds"]
        self.unloaded_ns = unloaded_ns(run)
        addresses = {flow["sender"] for flow in run["flows"]}
        self.streams = [(stream["source"], stream["phases"][phase])
                        for stream in run["tap"]["streams"] if stream["source"] in addresses]
        self.rate_mbit = run["specification"]["rates_mbit"][int(phase)]

    def delays(self, queue):
        return Delays([figures["delay"][queue] for _, figures in self.streams],
                      self.unloaded_ns)

    def goodputs_mbit(self, kinds=None):
        """Of each flow of these kinds, or of all."""
        senders = [flow["sender"] for flow in self.run["flows"]
                   if kinds is None or flow["kind"] in kinds]
        return [sum(figures["payload_bytes"] for source, figures in self.streams
                    if source == sender) * 8e-6 / self.seconds for sender in senders]

    def utilisation(self):
        """Part of the rate that frames took."""
        frames = sum(figures["frame_bytes"] for _, figures in self.streams)
        return frames * 8e-6 / self.seconds / self.rate_mbit

    def count(self, what, queue):
        """`arrived`, `left` or `marked` packets of a class."""
        return sum(figures[what][codepoint] for _, figures in self.streams
                   for codepoint in CODEPOINTS[queue])

    def dropped(self, queue):
        return self.count("arrived", queue) - self.count("left", queue)

    def largest(self, where):
        """Bytes of the largest frame `before` or `after` the bottleneck."""
        return max(figures[f"largest_{where}"] for _, figures in self.streams)

    def reordered(self):
        return sum(figures["reordered"] for _, figures in self.streams)


def jain(goodputs):
    """Jain's fairness index: 1 if all are equal, 1/n if one has all."""
    squares = sum(value * value for value in goodputs)
    return sum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None
