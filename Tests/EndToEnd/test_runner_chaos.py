#!/usr/bin/env python3
"""Disturbs runs of random workflows on a pretended cluster, and compares them with undisturbed runs on this machine.

usage: test_runner_chaos.py PATH_TO_WEFT [--only PATTERN | --seed N | --seeds FIRST-LAST [--workers N] [--here | --slurm]]

Weft is killed or interrupted, and resumed; the controller is down, slow, late or forgetful, and loses answers; jobs are
cancelled and end with their nodes. The result must be that of the undisturbed run: states, outputs, logs. No program
may have run twice unless a disturbance has ended it. WEFT_SEEDS is the number of seeds, from 4 on; --seed repeats one.
With --here, the commands are those of this machine that are adopted; with --slurm, jobs of Slurm itself. WEFT_LONG=1 also runs loops of many elements, and measures them.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types

from lib import cases, pace, slurm
from lib.controller import LIMIT, Controller

# Notes its beginning and its end in a file, by one write each, so that all that has run is known. Its result depends on
# its arguments and its input only, except that the first attempts fail. A hungry one needs more memory than it may have.
PROGRAM = r'''name=$1 failures=$2 code=$3 pause=$4 out=$5
shift 5
job=${SLURM_JOB_ID:-$$}
echo "+ $name $job" >>done
echo "begin $name"
if rm "hungry.$name" 2>/dev/null; then
  echo "$job" >>starved
  exec python3 -c 'bytearray(1 << 30)'
fi
cat
for value; do echo "value $value"; done
sleep "$pause"
if [ "$(grep -cF -e "- $name $code " done)" -lt "$failures" ]; then
  echo "- $name $code $job" >>done
  echo "fails" >&2
  exit "$code"
fi
[ -z "$out" ] || echo "o=$(printf '%s,' "$name" "$@" | cksum | cut -d' ' -f1)" >>"$WEFT_OUTPUT"
echo "end $name"
echo "- $name 0 $job" >>done
'''

RETRIED = {"max": 8, "delay": "20ms", "jitter": "none", "factor": 1, "on": ["exit", "runner", "limit:memory"]}


class Broken(Exception):
    """A promise that a run has broken."""


class Workflow:
    """A random workflow. `failures` has the number of attempts of each program that fail, and their exit code."""

    def __init__(self, chance, is_here=False, options=()):
        self.chance = chance
        self.failures = {}
        # The steps whose attempts may be ended by the cluster, and those with a time limit.
        self.survivors, self.limited = set(), set()
        # The members of a group that is retried.
        self.members = set()
        # Texts that later steps may read.
        self.outputs, self.logs = {}, []
        self.steps = []
        self.has_large = False
        for number in range(chance.randint(6, 13)):
            self.steps.append(self.step(f"s{number}"))
        if chance.random() < 0.3:
            self.steps.insert(chance.randrange(len(self.steps)), self.group())
        self.runner = {"kind": "slurm", "options": list(options)}
        if chance.random() < 0.3:
            self.runner["slots"] = chance.randint(3, 20)
        runners = {"runner": "slurm", "runners": {"slurm": self.runner}}
        if is_here:
            runners = {}
            for step in self.steps:
                for member in step.get("steps", [step]):
                    member["onInterrupted"] = "adopt"
        self.text = json.dumps({**runners, "parallel": self.steps}, indent=1)

    def step(self, name):
        chance = self.chance
        needs = chance.sample(sorted(self.outputs), min(len(self.outputs), chance.choice([0, 1, 1, 2, 3])))
        step = {"id": name, "needs": needs}
        if chance.random() < 0.07:
            self.limited.add(name)
            step |= {"run": ["sh", "-c", f'echo "+ {name} ${{SLURM_JOB_ID:-$$}}" >>done; echo begin {name}; exec sleep 1000'],
                     "timeout": "500ms", "allowFailure": ["timeout"]}
            return step
        count = None
        if chance.random() < 0.35:
            is_large = not self.has_large and chance.random() < 0.5
            self.has_large |= is_large
            count = chance.randint(20, 60) if is_large else chance.randint(2, 5)
            step["forEach"] = {"in": [f"e{n}" for n in range(count)]}
        has_output = chance.random() < 0.6
        code = 7
        failures = chance.choice([1, 1, 2]) if chance.random() < 0.3 else 0
        if not failures and not has_output and chance.random() < 0.15:
            code, failures = 3, 1000
            step["allowFailure"] = ["exit:3"]
        if failures or chance.random() < 0.75:
            self.survivors.add(name)
            step["retry"] = {**RETRIED, "on": ["runner", "limit:memory"]} if failures == 1000 else RETRIED
        for n in [None] if count is None else range(count):
            self.failures[name if n is None else f"{name}[{n}]"] = (failures, code)
        step |= self.action(name, failures, code, has_output, needs, is_loop=count is not None)
        if has_output:
            step["outputs"] = {"o": {"type": "integer"}}
            self.outputs[name] = f"${{{{ steps.{name}.outputs.o }}}}"
            if count is not None:
                self.outputs[name] = f"${{{{ join(steps.{name}.results.*.outputs.o, ' ') }}}}"
        elif failures < 1000:
            self.outputs[name] = f"${{{{ steps.{name}.outcome }}}}"
        if count is None and failures < 1000:
            self.logs.append(name)
        return step

    def action(self, name, failures, code, has_output, needs, is_loop=False):
        chance = self.chance
        pause = chance.choice(["0", "0", "0.1", "0.3", "0.8"])
        words = [name + "[${{ index }}]" if is_loop else name, str(failures), str(code), pause, "1" if has_output else "",
                 *(["${{ item }}"] if is_loop else []), *(self.outputs[need] for need in needs)]
        if chance.random() < 0.5:
            action = {"run": ["sh", "program", *words]}
        else:
            action = {"run": " ".join(["sh program", *(word if "${{" in word else f"'{word}'" for word in words)])}
        kind = chance.random()
        logs = [need for need in needs if need in self.logs]
        if kind < 0.15:
            action["stdin"] = f"text for {name} \\ ü\n"
        elif kind < 0.3:
            action["stdin"] = {"file": "input"}
        elif kind < 0.5 and logs:
            action["stdin"] = {"log": chance.choice(logs)}
        if chance.random() < 0.2:
            action["mergeOutput"] = True
        return action

    def group(self):
        """Two members in a row, of which the last fails, and both run again."""
        members = []
        for name, failures in [("ga", 0), ("gb", self.chance.choice([1, 2]))]:
            self.members.add(name)
            self.survivors.add(name)
            self.failures[name] = (failures, 7)
            members.append({"id": name, **self.action(name, failures, 7, True, []), "outputs": {"o": {"type": "integer"}}})
        return {"id": "g", "steps": members, "retry": RETRIED,
                "outputs": {"o": {"type": "integer", "value": "${{ add(steps.ga.outputs.o, steps.gb.outputs.o) }}"}}}


class Place:
    """A directory with the workflow, and what is left there by a run."""

    def __init__(self, weft, workflow, environment):
        self.weft, self.environment = weft, environment
        self.directory = tempfile.TemporaryDirectory(prefix="weft-chaos-")
        self.path = pathlib.Path(self.directory.name).resolve()
        (self.path / "w.json").write_text(workflow.text)
        (self.path / "program").write_text(PROGRAM)
        (self.path / "input").write_text("text\nof a file")
        (self.path / "done").touch()

    def start(self, *words):
        with open(self.path / "output", "ab") as output:
            return subprocess.Popen([self.weft, *words], cwd=self.path, stdin=subprocess.DEVNULL, stdout=output,
                                    stderr=output, env=self.environment)

    def output(self):
        return (self.path / "output").read_text(errors="replace")

    @property
    def run(self):
        return next((path for path in (self.path / ".weft/runs").glob("*") if path.name[0] == "2"), None)

    def records(self):
        try:
            return (self.run / "journal.jsonl").read_bytes().count(b"\n")
        except (OSError, TypeError):
            return 0

    def done(self):
        return (self.path / "done").read_text().splitlines()

    def result(self):
        """The states, outputs and logs of all steps."""
        shown = subprocess.run([self.weft, "show", "--format", "json"], cwd=self.path, capture_output=True, text=True,
                               env=self.environment, timeout=LIMIT)
        if shown.returncode:
            raise Broken(f"weft show exits {shown.returncode}: {shown.stderr}")
        shown = json.loads(shown.stdout)
        steps = {}
        for step in shown["steps"]:
            name = step["step"]
            log = (self.path / step["log"]).read_text(errors="replace") if "log" in step else ""
            # An attempt that was tried again may be in the log too.
            last = log.rfind(f"begin {name}\n")
            classes = sorted(step.get("failure", {}).get("classes", []))
            if "timeout" in classes:
                # Depends on whether the program or all processes of the job were ended.
                step.pop("exit", None)
            steps[name] = {**{key: step.get(key) for key in ("state", "outcome", "conclusion", "exit", "outputs")},
                           "classes": classes, "log": log[max(last, 0):]}
        return {"state": shown["state"], "steps": steps, "loops": shown.get("loops")}


class Chaos:
    # Points at which a part of a run is ended.
    moments = ["done", "records", "sbatch", "accepted", "squeue", "time"]

    def __init__(self, weft, seed):
        self.weft, self.seed = weft, seed
        self.chance = random.Random(seed)
        self.workflow = self.make_workflow()
        self.cluster = None
        self.interrupts = 0
        # Whether weft was killed while it was cancelling.
        self.is_cut_short = False

    def make_workflow(self):
        return Workflow(self.chance)

    def make_cluster(self):
        return Controller(cpus=self.chance.choice([2, 8, 16]))

    def run(self):
        expected = self.undisturbed()
        with self.make_cluster() as self.cluster:
            self.place = Place(self.weft, self.workflow, self.cluster.environment)
            with self.place.directory:
                try:
                    self.disturb()
                    self.check(expected)
                except Exception as fault:
                    raise Broken(self.story(fault)) from fault

    def story(self, fault):
        history = "\n".join(self.cluster.history)
        done = "\n".join(self.place.done())
        return f"seed {self.seed}: {fault}\n{self.workflow.text}\n{history}\n{done}\n{self.place.output()[-8000:]}"

    def undisturbed(self):
        place = Place(self.weft, self.workflow, {**os.environ, "SLURM_JOB_ID": ""})
        with place.directory:
            process = place.start("run", "w.json", "--runner", "local", "-j", "4", "-q")
            code = process.wait(LIMIT)
            if code != 0:
                raise Broken(f"seed {self.seed}: the undisturbed run exits {code}\n{self.workflow.text}\n{place.output()}")
            return place.result()

    # MARK: Disturbances

    def begin_faults(self):
        """The faults of the next part of the run."""
        chance, faults = self.chance, self.cluster.faults
        faults.clear()
        # Weft asks again after 2 s, 4 s and so on.
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            faults[chance.choice(["down", "full", "lose", "lose"])] += 1
        for fault, likelihood, most in [("silent", 0.2, 1), ("slow", 0.25, 3), ("late", 0.25, 2), ("drained", 0.25, 2),
                                        ("deaf", 0.2, 1), ("forget", 0.06, 2)]:
            if chance.random() < likelihood:
                faults[fault] += chance.randint(1, most)
        self.cluster.largest = chance.choice([1001, 1001, 1001, 7, 2])

    def disturb(self):
        chance = self.chance
        parts = chance.choice([0, 1, 1, 2, 2, 3])
        if chance.random() < 0.15:
            self.cluster.memory = 10
        words = ["run", "w.json", "-q", "-j", str(chance.choice([1, 2, 8]))]
        stop = threading.Event()
        striker = threading.Thread(target=self.strike, args=(random.Random(chance.random()), stop))
        striker.start()
        try:
            for part in range(parts + 1):
                self.begin_faults()
                how = chance.choice(["KILL"] * 6 + ["INT", "INT", "INT INT", "INT KILL"])
                when = self.moment()
                self.cluster.note(f"weft {' '.join(words)}" + (f", {how} at {when}" if part < parts else ""))
                code = self.part(words, how, when) if part < parts else self.last(words)
                self.cluster.note(f"exit code {code}")
                if code == 0:
                    return
                words = ["resume", "-q"]
            if code == 1 and self.is_cut_short:
                # Steps that are not tried again failed when their jobs had been cancelled.
                code = self.last(words)
                self.cluster.note(f"exit code {code}")
                if code == 0:
                    return
            raise Broken(f"the last resumed run exits {code}")
        finally:
            stop.set()
            striker.join()

    def last(self, words):
        process = self.place.start(*words)
        try:
            return process.wait(LIMIT * 2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Broken("the last run does not end")

    def moment(self):
        """An event at which a part of the run is ended, relative to its start."""
        chance = self.chance
        kind = chance.choice(self.moments)
        value = {"done": chance.randint(1, 12), "records": chance.randint(1, 60), "time": round(chance.uniform(0, 2.5), 2)}.get(
            kind, chance.randint(1, 2))
        return kind, value

    def part(self, words, how, when):
        """Runs weft until the moment has come, or it ends."""
        kind, value = when
        cluster, place = self.cluster, self.place
        done, records = len(place.done()), place.records()
        cluster.held.clear()
        cluster.released.clear()
        if kind in ("sbatch", "accepted", "squeue"):
            cluster.holds = kind
        process = place.start(*words)
        began = time.monotonic()

        def has_come():
            # Before it has opened the journal, weft cannot be interrupted.
            if place.records() <= records:
                return False
            match kind:
                case "done": return len(place.done()) - done >= value
                case "records": return place.records() - records >= value
                case "time": return time.monotonic() - began >= value
                case _: return cluster.held.is_set()

        while process.poll() is None and not has_come():
            if time.monotonic() - began > LIMIT * 2:
                process.kill()
                raise Broken("a part of the run does not end")
            time.sleep(0.004)
        cluster.holds = None
        if process.poll() is None and how != "KILL":
            self.interrupts += 1
            process.send_signal(signal.SIGINT)
            if how == "INT INT":
                time.sleep(self.chance.uniform(pace.REPETITION, 0.5))
                process.send_signal(signal.SIGINT)
            elif how == "INT KILL":
                self.is_cut_short = True
                time.sleep(self.chance.uniform(0, 0.5))
                process.kill()
        elif process.poll() is None:
            process.kill()
        if how == "KILL" and self.chance.random() < 0.5 and kind in ("sbatch", "accepted"):
            # The controller accepts the jobs when the next part of the run has begun.
            threading.Timer(self.chance.uniform(0, 3), cluster.released.set).start()
        else:
            cluster.released.set()
        try:
            code = process.wait(LIMIT * 2)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Broken(f"a run that got {how} does not end")
        if code not in {"KILL": (0, -9), "INT KILL": (0, 130, -9)}.get(how, (0, 130)):
            raise Broken(f"a part of the run exits {code}")
        if code == 130 and how == "INT" and (jobs := self.undisturbed_jobs()):
            raise Broken(f"an interrupted run has ended, and jobs that it has not cancelled run on: {jobs}")
        return code

    def undisturbed_jobs(self):
        """The jobs whose programs run, and were not asked to end."""
        done = self.place.done()
        begun = {line.split()[2]: line.split()[1] for line in done if line[0] == "+"}
        for line in done:
            if line[0] == "-":
                begun.pop(line.split()[3], None)
        with self.cluster.lock:
            return [f"{job.id} of {begun[job.id]}" for job in self.cluster.running if job.id in begun and not job.was_asked]

    def strike(self, chance, stop):
        """Ends jobs now and then, as a user, or with a state of their cluster."""
        times = chance.choice([0, 0, 1, 2, 4])
        if self.cluster.memory < 300:
            # The state of a job is gone before weft sees it, if several queries are late.
            times = 0
        while times and not stop.wait(chance.uniform(0.1, 1.5)):
            with self.cluster.lock:
                jobs = [job for job in self.cluster.jobs if not job.is_over and not job.final
                        and job.name.removeprefix("weft-") in self.workflow.survivors]
                if not jobs:
                    continue
                job = chance.choice(jobs)
                state = chance.choice(["NODE_FAIL", "PREEMPTED", "CANCELLED", "BOOT_FAIL" if job.process is None else "NODE_FAIL"])
                if self.cluster.end(job, state):
                    self.cluster.note(f"job {job.id} of {job.name} ends as {state}")
                    times -= 1

    # MARK: Checks

    def check(self, expected):
        if "Fatal error" in self.place.output():
            raise Broken("weft has crashed")
        left = list(self.place.path.glob(".weft/runs/*/jobs/*"))
        if left:
            raise Broken(f"files of jobs are left: {[str(path) for path in left]}")
        before = self.place.done()
        result = self.place.result()
        if result != expected:
            raise Broken("the results differ:\n" + "\n".join(differences(expected, result)))
        # Jobs that were submitted twice may still wait; they do nothing.
        self.cluster.faults.clear()
        self.cluster.wait(lambda: not self.cluster.alive())
        if self.place.done() != before:
            raise Broken(f"a job has run after the end: {self.place.done()[len(before):]}")
        self.check_programs()

    def check_programs(self):
        """Each program has run once, besides attempts that failed as planned or were ended by a disturbance."""
        # Executions by step, in their order: the job, and the exit code.
        ran = collections.defaultdict(dict)
        for line in self.place.done():
            sign, name, *rest = line.split()
            if sign == "+":
                if rest[0] in ran[name]:
                    raise Broken(f"job {rest[0]} of {name} has run twice")
                ran[name][rest[0]] = None
            else:
                ran[name][rest[1]] = int(rest[0])
        cancelled = self.cancelled()
        members = [job for job in self.cluster.jobs if job.name.removeprefix("weft-") in self.workflow.members]
        # Reasons for which the members of a group ran again.
        spoiled = self.interrupts + sum(job.cause is not None for job in members) + sum(
            code == 7 for name in self.workflow.members for code in ran[name].values())
        for name, (failures, code) in self.workflow.failures.items():
            codes = list(ran[name].items())
            expected = 0 if failures < 1000 else code
            if not codes or codes[-1][1] != expected:
                raise Broken(f"the last execution of {name} was not its end: {codes}")
            if failures < 1000 and sum(ended == code for _, ended in codes) != failures:
                raise Broken(f"{name} has failed {codes}, not {failures} times")
            again, is_unrecorded = 0, self.is_cut_short
            for job, ended in codes[:-1]:
                if ended == code and failures < 1000 or self.was_ended(job, ended):
                    continue
                if ended is not None and cancelled[name] > 0:
                    # It had ended by itself when the run was interrupted.
                    cancelled[name] -= 1
                    continue
                if ended is not None and is_unrecorded:
                    # So had this one, and weft was killed before it recorded the cancellation.
                    is_unrecorded = False
                    continue
                again += 1
                if name not in self.workflow.members or ended is None or again > spoiled:
                    raise Broken(f"{name} has run again after job {job}, which no disturbance has ended: {codes}")
        for name in self.workflow.limited:
            for job in ran[name]:
                if not self.was_cancelled(job):
                    raise Broken(f"job {job} of {name} was not cancelled at its time limit")
            if len(ran[name]) != 1 and not self.interrupts:
                raise Broken(f"{name} has run {len(ran[name])} times")

    def cancelled(self):
        """The number of times that each step was recorded as cancelled."""
        records = map(json.loads, (self.place.run / "journal.jsonl").read_text().splitlines())
        return collections.Counter(record["step"] for record in records
                                   if record["type"] == "step.finished" and record.get("outcome") == "cancelled")

    def cause(self, job):
        return next(known.cause for known in self.cluster.jobs if known.id == job)

    def was_cancelled(self, job):
        return self.cause(job) == "scancel"

    def was_ended(self, job, code):
        """Whether a disturbance has ended the job."""
        cause = self.cause(job)
        return cause is not None and (cause != "scancel" or self.interrupts > 0)


class ChaosHere(Chaos):
    """Commands of this machine that are adopted. There are no disturbances but the ends of weft."""

    moments = ["done", "records", "time"]

    def make_workflow(self):
        return Workflow(self.chance, is_here=True)

    def begin_faults(self):
        pass

    def strike(self, chance, stop):
        pass

    def undisturbed_jobs(self):
        return []

    def was_cancelled(self, job):
        return True

    def was_ended(self, job, code):
        return code is None and self.interrupts > 0


class Single(Place):
    """A place with a workflow of a few steps on a cluster, whose programs add lines to the file `done`."""

    def __init__(self, weft, cluster, *steps):
        self.text = json.dumps({"runner": "slurm", "steps": steps})
        super().__init__(weft, self, cluster.environment)
        self.cluster = cluster

    def end(self, process, expect):
        code = process.wait(LIMIT * 2)
        assert code == expect, (code, self.output(), self.cluster.history)

    def wait_for(self, count):
        """Waits until programs have added this number of lines."""
        self.cluster.wait(lambda: len(self.done()) >= count)


def lost_jobs_are_cancelled(weft):
    """^C ends a job that runs although the answer of sbatch was lost, before it was submitted again"""
    with Controller() as cluster:
        place = Single(weft, cluster, {"id": "a", "run": "echo a >>done; exec sleep 1000"})
        cluster.faults["lose"] = 1
        run = place.start("run", "w.json", "-q")
        place.wait_for(1)
        run.send_signal(signal.SIGINT)
        place.end(run, 130)
        cluster.wait(lambda: not cluster.running)


def doubled_jobs_are_cancelled(weft):
    """^C ends a job that was submitted twice, also if the other one is listed first, as it waits"""
    with Controller(cpus=1) as cluster:
        place = Single(weft, cluster, {"id": "a", "run": "echo a >>done; exec sleep 1000"})
        cluster.faults["lose"] = 1
        run = place.start("run", "w.json", "-q")
        cluster.wait(lambda: cluster.calls["job"] == 2)
        listed = cluster.calls["squeue"]
        cluster.wait(lambda: cluster.calls["squeue"] > listed + 1)
        run.send_signal(signal.SIGINT)
        try:
            place.end(run, 130)
        finally:
            run.kill()
        cluster.wait(lambda: not cluster.alive())


def cancelled_jobs_run_again(weft):
    """a run that is killed while it cancels does not take its own cancellation for an end of the job when it is resumed"""
    with Controller() as cluster:
        place = Single(weft, cluster, {"id": "a", "run": "echo a >>done; [ -e go ] || exec sleep 1000"})
        run = place.start("run", "w.json", "-q")
        place.wait_for(1)
        cluster.wait(lambda: cluster.calls["squeue"] > 0)
        cluster.holds = "scancel"
        run.send_signal(signal.SIGINT)
        assert cluster.held.wait(LIMIT)
        run.kill()
        run.wait()
        (place.path / "go").touch()
        cluster.released.set()
        cluster.wait(lambda: not cluster.running)
        place.end(place.start("resume", "-q"), 0)
        assert place.done() == ["a", "a"], place.done()


def attempts_of_groups_are_distinct(weft):
    """a step that was started again with its group does not take the result of the group's attempt before"""
    with Controller() as cluster:
        place = Single(weft, cluster, {"id": "g", "retry": {"max": 1, "delay": "10ms"}, "steps": [
            {"id": "a", "run": "echo a >>done"}, {"id": "b", "run": "echo b >>done; [ $(grep -c b done) -gt 1 ]"}]})
        run = place.start("run", "w.json", "-q")
        place.wait_for(2)
        cluster.holds = "sbatch"
        assert cluster.held.wait(LIMIT)
        run.kill()
        run.wait()
        # As if it had been killed after the record of the step's start, before it made the directory.
        for path in place.path.glob(".weft/runs/*/jobs/*.2"):
            shutil.rmtree(path)
        cluster.holds = None
        cluster.released.set()
        place.end(place.start("resume", "-q"), 0)
        assert place.done() == ["a", "b", "a", "b"], place.done()


