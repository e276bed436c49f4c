#!/usr/bin/env python3
"""Controls runs from other processes: answers approvals, ends runs, and keeps runs of one key apart.

usage: test_control.py PATH_TO_WEFT

Every case has a directory of its own. Steps append lines to a file, by which their runs are counted.
"""

import contextlib
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import time

import pexpect

from lib import cases
from lib.place import LIMIT, Place



def does(name, more=""):
    return f"echo {name} >> done; {more}"


def asking(*more, **keys):
    return dict(
        {"steps": [{"id": "build", "run": does("build")}, {"id": "deploy", "approve": "Ship it?"},
                   {"id": "after", "run": does("after")}, *more],
         "finally": [{"id": "last", "run": does("last")}]}, **keys)


def run_of(place):
    return place.folder.name


def state(place):
    (run,) = json.loads(place.call("runs", "--format", "json").stdout)["runs"]
    return run["state"]


def left_and_answered(weft):
    place = Place(weft, asking())
    result = place.run()
    run = run_of(place)
    assert result.returncode == 75, result
    assert f"weft approve {run} deploy" in result.stderr and f"weft resume {run}" in result.stderr, result
    assert place.done() == {"build": 1}, place.done()
    assert place.records()[-1]["type"] == "run.waiting" and state(place) == "waiting"
    assert not (place.folder / "report.json").exists()
    # There is no answer yet: it continues to wait.
    assert place.resume().returncode == 75 and place.done() == {"build": 1}
    result = place.call("approve", "deploy")
    assert result.returncode == 0 and f"weft resume {run}" in result.stdout, result
    result = place.resume()
    assert result.returncode == 0, result
    assert place.done() == {"build": 1, "after": 1, "last": 1}
    assert list((place.folder / "control").iterdir()) == [] and state(place) == "success"


def rejected(weft):
    place = Place(weft, asking())
    place.run()
    assert place.call("approve", run_of(place)[:12], "deploy", "--reject").returncode == 0
    result = place.resume()
    assert result.returncode == 1 and "was rejected" in result.stdout, result
    assert place.done() == {"build": 1, "last": 1}


def alive(weft):
    gate = {"id": "gate", "needs": [], "run": does("gate", "until [ -e open ]; do sleep 0.02; done")}
    place = Place(weft, {"parallel": [
        {"id": "deploy", "approve": "Ship it?"}, {"id": "after", "needs": ["deploy"], "run": does("after")}, gate]})
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["gate"] == 1 and "step.asking" in place.journal.read_text())
    result = place.call("approve", "deploy")
    assert result.returncode == 0 and "resume" not in result.stdout, result
    place.until(lambda: place.done()["after"] == 1)
    (place.path / "open").touch()
    assert engine.wait(LIMIT) == 0


def at_a_terminal(weft):
    place = Place(weft, asking())
    child = pexpect.spawn(
        place.weft, ["run", "w.json"], cwd=str(place.path), timeout=LIMIT, encoding="utf-8",
        dimensions=(24, 100))
    child.expect(re.escape("[y/N]"))
    assert place.call("approve", "deploy").returncode == 0
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and place.done() == {"build": 1, "after": 1, "last": 1}, child.exitstatus


def closed_terminal(weft):
    """A terminal that closes says neither yes nor no: the run waits for an answer from elsewhere."""
    place = Place(weft, asking())
    process, terminal = pty.fork()
    if process == 0:
        # As under nohup, so that the run is not cancelled.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.chdir(place.path)
        os.execv(place.weft, [place.weft, "run", "w.json"])
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)
    # Its output is lost, which the exit code reports.
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) in (4, 75)
    assert place.call("approve", "deploy").returncode == 0
    assert place.call("resume", "--no-prompt").returncode == 0
    assert place.done() == {"build": 1, "after": 1, "last": 1}


def interrupted_question(weft):
    """Output after an interrupted question starts on a line of its own."""
    for form in ({}, {"WEFT_PROGRESS": "plain"}):
        place = Place(weft, asking())
        child = pexpect.spawn(
            place.weft, ["run", "w.json"], cwd=str(place.path), timeout=LIMIT, encoding="utf-8",
            dimensions=(24, 100), env=dict(os.environ, **form))
        child.expect(re.escape("[y/N]"))
        child.sendintr()
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 130, child.exitstatus
        rest = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", child.before)
        assert re.match(r"[ ^C]*\r?\n", rest), repr(rest)


