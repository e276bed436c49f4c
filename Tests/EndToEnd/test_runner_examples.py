#!/usr/bin/env python3
"""Runs the examples of this repository as jobs of Slurm and on a host by ssh: their reports are those of runs without a
runner.

usage: test_runner_examples.py PATH_TO_WEFT
"""

import concurrent.futures
import difflib
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from lib import cases, server, slurm, sshd

LIMIT = 120  # seconds, against hanging only

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Examples that are left out, with the reason.
ELSEWHERE = {
    "release": "builds this repository, which takes minutes",
    "this-repository": "builds and tests this repository, which takes minutes",
}

# Examples that keep something for the next run.
TWICE = ("cached-build", "cached-fetch", "samples", "state")

# Commands that stay here whatever the runner is: services, and those that say so.
HERE = {"samples": {"data", "check"}, "service": {"server"}}

# Steps whose end depends on time: a member of a race that fails, or is cancelled before that. The program of a cancelled
# step has its signal as its end on this machine, its exit code on a host, and neither on a cluster.
UNDECIDED = {"race": ("gone",)}

# Options of an example on a runner, and of the run without a runner with which it is compared.
OPTIONS = {
    # All attempts of the step have to start within five seconds, and a job that fails takes two to four.
    ("retry", "slurm"): ["--skip", "poll"],
}

# Examples that take longest begin first.
LONGEST = ("retry", "race", "ordering", "resources")

# The events that say how a step, a group or the run has ended.
ENDS = ("step.finished", "step.skipped", "step.retrying", "group.finished", "group.skipped", "group.retrying",
        "run.finished")

# Keys of events and of `weft show` that differ between any two runs, and endings of such keys. The reason why a cached step
# ran compares it with the latest result of the loop, which depends on time.
PASSING = ("n", "at", "usage", "directory", "log", "port", "ranBecause", "host")
PASSING_ENDS = ("At", "Us", "Bytes")

