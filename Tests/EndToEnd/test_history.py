#!/usr/bin/env python3
"""Checks weft runs, show, logs and clean from outside: with live runs, killed ones and damaged ones, and with two
terminals on one run.

usage: test_history.py PATH_TO_WEFT        (needs pyte)
"""

import contextlib
import csv
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import cases
from lib.place import LIMIT, Place, crc32c
from lib.screen import Screen

HELD = {"steps": [{"id": "a", "run": "echo one; cat go.fifo; echo two"}, {"id": "b", "run": "exit 3"}]}


class Runs(Place):
    """A directory with runs, and what weft reports about them."""

    def __init__(self, weft, workflow={"steps": [{"id": "a", "run": "echo hello"}]}):
        super().__init__(weft, workflow)
        os.mkfifo(self.path / "go.fifo")

    def ids(self, *arguments):
        return [run["run"] for run in self.listed(*arguments)]

    def listed(self, *arguments):
        result = self.call("runs", "--format", "json", *arguments)
        assert result.returncode == 0, result
        return json.loads(result.stdout)["runs"]

    def states(self):
        return [run["state"] for run in self.listed()]

    def shown(self, *arguments):
        result = self.call("show", "--format", "json", *arguments)
        assert result.returncode in (0, 4), result
        return json.loads(result.stdout)

    def folder_of(self, run):
        return self.path / ".weft/runs" / run

    def begin(self, *arguments, until="one"):
        """Starts a run that continues until its FIFO is opened."""
        known = set(self.ids())
        process = self.start("run", "w.json", *arguments)
        self.until(lambda: set(self.ids()) - known)
        (run,) = set(self.ids()) - known
        self.until(lambda: any((self.folder_of(run) / "logs").glob("*.log")))
        return process, run

    def go(self):
        # Its reader may not have opened it yet, or may never do so.
        def writer():
            with contextlib.suppress(OSError):
                return os.open(self.path / "go.fifo", os.O_WRONLY | os.O_NONBLOCK)

        descriptor = []
        self.until(lambda: descriptor.append(writer()) or descriptor[-1] is not None)
        os.close(descriptor[-1])

    def stream(self, *arguments, **options):
        return subprocess.Popen(
            [self.weft, *arguments], cwd=self.path, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def killed(runs, process, run):
    process.kill()
    process.wait(timeout=LIMIT)
    runs.call("reap", run)


def mixed(weft):
    """Runs of every kind: the newest is alive."""
    runs = Runs(weft)
    runs.run()
    runs.write({"name": "second, \"best\"", "steps": [{"id": "b", "run": "exit 3"}]})
    runs.run()
    runs.write(HELD)
    process, run = runs.begin()
    process.terminate()
    process.wait(timeout=LIMIT)
    process, run = runs.begin()
    killed(runs, process, run)
    runs.process, runs.live = runs.begin()
    return runs


def all_states(weft):
    runs = mixed(weft)
    assert runs.states() == ["running", "interrupted", "cancelled", "failure", "success"], runs.listed()
    for words, expected in [
        (["--state", "success"], ["success"]),
        (["--state", "failure", "--state", "running"], ["running", "failure"]),
        (["--limit", "2"], ["running", "interrupted"]), (["--file", "second, \"best\""], ["failure"]),
        (["--file", "w.json", "--state", "success"], ["success"]), (["--file", "x.json"], []),
        (["--since", "1h", "--limit", "1"], ["running"]), (["--since", "2200-01-01"], []),
        (["--until", "2200-01-01", "--limit", "1"], ["running"]), (["--until", "1h"], []),
        (["--until", "2020-01-01"], []), (["--since", "1h", "--until", "1ms", "--limit", "1"], ["running"]),
    ]:
        assert [run["state"] for run in runs.listed(*words)] == expected, (words, runs.listed(*words))
    rows = list(csv.DictReader(io.StringIO(runs.call("runs", "--format", "csv").stdout, newline="")))
    assert [row["state"] for row in rows] == runs.states() and rows[3]["workflow"] == 'second, "best"'
    assert rows[3]["failed"] == "1" and int(rows[3]["durationUs"]) > 0, rows
    table = runs.call("runs").stdout.splitlines()
    assert table[0].split()[0] == "RUN" and table[1].split()[0] == runs.live, table
    runs.go()
    runs.process.wait(timeout=LIMIT)
    assert runs.states()[0] == "failure"


def damaged(weft):
    runs = Runs(weft)
    for _ in range(6):
        runs.run()
    good, *bad = runs.ids()
    folders = [runs.folder_of(run) for run in bad]
    (folders[0] / "journal.jsonl").write_text("nonsense\x1b[2J\n")
    (folders[1] / "journal.jsonl").unlink()
    journal = (folders[2] / "journal.jsonl").read_bytes()
    (folders[2] / "journal.jsonl").write_bytes(b"\x01" + journal[1:])
    shutil.rmtree(folders[3])
    folders[3].symlink_to("/")
    shutil.rmtree(folders[4])
    folders[4].write_text("a file")
    assert set(runs.ids()) == {good, *bad}
    assert sorted(runs.states()) == ["damaged"] * 5 + ["success"], runs.listed()
    assert all(run["damage"] for run in runs.listed("--state", "damaged"))
    assert "\x1b" not in runs.call("runs").stdout
    assert runs.call("logs", good, "a").stdout == "hello\n"
    for run in bad:
        result = runs.call("show", run)
        assert result.returncode == 4 and "\x1b" not in result.stdout + result.stderr, result
    result = runs.resume(good)
    assert result.returncode == 0, result
    result = runs.call("clean", "--keep", "0", "--unfinished")
    assert sorted(runs.ids()) == sorted(bad), result


def many(weft):
    runs = Runs(weft, {"steps": [{"id": f"s{number}", "run": "true"} for number in range(20)]})
    runs.run()
    (first,) = runs.ids()
    journal = (runs.folder_of(first) / "journal.jsonl").read_text().splitlines()
    opening, begin, *others = journal
    for number in range(999):
        run = f"2020{number // 30 % 12 + 1:02}{number % 28 + 1:02}-000000-{number:06x}"
        (runs.folder_of(run) / "logs").mkdir(parents=True, mode=0o700)
        lines = [recast(line, first, run) for line in (opening, begin)] + others
        # Every tenth has no recorded end.
        if number % 10 == 0:
            lines.pop()
        (runs.folder_of(run) / "journal.jsonl").write_text("\n".join(lines) + "\n")
    began = time.monotonic()
    result = runs.call("runs")
    took = time.monotonic() - began
    assert len(result.stdout.splitlines()) == 1001, result
    states = runs.states()
    assert states.count("success") == 900 and states.count("interrupted") == 100, states
    return f"1,000 in {took * 1000:.0f} ms"


def recast(line, run, other):
    """The line of a different run, with its checksum."""
    body = line[:-len(',"crc":"00000000"}')].replace(run, other)
    return f'{body},"crc":"{crc32c(body.encode()):08x}"}}'


def details(weft):
    runs = Runs(weft, {
        "inputs": {"pin": {"secret": True, "default": "canary"}},
        "steps": [
            {"id": "a", "run": "echo $PIN", "env": {"PIN": "${{ inputs.pin }}"},
             "outputs": {"word": "${{ self.stdout }}", "plain": "${{ format('x') }}"}},
            {"id": "b", "run": "echo why; exit 3", "needs": ["a"], "retry": {"max": 1, "delay": "1ms"}},
            {"id": "c", "run": "true", "needs": ["b"]}]})
    assert runs.run().returncode == 1
    text = runs.call("show").stdout
    run = runs.ids()[0]
    for part in [
        f"run {run}: failure", "word: *** (secret)", "plain: x", "b: failed after", "(attempt 2)",
        f"log: .weft/runs/{run}/logs/b.log", 'c: skipped because "b" failed',
        f'next: "weft resume {run}" continues it: "b", "c"',
    ]:
        assert part in text, (part, text)
    shown = runs.shown(run[:20])
    assert "canary" not in text + json.dumps(shown)
    assert shown["resume"] == {"again": ["b", "c"], "inDoubt": [], "unmentioned": 0}, shown
    assert shown["steps"][0]["secretOutputs"] == ["word"] and shown["steps"][1]["exit"] == {"code": 3}
    runs.run()
    for words, told in [(["2"], "several runs"), (["1999"], 'no run "1999" is recorded'), ([""], "is recorded")]:
        result = runs.call("show", *words)
        assert result.returncode == 2 and told in result.stderr, result
    result = Runs(weft).call("show")
    assert result.returncode == 2 and "no run is recorded" in result.stderr, result


def plain(text):
    """The output, without times and without the order of concurrent events."""
    return sorted(re.sub(r"\b\d+(\.\d+)? m?s\b", "TIME", line) for line in text.splitlines())


FOLLOWED = {"steps": [
    {"id": "a", "run": "echo one; cat go.fifo; echo two; printf end"},
    {"id": "b", "needs": [], "run": "echo try; exit 1", "retry": {"max": 1, "delay": "1ms"},
     "allowFailure": True},
    {"id": "e", "needs": [], "forEach": {"in": ["x", "y"], "as": "w"}, "run": "echo ${{ w }} >&2"},
    {"id": "c", "run": "exit 3", "needs": ["a"]}, {"id": "d", "run": "true", "needs": ["c"]}]}


def follow_plain(weft):
    runs = Runs(weft, FOLLOWED)
    own = runs.stream("run", "w.json")
    runs.until(lambda: runs.ids())
    other = runs.stream("show", "-f")
    said = b""
    while b"[a] one\n" not in said:
        said += other.stdout.read1()
    runs.go()
    rest, errors = other.communicate(timeout=LIMIT)
    whole, faults = own.communicate(timeout=LIMIT)
    assert own.returncode == other.returncode == 1
    assert plain((said + rest).decode()) == plain(whole.decode()), (said + rest, whole)
    assert plain(errors.decode()) == plain(faults.decode()), (errors, faults)
    # It can be followed again when it has ended.
    result = runs.call("show", "--follow")
    assert result.returncode == 1 and plain(result.stdout) == plain(whole.decode()), result


def follow_on_a_terminal(weft):
    own = Screen(weft, {"steps": [HELD["steps"][0], {"id": "b", "run": "seq 100; exit 3"}]}, rows=30)
    other = None
    try:
        own.wait_for("a", "one", "0/2")
        other = Screen(weft, None, command=("show", "-f"), beside=own, rows=30)
        other.wait_for("a", "one", "0/2")
        assert other.text() == own.text(), f"{other.text()}\n{own.text()}"
        own.release("go.fifo")
        assert own.status() == other.status() == 1
        assert other.text() == own.text(), f"{other.text()}\n{own.text()}"
        run = os.listdir(f"{own.path}/.weft/runs")[0]
        assert f"output:  weft logs {run} b" in other.text().replace("RUN", run), other.text()
    finally:
        own.close()
        if other:
            other.close()


def follow_killed(weft):
    runs = Runs(weft, HELD)
    process, run = runs.begin()
    followers = [runs.stream("show", "-f"), runs.stream("logs", "-f", "a"), runs.stream("logs", "-f")]
    for follower in followers:
        assert follower.stdout.read(1)
    process.kill()
    process.wait(timeout=LIMIT)
    for follower in followers:
        _, errors = follower.communicate(timeout=LIMIT)
        assert follower.returncode == 4, (follower.args, errors)
        assert f"the weft of run {run} is gone" in errors.decode(), errors
    assert runs.states() == ["interrupted"]
    runs.call("reap", run)
    assert runs.shown()["resume"]["inDoubt"] == ["a"]


def follow_resumed(weft):
    runs = Runs(weft, dict(HELD, steps=[
        {"id": "first", "run": "echo first"}, dict(HELD["steps"][0], idempotent=True, needs=["first"])]))
    process, run = runs.begin()
    log = runs.folder_of(run) / "logs" / "a.log"
    runs.until(lambda: log.exists() and log.stat().st_size > 0)
    process.kill()
    process.wait(timeout=LIMIT)
    again = runs.start("resume")
    runs.until(lambda: runs.shown()["resumptions"] == 1)
    other = runs.stream("show", "-f")
    runs.go()
    said, errors = other.communicate(timeout=LIMIT)
    assert again.wait(timeout=LIMIT) == other.returncode == 0, (said, errors)
    said = said.decode()
    assert "[first]" not in said and "[a] two\n" in said and "(1 in an earlier part)" in said, said
    assert said.count("weft: [a] started") == 1, said
    detail = runs.shown()
    assert detail["state"] == "success" and detail["resumptions"] == 1
    # The log has what both engines have let it write.
    assert runs.call("logs", "a").stdout == "one\none\ntwo\n"


def logs(weft):
    runs = Runs(weft, {"steps": [
        {"id": "raw", "run": r"printf '\000\377one\r\n\033[31mtwo'; echo three >&2"},
        {"id": "e", "forEach": {"in": ["x", "y z"], "as": "w", "key": "${{ w }}"}, "run": "echo got ${{ w }}"},
        {"id": "g", "steps": [{"id": "in", "run": "echo inner"}, "echo unnamed"]},
        {"id": "n", "workflow": "parts.json"},
        {"id": "silent", "run": "true"}, {"id": "off", "if": "false", "run": "echo off"},
        {"id": "cut", "run": "yes | head -c 5000", "logLimit": "1KB"}]})
    (runs.path / "parts.json").write_text('{"steps": [{"id": "part", "run": "echo part"}]}')
    runs.stream("run", "w.json").communicate(timeout=LIMIT)
    run = runs.ids()[0]
    raw = runs.stream("logs", "raw").communicate(timeout=LIMIT)[0]
    assert raw == b"\0\xffone\r\nthree\n\x1b[31mtwo", raw
    for words, out in [
        (["e[x]"], "got x\n"), (["e[y z]"], "got y z\n"), ([run, "e"], "[e[x]] got x\n[e[y z]] got y z\n"),
        (["in"], "inner\n"), (["g"], "[in] inner\n[g.2] unnamed\n"), (["n/part"], "part\n"),
        (["n"], "[n/part] part\n"), ([run[:15], "in", "n"], "[in] inner\n[n/part] part\n"),
        (["silent"], ""), (["off"], ""),
    ]:
        result = runs.call("logs", *words)
        assert (result.returncode, sorted(result.stdout.splitlines())) == (0, sorted(out.splitlines())), (
            words, result)
    assert "wrote nothing" in runs.call("logs", "silent").stderr
    assert "it was skipped" in runs.call("logs", "off").stderr
    result = runs.call("logs", "cut")
    assert "log truncated at" in result.stdout and "was truncated" in result.stderr, result
    result = runs.call("logs", "silend")
    assert result.returncode == 2 and 'did you mean "silent"?' in result.stderr, result
    everything = runs.stream("logs").communicate(timeout=LIMIT)[0]
    assert b"[raw] \0\xffone\n" in everything and b"[n/part] part\n" in everything, everything
    (runs.folder_of(run) / "logs/in.log").unlink()
    (runs.folder_of(run) / "logs/raw.log").write_bytes(b"x")
    for step in ["in", "raw"]:
        result = runs.call("logs", step)
        assert result.returncode == 4 and "is incomplete" in result.stderr, result


def closed_readers(weft):
    runs = Runs(weft, {"steps": [{"id": "a", "run": "yes | head -c 3000000"}]})
    runs.run()
    for words in ["logs a", "logs", "show", "runs", "logs -f a", "show -f"]:
        result = subprocess.run(
            ["bash", "-c", f'"$0" {words} 2>err | head -n 1; echo "${{PIPESTATUS[0]}}"', runs.weft],
            cwd=runs.path, capture_output=True, text=True, timeout=LIMIT)
        assert result.stdout.splitlines()[-1] == "0", (words, result)
        assert not (runs.path / "err").read_text(), words


def logs_followed(weft):
    runs = Runs(weft, HELD)
    process, run = runs.begin()
    one = runs.stream("logs", "a", "-f")
    all_ = runs.stream("logs", "-f")
    waiting = runs.stream("logs", "-f", "b")
    assert one.stdout.read(4) == b"one\n"
    runs.go()
    assert one.communicate(timeout=LIMIT)[0] == b"two\n" and one.returncode == 0
    assert all_.communicate(timeout=LIMIT)[0] == b"[a] one\n[a] two\n" and all_.returncode == 0
    assert waiting.communicate(timeout=LIMIT)[0] == b"" and waiting.returncode == 0
    assert process.wait(timeout=LIMIT) == 1


def logs_of_attempts_followed(weft):
    """a followed step of a retried group is followed through all attempts of the group, and through no further step"""
    again = "echo one; sleep 0.3; test -e ok || { touch ok; exit 1; }; echo good"
    retried = {"retry": {"max": 1, "delay": "300ms", "jitter": "none"}}
    last = {"id": "last", "run": "cat go.fifo"}
    for name, group in (("w", {"id": "g", "steps": [{"id": "w", "run": again}], **retried}),
                        ("l[0].w", {"id": "l", "forEach": [1], "steps": [{"id": "w", "run": again}], **retried})):
        runs = Runs(weft, {"steps": [group, last]})
        process, _ = runs.begin()
        assert runs.stream("logs", "-f", name).communicate(timeout=LIMIT)[0] == b"one\none\ngood\n", name
        runs.go()
        assert process.wait(timeout=LIMIT) == 0


def cleaning(weft):
    runs = Runs(weft)
    for _ in range(4):
        runs.run()
    runs.write(HELD)
    process, stopped = runs.begin()
    killed(runs, process, stopped)
    process, live = runs.begin()
    before = runs.ids()
    strangers = runs.path / ".weft/runs/20990101-000000-000000"
    strangers.symlink_to(runs.path)
    other = runs.path / ".weft/runs/notes"
    other.mkdir()
    dry = runs.call("clean", "--keep", "3", "--dry-run")
    # The link counts as the newest.
    assert dry.stdout.count("would remove 2") == 4 and runs.ids()[1:] == before, dry
    assert f"would remove {before[-1]}" in dry.stdout.splitlines()[0]
    result = runs.call("clean", "--keep", "3")
    assert result.returncode == 0 and "removed 4 runs, " in result.stdout, result
    assert "is a symbolic link" in result.stderr
    assert runs.ids()[1:] == [live, stopped], runs.ids()
    result = runs.call("clean", "--keep", "0")
    assert "kept 1 run that could still be resumed" in result.stdout, result
    assert runs.ids()[1:] == [live, stopped] and other.exists() and strangers.is_symlink()
    result = runs.call("clean", "--older-than", "0s", "--unfinished")
    assert runs.ids()[1:] == [live], result
    runs.go()
    process.wait(timeout=LIMIT)
    assert (runs.path / "w.json").exists()
    assert runs.call("clean", "--keep", "0").returncode == 0 and runs.ids()[1:] == []


def kept_after_runs(weft):
    runs = Runs(weft)
    runs.write(HELD)
    process, stopped = runs.begin()
    killed(runs, process, stopped)
    runs.write({"steps": ["true"]})
    for _ in range(4):
        assert runs.run("--keep", "2").returncode == 0
    newest = runs.ids()
    assert len(newest) == 3 and newest[-1] == stopped, newest
    # By a clock that was set back it is the oldest; it is kept anyway.
    os.rename(runs.folder_of(newest[0]), runs.folder_of("20990101-000000-aaaaaa"))
    os.rename(runs.folder_of(newest[1]), runs.folder_of("20990101-000000-bbbbbb"))
    assert runs.run("--keep", "2").returncode == 0
    assert len(runs.ids()) == 4
    # A record that cannot be removed is not a failure of the run.
    result = runs.run("--keep", "1")
    assert result.returncode == 0 and "error" not in result.stderr, result


def cleaning_the_living(weft):
    """Without its record a process of a killed run could not be found any more."""
    runs = Runs(weft, {"steps": [{"id": "a", "run": "echo one; read line <go.fifo"}]})
    process, run = runs.begin()
    process.kill()
    process.wait()
    result = runs.call("clean", "--keep", "0", "--unfinished")
    assert result.returncode == 4 and runs.ids() == [run], result
    assert "are still running" in result.stderr and f"weft reap {run}" in result.stderr, result.stderr
    other, second = runs.begin()
    other.kill()
    other.wait()
    idle, third = runs.begin()
    idle.kill()
    idle.wait()
    assert runs.call("reap", third).returncode == 0
    result = runs.call("clean", "--keep", "0", "--unfinished")
    assert result.returncode == 4 and set(runs.ids()) == {run, second}, result
    assert f"weft reap {run}" in result.stderr and f"weft reap {second}" in result.stderr, result.stderr
    for left in run, second:
        assert runs.call("reap", left).returncode == 0
    assert runs.call("clean", "--keep", "0", "--unfinished").returncode == 0 and runs.ids() == []


def waiting(weft):
    runs = Runs(weft, {"steps": [
        {"id": "a", "run": "cat go.fifo; echo before"}, {"id": "ok", "approve": "go on?"}]})
    own = runs.start("run", "w.json")
    runs.until(runs.ids)
    follower = runs.stream("show", "-f")
    logs_ = runs.stream("logs", "-f")
    runs.go()
    assert own.wait(timeout=LIMIT) == 75
    said, errors = follower.communicate(timeout=LIMIT)
    assert follower.returncode == 75 and b"go on?" in said + errors, (said, errors)
    assert logs_.communicate(timeout=LIMIT)[0] == b"[a] before\n" and logs_.returncode == 0
    assert runs.states() == ["waiting"] == [run["state"] for run in runs.listed("--state", "waiting")]
    assert "could still be resumed" in runs.call("clean", "--keep", "0").stdout
    assert runs.states() == ["waiting"]
    assert runs.call("clean", "--keep", "0", "--unfinished").returncode == 0 and runs.ids() == []


def resumed_while_listed(weft):
    runs = Runs(weft, {"steps": [{"id": "a", "run": "exit 1"}]})
    runs.run()
    lister = subprocess.Popen(
        ["bash", "-c", 'while :; do "$0" runs >/dev/null; "$0" show >/dev/null; done', runs.weft],
        cwd=runs.path, start_new_session=True)
    try:
        for _ in range(25):
            result = runs.resume()
            assert result.returncode == 1, result
    finally:
        os.killpg(lister.pid, signal.SIGKILL)
        lister.wait()


TIMED = {"steps": [
    {"id": "both", "parallel": [
        {"id": "quick", "steps": [{"id": "q1", "run": "true"}, {"id": "q2", "run": "true"}]},
        {"id": "slow", "run": "sleep 0.4"}]},
    {"id": "each", "forEach": {"in": [1, 2, 3]}, "run": "true"},
    {"id": "off", "if": "${{ inputs.all }}", "run": "sleep 0.5"}, {"id": "end", "run": "true"}],
    "inputs": {"all": {"type": "boolean", "default": False}}}


def kept_durations(runs):
    return sorted((runs.path / ".weft/durations/1").iterdir())


def path_of(runs, *arguments):
    """The critical path that weft graph prints, by names; None if it prints none."""
    result = runs.call("graph", "w.json", "--format", "json", *arguments)
    assert result.returncode == 0 and not result.stderr, result
    graph = json.loads(result.stdout)
    path = graph.get("criticalPath")
    names = {step["node"]: step["address"] for step in graph["steps"]}
    return path and [names[node] for node in path["nodes"]]


def durations(weft):
    runs = Runs(weft, TIMED)
    assert path_of(runs) is None
    assert "took" not in runs.call("graph", "w.json").stdout + runs.run("--record", "none").stdout
    assert path_of(runs) is None and not (runs.path / ".weft").exists()
    assert runs.run().returncode == 0
    assert path_of(runs) == ["slow", "each", "end"], path_of(runs)
    table = runs.call("graph", "w.json", "--format", "table").stdout
    assert re.search(r"^.*slow .* 4\d\d ms .*sleep 0.4$", table, re.M), table
    dry = runs.run("--dry-run").stdout
    assert dry == runs.call("graph", "w.json").stdout and "critical path" in dry.splitlines()[-1], dry
    # Durations that were never measured are estimated, and the output says so.
    assert path_of(runs, "-i", "all=true") == ["slow", "each", "off", "end"]
    never = "(1 step never measured)"
    assert never in runs.call("graph", "w.json", "-i", "all=true").stdout
    assert runs.run("-i", "all=true").returncode == 0
    assert never not in runs.call("graph", "w.json", "-i", "all=true").stdout
    assert path_of(runs, "-i", "all=true") == ["slow", "each", "off", "end"]
    (file,) = kept_durations(runs)
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    lines = file.read_text().splitlines()
    assert [line.split()[-1] for line in lines[:-1]] == ["q1", "q2", "slow", "each", "off", "end"], lines
    assert lines[3].split()[0] == "3" and len(lines[2].split()) == 4, lines
    # The duration of a failed step says nothing; those of others do.
    runs.write({"steps": [{"id": "q1", "run": "true"}, {"id": "end", "run": "exit 1"}]})
    assert runs.run().returncode == 1
    lines = file.read_text().splitlines()
    assert [len(line.split()) for line in lines[:-1]] == [5, 4], lines


def damaged_durations(weft):
    runs = Runs(weft, TIMED)
    runs.run()
    (file,) = kept_durations(runs)
    whole = file.read_bytes()
    known = path_of(runs)
    for content in [b"", whole[:-1], b"\0" * 5000, whole.replace(b"1 ", b"2 ", 1), whole + whole,
                    b"9" * 3_000_000, b"\xff\xfe" + whole]:
        file.write_bytes(content)
        assert path_of(runs) is None, content[:80]
    result = runs.run()
    assert result.returncode == 0 and not result.stderr, result
    assert path_of(runs) == known
    elsewhere = runs.path / "precious"
    elsewhere.write_bytes(whole)
    file.unlink()
    file.symlink_to(elsewhere)
    assert path_of(runs) is None
    assert runs.run().returncode == 0
    assert elsewhere.read_bytes() == whole and not file.is_symlink() and path_of(runs) == known
    shutil.rmtree(file.parent.parent)
    file.parent.parent.symlink_to(runs.path)
    assert runs.run().returncode == 0 and path_of(runs) is None
    file.parent.parent.unlink()
    file.parent.parent.write_text("a file")
    result = runs.run()
    assert result.returncode == 0 and not result.stderr and path_of(runs) is None, result
    os.mkfifo(runs.path / "fifo")
    file.parent.parent.unlink()
    file.parent.mkdir(parents=True)
    os.rename(runs.path / "fifo", file)
    assert path_of(runs) is None


def durations_of_many(weft):
    runs = Runs(weft, TIMED)
    runs.run()
    others = [runs.start("run", "w.json") for _ in range(8)]
    assert [other.wait(timeout=LIMIT) for other in others] == [0] * 8
    (file,) = kept_durations(runs)
    assert path_of(runs) == ["slow", "each", "end"]
    assert all(2 < len(line.split()) <= 7 for line in file.read_text().splitlines()[:-1])
    # A run that is killed leaves it as it was.
    before = file.read_bytes()
    runs.write(HELD)
    process, run = runs.begin()
    killed(runs, process, run)
    assert kept_durations(runs) == [file] and file.read_bytes() == before


def moved_durations(weft):
    runs = Runs(weft, TIMED)
    runs.run()
    known = path_of(runs)
    before = runs.path / "before"
    before.mkdir()
    for name in ["w.json", ".weft"]:
        os.rename(runs.path / name, before / name)
    runs.path = before
    assert path_of(runs) == known
    assert path_of(runs, "--state-dir", str(before / ".weft")) == known
    (before / "x.json").write_bytes((before / "w.json").read_bytes())
    result = runs.call("graph", "x.json")
    assert "took" not in result.stdout, result
    # A resumed run adds to the durations of its workflow, wherever the command is called.
    runs.write({"steps": [{"id": "slow", "run": "sleep 0.1"}, {"id": "b", "run": "test -e ok"}]})
    assert runs.run().returncode == 1
    (before / "ok").touch()
    result = subprocess.run(
        [weft, "resume", "--state-dir", "before/.weft"], cwd=before.parent, text=True,
        capture_output=True, timeout=LIMIT)
    assert result.returncode == 0, result
    assert path_of(runs) == ["slow", "b"]


def time_left(weft):
    screen = Screen(weft, {"steps": [{"id": "a", "run": "sleep 2.2"}, {"id": "b", "run": "cat go.fifo"}]})
    try:
        screen.wait_for("b", "1/2")
        assert "left" not in screen.text(), screen.text()
        screen.release("go.fifo")
        assert screen.status() == 0
        again = Screen(weft, None, command=("run", "workflow.json"), beside=screen)
        try:
            again.wait_for("a", "0/2", "about TIME left")
            again.wait_for("b", "1/2")
            again.release("go.fifo")
            assert again.status() == 0 and "left" not in again.text(), again.text()
        finally:
            again.close()
    finally:
        screen.close()


def led_elsewhere(weft):
    """-C leads every command that reads files or records to a different directory."""
    runs = Runs(weft, {"steps": [{"id": "a", "run": "echo hello; test -e ok"}]})

    def call(command, *arguments, code=0):
        result = subprocess.run(
            [weft, command, *arguments, "-C", str(runs.path)], cwd="/", stdin=subprocess.DEVNULL, text=True,
            capture_output=True, timeout=LIMIT)
        assert result.returncode == code, (command, result)
        return result.stdout

    call("check", "w.json")
    assert "a" in call("graph", "w.json")
    call("run", "w.json", code=1)
    assert "failure" in call("runs") and "hello" in call("logs", "a") and "a" in call("show")
    (runs.path / "ok").touch()
    call("resume")
    assert runs.states() == ["success"]
    call("clean", "--keep", "0")
    assert runs.ids() == []
    for command in ("check", "graph", "resume", "show", "runs", "logs", "clean", "cancel"):
        operands = ["w.json"] if command in ("check", "graph") else []
        result = subprocess.run(
            [weft, command, *operands, "-C", str(runs.path / "none")], text=True, capture_output=True)
        assert result.returncode == 2 and "(-C)" in result.stderr, (command, result)


def warnings_first(weft):
    """Diagnostics of a file precede the output of its steps, and plans are not shortened in a pipe."""
    long = "echo " + "x" * 300
    runs = Runs(weft, {"steps": [
        {"id": "a", "run": "exit 1", "allowFailure": True, "outputs": {"o": "${{ self.stdout }}"}},
        {"id": "b", "run": ["echo", "${{ steps.a.outputs.o }}"], "allowFailure": True},
        {"id": "c", "run": long}]})
    result = subprocess.run(
        [weft, "run", "w.json"], cwd=runs.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
    assert "W0503" in result.stdout, result.stdout
    assert result.stdout.index("W0503") < result.stdout.index("[a] started"), result.stdout
    assert long in runs.call("graph", "w.json").stdout
    narrow = subprocess.run(
        [weft, "graph", "w.json"], cwd=runs.path, env=dict(os.environ, COLUMNS="60"), text=True,
        capture_output=True, timeout=LIMIT).stdout
    assert long not in narrow and max(map(len, narrow.splitlines())) <= 60, narrow




def counted(view):
    return {name: view["counts"][name] for name in ("succeeded", "failed", "tolerated", "cancelled", "skipped")}


def agreed(runs, **expected):
    """The reports of every view on the newest run, which has ended; they must agree."""
    listed, shown = runs.listed()[0], runs.shown()
    report = json.loads((runs.folder_of(listed["run"]) / "report.json").read_text())
    ends = [shown["end"], report["end"]]
    assert ends[0] == ends[1] and counted(listed) == counted(ends[0]), (listed, ends)
    assert listed["durationUs"] == ends[0]["durationUs"] == shown["durationUs"], (listed, shown)
    assert counted(listed) == {**dict.fromkeys(counted(listed), 0), **expected}, listed
    assert all(step["state"] != "pending" for step in report["states"]), report
    return listed, shown, report


def moved_steps(weft):
    """weft diff has the kind of a group, the order of steps, and steps that were moved into a group or out of it."""
    a, b, c = ({"id": name, "run": "true"} for name in "abc")
    versions = [
        {"steps": [{"id": "g", "steps": [a, b]}, c]},
        {"steps": [{"id": "g", "parallel": [a, b]}, c]},
        {"steps": [{"id": "g", "parallel": [b, a]}, c]},
        {"steps": [{"id": "g", "parallel": [b]}, a, c]},
        {"steps": [{"id": "g", "parallel": [b, {"id": "new", "run": "true"}]}, a, c]},
    ]
    wanted = [
        ['changed "g"', 'parallel: none → ["a","b"]', 'steps: ["a","b"] → none'],
        ['changed "g"', 'parallel: ["a","b"] → ["b","a"]'],
        ["changed the workflow: steps", 'changed "g"', 'parallel: ["b","a"] → ["b"]'],
        ['added "new"'],
    ]
    runs = Runs(weft, versions[0])
    assert runs.run().returncode == 0
    for version, lines in zip(versions[1:], wanted):
        runs.write(version)
        assert runs.run().returncode == 0
        shown = runs.call("diff").stdout.partition("definition\n")[2].partition("\n\n")[0]
        assert [line.strip() for line in shown.splitlines()] == lines, (lines, shown)


def whole_run(weft):
    runs = Runs(weft, {"steps": [
        {"steps": [{"id": "a", "run": "sleep 0.3", "cleanup": "true"}]},
        {"id": "g", "approve": "ok?"}, {"id": "b", "run": "true"}]})
    assert runs.run().returncode == 75
    waiting = runs.listed()[0]
    assert waiting["durationUs"] >= 300_000 and counted(waiting)["succeeded"] == 2, waiting
    time.sleep(0.5)
    assert runs.call("approve", "g").returncode == 0
    result = runs.resume()
    assert result.returncode == 0 and "4 steps succeeded in" in result.stdout, result
    assert "(2 in an earlier part)" in result.stdout, result
    listed, shown, _ = agreed(runs, succeeded=4)
    # The time between the parts does not belong to the run.
    assert waiting["durationUs"] <= listed["durationUs"] < waiting["durationUs"] + 450_000, (waiting, listed)
    assert len(shown["steps"]) == 4, shown


def whole_loop(weft):
    runs = Runs(weft, {"steps": [
        {"id": "e", "forEach": {"in": list(range(300)), "as": "n"}, "idempotent": True,
         "env": {"N": "${{ n }}"}, "run": "echo $N >> did; [ $N -ne 9 ] || cat go.fifo"}]})
    process = runs.start("run", "w.json", "-j1")
    runs.until(lambda: (runs.path / "did").exists() and len((runs.path / "did").read_text().split()) == 10)
    listed, shown = runs.listed()[0], runs.shown()
    assert (listed["steps"], counted(listed)["succeeded"]) == (300, 9), listed
    killed(runs, process, listed["run"])
    listed, shown = runs.listed()[0], runs.shown()
    assert (listed["steps"], counted(listed)["succeeded"]) == (300, 9), listed
    (loop,) = shown["loops"]
    begun = sum(step["step"].startswith("e[") for step in shown["steps"])
    assert loop == {"group": "e", "elements": 300, "notStarted": 300 - begun}, loop
    assert "not started: 2" in runs.call("show").stdout, runs.call("show").stdout
    process = runs.start("resume", "-j1")
    runs.until(lambda: len((runs.path / "did").read_text().split()) == 11)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=LIMIT) == 143
    agreed(runs, succeeded=9, cancelled=291)
    runs.write(json.loads((runs.path / "w.json").read_text()))
    process = runs.start("resume")
    runs.go()
    assert process.wait(timeout=LIMIT) == 0
    agreed(runs, succeeded=300)


def one_state(weft):
    runs = Runs(weft, {"steps": [
        {"id": "b", "forEach": {"in": [1, 2]}, "run": "true"},
        {"id": "off", "if": "false", "retry": 1, "steps": ["true"]},
        {"id": "m", "matrix": {"x": [1, 2]}, "steps": [{"id": "in", "run": "true"}]}]})
    assert runs.run().returncode == 0
    _, _, report = agreed(runs, succeeded=4, skipped=1)
    names = [step["step"] for step in report["states"]]
    assert sorted(names) == ["b[0]", "b[1]", "m[1].in", "m[2].in", "off"], names


def facts(weft):
    runs = Runs(weft, {
        "inputs": {"to": {"default": "prod"}, "pin": {"secret": True, "default": "canary"}},
        "pools": {"db": 1},
        "parallel": [{"id": "a", "pool": "db", "run": "echo one; cat go.fifo"},
                     {"id": "b", "pool": "db", "run": "true"}]})
    process, _ = runs.begin()
    runs.until(lambda: len(runs.shown()["steps"]) == 2)
    text = runs.call("show").stdout
    assert 'b: waits for pool "db", held by "a"' in text and "input     to: prod" in text, text
    shown = runs.shown()
    assert shown["inputs"] == [{"name": "to", "value": "prod"}, {"name": "pin"}] and "canary" not in text, shown
    assert shown["steps"][0]["startedAt"] >= shown["startedAt"] and "startedAt" not in shown["steps"][1], shown
    runs.go()
    assert process.wait(timeout=LIMIT) == 0
    queued = [json.loads(line) for line in (runs.folder_of(shown["run"]) / "journal.jsonl").read_text().splitlines()
              if '"step.queued"' in line]
    assert [record["waitingFor"] for record in queued] == [{"db": 1}, {"db": 1}], queued


def told_of_runs(weft):
    """The list and the view of a run show its inputs, its approvers, and when its steps began."""
    runs = Runs(weft, {
        "inputs": {"env": {"type": "string"}, "count": {"type": "integer", "default": 3}},
        "steps": [{"id": "ask", "approve": "go on?"}, {"id": "a", "run": "echo hello"}]})
    result = runs.call("run", "w.json", "-i", "env=prod")
    assert result.returncode == 75, result
    assert runs.call("approve", "ask").returncode == 0
    result = runs.call("resume")
    assert result.returncode == 0, result
    (run,) = runs.listed()
    given = {i["name"]: i.get("value") for i in run["inputs"]}
    assert given["env"] == "prod" and given.get("count", 3) == 3, run
    table = runs.call("runs").stdout
    assert "INPUTS" in table and "env=prod" in table, table
    shown = runs.shown()
    ask, step = shown["steps"]
    assert ask["approvedBy"].endswith("with weft approve") and "startedAt" in step, shown
    text = runs.call("show").stdout
    assert re.search(r"ask: succeeded in .*, approved by .+, with weft approve, began \d\d:\d\d:\d\d\n", text), text
    assert re.search(r"a: succeeded in [^,]*, CPU [^,]*, began \d\d:\d\d:\d\d\n", text), text
    assert run["user"] == shown["user"] and f" UTC by {run['user']}\n" in text, (run, text)
    # The approval was an attempt, too; only the program used a processor.
    first, second = shown["parts"]
    assert first["durationUs"] + second["durationUs"] == shown["durationUs"], shown
    assert re.search(r"part 1 .* UTC, for .*\n  part 2 .* UTC, for ", text), text
    assert shown["totals"]["outputBytes"] == 6 and shown["totals"]["processorUs"] > 0, shown
    assert re.search(r"used      CPU .*, in 2 attempts\n", text), text
    assert "input     env: prod" in text, text
    assert "INPUTS" not in Runs(weft).call("runs").stdout


def failures(weft):
    """Runs are found by what failed in them, and how."""
    runs = Runs(weft, {"steps": [{"id": "a", "run": "exit 3"}]})
    runs.run()
    runs.write({"steps": [{"id": "g", "timeout": "100ms", "steps": [{"id": "slow", "run": "sleep 9"}]}]})
    runs.run()
    runs.write({"steps": [{"id": "l", "forEach": {"in": ["x", "y"], "as": "i"}, "run": "test $I = x",
                           "env": {"I": "${{ i }}"}, "allowFailure": True}]})
    runs.run()
    runs.write({"steps": [{"id": "a", "run": "exit 0"}]})
    runs.run()
    runs.write({"steps": [{"id": "outer", "allowFailure": True, "steps": [
        {"id": "each", "forEach": ["x", "y"], "steps": [
            {"id": "inner", "steps": [{"id": "member", "run": "test ${{ item }} = x || exit 4"}]}]}]}]})
    runs.run()
    runs.write({"steps": [{"id": "late", "timeout": "100ms", "allowFailure": True, "steps": ["sleep 9"]}]})
    runs.run()
    late, nested, good, loop, group, step = runs.ids()

    def found(*words):
        result = runs.call("runs", "--format", "json", *words)
        assert result.returncode == 0, result
        return [run["run"] for run in json.loads(result.stdout)["runs"]]

    assert found("--failed-step", "a") == [step] and found("--failed-step", "l") == [loop]
    assert found("--failed-step", "l[1]", "--failure", "exit:1") == [loop] and found("--failed-step", "l[0]") == []
    assert found("--failure", "exit:3") == [step] and found("--failure", "timeout") == [late, group]
    assert found("--failure", "exit") == [nested, loop, step] and found("--failure", "signal") == []
    assert found("--failed-step", "g", "--failed-step", "a") == [group, step]
    assert found("--failed-step", "g", "--failure", "exit") == []
    # Members have their own ids, whatever is around them.
    for name in "outer", "each", "each[1]", "each[1].inner", "each[1].member":
        assert found("--failed-step", name) == [nested], name
    assert found("--failed-step", "each[0]") == [] and found("--failed-step", "each[0].inner") == []
    assert found("--failed-step", "late") == [late]
    assert good in found()
    result = runs.call("runs", "--failure", "exti")
    assert result.returncode == 2 and 'did you mean "exit"?' in result.stderr, result


def reasons_of_runs(weft):
    """A record says why a step with "cache" ran."""
    def workflow(**more):
        return {"steps": [{"id": "c", "run": "cat in lib/* > out", **more,
                           "cache": {"inputs": ["in", "lib/*"], "outputs": ["out"]}}]}

    runs = Runs(weft, workflow())
    (runs.path / "lib").mkdir()
    for name in ("in", "lib/a"):
        (runs.path / name).write_text(name)

    def reason(*options):
        assert runs.run(*options).returncode == 0
        return runs.shown()["steps"][0].get("ranBecause")

    assert reason() == "no result is cached"
    assert reason() is None and runs.shown()["steps"][0]["state"] == "cached"
    assert reason("--no-cache") == "the run uses no cached results"
    (runs.path / "in").write_text("other")
    assert reason() == "inputs changed: in"
    text = runs.call("show").stdout
    assert "    ran because inputs changed: in\n" in text, text
    changed = json.loads(runs.call("diff", "--format", "json", *runs.ids()[2:3], runs.ids()[0]).stdout)["caches"]
    assert changed == [{"step": "c", "cache": "steps", "before": "cached", "after": "ran", "reason": "inputs changed: in"}], changed
    for number in range(7):
        (runs.path / f"lib/{number}").write_text("")
    runs.write(workflow(env={"CC": "gcc"}))
    assert reason() == "env changed: CC; inputs changed: lib/0, lib/1, lib/2, lib/3, lib/4 and 2 more"
    (runs.path / ".weft/cache").rename(runs.path / "gone")
    assert reason() == "no result is cached"


def nothing_recorded(weft):
    """Without any run, commands about all runs have nothing to do; those about one run find none."""
    with tempfile.TemporaryDirectory(prefix="weft-history-") as place:
        def call(*words, **environment):
            return subprocess.run(
                [weft, *words], cwd=place, stdin=subprocess.DEVNULL, text=True, capture_output=True,
                timeout=LIMIT, env={**os.environ, **environment})

        for words in (["runs"], ["runs", "--format", "json"], ["clean"], ["clean", "--dry-run"]):
            for environment in ({}, {"WEFT_DIR": "elsewhere"}):
                result = call(*words, **environment)
                assert result.returncode == 0 and not re.search("error", result.stderr), (words, result)
                if words == ["runs"]:
                    assert result.stderr == "weft: no run is recorded\n", result
            result = call(*words, "--state-dir", "none")
            assert result.returncode == 2 and 'no run is recorded in "none"' in result.stderr, (words, result)
        assert call("runs", "--failure", "exit").stderr == "weft: no matching run is recorded\n"
        result = call("reap", "--state-dir", "none")
        assert result.returncode == 2 and 'no run is recorded in "none"' in result.stderr, result
        for words in (["show"], ["diff"], ["logs"], ["resume"], ["cancel"], ["approve", "a"], ["show", "--follow"]):
            for options in ([], ["--state-dir", "none"]):
                result = call(*words, *options)
                assert result.returncode == 2 and "no run is recorded in" in result.stderr, (words, result)
        assert not os.listdir(place), os.listdir(place)


def difference(weft):
    """What differs between runs of one file: by default between the last two."""
    def workflow(number, **more):
        return {
            "inputs": {"pin": {"secret": True, "default": f"canary-{number}"}, "to": {"default": "dev"}},
            "steps": [
                {"id": "a", "run": "echo $PIN", "env": {"PIN": "${{ inputs.pin }}", "COPY": f"canary-{number}"}},
                {"id": "c", "run": "cp in out", "cache": {"inputs": ["in"], "outputs": ["out"]}},
                {"id": "b", "run": "sleep 0", **more}]}

    runs = Runs(weft, workflow(1))
    (runs.path / "in").write_text("in")
    result = runs.call("diff")
    assert result.returncode == 2 and "no run is recorded" in result.stderr, result
    assert runs.run().returncode == 0
    (first,) = runs.ids()
    result = runs.call("diff")
    assert result.returncode == 2 and f'no run of "w.json" before {first}' in result.stderr, result
    assert runs.run().returncode == 0
    second = runs.ids()[0]
    (runs.path / "other.json").write_text('{"steps": ["exit 7"]}')
    runs.call("run", "other.json")
    other = runs.ids()[0]

    def told(*words):
        result = runs.call("diff", "--format", "json", *words)
        assert result.returncode == 0 and "canary" not in result.stdout, result
        return json.loads(result.stdout)

    cached = told(second)
    assert (cached["before"]["run"], cached["after"]["run"]) == (first, second), cached
    assert cached == told(first, second) == told(second, first)
    assert cached["caches"] == [{"step": "c", "cache": "steps", "before": "ran", "after": "cached"}], cached
    assert cached["outcomes"] == cached["inputs"] == [] and cached["secretInputs"] == ["pin"], cached
    assert not cached["definition"]["fileChanged"], cached

    runs.write(workflow(2, run="sleep 0.3; exit 3"))
    assert runs.run("-i", "to=prod").returncode == 1
    third = runs.ids()[0]
    found = told()
    # A run of another file came between.
    assert (found["before"]["run"], found["after"]["run"]) == (second, third), found
    assert found["differs"] and found["definition"]["workflow"] == ["inputs"], found
    assert {part["step"]: [key["key"] for key in part["keys"]] for part in found["definition"]["changed"]} == {
        "a": ["env.COPY"], "b": ["run"]}, found
    assert found["inputs"] == [{"name": "to", "before": {"value": "dev"}, "after": {"value": "prod"}}], found
    assert found["outcomes"] == [{
        "step": "b", "before": {"state": "succeeded"},
        "after": {"state": "failed", "class": "exit:3", "reason": "exited with code 3"}}], found
    text = runs.call("diff")
    assert text.returncode == 0 and "canary" not in text.stdout, text
    for part in ('run: "sleep 0" → "sleep 0.3; exit 3"', "b: succeeded → failed (exit:3): exited with code 3",
                 'to: "dev" → "prod"', 'env.COPY: "***" → "***"', "not recorded: pin"):
        assert part in text.stdout or part.replace("→", "->") in text.stdout, (part, text.stdout)

    # The failed run shows no duration, and the next one is much longer than the second.
    runs.write(workflow(2, run="sleep 0.5"))
    assert runs.run().returncode == 0
    times = {time.get("step"): time for time in told(second, runs.ids()[0])["durations"]}
    assert times["b"]["afterUs"] >= 500_000 and None in times, times
    assert "b" not in {time.get("step") for time in told()["durations"]}
    assert told(other, third)["definition"]["removed"], "other files can be compared too"

    journal = runs.folder_of(second) / "journal.jsonl"
    record = bytearray(journal.read_bytes())
    record[len(record) // 2] ^= 1
    journal.write_bytes(record)
    result = runs.call("diff", second, third)
    assert result.returncode == 4 and "damaged" in result.stdout, result


def compared_callers(weft):
    """A step that runs a file is compared once, by its own keys."""
    def workflow(value):
        return {"steps": [{"id": "n", "workflow": "n.json", "with": {"value": value}}]}

    runs = Runs(weft, workflow("1"))
    runs.write({"inputs": {"value": {"type": "string"}}, "steps": ["echo ${{ inputs.value }}"]}, "n.json")
    assert runs.run().returncode == 0
    runs.write(workflow("2"))
    assert runs.run().returncode == 0
    changed = json.loads(runs.call("diff", "--format", "json").stdout)["definition"]["changed"]
    assert [(part["step"], [key["key"] for key in part["keys"]]) for part in changed] == [("n", ["with.value"])], changed


def fails_until(name, **keys):
    return dict({"id": name, "run": f"test -e {name}"}, **keys)


# Each fails until the file "end" exists.
RESUMED = [
    {"steps": [
        {"id": "race", "race": ["sleep 5", {"id": "b", "run": "exit 1"}, "sleep 0.2"]},
        {"id": "lp", "forEach": {"in": [1, 2, 3], "tolerate": 1}, "steps": [
            {"id": "l1", "run": "test ${{ item }} -ne 2", "cleanup": "true"}, {"id": "l2", "run": "true"}]},
        {"id": "al", "steps": [{"id": "a1", "run": "exit 4"}, {"id": "a2", "run": "true"}], "allowFailure": True},
        {"id": "j", "join": {"atLeast": 1}, "parallel": [{"id": "j1", "run": "exit 3"}, "sleep 0.2", "sleep 5"]},
        fails_until("end")]},
    {"steps": [{"id": "db", "run": "true", "cleanup": "true"}, fails_until("end")]},
    {"steps": [{"id": "sv", "run": "echo up; sleep 30", "service": {"ready": {"log": "up"}}}, fails_until("end"),
               {"id": "after", "run": "true"}], "finally": [{"id": "last", "run": "true"}]},
]


def forecast(weft):
    for workflow in RESUMED:
        runs = Runs(weft, workflow)
        assert runs.run().returncode == 1
        again = runs.shown()["resume"]["again"]
        names = ", ".join(f'"{step}"' for step in again)
        assert runs.call("show").stdout.endswith(f"continues it: {names}\n"), runs.call("show").stdout
        known = len(runs.records())
        (runs.path / "end").touch()
        assert runs.resume().returncode == 0
        started = {record["step"] for record in runs.records()[known:] if record["type"] == "step.started"}
        assert started - {"db.cleanup"} == set(again), (started, again)
        assert runs.shown()["resume"]["again"] == []


def tolerated(weft):
    runs = Runs(weft, RESUMED[0])
    runs.run()
    text = runs.call("show").stdout
    for part in ['b: failed ("race.3" won the race)', 'lp[1].l1: failed (tolerated by "lp")',
                 'a1: failed (tolerated by "al")', 'j1: failed (tolerated by "j")', "end: failed after"]:
        assert part in text, (part, text)
    by = {step["step"]: step.get("toleratedBy") for step in runs.shown()["steps"] if step.get("outcome") == "failure"}
    assert by == {"b": "race", "lp[1].l1": "lp", "a1": "al", "j1": "j", "end": None}, by


def service_up(weft):
    runs = Runs(weft, {"steps": [{"id": "sv", "run": "echo up; sleep 30", "service": {"ready": {"log": "up"}}},
                                 {"id": "a", "run": "echo one; cat go.fifo"}]})
    process, _ = runs.begin()
    runs.until(lambda: "sv: running, ready after" in runs.call("show").stdout)
    assert runs.shown()["steps"][0]["state"] == "ready", runs.shown()
    process.kill()
    process.wait()
    assert "sv: interrupted, was ready after" in runs.call("show").stdout, runs.call("show").stdout
    assert runs.resume("--skip-interrupted").returncode == 0
    assert "sv: succeeded in" in runs.call("show").stdout, runs.call("show").stdout


def skipped_whole(weft):
    """The members of what is skipped as a whole are neither announced nor counted as open."""
    runs = Runs(weft, {"steps": [{"id": "n", "if": "false", "workflow": "n.json"}, {"id": "e", "if": "false", **LOOP},
                                 {"id": "t", "if": "false", "retry": 1, "steps": ["true", "true"]},
                                 {"id": "c", "run": "test -e ok"}]})
    (runs.path / "n.json").write_text(json.dumps({"steps": ["true", "true", "true"]}))
    assert runs.run().returncode == 1
    text = runs.call("show").stdout
    assert text.endswith('continues it: "c"\n'), text
    assert runs.shown()["resume"]["unmentioned"] == 0, runs.shown()["resume"]
    # The list has the number of steps of each run that has ended.
    assert runs.listed()[0]["steps"] == 4, runs.listed()
    (row,) = csv.DictReader(io.StringIO(runs.call("runs", "--format", "csv").stdout))
    assert row["steps"] == "4", row


LOOP = {"forEach": ["a", "b"], "steps": ["true", "true"]}


def answers_told(weft):
    """An answer that no engine has taken yet is shown, the last one counts, and the others can be pasted into a shell."""
    runs = Runs(weft, {"steps": [{"parallel": [
        {"id": "q", "approve": "go?"},
        {"id": "l", "forEach": {"in": ["it's", "z[1]"], "key": "${{ item }}"},
         "steps": [{"id": "c", "approve": "and?"}]}]}]})
    assert runs.run().returncode == 75
    run, = runs.ids()
    for flags, word in [([], "approved"), (["--reject"], "rejected")]:
        assert runs.call("approve", "q", *flags).returncode == 0
        text = runs.call("show").stdout
        assert f"q: waits for approval: go?; {word}, not yet taken up" in text, text
        assert f"answer: weft approve {run} q " not in text, text
        assert [step.get("answer") for step in runs.shown()["steps"] if step["step"] == "q"] == [word], runs.shown()
    commands = [line.removeprefix("answer: weft ").split("  (")[0] for line in text.splitlines() if line.startswith("answer: ")]
    assert len(commands) == 2, text
    for command in commands:
        assert runs.call(*shlex.split(command)).returncode == 0, command
    text = runs.call("show").stdout
    assert "answer:" not in text and text.endswith(f'"weft resume {run}" continues it\n'), text


def unfinished_line(weft):
    """The beginning of a line is in the log before its end, but for what may be a secret, and is followed as one line."""
    token = "correct horse battery"
    runs = Runs(weft, {"secrets": {"TOKEN": {"env": "THE_TOKEN"}}, "steps": [
        {"id": "a", "env": {"T": "${{ secrets.TOKEN }}"},
         "run": "printf 'Password for %.9s' \"$T\"; cat go.fifo; printf '%s: ' \"${T#?????????}\"; echo warned >&2; echo ok"}]})
    environment = {**os.environ, "THE_TOKEN": token}

    def begin():
        known = set(runs.ids())
        process = subprocess.Popen(
            [weft, "run", "w.json", "--events", "events"], cwd=runs.path, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        runs.until(lambda: set(runs.ids()) - known)
        run, = set(runs.ids()) - known
        log = runs.folder_of(run) / "logs/a.log"
        runs.until(log.exists)
        runs.until(lambda: log.read_bytes())
        assert log.read_bytes() == b"Password for ", log.read_bytes()
        return process, run, log

    process, run, log = begin()
    process.kill()
    process.wait()
    assert runs.call("logs", run).stdout == "[a] Password for \n", runs.call("logs", run)
    assert runs.call("reap", run).returncode == 0
    process, run, log = begin()
    followers = [runs.stream("logs", "-f", run, *words) for words in (["a"], [])]
    shown = runs.stream("show", "-f", run)
    assert followers[0].stdout.read(13) == b"Password for "
    runs.go()
    said, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, said
    assert log.read_bytes() == b"Password for warned\n***: ok\n" or log.read_bytes() == b"Password for ***: ok\nwarned\n", log.read_bytes()
    for line in "[a] Password for ***: ok\n", "[a] warned\n":
        assert said.count(line) == 1, said
    single, several = (follower.communicate(timeout=LIMIT)[0] for follower in followers)
    assert b"Password for " + single == log.read_bytes(), single
    assert several == b"".join(b"[a] " + line for line in log.read_bytes().splitlines(True)), several
    assert shown.communicate(timeout=LIMIT)[0].count(b"Password") == 1
    events = [json.loads(line) for line in (runs.path / "events").read_text().splitlines()]
    assert sorted(event["text"] for event in events if event["type"] == "step.output") == ["Password for ***: ok", "warned"]
    assert token[:6] not in log.read_text() + said


def views(runs, run, step):
    """Everything that depends on the plan of a run, which has a step that has not begun."""
    commands = [
        ["show", run], ["show", "--format", "json", run], ["logs", run, step], ["test", "--from-run", run],
        *(["report", run, "--format", kind] for kind in ("markdown", "junit", "csv"))]
    for command in commands:
        result = runs.call(*command)
        assert result.returncode == 0, (command, result)
        yield command, result.stdout


def shown_as_it_was(weft):
    """A run is shown as it was, whatever has become of the files that its workflow names."""
    runs = Runs(weft, {"steps": [
        {"id": "n", "workflow": "sub/n.json"}, {"id": "s", "script": {"file": "s.sh"}},
        {"id": "l", "workflow": "link/n.json"}, {"id": "z", "run": "exit 3"}, {"id": "later", "workflow": "sub/m.json"}]})
    (runs.path / "sub").mkdir()
    (runs.path / "link").symlink_to("sub")
    runs.write({"steps": [{"id": "one", "run": "echo 1"}, {"id": "own", "script": {"file": "../s.sh"}}]}, "sub/n.json")
    runs.write({"steps": [{"id": "never", "name": "not begun", "run": "true"}, {"run": "true"}]}, "sub/m.json")
    (runs.path / "s.sh").write_text("echo hello\n")
    assert runs.run().returncode == 1
    run, = runs.ids()
    before = list(views(runs, run, "later/never"))
    assert "2 steps not started yet" not in before[0][1], before[0]

    runs.write({"steps": [{"id": "other", "run": "true"}]}, "sub/n.json")
    runs.write({"steps": "what"}, "sub/m.json")
    (runs.path / "s.sh").write_text("")
    assert list(views(runs, run, "later/never")) == before

    for name in "sub/n.json", "sub/m.json", "s.sh", "w.json":
        (runs.path / name).unlink()
    for view, known in zip(views(runs, run, "later/never"), before):
        assert view == known, (view, known)


def shown_elsewhere(weft):
    """A run is shown as it was, from a project that was moved as a whole, too."""
    runs = Runs(weft, {"steps": [{"id": "z", "run": "exit 3"}, {"id": "n", "workflow": "sub/n.json"}]})
    (runs.path / "sub").mkdir()
    runs.write({"steps": [{"id": "never", "run": "true"}, {"run": "true"}]}, "sub/n.json")
    assert runs.run().returncode == 1
    run, = runs.ids()
    before = list(views(runs, run, "n/never"))
    project = runs.path
    runs.path = project.with_name(project.name + "-moved")
    project.rename(runs.path)
    try:
        for view, known in zip(views(runs, run, "n/never"), before):
            assert view == known, (view, known)
    finally:
        runs.path.rename(project)


def runner_of_the_site(weft):
    """The plan of a run is known without the runners of the machine it ran on."""
    runs = Runs(weft, {"steps": [
        {"id": "z", "run": "exit 3"}, {"id": "far", "runner": "site", "run": "true"}, {"id": "near", "run": "true"}]})
    runs.write({"runners": {"site": {"kind": "ssh", "hosts": ["nowhere.invalid"]}}}, "site.jsonc")
    environment = {**os.environ, "WEFT_CONFIG": str(runs.path / "site.jsonc")}
    done = subprocess.run([weft, "run", "w.json"], cwd=runs.path, env=environment, capture_output=True, timeout=LIMIT)
    assert done.returncode == 1, done
    result = runs.call("test", "--from-run", *runs.ids())
    assert result.returncode == 0 and '"far"' in result.stdout, result


CASES = [
    moved_steps,
    compared_callers,
    ("a line that does not end is logged, followed and kept", unfinished_line),
    ("a run is shown as it was, without the files that it named", shown_as_it_was),
    ("and so it is in a project that was moved", shown_elsewhere),
    ("and without the runners of its machine", runner_of_the_site),
    ("what is skipped as a whole is not announced", skipped_whole),
    ("answers that wait for an engine are shown", answers_told),
    ("weft show says what weft resume starts again", forecast),
    ("and whose failure was tolerated by what", tolerated),
    ("a service that is up has not succeeded", service_up),
    ("what differs between two runs is told, but for secrets", difference),
    ("X87: inputs, approvers and beginnings are told", told_of_runs),
    ("runs are found by what failed in them", failures),
    ("X61: a record says why a step ran", reasons_of_runs),
    ("X71: where nothing is recorded, all commands agree what that means", nothing_recorded),
    ("X71: -C leads every command elsewhere", led_elsewhere),
    ("X59, X56: warnings come first, and a pipe gets whole lines", warnings_first),
    ("X28: duration and counts are those of the whole run, in every view", whole_run),
    ("X28: elements that have not begun are counted, whatever ends the run", whole_loop),
    ("X43: report.json has one state of each step", one_state),
    ("X63: what waits for a pool is shown as waiting for it", facts),
    ("every run is listed with its state, and found by it", all_states),
    ("J24: damaged runs are told of, and hide no other", damaged),
    ("a thousand runs are listed", many),
    ("all of a run is told, but for its secrets", details),
    ("a run that is followed tells the same as in its own terminal", follow_plain),
    ("so it does on a second terminal, drawn", follow_on_a_terminal),
    ("who follows a run that is killed is told", follow_killed),
    ("of a run that was resumed the last part is followed", follow_resumed),
    ("logs are printed byte for byte, and of several line by line", logs),
    ("a reader that goes away is no error", closed_readers),
    ("logs are followed until their step has ended", logs_followed),
    logs_of_attempts_followed,
    ("S18: nothing is removed but runs that have ended, and others where that is said", cleaning),
    ("S18: a run whose processes are alive is not removed", cleaning_the_living),
    ("weft run keeps as many runs as it is told to", kept_after_runs),
    ("a run that waits for approval is followed up to there, and kept", waiting),
    ("J12: who looks at a run keeps no engine from it", resumed_while_listed),
    ("what steps took is known to the graph, and the critical path with it", durations),
    ("durations that are damaged, or somewhere else, are as good as none", damaged_durations),
    ("of many runs at once each leaves whole durations", durations_of_many),
    ("durations move with their project, and are those of one file", moved_durations),
    ("on a terminal the second run says how much is left", time_left),
]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, CASES))