def killed(weft):
    """The answer survives a kill of the engine, before or after the engine has taken it."""
    place = Place(weft, {"parallel": [
        {"id": "deploy", "approve": "Ship it?"},
        {"id": "gate", "idempotent": True, "run": does("gate", "until [ -e open ]; do sleep 0.02; done")},
        {"id": "after", "needs": ["deploy", "gate"], "run": does("after")}]})
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["gate"] == 1 and "step.asking" in place.journal.read_text())
    engine.send_signal(signal.SIGSTOP)
    assert place.call("approve", "deploy").returncode == 0
    engine.kill()
    engine.wait()
    (place.path / "open").touch()
    result = place.resume()
    assert result.returncode == 0 and place.done()["after"] == 1, result


def late_answers(weft):
    """An answer counts if it was given in time, whenever the run is resumed; a later one is refused."""
    place = Place(weft, {"steps": [{"id": "deploy", "approve": "Ship it?", "timeout": "1s"}, {"id": "after", "run": does("after")}]})
    for is_late in (False, True):
        assert place.run().returncode == 75
        if not is_late:
            assert "to be answered until" in place.call("show").stdout
            assert place.call("approve", "deploy").returncode == 0
        time.sleep(1.2)
        shown = place.call("show").stdout
        assert "its time was over at" in shown and "weft approve" not in shown, shown
        if is_late:
            result = place.call("approve", "deploy")
            assert result.returncode == 2 and "the time to answer" in result.stderr, result
            # Left by a program that does not look at the time.
            folder = max((place.path / ".weft/runs").iterdir()) / "control"
            folder.mkdir(exist_ok=True)
            (folder / f"{time.time_ns()}-x.json").write_text('{"request":"approve","step":"deploy"}\n')
        result = place.resume()
        assert result.returncode == (1 if is_late else 0) and place.done() == {"after": 1}, (is_late, result)
        assert is_late == ("timed out" in result.stdout), result


def answered_once(weft):
    """An answer that was taken is not there for the next engine."""
    place = Place(weft, asking({"id": "again", "run": "exit 1"}))
    place.run()
    place.call("approve", "deploy")
    assert place.resume().returncode == 1
    assert place.call("approve", "deploy").returncode == 2
    result = place.resume("--rerun", "deploy")
    assert result.returncode == 75, result


def kept_for_its_question(weft):
    """An answer is kept until its question takes it, over engines that are suspended, cancelled or killed before."""
    place = Place(weft, {"steps": [{"id": "l", "forEach": {"in": ["a", "b", "c"], "key": "item", "maxParallel": 1, "tolerate": 1},
                                    "steps": [{"id": "ok", "approve": "go?"}, {"id": "p", "run": "echo ${{ item }} >> done"}]}]})
    assert place.run().returncode == 75
    for key, words in ("a", []), ("b", ["--reject"]):
        assert place.call("approve", *words, f"l[{key}].ok").returncode == 0
        assert place.resume().returncode == 75
    # It asks for c now, and for b again before that in the next engines.
    assert place.call("approve", "l[c].ok").returncode == 0
    assert place.resume().returncode == 75
    assert "approved, not yet taken up" in place.call("show").stdout
    child = pexpect.spawn(place.weft, ["resume"], cwd=str(place.path), timeout=LIMIT, encoding="utf-8")
    child.expect(re.escape("[y/N]"))
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130, child.exitstatus
    engine = pexpect.spawn(place.weft, ["resume"], cwd=str(place.path), timeout=LIMIT, encoding="utf-8")
    engine.expect(re.escape("[y/N]"))
    engine.kill(signal.SIGKILL)
    engine.wait()
    assert place.resume().returncode == 75
    assert place.call("approve", "l[b].ok").returncode == 0
    result = place.resume()
    assert result.returncode == 0 and place.done() == {"a": 1, "b": 1, "c": 1}, (result, place.done())


