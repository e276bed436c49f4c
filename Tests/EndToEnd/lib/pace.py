"""The signals of a user: those that follow one another faster are one request, the first must not come too early."""

import signal
import time

REPETITION = 0.12  # seconds

last = 0


def keep():
    """Waits until another signal is another request."""
    global last
    time.sleep(max(0, last + REPETITION - time.monotonic()))
    last = time.monotonic()


def is_ready(process):
    """Whether weft would take a signal; one that arrives before that ends it as it would end any program."""
    with open(f"/proc/{process.pid}/status") as status:
        (blocked,) = [line.split()[1] for line in status if line.startswith("SigBlk:")]
    return bool(int(blocked, 16) >> signal.SIGINT - 1 & 1)
