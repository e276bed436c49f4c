#!/usr/bin/env python3
"""Checks which processes `weft reap` and the cleanup before a resume terminate, and which they must spare.

usage: test_reaping.py PATH_TO_WEFT
"""

import contextlib
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys

from lib import cases
from lib.kill_matrix.neighbours import NOBODY, alive, environment_of, tree
from lib.place import LIMIT, Place

PR_SET_CHILD_SUBREAPER = 36
LEVELS = ("subreaper", "group+cookie") + (("cgroup",) if tree() else ())


class Killed(Place):
    """A run whose weft was killed while a step of it was running: `pids` of the step are in a file."""

    def __init__(self, weft, level="auto", script="echo $$ >pid; sleep 1000", **keys):
        super().__init__(weft, {"steps": [dict(keys, id="a", run=script)]})
        self.level = level
        process = self.start("run", "w.json", "--containment", level)
        self.until(lambda: self.read("pid").endswith("\n"))
        self.process = int(self.read("pid"))
        self.run_id = self.folder.name
        process.kill()
        process.wait(timeout=LIMIT)

    def read(self, name):
        path = self.path / name
        return path.read_text() if path.exists() else ""

    def end(self):
        """Kills anything that a failing test would leave behind."""
        self.call("reap", self.run_id)


def sleeper(prepare=lambda: None, environment=None):
    """A process unrelated to weft, in a session of its own."""
    def child():
        os.setsid()
        prepare()
    return subprocess.Popen(["/bin/sleep", "1000"], preexec_fn=child, env=environment or {"PATH": "/bin"})


def gone(process):
    process.kill()
    process.wait(timeout=LIMIT)


def exit_codes(weft):
    place = Place(weft, {"steps": ["true"]})
    result = place.call("reap", "20")
    assert result.returncode == 2 and "no run is recorded" in result.stderr, result
    assert place.run().returncode == 0
    run = place.folder.name
    for words in ([run], [run[:15]], []):
        result = place.call("reap", *words)
        said = f"run {run}: nothing left to end\n" if words else "nothing left to end\n"
        assert (result.returncode, result.stdout, result.stderr) == (0, said, ""), result
    result = place.call("reap", "2000")
    assert result.returncode == 2 and 'no run "2000" is recorded' in result.stderr, result
    # A weft that is alive is left alone.
    os.mkfifo(place.path / "go.fifo")
    place.write({"steps": ["read line <go.fifo"]})
    live = place.start("run", "w.json")
    runs = lambda: {path.name for path in (place.path / ".weft/runs").glob("2*")}
    place.until(lambda: len(runs()) == 2)
    (other,) = runs() - {run}
    result = place.call("reap", other)
    assert result.returncode == 4 and f"run {other} is still running" in result.stderr, result
    assert place.call("reap").returncode == 0
    (place.path / "go.fifo").write_text("go\n")
    assert live.wait(timeout=LIMIT) == 0


def each_once(weft):
    for level in LEVELS:
        place = Killed(weft, level, "echo $$ >pid; sh -c 'sleep 1000 & sleep 1000' & sleep 1000")
        result = place.call("reap", place.run_id)
        assert result.returncode == 0 and not result.stderr, (level, result)
        ended = re.findall(r"(\d+) \(", result.stdout)
        assert len(ended) == len(set(ended)) and str(place.process) in ended, (level, result)


def only_recorded(weft):
    for level in LEVELS:
        place, other = Killed(weft, level), Place(weft, {"steps": ["true"]})
        try:
            result = other.call("reap")
            assert result.returncode == 0 and alive(place.process), (level, result)
            said = f'run {place.run_id} is not recorded in ".weft", so it is left alone: '
            assert said in result.stdout and f"{place.process} (" in result.stdout, (level, result)
            result = other.call("reap", place.run_id)
            assert result.returncode == 2 and alive(place.process), (level, result)
            result = other.call("reap", "--state-dir", str(place.path / ".weft"))
            assert result.returncode == 0 and not alive(place.process), (level, result)
        finally:
            place.end()


def foreign_groups(weft):
    group = tree()
    if not group:
        return "skipped: no cgroup v2 that can be written"
    full, empty = (group / f"weft-{name}{os.getpid()}.service" for name in ("nightly", "empty"))
    full.mkdir()
    empty.mkdir()
    other = sleeper(lambda: (full / "cgroup.procs").write_text("0"))
    place = Killed(weft, "cgroup")
    try:
        result = place.call("reap")
        assert result.returncode == 0 and not alive(place.process), result
        assert "service" not in result.stdout and other.poll() is None, result
        result = place.resume()
        assert empty.exists() and full.exists() and other.poll() is None, result
    finally:
        place.end()
        gone(other)
        for group in (full, empty):
            with contextlib.suppress(FileNotFoundError):
                group.rmdir()