def input_survives_kills(weft):
    """a job that was never accepted keeps its input, although the run is killed and resumed twice"""
    with Controller() as cluster:
        place = Single(weft, cluster, {"id": "a", "run": "cat >>done", "stdin": {"file": "input"}})
        cluster.faults["down"] = 1000
        for words in (["run", "w.json", "-q"], ["resume", "-q"]):
            calls = cluster.calls["sbatch"]
            run = place.start(*words)
            cluster.wait(lambda: cluster.calls["sbatch"] > calls)
            run.kill()
            run.wait()
        cluster.faults.clear()
        place.end(place.start("resume", "-q"), 0)
        assert place.done() == ["text", "of a file"], place.done()


def differences(expected, result):
    for key in ("state", "loops"):
        if expected[key] != result[key]:
            yield f"{key}: {result[key]} instead of {expected[key]}"
    for name in sorted({*expected["steps"], *result["steps"]}):
        one, other = expected["steps"].get(name, {}), result["steps"].get(name, {})
        for key in sorted({*one, *other}):
            if one.get(key) != other.get(key):
                yield f"{name}: {key}: {other.get(key)!r} instead of {one.get(key)!r}"


class Real:
    """Slurm itself, with what a disturbed run needs of a controller. `jobs` are those that a disturbance has ended."""

    job_memory = 60  # MiB

    def __init__(self, cpus):
        self.confines = True
        try:
            self.slurm = slurm.Cluster(cpus, memory=cpus * self.job_memory)
        except cases.Skipped:
            self.confines = False
            self.slurm = slurm.Cluster(cpus)
        self.environment, self.wait = self.slurm.environment, self.slurm.wait
        self.history, self.jobs, self.running, self.faults, self.memory = [], [], [], collections.Counter(), 300
        self.lock, self.held, self.released = threading.RLock(), threading.Event(), threading.Event()
        self.holds = None

    def note(self, text):
        self.history.append(f"{time.strftime('%T')}  {text}")

    def alive(self):
        return self.slurm.jobs()

    def restart(self):
        self.note("the controller restarts")
        self.slurm.stop_controller()
        time.sleep(1)
        self.slurm.start_controller()

    def drain(self, chance):
        self.note("the node drains")
        self.slurm.call("scontrol", "update", "nodename=ALL", "state=drain", "reason=test", expect=None)
        time.sleep(chance.uniform(0.5, 4))
        self.slurm.call("scontrol", "update", "nodename=ALL", "state=resume", expect=None)

    def cancel(self, chance, names):
        # The number of an array is also that of its last element, as programs see it.
        text = self.slurm.call("squeue", "-h", "--array", "-o", "%A %i %j", expect=None)
        rows = [row for row in map(str.split, text.splitlines()) if row[2].removeprefix("weft-") in names]
        if rows:
            number, element, name = chance.choice(rows)
            self.note(f"job {number} of {name} is cancelled")
            self.jobs.append(types.SimpleNamespace(id=number, name=name, cause="CANCELLED"))
            self.slurm.call("scancel", element, expect=None)

    def __enter__(self):
        return self

    def __exit__(self, *fault):
        self.slurm.__exit__(*fault)


