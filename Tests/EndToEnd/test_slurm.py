#!/usr/bin/env python3
"""Runs commands as jobs of Slurm: values and outputs, ends of all kinds, adoption by resumed runs, and a slow, forgetful or
absent controller.

usage: test_slurm.py PATH_TO_WEFT
"""

import csv
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

from lib import cases, slurm
from lib.controller import Controller
from lib.place import Remote

LIMIT = 120  # seconds, against hanging only


class Place(Remote):
    """A directory with a workflow on a cluster."""

    limit = LIMIT

    def __init__(self, weft, cluster, **workflow):
        self.environment = cluster.environment
        super().__init__(weft, {"runner": "slurm", **workflow})

    def jobs(self):
        """What is left in the directories of jobs."""
        return list((self.path / ".weft/runs").glob("*/jobs/*"))


def values_arrive(weft):
    """arguments, variables, input and scripts arrive byte for byte, and outputs, streams and exit codes come back"""
    with slurm.Cluster() as cluster:
        text = "it's \"ü\" !1 \\n\n$x % 100%"
        place = Place(weft, cluster, steps=[
            {"id": "a", "env": {"T": text}, "run": "printf '%s' \"$T\"; cat; echo o=5 >>$WEFT_OUTPUT",
             "stdin": "in\\\n", "outputs": {"o": {"type": "integer"}}},
            {"id": "b", "run": ["printf", "%s|", "a b", "$x", "'", "", "${{ steps.a.outputs.o }}"]},
            {"id": "c", "run": "cat; pwd", "stdin": {"log": "a"}, "cwd": "sub"},
            {"id": "d", "run": "cat", "stdin": {"file": "bytes"}},
            {"id": "e", "run": "echo out; echo err >&2", "mergeOutput": True},
            {"id": "f", "run": "seq 1 300000", "logLimit": "64MiB"},
            {"id": "g", "run": "echo $HOME $WEFT_TEST_HERE"}], secrets={})
        (place.path / "sub").mkdir()
        (place.path / "bytes").write_bytes(bytes(range(256)))
        place.call("run", "w.json", errors="replace", WEFT_TEST_HERE="inherited")
        assert place.log("a") == text + "in\\\n", place.log("a")
        assert place.log("b") == "a b|$x|'||5|", place.log("b")
        assert place.log("c") == text + f"in\\\n{place.path}/sub\n", place.log("c")
        run = next((place.path / ".weft/runs").iterdir())
        assert (run / "logs/d.log").read_bytes() == bytes(range(256))
        assert place.log("e") == "out\nerr\n"
        assert place.log("f") == "".join(f"{n}\n" for n in range(1, 300001))
        assert place.log("g").endswith("inherited\n"), place.log("g")
        assert not place.jobs(), place.jobs()


def elements_are_an_array(weft):
    """elements of a loop are jobs of one array, more of them at once than this machine has slots"""
    with slurm.Cluster() as cluster:
        place = Place(weft, cluster, steps=[
            {"id": "l", "forEach": {"in": list(range(40))}, "run": "echo ${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID} ${{ item }}; touch up${{ item }}; "
             "while [ ! -e up39 ] || [ ! -e up0 ]; do sleep 0.1; done"}])
        place.call("run", "w.json", "-j", "1")
        logs = [place.log(f"l[{n}]").split() for n in range(40)]
        assert [int(item) for _, item in logs] == list(range(40))
        arrays = {array for array, _ in logs}
        assert len(arrays) < 35, arrays
        return f"{len(arrays)} arrays"