# Texts that differ between any two runs.
TEXTS = [
    (r"\d{8}-\d{6}-[0-9a-f]{6}", "RUN"), (r"(/[\w.-]+)*/tmp\.\w{10}", "/TEMPORARY"), (r"(127\.0\.0\.1:)\d+", r"\1PORT"),
    (r"in [0-9.e-]+ s\b", "in TIME s"), (r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d\b", "TIME"),
    (r"\[\d\d/\w+/\d{4} [\d:]{8}\]", "TIME"), (r"Date: .*", "Date: TIME"), (r"Age: \d+", "Age: TIME"),
    (r"\b[0-9a-f]{64}\b", "KEY")]


def examples():
    found = {path.stem for path in (ROOT / "workflows").glob("*.json") if not path.name.endswith(".test.json")}
    return sorted(found - set(ELSEWHERE), key=lambda name: (name not in LONGEST, name))


class Place:
    """A directory with a copy of the examples, which run there."""

    def __init__(self, weft, environment, texts=()):
        self.weft, self.environment, self.texts = weft, environment, [*TEXTS, *texts]
        self.directory = tempfile.TemporaryDirectory(prefix="weft-examples-")
        self.path = pathlib.Path(self.directory.name).resolve()
        for name in ("schemas", "workflows"):
            shutil.copytree(ROOT / name, self.path / name)
        (self.path / ".build").mkdir()

    def call(self, *arguments):
        return subprocess.run([self.weft, *arguments], cwd=self.path, capture_output=True, text=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, env=self.environment)

    def run(self, name, *options):
        """Runs an example, once or twice; returns of each run what can be compared, and its events."""
        if "server" in json.loads((self.path / f"workflows/{name}.json").read_text()).get("inputs", {}):
            options += ("-i", f"server=http://127.0.0.1:{http().server_port}")
        return [self.once(name, *options) for _ in range(2 if name in TWICE else 1)]

    def once(self, name, *options):
        done = self.call("run", name, "--events", "-", *options)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        assert events, done.stderr
        run = events[0]["run"]
        shown = json.loads(self.call("show", run, "--format", "json").stdout)
        assert "damage" not in shown, (name, shown["damage"])
        shown["steps"].sort(key=lambda step: step["step"])
        ends = [event for event in events if event["type"] in ENDS]
        ends.sort(key=lambda event: (event.get("step", event.get("group", "")), event["type"], event.get("attempt", 0)))
        logs = {path.name: path.read_text() for path in (self.path / shown["folder"] / "logs").iterdir()}
        compared = {"code": done.returncode, "shown": shown, "ends": ends,
                    "logs": {step: log for step, log in self.lasting(logs, name).items() if log}}
        return json.dumps(self.lasting(compared, name), indent=1, sort_keys=True), events

    def lasting(self, value, name):
        """A value without what differs between any two runs of an example."""
        undecided = UNDECIDED.get(name, ())
        if isinstance(value, str):
            for pattern, replacement in [(str(self.path), "PLACE"), *self.texts]:
                value = re.sub(pattern, replacement, value)
        elif isinstance(value, list):
            value = [self.lasting(item, name) for item in value
                     if (item.get("step") if isinstance(item, dict) else item) not in undecided]
        elif isinstance(value, dict):
            passing = set(PASSING)
            if value.get("outcome") == "cancelled":
                passing.add("exit")
            if undecided:
                passing.add("counts")
            value = {key: self.lasting(item, name) for key, item in value.items()
                     if key not in passing and not key.endswith(PASSING_ENDS)}
        return value


@functools.cache
def http():
    """The server that some examples ask."""
    return server.start()


@functools.cache
def here(weft, name, *options):
    return local_place(weft).run(name, *options)


@functools.cache
def local_place(weft):
    return Place(weft, {**os.environ, "WEFT_CONFIG": ""})


def difference(weft, place, runner, name):
    """The lines in which an example differs on a runner."""
    options = OPTIONS.get((name, runner), [])
    found = []
    for (wanted, events), (got, far) in zip(here(weft, name, *options), place.run(name, "--runner", runner, *options)):
        found += list(difflib.unified_diff(wanted.splitlines(), got.splitlines(), "here", runner, lineterm="", n=2))
        # Commands alone have usage, and a step that is queued for a slot of the runner runs there.
        commands = {event["step"] for event in events if event["type"] == "step.finished" and "usage" in event}
        sent = {event["step"] for event in far if f"runners.{runner}" in event.get("waitingFor", {})}
        if commands - sent != HERE.get(name, set()):
            found.append(f"commands that ran here: {commands - sent}")
    return found


class Host(sshd.Server):
    """A host whose user has a .bashrc that prints something."""

    def start(self):
        (self.path / ".bashrc").write_text("echo noise\n")
        text = (self.path / "config").read_text()
        (self.path / "config").write_text(text.replace("SetEnv ", f"SetEnv HOME={self.path} "))
        super().start()


def same_reports(weft, runner, runners, environment, texts=()):
    configuration = tempfile.NamedTemporaryFile("w", suffix=".json")
    json.dump({"runners": runners}, configuration)
    configuration.flush()
    place = Place(weft, {**environment, "WEFT_CONFIG": configuration.name}, texts)
    http()
    local_place(weft)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = dict(zip(examples(), pool.map(functools.partial(difference, weft, place, runner), examples())))
    different = [f"-- {name}\n" + "\n".join(lines) for name, lines in found.items() if lines]
    assert not different, "\n".join(different)
    return f"{len(found)} examples"


def slurm_reports_the_same(weft):
    """examples have the same reports as jobs of Slurm"""
    if not slurm.is_there():
        raise cases.Skipped("Slurm is missing, or this is not root")
    with slurm.Cluster() as cluster:
        # Slurm ends one process after the other, and a shell says so if its program is the first.
        return same_reports(weft, "slurm", {}, cluster.environment, [(r"Terminated\n", "")])


def ssh_reports_the_same(weft):
    """examples have the same reports on a host by ssh"""
    if not sshd.program():
        raise cases.Skipped("openssh-server is missing")
    with Host() as host:
        return same_reports(weft, "ssh", {"ssh": host.runner()}, os.environ)


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [ssh_reports_the_same, slurm_reports_the_same]))