def its_time(weft):
    place = Place(weft, asking())
    workflow = asking()
    # Long enough for a busy machine to suspend the run first.
    workflow["steps"][1]["timeout"] = "5s"
    place.write(workflow)
    assert place.run().returncode == 75
    asked = [r for r in place.records() if r["type"] == "step.waiting"]
    assert len(asked) == 1, asked
    place.until(lambda: time.time_ns() > asked[0]["untilNs"])
    result = place.resume()
    assert result.returncode == 1 and "timed out" in result.stdout, result


def no_record(weft):
    result = Place(weft, asking()).run("--record", "none")
    assert result.returncode == 1 and "cannot ask for approval" in result.stdout, result


def refusals(weft):
    place = Place(weft, asking())
    assert place.call("approve", "deploy").returncode == 2
    place.run()
    for words, told in [(["nope"], '"deploy"'), (["build"], '"deploy"'), (["20", "x", "y"], "as well"),
                        ([], "needs"), (["9", "deploy"], 'no run "9" is recorded')]:
        result = place.call("approve", *words)
        assert result.returncode == 2 and told in result.stderr, result
    assert place.call("approve", "--now", "deploy").returncode == 2
    # A file that another user has put there is not a request.
    control = place.folder / "control"
    (control / "1.json").write_text('{"request":"approve","step":"deploy"')
    (control / "2.json").write_text('{"request":"reboot"}')
    (control / "3.json").symlink_to("/etc/passwd")
    (control / "4.json").mkdir()
    (control / "5.json").write_text("x" * 100_000)
    assert place.resume().returncode == 75


def cancelled(weft):
    place = Place(weft, {"steps": [{"id": "long", "run": does("long", "sleep 60")}],
                         "finally": [{"id": "last", "run": does("last")}]})
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["long"] == 1)
    result = place.call("cancel")
    assert result.returncode == 0 and "has ended: cancelled" in result.stdout, result
    assert engine.wait(LIMIT) == 130 and place.done() == {"long": 1, "last": 1}
    result = place.call("cancel", run_of(place))
    assert result.returncode == 0 and "already" in result.stdout, result
    assert place.call("cancel").returncode == 2
    # It was addressed to that engine, not to the next.
    result = place.resume("--timeout", "200ms")
    assert result.returncode == 124 and "requested" not in result.stdout, result


def cancel_finds_interrupted(weft):
    """Without RUN, a run that weft can cancel comes first; else the latest whose weft was killed is explained."""
    place = Place(weft, {"steps": [{"id": "long", "run": does("long", "sleep 60")}]})
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["long"] == 1)
    engine.kill()
    engine.wait()
    killed = run_of(place)
    result = place.call("cancel")
    assert result.returncode == 2 and f"weft reap {killed}" in result.stderr, result
    named = place.call("cancel", killed)
    assert named.returncode == 0 and f"weft reap {killed}" in named.stdout, named
    assert place.call("reap").returncode == 0
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["long"] == 2)
    assert "has ended: cancelled" in place.call("cancel").stdout and engine.wait(LIMIT) == 130


def killed_from_elsewhere(weft):
    place = Place(weft, {"steps": [{"id": "deaf", "run": does("deaf", "trap '' TERM; while :; do sleep 1; done")}]})
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["deaf"] == 1)
    assert place.call("cancel", "--now").returncode == 0
    assert engine.wait(LIMIT) == 130
    end = [r for r in place.records() if r["type"] == "step.finished"]
    assert end[0]["exit"] == {"signal": "KILL"}, end


def suspended_with_failures(weft):
    """A suspended run does not hide what failed in it, and what starts again when it continues."""
    place = Place(weft, {"onFailure": "continue", "parallel": [
        {"id": "ask", "approve": "ok?"}, {"id": "bad", "run": "exit 1"}, {"id": "after", "needs": ["bad"], "run": "true"},
        {"id": "odd", "run": "exit 1", "allowFailure": True}, {"id": "good", "run": "true"}]})
    result = place.run()
    verdict = result.stdout.splitlines()[-1]
    assert result.returncode == 75, result
    assert re.fullmatch(
        "1 step succeeded, 1 failed, 1 failed and tolerated, 1 skipped in .*; the rest waits", verdict), verdict
    *_, question, following = place.call("show").stdout.splitlines()
    assert question.startswith("answer: "), question
    assert following.endswith(' continues it then, and starts "bad" again'), following


