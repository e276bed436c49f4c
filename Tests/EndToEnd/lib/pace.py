"""The distance between two signals of a user: those that follow one another faster are one request."""

import time

REPETITION = 0.12  # seconds

last = 0


def keep():
    """Waits until another signal is another request."""
    global last
    time.sleep(max(0, last + REPETITION - time.monotonic()))
    last = time.monotonic()
