#!/usr/bin/env python3
"""Caches steps' results with weft, and compares what it restores with what the steps made.

usage: test_caching.py PATH_TO_WEFT

Every case has a directory of its own. Steps append letters to a file, by which their runs are counted.
"""

import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import cases

LIMIT = 60  # seconds, against hanging only


class Place:
    """A directory with a workflow, in which weft runs."""

    def __init__(self, weft, *steps, **workflow):
        self.weft = weft
        self.directory = tempfile.TemporaryDirectory(prefix="weft-cache-")
        self.path = pathlib.Path(self.directory.name)
        self.write("w.json", json.dumps({**workflow, "steps": list(steps)}))

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name):
        path = self.path / name
        return path.read_text() if path.exists() else None

    def arguments(self, *arguments):
        return [self.weft, *arguments]

    def call(self, *arguments, **environment):
        return subprocess.run(
            self.arguments(*arguments), cwd=self.path, stdin=subprocess.DEVNULL, text=True,
            capture_output=True, timeout=LIMIT, env={**os.environ, **environment})

    def start(self, *arguments):
        return subprocess.Popen(
            self.arguments(*arguments), cwd=self.path, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, *options, expected=0, **environment):
        """Runs the workflow; returns the steps that were restored from the cache."""
        result = self.call("run", "w.json", "--events", "events", *options, **environment)
        assert result.returncode == expected, (result.returncode, result.stdout, result.stderr)
        self.events = [json.loads(line) for line in self.read("events").splitlines()]
        self.warnings = [e["message"] for e in self.events if e["type"] == "run.warning"]
        return [e["step"] for e in self.events if e["type"] == "step.cached"]

    def wait_for_leftovers(self):
        """Waits for the programs that a killed weft has left behind here."""
        end = time.monotonic() + LIMIT
        while any(self.is_at_work(process) for process in os.listdir("/proc") if process.isdigit()):
            assert time.monotonic() < end, "a program does not end"
            time.sleep(0.005)

    def is_at_work(self, process):
        try:
            return os.readlink(f"/proc/{process}/cwd") == os.path.realpath(self.path)
        except OSError:
            return False  # it has ended

    def tree(self, name):
        """Everything below a directory: kind, mode and content."""
        found = {}
        for path in sorted((self.path / name).rglob("*")):
            key = str(path.relative_to(self.path))
            if path.is_symlink():
                found[key] = ("link", os.readlink(path))
            elif path.is_dir():
                found[key] = "directory"
            else:
                found[key] = (path.stat().st_mode & 0o100, path.read_bytes())
        return found


def cached(run, inputs, outputs, **more):
    return {"id": "make", "run": run, "cache": {"inputs": inputs, "outputs": outputs, **more}}


def comes_back(weft):
    place = Place(weft, cached(
        "mkdir -p out/empty out/bin; cp in out/a; printf '#!/bin/sh\\n' > out/bin/x; chmod +x out/bin/x; "
        "ln -sf ../in out/l; printf x >> ran", ["in"], ["out"]))
    place.write("in", "1")
    assert place.run() == []
    made = place.tree("out")
    subprocess.run(["rm", "-r", "out"], cwd=place.path, check=True)
    assert place.run() == ["make"]
    assert place.tree("out") == made and place.read("ran") == "x"
    place.write("out/a", "edited")
    (place.path / "out/bin/x").chmod(0o644)
    assert place.run() == ["make"] and place.tree("out") == made
    assert oct((place.path / ".weft/cache/steps-1").stat().st_mode & 0o777) == "0o700"


def stays(weft):
    """Files in an output directory that the step has not made are left alone and reported."""
    place = Place(weft, cached("mkdir -p out; cp in out/a; printf x >> ran", ["in"], ["out"]))
    place.write("in", "1")
    place.write("out/notes", "mine")
    assert place.run() == [] and "out/notes" in place.warnings[0], place.warnings
    place.write("out/a", "edited")
    assert place.run() == ["make"] and place.read("out/notes") == "mine" and place.read("out/a") == "1"
    assert [e["code"] for e in place.events if e["type"] == "run.warning"] == ["foreign-output"]
    place.write("out/stray", "x")
    assert place.run() == ["make"] and place.read("out/stray") == "x"
    assert "and 1 more" in place.warnings[0], place.warnings
    # The step may have read it.
    place.write("out/notes", "other")
    assert place.run() == [] and place.read("out/notes") == "other" and place.read("ran") == "xx"
    for name in ("notes", "stray"):
        (place.path / "out" / name).unlink()
    place.write("in", "2")
    assert place.run() == [] and place.warnings == []
    place.write("in", "1")
    assert place.run() == [], "what it had found there is gone"
    assert place.run() == ["make"] and place.warnings == []


