#!/usr/bin/env python3
"""Makes one system call after another of a run fail, once or from then on, or kills weft there, and checks
`weft resume` against what is recorded.

usage: test_injected.py PATH_TO_WEFT

strace injects the faults, and counts calls by thread. With WEFT_LONG=1 every call fails; without it, a sample of
frequent calls.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 60  # seconds, against hanging only
# The number of places tried for a frequent call.
SOME = 8

# The calls that write the record, and the errors that each may have. An interrupted call is repeated, however often.
CALLS = {
    "write": ["EIO", "ENOSPC", "EDQUOT"], "openat": ["EMFILE", "EIO", "ENOSPC"], "mkdirat": ["ENOSPC", "EROFS"],
    "renameat,renameat2": ["EIO", "ENOSPC"], "fdatasync,fsync": ["EIO"], "ftruncate": ["EIO"],
    "fallocate": ["ENOSPC", "EOPNOTSUPP"], "fcntl": ["EIO", "ENOLCK"], "unlinkat": ["EIO"],
}
INTERRUPTED = ["write", "openat", "fdatasync,fsync"]


def step(name, needs):
    return {"id": name, "needs": needs, "idempotent": True, "run": f"echo {name} >> done"}


def workflow():
    """Twelve steps: in a row, side by side, and joined."""
    steps = [step("a1", []), step("a2", ["a1"]), step("a3", ["a2"]), step("b1", ["a1"]), step("b2", ["b1"]),
             step("c1", ["a1"]), step("c2", ["a1"]), step("c3", ["a1"]), step("d1", ["a3", "b2"]),
             step("d2", ["c1", "c2", "c3"]), step("e1", ["d1", "d2"]), step("e2", ["e1"])]
    return {"parallel": steps}


STEPS = [each["id"] for each in workflow()["parallel"]]


class Run:
    def __init__(self, weft):
        self.weft = weft
        self.directory = tempfile.TemporaryDirectory(prefix="weft-inject-")
        self.path = pathlib.Path(self.directory.name)
        (self.path / "w.json").write_text(json.dumps(workflow()))

    def call(self, *words, through=()):
        return subprocess.run(
            [*through, self.weft, *words], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=LIMIT)

    def traced(self, *options):
        """A run under strace, which sees the calls of weft's threads and of the shells that it starts."""
        return self.call("run", "w.json", "-j2", through=("strace", "-f", "-qq", "-o", "trace", *options))

    def done(self):
        log = self.path / "done"
        return collections.Counter(log.read_text().split() if log.exists() else [])

    def findRecorded(self):
        """The steps whose success is recorded; `None` if there is no run."""
        folders = list((self.path / ".weft/runs").glob("2*")) if (self.path / ".weft/runs").exists() else []
        if not folders:
            return None
        done = set()
        for line in (folders[0] / "journal.jsonl").read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record["type"] == "step.finished" and record["conclusion"] == "success":
                done.add(record["step"])
        return done


    def report_faults(self):
        """Differences between the report and the journal."""
        (folder,) = (self.path / ".weft/runs").glob("2*")
        try:
            report = json.loads((folder / "report.json").read_text())
        except (OSError, ValueError) as error:
            return [f"no report: {error}"]
        ends, last = {}, None
        for line in (folder / "journal.jsonl").read_text().splitlines():
            record = json.loads(line)
            if record["type"] in ("step.finished", "step.restored"):
                ends[record["step"]] = record["outcome"]
            elif record["type"] == "run.finished":
                last = record
        if {s["step"]: s.get("outcome") for s in report["states"]} != ends:
            return [f"the report is not that of the journal: {report}, {ends}"]
        if last is None or any(report["end"][key] != last[key] for key in ("counts", "outcome", "durationUs")):
            return [f"the report is not that of the journal: {report}, {last}"]
        return []


def count_of(weft, call):
    """The number of these calls in an undisturbed run."""
    run = Run(weft)
    assert run.traced("-e", f"trace={call}").returncode == 0
    return len(re.findall(r"^\d+ +\w+\(", (run.path / "trace").read_text(), re.M))


def places(count):
    if os.environ.get("WEFT_LONG") == "1" or count <= SOME:
        return range(1, count + 1)
    return sorted({1 + index * (count - 1) // (SOME - 1) for index in range(SOME)})


def trial(weft, call, error, when):
    """The error found; empty if there is none, and `None` if the fault came before weft itself."""
    run = Run(weft)
    name = f"{call} {error} when={when}"
    fault = "signal=KILL" if error == "KILL" else f"error={error}"
    result = run.traced("-e", f"trace={call},write", "-e", f"inject={call}:{fault}:when={when}")
    if "while loading shared libraries" in result.stderr:
        return None
    killed = error == "KILL" and result.returncode in (137, -9)
    if not killed and result.returncode not in (0, 1, 2, 4):
        return f"{name}: exit {result.returncode}: {result.stderr[-500:]}"
    trace = (run.path / "trace").read_text()
    said = result.stderr or "failed" in result.stdout
    if not killed and result.returncode != 0 and not said and not re.search(r" write\([12], .*INJECTED", trace):
        return f"{name}: exit {result.returncode} without a word"
    recorded, before = run.findRecorded(), run.done()
    if recorded is None:
        # A run killed between two names of its folder has not begun.
        return f"{name}: steps were done without a record: {before}" if before and result.returncode != 0 else ""
    if lost := recorded - set(before):
        return f"{name}: recorded and not done: {lost}"
    after = run.call("resume")
    if after.returncode != 0:
        return f"{name}: resume exits {after.returncode}: {after.stderr[-500:]}"
    if repeated := [s for s in recorded if run.done()[s] != before[s]]:
        return f"{name}: recorded as done, and done again: {repeated}"
    if missing := [s for s in STEPS if not run.done()[s]]:
        return f"{name}: not done after all: {missing}"
    return "".join(f"{name}: {fault}" for fault in run.report_faults())


def main():
    weft = os.path.abspath(sys.argv[1])
    if not shutil.which("strace"):
        print("no strace here")
        return 1
    trials = []
    for call, errors in CALLS.items():
        count = count_of(weft, call)
        for error in errors:
            trials += [(call, error, f"{n}{more}") for n in places(count) for more in ("", "+")]
        trials += [(call, "KILL", f"{n}") for n in places(count)]
        if call in INTERRUPTED:
            trials += [(call, "EINTR", f"{n}") for n in places(count)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = [result for result in pool.map(lambda t: trial(weft, *t), trials) if result is not None]
    faults = [fault for fault in results if fault]
    for fault in faults:
        print(f"FAIL  {fault}")
    print(f"{len(results)} faults injected into a run of {len(STEPS)} steps, {len(faults)} broke a promise")
    return 1 if faults or len(results) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