def ends_have_classes(weft):
    """exit codes, signals, what does not start, time limits and silence have the classes of this machine's programs"""
    with slurm.Cluster() as cluster:
        place = Place(weft, cluster, onFailure="continue", parallel=[
            {"id": "code", "run": "exit 3"}, {"id": "signal", "run": ["sh", "-c", "kill -SEGV $$"]},
            {"id": "missing", "run": ["no-such-program"]}, {"id": "folder", "run": "true", "cwd": "none"},
            {"id": "time", "run": "sleep 100", "timeout": "1s"}, {"id": "silence", "run": "sleep 100", "stallTimeout": "1s"},
            {"id": "memory", "run": "true", "resources": {"memory": "9000GiB"}},
            {"id": "killed", "run": "echo $SLURM_JOB_ID >id; mv id killed; sleep 100"}])
        killer = subprocess.Popen(["sh", "-c", f"while [ ! -e killed ]; do sleep 0.1; done; scancel $(cat killed)"],
                                  cwd=place.path, env=cluster.environment)
        failed = place.failures()
        killer.wait(LIMIT)
        classes = {step: sorted(failure["classes"]) for step, failure in failed.items()}
        assert classes == {
            "code": ["exit", "exit:3"], "signal": ["signal", "signal:SEGV"], "missing": ["spawn"], "folder": ["spawn"],
            "time": ["timeout"], "silence": ["stall"], "memory": ["limit"], "killed": ["runner", "runner:cancelled"]}, failed
        # Slurm may still be completing what has ended.
        cluster.wait(lambda: not cluster.jobs(), limit=20)


def memory_is_confined(weft):
    """the peak of a job that the cluster confines is recorded, and one that needs more may request more in its next attempt"""
    with slurm.Cluster(memory=2000) as cluster:
        take = "python3 -c 'import os; taken = bytearray(int(os.environ[\"MIB\"]) << 20)'"
        place = Place(weft, cluster, steps=[
            {"id": "fits", "env": {"MIB": "60"}, "run": take, "resources": {"memory": "200MiB"}},
            {"id": "grows", "env": {"MIB": "300"}, "run": take, "retry": {"max": 1, "on": ["limit:memory"], "delay": "0s"},
             "resources": {"memory": "${{ case(run.attempt > 1, '600MiB', '100MiB') }}"}}])
        events = place.events(expect=0)
        ends = {event["step"]: event["usage"] for event in events if event["type"] == "step.finished"}
        assert 60 << 20 < ends["fits"]["peakMemoryBytes"] < 200 << 20, ends
        assert ends["fits"]["requestedMemoryBytes"] == 200 << 20 and ends["fits"]["userUs"] > 0, ends
        assert 300 << 20 < ends["grows"]["peakMemoryBytes"] < 600 << 20, ends
        retried = [event for event in events if event["type"] == "step.retrying"]
        assert [event["failure"]["classes"] for event in retried] == [["limit", "limit:memory"]], retried
        shown = place.call("show").stdout
        assert "of 209 MB" in shown, shown


def usage_is_recorded(weft):
    """the usage of a program that ends with its supervisor comes from the database of the cluster"""
    with slurm.Cluster(accounting=True) as cluster:
        place = Place(weft, cluster, steps=[{"id": "a", "resources": {"memory": "1GiB"}, "run": ["python3", "-c", textwrap.dedent("""\
            import pathlib, signal, time
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            taken = bytearray(100 << 20)
            begin = time.process_time()
            while time.process_time() < begin + 4: pass
            pathlib.Path("up").touch()
            time.sleep(1000)
            """)]}])
        run = place.start("run", "w.json")
        cluster.wait((place.path / "up").exists)
        cluster.call("scancel", "--user=root")
        assert run.wait(LIMIT) == 1
        (end,) = [record for record in place.records() if record["type"] == "step.finished"]
        assert "runner:cancelled" in end["failure"]["classes"], end
        usage = end["usage"]
        # Slurm samples whole seconds.
        assert usage["userUs"] >= 1_000_000 and usage["requestedMemoryBytes"] == 1 << 30, usage
        assert 100 << 20 < usage["peakMemoryBytes"] < 400 << 20, usage


def stops_leave_nothing(weft):
    """^C, once and twice, ends all jobs, also those that wait"""
    for presses in (1, 2):
        with slurm.Cluster(cpus=1) as cluster:
            place = Place(weft, cluster, parallel=[
                {"id": "one", "run": "touch up1; trap '' TERM; sleep 1000 & wait; sleep 1000"}, {"id": "two", "run": "touch up2; sleep 1000"}])
            run = place.start("run", "w.json")
            cluster.wait(lambda: list(place.path.glob("up*")) and len(cluster.jobs()) >= 2, LIMIT)
            for _ in range(presses):
                run.send_signal(signal.SIGINT)
                time.sleep(0.5)
            output, _ = run.communicate(timeout=LIMIT)
            assert run.returncode == 130, (run.returncode, output)
            cluster.wait(lambda: cluster.jobs() == [])