def stale(weft):
    """Files of an earlier result that the step leaves as they are belong to the new result, with a warning."""
    script = "mkdir -p out; for i in $(seq $(cat n)); do echo part $i > out/$i; done"
    place = Place(weft, cached(script, ["n"], ["out"]))
    place.write("n", "3")
    assert place.run() == [] and place.warnings == []
    place.write("n", "2")
    assert place.run() == [], place.events
    assert [e["code"] for e in place.events if e["type"] == "run.warning"] == ["earlier-output"], place.events
    assert '"out/3"' in place.warnings[0] and "out/2" not in place.warnings[0], place.warnings
    shutil.rmtree(place.path / "out")
    assert place.run() == ["make"] and place.warnings == [] and place.read("out/3") == "part 3\n"
    # A step that removes its outputs first keeps only its own.
    place = Place(weft, cached("rm -rf out; " + script, ["n"], ["out"]))
    for count in ("3", "2"):
        place.write("n", count)
        assert place.run() == [] and place.warnings == []
    shutil.rmtree(place.path / "out")
    assert place.run() == ["make"] and place.read("out/3") is None


def downloaded(weft):
    """A prediction names the request that saves an input, not a step before it."""
    place = Place(weft, {"id": "web", "run": "sleep 0.1"}, {"id": "more", "run": "sleep 0.1"},
                  {"id": "get", "http": {"url": "http://127.0.0.1:1/x", "saveTo": "raw/x.csv"}, "allowFailure": True},
                  cached("touch all", ["raw/*"], ["all"]))
    place.write("raw/x.csv", "1")
    assert place.run() == []
    shown = place.call("graph", "w.json").stdout
    assert 'cached, unless "get" changes its inputs' in shown, shown
    assert "in earlier runs (1 step never measured, without 1 step predicted as cached): web" in shown, shown


def element_by_element(weft):
    """weft why takes an element of an outer loop, and explains what is inside it."""
    place = Place(weft, {"id": "o", "forEach": {"in": ["a", "b"], "key": "item"}, "steps": [
        {"id": "p", "forEach": {"in": ["x", "y"], "key": "item"}, "run": "echo ${{ item }}", "cache": {"inputs": []}}]})
    said = place.call("why", "w.json", "o[a].p").stdout
    assert said.count("would run") == 2 and '"o[a].p[x]"' in said and '"o[a].p[y]"' in said, said
    refused = place.call("why", "w.json", "o[c].p")
    assert refused.returncode == 2 and "is not an element of its loop" in refused.stderr, refused


def rejected(weft):
    """A step that reads its own output, and steps that make the same file, are errors before anything runs."""
    for steps, code in [
        ([cached("cp src/a.in src/a.out", ["src/a.in"], ["src"])], "W0227"),
        ([cached("x", ["src/**"], ["src"])], "W0227"), ([cached("x", ["./src/*.c"], ["src"])], "W0227"),
        ([{**cached("x", [], ["src"]), "stdin": {"file": "src/a"}}], "W0227"),
        ([{**cached("x", ["../src/a"], ["../src"]), "cwd": "src"}], "W0227"),
        ([cached("x", ["**", "!src/**"], ["src"])], None), ([cached("x", ["src/**"], ["src/gen"])], None),
        ([cached("x", [], ["out"]), {**cached("y", [], ["out"]), "id": "other"}], "W0228"),
        ([cached("x", [], ["out/a"]), {**cached("y", [], ["out"]), "id": "other"}], "W0228"),
        ([cached("x", [], ["out"]), {**cached("y", [], ["../out/a"]), "id": "other", "cwd": "sub"}], "W0228"),
        ([cached("x", [], ["out/a"]), {**cached("y", [], ["out/ab", "outer"]), "id": "other"}], None),
        ([{**cached("x", [], ["out"]), "forEach": ["one", "two"]}], "W0228"),
        ([{"forEach": {"in": "${{ [1] }}"}, "steps": [cached("x", [], ["out"])]}], "W0228"),
        ([{"forEach": [1, 2], "workflow": "inner.json"}], "W0228"),
        ([{**cached("x", [], ["out"]), "matrix": {"a": [1, 2]}}], "W0228"),
        ([{**cached("x", [], ["out"]), "forEach": ["one"]}], None),
        ([{**cached("x", [], ["out/${{ item }}"]), "forEach": ["one", "two"]}], None),
    ]:
        place = Place(weft, *steps)
        place.write("inner.json", json.dumps({"steps": [cached("x", [], ["out"])]}))
        result = place.call("check", "w.json")
        if code is None:
            assert "W022" not in result.stderr + result.stdout, (steps, result)
        else:
            assert result.returncode == 3 and f"[{code}]" in result.stderr + result.stdout, (steps, result)
            assert place.call("run", "w.json").returncode == 3
    place = Place(weft, {"id": "a", "workflow": "inner.json"}, {"id": "b", "workflow": "inner.json"})
    place.write("inner.json", json.dumps({"steps": [cached("x", [], ["out"])]}))
    said = place.call("check", "w.json").stdout
    assert 'step "b/make" has the cached output' in said and 'of step "a/make"' in said, said
    place = Place(weft, {**cached("mkdir -p src; touch ran", ["src/a"], ["${{ inputs.o }}"])},
                  inputs={"o": {"type": "string", "default": "src"}})
    assert place.run() == [] and "in one of its outputs" in place.warnings[0], place.warnings


