# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A qdisc with many DualQs, of which each has its packets here and its turns in include/turns.h."""

import collections

from clib import C, ffi, new
from model import SECOND

FRAME = 1514  # bytes, and a quantum
AHEAD = C.TURNS_AHEAD_FRAMES * FRAME
START = 7 * SECOND
OWN, AHEAD_LINE, FRESH, ROUND = (1 << which for which in range(C.TURNS_LINES))


class Qdisc:
    """`c_first`: in whose DualQ C is served before L, as the credit of it may say."""

    def __init__(self, count, c_first=(), start=START):
        self.dualq, self.c_first, self.steps = ffi.new("struct waiting_dualq[]", count), c_first, 0
        self.many = new("many_dualqs", count=count, dualq=self.dualq)
        self.turns = ffi.addressof(self.many.plans, "turns")
        self.fifo = [{C.TURNS_L: collections.deque(), C.TURNS_C: collections.deque()}
                     for _ in range(count)]
        self.qlen, self.asked, self.sent = 0, 0, [0] * count
        self.start(start)

    def start(self, now=START):
        C.turns_start(self.turns, FRAME, now)

    def note(self, number):
        self.dualq[number].waiting = sum(bit for bit, queue in self.fifo[number].items() if queue)

    def enqueue(self, number, length, in_l):
        self.fifo[number][C.TURNS_L if in_l else C.TURNS_C].append(length)
        self.qlen += 1
        self.note(number)
        C.turns_arrive(self.turns, ffi.addressof(self.dualq[number], "turns"), number, in_l)

    def refill(self, number, queues, lengths, draw):
        """So that two packets wait in each of these queues of it."""
        for in_l in queues:
            while len(self.fifo[number][C.TURNS_L if in_l else C.TURNS_C]) < 2:
                self.enqueue(number, draw.choice(lengths), in_l)

    def next(self):
        """Whose turn it is; while packets wait somebody's."""
        while (number := C.turns_next(self.turns)) == C.TURNS_UNKNOWN:
            self.asked += 1
        return number

    def take(self, number, drops=False):
        """The head of the queue that its DualQ chooses, and whether it is of L."""
        l, c = (self.fifo[number][bit] for bit in (C.TURNS_L, C.TURNS_C))
        from_l = bool(l and not (c and number in self.c_first))
        length = (l if from_l else c).popleft()
        self.qlen -= 1
        self.note(number)
        if not self.qlen:
            C.turns_settle(self.turns)
        elif not drops:
            C.turns_charge(ffi.addressof(self.dualq[number], "turns"), length)
        self.sent[number] += 0 if drops else length
        return length, from_l

    def serve(self):
        number = self.next()
        return number, *self.take(number)

    def waiting(self):
        return {number for number, queues in enumerate(self.fifo) if any(queues.values())}

    def line(self, which):
        """Who is in it, first to last, and that it has an end."""
        line, found = self.turns.line[which], []
        if line.first != C.TURNS_NOBODY:
            found.append(line.first)
            while found[-1] != line.last:
                found.append(self.dualq[found[-1]].turns.next[which])
                assert len(found) <= len(self.fifo)
        return found

    def check(self):
        """Who is in which lines says so, and who waits is in those in which it belongs."""
        lines = [set(self.line(which)) for which in range(C.TURNS_LINES)]
        assert all(len(line) == len(self.line(which)) for which, line in enumerate(lines))
        for number, queues in enumerate(self.fifo):
            state = self.dualq[number].turns
            if state.epoch != self.turns.epoch:
                assert not any(queues.values())
                assert all(number not in line for line in lines)
                continue
            found = sum(1 << which for which, line in enumerate(lines) if number in line)
            assert state.lines == found
            assert found & (FRESH | ROUND) in (0, FRESH, ROUND)
            if any(queues.values()):
                assert found & (FRESH | ROUND)
            if queues[C.TURNS_L] and state.deficit > -AHEAD:
                assert found & (OWN | AHEAD_LINE)
            if queues[C.TURNS_L] and state.deficit > 0:
                assert found & OWN