def killed_runs_adopt(weft):
    """a resumed run adopts jobs that run, wait or have ended meanwhile, as often as it is killed; nothing runs twice"""
    with slurm.Cluster(cpus=2) as cluster:
        place = Place(weft, cluster, parallel=[
            {"id": "long", "onInterrupted": "fail", "run": "echo x >>long; echo one; while [ ! -e go ]; do sleep 0.1; done; echo two; echo o=7 >>$WEFT_OUTPUT",
             "outputs": {"o": {"type": "integer"}}},
            {"id": "short", "run": "echo x >>short; while [ ! -e gone ]; do sleep 0.1; done; echo done"},
            {"id": "both", "runner": "local", "run": "while [ ! -e long ] || [ ! -e short ]; do sleep 0.1; done"},
            {"id": "third", "needs": ["both"], "run": "echo x >>third; echo third"},
            {"id": "after", "needs": ["long", "short", "third"], "run": "echo ${{ steps.long.outputs.o }}"}])
        run = place.start("run", "w.json")
        place.wait_for("long")
        place.wait_for("short")
        cluster.wait(lambda: len(cluster.jobs()) == 3)
        run.kill()
        run.communicate(timeout=LIMIT)
        (place.path / "gone").touch()
        cluster.wait(lambda: len(cluster.jobs()) == 1)
        for _ in range(2):
            again = place.start("resume")
            time.sleep(1.5)
            again.kill()
            again.communicate(timeout=LIMIT)
        (place.path / "go").touch()
        place.call("resume")
        for name in ("long", "short", "third"):
            assert (place.path / name).read_text() == "x\n", (name, (place.path / name).read_text())
        assert place.log("long") == "one\ntwo\n" and place.log("short") == "done\n", place.log("long")
        assert place.log("after") == "7\n"
        assert not place.jobs(), place.jobs()


def changed_steps_are_replaced(weft):
    """the running job of a step that has been changed is ended before the new one is submitted"""
    with slurm.Cluster() as cluster:
        place = Place(weft, cluster, steps=[{"id": "a", "run": "echo old >>log; sleep 1000"}])
        run = place.start("run", "w.json")
        place.wait_for("log")
        run.kill()
        run.communicate(timeout=LIMIT)
        place.write({"runner": "slurm", "steps": [{"id": "a", "run": "squeue -h -t R -n weft-a -o x | wc -l; echo new >>log"}]})
        place.call("resume", "--accept-changes")
        assert (place.path / "log").read_text() == "old\nnew\n"
        assert place.log("a").strip() == "1", place.log("a")


def controller_may_be_away(weft):
    """a controller that is restarted loses no job"""
    with slurm.Cluster() as cluster:
        place = Place(weft, cluster, steps=[
            {"id": "a", "run": "touch up; while [ ! -e go ]; do sleep 0.1; done; echo a"}, {"id": "b", "run": "echo b"}])
        run = place.start("run", "w.json")
        place.wait_for("up")
        cluster.stop_controller()
        time.sleep(3)
        (place.path / "go").touch()
        time.sleep(1)
        cluster.start_controller()
        output, _ = run.communicate(timeout=LIMIT)
        assert run.returncode == 0, output
        assert place.log("b") == "b\n"


def refusals_have_reasons(weft):
    """an unknown partition, and a machine without Slurm, fail the step with Slurm's words"""
    with slurm.Cluster() as cluster:
        place = Place(weft, cluster, steps=[{"id": "a", "run": "true"}], runners={"slurm": {"kind": "slurm", "partition": "nope"}})
        failure = place.failures()["a"]
        assert failure["classes"] == ["runner"] and "invalid partition" in failure["message"].lower(), failure
        place = Place(weft, cluster, steps=[{"id": "a", "run": "true"}])
        directory = tempfile.TemporaryDirectory()
        os.symlink("/bin/sh", f"{directory.name}/sh")
        done = place.call("run", "w.json", expect=1, PATH=directory.name)
        assert "sbatch" in done.stdout + done.stderr, done