def overtaken(weft):
    """A step that reads what another one makes, and does not wait for it, is warned of."""
    make, use = cached("x", [], ["out"]), {**cached("y", ["out/*.c"], []), "id": "use"}
    in_sub = {**cached("y", ["../out/a/b"], []), "id": "use", "cwd": "sub"}
    for workflow, is_warned in [
        ({"parallel": [make, use]}, True), ({"parallel": [use, make]}, True), ({"steps": [use, make]}, True),
        ({"parallel": [make, {"id": "g", "steps": ["true", in_sub]}]}, True),
        ({"parallel": [make, {**cached("y", [], []), "id": "use", "stdin": {"file": "out/a"}}]}, True),
        ({"parallel": [make, {**use, "needs": ["make"]}]}, False), ({"steps": [make, "true", use]}, False),
        ({"steps": [{"id": "g", "parallel": [make]}, in_sub]}, False), ({"steps": [make], "finally": [use]}, False),
        ({"steps": [{"forEach": [1], "id": "l", "steps": [make, use]}]}, False),
        ({"parallel": [make, {**cached("y", ["**", "!out/a"], []), "id": "use"}]}, False),
        ({"parallel": [make, {**cached("y", ["outer", "out2"], []), "id": "use"}]}, False),
    ]:
        place = Place(weft)
        place.write("w.json", json.dumps(workflow))
        result = place.call("check", "w.json", "--strict")
        assert ("[W0518]" in result.stdout) == is_warned, (workflow, result.stdout)
        assert result.returncode == int(is_warned), (workflow, result.stdout)


def forged(weft):
    """An entry that was changed, with a matching hash, is ignored."""
    place = Place(weft, cached("mkdir -p out; echo x > out/x; printf x >> ran", [], ["out"]))
    place.run()
    (entry,) = (f for f in (place.path / ".weft/cache/steps-1").rglob("*") if f.is_file())
    text = json.loads(entry.read_bytes().split(b"\n", 1)[1])
    inside = next(f for f in text["files"] if f[0] == "out/x")
    text["outputs"].append("../pwned")
    text["files"] += [["../pwned", ["directory"], 0, 0o755], ["../pwned/x", *inside[1:]]]
    body = json.dumps(text, separators=(",", ":")).encode()
    entry.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert place.run() == [] and place.read("ran") == "xx"
    assert not (place.path.parent / "pwned").exists()
    assert place.run() == ["make"]


def private(weft):
    place = Place(weft, cached("mkdir -m 700 out; umask 077; echo s > out/secret", [], ["out"]))
    place.run()
    subprocess.run(["rm", "-r", "out"], cwd=place.path, check=True)
    assert place.run() == ["make"]
    modes = [(place.path / name).stat().st_mode & 0o777 for name in ("out", "out/secret")]
    assert modes == [0o700, 0o600], modes


