#!/usr/bin/env python3
"""Kills runs whose commands are adopted ("onInterrupted": "adopt"), and resumes them.

usage: test_adopting.py PATH_TO_WEFT
"""

import json
import os
import re
import signal
import sys
import time

from lib import cases, pace
from lib.place import Remote

LIMIT = 60  # seconds, against hanging only

WAITS = "while [ ! -e go ]; do sleep 0.05; done"


class Place(Remote):
    def __init__(self, weft, steps, **workflow):
        super().__init__(weft, {**workflow, "steps": steps})

    def kill(self, *arguments, when="up"):
        """Kills a run, or one that resumes it, when a file is there; a number is seconds."""
        run = self.start(*(arguments or ("run", "w.json")))
        if isinstance(when, str):
            self.wait_for(when)
        else:
            time.sleep(when)
        run.kill()
        run.communicate(timeout=LIMIT)

    def supervisors(self):
        return [path for path in self.folder.glob("jobs/*/process")]

    def processes(self):
        """The processes whose environment or command names this place."""
        found = []
        for process in os.listdir("/proc"):
            if process.isdigit():
                try:
                    texts = [open(f"/proc/{process}/{name}", "rb").read() for name in ("environ", "cmdline")]
                except OSError:
                    continue
                if any(str(self.path).encode() in text for text in texts):
                    found.append((int(process), texts[1]))
        return found


def adopted(run, **more):
    return {"id": "a", "onInterrupted": "adopt", "run": run, **more}


def commands_go_on(weft):
    """a command that outlives three engines runs once, its output is whole, and later steps read its outputs"""
    place = Place(weft, [
        adopted(f"echo x >>ran; echo one; echo bad >&2; touch up; {WAITS}; cat; echo two; echo o=7 >>$WEFT_OUTPUT",
                stdin="input\n", outputs={"o": {"type": "integer"}}),
        {"id": "b", "run": ["echo", "${{ steps.a.outputs.o }}"]}])
    place.kill()
    for _ in range(2):
        place.kill("resume", when=0.7)
    (place.path / "go").touch()
    done = place.call("resume")
    assert "ended processes" not in done.stderr, done
    assert (place.path / "ran").read_text() == "x\n"
    assert sorted(place.log("a").split()) == ["bad", "input", "one", "two"] and place.log("b") == "7\n", place.log("a")
    assert not (place.folder / "jobs").exists() and not place.processes()


def durations_of_others(weft):
    """the duration of an adopted command is unknown, and no estimate for later runs"""
    place = Place(weft, [adopted(f"touch up; {WAITS}"), {"id": "b", "run": "true"}])
    place.kill()
    (place.path / "go").touch()
    place.call("resume")
    steps = {step["id"]: step for step in json.loads(place.call("graph", "w.json", "--format", "json").stdout)["steps"]}
    assert "durationUs" in steps["b"] and "durationUs" not in steps["a"], steps
    estimate = json.loads(place.call("estimate", "w.json", "--format", "json").stdout)
    assert estimate["basis"]["unmeasured"] == ["a"], estimate


def ends_are_taken(weft):
    """a command that has ended meanwhile, with or without success, has ended as it did"""
    for code in (0, 3):
        place = Place(weft, [adopted(f"echo x >>ran; touch up; sleep 0.5; touch end; exit {code}")])
        place.kill()
        place.wait_for("end")
        place.until(lambda: list(place.folder.glob("jobs/*/end")))
        done = place.call("resume", expect=1 if code else 0)
        assert (place.path / "ran").read_text() == "x\n" and (not code or "exited with code 3" in done.stdout), done


def elements_and_attempts_are_adopted(weft):
    """elements of a loop, and the second attempt of a step, go on"""
    place = Place(weft, [
        {"id": "l", "forEach": {"in": [0, 1, 2]}, "onInterrupted": "adopt",
         "run": "echo x >>ran${{ item }}; echo $WEFT_ATTEMPT; [ $WEFT_ATTEMPT = 2 ]; touch up${{ item }}; " + WAITS,
         "retry": {"max": 1, "delay": "0s"}}])
    run = place.start("run", "w.json", "-j", "3")
    for item in range(3):
        place.wait_for(f"up{item}")
    run.kill()
    run.communicate(timeout=LIMIT)
    (place.path / "go").touch()
    place.call("resume")
    for item in range(3):
        assert (place.path / f"ran{item}").read_text() == "x\nx\n"
        assert place.log(f"l[{item}]") == "1\n2\n", place.log(f"l[{item}]")


