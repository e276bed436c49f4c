"""Runs the cases of a script one after another, and prints the result of each."""

import os
import subprocess
import sys
import traceback


def run(cases, broken=(AssertionError, subprocess.TimeoutExpired)):
    """Each case is a description, and a function of the path of weft that returns a note or nothing. An exception in
    `broken` fails a case; any other is a fault of the script. Returns the exit code."""
    weft = os.path.abspath(sys.argv[1])
    failures = 0
    for name, case in cases:
        try:
            note = case(weft)
            print(f"ok    {name}" + (f": {note}" if note else ""), flush=True)
        except broken as fault:
            failures += 1
            line = traceback.extract_tb(fault.__traceback__)[1]
            print(f"FAIL  {name}\n      line {line.lineno}: {line.line}\n      {fault}", flush=True)
    print(f"{len(cases) - failures} passed, {failures} failed")
    return 1 if failures else 0
