#!/usr/bin/env python3
"""Checks weft estimate from outside: its predictions beside real runs, and against list scheduling by hand.

usage: test_estimate.py PATH_TO_WEFT
"""

import heapq
import json
import os
import random
import re
import shutil
import subprocess
import sys

from lib import cases
from lib.place import Place, crc32c

PARALLEL = (1, 2, 4, 8)
REAL_RUNS = 4


def sleeps(seed):
    """A workflow of sleeps of 50 to 400 ms, with random dependencies, groups, and a loop."""
    chance = random.Random(seed)

    def pause():
        return f"sleep {chance.randint(50, 400) / 1000}"

    steps = []
    for index in range(chance.randint(14, 20)):
        step = {"id": f"s{index}", "run": pause()}
        known = [f"s{other}" for other in range(index)]
        step["needs"] = sorted(chance.sample(known, min(len(known), chance.choice((0, 0, 1, 1, 2)))))
        steps.append(step)
    times = [chance.randint(50, 400) / 1000 for _ in range(4)]
    steps.append({"id": "loop", "needs": ["s0"], "forEach": {"in": times}, "run": "sleep ${{ item }}"})
    return {"steps": [{"id": "all", "parallel": steps}]}


def longest_first(steps, slots):
    """The makespan in microseconds of list scheduling: of the ready steps, the one with the longest path below it starts
    first; with one slot, the first in the file. steps: {id: (microseconds, dependencies)}, in file order."""
    order = list(steps)
    dependents = {step: [other for other in order if step in steps[other][1]] for step in order}
    below = {}
    for step in reversed(order):
        below[step] = steps[step][0] + max((below[other] for other in dependents[step]), default=0)
    key = {step: (0 if slots == 1 else -(below[step] // 1000), order.index(step)) for step in order}
    left = {step: len(steps[step][1]) for step in order}
    ready = [(key[step], step) for step in order if not left[step]]
    heapq.heapify(ready)
    running, now = [], 0
    while ready or running:
        while ready and len(running) < slots:
            _, step = heapq.heappop(ready)
            heapq.heappush(running, (now + steps[step][0], order.index(step), step))
        now = running[0][0]
        while running and running[0][0] == now:
            _, _, step = heapq.heappop(running)
            for other in dependents[step]:
                left[other] -= 1
                if not left[other]:
                    heapq.heappush(ready, (key[other], other))
    return now


class Estimates(Place):
    def estimate(self, *arguments, code=0):
        result = self.call("estimate", "w.json", "--format", "json", *arguments)
        assert result.returncode == code, result
        return json.loads(result.stdout) if code == 0 else result.stderr

    def predicted(self, *arguments):
        """The prediction in seconds for each -j."""
        found = self.estimate(*arguments)["predictions"]
        return {one["maxParallel"]: one["durationUs"] / 1e6 for one in found}

    def text(self, *arguments):
        result = self.call("estimate", "w.json", *arguments)
        assert result.returncode == 0, result
        return result.stdout

    def took(self, *arguments):
        """The time in seconds that a run takes, as its report says."""
        result = self.run(*arguments)
        assert result.returncode == 0, result
        (latest,) = json.loads(self.call("runs", "--limit", "1", "--format", "json").stdout)["runs"]
        return latest["durationUs"] / 1e6

    def files(self):
        """Everything in the directory, with its content."""
        return {path: path.read_bytes() for path in self.path.rglob("*") if path.is_file()}


def test_prediction_of_sleeps(seed):
    def case(weft):
        notes = []
        for parallel in PARALLEL:
            place = Estimates(weft, sleeps(seed))
            errors = []
            # A busy machine may lengthen the sleeps of the run that is measured, or of the run that was predicted.
            while len(errors) < REAL_RUNS and not (errors and abs(errors[-1]) <= 0.1):
                place.took("-j", "4", "--keep", "1")
                predicted = place.predicted("-j", str(parallel))[parallel]
                errors.append(predicted / place.took("-j", str(parallel)) - 1)
            assert abs(errors[-1]) <= 0.1, (parallel, errors)
            notes.append(f"-j {parallel} {errors[-1]:+.1%}")
        return ", ".join(notes)

    return f"a prediction is within 10 % of the run, workflow {seed}", case


def test_list_scheduling(weft):
    """A prediction is that of list scheduling, to the microsecond"""
    for seed in range(6):
        chance = random.Random(seed)
        steps = {}
        for index in range(30):
            known = list(steps)
            needs = chance.sample(known, min(len(known), chance.randint(0, 2)))
            # Exact to the microsecond, so that hardly two ever end at the same time.
            steps[f"s{index}"] = (chance.randint(100_000, 4_000_000), needs)
        place = Estimates(weft, {"steps": [{"parallel": [
            {"id": step, "run": "true", "needs": needs} for step, (_, needs) in steps.items()]}]})
        place.took("--keep", "1")
        with_durations(place, {step: microseconds for step, (microseconds, _) in steps.items()})
        for parallel in (*PARALLEL, 3):
            wanted = longest_first(steps, parallel) / 1e6
            assert place.predicted("-j", str(parallel))[parallel] == wanted, (seed, parallel, wanted)


def with_durations(place, durations):
    """Removes the runs, and replaces the durations that are kept beside them."""
    shutil.rmtree(place.path / ".weft/runs")
    (place.path / ".weft/runs").mkdir(mode=0o700)
    (kept,) = (place.path / ".weft/durations/1").iterdir()
    lines = "".join(f"1 {duration} {step}\n" for step, duration in durations.items())
    kept.write_text(lines + sealed(lines))


def sealed(text):
    return f"crc32c {crc32c(text.encode()):08x}\n"


PLAIN = {"steps": [{"id": "build", "run": "sleep 0.2"}, {"parallel": [
    {"id": "unit", "run": "sleep 0.3"}, {"id": "lint", "run": "sleep 0.1"}]}]}


def test_nothing_recorded(weft):
    """Without durations it exits with 1 and says what to do"""
    place = Estimates(weft, PLAIN)
    assert "weft run w.json" in place.estimate(code=1)
    place.run("--record", "none")
    assert "no durations" in place.estimate(code=1)
    # A failure measures nothing.
    place.write({"steps": ["exit 1"]})
    place.run()
    assert "no durations" in place.estimate(code=1)


def test_standard_input(weft):
    """A workflow from standard input is predicted by its name, and the help says that it needs one"""
    place = Estimates(weft, PLAIN)

    def call(workflow, *words):
        return subprocess.run([weft, *words, "-"], input=json.dumps(workflow), cwd=place.path, text=True, capture_output=True)

    named = {**PLAIN, "name": "by name"}
    assert 'give it a "name"' in call(PLAIN, "estimate").stderr
    assert "run it first: weft run -" in call(named, "estimate").stderr
    assert call(named, "run").returncode == 0
    assert call(named, "estimate").returncode == 0


def test_bad_usage(weft):
    """Misuse exits with 2, names what is wrong and the remedy"""
    place = Estimates(weft, PLAIN)
    place.took()
    for words, message, remedy in (
            (("-j", "0"), '"-j" is "0"', "for example: -j"),
            (("-j", "4", "-j", "x"), '"-j" is "x"', "for example: -j"),
            (("--faster", "build"), '"--faster" is "build"', "--faster build=2x"),
            (("--faster", "build=2"), "a factor after", "--faster build=2x"),
            (("--faster", "build=0x"), "greater than 0", "2x is half the time"),
            (("--faster", "build=-2x"), "a factor after", "--faster build=2x"),
            (("--faster", "=2x"), "STEP=2x", "--faster build=2x"),
            (("--faster", "build=nanx"), "a factor after", "--faster build=2x"),
            (("--faster", "build=2x", "--faster", "build=3x"), "each step once", "multiply"),
            (("--faster", "biuld=2x"), '"biuld" is not a step', 'did you mean "build"?'),
            (("--only", "unti",), '"unti" is not a step', 'did you mean "unit"?'),
            (("--format", "yaml",), '"--format" is "yaml"', "weft help estimate"),
            (("-i", "x=1"), '"x" is not an input', "the workflow has no inputs")):
        result = place.estimate(*words, code=2)
        assert message in result and remedy in result, (words, result)
    place.write({"steps": [{"id": "build", "run": "true", "needs": ["none"]}]})
    place.estimate(code=3)
    assert place.call("estimate").returncode == 2
    assert place.call("estimate", "other.json").returncode == 2


def test_nothing_is_written(weft):
    """Nothing is started, and no file changes"""
    place = Estimates(weft, {"inputs": {"n": {"type": "integer"}}, "steps": [
        {"id": "a", "run": "echo ran >> done; echo '[1, 2]'; echo x=1 >> $WEFT_OUTPUT",
         "outputs": {"list": "${{ self.json }}", "x": {"type": "string"}}},
        {"id": "b", "forEach": {"in": "${{ steps.a.outputs.list }}"}, "run": "echo ran >> done", "jobserver": True},
        {"id": "c", "if": "steps.a.outputs.x == '1'", "run": "echo ran >> done",
         "cache": {"inputs": ["w.json"], "outputs": []}}]})
    assert place.run("-i", "n=1").returncode == 0
    before = place.files()
    names = [step["step"] for step in place.estimate("-j", "2")["criticalPath"]]
    assert set(names) <= {"a", "b[0]", "b[1]", "c"} and "a" in names, names
    place.estimate("--no-cache", "-j", "3", "--faster", "b=2x")
    assert place.files() == before
    if not shutil.which("strace"):
        return "without strace"
    trace = place.path / "trace"
    subprocess.run(
        ["strace", "-f", "-o", trace, "-e", "trace=process,%file", weft, "estimate", "w.json"],
        cwd=place.path, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    calls = trace.read_text()
    assert calls.count("execve(") == 1, calls
    for word in ("O_CREAT", "O_WRONLY", "O_RDWR", "O_TMPFILE", "mkdir", "unlink", "rename"):
        # The folders of the cache exist; a call that fails changes nothing.
        lines = [line for line in calls.splitlines()
                 if word in line and not any(part in line for part in ("/dev/", "/proc/", " = -1 "))]
        assert not lines, lines


def test_faster_groups(weft):
    """A faster group has faster members, whatever their ids, and the same cleanup"""
    place = Estimates(weft, {"steps": [{"id": "g", "cleanup": "sleep 0.1", "steps": [
        {"id": "a", "run": "sleep 0.2"}, "sleep 0.2"]}]})
    place.took()
    before, after = place.predicted("-j", "1")[1], place.predicted("-j", "1", "--faster", "g=4x")[1]
    took = {one["step"]: one["durationUs"] / 1e6 for one in json.loads(place.call("show", "--format", "json").stdout)["steps"]}
    cleanup = took.pop("g.cleanup")
    # Beside the steps, starting each takes a moment.
    assert abs(before - after - 0.75 * sum(took.values())) < 0.02 and after > cleanup, (before, after, took, cleanup)


def test_tolerated_only(weft):
    """A run of which every step failed and was tolerated is a basis, too"""
    place = Estimates(weft, {"steps": [{"id": "g", "allowFailure": True, "steps": [{"id": "a", "run": "exit 3"}]}]})
    assert place.run().returncode == 0
    assert len(place.estimate()["basis"]["runs"]) == 1
    assert "not kept any more" not in place.text()


def test_unrecorded_outputs(weft):
    """Outputs of the run that read what is not recorded do not end the prediction as a failure"""
    place = Estimates(weft, {
        "secrets": {"T": {"env": "TOKEN"}},
        "steps": [{"id": "s", "run": "echo x=$T >> $WEFT_OUTPUT", "env": {"T": "${{ secrets.T }}"},
                   "outputs": {"x": {"type": "string"}}}],
        "outputs": {"s": "${{ steps.s.outputs.x }}"}})
    os.environ["TOKEN"] = "hunter2-secret"
    try:
        assert place.run().returncode == 0
        assert [one["outcome"] for one in place.estimate()["predictions"]] == ["success"], place.estimate()
        assert "failure" not in place.text(), place.text()
    finally:
        del os.environ["TOKEN"]


def test_edited_workflow(weft):
    """Renamed, added and changed steps are named"""
    place = Estimates(weft, PLAIN)
    place.took()
    place.write({"steps": [{"id": "build", "run": "sleep 0.1"}, {"parallel": [
        {"id": "tests", "run": "sleep 0.3"}, {"id": "lint", "run": "sleep 0.1"}]}]})
    found = place.estimate()
    assert found["basis"]["unmeasured"] == ["tests"], found
    assert found["basis"]["changed"] == ["build"], found
    assert [one["earlier"]["otherFile"] for one in found["predictions"]] == [True], found
    text = place.text()
    assert "never measured" in text and "tests" in text and "before the file changed" in text, text


def test_cached_and_interrupted(weft):
    """Cached results are no measurements, and steps of interrupted runs are"""
    place = Estimates(weft, {"steps": [
        {"id": "a", "run": "sleep 0.2", "cache": {"inputs": ["w.json"], "outputs": []}},
        {"id": "b", "run": "sleep 0.1; test ! -e fail"}]})
    place.took()
    (place.path / "fail").touch()
    assert place.run().returncode == 1
    found = place.estimate()
    # The second run measured nothing: one step was cached, and the other failed.
    assert found["basis"]["cached"] == ["a"] and len(found["basis"]["runs"]) == 1, found
    assert "earlier" not in found["predictions"][0], found
    assert 0.1 <= found["predictions"][0]["durationUs"] / 1e6 < 0.2, found
    whole = place.estimate("--no-cache")["predictions"][0]
    assert whole["durationUs"] / 1e6 >= 0.3 and whole["earlier"]["durationUs"] >= 300_000, whole
    # The prediction of the latest -j is a comparison when others have none.
    assert [one["maxParallel"] for one in place.estimate("--no-cache", "-j", "77")["predictions"]][0] == 77
    process = place.start("run", "w.json", "--no-cache")
    place.until(lambda: "step.finished" in newest_journal(place))
    process.kill()
    process.wait()
    assert len(place.estimate()["basis"]["runs"]) == 2


def newest_journal(place):
    folders = sorted((place.path / ".weft/runs").iterdir())
    journals = [folder / "journal.jsonl" for folder in folders if (folder / "journal.jsonl").exists()]
    return max(journals, key=os.path.getmtime).read_text() if len(journals) == 3 else ""


def test_inputs_decide(weft):
    """Inputs decide conditions and loops; those of the latest run stand in for missing ones"""
    place = Estimates(weft, {
        "inputs": {"deep": {"type": "boolean"}, "items": {"type": "array", "default": [1]}},
        "steps": [{"id": "a", "run": "sleep 0.05"}, {"id": "b", "if": "inputs.deep", "run": "sleep 0.2"},
                  {"id": "c", "forEach": {"in": "${{ inputs.items }}"}, "run": "sleep 0.1"}]})
    assert "deep" in place.estimate(code=2)
    assert place.run("-i", "deep=true").returncode == 0
    durations = {}
    for words in ((), ("-i", "deep=false"), ("-i", "items:=[1,2,3]", "-j", "1")):
        found = place.estimate(*words)
        durations[words] = found["predictions"][0]["durationUs"] / 1e6
        assert found["basis"]["inputs"] == ([] if "deep=false" in words else ["deep"]), found
    assert durations[()] - durations["-i", "deep=false"] >= 0.2, durations
    assert durations["-i", "items:=[1,2,3]", "-j", "1"] - durations[()] >= 0.2, durations


def test_state_decides(weft):
    """Conditions read the state that earlier runs have kept, as the next run would"""
    place = Estimates(weft, {
        "state": {"last": {"type": "string", "default": "", "value": "${{ steps.n.stdout }}"}},
        "steps": [{"id": "n", "run": "cat version"}, {"id": "d", "if": "steps.n.stdout != state.last", "run": "sleep 0.3"}]})
    (place.path / "version").write_text("1")
    assert place.took() >= 0.3
    found = place.estimate()
    assert found["predictions"][0]["durationUs"] < 200_000 and not found["basis"]["conditions"], found
    assert place.took() < 0.2


def close(place, parallel, *, seconds):
    """The prediction for -j is that of the next run, which takes at least so long; the machine may be busy."""
    predicted = place.predicted("-j", str(parallel))[parallel]
    took = place.took("-j", str(parallel))
    assert abs(predicted - took) < 0.25 and took > 0.9 * seconds, (parallel, predicted, took)


def test_resources(weft):
    """Steps that request all processors run one after another, and the limit is named"""
    place = Estimates(weft, {"parallel": [
        {"id": name, "run": "sleep 0.3", "resources": {"cpus": os.cpu_count()}} for name in "abc"]})
    place.took()
    close(place, 8, seconds=0.9)
    found = place.estimate("-j", "8")
    assert {"limit": "resources"}.items() <= found["limits"][0].items(), found
    assert [link["start"] for link in found["criticalPath"]] == ["immediate", "resources", "resources"], found


def test_too_large_requests(weft):
    """A step that requests more than the machine has fails in predictions as in the run; whatever tolerates that does"""
    steps = [{"id": "a", "run": "sleep 0.2"},
             {"id": "big", "run": "sleep 0.2", "resources": {"memory": "${{ inputs.memory }}"}},
             {"id": "each", "forEach": ["1MiB", "900TiB"], "run": "sleep 0.2", "allowFailure": ["limit"],
              "resources": {"memory": "${{ item }}"}},
             {"id": "z", "run": "sleep 0.2"}]
    place = Estimates(weft, {"inputs": {"memory": {"default": "1MiB"}}, "steps": steps})
    place.took()
    found = place.estimate()
    assert found["predictions"][0]["outcome"] == "success", found
    assert [known["step"] for known in found["basis"]["failures"]] == ["each[1]"], found
    graph = place.call("graph", "w.json").stdout
    assert graph.count("fails: ") == 1 and "fails: each[1]: it needs 900TiB of memory, and there is only" in graph, graph
    found = place.estimate("-i", "memory=800TiB")
    assert found["predictions"][0]["outcome"] == "failure", found
    (known,) = found["basis"]["failures"]
    assert known["step"] == "big" and "did not start: it needs 800TiB of memory" in known["message"], found
    assert [link["step"] for link in found["criticalPath"]] == ["a"], found
    text = place.call("estimate", "w.json", "-i", "memory=800TiB").stdout
    assert "the run would end early: failure" in text and "big did not start: it needs 800TiB" in text, text
    graph = json.loads(place.call("graph", "w.json", "-i", "memory=800TiB", "--format", "json").stdout)
    assert "it needs 800TiB of memory" in graph["steps"][1]["fails"] and "fails" not in graph["steps"][0], graph
    done = place.call("run", "w.json", "-i", "memory=800TiB")
    assert done.returncode == 1 and '"big" failed' in done.stdout, done


def test_services(weft):
    """A service keeps its slots of pools until it has ended, and takes its time to end"""
    place = Estimates(weft, {"pools": {"p": 2}, "steps": [
        {"id": "s", "pool": "p", "run": "sleep 0.3; echo up; exec sleep 20", "service": {"ready": {"log": "up"}}},
        {"id": "l", "forEach": [1, 2, 3], "pool": "p", "run": "sleep 0.4"}]})
    place.took("-j", "4")
    close(place, 4, seconds=1.5)

    slow = "trap 'sleep 0.8; exit' TERM; echo ready; while :; do sleep 0.05; done"
    place = Estimates(weft, {"steps": [
        {"id": "g", "steps": [{"id": "s", "run": slow, "service": {"ready": {"log": "ready"}}}, {"id": "u", "run": "sleep 0.3"}]},
        {"id": "after", "run": "sleep 0.2"}]})
    place.took()
    close(place, 4, seconds=1.35)
    path = place.estimate()["criticalPath"]
    assert [(link["step"], link["start"]) for link in path][1:] == [
        ("u", "dependency"), ("s", "stopping"), ("after", "dependency")], path


def test_losers(weft):
    """Losers that got their slot late still lose, and take the time that they need to end"""
    place = Estimates(weft, {"steps": [
        {"id": "r", "forEach": [1, 2], "race": [{"id": "a", "run": "sleep 0.3"}, {"id": "b", "run": "sleep 3"}]}]})
    place.took("-j", "2")
    close(place, 8, seconds=0.3)

    place = Estimates(weft, {"steps": [
        {"id": "j", "join": {"atLeast": 2}, "parallel": [
            {"id": "p1", "run": "sleep 0.2"}, {"id": "p2", "run": "sleep 0.5"}, {"id": "p3", "run": "sleep 3"}]},
        {"id": "k", "run": "sleep 0.1"}]})
    place.took("-j", "2")
    close(place, 4, seconds=0.6)

    place = Estimates(weft, {"steps": [
        {"id": "r", "race": [{"id": "p1", "run": "sleep 0.3"}, {"id": "p2", "run": "trap 'sleep 0.8; exit 1' TERM; sleep 5 & wait"}]},
        {"id": "k", "run": "sleep 0.1"}]})
    place.took()
    close(place, 4, seconds=1.25)
    path = place.estimate()["criticalPath"]
    assert [(link["step"], link["start"]) for link in path] == [
        ("p1", "immediate"), ("p2", "stopping"), ("k", "dependency")], path


def test_cleanups(weft):
    """Cleanups run one at a time, which is given as the reason"""
    place = Estimates(weft, {"steps": [{"id": "g", "forEach": ["x", "y"], "run": "sleep 0.05", "cleanup": "sleep 0.2"}]})
    place.took()
    close(place, 4, seconds=0.47)
    path = place.estimate()["criticalPath"]
    assert [link["start"] for link in path] == ["immediate", "dependency", "cleanup"], path
    graph = place.call("graph", "w.json").stdout
    assert "4 with all elements" in graph and graphed(graph) > 440, graph

    place = Estimates(weft, {"steps": [{"id": name, "run": "sleep 0.05", "cleanup": "sleep 0.2"} for name in "ab"]})
    place.took()
    graph = place.call("graph", "w.json").stdout
    assert "longest path 4 steps, width 1" in graph and graph.endswith("a, b, b.cleanup, a.cleanup\n"), graph
    assert graphed(graph) > 490, graph

    # In elements of a loop over a group, the cleanups of different elements run at once.
    place = Estimates(weft, {"steps": [{
        "id": "l", "forEach": [1, 2], "steps": [{"id": "x", "run": "sleep 0.05", "cleanup": "sleep 0.2"}], "cleanup": "sleep 0.1"}]})
    place.took("-j", "4")
    close(place, 4, seconds=0.47)
    graph = place.call("graph", "w.json").stdout
    assert "6 with all elements" in graph and 440 < graphed(graph) < 640, graph


def graphed(text):
    """The milliseconds of the critical path in the output of weft graph."""
    return int(re.search(r"critical path (\d+) ms", text)[1])


def test_limit_of_each_element(weft):
    """The maxParallel of a group limits each element of its loop, and the graph says so"""
    place = Estimates(weft, {"steps": [{
        "id": "m", "matrix": {"a": [1, 2, 3]}, "maxParallel": 1,
        "parallel": [{"id": "x", "run": "sleep 0.1"}, {"id": "y", "run": "sleep 0.1"}]}]})
    assert "matrix a (3); at most 1 at once in each element" in place.call("graph", "w.json").stdout
    assert place.took("-j", "8") < 0.45


def test_approvals(weft):
    """The time that people took is no part of a prediction, and named beside the run"""
    place = Estimates(weft, {"steps": [{"id": "a", "run": "sleep 0.1"}, {"id": "ask", "approve": "go?"}]})
    assert place.run().returncode == 75
    assert place.call("approve", "ask").returncode == 0
    assert place.resume().returncode == 0
    found = place.estimate()
    assert found["basis"]["unforeseeable"] == ["ask"], found
    assert 0.1 <= found["predictions"][0]["durationUs"] / 1e6 < 0.2, found


def test_other_workflows(weft):
    """Runs of other files do not count, whatever their names"""
    place = Estimates(weft, PLAIN)
    place.took()
    (place.path / "sub").mkdir()
    (place.path / "sub/w.json").write_text(json.dumps({"steps": [{"id": "build", "run": "sleep 1"}]}))
    assert place.call("run", "sub/w.json").returncode == 0
    assert place.predicted()
    assert len(place.estimate()["basis"]["runs"]) == 1
    moved = place.call("estimate", "./sub/../w.json", "--format", "json")
    assert len(json.loads(moved.stdout)["basis"]["runs"]) == 1, moved


CASES = [
    *(test_prediction_of_sleeps(seed) for seed in (1, 2, 3)),
    test_list_scheduling,
    test_nothing_recorded, test_standard_input,
    test_bad_usage,
    test_nothing_is_written,
    test_faster_groups,
    test_tolerated_only, test_unrecorded_outputs,
    test_edited_workflow,
    test_cached_and_interrupted,
    test_inputs_decide,
    test_state_decides, test_resources, test_too_large_requests, test_services, test_losers, test_cleanups, test_limit_of_each_element,
    test_approvals,
    test_other_workflows,
]

if __name__ == "__main__":
    sys.exit(cases.run(__doc__, CASES))
