#!/usr/bin/env python3
"""Runs workflows whose state is kept between runs, one after another, at once, interrupted and damaged.

usage: test_state.py PATH_TO_WEFT
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import cases

LIMIT = 60  # seconds, against hanging only

COUNTER = {
    "state": {"count": {"type": "integer", "default": 0, "value": "${{ add(state.count, 1) }}"}},
    "inputs": {"exit": {"type": "integer", "default": 0}},
    "steps": [{"id": "says", "run": "echo ${{ state.count }} >>seen"}, "exit ${{ inputs.exit }}"],
}


class Place:
    """A directory with a workflow, in which weft runs."""

    def __init__(self, weft, workflow=COUNTER):
        self.weft = weft
        self.directory = tempfile.TemporaryDirectory(prefix="weft-state-")
        self.path = pathlib.Path(self.directory.name) / "project"
        self.path.mkdir()
        self.write("w.json", workflow)

    def write(self, name, workflow):
        (self.path / name).write_text(json.dumps(workflow))

    def call(self, *arguments, expect=0, **options):
        done = subprocess.run([self.weft, *arguments], cwd=self.path, capture_output=True, text=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, **options)
        assert done.returncode == expect, (arguments, done.returncode, done.stdout, done.stderr)
        return done

    def files(self):
        return sorted((self.path / ".weft/state").glob("*"))

    def state(self):
        [file] = self.files()
        return json.loads(file.read_text())["state"]

    def seen(self):
        return (self.path / "seen").read_text().split()


def only_success_keeps(weft):
    """a run that fails, is cancelled or cannot compute the next value keeps nothing"""
    place = Place(weft)
    place.call("run", "w.json")
    place.call("run", "w.json", "-i", "exit=3", expect=1)
    assert "  state     count: 1\n" in place.call("show").stdout
    assert json.loads(place.call("show", "--format", "json").stdout)["keptState"] == [{"name": "count", "value": 1}]
    assert "state.count" in place.call("diff").stdout
    place.call("run", "w.json", "--timeout", "1ms", expect=124)
    assert place.state() == {"count": 1}
    place.call("run", "w.json", "--record", "none")
    assert place.state() == {"count": 2}, "kept without a record, too"
    place.write("w.json", {**COUNTER, "state": {"count": {**COUNTER["state"]["count"], "value": "${{ 'many' || 1 }}"}}})
    answer = place.call("run", "w.json", expect=1)
    assert 'state "count" is "many", expected a whole number' in answer.stderr + answer.stdout, answer
    assert place.state() == {"count": 2}


def resumed_runs_keep_their_values(weft):
    """a run that is killed and resumed, twice, reads the values with which it began"""
    place = Place(weft, {**COUNTER, "steps": [
        {"id": "waits", "run": "echo $$ >>pids; test -e go || exec sleep 600", "idempotent": True},
        {"id": "says", "run": "echo ${{ state.count }} >>seen"}]})
    (place.path / "go").touch()
    place.call("run", "w.json")
    (place.path / "go").unlink()
    first = set((place.path / ".weft/runs").iterdir())
    for arguments in (["run", "w.json"], ["resume"]):
        count = len((place.path / "pids").read_text().split())
        run = subprocess.Popen([weft, *arguments], cwd=place.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + LIMIT
        while len((place.path / "pids").read_text().split()) == count:
            assert time.monotonic() < deadline and run.poll() is None
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
        run.wait()
    [killed] = set((place.path / ".weft/runs").iterdir()) - first
    (place.path / "go").touch()
    # Another file has a state of its own.
    shutil.copy(place.path / "w.json", place.path / "other.json")
    place.call("run", "other.json")
    place.call("resume", killed.name)
    assert place.seen() == ["0", "0", "1"], place.seen()
    assert len(place.files()) == 2
    place.call("run", "w.json")
    assert place.seen()[-1] == "2"


def turns_see_each_other(weft):
    """runs that wait for their turn read what the one before them has kept"""
    place = Place(weft, {**COUNTER, "concurrency": "one"})
    runs = [subprocess.Popen([weft, "run", "w.json"], cwd=place.path, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL) for _ in range(6)]
    assert [run.wait(LIMIT) for run in runs] == [0] * 6
    assert place.seen() == [str(count) for count in range(6)], place.seen()


def it_moves_with_the_project(weft):
    """the state of a file is found again when the directory of the project has moved"""
    place = Place(weft)
    place.call("run", "w.json")
    moved = place.path.with_name("moved")
    place.path.rename(moved)
    place.path = moved
    place.call("run", "w.json")
    assert place.seen() == ["0", "1"] and len(place.files()) == 1


def damage_is_reported(weft):
    """state that is damaged, does not fit or cannot be kept is named with its remedy"""
    place = Place(weft)
    place.call("run", "w.json")
    [file] = place.files()
    whole = file.read_bytes()
    assert file.stat().st_mode & 0o077 == 0 and file.parent.stat().st_mode & 0o077 == 0
    for damage in (b"", b"{", whole[:-9], b"[]", b'{"state": 3}', b"\xff" * 100, b"[" * 100000):
        file.write_bytes(damage)
        answer = place.call("run", "w.json", expect=4)
        assert str(file.relative_to(place.path)) in answer.stderr, answer.stderr
    file.write_bytes(whole.replace(b'"count": 1', b'"count": "x"'))
    answer = place.call("run", "w.json", expect=2)
    assert "W0431" in answer.stderr and "w.json:1:" in answer.stderr, answer.stderr
    assert place.seen() == ["0"], "nothing has started"
    file.write_bytes(whole.replace(b"{", b'{"gone": 1,', 1))
    place.call("run", "w.json")
    file.unlink()
    file.mkdir()
    assert "directory" in place.call("run", "w.json", expect=4).stderr
    file.rmdir()
    # Without room for it, the run fails, and says so.
    answer = place.call("run", "w.json", "--record", "none", expect=1, preexec_fn=no_files)
    assert "the state is not kept" in answer.stdout + answer.stderr, answer
    assert place.files() == []
    place.call("run", "w.json")


def no_files():
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


def wrong_places_are_rejected(weft):
    """standard input without a name, a nested file, and a secret value are rejected before anything starts"""
    place = Place(weft)
    text = json.dumps(COUNTER)
    done = subprocess.run([weft, "run", "-"], cwd=place.path, input=text, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 2 and "W0432" in done.stderr, done
    place.write("outer.json", {"steps": [{"workflow": "w.json"}]})
    assert "W0232" in place.call("check", "outer.json", expect=3).stdout
    place.write("secret.json", {**COUNTER, "secrets": {"T": {"env": "T"}},
                                "state": {"s": {"default": "", "value": "${{ secrets.T }}"}}, "steps": ["true"]})
    assert "W0318" in place.call("check", "secret.json", expect=3).stdout
    assert not (place.path / "seen").exists() and not (place.path / ".weft/state").exists()


def tests_give_and_expect_it(weft):
    """cases of weft test give state and expect what is kept"""
    place = Place(weft, {**COUNTER, "steps": [{"id": "a", "run": "echo ${{ state.count }}"}]})
    place.write("w.test.json", {"workflow": "w.json", "steps": {"a": {}}, "cases": [
        {"name": "first", "expect": {"state": {"count": 1}, "steps": {"a": {"run": "echo 0"}}}},
        {"name": "later", "state": {"count": 41}, "expect": {"state": {"count": 42}}},
        {"name": "wrong", "expect": {"state": {"count": 7}}},
        {"name": "fails", "steps": {"a": 1}, "expect": {"state": {"count": 1}}}]})
    answer = place.call("test", "w.test.json", expect=1)
    text = answer.stdout + answer.stderr
    assert 'kept state "count" of the run is 1, expected 7' in text, text
    assert 'the run has no kept state "count", expected 1' in text and "2 passed" in text, text
    place.call("run", "w.json")
    first = {run.name for run in (place.path / ".weft/runs").iterdir()}
    place.call("run", "w.json")
    [second] = {run.name for run in (place.path / ".weft/runs").iterdir()} - first
    recorded = json.loads(place.call("test", "--from-run", second).stdout)
    assert recorded["cases"][0]["state"] == {"count": 1}, recorded
    place.write("w.test.json", {"workflow": "w.json", "steps": {"a": {}}, "cases": [
        {"name": "x", "state": {"cuont": 1}, "expect": {"exitCode": 0}},
        {"name": "y", "expect": {"state": {"count": "1"}}}]})
    text = place.call("test", "w.test.json", expect=3)
    text = text.stdout + text.stderr
    assert 'no state "cuont"' in text and 'did you mean "count"?' in text and 'state "count" is "1"' in text, text


def unique(members):
    """An object, no key of which is there twice."""
    names = [name for name, _ in members]
    assert len(names) == len(set(names)), names
    return dict(members)


def no_key_is_twice(weft):
    """no object in the output of a command has a key twice, so that a reader loses nothing"""
    place = Place(weft, {**COUNTER, "steps": [
        *COUNTER["steps"], {"id": "l", "forEach": [1, 2], "run": "echo ${{ item }}", "cache": {"inputs": []}},
        {"id": "g", "retry": 1, "steps": [{"id": "x", "run": "exit 3", "allowFailure": True}]}]})
    place.write("w.test.json", {"workflow": "w.json", "steps": {"says": {}, "2": {}, "l[*]": {}, "x": 3}, "cases": [
        {"name": "first", "expect": {"state": {"count": 1}}}]})
    place.call("run", "w.json", "--events", "events", "--report", "trace=trace.json")
    place.call("run", "w.json")
    for line in (place.path / "events").read_text().splitlines():
        json.loads(line, object_pairs_hook=unique)
    json.loads((place.path / "trace.json").read_text(), object_pairs_hook=unique)
    for arguments in (["show"], ["runs"], ["graph", "w.json"], ["check", "w.json"], ["estimate", "w.json"], ["list"],
                      ["diff"], ["test", "w.test.json"]):
        text = place.call(*arguments, "--format", "json").stdout
        found = json.loads(text, object_pairs_hook=unique)
        if arguments == ["show"]:
            assert found["state"] == "success" and found["keptState"] == [{"name": "count", "value": 1}], found


if __name__ == "__main__":
    sys.exit(cases.run(
        __doc__,
        [only_success_keeps, resumed_runs_keep_their_values, turns_see_each_other, it_moves_with_the_project,
         damage_is_reported, wrong_places_are_rejected, tests_give_and_expect_it,
         no_key_is_twice]))
