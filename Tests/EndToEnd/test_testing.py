#!/usr/bin/env python3
"""Runs `weft test` from outside: hostile files, real steps, cases written from real runs.

usage: test_testing.py PATH_TO_WEFT
"""

import collections
import contextlib
import http.server
import json
import os
import pathlib
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

from lib import cases, pace, server

LIMIT = 60  # seconds, against hanging only
KILLED = 10  # runs whose weft is killed
GENERATED = 60  # workflows whose runs become cases
EXPECTED = {"outcome": "success"}


class Place:
    """A directory with a workflow and its tests."""

    def __init__(self, weft, steps, **workflow):
        self.weft = weft
        self.directory = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.path = pathlib.Path(self.directory.name)
        self.write("w.json", json.dumps({**workflow, "steps": steps}))

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text)

    def tests(self, *cases, name="w.test.json", **shared):
        self.write(name, json.dumps({"workflow": "w.json", **shared, "cases": [
            {"name": f"case {number}", **case} for number, case in enumerate(cases)]}))

    def run(self, *arguments, expect=0, directory=".", **options):
        done = subprocess.run([self.weft, *arguments], cwd=self.path / directory, capture_output=True, text=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, **options)
        assert expect in (None, done.returncode), (arguments, done.returncode, done.stdout, done.stderr)
        return done

    def test(self, *arguments, expect=0, **options):
        return self.run("test", *arguments, expect=expect, **options)