def cancelled_while_it_waits(weft):
    place = Place(weft, asking())
    place.run()
    result = place.call("cancel")
    assert result.returncode == 0 and "is cancelled: \"weft resume" in result.stdout, result
    shown = place.call("show").stdout
    assert "cancelled on request" in shown and "cleans up and ends it" in shown and "weft approve" not in shown, shown
    assert json.loads(place.call("show", "--format", "json").stdout)["resume"]["cancels"] is True
    listed = place.call("runs").stdout
    assert "cancelling" in listed and "waiting" not in listed, listed
    assert json.loads(place.call("runs", "--format", "json").stdout)["runs"][0]["cancels"] is True
    result = place.call("approve", "deploy")
    assert result.returncode == 2 and "takes no more answers" in result.stderr, result
    assert place.resume().returncode == 130 and place.done() == {"build": 1, "last": 1}


def exclusive(policy, name):
    return {"concurrency": {"key": "deploy-${{ inputs.to }}", "policy": policy},
            "inputs": {"to": {"type": "string", "default": "prod"}},
            "steps": [{"id": "work", "run": does(name, f"until [ -e {name}.open ]; do sleep 0.02; done")}],
            "finally": [{"id": "last", "run": does(name + ".last")}]}


def begin(place, policy, name, *arguments):
    if policy:
        (place.path / f"{name}.json").write_text(json.dumps(exclusive(policy, name)))
    return subprocess.Popen(
        [place.weft, "run", f"{name}.json", *arguments], cwd=place.path, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def one_at_a_time(weft):
    place = Place(weft, {})
    first = begin(place, "wait", "one")
    place.until(lambda: place.done()["one"] == 1)
    second = begin(place, "wait", "two")
    assert second.stderr.readline().startswith("weft: waiting for run 20")
    other = begin(place, "wait", "three", "-i", "to=test")
    place.until(lambda: place.done()["three"] == 1)
    assert place.done()["two"] == 0
    third = begin(place, "refuse", "four")
    assert third.wait(LIMIT) == 4 and "holds the key \"deploy-prod\"" in third.stderr.read()
    for name in ("one", "two", "three"):
        (place.path / f"{name}.open").touch()
    assert [engine.wait(LIMIT) for engine in (first, second, other)] == [0, 0, 0]
    assert place.done()["four"] == 0


def latest_wins(weft):
    place = Place(weft, {})
    first = begin(place, "cancelPrevious", "one")
    place.until(lambda: place.done()["one"] == 1)
    second = begin(place, "cancelPrevious", "two")
    assert first.wait(LIMIT) == 130
    place.until(lambda: place.done()["two"] == 1)
    assert place.done()["one.last"] == 1
    (place.path / "two.open").touch()
    assert second.wait(LIMIT) == 0
    assert "cancelling run" in second.stderr.read()


def latest_of_many_wins(weft):
    """Whatever the order of locks: all but one end while the first still runs its cleanup."""
    place = Place(weft, {})
    workflow = exclusive("cancelPrevious", "first")
    workflow["steps"][0]["cleanup"] = "until [ -e met ]; do sleep 0.02; done"
    (place.path / "first.json").write_text(json.dumps(workflow))
    first = begin(place, None, "first")
    place.until(lambda: place.done()["first"] == 1)
    names = [f"run{number}" for number in range(8)]
    engines = []
    for name in names:
        # Of those that start at the same time, any may be the first to arrive.
        if name == names[-1]:
            place.until(lambda: sum(engine.poll() is None for engine in engines) == 1)
        engines.append(begin(place, "cancelPrevious", name))
        time.sleep(random.uniform(0, 0.15))
    place.until(lambda: sum(engine.poll() is None for engine in engines) == 1)
    (place.path / "met").touch()
    assert first.wait(LIMIT) == 130
    for name in names:
        (place.path / f"{name}.open").touch()
    assert sorted(engine.wait(LIMIT) for engine in engines) == [0] + [130] * 7
    assert engines[-1].returncode == 0 and place.done()[names[-1]] == 1, place.done()
    assert all("which came later" in engine.stderr.read() for engine in engines[:-1])


def lock_of_the_dead(weft):
    """The lock of a killed engine needs no removal; a signal ends the wait for a lock."""
    place = Place(weft, {})
    first = begin(place, "wait", "one")
    place.until(lambda: place.done()["one"] == 1)
    waiting = begin(place, "wait", "two")
    waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(LIMIT) == 130
    first.kill()
    first.wait()
    (place.path / "one.open").touch()
    (place.path / "three.open").touch()
    assert begin(place, "refuse", "three").wait(LIMIT) == 0


def keys(place):
    folder = place.path / ".weft/concurrency"
    return sorted(folder.iterdir()) if folder.exists() else []


def age(place):
    """Lets the files of keys be older than any run that could wait for them."""
    for path in keys(place):
        os.utime(path, (0, 0))


def keys_are_removed(weft):
    """A run removes the file of its key, and weft clean what killed runs left; the file of a run that is alive stays."""
    place = Place(weft, {})
    (place.path / "one.open").touch()
    for policy in "wait", "refuse", "cancelPrevious":
        assert begin(place, policy, "one").wait(LIMIT) == 0
        assert [path.name for path in keys(place) if path.suffix != ".latest"] == [], keys(place)
    (place.path / "one.open").unlink()
    killed = begin(place, "cancelPrevious", "one")
    place.until(lambda: place.done()["one"] == 4)
    killed.kill()
    killed.wait()
    assert place.call("clean").returncode == 0 and len(keys(place)) == 2, "what is young may be needed"
    held = begin(place, "wait", "two", "-i", "to=test")
    place.until(lambda: place.done()["two"] == 1)
    age(place)
    assert place.call("clean").returncode == 0 and len(keys(place)) == 1, keys(place)
    assert begin(place, "refuse", "three", "-i", "to=test").wait(LIMIT) == 4
    for name in "one", "two":
        (place.path / f"{name}.open").touch()
    assert held.wait(LIMIT) == 0 and keys(place) == []


def removed_under_stress(weft):
    """However many processes take, wait for and remove a key at once: it has one holder."""
    place = Place(weft, {"concurrency": "one", "steps": ["trap '' TERM; mkdir held; sleep 0.01; rmdir held"]})
    loops = [subprocess.Popen(
        ["bash", "-c", f"for i in {{1..15}}; do {weft} run w.json --keep 5 || exit; done"], cwd=place.path,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(6)]
    while any(loop.poll() is None for loop in loops):
        with contextlib.suppress(FileNotFoundError):
            age(place)
        assert place.call("clean", "--keep", "5").returncode == 0
        waiting = place.start("run", "w.json", "--keep", "5")
        time.sleep(random.uniform(0, 0.1))
        # One that waits gives up, and one that runs ends in its own time.
        waiting.send_signal(signal.SIGTERM)
        waiting.wait(LIMIT)
    outputs = [loop.communicate()[0] for loop in loops]
    assert all(loop.returncode == 0 for loop in loops), outputs
    assert keys(place) == []


CASES = [
    ("files of concurrency keys are removed", keys_are_removed),
    ("mutual exclusion holds while they are removed", removed_under_stress),
    ("a terminal that closes is no answer to a question", closed_terminal),
    ("X73: what follows a question that is broken off has a line of its own", interrupted_question),
    ("a run that nobody can be asked at is left with 75, and goes on when it is answered", left_and_answered),
    suspended_with_failures,
    ("what is rejected fails when it goes on", rejected),
    ("a run under way hears an answer from another terminal", alive),
    ("one at a terminal does, too", at_a_terminal),
    ("an answer survives the engine that was to hear it", killed),
    ("an answer is for one question", answered_once),
    kept_for_its_question,
    late_answers,
    ("the time to answer goes on while there is no engine", its_time),
    ("without a record the step fails", no_record),
    ("what is no answer is refused, and nothing is believed that lies in control/", refusals),
    ("X42: a run that is cancelled from another terminal exits 130, as by ^C", cancelled),
    ("and killed", killed_from_elsewhere),
    ("one that waits is cancelled when it goes on", cancelled_while_it_waits),
    ("weft cancel without RUN finds a run whose weft was killed", cancel_finds_interrupted),
    ("runs of one key wait for each other, or refuse", one_at_a_time),
    ("X42: the latest of one key wins, and the others exit 130", latest_wins),
    ("of many that wait for one key, the latest wins", latest_of_many_wins),
    ("J13: the lock of a killed engine is nobody's", lock_of_the_dead),
]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, CASES))
