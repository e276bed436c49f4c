#!/usr/bin/env python3
"""Kills weft exactly when it writes a record, and looks at what every command says of the run.

usage: test_crashes.py PATH_TO_WEFT          (needs a C compiler)

A preloaded library kills weft at its own write to the journal: just before the record is in it, or just after.
"""

import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from lib import cases
from lib.place import Place

LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_journal(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path);
  const char *name = "/journal.jsonl";
  size_t size = strlen(name);
  return length >= (ssize_t)size && !memcmp(path + length - size, name, size);
}

ssize_t write(int file, const void *bytes, size_t count) {
  ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  const char *record = getenv("KILL_AT");
  if (!record || !is_journal(file) || !memmem(bytes, count, record, strlen(record)))
    return next(file, bytes, count);
  if (getenv("KILL_AFTER")) next(file, bytes, count);
  kill(getpid(), SIGKILL);
  return -1;
}
"""


@functools.cache
def library():
    folder = tempfile.TemporaryDirectory(prefix="weft-crashes-")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{folder.name}/kill.so", "-x", "c", "-", "-ldl"],
                   input=LIBRARY.encode(), check=True)
    return folder


def crash(place, record, after=False, words=("run", "w.json")):
    """Runs weft until it is killed at a record."""
    environment = {**os.environ, "LD_PRELOAD": f"{library().name}/kill.so", "KILL_AT": record}
    if after:
        environment["KILL_AFTER"] = "1"
    done = subprocess.run(
        [place.weft, *words], cwd=place.path, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=place.limit)
    assert done.returncode == -signal.SIGKILL, done
    types = [found["type"] for found in place.records()]
    assert ("run.finished" in types) == after, types


def workflow(last="b"):
    def step(name, **more):
        return {"id": name, "run": f"echo {name} >> done", **more}

    return {"steps": [step("a", cleanup=step("c")), {**step("b"), "run": f"echo b >> done; [ {last} = b ] || [ -e ok ]"}],
            "finally": [step("f")]}


def states(place):
    found = json.loads(place.call("runs", "--format", "json").stdout)
    return [run["state"] for run in found["runs"]]


def cases_of(place, *words):
    """The number of cases, failures and errors in a JUnit report."""
    done = place.call("report", "--format", "junit", *words)
    assert done.returncode == 0, done
    suites = xml.etree.ElementTree.fromstring(done.stdout)
    return [int(suites.get(key)) for key in ("tests", "failures", "errors")]


def before_the_end(weft):
    """killed when every step has its record, and the run has no end: the steps are done, and what follows them runs again"""
    place = Place(weft, workflow())
    crash(place, '"run.finished"', words=("run", "w.json", "--report", "r.xml"))
    assert place.done() == {"a": 1, "b": 1, "c": 1, "f": 1}, place.done()
    assert not (place.path / "r.xml").exists() and not (place.folder / "report.json").exists()
    assert states(place) == ["interrupted"]
    shown = place.call("show")
    assert shown.returncode == 0 and "interrupted" in shown.stdout.splitlines()[0], shown.stdout
    assert all(f"✓ {name}: succeeded" in shown.stdout for name in ("a", "b", "f")), shown.stdout
    assert "continues it" in shown.stdout and '"a"' not in shown.stdout.split("next:")[1], shown.stdout
    # The run itself is a case with an error.
    assert cases_of(place) == [5, 0, 1], cases_of(place)
    done = place.resume("--report", "r.xml")
    assert done.returncode == 0, done
    assert place.done() == {"a": 1, "b": 1, "c": 1, "f": 2}, place.done()
    assert (place.path / "r.xml").exists() and states(place) == ["success"]
    assert "nothing left to do" in place.call("show").stdout
    assert place.resume().returncode == 0 and place.done()["f"] == 2


def before_the_end_of_a_failure(weft):
    """killed before the end of a run that fails: it is not a failure yet, and fails when it is resumed"""
    place = Place(weft, workflow(last="x"))
    crash(place, '"run.finished"')
    assert place.done() == {"a": 1, "b": 1, "c": 1, "f": 1}, place.done()
    assert states(place) == ["interrupted"] and cases_of(place) == [4, 1, 0], cases_of(place)
    shown = place.call("show").stdout
    # The cleanup of "a" has undone it, and "b" needs it.
    assert "✗ b: failed" in shown and 'continues it: "a", "b", "f"' in shown, shown
    done = place.resume()
    assert done.returncode == 1 and states(place) == ["failure"], done
    assert place.done() == {"a": 2, "b": 2, "c": 2, "f": 2}, place.done()
    (place.path / "ok").touch()
    done = place.resume()
    assert done.returncode == 0 and states(place) == ["success"], done
    assert place.done() == {"a": 3, "b": 3, "c": 3, "f": 3}, place.done()


def after_the_end(weft):
    """killed right after the end of the run is recorded: the run has ended, although weft did not report it"""
    for last, state, code in (("b", "success", 0), ("x", "failure", 1)):
        place = Place(weft, workflow(last))
        crash(place, '"run.finished"', after=True)
        assert states(place) == [state] and not (place.folder / "report.json").exists()
        first = place.call("show").stdout.splitlines()[0]
        assert f": {state} {'in' if code == 0 else 'after'} " in first, first
        assert cases_of(place) == [4, code, 0], cases_of(place)
        before = place.done()
        done = place.resume()
        assert done.returncode == code, done
        assert (place.done() == before) == (code == 0), place.done()


def resumed(weft):
    """killed again before the end of a resumed run: each part leaves the run as the one before did"""
    place = Place(weft, workflow())
    crash(place, '"run.finished"')
    for part in (2, 3):
        crash(place, '"run.finished"', words=("resume",))
        assert place.done() == {"a": 1, "b": 1, "c": 1, "f": part}, place.done()
        assert states(place) == ["interrupted"]
    assert place.resume().returncode == 0 and states(place) == ["success"]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [before_the_end, before_the_end_of_a_failure, after_the_end, resumed]))