def check_asks_the_cluster(weft):
    """weft check --probe asks the cluster about each kind of request, and submits nothing"""
    with slurm.Cluster() as cluster:
        steps = [{"id": "a", "run": "true"}, {"id": "b", "run": "true", "resources": {"cpus": 2}},
                 {"id": "c", "run": "true", "runner": "local"}]
        place = Place(weft, cluster, steps=steps)
        done = place.call("check", "w.json", "--probe")
        assert done.stdout == "1 file: no problems\n" and not done.stderr, done
        place.write({"steps": steps + [{"id": "large", "run": "true", "resources": {"cpus": 1000}}]})
        place.call("check", "w.json", "--probe")
        done = place.call("check", "w.json", "--probe", "--runner", "slurm", expect=1)
        assert 'runner "slurm" would not run "large": ' in done.stdout and done.stdout.endswith("1 error\n"), done
        place = Place(weft, cluster, steps=steps, runners={"slurm": {"kind": "slurm", "partition": "nope"}})
        done = place.call("check", "w.json", "--probe", expect=1)
        assert "invalid partition" in done.stdout.lower() and "1 file: 2 errors" in done.stdout, done
        assert not cluster.jobs() and not (place.path / ".weft").exists()
        cluster.stop_controller()
        done = place.call("check", "w.json", "--probe", "--format", "json", expect=1)
        assert "unable to contact" in done.stdout.lower() and "W0433" in done.stdout, done
        cluster.start_controller()


def clusters_have_words(weft):
    """what a cluster ends has a class to retry on, and requests, also those that grow, become options of sbatch"""
    with Controller() as cluster:
        place = Place(weft, cluster, steps=[
            {"id": "a", "run": "echo ok", "resources": {"cpus": 2, "memory": "${{ case(run.attempt > 1, '8GiB', '2GiB') }}",
                                                        "gpus": 1, "time": "90m"},
             "retry": {"max": 3, "delay": "0s", "on": ["limit:memory"]}}],
            runners={"slurm": {"kind": "slurm", "partition": "short", "account": "lab", "options": ["--nice=5"]}})
        cluster.ends.append("OUT_OF_MEMORY")
        place.call("run", "w.json")
        first, second = cluster.submitted
        for word in ("--cpus-per-task=2", "--mem=2097152K", "--gpus=1", "--time=90", "--partition=short", "--account=lab",
                     "--nice=5", "--no-requeue"):
            assert word in first, (word, first)
        assert "--mem=8388608K" in second, second
    for state, name in [("NODE_FAIL", "runner:node-fail"), ("PREEMPTED", "runner:preempted"),
                        ("BOOT_FAIL", "runner:boot-fail"), ("TIMEOUT", "timeout"), ("OUT_OF_MEMORY", "limit:memory")]:
        with Controller() as cluster:
            place = Place(weft, cluster, steps=[{"id": "a", "run": "true"}])
            cluster.ends.append(state)
            failure = place.failures()["a"]
            assert name in failure["classes"], (state, failure)


def faults_lose_nothing(weft):
    """a controller that is down, does not answer, forgets jobs, loses its answer, or takes only small arrays: each program
    runs exactly once"""
    for fault, times in [("down", 2), ("silent", 2), ("lose", 1), ("forget", 2), ("small", 0)]:
        with Controller() as cluster:
            place = Place(weft, cluster, steps=[
                {"id": "l", "forEach": {"in": list(range(6))}, "run": "echo x >>ran${{ item }}; sleep 1"}])
            # No job begins until squeue has answered, so that the faults of squeue occur too.
            cluster.faults.update({fault: times, "drained": 1})
            cluster.largest = 2 if fault == "small" else 1001
            done = place.call("run", "w.json", "-j", "6")
            for n in range(6):
                assert (place.path / f"ran{n}").read_text() == "x\n", (fault, n, done.stdout)
            assert not cluster.faults.total(), cluster.faults
            assert not place.jobs(), place.jobs()


