# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Traffic that goes on while a test does something else."""

import contextlib
import threading
import time

PACE_SECONDS = 0.002


@contextlib.contextmanager
def steadily(send):
    """Meanwhile, `send()` is called again and again by a thread of its own."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            send()
            time.sleep(PACE_SECONDS)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