class ChaosOnSlurm(ChaosHere):
    """Slurm itself: its controller restarts, its node drains, its jobs are cancelled, or killed for lack of memory."""

    def make_workflow(self):
        return Workflow(self.chance, options=[f"--mem={Real.job_memory}"])

    def make_cluster(self):
        return Real(cpus=self.chance.choice([2, 8, 16]))

    def strike(self, chance, stop):
        for _ in range(chance.choice([1, 2, 3])):
            if stop.wait(chance.uniform(0.5, 4)):
                return
            match chance.choice(["restart", "drain", "cancel", "cancel", "starve", "starve"]):
                case "restart": self.cluster.restart()
                case "drain": self.cluster.drain(chance)
                case "cancel": self.cluster.cancel(chance, self.workflow.survivors)
                case "starve" if self.cluster.confines: self.starve(chance)

    def starve(self, chance):
        """Makes the next attempts of some programs need more memory than they have."""
        names = [name for name in self.workflow.failures if name.partition("[")[0] in self.workflow.survivors]
        for name in chance.sample(names, min(3, len(names))):
            self.cluster.note(f"{name} becomes hungry")
            (self.place.path / f"hungry.{name}").touch()

    def was_ended(self, job, code):
        starved = self.place.path / "starved"
        return (self.interrupts > 0 or any(ended.id == job for ended in self.cluster.jobs)
                or code is None and starved.exists() and job in starved.read_text().split())


