# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A program on a terminal: a pty, and pyte that draws what the program writes."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

DEADLINE_SECONDS = 60
PAUSE_SECONDS = 0.03
PATIENCE_SECONDS = 0.3
BEGIN_ALTERNATE, END_ALTERNATE = b"\x1b[?1049h", b"\x1b[?1049l"


class Screen(pyte.Screen):
    """It can scroll by several lines at once, as xterm can, and pyte cannot."""

    def _scroll(self, step, edge, count):
        line = self.cursor.y
        self.cursor.y = edge(self.margins or pyte.screens.Margins(0, self.lines - 1))
        for _ in range(count or 1):
            step()
        self.cursor.y = line

    def scroll_up(self, count=1):
        self._scroll(self.index, lambda margins: margins.bottom, count)

    def scroll_down(self, count=1):
        self._scroll(self.reverse_index, lambda margins: margins.top, count)


class Stream(pyte.ByteStream):
    csi = pyte.ByteStream.csi | {"S": "scroll_up", "T": "scroll_down"}


class Terminal:
    """Of `columns` by `lines`. To be used in a with statement, which ends the program."""

    def __init__(self, argv, columns=80, lines=24, **environment):
        self.master, slave = pty.openpty()
        self.screen = Screen(columns, lines)
        self.stream = Stream(self.screen)
        self.written = bytearray()
        self.before = termios.tcgetattr(slave)
        self._set_size(columns, lines)
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["setsid", "--ctty", *map(str, argv)], stdin=slave, stdout=slave,
            stderr=slave, env=os.environ | {"TERM": "xterm", "LC_ALL": "C.UTF-8"} | environment)
        self.slave = slave

    def _set_size(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def resize(self, columns, lines):
        """As by the window's corner: the kernel tells the program by SIGWINCH."""
        self.screen.resize(lines, columns)
        self._set_size(columns, lines)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def read(self):
        """Take what the program has written: until it pauses, but not for ever."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end and select.select([self.master], [], [], PAUSE_SECONDS)[0]:
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:  # it has ended
                return
            self.written += data
            self.stream.feed(data)

    @property
    def text(self):
        self.read()
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, condition, what):
        """Until `condition(text)` is true; the text."""
        end = time.monotonic() + DEADLINE_SECONDS
        while True:
            # Before it is read, so that its last words are.
            is_late = time.monotonic() > end or self.process.poll() is not None
            if condition(text := self.text):
                return text
            if is_late:
                raise AssertionError(f"in vain: {what}; on the screen:\n{text}")

    def wait_for_word(self, word):
        return self.wait_for(lambda text: word in text, word)

    def end(self, number=None):
        """Wait for the end, after a signal if one is given; the exit status. The terminal
        is as it was, and what was on it before is there again."""
        if number is not None:
            self.process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(DEADLINE_SECONDS)
        self.read()
        assert self.process.returncode is not None, "it goes on"
        assert termios.tcgetattr(self.slave) == self.before, "the terminal's modes"
        assert self.written.count(BEGIN_ALTERNATE) == self.written.count(END_ALTERNATE)
        return self.process.returncode


ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