def unsubmitted_jobs_are_submitted(weft):
    """a run that is killed before Slurm has taken its job submits it when it is resumed, with its input"""
    for stdin in ("text", {"file": "bytes"}):
        with Controller() as cluster:
            place = Place(weft, cluster, steps=[{"id": "a", "run": "cat; echo x >>ran", "stdin": stdin}])
            (place.path / "bytes").write_text("text")
            cluster.faults["down"] = 1000
            run = place.start("run", "w.json")
            cluster.wait(lambda: cluster.faults["down"] < 1000)
            run.kill()
            run.communicate(timeout=LIMIT)
            cluster.faults.clear()
            place.call("resume")
            assert place.log("a") == "text" and (place.path / "ran").read_text() == "x\n", place.log("a")


def killed(place, cluster, holds):
    """Kills a run when its cluster holds a command, or a file is there."""
    if isinstance(holds, str):
        cluster.holds = holds
    run = place.start("run", "w.json")
    cluster.wait(cluster.held.is_set if isinstance(holds, str) else holds)
    run.kill()
    run.communicate(timeout=LIMIT)
    cluster.released.set()


def incomplete_scripts_run_nothing(weft):
    """a run is killed while it hands over a script: the part of it that Slurm got runs nothing, and is replaced"""
    with Controller() as cluster:
        place = Place(weft, cluster, steps=[{"id": "a", "run": "echo x >>ran"}])
        cluster.faults["cut"] = 1
        killed(place, cluster, "accepted")
        cluster.wait(lambda: cluster.jobs[0].is_over)
        place.call("resume")
        assert (place.path / "ran").read_text() == "x\n" and len(cluster.jobs) == 2, cluster.history


def forgotten_ends_are_recalled(weft):
    """the end of a job that squeue does not list any more comes from the records of the cluster"""
    with Controller() as cluster:
        cluster.has_accounting, cluster.memory = True, 0
        place = Place(weft, cluster, steps=[{"id": "a", "run": "touch up; kill -STOP 0; sleep 1000"}])
        killed(place, cluster, (place.path / "up").exists)
        # The whole session dies without a word, as when memory is out.
        cluster.end(cluster.jobs[0], "OUT_OF_MEMORY", "test")
        cluster.send(cluster.jobs[0], signal.SIGKILL)
        cluster.wait(lambda: cluster.jobs[0].is_over)
        done = place.call("resume", expect=1)
        (end,) = [record for record in place.records() if record["type"] == "step.finished"]
        assert end["usage"] == {"userUs": 1_500_000, "systemUs": 250_000, "peakMemoryBytes": 4 << 20}, end
        assert "needed more memory" in done.stdout and "limit:memory" in place.call("show", "--format", "json").stdout, done


def refusals_after_lost_answers_wait_for_the_job(weft):
    """a job whose submission was not answered, and then refused when it is repeated, ends as its program does"""
    with Controller() as cluster:
        place = Place(weft, cluster, steps=[{"id": "a", "run": "echo x >>ran; sleep 4; echo done"}])
        cluster.faults["lose"] = 1
        run = place.start("run", "w.json")
        cluster.wait(lambda: not cluster.faults["lose"])
        cluster.faults["refuse"] = 1
        output, _ = run.communicate(timeout=LIMIT)
        assert run.returncode == 0, output
        assert (place.path / "ran").read_text() == "x\n" and place.log("a") == "done\n"
        assert not cluster.faults.total(), cluster.faults


def stops_do_not_wait_for_commands(weft):
    """a second ^C does not wait for a command of Slurm that does not end"""
    for held in ("sbatch", "squeue", "scancel"):
        with Controller() as cluster:
            place = Place(weft, cluster, steps=[{"id": "a", "run": "touch up; sleep 1000"}])
            cluster.holds = held
            run = place.start("run", "w.json")
            cluster.wait(cluster.held.is_set if held != "scancel" else (place.path / "up").exists)
            run.send_signal(signal.SIGINT)
            cluster.wait(cluster.held.is_set)
            time.sleep(0.5)
            begin = time.monotonic()
            run.send_signal(signal.SIGINT)
            output, _ = run.communicate(timeout=LIMIT)
            assert run.returncode == 130, (held, run.returncode, output)
            assert time.monotonic() - begin < 60, (held, output)
            cluster.released.set()
            cluster.wait(lambda: not cluster.alive())