def run_seeds(weft, seeds, workers, kind=Chaos):
    """The seeds that were broken, with their stories."""
    def run(seed):
        try:
            kind(weft, seed).run()
        except Broken as fault:
            return seed, str(fault)
        return seed, None

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return [(seed, story) for seed, story in pool.map(run, seeds) if story]


class Instant(Controller):
    """A cluster whose jobs end as soon as they begin, without a program: it leaves their files itself. Some end with
    their node before they have written anything. Jobs that have ended are listed for a while."""

    listed = 30

    def __init__(self, chance):
        self.chance = chance
        # The executions of each step that have ended well, and the number of those that have not.
        self.ended, self.failed = collections.Counter(), 0
        self.texts = {}
        self.waiting = collections.deque()
        super().__init__(cpus=1 << 30)

    def begin_jobs(self):
        for job in self.jobs:
            if job.state != "PENDING":
                continue
            if job.number not in self.texts:
                # One array is kept at a time.
                self.texts = {job.number: job.script.read_text().split("exec 3<<'WEFT'\n")[1:]}
            lines = self.texts[job.number][job.index or 0].split("\nr:\n")[0].splitlines()
            folder = next(line[2:] for line in lines if line.startswith("d:"))
            step = next(line[12:] for line in lines if line.startswith("a:WEFT_STEP="))
            try:
                os.mkdir(f"{folder}/started")
            except OSError:
                job.state = "FAILED"
                continue
            if self.chance.random() < 0.001:
                job.state = "NODE_FAIL"
                self.failed += 1
                continue
            for name, text in [("out", ""), ("err", ""), ("end.new", "end 0 - - - - - 0 0\n")]:
                with open(f"{folder}/{name}", "w") as file:
                    file.write(text)
            os.rename(f"{folder}/end.new", f"{folder}/end")
            job.state = "COMPLETED"
            self.ended[step] += 1
        now = time.monotonic()
        self.waiting.extend((now, job) for job in self.jobs)
        self.jobs = []

    def squeue(self, *words):
        with self.lock:
            now = time.monotonic()
            while self.waiting and now - self.waiting[0][0] > self.listed:
                self.waiting.popleft()
            self.jobs = [job for _, job in self.waiting] + self.jobs
            answer = super().squeue(*words)
            self.jobs = [job for job in self.jobs if job.state == "PENDING"]
            return answer