def killed_commands_are_in_doubt(weft):
    """a command that was killed with its engine, reaped, or ended by a reboot is treated as if nothing was said"""
    def reap(place):
        place.call("reap")

    def kill(place):
        for path in place.supervisors():
            os.kill(int(path.read_text().split()[0]), signal.SIGKILL)

    def reboot(place):
        for path in place.supervisors():
            os.killpg(os.getpgid(int(path.read_text().split()[0])), signal.SIGKILL)
            path.write_text(re.sub(r"\S+$", "another-boot", path.read_text().strip()))

    for disturb in (reap, kill, reboot):
        for idempotent in (False, True):
            place = Place(weft, [adopted("echo x >>ran; touch up; [ -e go ] || sleep 1000", idempotent=idempotent)])
            place.kill()
            disturb(place)
            (place.path / "go").touch()
            done = place.call("resume", expect=0 if idempotent else 1)
            if not idempotent:
                assert "in doubt" in done.stdout and (place.path / "ran").read_text() == "x\n", (disturb, done)
                assert not place.processes(), (disturb, place.processes())
                place.call("resume", "--rerun-interrupted")
            assert (place.path / "ran").read_text() == "x\nx\n"
            assert not place.processes(), (disturb, place.processes())


def stops_end_everything(weft):
    """^C, time limits and a second ^C end a command and what it has started, also after it was adopted"""
    stubborn = "trap 'echo asked' TERM; sleep 1000 & setsid sleep 1000 & touch up; while :; do sleep 0.1; done"
    for signals, stop in ((1, {"grace": "500ms"}), (2, {"grace": "1h"})):
        for resumes in (False, True):
            place = Place(weft, [adopted(stubborn, stop=stop)])
            if resumes:
                place.kill()
            run = place.start(*(("resume",) if resumes else ("run", "w.json")))
            place.wait_for("up")
            place.until(lambda: pace.is_ready(run), "weft takes no signals")
            time.sleep(0.5)
            for _ in range(signals):
                pace.keep()
                run.send_signal(signal.SIGINT)
                place.until(lambda: run.poll() is not None or "asked" in place.log("a"))
            output, _ = run.communicate(timeout=LIMIT)
            assert run.returncode == 130 and "cancelled" in output, (signals, resumes, run.returncode, output)
            assert not place.processes(), place.processes()
            assert "asked" in place.log("a"), place.log("a")


def supervisors_end_with_their_steps(weft):
    """a step has ended only once the shell that supervised it is gone, however slow that is"""
    for signals in (0, 1, 2):
        place = Place(weft, [adopted(f"touch up; {WAITS}"), {"id": "b", "run": "true"}])
        slow = place.path / "bin/mv"
        slow.parent.mkdir()
        slow.write_text('#!/bin/sh\n/bin/mv "$@"\ncase $2 in */end) sleep 5;; esac\n')
        slow.chmod(0o755)
        place.environment = {**os.environ, "PATH": f"{slow.parent}:{os.environ['PATH']}"}
        run = place.start("run", "w.json")
        place.wait_for("up")
        for _ in range(signals):
            pace.keep()
            run.send_signal(signal.SIGINT)
        if not signals:
            (place.path / "go").touch()
        output, _ = run.communicate(timeout=LIMIT)
        assert run.returncode == (130 if signals else 0), output
        assert not place.processes(), (signals, place.processes())


def a_rerun_replaces_it(weft):
    """a command whose rerun is requested is ended and replaced; without that, no view says that it is in doubt"""
    for words in (["--rerun", "a"], ["--from", "a"]):
        place = Place(weft, [adopted(f"echo x >>ran; touch up; {WAITS}")])
        place.kill()
        assert "rerun only" not in place.call("show").stdout
        run = place.start("resume", *words)
        place.until(lambda: (place.path / "ran").read_text() == "x\nx\n", "it is not rerun")
        (place.path / "go").touch()
        run.communicate(timeout=LIMIT)
        assert run.returncode == 0 and (place.path / "ran").read_text() == "x\nx\n" and not place.processes(), words


def others_are_ended(weft):
    """the command of a step that has been changed is replaced, and one that a resumed run does not reach is ended"""
    place = Place(weft, [adopted(f"echo old >>ran; touch up; {WAITS}")])
    place.kill()
    place.write({"steps": [adopted("echo new >>ran")]})
    place.call("resume", "--accept-changes")
    assert (place.path / "ran").read_text() == "old\nnew\n" and not place.processes()
    place = Place(weft, [])
    place.write({"parallel": [{"id": "f", "idempotent": True, "run": "touch begun; [ ! -e fail ] && sleep 1000"},
                              adopted(f"echo x >>ran; touch up; {WAITS}")]})
    run = place.start("run", "w.json", "-j", "2")
    place.wait_for("up")
    place.wait_for("begun")
    run.kill()
    run.communicate(timeout=LIMIT)
    (place.path / "fail").touch()
    place.call("resume", "-j", "1", expect=1)
    assert not place.processes(), place.processes()