def not_kept(weft):
    """The result of a step that did not succeed cleanly is not cached, and the reason is reported."""
    again = "mkdir -p out; test -e again || { touch out/partial again; exit 1; }; touch out/whole"
    place = Place(weft, {**cached(again, [], ["out"]), "retry": 1})
    assert place.run() == [] and 'left files in "out"' in place.warnings[0], place.warnings
    place = Place(weft, {**cached("test ${{ run.attempt }} = 2", [], []), "retry": 1})
    assert place.run() == [] and "a different one" in place.warnings[0], place.warnings
    place = Place(weft, {**cached("exit 3", [], []), "successCodes": [0, 3]})
    assert place.run() == [] and "exit code is 3" in place.warnings[0], place.warnings


def later_attempts(weft):
    """A result is cached if it took several attempts; what a failed attempt left in its place is not in it."""
    command = "echo part > out; test -e again || { touch again; exit 1; }; cp in out; printf x >> ran"
    place = Place(weft, {**cached(command, ["in"], ["out"]), "retry": {"max": 1, "delay": "0s"}})
    place.write("in", "1")
    assert place.run() == [] and place.warnings == [], place.warnings
    place.write("out", "other")
    assert place.run() == ["make"] and place.read("out") == "1" and place.read("ran") == "x"


def unmatched(weft):
    place = Place(weft, cached("true", ["src/*.c", "in", "!none"], []))
    place.write("in", "1")
    assert place.run() == [] and len(place.warnings) == 1 and "src/*.c" in place.warnings[0], place.warnings
    assert [e["code"] for e in place.events if e["type"] == "run.warning"] == ["unmatched-input"]
    assert place.run() == ["make"] and len(place.warnings) == 1
    place.write("src/a.c", "")
    assert place.run() == [] and place.warnings == []


def unmatched_in_a_loop(weft):
    """A pattern that all elements of a loop share is reported once, for the loop."""
    step = {**cached("true", ["src/*.c", "in", "none-${{ item }}"], []), "forEach": ["a", "b", "c"]}
    place = Place(weft, step)
    place.write("in", "1")
    place.run()
    assert sorted(re.search('"(.*?)" of step "(.*?)"', text).groups() for text in place.warnings) == [
        ("none-a", "make"), ("none-b", "make"), ("none-c", "make"), ("src/*.c", "make")], place.warnings


def unknown_inputs(weft):
    """`weft why` says what an unknown input of a nested file is given, and which of the values that are read is unknown."""
    nested = {"inputs": {"t": {"type": "string", "secret": True}, "u": {"type": "string", "default": "u"}},
              "steps": [{"id": "a", "run": "echo $X", "env": {"X": "${{ inputs.u }}${{ inputs.t }}"}, "cache": {"inputs": []}},
                        {"id": "b", "run": "echo $X", "env": {"X": "${{ inputs.u }}${{ run.id }}"}, "cache": {"inputs": []}}]}
    place = Place(
        weft, {"id": "s", "run": "echo text"},
        *({"id": name, "workflow": "n.json", "with": {"t": value}} for name, value in {
            "secret": "${{ secrets.T }}", "result": "${{ steps.s.stdout }}", "computed": "${{ env.HOME }}",
            "open": "${{ inputs.g }}"}.items()),
        secrets={"T": {"env": "T"}}, inputs={"g": {"type": "string"}})
    place.write("n.json", json.dumps(nested))
    for step, reason in {
            "secret/a": "env.X reads an input that is given a secret",
            "result/a": "env.X reads an input that is given the result of a step",
            "computed/a": "env.X reads an input that is computed",
            "open/a": "env.X reads an input that is not given",
            "open/b": "env.X is computed"}.items():
        result = place.call("why", "w.json", step)
        assert result.stdout == f'"{step}": known only at run time: {reason}\n', result


def new_elements(weft):
    """A new element of a loop is not compared with the results of others; a changed one is, by its outputs."""
    def reasons():
        shown = json.loads(place.call("show", "--format", "json").stdout)
        return {step["step"]: step.get("ranBecause") for step in shown["steps"]}

    def write(items):
        place.write("w.json", json.dumps({"steps": [{
            **cached("cat in-${{ item.name }} > out-${{ item.name }}", ["in-${{ item.name }}"], ["out-${{ item.name }}"]),
            "forEach": {"in": items, "key": "item.name"}}]}))

    place = Place(weft)
    for name in "ab":
        place.write(f"in-{name}", name)
    write([{"name": "a", "size": 1}])
    place.run()
    write([{"name": "a", "size": 2}, {"name": "b", "size": 1}])
    place.run()
    assert reasons() == {"make[a]": "element changed: item", "make[b]": "no result is cached"}, reasons()


