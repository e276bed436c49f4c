#!/usr/bin/env python3
"""Sets the clock while weft measures time limits, and stops weft until they are long over.

usage: test_clocks.py PATH_TO_WEFT          (needs a C compiler)

Only the clock of weft is set, by a preloaded library.
"""

import datetime
import os
import signal
import subprocess
import sys
import tempfile
import time

from lib import cases
from lib.session import Run
from lib.workplace import state, step, wait_until

DAY = 24 * 60 * 60

# The time of day is off by the seconds in a file; other clocks are unchanged.
LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long wrong_by(void) {
  long seconds = 0;
  FILE *file = fopen(getenv("WRONG_BY"), "r");
  if (file) {
    if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
    fclose(file);
  }
  return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int (*next)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
  int result = next(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += wrong_by();
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now) *now = precise.tv_sec;
  return precise.tv_sec;
}
"""

# Three limits at once, none of which can be kept while weft is stopped.
LIMITED = {"steps": [{"id": "group", "timeout": "1s", "steps": [
    step("echo $$ >began.fifo; exec sleep 1000", id="work", timeout="1s")]}]}


def ended_once(run):
    """Checks that every step, group and run that began has ended once; returns the events."""
    told = run.events()
    kinds = [event["type"] for event in told]
    for kind in ("step", "group", "run"):
        assert kinds.count(f"{kind}.started") == kinds.count(f"{kind}.finished") == 1, kinds
    assert kinds[-1] == "run.finished" and run.nothing_is_alive()
    return told


def engine_stands_still(weft):
    """K17: what is overdue when a stopped engine is continued happens then, and once"""
    run = Run(weft, LIMITED, ["--events", "events", "--timeout", "1s"], terminal=False)
    try:
        work = run.wait_for("began.fifo").strip()
        began = time.monotonic()
        run.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, run.process.pid, os.WSTOPPED)
        wait_until(lambda: time.monotonic() > began + 1.5, "the limits to pass")
        assert state(work) == "S", "ended by a stopped engine"
        run.process.send_signal(signal.SIGCONT)
        assert run.status() in (1, 124), run.output
        ended_once(run)
    finally:
        run.close()


def clock_is_set(weft):
    """K17: limits are measured by monotonic time: a clock set a day forward or back changes nothing"""
    with tempfile.TemporaryDirectory(prefix="weft-clocks-") as path:
        library, wrong_by = f"{path}/clock.so", f"{path}/wrong_by"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "-x", "c", "-", "-ldl"],
                       input=LIBRARY.encode(), check=True)
        for first, then in ((0, DAY), (0, -DAY), (DAY, 0)):
            set_clock(wrong_by, first)
            began = time.monotonic()
            run = Run(weft, LIMITED, ["--events", "events"], terminal=False,
                      LD_PRELOAD=library, WRONG_BY=wrong_by)
            try:
                run.wait_for("began.fifo")
                set_clock(wrong_by, then)
                assert run.status() == 1, run.output
                assert time.monotonic() - began >= 1, "the limit was cut short"
                told = datetime.datetime.fromisoformat(ended_once(run)[0]["at"])
                # Checks that the clock of weft was set at all.
                wrong = told - datetime.datetime.now(datetime.timezone.utc)
                assert round(wrong / datetime.timedelta(days=1)) == first / DAY, told
            finally:
                run.close()


def set_clock(file, seconds):
    with open(file + ".new", "w") as new:
        new.write(str(seconds))
    os.rename(file + ".new", file)


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [engine_stands_still, clock_is_set]))