def later_attempts_are_adopted(weft):
    """the log of an adopted second attempt has its output once, after that of the first"""
    with Controller() as cluster:
        place = Place(weft, cluster, steps=[
            {"id": "a", "run": "echo $WEFT_ATTEMPT; [ $WEFT_ATTEMPT = 2 ]; touch up; while [ ! -e go ]; do sleep 0.1; done; echo end",
             "retry": {"max": 1, "delay": "0s"}}])
        killed(place, cluster, lambda: (place.path / "up").exists() and place.log("a") == "1\n2\n")
        (place.path / "go").touch()
        place.call("resume")
        assert place.log("a") == "1\n2\nend\n", place.log("a")


def other_runners_end_the_job(weft):
    """a run that is resumed with another runner ends the job of a step before that starts there, and leaves others alone; one
    that waited never begins"""
    text = "echo + >>ran; if mkdir first; then touch up; sleep 1000; fi; echo - >>ran"
    for former, present, is_safe in [("slurm", "local", True), ("slurm", "local", False), ("local", "slurm", True), ("local", "slurm", False)]:
        with Controller() as cluster:
            step = {"id": "a", "run": text, "idempotent": is_safe, **({"onInterrupted": "adopt"} if former == "local" else {})}
            # Also a step that is adopted on this machine, so that there are two schedulers.
            other = {"id": "b", "runner": "local", "run": "test -e first", "onInterrupted": "adopt"}
            place = Place(weft, cluster, steps=[step, other], runner=former)
            killed(place, cluster, (place.path / "up").exists)
            options = ["--runner", present]
            if not is_safe:
                assert "in doubt" in place.call("resume", *options, expect=1).stdout
                # Only a runner that remembers commands has decided about it.
                assert former == "local" or not cluster.jobs[0].is_over
                assert former == "local" or not list((place.path / ".weft/runs").glob("*/jobs/*/cancelled")), (former, is_safe, cluster.history, [str(p) for p in place.jobs()])
                options.append("--rerun-interrupted")
            place.call("resume", *options)
            left = [job for job in place.jobs() if job.is_dir()]
            assert (place.path / "ran").read_text() == "+\n+\n-\n" and not left, (former, is_safe, left, (place.path / "ran").read_text(), cluster.history)
            cluster.wait(lambda: not cluster.alive())
            assert len(cluster.jobs) == 1 and (former == "local" or cluster.jobs[0].cause == "scancel"), cluster.history
    with Controller() as cluster:
        place = Place(weft, cluster, steps=[{"id": "a", "run": "echo x >>ran"}])
        cluster.faults["drained"] = 1000
        killed(place, cluster, lambda: cluster.jobs)
        place.call("resume", "--runner", "local", "--rerun-interrupted")
        cluster.faults.clear()
        cluster.wait(lambda: not cluster.alive() and cluster.jobs[0].is_over)
        assert (place.path / "ran").read_text() == "x\n", cluster.history


def moved_jobs_outlive_the_runner(weft):
    """a job whose step has another runner now, and does not start there, outlives the end of a run that still uses the
    cluster; a rerun ends it first"""
    with Controller() as cluster:
        text = "echo + >>ran; touch up; while [ ! -e go ]; do sleep 0.1; done; echo - >>ran"
        place = Place(weft, cluster, parallel=[
            {"id": "moved", "run": text}, {"id": "stays", "runner": "slurm", "run": "while [ ! -e up ]; do sleep 0.1; done; sleep 1"}])
        killed(place, cluster, lambda: (place.path / "up").exists() and len(cluster.jobs) == 2)
        shown = place.call("resume", "-k", "--runner", "local", expect=1).stdout
        assert "in doubt" in shown and "[stays] succeeded" in shown, shown
        assert len(cluster.alive()) == 1 and not list((place.path / ".weft/runs").glob("*/jobs/*/cancelled")), cluster.history
        again = place.start("resume", "--runner", "slurm", "--rerun-interrupted")
        cluster.wait(lambda: len(cluster.jobs) == 3)
        moved = next(job for job in cluster.jobs if job.name == "weft-moved")
        assert moved.cause == "scancel" and len(cluster.alive()) <= 1, cluster.history
        (place.path / "go").touch()
        assert again.wait(LIMIT) == 0, again.communicate()
        assert (place.path / "ran").read_text() == "+\n+\n-\n" and not place.jobs(), cluster.history