def ends_are_those_of_other_commands(weft):
    """exit codes, signals, limits, outputs, streams and environments are those of commands that are not adopted"""
    commands = {
        "ok": {"run": "echo out; echo error >&2; cat", "stdin": "text"},
        "merged": {"run": "echo out; echo error >&2; echo out", "mergeOutput": True},
        "code": {"run": "exit 3"}, "fine": {"run": "exit 3", "successCodes": [3]},
        "signal": {"run": ["sh", "-c", "kill -SEGV $$"]},
        "time": {"run": "sleep 1000", "timeout": "300ms"}, "silent": {"run": "sleep 1000", "stallTimeout": "300ms"},
        "output": {"run": "echo n=1 >>$WEFT_OUTPUT", "outputs": {"n": {"type": "integer"}}},
        "wrong": {"run": "echo n=x >>$WEFT_OUTPUT", "outputs": {"n": {"type": "integer"}}},
        "variables": {"run": "env | grep -v -e ^WEFT_ -e ^_= | sort", "env": {"A": "it's\n\"x\" \\ %", "PATH": "/usr/bin:/bin"}},
        "clean": {"run": ["/usr/bin/env"], "envPolicy": "clean"},
        "process": {"run": "umask; ulimit -a; grep -e SigIgn -e SigBlk /proc/self/status; ls /proc/self/fd"},
        "asked": {"run": ["sh", "-c", "trap 'echo asked; exit 0' INT; while :; do sleep 0.1; done"], "timeout": "300ms",
                  "stop": {"signal": "INT", "grace": "50s"}},
        "bytes": {"run": "head -c 100000 /dev/zero | tr '\\0' '\\377'"},
        "leftover": {"run": "sleep 1000 & setsid sleep 1000 & echo x"},
    }
    results = []
    for more in ({}, {"onInterrupted": "adopt"}):
        place = Place(weft, [])
        place.write({"onFailure": "continue", "parallel": [{"id": name, **step, **more} for name, step in commands.items()]})
        ends = {}
        for event in place.events(expect=1):
            if event["type"] == "step.finished":
                failure = event.get("failure", {})
                ends[event["step"]] = (event["outcome"], failure.get("classes"), failure.get("message"), event.get("outputs"))
        logs = {name: (place.folder / f"logs/{name}.log").read_bytes().replace(bytes(place.path), b"here") for name in commands
                if (place.folder / f"logs/{name}.log").exists() and name != "clean"}
        clean = {line.split("=")[0] for line in place.log("clean").splitlines() if not line.startswith("WEFT_")} - {"PWD"}  # which a shell adds
        assert not place.processes(), place.processes()
        results.append((json.loads(json.dumps(ends)), logs, clean))
    for one, other in zip(*results):
        differences = {key: (one[key], other.get(key)) for key in one if one[key] != other.get(key)} if isinstance(one, dict) \
            else one ^ other
        assert not differences, differences


def progress_is_reported(weft):
    """progress that a command reports before and after its adoption is in the events"""
    place = Place(weft, [adopted(f"echo 1/3 one >>$WEFT_PROGRESS; touch up; {WAITS}; echo 2/3 two >>$WEFT_PROGRESS; sleep 0.5; "
                                 "echo 3/3 >>$WEFT_PROGRESS")])
    place.kill()
    (place.path / "go").touch()
    done = place.call("resume", "--events", "-", "-q")
    told = [(event["done"], event.get("text")) for event in map(json.loads, done.stdout.splitlines())
            if event["type"] == "step.progress"]
    assert told and told[-1][0] == 3 and (2, "two") in told, told


def what_cannot_be_adopted_runs_as_usual(weft):
    """a run without a record, and a service, a program at the terminal, or one that leaves processes, run as usual"""
    place = Place(weft, [adopted("echo $WEFT_RUNNER-; cat /proc/$PPID/comm")])
    done = place.call("run", "w.json", "--record", "none")
    assert "[a] -\n[a] weft" in done.stdout, done
    place = Place(weft, [adopted("echo $WEFT_RUNNER-", leftovers="keep")])
    place.call("run", "w.json")
    assert place.log("a") == "-\n"


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        commands_go_on, durations_of_others, ends_are_taken, elements_and_attempts_are_adopted, killed_commands_are_in_doubt, stops_end_everything,
        supervisors_end_with_their_steps, a_rerun_replaces_it, others_are_ended, ends_are_those_of_other_commands,
        progress_is_reported, what_cannot_be_adopted_runs_as_usual]))