def without_reading(weft):
    place = Place(weft, cached("printf x >> ran", [], []))
    place.run()
    assert place.run("--no-cache") == [] and place.read("ran") == "xx"
    assert place.run("--record", "none") == ["make"]


def elsewhere(weft):
    place = Place(weft, cached("printf x >> ran; touch out", ["**", "!ran", "!events"], ["out"]))
    place.run("--state-dir", "state")
    assert place.run("--state-dir", "state") == ["make"], "the state directory is an input"
    assert place.run() == [] and (place.path / ".weft/cache").is_dir()


def limits(weft):
    place = Place(weft, cached("head -c 300000 /dev/zero | tr '\\0' x > out; cat in >> out", ["in"], ["out"]))
    for number in range(12):
        place.write("in", str(number))
        place.run("--cache-limit", "1MiB")
        size = sum(f.stat().st_size for f in (place.path / ".weft/cache").rglob("*") if f.is_file())
        assert size <= 1 << 20, size
    assert place.run(WEFT_CACHE_LIMIT="1MiB") == ["make"]
    place.write("in", "0")
    assert place.run(WEFT_CACHE_LIMIT="1MiB") == [], "what was used least recently is still there"
    place.write("in", "another")
    place.run(WEFT_CACHE_LIMIT="100KB")
    assert "its outputs have" in place.warnings[0], place.warnings
    for wrong in ["much", "-1GB"]:
        assert place.call("run", "w.json", WEFT_CACHE_LIMIT=wrong).returncode == 2
        assert place.call("run", "w.json", "--cache-limit", wrong).returncode == 2


def no_room(weft):
    place = Place(weft, cached("printf x >> ran; touch out", [], ["out"]))
    place.write(".weft/cache", "a file where a directory should be")
    (place.path / ".weft").chmod(0o700)
    assert place.run() == [] and place.run() == []
    assert place.read("ran") == "xx" and "no step is cached" in place.warnings[0]


def two_at_once(weft):
    place = Place(weft, cached(
        "mkdir -p out; for i in 1 2 3 4 5 6 7 8; do cat in > out/$i; done", ["in"], ["out"]))
    place.write("in", "1" * 20000)
    place.run()
    made = place.tree("out")
    for _ in range(10):
        subprocess.run(["rm", "-rf", "out"], cwd=place.path, check=True)
        both = [place.start("run", "w.json") for _ in range(3)]
        assert [one.wait(LIMIT) for one in both] == [0, 0, 0]
        assert place.tree("out") == made
    assert place.run() == ["make"]
    assert not list(place.path.glob(".weft-staged-*"))


def killed(weft):
    """A kill at any moment of storing or restoring leaves only complete files, and the next run is right."""
    place = Place(weft, cached("rm -rf out; cp -r big out", ["big/**"], ["out"]))
    for number in range(40):
        place.write(f"big/{number}", str(number) * 20000)
    place.run()
    made = place.tree("out")
    subprocess.run(["rm", "-rf", ".weft/cache"], cwd=place.path, check=True)
    generator = random.Random(7)
    for attempt in range(40):
        if attempt % 2:
            subprocess.run(["rm", "-rf", "out"], cwd=place.path, check=True)
        engine = place.start("run", "w.json", "--record", "none")
        time.sleep(generator.uniform(0.005, 0.15))
        engine.send_signal(signal.SIGKILL)
        engine.wait(LIMIT)
        place.wait_for_leftovers()
        if attempt % 4 == 3:
            place.run("--record", "none")
            assert place.tree("out") == made, attempt
    subprocess.run(["rm", "-rf", "out"], cwd=place.path, check=True)
    place.run()
    assert place.tree("out") == made and place.run() == ["make"]


