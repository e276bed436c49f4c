#!/usr/bin/env python3
"""Runs every script `test_*.py` of this folder against the built program, several at the same time.

usage: run.py PATH_TO_WEFT [--only SCRIPT[/CASE]] [-j N]

`--only signals` runs the scripts with "signals" in their name, `--only signals/interrupted` of those the cases whose
function or description matches; both are patterns. Each script can also be called by itself: `test_signals.py
PATH_TO_WEFT`. The output of a script is shown if it fails.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# Scripts that run before the others: one looks at the leftovers of all runs on this machine, the other measures whether
# processes end at once, and keeps all processors busy by itself.
ALONE = ("test_reaping", "test_kill_matrix")
# The scripts that take longest begin first, so that they do not keep the others from ending together.
LONGEST = ("test_slurm", "test_resuming", "test_runner_chaos", "test_reports", "test_runners", "test_drawing", "test_telemetry", "test_estimate",
           "test_disturbed", "test_history", "test_injected", "test_surroundings")


def begins(script):
    return LONGEST.index(script.stem) if script.stem in LONGEST else len(LONGEST), script.stem


def run(script, weft, case):
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, script, weft, *(["--only", case] if case else [])], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout.strip(), time.monotonic() - began


def report(script, ended, failed):
    code, output, seconds = ended
    summary = output.splitlines()[-1] if output else "no output"
    print(f"{'ok  ' if code == 0 else 'FAIL'} {seconds:6.1f} s  {script.stem}: {summary}", flush=True)
    if code != 0:
        failed.append(script.stem)
        print(output, flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", type=os.path.abspath)
    parser.add_argument("--only", default="", metavar="SCRIPT[/CASE]")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="so many scripts at the same time")
    options = parser.parse_args()
    name, _, case = options.only.partition("/")
    scripts = sorted((path for path in HERE.glob("test_*.py") if re.search(name, path.stem)), key=begins)
    alone = [script for script in scripts if script.stem in ALONE]
    # A shell ignores these for what it runs in the background, and programs inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    began, failed = time.monotonic(), []
    for script in alone:
        report(script, run(script, options.weft, case), failed)
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        waiting = {pool.submit(run, script, options.weft, case): script
                   for script in scripts if script not in alone}
        for future in concurrent.futures.as_completed(waiting):
            report(waiting[future], future.result(), failed)
    print(f"{len(scripts) - len(failed)} of {len(scripts)} scripts passed in {time.monotonic() - began:.0f} s"
          + (f"; failed: {', '.join(sorted(failed))}" if failed else ""))
    return 1 if failed or not scripts else 0


if __name__ == "__main__":
    sys.exit(main())