def forged_environments(weft):
    """Environments that might be forged; only the run's own processes and its record know the cookie."""
    for level in LEVELS:
        place = Killed(weft, level)
        true = environment_of(place.process)
        others = []
        try:
            engine, cookie = true[b"WEFT_ENGINE"].rsplit(b".", 1)
            pid = engine.split(b".", 1)
            claims = {
                "without the cookie": {b"WEFT_ENGINE": engine}, "with another cookie": {b"WEFT_ENGINE": engine + b"." + b"0" * 32},
                "of another engine": {b"WEFT_ENGINE": b"99999." + pid[1] + b"." + cookie},
                "of another run": {b"WEFT_RUN_ID": b"20000101-000000-abcdef"},
                "of no run": {b"WEFT_RUN_ID": b"zzzz"},
            }
            for name, claim in claims.items():
                others.append((name, sleeper(environment={**true, **claim})))
            if os.geteuid() == 0:
                others.append(("of another user", sleeper(lambda: os.setuid(NOBODY), environment=true)))
            result = place.call("reap", place.run_id)
            assert result.returncode == 0 and not alive(place.process), (level, result)
            ended = [name for name, process in others if process.poll() is not None]
            assert not ended, (level, ended)
        finally:
            place.end()
            for _, process in others:
                gone(process)


def foreign_sessions(weft):
    """A daemon that runs a job with the environment of the step that asked for it, and a different job."""
    for level in LEVELS:
        place = Killed(weft, level)
        script = "sleep 1000 & echo $! >>jobs; read line <ask; env - $(cat environment) sleep 1000 & echo $! >>jobs; wait"
        os.mkfifo(place.path / "ask")
        true = environment_of(place.process)
        (place.path / "environment").write_bytes(b" ".join(
            name + b"=" + true[name] for name in (b"PATH", b"WEFT_RUN_ID", b"WEFT_ENGINE", b"WEFT_STEP", b"WEFT_ATTEMPT")))
        daemon = subprocess.Popen(["sh", "-c", script], cwd=place.path, start_new_session=True)
        try:
            (place.path / "ask").write_text("go\n")
            place.until(lambda: len(place.read("jobs").split()) == 2)
            result = place.call("reap", place.run_id)
            own, _ = map(int, place.read("jobs").split())
            assert result.returncode == 0 and not alive(place.process), (level, result)
            assert daemon.poll() is None and alive(own), (level, result)
        finally:
            place.end()
            os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait(timeout=LIMIT)


def kept(weft):
    workflow = {"steps": [
        {"id": "serve", "leftovers": "keep", "run": "sleep 1000 >&- 2>&- & echo $! >pid; setsid sleep 1000 >&- 2>&- & echo $! >>pid"},
        {"id": "test", "run": "exit 1"}]}
    for level in LEVELS:
        place = Place(weft, workflow)
        assert place.run("--containment", level).returncode == 1
        pids = [int(pid) for pid in (place.path / "pid").read_text().split()]
        try:
            run = place.folder.name
            for words, code in [(["resume", "--containment", level], 1), (["reap", run], 0), (["reap"], 0),
                                (["resume", run, "--containment", level], 1)]:
                result = place.call(*words)
                assert result.returncode == code, (level, result)
                assert all(map(alive, pids)), (level, words, result)
                assert "ended" not in result.stdout + result.stderr.replace("ended with", ""), (level, result)
            # Run again, it leaves a further process, which is kept as well; the first one must not be killed.
            result = place.call("resume", run, "--rerun", "serve", "--containment", level)
            pids += [int(pid) for pid in (place.path / "pid").read_text().split()]
            assert place.call("reap", run).returncode == 0 and all(map(alive, pids)), (level, result)
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)


def kept_and_not(weft):
    """Processes kept by one attempt do not spare those of a different one that was under way."""
    for level in LEVELS:
        place = Place(weft, {"steps": [
            {"id": "serve", "leftovers": "keep", "run": "sleep 1000 >&- 2>&- & echo $! >pid.serve"},
            {"id": "again", "leftovers": "keep", "run": "sleep 1000 & echo $! >pid.again; sleep 1000"}]})
        process = place.start("run", "w.json", "--containment", level)
        read = lambda name: (place.path / name).read_text() if (place.path / name).exists() else ""
        place.until(lambda: read("pid.again").endswith("\n"))
        process.kill()
        process.wait(timeout=LIMIT)
        serve, again = int(read("pid.serve")), int(read("pid.again"))
        try:
            result = place.call("reap", place.folder.name)
            assert result.returncode == 0 and alive(serve) and not alive(again), (level, result)
        finally:
            os.kill(serve, signal.SIGKILL)