def measured(weft, count, slots=None):
    """Runs a loop of this number of elements; returns the figures of weft itself."""
    workflow = {"runner": "slurm", "runners": {"slurm": {"kind": "slurm", **({"slots": slots} if slots else {})}}, "steps": [
        {"id": "numbers", "runner": "local", "run": f"seq 0 {count - 1}"},
        {"id": "l", "forEach": {"in": "${{ lines(steps.numbers.stdout) }}"}, "run": ["true", "${{ item }}"],
         "retry": {"max": 5, "delay": "100ms", "on": ["runner"]}}]}
    with Instant(random.Random(count)) as cluster, tempfile.TemporaryDirectory(prefix="weft-many-") as directory:
        cluster.faults.update({"slow": count // 100, "silent": 2, "lose": 2, "down": 1})
        pathlib.Path(directory, "w.json").write_text(json.dumps(workflow))
        began = time.monotonic()
        with open(f"{directory}/output", "wb") as output:
            process = subprocess.Popen([weft, "run", "w.json", "-q"], cwd=directory, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=output, env=cluster.environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        text = pathlib.Path(directory, "output").read_text()
        assert process.returncode == 0, (process.returncode, text[-2000:])
        assert len(cluster.ended) == count and set(cluster.ended.values()) == {1}, (
            len(cluster.ended), [step for step, times in cluster.ended.items() if times > 1][:9])
        assert not list(pathlib.Path(directory).glob(".weft/runs/*/jobs/*"))
        return (f"{count} elements{f' with {slots} slots' if slots else ''}: {wall:.0f} s, processor {usage.ru_utime + usage.ru_stime:.1f} s, "
                f"{usage.ru_maxrss >> 10} MiB, {cluster.calls['sbatch']} sbatch, {cluster.calls['squeue']} squeue, "
                f"{cluster.failed} failed")


def loops_of_many_elements(weft):
    """loops of thousands of elements on a cluster that ends jobs at once: none is lost, none runs twice (WEFT_LONG=1)"""
    if not os.environ.get("WEFT_LONG"):
        raise cases.Skipped("WEFT_LONG is not set")
    counts = [int(word) for word in os.environ.get("WEFT_ELEMENTS", "2000 10000 100000").split()]
    return "; ".join(measured(weft, count) for count in counts)


def disturbed_runs_here_end_as_undisturbed_ones(weft):
    """random workflows whose commands are adopted, killed, interrupted and resumed on this machine, end like undisturbed ones"""
    count = int(os.environ.get("WEFT_SEEDS", "2"))
    broken = run_seeds(weft, range(count), 4, ChaosHere)
    assert not broken, "\n\n".join(story for _, story in broken)
    return f"{count} seeds"


def disturbed_runs_on_slurm_end_as_undisturbed_ones(weft):
    """random workflows on Slurm itself, whose controller restarts, whose node drains, and whose jobs are cancelled or killed for lack of memory"""
    if not slurm.is_there():
        raise cases.Skipped("Slurm is missing, or this is not root")
    count = int(os.environ.get("WEFT_SEEDS", "2"))
    broken = run_seeds(weft, range(count), 2, ChaosOnSlurm)
    assert not broken, "\n\n".join(story for _, story in broken)
    return f"{count} seeds"


def disturbed_runs_end_as_undisturbed_ones(weft):
    """random workflows that are killed, interrupted and resumed on a cluster with faults end like undisturbed ones"""
    count = int(os.environ.get("WEFT_SEEDS", "2"))
    # By default, some that do not take long.
    broken = run_seeds(weft, range(4, 4 + count), 6)
    assert not broken, "\n\n".join(story for _, story in broken)
    return f"{count} seeds"


if __name__ == "__main__":
    if "--seed" in sys.argv or "--seeds" in sys.argv:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("weft", type=os.path.abspath)
        parser.add_argument("--seed", "--seeds", metavar="N or FIRST-LAST")
        parser.add_argument("--workers", type=int, default=6)
        parser.add_argument("--here", action="store_true", help="on this machine")
        parser.add_argument("--slurm", action="store_true", help="on Slurm itself")
        options = parser.parse_args()
        first, _, last = options.seed.partition("-")
        seeds = range(int(first), int(last or first) + 1)
        broken = run_seeds(options.weft, seeds, options.workers, ChaosHere if options.here else
                           ChaosOnSlurm if options.slurm else Chaos)
        for seed, story in broken:
            print(story, "\n")
        print(f"{len(seeds) - len(broken)} of {len(seeds)} seeds passed; broken: {[seed for seed, _ in broken]}")
        sys.exit(1 if broken else 0)
    sys.exit(cases.run(__doc__, [
        disturbed_runs_end_as_undisturbed_ones, disturbed_runs_here_end_as_undisturbed_ones,
        disturbed_runs_on_slurm_end_as_undisturbed_ones, lost_jobs_are_cancelled, doubled_jobs_are_cancelled, cancelled_jobs_run_again,
        attempts_of_groups_are_distinct, input_survives_kills, loops_of_many_elements]))
