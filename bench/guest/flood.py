# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A flood of UDP packets, by the kernel's packet generator."""

from pathlib import Path

PKTGEN = Path("/proc/net/pktgen")


class Flood:
    """One kernel thread, which hands frames to a device at a steady rate."""

    def __init__(self, space, device):
        self.space, self.device = space, device
        self.process = None

    @staticmethod
    def command(name, *lines):
        for line in lines:
            (PKTGEN / name).write_text(line)

    def start(self, length, rate, *lines):
        """Frames of `length` bytes, `rate` bit/s. `lines`: what else pktgen is told."""
        with self.space.entered():
            self.command("kpktgend_0", "rem_device_all", f"add_device {self.device}")
            self.command(self.device, "count 0", f"pkt_size {length}", "clone_skb 0",
                         "xmit_mode queue_xmit", f"ratep {int(rate) // 8 // length}", *lines)
        self.process = self.space.popen("sh", "-c", f"echo start >{PKTGEN}/pgctrl")

    def sent(self):
        """Packets so far, whatever has become of them."""
        with self.space.entered():
            words = (PKTGEN / self.device).read_text().split()
        return sum(int(words[words.index(word) + 1]) for word in ("pkts-sofar:", "errors:"))

    def stop(self):
        with self.space.entered():
            self.command("pgctrl", "stop")
            self.process.wait(timeout=60)
            self.command("kpktgend_0", "rem_device_all")
