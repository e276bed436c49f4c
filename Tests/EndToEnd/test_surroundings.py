#!/usr/bin/env python3
"""Checks the effects of running programs on the machine: crowds of children, reused ids, orphans, descriptors.

usage: test_surroundings.py PATH_TO_WEFT

WEFT_LONG=1 makes K10 start 100,000 programs instead of 2,000.
"""

import functools
import json
import os
import pathlib
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time

from lib import cases
from lib.cases import Skipped
from lib.kill_matrix.trial import GRACE, Trial, compiled_member, only_child

here = pathlib.Path(__file__).resolve().parent

NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc")


def crowd_is_cancelled(weft, member):
    """K26: 2,000 running steps, cancelled: one batch of TERMs, nothing alive 3 s after the grace"""
    for _ in range(3):
        count, spread, bare, seconds = cancel_crowd(weft, member)
        # Waiting for each process before signalling the next would take a hundred times as long, each time; another
        # program that is busy meanwhile delays one of them.
        if spread < 8 * bare + 0.5:
            return (f"TERM to all {count} within {spread * 1000:.0f} ms (a bare loop of kills: {bare * 1000:.0f} ms), "
                    f"all dead after {seconds:.2f} s")
    raise AssertionError(f"TERM came to the last {spread:.3f} s after the first; bare loop: {bare:.3f} s")


def cancel_crowd(weft, member):
    """The number of steps, the times from the first TERM to the last, of weft and of a bare loop, and that to the end."""
    count = 2_000
    trial = Trial(weft, member, "auto")
    try:
        trial.start([{"run": [member, trial.path, f"m{i}"]} for i in range(count)], jobs=count)
        count = running_at_once(trial, count)
        trial.wait_until_up(count)
        trial.send(signal.SIGTERM)
        assert trial.wait_for_exit() == 143, trial.output[-2000:]
        trial.look_for_survivors()
        assert not trial.left, trial.left
        told = trial.told()
        assert list(told.values()) == ["TERM"] * count, f"{len(told)} had TERM, the others KILL"
        return count, spread_of_terms(trial), spread_of_a_bare_loop(member, count), trial.seconds()
    finally:
        trial.close()


def spread_of_terms(trial):
    """The time from the first to the last noted TERM, in seconds."""
    return max(trial.told_at()) - min(trial.told_at())


def spread_of_a_bare_loop(member, count):
    """That time for as many processes ended by a bare loop: what this machine currently needs."""
    trial = Trial(None, member, None)
    try:
        members = [subprocess.Popen([member, trial.path, f"b{i}"], start_new_session=True) for i in range(count)]
        trial.wait_until_up(count)
        for process in members:
            process.terminate()
        for process in members:
            process.wait()
        return spread_of_terms(trial)
    finally:
        trial.close()


def crowd_is_interrupted(weft, member):
    """K03 and K15: ^C ends 1,000 children, of which every tenth ignores TERM and has left its session"""
    count = 1_000
    trial = Trial(weft, member, "auto")
    try:
        words = [["ignore-term", "session"] if i % 10 == 0 else [] for i in range(count)]
        trial.start(
            [{"run": [member, trial.path, f"m{i}", *words[i]], "stop": {"grace": f"{GRACE}s"}}
             for i in range(count)], jobs=count, terminal=True)
        assert running_at_once(trial, count) == count
        trial.wait_until_up(count)
        trial.press(b"\x03")
        assert trial.wait_for_exit() == 130, trial.output[-2000:]
        trial.look_for_survivors()
        assert not trial.left, trial.left
        assert len(trial.told()) == count - count // 10, trial.told()
        late = trial.seconds() - GRACE
        assert late < 3, f"ended {late:.2f} s after the grace"
        return f"nothing alive {late:.2f} s after the grace"
    finally:
        trial.close()