def queues_are_no_work(weft):
    """a job in the queue is shown as submitted, then as running, and only the time from then is the step's duration"""
    with Controller(cpus=1) as cluster:
        place = Place(weft, cluster, runner="slurm", parallel=[
            {"id": name, "run": f"touch begun.{name}; while [ ! -e go.{name} ]; do sleep 0.05; done"} for name in "ab"])
        run = place.start("run", "w.json")
        cluster.wait(lambda: len(cluster.jobs) == 2 and any(place.path.glob("begun.*")))
        first, = (path.suffix[1:] for path in place.path.glob("begun.*"))
        second = "ab".replace(first, "")

        def shown():
            return place.call("show").stdout

        cluster.wait(lambda: f"{first}: running" in shown() and f"{second}: submitted" in shown())
        time.sleep(1)
        begin = time.monotonic()
        (place.path / f"go.{first}").touch()
        cluster.wait(lambda: f"{second}: running" in shown())
        (place.path / f"go.{second}").touch()
        assert run.wait(LIMIT) == 0
        elapsed = (time.monotonic() - begin) * 1e6
        words = [line.split()[2] for line in run.stdout.read().splitlines() if line.startswith(f"weft: [{second}]")]
        assert words == ["submitted", "started", "succeeded"], words
        rows = list(csv.DictReader(place.call("report", "--format", "csv", "-o", "-").stdout.splitlines()))
        late = next(row for row in rows if row["step"] == second)
        assert int(late["clusterWaitUs"]) > 1_000_000 and int(late["runUs"]) <= elapsed, (late, elapsed)


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(") ", 1)[1][0] not in "ZX"
    except OSError:
        return False


def moved_commands_are_in_doubt(weft):
    """a command that was no job is in doubt, although its step would be one now; and none runs beside its former self"""
    def step(**others):
        return {"id": "a", "run": "echo $$ >>ran; [ -e changed ] || sleep 1000", **others}

    for present, options in [({}, ["--runner", "slurm"]), ({"onInterrupted": "adopt"}, ["--accept-changes"])]:
        with Controller() as cluster:
            place = Place(weft, cluster, runner="local", steps=[step()])
            killed(place, cluster, (place.path / "ran").exists)
            (place.path / "changed").touch()
            place.write({"runner": "local", "steps": [step(**present)]})
            shown = place.call("resume", *options, expect=None).stdout
            first, *others = (place.path / "ran").read_text().split()
            assert not is_running(int(first)), (present, shown)
            # Changed steps run again.
            assert present or "in doubt" in shown and not others and not cluster.jobs, (shown, cluster.history)


if __name__ == "__main__":
    real = [values_arrive, elements_are_an_array, ends_have_classes, memory_is_confined, usage_is_recorded, stops_leave_nothing,
            killed_runs_adopt, changed_steps_are_replaced, controller_may_be_away, refusals_have_reasons, check_asks_the_cluster]
    if not slurm.is_there():
        print("without Slurm, or not as root: only the pretended cluster is tried")
        real = []
    sys.exit(cases.run(__doc__, real + [
        clusters_have_words, faults_lose_nothing, unsubmitted_jobs_are_submitted, incomplete_scripts_run_nothing,
        forgotten_ends_are_recalled, refusals_after_lost_answers_wait_for_the_job, stops_do_not_wait_for_commands,
        later_attempts_are_adopted, other_runners_end_the_job, moved_jobs_outlive_the_runner, moved_commands_are_in_doubt,
        queues_are_no_work]))