def interrupted(place, number):
    """Sends a signal to a run whose step has begun, and returns its exit code."""
    process = subprocess.Popen(
        [place.weft, "run", "w.json"], cwd=place.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until((place.path / "begun").exists)
    process.send_signal(number)
    return process.wait(LIMIT)


def nothing_runs(weft):
    """nothing real runs, is written or is sent"""
    place = Place(weft, [
        {"id": "a", "run": "touch made"}, {"id": "b", "http": {"url": "http://127.0.0.1:1/x", "saveTo": "saved"}},
        {"id": "c", "run": ["touch", "made"], "cache": {"inputs": ["w.json"], "outputs": ["made"]}}])
    place.tests({"expect": EXPECTED}, steps={"a": {}, "b": {"http": {"body": "x"}}, "c": {}})
    before = sorted(os.listdir(place.path))
    place.test()
    assert sorted(os.listdir(place.path)) == before, os.listdir(place.path)


def cached_requests(weft):
    """requests with a cache in a folder, or for the run, have their scripted results, and no folder is made"""
    steps = [{"id": "a", "http": {"url": "http://127.0.0.1:1/x", "cache": ".hc"}},
             {"id": "b", "forEach": [1, 2], "http": {"url": "http://127.0.0.1:1/y", "cache": True, "saveTo": "saved"}}]
    place = Place(weft, steps)
    answer = {"http": {"status": 200, "headers": {"Cache-Control": "max-age=60"}, "body": "hi"}}
    place.tests({"expect": EXPECTED}, steps={"a": answer, "b[*]": answer})
    before = sorted(os.listdir(place.path))
    place.test()
    assert sorted(os.listdir(place.path)) == before, os.listdir(place.path)
    place = Place(weft, [{**steps[0], "allowFailure": True}])
    place.run("init", "--test", "w.test.json")
    place.test("w.test.json")
    place.run("run", "w.json")
    [run] = [run.name for run in (place.path / ".weft/runs").iterdir()]
    place.write("again.test.json", place.test("--from-run", run).stdout)
    place.test("again.test.json")


def real_steps(weft):
    """a real step runs with the environment of the case alone, and its output is a value"""
    place = Place(weft, [
        {"id": "a", "run": "echo \"$WORD\"; touch made", "outputs": {"word": "${{ self.stdout }}"}},
        {"id": "b", "run": ["say", "${{ steps.a.outputs.word }}"]}])
    place.tests({"expect": {"duration": "1h", "steps": {"b": {"run": ["say", "hello"]}}}},
                steps={"a": {"real": True}, "b": {"takes": "1h"}}, env={"WORD": "hello"})
    place.test()
    assert (place.path / "made").exists()
    place = Place(weft, [{"id": "a", "run": "env > seen"}])
    place.tests({"expect": EXPECTED}, {"expect": EXPECTED, "env": {"HOME": "/nowhere", "WORD": "hello"}},
                steps={"a": {"real": True}})
    place.test("--seed", "0", env={**os.environ, "LEAKED": "1", "HOME": "/somewhere"})
    seen = dict(line.split("=", 1) for line in (place.path / "seen").read_text().splitlines())
    assert "LEAKED" not in seen and seen["HOME"] == "/nowhere" and seen["WORD"] == "hello" and seen["PATH"], seen


def signals(weft):
    """a signal stops what is real, and names the case; the exit code is that of the signal"""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        place = Place(weft, [{"id": "a", "run": "echo $$ > pid; sleep 100"}])
        place.tests({"expect": EXPECTED}, {"expect": EXPECTED}, steps={"a": {"real": True}})
        process = subprocess.Popen([weft, "test"], cwd=place.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, start_new_session=True)
        pid = place.path / "pid"
        deadline = time.monotonic() + LIMIT
        while not (pid.exists() and pid.read_text().strip()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(number)
        output, _ = process.communicate(timeout=LIMIT)
        assert process.returncode == 128 + number, (process.returncode, output)
        assert "case 0" in output and "interrupted" in output and "case 1" not in output, output
        try:
            os.kill(int(pid.read_text()), 0)
            raise AssertionError("the step is still alive")
        except ProcessLookupError:
            pass


def real_failures(weft):
    """a real step that fails, or hangs until its time limit, ends as in a run"""
    place = Place(weft, [{"id": "a", "run": "exit 7", "allowFailure": True},
                         {"id": "b", "run": "sleep 1000", "timeout": "200ms"}])
    place.tests({"expect": {"steps": {"a": {"exit": 7}, "b": {"reason": "timeout"}}}}, steps={"*": {"real": True}})
    begun = time.monotonic()
    place.test()
    assert time.monotonic() - begun < 30


def from_a_run(weft):
    """a case written from a real run passes, and says what happened"""
    place = Place(weft, [
        {"id": "list", "run": "echo '[\"x\", \"y\"]'"},
        {"id": "each", "forEach": {"in": "${{ steps.list.json }}", "as": "e", "key": "${{ e }}"},
         "run": "test ${{ e }} = x || echo n=7 >> \"$WEFT_OUTPUT\"", "allowFailure": True, "outputs": {"n": {"type": "integer"}}},
        {"id": "flaky", "run": "test -e once || { touch once; exit 3; }", "retry": {"max": 2, "delay": "10ms"}},
        {"id": "never", "if": "false", "run": "true"},
        {"id": "bad", "run": "exit 5"}], inputs={"v": {"type": "string"}})
    place.run("run", "w.json", "-i", "v=1", expect=1)
    run = next((place.path / ".weft/runs").iterdir()).name
    text = place.test("--from-run", run).stdout
    case = json.loads(text)["cases"][0]
    assert case["steps"]["flaky"][0]["exit"] == 3, case
    assert case["expect"]["firstFailure"] == "bad" and case["inputs"] == {"v": "1"}, case
    place.test("--from-run", run, "recorded.test.json")
    place.test("recorded.test.json")
    assert "already exists" in place.test("--from-run", run, "recorded.test.json", expect=2).stderr
    with tempfile.TemporaryDirectory(prefix="weft-test-") as folder:
        copied = shutil.copytree(place.path, pathlib.Path(folder) / "copy")
        place.test("--from-run", run, "copied.test.json", directory=copied)
        assert json.loads((copied / "copied.test.json").read_text())["workflow"] == "w.json"
    place.test("--from-run", "20200101", expect=2)


def from_runs_with_secrets(weft):
    """a case from a run whose step made a secret has a placeholder where the step's outputs read one"""
    token = {"t": {"value": "${{ self.json.auth.token }}", "secret": True}, "n": {"value": "${{ self.json.n }}"}}
    place = Place(weft, [
        {"id": "token", "run": "echo '{\"auth\": {\"token\": \"s3cret-canary\"}, \"n\": 7}'", "outputs": token},
        {"id": "key", "run": "echo s3cret-canary", "outputs": {"k": {"value": "${{ self.stdout }}", "secret": True}}},
        {"id": "use", "run": "test -n \"$T$K\"",
         "env": {"T": "${{ steps.token.outputs.t }}", "K": "${{ steps.key.outputs.k }}"}}])
    place.run("run", "w.json")
    case = recorded(place)
    placeholder = {"auth": {"token": "not-a-real-secret"}, "n": "not-a-real-secret"}
    assert json.loads(case["steps"]["token"]["stdout"]) == placeholder, case
    assert case["steps"]["key"]["stdout"] == "not-a-real-secret\n" and "canary" not in json.dumps(case), case


def from_runs_with_secret_lists(weft):
    """a case from a run whose loops have secret lists has placeholders of their types and sizes, or the reason why it cannot"""
    def place(steps, **workflow):
        return Place(weft, [*steps, {"id": "z", "run": "true"}], **workflow)
    loop = {"id": "k", "run": "true $X", "env": {"X": "${{ x }}"}}
    value = {"type": "array", "secret": True}
    hidden = ["not-a-real-secret", "not-a-real-secret-2"]
    parsed = place([
        {"id": "l", "run": "echo '[\"s3cret-1\", \"s3cret-2\"]'", "outputs": {"v": {"value": "${{ self.json }}", "secret": True}}},
        {**loop, "forEach": {"in": "${{ steps.l.outputs.v }}", "as": "x"}}])
    parsed.run("run", "w.json")
    assert json.loads(recorded(parsed)["steps"]["l"]["stdout"]) == hidden
    written = place([
        {"id": "l", "run": "echo 'v=[\"s3cret-1\", \"s3cret-2\"]' >>$WEFT_OUTPUT", "outputs": {"v": value}},
        {**loop, "forEach": {"in": "${{ steps.l.outputs.v }}", "as": "x"}}])
    written.run("run", "w.json")
    assert recorded(written)["steps"]["l"]["outputs"] == {"v": hidden}
    given = place([{**loop, "forEach": {"in": "${{ inputs.v }}", "as": "x"}}], inputs={"v": value, "o": {
        "type": "object", "properties": {"n": {"type": "integer"}}, "secret": True}})
    given.run("run", "w.json", "-i", 'v:=["s3cret-1","s3cret-2"]', "-i", 'o:={"n":12345}')
    assert recorded(given)["inputs"] == {"v": hidden, "o": {"n": 1}}
    split = place([{**loop, "forEach": {"in": "${{ split(inputs.v, ',') }}", "as": "x"}}],
                  inputs={"v": {"type": "string", "secret": True}})
    split.run("run", "w.json", "-i", "v=s3cret-1,s3cret-2")
    run = next((split.path / ".weft/runs").iterdir()).name
    told = split.test("--from-run", run, expect=2).stderr
    assert "the elements of the loop \"k\" are secret, so they are not recorded" in told, told


def from_unusual_runs(weft):
    """cases from runs that wait, were cancelled, or end with codes that are no failures elsewhere; none from a killed run"""
    place = Place(weft, [{"id": "a", "approve": "really?"}])
    place.run("run", "w.json", "-j", "3", expect=75)
    case = recorded(place)
    assert case["maxParallel"] == 3 and case["steps"]["a"] == {"never": True}, case

    place = Place(weft, [{"id": "a", "run": "true", "successCodes": [3]}])
    place.run("run", "w.json", expect=1)
    assert recorded(place)["steps"]["a"]["exit"] == 0

    place = Place(weft, [{"id": "c", "run": "true", "cache": {"inputs": []}, "cleanup": "true"}])
    place.run("run", "w.json")
    recorded(place)
    (place.path / "recorded.test.json").unlink()
    shutil.rmtree(place.path / ".weft/runs")
    place.run("run", "w.json")
    assert "restored from the cache" in recorded(place, expect=2)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), server.Handler) as serving:
        threading.Thread(target=serving.serve_forever).start()
        place = Place(weft, [{"id": "d", "http": {"url": f"http://127.0.0.1:{serving.server_port}/file", "saveTo": "no/such/file"}}])
        place.run("run", "w.json", expect=1)
        serving.shutdown()
    assert recorded(place)["steps"]["d"]["fails"] == "output"

    # At a terminal, a question stays open until its time is over.
    place = Place(weft, [{"id": "q", "approve": "go?", "timeout": "300ms"}])
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(place.path)
        os.execv(weft, [weft, "run", "w.json"])
    with contextlib.suppress(OSError):
        while os.read(terminal, 4096):
            pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 1
    assert recorded(place)["expect"]["steps"]["q"]["reason"] == "timeout"

    place = Place(weft, [{"id": "a", "run": "touch begun; sleep 100"}, "true"])
    for number, code in ((signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        assert interrupted(place, number) == code
        if number == signal.SIGTERM:
            case = recorded(place)
            assert case["interrupt"]["do"] == "cancel" and case["expect"]["outcome"] == "cancelled", case
            shutil.rmtree(place.path / ".weft/runs")
            (place.path / "begun").unlink()
    run = next((place.path / ".weft/runs").iterdir()).name
    assert "killed" in place.test("--from-run", run, expect=2).stderr
    place.run("resume", run, expect=1)


def from_killed_runs(weft):
    """a case from a run that two signals ended is cancelled and killed, whether it was cleaning up or still stopping"""
    deaf = "trap '' TERM; touch begun; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; done"
    for script, cleanup in (("touch begun; sleep 100", "touch cleaning; sleep 100"), (deaf, "true")):
        place = Place(weft, [{"id": "a", "run": script, "stop": {"grace": "100s"}, "cleanup": cleanup}], **{"finally": ["true"]})
        process = subprocess.Popen([weft, "run", "w.json"], cwd=place.path, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until((place.path / "begun").exists)
        process.send_signal(signal.SIGINT)
        until(lambda: "run.cancelling" in next(place.path.glob(".weft/runs/*/journal.jsonl")).read_text())
        if script != deaf:
            until((place.path / "cleaning").exists)
        time.sleep(pace.REPETITION)
        process.send_signal(signal.SIGINT)
        process.wait(LIMIT)
        case = recorded(place)
        assert [act["do"] for act in case["interrupt"]] == ["cancel", "kill"], case
        assert case["expect"]["steps"]["finally.1"]["outcome"] == "cancelled", case


def until(is_so):
    deadline = time.monotonic() + LIMIT
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def from_generated_runs(weft):
    """a case from each of many small workflows passes: every action in every kind of group and loop, with cleanups; also from
    runs that were restored from the cache, resumed, killed, or began in a subdirectory"""
    chance = random.Random(1)
    begun = time.monotonic()
    serving = server.start()
    refused = collections.Counter()
    for number in range(GENERATED):
        files = Files(chance, f"http://127.0.0.1:{serving.server_port}")
        steps = [files.step(2) for _ in range(chance.randint(1, 2))]
        place = Place(weft, steps, **({"finally": [files.action()]} if chance.random() < 0.3 else {}))
        for name, text in files.files.items():
            place.write(name, text)
        course = COURSES[number % len(COURSES)]
        try:
            course(place, chance)
            refusal = recorded(place, expect=None)
            if isinstance(refusal, str):
                reason = next((reason for reason in REFUSED if reason in refusal), None)
                assert reason, refusal
                refused[reason] += 1
        except AssertionError as error:
            text = (place.path / "recorded.test.json").read_text() if (place.path / "recorded.test.json").exists() else ""
            raise AssertionError(f"workflow {number}, {course.__name__}: {json.dumps(steps)} {files.files} {error} {text}") from None
    serving.shutdown()
    # More of them are closer than a case can tell if the machine is busy.
    assert refused.total() < GENERATED / 3, refused
    return f"{time.monotonic() - begun:.1f} s, {refused.total()} refused"


# Kinds of runs that cannot be a case; the last one is that of steps which were closer than a case can tell.
REFUSED = ["restored from the cache, and not cleaned up", "collects the items of its pages", "would not do what the run did"]


def run_plainly(place, chance):
    # One after another, so that no two ends are closer than what a case can tell.
    done = place.run("run", "w.json", "-j", "1", expect=None)
    assert done.returncode != 3, done.stderr


def run_again(place, chance):
    run_plainly(place, chance)
    shutil.rmtree(place.path / ".weft/runs")
    run_plainly(place, chance)


def run_below(place, chance):
    """A run that begins in a subdirectory, and is recorded above it."""
    (place.path / "sub").mkdir()
    for file in list(place.path.glob("*.json")):
        file.rename(place.path / "sub" / file.name)
    (place.path / ".weft").mkdir()
    place.run("run", "w.json", "-j", "1", expect=None, directory="sub")


def run_resumed(place, chance):
    """A run that is resumed for a step, with its dependents or without."""
    run_plainly(place, chance)
    folder = next((place.path / ".weft/runs").iterdir())
    addresses = sorted(set(re.findall(r'"step":"([^"\\]+)"', (folder / "journal.jsonl").read_text())))
    if addresses:
        planned = re.sub(r"\[[^\]]*\]", "", chance.choice(addresses))
        place.run("resume", folder.name, "-j", "1", chance.choice(["--rerun", "--from"]), planned, expect=None)


def run_killed(place, chance):
    """A run whose weft is killed at any time, and that is resumed."""
    process = subprocess.Popen([place.weft, "run", "w.json", "-j", "1"], cwd=place.path, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: process.poll() is not None or list(place.path.glob(".weft/runs/*/journal.jsonl")))
    time.sleep(chance.random() * 0.2)
    process.kill()
    process.wait(LIMIT)
    place.run("resume", next((place.path / ".weft/runs").iterdir()).name, "-j", "1", "--rerun-interrupted", expect=None)


def from_killed_and_cached_runs(weft):
    """a case from a run whose weft was killed at any moment passes, although in virtual time nothing is stored in the cache"""
    chance = random.Random(1)
    for number in range(KILLED):
        place = Place(weft, [{"id": "first", "run": "sleep 0.1"}, {"id": "l", "forEach": [1, 2, 3, 4, 5, 6], "steps": [
            {"id": "x", "run": "true", "cache": {"inputs": []}}, {"id": "y", "run": "sleep 0.03", "cache": {"inputs": []}},
            {"id": "z", "run": "true", "cache": {"inputs": []}}]}])
        process = subprocess.Popen([weft, "run", "w.json", "-j", "2"], cwd=place.path, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: list(place.path.glob(".weft/runs/*/journal.jsonl")))
        time.sleep(0.1 + chance.random() * 0.2)
        process.kill()
        process.wait(LIMIT)
        folder = next((place.path / ".weft/runs").iterdir())
        last = (folder / "journal.jsonl").read_text().splitlines()[-1]
        place.run("resume", folder.name, "--rerun-interrupted", expect=None)
        # Between its last step and its end, a run cannot be a case: nothing in virtual time is as short.
        if '"group.finished","group":"l"' not in last:
            recorded(place)


COURSES = [run_plainly, run_again, run_below, run_resumed, run_killed]


class Files:
    """Generates steps, and the nested files that they run."""

    def __init__(self, random, url):
        self.random, self.url, self.files, self.count = random, url, {}, 0

    def name(self):
        self.count += 1
        return f"s{self.count}"

    def action(self):
        return dict(self.random.choice([
            {"run": "true"}, {"run": "echo '[1]'"}, {"run": "exit 3", "allowFailure": True},
            {"run": "printf %s \"${PATH:+x}\"", "env": {"PATH": "/opt/x:${{ env.PATH }}"}},
            {"wait": "1ms"}, {"run": "exit 4"}, {"run": "sleep 9", "timeout": "10ms", "allowFailure": True},
            {"run": "sleep 0.02", "cache": {"inputs": []}}, {"run": "echo 1", "cache": {"inputs": []}, "outputs": {"o": "${{ self.stdout }}"}},
            {"http": {"url": "http://127.0.0.1:1/"}, "allowFailure": True}, self.request(), self.request()]))

    def request(self):
        """A request, whose response may be read: by itself, from pages, after failures or too late."""
        step = {"http": self.random.choice([
            {"url": f"{self.url}/items/1"}, {"url": f"{self.url}/pages", "pages": {"next": "link"}},
            {"url": f"{self.url}/cursor", "pages": {"next": "self.json.next", "collect": "self.json.items"}},
            {"url": f"{self.url}/cursor", "pages": {"next": "self.json.next", "collect": "map(self.json.items, 'item')"}},
            {"url": f"{self.url}/cursor", "pages": {"next": "self.json.next", "max": 2, "collect": "self.json.items"}},
            {"url": f"{self.url}/jobs/{self.name()}", "poll": {"until": "self.json.state == 'done'", "every": "1ms"}},
            {"url": f"{self.url}/html", "response": "json"}, {"url": f"{self.url}/status/404"},
            {"url": f"{self.url}/items/2", "expect": {"when": "self.json.method == 'POST'"}},
            {"url": f"{self.url}/moved?to=/items/3"}]), "allowFailure": True}
        if self.random.random() < 0.5:
            step["outputs"] = {"all": "${{ toJSON(self.json) }}"}
        if self.random.random() < 0.3:
            step["http"]["url"] = f"{self.url}/flaky/{self.name()}"
            step["retry"] = {"max": 3, "delay": "1ms"}
        return step

    def step(self, depth):
        kind = self.random.choice(["action", "steps", "parallel", "workflow"]) if depth else "action"
        if kind == "action":
            step = self.action()
        elif kind == "workflow":
            file = f"n{len(self.files)}.json"
            self.files[file] = ""
            self.files[file] = json.dumps({"steps": [self.step(depth - 1)]})
            step = {"workflow": file}
        else:
            step = {kind: [self.step(depth - 1) for _ in range(self.random.randint(1, 2))]}
        if self.random.random() < 0.6:
            step["id"] = self.name()
        loop = self.random.choice(["", "", "forEach", "matrix"])
        if loop and "wait" not in step:
            step[loop] = ["p", "q r"] if loop == "forEach" else {f"x{self.count}": [1, 2]}
        if self.random.random() < 0.4:
            step["cleanup"] = self.random.choice(["true", ["true", {"id": self.name(), "run": "exit 1"}], {"id": self.name(), "run": "true"}])
        return step


def recorded(place, expect=0):
    """The case of the only run, written to a file that is run; the reason if it is refused."""
    run = next((place.path / ".weft/runs").iterdir()).name
    done = place.test("--from-run", run, "recorded.test.json", expect=expect)
    if done.returncode:
        return done.stderr
    case = json.loads((place.path / "recorded.test.json").read_text())["cases"][0]
    place.test("recorded.test.json")
    return case


def from_services(weft):
    """a case from a run with services: ready after a time, restarted, and one that no case can repeat"""
    service = {"id": "s", "run": "echo UP; exec sleep 50", "service": {"ready": {"log": "UP"}}}
    place = Place(weft, [{**service, "run": "sleep 0.2; echo UP; exec sleep 50"}, {"id": "u", "run": "sleep 1"}])
    place.run("run", "w.json")
    result = recorded(place)["steps"]["s"]
    assert "signal" not in result and result["takes"].endswith("ms"), result

    again = {**service, "run": "test -e once || { touch once; exit 3; }; echo UP; exec sleep 50"}
    again["service"] = {**service["service"], "restart": 2}
    place = Place(weft, [again, {"id": "u", "run": "true"}])
    place.run("run", "w.json")
    case = recorded(place)
    assert case["steps"]["s"][0]["exit"] == 3 and "exit" not in case["steps"]["s"][1], case

    place = Place(weft, [{**service, "run": "echo UP; sleep 0.2"}, {"id": "u", "run": "sleep 1"}])
    place.run("run", "w.json", expect=1)
    case = recorded(place)
    result = case["steps"]["s"]
    assert result["exit"] == 0 and result["takes"].endswith("ms") and "readyAfter" in result, result
    assert case["expect"]["steps"]["s"] == {"outcome": "failure", "reason": "service"}, case

    place = Place(weft, [
        {**service, "run": "echo UP; test -e once || { touch once; sleep 0.2; kill -9 $$; }; exec sleep 50",
         "service": {**service["service"], "restart": 1}}, {"id": "u", "run": "sleep 1"}])
    place.run("run", "w.json")
    case = recorded(place)
    assert case["steps"]["s"][0]["signal"] == "KILL" and "readyAfter" not in case["steps"]["s"][1], case

    place = Place(weft, [service, {"id": "q", "approve": "go?"}])
    place.run("run", "w.json", expect=75)
    assert recorded(place)["steps"]["q"] == {"never": True}


def from_resumed_runs(weft):
    """a case from a run that was resumed has a resume; one whose engine was killed has a crash"""
    place = Place(weft, [{"id": "a", "run": "true"}, {"id": "b", "run": "test -e ok", "retry": {"max": 1, "delay": "1ms"}},
                         {"id": "c", "approve": "go?"}, {"id": "d", "run": "true"}])
    place.run("run", "w.json", expect=1)
    run = next((place.path / ".weft/runs").iterdir()).name
    assert "resume" not in recorded(place)
    (place.path / "recorded.test.json").unlink()
    place.write("ok", "")
    place.run("resume", run, expect=75)
    place.run("approve", "c")
    place.run("resume", run)
    case = recorded(place)
    assert [engine["steps"].keys() for engine in case["resume"]] == [{"b", "c"}, {"c", "d"}], case
    assert case["expect"]["outcome"] == "success" and len(case["steps"]["b"]) <= 2, case

    def resumed(step, number, *options, expect=0):
        place = Place(weft, [{"id": "first", "run": "true"}, {"parallel": [
            {"id": "a", "run": "touch begun; test -e ok || sleep 100", **step}, {"id": "w", "wait": "50ms"},
            {"id": "s", "run": "echo UP; exec sleep 100", "service": {"ready": {"log": "UP"}}}]}, {"id": "last", "run": "true"}])
        interrupted(place, number)
        place.write("ok", "")
        place.run("resume", next((place.path / ".weft/runs").iterdir()).name, *options, expect=expect)
        return recorded(place)

    found = resumed({"onInterrupted": "rerun"}, signal.SIGINT)
    assert found["interrupt"]["do"] == "cancel" and found["resume"], found
    for step, options, expect in (
            ({"onInterrupted": "rerun"}, [], 0), ({}, [], 1), ({}, ["--rerun-interrupted"], 0), ({}, ["--skip-interrupted"], 0)):
        found = resumed(step, signal.SIGKILL, *options, expect=expect)
        assert found["interrupt"]["do"] == "crash" and found["steps"]["a"] == {"never": True}, found
        resume = found["resume"] if isinstance(found["resume"], dict) else {}
        assert ("--rerun-interrupted" in options) == ("rerun" in resume), found
        assert resume.get("interrupted") == ("skip" if "--skip-interrupted" in options else None), found
        outcome = found["expect"]["steps"]["a"]
        assert (outcome == "success") == (expect == 0 and "--skip-interrupted" not in options), found


def from_runs_with_options(weft):
    """a case has -k, --fail-fast and --timeout of its run; a workflow from standard input has no case"""
    two = [{"parallel": [{"id": "a", "run": "exit 1"}, {"id": "b", "run": "sleep 0.2"}]}, {"id": "c", "needs": [], "run": "true"}]
    for option, key, value in (("-k", "onFailure", "continue"), ("--fail-fast", "onFailure", "cancel")):
        place = Place(weft, two)
        place.run("run", "w.json", option, expect=1)
        assert recorded(place)[key] == value
        (place.path / "recorded.test.json").unlink()
        run = next((place.path / ".weft/runs").iterdir()).name
        place.run("resume", run, option, expect=1)
        assert recorded(place)[key] == value
        (place.path / "recorded.test.json").unlink()
        place.run("resume", run, expect=1)
        assert "-k or --fail-fast" in recorded(place, expect=2)
    place = Place(weft, [{"id": "a", "run": "sleep 50"}])
    place.run("run", "w.json", "--timeout", "200ms", expect=124)
    case = recorded(place)
    assert case["timeout"] == "200ms" and case["expect"]["exitCode"] == 124, case

    place = Place(weft, ["true"])
    subprocess.run([weft, "run", "-"], cwd=place.path, input='{"steps": ["true"]}', text=True, timeout=LIMIT, check=True,
                   capture_output=True)
    assert "not recorded in a file" in recorded(place, expect=2)


def from_elements(weft):
    """a case from a loop whose keys look like patterns"""
    place = Place(weft, [{"id": "l", "forEach": {"in": ["a*", "a b", "c\\*"], "as": "e", "key": "${{ e }}"},
                          "run": "test ${{ e }} != 'a b'", "allowFailure": True}])
    place.run("run", "w.json")
    case = recorded(place)
    assert case["expect"]["steps"]["l[a b]"]["outcome"] == "tolerated" and "l[a\\*]" in case["steps"], case


def first_test(weft):
    """weft init --test writes a first test of a workflow, which passes"""
    place = Place(weft, ["true"])
    place.run("init", "first.json")
    place.run("init", "--test", "first.test.json")
    assert "1 passed" in place.test("first.test.json").stdout
    place.run("init", "--test", "first.test.json", expect=2)
    assert ".test.json" in place.run("init", "--test", "first.json", expect=2).stderr
    assert "nowhere.json" in place.run("init", "--test", "nowhere.test.json", expect=2).stderr
    (place.path / "sub").mkdir()
    place.run("init", "--test", "sub/x.test.json", expect=2)
    for names in (["one.jsonc"], ["weft.jsonc", "weft.json", "workflow.json"], ["workflow.jsonc"]):
        place = Place(weft, ["true"])
        for name in names:
            place.write(name, '{ "steps": [ "true" ] } // a comment' if name == names[0] else "{}")
        test = names[0].replace(".jsonc", ".test.json")
        place.run("init", "--test", *([test] if test == "one.test.json" else []))
        assert json.loads((place.path / test).read_text())["workflow"] == names[0]
        place.test(test)


def declared_inputs(weft):
    """first tests and cases from runs have values for inputs that fit their declarations, or say that none was found"""
    required = {
        "version": {"type": "string", "pattern": "^v[0-9]+$"}, "hosts": {"type": "array", "minItems": 2, "uniqueItems": True},
        "step": {"type": "number", "multipleOf": 0.25, "minimum": 1.1},
        "window": {"type": "object", "required": ["from"], "properties": {"from": {"type": "string", "pattern": "^\\d\\d:\\d\\d$"}}},
        "key": {"type": "string", "secret": True, "minLength": 60}}
    place = Place(weft, [{"id": "a", "env": {"V": "${{ inputs.version }}"}, "run": "echo hi"}], inputs=required)
    place.run("init", "--test", "w.test.json")
    assert "1 passed" in place.test("w.test.json").stdout

    place = Place(weft, ["true"], inputs={"odd": {"type": "string", "pattern": "\\Bq"}})
    assert 'a value for the input "odd" first' in place.run("init", "--test", "w.test.json").stdout

    secrets = {
        "digits": ({"type": "string", "pattern": "^[0-9]{5}$"}, "48151"), "word": ({"type": "string", "enum": ["spring", "autumn"]}, "autumn"),
        "long": ({"type": "string", "minLength": 40}, "y" * 40), "pair": ({"type": "object", "required": ["user"]}, '{"user": "admin"}')}
    for name, (declaration, value) in secrets.items():
        place = Place(weft, [{"id": "a", "run": "true"}], inputs={name: {**declaration, "secret": True}})
        place.write("value", value)
        place.run("run", "w.json", "-i", f"{name}=@value")
        assert value not in json.dumps(recorded(place))
    place = Place(weft, [{"id": "a", "run": "true"}], inputs={"odd": {"type": "string", "pattern": "\\Bq", "secret": True}})
    place.write("value", "wwwq")
    place.run("run", "w.json", "-i", "odd=@value")
    reason = recorded(place, expect=2)
    assert 'the secret input "odd" is not recorded, and no other value was found' in reason, reason


def first_tests_of_examples(weft):
    """the first test of every example workflow passes as it is written"""
    examples = pathlib.Path(__file__).resolve().parent.parent.parent / "workflows"
    names = sorted(path.name for path in examples.glob("*.json") if not path.name.endswith(".test.json"))
    assert len(names) > 20, names
    with tempfile.TemporaryDirectory(prefix="weft-test-") as folder:
        copy = pathlib.Path(folder) / "workflows"
        shutil.copytree(examples, copy, ignore=shutil.ignore_patterns("*.test.json"))
        succeeding = 0
        for name in names:
            test = name.removesuffix(".json") + ".test.json"
            for arguments in (("init", "--test", test), ("test", test)):
                done = subprocess.run([weft, *arguments], cwd=copy, capture_output=True, text=True, timeout=LIMIT)
                assert done.returncode == 0, (arguments, done.stdout, done.stderr)
            succeeding += json.loads((copy / test).read_text())["cases"][0]["expect"] == {"outcome": "success"}
        assert succeeding >= len(names) - 1, succeeding
        return f"{len(names)} workflows"


def crashes(weft):
    """a case and a real run agree on what a crash at each step leaves, and on what a resumed run does again"""
    steps = [{"id": name, "run": f"echo {name} >> log; [ ! -e {name}.kill ] || {{ rm {name}.kill; kill -9 $PPID; sleep 100; }}",
              "onInterrupted": "rerun"} for name in "abc"]
    for step in "abc":
        place = Place(weft, steps)
        (place.path / f"{step}.kill").write_text("")
        killed = subprocess.run([weft, "run", "w.json"], cwd=place.path, capture_output=True, timeout=LIMIT)
        assert killed.returncode == -9, killed
        place.run("resume", next((place.path / ".weft/runs").iterdir()).name)
        real = (place.path / "log").read_text().split()
        place.tests({"interrupt": {"onStart": step, "do": "crash"}, "resume": True,
                     "expect": {**EXPECTED, "before": [["a", "b", "c"]]}},
                    {"interrupt": {"atRecord": "each", "do": "crash"}, "resume": True, "expect": EXPECTED},
                    steps={"*": {}})
        place.test()
        assert real == sorted("abc" + step), real


def formats(weft):
    """the formats for programs are what they say, whatever is in names"""
    place = Place(weft, [{"id": "a", "run": "x"}])
    place.tests({"name": "<&\"'\u0001]]>\u202e", "expect": {"exitCode": 1}}, {"expect": EXPECTED}, steps={"a": {}})
    place.write("bad.test.json", "{")
    report = json.loads(place.test("--format", "json", expect=3).stdout)
    assert (report["passed"], report["failed"], report["rejected"]) == (1, 1, 1), report
    tree = xml.etree.ElementTree.fromstring(place.test("--format", "junit", expect=3).stdout)
    assert (tree.get("tests"), tree.get("failures"), tree.get("errors")) == ("3", "1", "1")
    assert len(tree.findall("testsuite/testcase/failure")) == 1 and len(tree.findall("testsuite/testcase/error")) == 1


def searched(weft):
    """test files are found below a directory, not in hidden ones, behind links or in FIFOs"""
    place = Place(weft, [{"id": "a", "run": "x"}])
    place.tests({"expect": EXPECTED}, steps={"a": {}})
    for name in (".hidden/x.test.json", "deep/er/x.test.json", "no.json"):
        place.write(name, "{}")
    os.symlink(place.path / "deep", place.path / "link")
    done = place.test(expect=3)
    assert "deep/er/x.test.json" in done.stderr and "hidden" not in done.stderr and "link" not in done.stderr, done.stderr
    os.symlink("nowhere", place.path / "dangling.test.json")
    done = place.test(expect=3)
    assert "1 passed" in done.stdout and "dangling.test.json" in done.stderr, (done.stdout, done.stderr)
    assert "dangling.test.json" in place.test("--format", "junit", expect=3).stdout
    place.test("dangling.test.json", expect=2)
    (place.path / "empty").mkdir()
    assert "no test file" in place.test("empty", expect=2).stderr
    place.test("missing.test.json", expect=2)
    place.write("huge/w.test.json", "")
    with open(place.path / "huge/w.test.json", "wb") as huge:
        huge.truncate(1 << 40)
    done = place.test("huge/w.test.json", "w.test.json", expect=3)
    assert "1 passed" in done.stdout and "1 file rejected" in done.stdout and "huge" in done.stderr, (done.stdout, done.stderr)
    assert "is a workflow" in place.test("w.json", expect=3).stderr


def hostile(weft):
    """hostile files are rejected with a location, quickly"""
    place = Place(weft, [{"id": "a", "run": "x"}])
    for text in ("", "\0", "[]", "null", "{" * 10000, "[" * 300, '{"workflow": 1, "cases": {}}', '{"cases": [1, null, []]}',
                 '{"workflow": "\\u0000", "cases": [{"name": "n", "expect": {"outcome": "success"}}]}',
                 '{"workflow": ".", "cases": [{"name": "n", "expect": {"outcome": "success"}}]}',
                 '{"workflow": "w.test.json", "cases": [{"name": "n", "expect": {"outcome": "success"}}]}',
                 '{"workflow": "/dev/zero", "cases": [{"name": "n", "expect": {"outcome": "success"}}]}'):
        place.write("w.test.json", text)
        done = place.test(expect=3)
        assert "error:" in done.stderr and "Fatal" not in done.stderr, (text[:80], done.stderr)


def endless(weft):
    """cases that would go on for ever end"""
    place = Place(weft, [{"id": "a", "http": {"url": "http://h/", "poll": {"until": "false", "every": "1ms"}},
                          "timeout": "1h"}])
    place.tests({"expect": {"outcome": "failure"}}, steps={"a": {"http": {"status": 200, "takes": "1s"}}})
    place.test()
    place = Place(weft, [{"id": "a", "run": "x"}, {"id": "b", "wait": "366d"}])
    place.tests({"expect": {"duration": "366d"}}, steps={"a": {}})
    place.test()


def at_once(weft):
    """thousands of attempts at once take seconds, in whatever order they end"""
    place = Place(weft, [{"id": "a", "forEach": {"in": "${{ fromJSON(inputs.list) }}", "as": "e"}, "run": ["x", "${{ e }}"]}],
                  inputs={"list": {"type": "string"}})
    place.tests({"expect": {**EXPECTED, "duration": "10s"}}, {"interrupt": {"at": "5s", "do": "cancel"}, "expect": {"exitCode": 130}},
                steps={"a[*]": {"takes": "10s"}}, inputs={"list": json.dumps(list(range(4000)))})
    text = json.loads((place.path / "w.test.json").read_text())
    for case in text["cases"]:
        case["maxParallel"] = 4000
    place.write("w.test.json", json.dumps(text))
    begun = time.monotonic()
    place.test()
    return f"{time.monotonic() - begun:.1f} s"


def many(weft):
    """ten thousand elements in many orders take seconds"""
    place = Place(weft, [{"id": "a", "forEach": {"in": "${{ fromJSON(inputs.list) }}", "as": "e"}, "run": ["x", "${{ e }}"]}],
                  inputs={"list": {"type": "string"}})
    place.tests({"expect": {**EXPECTED, "atMostAtOnce": {"a[*]": 8}}, "orders": 3}, steps={"a[*]": {}},
                inputs={"list": json.dumps(list(range(3000)))})
    begun = time.monotonic()
    place.test()
    return f"{time.monotonic() - begun:.1f} s"


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        nothing_runs, cached_requests, real_steps, signals, real_failures, from_a_run, from_runs_with_secrets, from_runs_with_secret_lists, from_unusual_runs, from_killed_runs,
        from_generated_runs, from_killed_and_cached_runs, from_services, from_resumed_runs,
        from_runs_with_options, from_elements, first_test, declared_inputs, first_tests_of_examples, crashes, formats, searched, hostile, endless, at_once, many]))