def first_process_reaps_orphans(weft, member):
    """C13: as process 1 of a namespace weft reaps what it adopts, and mistakes none of it for a step"""
    # Orphans that die at once, while other steps end with codes of their own; afterwards there may be no zombie: the
    # last step waits until it sees none.
    orphans = "for i in $(seq 100); do (sh -c 'exit 9' &); done"
    no_zombie = "while grep -sq '^State:.Z' /proc/[0-9]*/status; do :; done"
    workflow = {"steps": [
        {"id": "many", "parallel": [orphans, orphans, {"id": "seven", "run": "exit 7",
                                                       "allowFailure": True}]},
        {"id": "clean", "run": no_zombie, "timeout": "50s"}]}
    done = run_workflow(weft, workflow, through=NAMESPACE)
    assert done.returncode == 0, done.stdout
    assert "exited with code 7" in done.stdout, done.stdout


def reused_ids_are_not_mistaken(weft, member):
    """K10: with 400 process ids for thousands of programs, no foreign process is ever signalled"""
    release = tuple(int(part) for part in platform.release().split(".")[:2])
    if release < (6, 14):
        raise Skipped("before Linux 6.14 a namespace has no limit of process ids of its own")
    count = 100_000 if os.environ.get("WEFT_LONG") == "1" else 2_000
    # Steps that end by themselves, that leave a process behind, and that are stopped.
    kinds = ["true", "sleep 1000 >/dev/null 2>&1 & true",
             {"run": "setsid sleep 1000 >/dev/null 2>&1 & exit 1", "allowFailure": True},
             {"run": "sleep 1000", "timeout": "10ms", "allowFailure": True}]
    workflow = {"onFailure": "continue", "parallel": [kinds[i % 4] for i in range(count)]}
    script = f"""
        echo 700 >/proc/sys/kernel/pid_max
        '{sys.executable}' '{here}/lib/kill_matrix/bystanders.py' "$PWD/over" & bystanders=$!
        "$@"; code=$?
        touch over; wait $bystanders || exit 99
        exit $code"""
    told = []
    for level in ("subreaper", "group+cookie"):
        done = run_workflow(weft, workflow, "--containment", level,
                            through=(*NAMESPACE, "sh", "-c", script, "sh"))
        assert done.returncode == 0, f"{done.returncode} at {level}: {done.stdout[-2000:]}"
        told.append(next(line for line in done.stdout.splitlines() if "bystanders" in line))
    return "; ".join(told)


def processes_of_others_are_not_seen(weft, member):
    """C13: if /proc belongs to a different namespace, no process is signalled because of it, and a warning says so"""
    for level in ("subreaper", "group+cookie"):
        trial = Trial(weft, member, level)
        try:
            trial.start([trial.step("one", trial.script("member away session & member child; :"))],
                        through=("unshare", "--pid", "--fork"))
            trial.wait_until_up(2)
            trial.send(signal.SIGTERM, only_child(trial.process.pid))
            assert trial.wait_for_exit() == 143, trial.output
            codes = [warning["code"] for warning in trial.events_of("run.warning")]
            assert codes == ["processes-not-seen"], codes
            assert "unkillable" not in trial.events_of("run.finished")[0], trial.events_text
        finally:
            trial.close()


def orphans_end_in_a_foreign_namespace(weft, member):
    """with the /proc of another PID namespace, an orphan in a control group is terminated at once"""
    needs_namespaces("--pid", "--fork")
    begun = time.monotonic()
    done = run_workflow(weft, {"steps": ["setsid sleep 60 & sleep 0.2"]}, "--containment", "cgroup",
                        through=("unshare", "--pid", "--fork"))
    if "cannot be used" in done.stdout or done.returncode == 2:
        raise Skipped(done.stdout)
    assert done.returncode == 0 and "could not end" not in done.stdout, done.stdout
    assert time.monotonic() - begun < 12, "weft waited for a dead process"


def missing_files_are_named(weft, member):
    """without /proc weft runs; without /dev/null the message says so"""
    needs_namespaces("--mount")
    def without(directory):
        return ("unshare", "--mount", "sh", "-c", f"mount -t tmpfs none {directory} && exec \"$@\"", "sh")

    done = run_workflow(weft, {"steps": ["echo it runs"]}, through=without("/proc"))
    assert done.returncode == 0 and "it runs" in done.stdout, done.stdout
    done = run_workflow(weft, {"steps": ["echo it runs"]}, "--containment", "subreaper", through=without("/dev"))
    assert done.returncode == 1 and '"/dev/null"' in done.stdout and "control group" not in done.stdout, done.stdout


