# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Figures from what one run saw (the JSON that guest/cell.py leaves)."""

import itertools
import math
import statistics

ICMP = 1  # IP protocol number
NS_PER_MS = 1e6
# Flows that take what they can get.
SCALABLE = ("l4s", "prague")
CLASSIC = ("cubic", "cubic-ecn", "reno", "bbr", "nv", "tcp")
GREEDY = (*SCALABLE, *CLASSIC)
UNRESPONSIVE = ("udp", "crowd", "cubic-deaf")
GAMES = ("game", "game-l4s")
# Of the ECN field: which of the numbers belong to which class.
CODEPOINTS = {"l": (1, 3), "c": (0, 2)}
# Below this share of idle time the guest's CPU decides what happens, not the link.
LEAST_IDLE = 0.03


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
        """[(delay in ms, part of the packets that waited no longer)], as fine as can be seen."""
        points, seen = [], 0
        for _, high, count in self.buckets:
            seen += count
            if not points or seen == self.count or seen / self.count - points[-1][1] > 0.002:
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
    }
    if any(faults.values()):
        raise MeasurementError(", ".join(f"{count} {what}" for what, count in faults.items()
                                         if count))


def is_cpu_bound(runs):
    return min(run["cpu_idle"] for run in runs) < LEAST_IDLE


def counted(run):
    """The Measured of a run that counts; MeasurementError says why another one does not."""
    if is_cpu_bound([run]):
        raise MeasurementError("CPU-bound")
    return Measured(run)


def tell(run, measure, figures):
    """What is to be known of a run, or of the line that was kept of it: figures(measure(run)), or
    why there are none."""
    if {"missing", "fault", "figures"} & set(run):
        return run
    try:
        return {"cpu_idle": run["cpu_idle"], "figures": figures(measure(run))}
    except MeasurementError as error:
        return {"fault": str(error)}


