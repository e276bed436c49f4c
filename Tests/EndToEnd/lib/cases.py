"""Runs the cases of a script one after another, and prints the result of each.

    SCRIPT WEFT [--only PATTERN]        the cases whose description or function matches, or all
"""

import argparse
import os
import re
import traceback


class Skipped(Exception):
    """A case that cannot run here, with the reason."""


def run(usage, cases):
    """Runs cases, and returns the exit code. Each case is a function of the path of weft that returns a note or
    nothing, described by its docstring, or a pair of a description and such a function."""
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", type=os.path.abspath)
    parser.add_argument("--only", default="", metavar="PATTERN")
    options = parser.parse_args()
    described = [case if isinstance(case, tuple) else (case.__doc__, case) for case in cases]
    chosen = [(name, case) for name, case in described if re.search(options.only, f"{case.__name__}\n{name}")]
    failed = skipped = 0
    for name, case in chosen:
        try:
            note = case(options.weft)
            print(f"ok    {name}" + (f": {note}" if note else ""), flush=True)
        except Skipped as reason:
            skipped += 1
            print(f"skip  {name}: {reason}", flush=True)
        except Exception as fault:
            failed += 1
            # The line of the case itself, and not of what it calls.
            line = traceback.extract_tb(fault.__traceback__)[1:2] or traceback.extract_tb(fault.__traceback__)
            print(f"FAIL  {name}\n      line {line[0].lineno}: {line[0].line}\n"
                  f"      {type(fault).__name__}: {fault}", flush=True)
    print(f"{len(chosen) - failed - skipped} passed, {failed} failed"
          + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not chosen else 0