def little_memory_leaves_nothing(weft, member):
    """the directory of temporary files is removed where memory is short, too"""
    with tempfile.TemporaryDirectory(prefix="weft-surroundings-") as path:
        for limit in range(150_000, 650_000, 50_000):
            run_workflow(weft, {"steps": ["true"]}, "-q",
                         through=("env", f"TMPDIR={path}", "sh", "-c", f"ulimit -v {limit}; exec \"$@\"", "sh"))
            assert os.listdir(path) == [], (limit, os.listdir(path))


def needs_namespaces(*options):
    if subprocess.run(["unshare", *options, "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skipped("no namespaces can be made here")


def containers_are_not_reaped(weft, member):
    """K19: weft reap leaves alone what runs in a different PID namespace, where its weft may live"""
    trial = Trial(weft, member, "subreaper")
    try:
        trial.start([trial.step("one", trial.script("member child; :"))], through=NAMESPACE)
        trial.wait_until_up(1)
        trial.take_until(lambda: trial.events_of("run.started"), "the first event")
        run = trial.events_of("run.started")[0]["run"]
        done = subprocess.run([weft, "reap", run], capture_output=True, text=True, cwd=trial.path)
        assert done.returncode == 4 and "is still running" in done.stderr, done
        done = subprocess.run([weft, "reap"], capture_output=True, text=True, cwd=trial.path)
        assert done.returncode == 0 and run not in done.stdout, done
        assert not trial.nothing_is_alive()
        trial.send(signal.SIGTERM, only_child(trial.process.pid))
        assert trial.wait_for_exit() == 143
    finally:
        trial.close()


def descriptors_are_not_inherited(weft, member):
    """C12: no descriptor of weft reaches a program that other code starts in its process"""
    trial = Trial(weft, member, "auto")
    try:
        trial.start([{"run": [member, trial.path, f"m{i}"]} for i in range(8)])
        trial.wait_until_up(8)
        directory = f"/proc/{trial.process.pid}/fdinfo"
        for number in sorted(map(int, os.listdir(directory))):
            try:
                with open(f"{directory}/{number}") as file:
                    flags = next(int(line.split()[1], 8) for line in file if line.startswith("flags"))
            except FileNotFoundError:  # closed meanwhile
                continue
            assert number < 3 or flags & os.O_CLOEXEC, f"descriptor {number} is inherited"
        trial.send(signal.SIGTERM)
        assert trial.wait_for_exit() == 143
    finally:
        trial.close()


def running_at_once(trial, wanted):
    """The number of steps that weft runs at once: with few descriptors, slightly fewer than wanted."""
    trial.take_until(lambda: trial.events_of("run.started"), "the first event")
    count = min(wanted, trial.events_of("run.started")[0]["maxParallel"])
    if count < wanted * 0.9:
        raise Skipped(f"descriptors allow {count} programs only (ulimit -Hn)")
    return count


def run_workflow(weft, workflow, *arguments, through=()):
    with tempfile.TemporaryDirectory(prefix="weft-surroundings-") as path:
        pathlib.Path(f"{path}/workflow.json").write_text(json.dumps(workflow))
        return subprocess.run(
            [*through, weft, "run", "workflow.json", "-j8", *arguments], cwd=path, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)


TESTS = [crowd_is_cancelled, crowd_is_interrupted, first_process_reaps_orphans,
         processes_of_others_are_not_seen, orphans_end_in_a_foreign_namespace, missing_files_are_named,
         little_memory_leaves_nothing, containers_are_not_reaped, reused_ids_are_not_mistaken,
         descriptors_are_not_inherited]


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="weft-surroundings-") as directory:
        member = compiled_member(directory)

        def described(test):
            return test.__doc__, functools.wraps(test)(lambda weft: test(weft, member))

        return cases.run(__doc__, [described(test) for test in TESTS])


if __name__ == "__main__":
    sys.exit(main())
