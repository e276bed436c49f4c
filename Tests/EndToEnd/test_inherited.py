#!/usr/bin/env python3
"""Starts weft with everything that a process can inherit, and checks that each kind of step ends as usual.

usage: test_inherited.py PATH_TO_WEFT
"""

import concurrent.futures
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from lib import cases

LIMIT = 60  # seconds, against hanging only
AT_A_TIME = 4

# A step that fails, one that a signal ends, one that is stopped, one that leaves a process behind, and one that
# succeeds. Each holds a lock on the file `lock`, and so do its descendants.
WORKFLOW = {"onFailure": "continue", "parallel": [
    {"id": "fails", "run": "exit 3"},
    {"id": "killed", "run": "kill -KILL $$"},
    {"id": "slow", "run": "sleep 1000", "timeout": "100ms"},
    {"id": "leaves", "run": "sleep 1000 & exit 0"},
    {"id": "away", "run": "setsid sleep 1000 >&- 2>&- & exit 4"},
    {"id": "after", "needs": ["fails"], "run": "true"},
    {"id": "good", "run": ["true"]}]}
ENDS = {"fails": "exit:3", "killed": "signal:KILL", "slow": "timeout", "leaves": None, "away": "exit:4",
        "good": None}


def outcome(weft, prepare, descriptors=()):
    """The ends of the run and of its steps, if `prepare` is called in the process that becomes weft."""
    with tempfile.TemporaryDirectory(prefix="weft-inherited-") as path:
        place = pathlib.Path(path)
        workflow = json.loads(json.dumps(WORKFLOW))
        for step in workflow["parallel"]:
            if isinstance(step["run"], str):
                step["run"] = "exec 9<lock; flock -s 9; " + step["run"]
        (place / "w.json").write_text(json.dumps(workflow))
        (place / "lock").touch()
        done = subprocess.run(
            [weft, "run", "w.json", "--events", "events"], cwd=path, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, preexec_fn=prepare)
        alone = subprocess.run(["flock", "-n", "lock", "true"], cwd=path).returncode == 0
        (place / "events").chmod(0o600)
        events = [json.loads(line) for line in (place / "events").read_text().splitlines()]
        ends = {}
        for event in events:
            if event["type"] == "step.finished":
                ends[event["step"]] = event.get("failure", {}).get("classes", [None])[0]
        return done.returncode, ends, alone, done.stdout


def is_as_usual(weft, prepare, what):
    code, ends, alone, said = outcome(weft, prepare)
    assert code == 1 and ends == ENDS, f"{what}: exit code {code}, {ends}\n{said}"
    assert alone, f"{what}: something is alive"


def all_of(weft, states):
    """Checks the usual end in each state: a name and the function that prepares it."""
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        for future in [pool.submit(is_as_usual, weft, prepare, what) for what, prepare in states]:
            future.result()
    return f"{len(states)} states"


CHANGEABLE = sorted(set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP})
STANDARD = [number for number in CHANGEABLE if number < signal.SIGRTMIN]


def ignored(numbers):
    def prepare():
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
    return prepare


def blocked(numbers):
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


def dispositions(weft):
    states = [(f"{signal.Signals(number).name} ignored", ignored([number])) for number in STANDARD]
    return all_of(weft, states + [("all ignored", ignored(CHANGEABLE))])


def masks(weft):
    states = [(f"{signal.Signals(number).name} blocked", blocked([number])) for number in STANDARD]
    return all_of(weft, states + [("all blocked", blocked(CHANGEABLE))])


def closed(numbers):
    def prepare():
        for number in numbers:
            os.close(number)
    return prepare


def limited(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def priority():
    os.nice(19)


def the_rest(weft):
    states = [(f"umask {mask:o}", lambda mask=mask: os.umask(mask) and None) for mask in (0, 0o77, 0o777)]
    states += [(f"descriptors {numbers} closed", closed(numbers)) for numbers in [(0,), (0, 2), (2,)]]
    states += [("no core files", limited(resource.RLIMIT_CORE, 0)),
               ("a stack of 256 KiB", limited(resource.RLIMIT_STACK, 256 << 10)),
               ("64 descriptors", limited(resource.RLIMIT_NOFILE, 64)), ("the lowest priority", priority)]
    return all_of(weft, states)


def few_descriptors(weft):
    """It runs, or reports at once what is missing."""
    counts = {"ran": [], "refused": []}
    for count in range(10, 48):
        with tempfile.TemporaryDirectory(prefix="weft-inherited-") as path:
            pathlib.Path(f"{path}/w.json").write_text('{"steps": ["echo one", "echo two"]}')
            done = subprocess.run(
                [weft, "run", "w.json"], cwd=path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=10, preexec_fn=limited(resource.RLIMIT_NOFILE, count))
            if done.returncode == 0:
                assert "2 steps succeeded" in done.stdout, (count, done)
                counts["ran"].append(count)
            else:
                assert done.returncode == 4 and "ulimit -n" in done.stderr, (count, done)
                assert not os.path.exists(f"{path}/.weft/runs") or not os.listdir(f"{path}/.weft/runs"), count
                counts["refused"].append(count)
    assert counts["ran"] and max(counts["refused"]) < min(counts["ran"]) <= 40, counts
    return f"refused up to {max(counts['refused'])}"


def a_umask_of_all(weft):
    """an ordinary user with a umask that removes all permissions can run, show and resume workflows"""
    def ordinary():
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        os.umask(0o777)

    with tempfile.TemporaryDirectory(prefix="weft-inherited-") as path:
        place = pathlib.Path(path)
        program = shutil.copy(weft, place / "weft")
        place.chmod(0o755)
        work = place / "work"
        work.mkdir()
        (work / "w.json").write_text(json.dumps({"steps": [
            {"id": "o", "run": "echo n=1 >>$WEFT_OUTPUT; echo 1/2 >$WEFT_PROGRESS", "outputs": {"n": {"type": "integer"}}},
            {"id": "a", "run": "test ${{ steps.o.outputs.n }} = 2"}]}))
        if os.geteuid() == 0:
            os.chown(work, 65534, 65534)

        def call(*arguments):
            return subprocess.run(
                [program, *arguments], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                preexec_fn=ordinary, env={**os.environ, "HOME": str(work), "TMPDIR": str(work)})

        for arguments in (["run", "w.json", "--state-dir", "state"], ["run", "w.json"], ["resume"]):
            done = call(*arguments)
            assert done.returncode == 1 and '"a" failed' in done.stdout and not done.stderr, (arguments, done)
        shown = call("show").stdout
        assert "✓ o: succeeded" in shown and "✗ a: failed" in shown, shown


CASES = [
    ("X01, P21: each signal ignored at the start, and all of them", dispositions),
    ("P21: each signal blocked at the start, and all of them", masks),
    ("P21: umask, closed descriptors, limits and priority", the_rest),
    ("P21: a umask of 777", a_umask_of_all),
    ("X55: with too few descriptors nothing begins, and the message says how many are needed", few_descriptors),
]

if __name__ == "__main__":
    sys.exit(cases.run(__doc__, CASES))
