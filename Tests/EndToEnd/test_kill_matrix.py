#!/usr/bin/env python3
"""K03, K04, K05, K06, K07, K08, K19, X07, X08 and X16: the kill matrix, processes left behind, and bystanders

Ends steps of every bad kind in every way, at every level of containment of this machine, and checks the results
against the tables of Reliability.md. Death is proved, not looked up: lib/kill_matrix/trial.py.

usage: test_kill_matrix.py PATH_TO_WEFT [--write] [--only TEXT]

Fails on any difference, and on any cell that the document does not have.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from lib.kill_matrix import table
from lib.kill_matrix.left import LEFT
from lib.kill_matrix.neighbours import Neighbours
from lib.kill_matrix.services import SERVICES
from lib.kill_matrix.stopped import AFTER_GRACE, AT_ONCE, STOPPED, TooSoon
from lib.kill_matrix.trial import GRACE, Trial, compiled_member

root = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = root / "Sources/Weft/Documentation.docc/Reliability.md"
MATRICES = (STOPPED, SERVICES, LEFT)
CELLS = {(matrix.name, row.name, column.name): (row, column)
         for matrix in MATRICES for row in matrix.rows for column in matrix.columns}
LEVELS = ("cgroup", "subreaper", "group+cookie")
AT_A_TIME = 8


def run_cell(weft, member, key):
    """The result of one cell, or the reason why there is none."""
    row, column = CELLS[key[:3]]
    level = key[3]
    for patience in (1, 4, 16):
        trial = Trial(weft, member, level)
        # The seconds for all members to come up, where no hand-shake can delay the end.
        trial.patience = patience
        try:
            trial.neighbours = Neighbours()
            result = column.run(trial, row)
            if dead := trial.neighbours.dead():
                return f"it has ended {', '.join(dead)} too"
            return result
        except TooSoon:
            continue
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            trial.close()
    return "the members were never up in time"


def levels(weft):
    """The levels of containment of this machine; prints those that it lacks."""
    for level in LEVELS:
        with tempfile.TemporaryDirectory(prefix="weft-matrix-") as path:
            done = subprocess.run(
                [weft, "run", "-", "--containment", level], input='{"steps": ["true"]}', cwd=path,
                capture_output=True, text=True)
        if done.returncode == 0:
            yield level
        else:
            print(f"skipped: {level}: {done.stderr.strip()}")


def run_all(weft, only):
    """A result, or the reason why there is none, by matrix, row, column and level."""
    with tempfile.TemporaryDirectory(prefix="weft-matrix-") as directory:
        member = compiled_member(directory)
        # Each in a process of its own; most of the time they wait.
        context = multiprocessing.get_context("fork")
        others = {level: another_run(weft, level, directory) for level in levels(weft)}
        with concurrent.futures.ProcessPoolExecutor(AT_A_TIME, mp_context=context) as pool:
            keys = [(*cell, level) for level in others for cell in CELLS]
            waiting = {key: pool.submit(run_cell, weft, member, key) for key in keys
                       if only in " / ".join(key)}
            results = {key: future.result() for key, future in waiting.items()}
        for level, process in others.items():
            said = end_of(process)
            if said != b"went on\n":
                results["another run", "", "", level] = f"it did not go on: {said!r}"
        return results


def another_run(weft, level, directory):
    """A run that lives beside the others all the time, and must reach its own end."""
    workflow = {"steps": ["echo up; read line <go.fifo; echo went on >result"]}
    path = pathlib.Path(f"{directory}/other-{level}")
    path.mkdir()
    os.mkfifo(path / "go.fifo")
    (path / "w.json").write_text(json.dumps(workflow))
    process = subprocess.Popen(
        [weft, "run", "w.json", "--containment", level], cwd=path, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while b"up" not in process.stdout.readline():
        if process.poll() is not None:
            sys.exit(f"the other run at level {level} did not begin")
    process.path = path
    return process


def end_of(process):
    """The result of the other run."""
    if process.poll() is None:
        (process.path / "go.fifo").write_text("go\n")
        process.communicate(timeout=60)
    result = process.path / "result"
    return result.read_bytes() if result.exists() else b""


def rows_of(matrix, results):
    """The rows of the table: the result in each, and then what is the same in a whole column."""
    def of(column, row=None):
        return {key[1:]: result for key, result in results.items()
                if key[0] == matrix.name and key[2] == column.name and row in (None, key[1])}

    for row in matrix.rows:
        yield [row.name] + [
            table.cell({key[2]: result.text for key, result in of(column, row.name).items()})
            for column in matrix.columns]
    for note in next(iter(of(matrix.columns[0]).values())).notes:
        yield [note] + [
            " or ".join(sorted({result.notes[note] for result in of(column).values()
                                if note in result.notes}))
            for column in matrix.columns]


def differences(results):
    documented = {matrix.name: table.read(DOCUMENT, matrix) for matrix in MATRICES}
    for (matrix, row, column, level), result in results.items():
        for line, found in {row: result.text, **result.notes}.items():
            wanted = table.promised(documented[matrix].get((line, column), ""), level)
            if found != wanted:
                yield f"{matrix} / {row} / {column} / {level}: {found!r}, documented: {wanted!r}"


def tell_times(results):
    for pace in (AT_ONCE, AFTER_GRACE):
        times = {key: result.seconds for key, result in results.items() if f", {pace}" in result.text}
        if times:
            longest = max(times, key=times.get)
            print(f"{pace}: {len(times)} cells, median {statistics.median(times.values()):.3f} s, "
                  f"longest {times[longest]:.3f} s ({' / '.join(longest)}; the grace is {GRACE} s)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weft")
    parser.add_argument("--write", action="store_true", help=f"write the tables of {DOCUMENT.name}")
    parser.add_argument("--only", default="", metavar="TEXT",
                        help='take the cells that have TEXT in "matrix / row / column / level"')
    options = parser.parse_args()
    found = run_all(os.path.abspath(options.weft), options.only)
    results = {key: result for key, result in found.items() if isinstance(result, table.Result)}
    failed = [f"{' / '.join(key)}: {found[key]}" for key in found if key not in results]
    tell_times(results)
    if options.write and not failed:
        if {key[3] for key in results} != set(LEVELS) or options.only:
            sys.exit("the tables are written from all cells at all levels only")
        for matrix in MATRICES:
            table.write(DOCUMENT, matrix, rows_of(matrix, results))
    failed += differences(results)
    for line in failed:
        print(f"failed: {line}")
    print(f"{len(found)} cells, {len(failed)} differences")
    sys.exit(1 if failed or not found else 0)


if __name__ == "__main__":
    main()