def foretold(weft):
    """The forecast of graph agrees with the run; graph starts nothing, and leaves no trace."""
    place = Place(
        weft, {**cached("cat in > mid", ["in"], ["mid"]), "id": "one"},
        {**cached("cat mid > end", ["mid"], ["end"], version="touch asked; echo 1"), "id": "two"},
        "cat end >> ran")
    place.write("in", "1")

    def decisions():
        result = place.call("graph", "w.json", "--format", "json")
        assert result.returncode == 0, result.stderr
        steps = json.loads(result.stdout)["steps"]
        return [step.get("cache", {}).get("decision") for step in steps]

    def traces():
        """All times and sizes below it; reading a directory leaves no trace."""
        found = {}
        for path in sorted(place.path.rglob("*")):
            status = path.lstat()
            found[str(path)] = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return found

    assert decisions() == ["runs", "runs", None] and not (place.path / ".weft").exists()
    place.run()
    (place.path / "asked").unlink()
    (place.path / "mid").unlink()
    before = traces()
    assert decisions() == ["cached", "decidedAtRunTime", None]
    assert place.call("why", "w.json", "one").returncode == 0
    assert place.call("run", "w.json", "--dry-run").returncode == 0
    assert traces() == before
    assert place.run() == ["one", "two"]
    place.write("in", "2")
    assert decisions()[0] == "runs"
    why = place.call("why", "w.json", "one")
    assert why.stdout.startswith('"one" would run: inputs changed\n  inputs  in  '), why.stdout
    assert place.run() == []
    for wrong in [["two words"], ["3"], []]:
        assert place.call("why", "w.json", *wrong).returncode == 2


def open_predictions(weft):
    """predictions name the step that makes the inputs, and count what is only known at run time as such"""
    place = Place(
        weft, {"id": "any", "run": "true"},
        {"id": "read", "run": "echo 1"},
        {**cached("cat > made", [], ["made"]), "id": "make", "stdin": "${{ steps.read.stdout }}"},
        {**cached("cat made", ["made"], []), "id": "use"}, {**cached("true", [], []), "id": "none"},
        {**cached("true", [], [], version="echo 1"), "id": "l", "forEach": ["a", "b"]})
    place.run()
    graph = place.call("graph", "w.json").stdout
    assert '"any" changes' not in graph and 'cached, unless "make" changes its inputs' in graph, graph
    why = place.call("why", "w.json", "none").stdout
    assert "would not run" in why and "unless" not in why, why
    why = place.call("why", "w.json", "l").stdout
    assert why.startswith('"l": 0 of 2 elements are known to be cached\n'), why