class Measured:
    """What a run tells of all its phases together: one for each rate of the link."""

    def __init__(self, run):
        check(run)
        self.run = run
        self.rates_mbit = run["specification"]["rates_mbit"]
        self.phase_seconds = run["specification"]["seconds"]
        self.seconds = self.phase_seconds * len(self.rates_mbit)
        self.unloaded_ns = unloaded_ns(run)
        senders = {flow["sender"] for flow in run["flows"]}
        self.streams = [stream for stream in run["tap"]["streams"]
                        if stream["source"] in senders]

    def figures(self, sender=None):
        """What the tap counted for each stream, of this sender or of all, in each phase."""
        return [stream["phases"][str(phase)] for stream in self.streams
                for phase in range(len(self.rates_mbit))
                if sender is None or stream["source"] == sender]

    def delays(self, queue, kind=None):
        """Of the packets of a class; of flows of this kind, or of all."""
        senders = [flow["sender"] for flow in self.run["flows"]
                   if kind in (None, flow["kind"])]
        return Delays([figures["delay"][queue] for sender in senders
                       for figures in self.figures(sender)], self.unloaded_ns)

    def kinds(self):
        return {flow["kind"] for flow in self.run["flows"]}

    def goodputs_mbit(self, kinds):
        """Of each flow of these kinds."""
        return [sum(figures["payload_bytes"] for figures in self.figures(flow["sender"]))
                * 8e-6 / self.seconds for flow in self.run["flows"]
                if flow["kind"] in kinds and "back" not in flow]

    def hosts_mbit(self):
        """{host: what all its flows take of the link, frames and all}, of flows that name one."""
        taken = {}
        for flow in self.run["flows"]:
            if "host" in flow:
                frames = sum(figures["frame_bytes"] for figures in self.figures(flow["sender"]))
                taken[flow["host"]] = taken.get(flow["host"], 0) + frames * 8e-6 / self.seconds
        return taken

    def ratio(self):
        """What an L4S download gets, by what a Classic one gets; None if there are not both."""
        l4s, classic = (self.goodputs_mbit(kinds) for kinds in (SCALABLE, CLASSIC))
        return statistics.fmean(l4s) / statistics.fmean(classic) if l4s and sum(classic) else None

    def goodputs_back_mbit(self):
        """Of each flow the other way, over the whole seconds after its warm-up."""
        warmup_s = self.run["specification"]["warmup_s"]
        counted = [[(end - begin, size) for begin, end, size in flow["back"]
                    if begin >= warmup_s and end <= warmup_s + self.seconds + 0.5]
                   for flow in self.run["flows"] if "back" in flow]
        return [sum(size for _, size in flow) * 8e-6 / sum(time for time, _ in flow)
                for flow in counted]

    def utilisation(self):
        """Part of the link's rate that frames took."""
        frames = sum(figures["frame_bytes"] for figures in self.figures())
        return frames * 8e-6 / self.phase_seconds / sum(self.rates_mbit)

    def count(self, what, queue):
        """`arrived`, `left` or `marked` packets of a class."""
        return sum(figures[what][codepoint] for figures in self.figures()
                   for codepoint in CODEPOINTS[queue])

    def dropped(self, queue):
        return self.count("arrived", queue) - self.count("left", queue)

    def lost(self, kinds):
        """Part of the packets of flows of these kinds; None if there are none."""
        senders = {flow["sender"] for flow in self.run["flows"] if flow["kind"] in kinds}
        figures = [each for sender in senders for each in self.figures(sender)]
        arrived, left = (sum(sum(each[what]) for each in figures) for what in ("arrived", "left"))
        return 1 - left / arrived if arrived else None

    def share(self, count, queue):
        """Part of the packets that arrived for a class; None if none did."""
        arrived = self.count("arrived", queue)
        return count / arrived if arrived else None

    def largest(self, where):
        """Bytes of the largest frame `before` or `after` the bottleneck."""
        return max(figures[f"largest_{where}"] for figures in self.figures())

    def reordered(self):
        return sum(figures["reordered"] for figures in self.figures())

    def completion_ms(self):
        """How long each short download took that began after the warm-up."""
        warmup_s = self.run["specification"]["warmup_s"]
        return sorted(took * 1000 for flow in self.run["flows"]
                      for began, _, took in flow.get("downloads", []) if began >= warmup_s)

    def requests(self, size):
        """Seconds that each request of this size took that began after the warm-up, and ended
        within what is measured; and the rate of those of one flow, in Mbit/s."""
        begin_s = self.run["specification"]["warmup_s"]
        took = [[each for began, each in flow["requests"]
                 if began >= begin_s and began + each <= begin_s + self.seconds]
                for flow in self.run["flows"] if flow.get("size") == size]
        rate = statistics.fmean(len(of_flow) for of_flow in took) * size * 8e-6 / self.seconds
        return sorted(itertools.chain(*took)), rate

    def series(self, kinds):
        """The phases' [{"bytes", "packets", "delay_ms"} of each bin], of flows of these kinds."""
        senders = {flow["sender"] for flow in self.run["flows"] if flow["kind"] in kinds}
        bin_s = self.run["tap"]["bin_s"]
        begins = dict(self.run["tap"]["phases"])
        first = round(begins["0"] / bin_s)
        bins = [{"bytes": 0, "packets": 0, "delay_sum_us": 0}
                for _ in range(round(self.seconds / bin_s))]
        for stream in self.streams:
            if stream["source"] not in senders:
                continue
            for number, packets, size, _, delay_sum_us, _ in stream["series"]:
                if 0 <= number - first < len(bins):
                    place = bins[number - first]
                    place["bytes"] += size
                    place["packets"] += packets
                    place["delay_sum_us"] += delay_sum_us
        return bins

    def settling_s(self, phase):
        """After the link's rate has changed: how long until, for a second, the link is used
        to 90 % and no 100 ms have more than twice the mean delay of the phase's second half.
        The length of the phase, if that never comes."""
        bin_s = self.run["tap"]["bin_s"]
        count = round(self.phase_seconds / bin_s)
        bins = self.series(self.kinds())[phase * count:(phase + 1) * count]
        delays = [place["delay_sum_us"] / max(1, place["packets"]) for place in bins]
        usual = statistics.fmean(delays[count // 2:])
        window = round(1 / bin_s)
        needed = 0.9 * self.rates_mbit[phase] * 1e6 / 8 * window * bin_s
        for start in range(count - window + 1):
            within = slice(start, start + window)
            if (sum(place["bytes"] for place in bins[within]) >= needed and
                    max(delays[within]) <= 2 * usual):
                return start * bin_s
        return self.phase_seconds


def quantile(values, part):
    """Nearest rank, of sorted values."""
    return values[max(0, math.ceil(part * len(values)) - 1)]


def jain(goodputs):
    """Jain's fairness index: 1 if all are equal, 1/n if one has all."""
    squares = sum(value * value for value in goodputs)
    return sum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None