def earlier_children(weft):
    """A shell has started a daemon before it became weft; the daemon's orphans become children of weft, too."""
    place = Place(weft, {"steps": ["read line <go.fifo"]})
    os.mkfifo(place.path / "go.fifo")
    daemon = "setsid sh -c 'exec >&- 2>&-; sleep 1000 & echo $! >pid; read line <late.fifo; setsid sleep 1000 & echo $! >>pid' &"
    os.mkfifo(place.path / "late.fifo")
    process = subprocess.Popen(
        ["sh", "-c", f'{daemon} exec "$0" run w.json --containment subreaper', weft], cwd=place.path,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pids = lambda: (place.path / "pid").read_text().split() if (place.path / "pid").exists() else []
    place.until(lambda: len(pids()) == 1 and any(
        "step.spawned" in journal.read_text() for journal in place.path.glob(".weft/runs/2*/journal.jsonl")))
    (place.path / "late.fifo").write_text("go\n")
    place.until(lambda: len(pids()) == 2)
    (place.path / "go.fifo").write_text("go\n")
    out, err = process.communicate(timeout=LIMIT)
    try:
        assert process.returncode == 0 and all(alive(int(pid)) for pid in pids()), (out, err)
        assert "ended" not in out + err, (out, err)
    finally:
        for pid in pids():
            os.kill(int(pid), signal.SIGKILL)


@contextlib.contextmanager
def adopting_orphans():
    """This process acts as init for the orphans of its children, like a service manager or a shell of a container."""
    adopt = lambda on: ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0)
    assert adopt(1) == 0, "the kernel has no subreapers"
    try:
        yield
    finally:
        adopt(0)


def collected(pid):
    """Whether a process has ended; having adopted it, this process has to collect its status."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return not alive(pid)


def subreaper_above(weft):
    """Orphans do not go to init, and have the same parent as processes that must not be killed."""
    orphan = "setsid sh -c 'echo $$ >orphan; exec sleep 1000' >&- 2>&- <&- & until [ -s orphan ]; do :; done; "
    with adopting_orphans():
        # A child, and an orphan of a different child.
        child = sleeper()
        made = subprocess.run(
            ["sh", "-c", "setsid sleep 1000 >&- 2>&- & echo $!"], capture_output=True, text=True, check=True)
        adopted = int(made.stdout)
        others = lambda: child.poll() is None and not collected(adopted)
        try:
            for level in LEVELS:
                place = Place(weft, {"steps": [orphan + "true", "true"]})
                result = place.run("--containment", level)
                assert result.returncode == 0 and others(), (level, result)
                left = int((place.path / "orphan").read_text())
                place.until(lambda: collected(left))
                place = Killed(weft, level, orphan + "echo $$ >pid; sleep 1000")
                left = int(place.read("orphan"))
                parent = re.search(r"^PPid:\s+(\d+)", pathlib.Path(f"/proc/{place.process}/status").read_text(), re.M)
                assert int(parent[1]) == os.getpid(), "its parent is not the subreaper"
                result = place.call("reap", place.run_id)
                assert result.returncode == 0 and others(), (level, result)
                for pid in (left, place.process):
                    place.until(lambda: collected(pid))
        finally:
            gone(child)
            os.kill(adopted, signal.SIGKILL)
            os.waitpid(adopted, 0)


def detached(weft):
    """The shell has exited by the time that the server creates its session."""
    server = "sh -c 'echo $$ >pid; exec sleep 1000' >&- 2>&- <&-"
    for start in (f"setsid -f {server}", f"setsid {server} &"):
        for level in LEVELS:
            for _ in range(10):
                place = Place(weft, {"steps": [
                    start, {"run": "until [ -s pid ]; do :; done; kill -0 $(cat pid)", "timeout": "5s"}]})
                result = place.run("--containment", level, "--record", "none")
                assert result.returncode == 0, (start, level, result)
                assert not alive(int((place.path / "pid").read_text())), "it outlives the run"


CASES = [
    ("X44: nothing left to end is 0, an unknown run 2, a weft that is alive 4", exit_codes),
    ("X45: each process is named once", each_once),
    ("X07, X08: runs that are not recorded here are listed, and left alone", only_recorded),
    ("X07: control groups of others are left alone, whatever they are called", foreign_groups),
    ("X08: what an environment claims without the run's cookie, or as another user, ends nothing", forged_environments),
    ("X08: a daemon that did a job for a step goes on, and so do its other jobs", foreign_sessions),
    ("X16: what a step keeps survives resume and reap", kept),
    ("X16: what an interrupted step has started does not, beside what another keeps", kept_and_not),
    ("X74: a server with a session of its own is there for the next step, each time", detached),
    ("X08: below a subreaper, orphans of steps are ended, and what else it has adopted is not", subreaper_above),
    ("X81: orphans of a process that was there before weft are not leftovers", earlier_children),
]

if __name__ == "__main__":
    sys.exit(cases.run(__doc__, CASES))