def many_predictions(weft):
    """a prediction takes memory in proportion to the number of steps"""
    def megabytes(count):
        steps = [{**cached("true", [f"out{n - 2}"], [f"out{n}"]), "id": f"s{n}"} if n % 2 else "true" for n in range(count)]
        place = Place(weft, *steps)
        process = subprocess.Popen(
            place.arguments("graph", "w.json"), cwd=place.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, status
        return usage.ru_maxrss >> 10
    few, many = megabytes(1000), megabytes(3000)
    assert many < 3 * few, (few, many)


def gone_on_with(weft):
    place = Place(
        weft, cached("printf x >> ran; echo said", [], []),
        {"run": "cat > text; test -e go", "stdin": "${{ steps.make.stdout }}"})
    place.run(expected=1)
    assert place.run(expected=1) == ["make"]
    place.write("go", "")
    (place.path / "text").unlink()
    result = place.call("resume", "--events", "events")
    assert result.returncode == 0, result.stderr
    kinds = [json.loads(line) for line in place.read("events").splitlines()]
    assert any(e["type"] == "step.restored" and e["step"] == "make" for e in kinds)
    assert place.read("text") == "said" and place.read("ran") == "x"


def strange_outputs(weft):
    """Nothing is restored through links, whatever their names; outputs that are not files are not cached."""
    place = Place(weft, cached("rm -rf out; mkdir out; echo made > out/a", [], ["out"]))
    assert place.run() == []
    place.write("outside/a", "mine")
    shutil.rmtree(place.path / "out")
    (place.path / "out").symlink_to("outside")
    place.run()
    assert place.read("outside/a") == "mine" and place.read("out/a") == "made\n"
    for link in (os.link, os.symlink):
        (place.path / "out/a").unlink()
        link(place.path / "outside/a", place.path / "out/a")
        place.run()
        assert place.read("outside/a") == "mine" and place.read("out/a") == "made\n", link
        assert not (place.path / "out/a").is_symlink() and (place.path / "out/a").stat().st_nlink == 1
    makers = ["mkfifo out"] + (["mknod out c 1 3"] if os.geteuid() == 0 else [])
    for maker in makers:
        place = Place(weft, cached(f"rm -rf out; {maker}", [], ["out"]))
        assert place.run() == [] and place.run() == [], maker
        assert any("is not cached" in w for w in place.warnings), (maker, place.warnings)
    for path in ("../out", "/tmp/out", "a/../../out"):
        place = Place(weft, cached("true", [], [path]))
        assert place.call("run", "w.json").returncode == 3, path


def said_again(weft):
    """A step restored from the cache has the log of its original run, and readers of the log see no difference."""
    script = "echo one; sleep 0.1; echo warning: two >&2; sleep 0.1; printf tail"
    place = Place(
        weft, cached(script, [], []), {"id": "use", "run": "cat > read", "stdin": {"log": "make"}})
    assert place.run() == []
    for _ in range(2):
        (place.path / "read").unlink()
        assert place.run() == ["make"]
        lines = [(e["stream"], e["text"]) for e in place.events if e["type"] == "step.output"]
        assert lines == [("stdout", "one"), ("stderr", "warning: two"), ("stdout", "tail")], lines
        types = [e["type"] for e in place.events if e.get("step") == "make"]
        assert types == ["step.queued"] + 3 * ["step.output"] + ["step.cached"], types
        assert place.read("read") == "one\nwarning: two\ntail"
        logs = place.call("logs", "make")
        assert logs.stdout == "one\nwarning: two\ntail" and "cached" in logs.stderr, logs
    shown = place.call("run", "w.json").stdout
    assert "[make] warning: two\n" in shown and "[make] cached (" in shown, shown
    followed = place.call("show", "--follow").stdout
    assert "[make] warning: two\n" in followed, followed


def said_at_length(weft):
    """For a long log, only the beginning is kept, and a step whose whole log is read runs."""
    maker = cached("seq 1 300000", [], [])
    place = Place(weft, maker)
    assert place.run() == [] and place.run() == ["make"]
    log = place.call("logs", "make").stdout
    assert 1_000_000 < len(log) < 1_100_000 and log.startswith("1\n2\n"), len(log)
    assert log.endswith("\nweft: the rest of this log is not cached\n"), log[-100:]
    place.write("w.json", json.dumps(
        {"steps": [maker, {"id": "use", "run": "cat > read", "stdin": {"log": "make"}}]}))
    assert "its cached result is incomplete" in place.call("why", "w.json", "make").stdout
    assert place.run() == [] and len(place.read("read").splitlines()) == 300000


def said_without_secrets(weft):
    place = Place(
        weft, {**cached("echo \"it is $S\"", [], []), "env": {"S": "${{ secrets.S }}"}},
        secrets={"S": {"env": "TOKEN"}})
    assert place.run(TOKEN="hunter22-hunter22") == [] and place.run(TOKEN="hunter22-hunter22") == ["make"]
    assert [e["text"] for e in place.events if e["type"] == "step.output"] == ["it is ***"]
    kept = [p for p in (place.path / ".weft").rglob("*") if p.is_file() and b"hunter22" in p.read_bytes()]
    assert not kept, kept


def cut_off(weft):
    """A step that was running when weft was killed starts again: a cached step may run twice."""
    place = Place(weft, cached("test -e go || { touch here; sleep 60; }; touch out", [], ["out"]))
    engine = place.start("run", "w.json")
    end = time.monotonic() + LIMIT
    while not (place.path / "here").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    engine.send_signal(signal.SIGKILL)
    engine.wait(LIMIT)
    place.write("go", "")
    result = place.call("resume")
    assert result.returncode == 0, result.stderr
    assert place.run() == ["make"]


CASES = [
    ("X06: what a step has not made stays, and is told of", stays),
    ("X06: a step that reads its own output, and steps that make the same, are errors", rejected),
    ("X15: an entry that was forged is not used", forged),
    ("X34: what is put back is open to nobody else", private),
    ("X62: why a success is not kept is told", not_kept), later_attempts,
    open_predictions, many_predictions, overtaken,
    ("X68: a pattern that matches nothing is told", unmatched), unmatched_in_a_loop, new_elements, unknown_inputs,
    ("S19: outputs lead nowhere else by links, and are files", strange_outputs),
    ("X75: what a cached step wrote is shown again, and read by others", said_again),
    ("X75: of a long log the beginning is kept", said_at_length),
    ("X75: no secret is in a log that is kept", said_without_secrets),
] + [(case.__name__.replace("_", " "), case) for case in (
    comes_back, stale, downloaded, element_by_element, without_reading, elsewhere, limits, no_room, two_at_once,
    killed, foretold, gone_on_with, cut_off)]

if __name__ == "__main__":
    sys.exit(cases.run(__doc__, CASES))
