#!/usr/bin/env python3
"""Checks the traces that weft sends: a local collector decodes them, and compares them with the run's own report.

usage: test_telemetry.py PATH_TO_WEFT        (needs the Python package opentelemetry-proto)
"""

import collections
import datetime
import json
import os
import pathlib
import re
import signal
import socket
import sys
import subprocess
import tempfile
import threading
import time

from lib import cases
from lib.authority import Authority
from lib.collector import Collector
from lib.place import LIMIT, Place

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
SECRET = "tops3cret-value-of-this-test"
# The variables of this test, and none of the surroundings'.
CLEAN = {name: text for name, text in os.environ.items()
         if not name.startswith("OTEL_") and name not in ("TRACEPARENT", "TRACESTATE") and "proxy" not in name.lower()}

# Failures, retries of a step and a group, a loop, waits, a race, a skip, cleanup and `finally`.
EVERYTHING = {
    "name": "everything", "pools": {"db": 1}, "onFailure": "continue", "steps": [
        {"id": "seen", "run": "echo \"$TRACEPARENT\" > seen.$WEFT_ATTEMPT; test $WEFT_ATTEMPT = 2 || exit 3",
         "retry": {"max": 1, "delay": "30ms"}},
        {"id": "again", "retry": {"max": 1, "delay": "20ms"}, "parallel": [
            {"id": "inner", "run": "echo $TRACEPARENT >> inner; test $(wc -l < inner) = 2",
             "cleanup": [{"run": "true"}]},
            {"id": "other", "run": "sleep 0.02", "pool": "db"}, {"id": "third", "run": "sleep 0.02", "pool": "db"}]},
        {"id": "narrow", "maxParallel": 1, "parallel": [
            {"id": "begun", "run": "sleep 0.02"}, {"id": "behind", "run": "true"}]},
        {"id": "each", "forEach": {"in": ["x", "y z", "ü"], "key": "${{ item }}"}, "steps": [{"id": "one", "run": "true"}, {"run": "true"}]},
        {"id": "simple", "forEach": {"in": list(range(20))}, "run": ["true"]},
        {"id": "later", "wait": "30ms"}, {"id": "tolerated", "run": "exit 9", "allowFailure": True},
        {"id": "fastest", "race": [{"id": "hare", "run": "sleep 5"}, {"id": "tortoise", "run": "sleep 0.05"}]},
        {"id": "left", "run": "true", "if": "${{ false }}"},
        {"id": "slow", "run": "sleep 5", "timeout": "50ms", "allowFailure": True},
        {"id": "killed", "run": "kill -9 $$", "allowFailure": True},
        {"id": "breaks", "run": "test -e mended || exit 4"}, {"id": "last", "run": "true", "needs": ["breaks"]}],
    "finally": [{"id": "end", "run": "true"}]}
QUICK = {"name": "quick", "steps": [{"id": "a", "run": "true"}, {"id": "b", "run": "true"}]}


class Run(Place):
    """A directory in which weft runs with telemetry."""

    def __init__(self, weft, workflow, **environment):
        super().__init__(weft, workflow)
        self.environment = CLEAN | environment
        self.seconds = 0.0

    def call(self, *arguments):
        began = time.monotonic()
        done = subprocess.run(
            [self.weft, *arguments], cwd=self.path, stdin=subprocess.DEVNULL, text=True, capture_output=True,
            timeout=LIMIT, env=self.environment)
        self.seconds = time.monotonic() - began
        return done

    def start(self, *arguments):
        return subprocess.Popen(
            [self.weft, *arguments], cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, env=self.environment)

    def report(self):
        return json.loads((self.folder / "report.json").read_text())


def warnings(done):
    return [line for line in done.stderr.splitlines() if "warning" in line]


def check_shape(spans, parents=()):
    """The rules that every trace obeys: identities, parents, times."""
    known = {span.id: span for span in spans}
    assert len(known) == len(spans), "two spans have one identity"
    assert len({span.trace for span in spans}) == 1, "spans of several traces"
    for span in spans:
        assert span.start <= span.end, span.name
        assert span.flags & 0x1FF == 0x101, span.flags
        if span.role == "run":
            assert span.parent in ("", *parents) and span.kind == 2, (span.parent, span.kind)
            continue
        parent = known.get(span.parent)
        assert parent, f"{span.name} has no parent"
        assert parent.start <= span.start and span.end <= parent.end, f"{span.name} is outside of {parent.name}"


def check_report(spans, report):
    """Spans fold back to the report of the run: the same steps, attempts, outcomes and durations."""
    last = {}
    for span in sorted((span for span in spans if span.role == "step"), key=lambda span: span.start):
        last[span["weft.address"]] = span
    states = {state["step"]: state for state in report["states"]}
    assert last.keys() == states.keys(), last.keys() ^ states.keys()
    for step, state in states.items():
        span = last[step]
        assert span["weft.outcome"] == state["outcome"], (step, span.attributes, state)
        if state["state"] == "skipped":
            assert span["cicd.pipeline.task.run.result"] in ("skip", "cancellation", "timeout"), span.attributes
            continue
        assert (span["weft.conclusion"] or span["weft.outcome"]) == state["conclusion"], (step, span.attributes)
        assert span["weft.attempts"] == state["attempts"], (step, span.attributes)
        assert span["weft.output.bytes"] == state["outputBytes"]
        attempts = [attempt for attempt in spans if attempt.parent == span.id and attempt.role == "attempt"]
        assert bool(span["weft.cached"]) == (state["state"] == "cached")
        assert bool(span["weft.restored"]) == (state["state"] == "restored")
        if state["state"] != "finished":
            assert not attempts, step
            continue
        ended = max(attempts, key=lambda attempt: attempt.start)
        assert len(attempts) == state["attempts"], step
        assert ended.microseconds == state["durationUs"], (step, ended.microseconds, state["durationUs"])
        exit = state.get("exit", {})
        assert ended["process.exit.code"] == exit.get("code"), (step, ended.attributes, exit)
        assert ended["weft.exit.signal"] == exit.get("signal"), (step, ended.attributes, exit)
        if state["outcome"] == "failure":
            assert span["error.type"] == state["failure"]["classes"][0], span.attributes
            assert (span.status.code == 2) == (state["conclusion"] == "failure")
            assert ended.status.code != 2 or ended.status.message == state["failure"]["message"]
    groups = {}
    for span in sorted((span for span in spans if span.role == "group"), key=lambda span: span.start):
        groups[span["weft.address"]] = span
    known = {state["group"]: state for state in report.get("groupStates", [])}
    assert groups.keys() == known.keys(), groups.keys() ^ known.keys()
    for group, state in known.items():
        span = groups[group]
        assert span["weft.outcome"] == state["outcome"] and span["weft.attempts"] == state["attempts"]
        assert bool(span["weft.restored"]) == bool(state.get("restored"))
        if span["weft.restored"]:
            continue
        assert abs(span.microseconds - state["durationUs"]) < 20_000, (group, span.microseconds, state["durationUs"])
    (run,) = [span for span in spans if span.role == "run"]
    assert run["cicd.pipeline.run.id"] == report["run"] and run["cicd.pipeline.name"] == report["workflow"]
    assert run["weft.outcome"] == report["end"]["outcome"], run.attributes


def check_waits(spans, events):
    """Each wait between readiness and start has a span of its length, named after what the step lacked."""
    wanted, since = [], {}
    for record in map(json.loads, events.read_text().splitlines()):
        step, moment = record.get("step"), record["at"]
        if record["type"] == "step.queued":
            since[step] = (record.get("because", "slot"), datetime.datetime.fromisoformat(moment))
        elif step in since and record["type"] in ("step.started", "step.finished", "step.skipped", "step.cached"):
            cause, begin = since.pop(step)
            length = (datetime.datetime.fromisoformat(moment) - begin) // datetime.timedelta(microseconds=1)
            # Times of events are in milliseconds; those of the journal are read a moment earlier.
            if length >= 5000:
                wanted.append((step, cause, length))
    known = {span.id: span for span in spans}
    found = collections.defaultdict(list)
    for span in spans:
        if span.role == "wait":
            found[known[span.parent]["weft.address"], span.name.removeprefix("wait: ")].append(span.microseconds)
    assert wanted
    for step, cause, length in wanted:
        assert any(abs(length - other) < 5000 for other in found[step, cause]), (step, cause, length, found)


# Cases

def equals_report(weft):
    """the spans of a run fold back to its report, and steps see the spans of their attempts"""
    with Collector() as collector:
        run = Run(weft, EVERYTHING)
        done = run.run("--otlp", collector.url, "-j", "4", "--events", "events.jsonl")
        assert done.returncode == 1 and not warnings(done), (done.returncode, done.stderr)
        spans = collector.spans()
        check_shape(spans)
        check_report(spans, run.report())
        for request in collector.requests:
            assert request.path == "/v1/traces" and request.headers["Content-Type"] == "application/x-protobuf"
        known = {span.id: span for span in spans}
        seen = [(run.path / f"seen.{number}").read_text().strip() for number in (1, 2)]
        seen += (run.path / "inner").read_text().split()
        for parent, (step, attempt, outcome) in zip(seen, [
                ("seen", 1, "failure"), ("seen", 2, "success"), ("inner", 1, "failure"), ("inner", 1, "success")],
                strict=True):
            span = known[parent[36:52]]
            assert parent == f"00-{span.trace}-{span.id}-01" and span.role == "attempt"
            assert span["weft.attempt"] == attempt and span["weft.outcome"] == outcome, span.attributes
            assert known[span.parent]["weft.address"] == step
        results = collections.Counter(span["cicd.pipeline.task.run.result"] for span in spans if span.role == "step")
        assert {"success", "failure", "timeout", "skip", "cancellation"} <= results.keys(), results
        waits = {span.name for span in spans if span.role == "wait"}
        assert {"wait: pool", "wait: group", "wait: backoff", "wait: time"} <= waits, waits
        check_waits(spans, run.path / "events.jsonl")
        tree = collections.defaultdict(set)
        for span in spans:
            if span.role in ("step", "group"):
                tree[known[span.parent]["weft.address"]].add(span["weft.address"])
        assert tree["each"] == {"each[x]", "each[y z]", "each[ü]"} and tree["each[ü]"] == {"each[ü].one", "each[ü].2"}
        assert tree["again"] == {"inner", "other", "third", "inner.cleanup"}, tree["again"]
        assert tree["fastest"] == {"hare", "tortoise"} and tree["finally"] == {"end"}
        # An element has the name of its loop: names are few.
        assert {span.name for span in spans if span.role == "step" and span["weft.address"].startswith("simple[")} == {
            "simple"}
        return f"{len(spans)} spans"


def resumed(weft):
    """a resumed run has the trace of its first part, and its span is linked to that one's"""
    with Collector() as collector:
        run = Run(weft, EVERYTHING)
        assert run.run("--otlp", collector.url).returncode == 1
        first = collector.spans()
        (run.path / "mended").touch()
        done = run.resume("--otlp", collector.url)
        assert done.returncode == 0 and not warnings(done), done.stderr
        second = collector.spans()[len(first):]
        check_shape(second)
        check_report(second, run.report())
        roots = [next(span for span in spans if span.role == "run") for spans in (first, second)]
        assert roots[0].trace == roots[1].trace and roots[0].id != roots[1].id
        assert roots[1].links == [(roots[0].trace, roots[0].id)] and roots[1]["weft.resumption"] == 1
        check_shape(first)
        assert not {span.id for span in first} & {span.id for span in second}


def killed(weft):
    """the spans that ended before kill -9 have arrived; the resumed run continues their trace"""
    with Collector() as collector:
        workflow = {"steps": [
            {"id": "first", "run": "true"},
            {"id": "stuck", "run": "test -e mended || sleep 60", "idempotent": True}]}
        run = Run(weft, workflow)
        process = run.start("run", "w.json", "--otlp", collector.url)
        run.until(lambda: any(span["weft.address"] == "first" for span in collector.spans()))
        process.kill()
        process.wait()
        process.stderr.close()
        (run.path / "mended").touch()
        before = collector.spans()
        done = run.resume("--otlp", collector.url)
        assert done.returncode == 0, done.stderr
        after = collector.spans()[len(before):]
        check_shape(after)
        root = next(span for span in after if span.role == "run")
        step = next(span for span in before if span.role == "step")
        assert root.trace == step.trace and root.links == [(step.trace, step.parent)]


def inherits(weft):
    """an inherited TRACEPARENT is the parent of the run, and its TRACESTATE is passed on"""
    show = {"name": "show", "steps": [{"id": "a", "run": "echo $TRACEPARENT $TRACESTATE > seen"}]}
    with Collector() as collector:
        run = Run(weft, show, TRACEPARENT=PARENT, TRACESTATE="vendor=1", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        assert run.run().returncode == 0
        spans = collector.spans()
        check_shape(spans, parents=[PARENT[36:52]])
        root = next(span for span in spans if span.role == "run")
        assert root.parent == PARENT[36:52] and root.trace == PARENT[3:35] and root.flags == 0x301
        assert all(span.state == "vendor=1" for span in spans)
        attempt = next(span for span in spans if span.role == "attempt")
        assert (run.path / "seen").read_text() == f"00-{root.trace}-{attempt.id}-01 vendor=1\n"
    with Collector() as collector:
        run = Run(weft, show, TRACEPARENT=PARENT[:-1] + "0", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        done = run.run()
        assert done.returncode == 0 and not collector.requests and not warnings(done)
        assert re.fullmatch(f"00-{PARENT[3:35]}-[0-9a-f]{{16}}-00\n", (run.path / "seen").read_text())
        assert "not sampled" in "".join(warnings(run.run("--otlp", collector.url)))


def resumes_elsewhere(weft):
    """a run resumed under another parent keeps its trace, and is linked to that parent"""
    with Collector() as collector:
        run = Run(weft, {"steps": [{"id": "a", "run": "test -e mended"}]})
        assert run.run("--otlp", collector.url).returncode == 1
        first = collector.spans()
        (run.path / "mended").touch()
        run.environment["TRACEPARENT"] = PARENT
        assert run.resume("--otlp", collector.url).returncode == 0
        root = next(span for span in collector.spans()[len(first):] if span.role == "run")
        before = next(span for span in first if span.role == "run")
        assert root.trace == before.trace and root.parent == ""
        assert root.links == [(before.trace, before.id), (PARENT[3:35], PARENT[36:52])]


def without(weft):
    """without telemetry there is no trace: nothing is sent, and steps inherit what is there"""
    run = Run(weft, {"steps": [{"id": "a", "run": "env | grep ^TRACE > seen || true"}]})
    done = run.run()
    assert done.returncode == 0 and not warnings(done) and (run.path / "seen").read_text() == ""
    assert "\"trace\"" not in run.journal.read_text()
    run.environment |= {"TRACEPARENT": "anything", "OTEL_SERVICE_NAME": "x", "OTEL_EXPORTER_OTLP_HEADERS": "broken"}
    done = run.run()
    assert done.returncode == 0 and not warnings(done)
    assert (run.path / "seen").read_text() == "TRACEPARENT=anything\n"


def keys_are_equal(weft):
    """no cache key depends on the trace"""
    workflow = {"steps": [{"id": "a", "run": "echo $TRACEPARENT > out; date +%N >> out",
                           "cache": {"inputs": [], "outputs": ["out"]}}]}
    with Collector() as collector:
        run = Run(weft, workflow)
        assert run.run().returncode == 0
        first = (run.path / "out").read_text()
        for environment, arguments in [({}, ["--otlp", collector.url]), ({"TRACEPARENT": PARENT}, []),
                                       ({"TRACEPARENT": PARENT}, ["--otlp", collector.url])]:
            run.environment = CLEAN | environment
            done = run.run(*arguments)
            assert done.returncode == 0 and (run.path / "out").read_text() == first, done.stdout
        cached = [span for span in collector.spans() if span["weft.cached"]]
        assert len(cached) == 2 and all(span.microseconds < 1_000_000 for span in cached)


def requests(weft):
    """a request has the header traceparent of its attempt, unless the step sets one, and its span is a client's"""
    with Collector() as collector, Collector() as server:
        run = Run(weft, {"name": "asks", "steps": [
            {"id": "ours", "http": {"url": server.url + "/ours?x=1"}},
            {"id": "own", "http": {"url": server.url + "/own", "headers": {"Traceparent": PARENT}}}]})
        done = run.run("--otlp", collector.url)
        assert done.returncode == 0, done.stdout
        spans = collector.spans()
        check_report(spans, run.report())
        headers = {request.path: {name.lower(): text for name, text in request.headers.items()}
                   for request in server.requests if request.path != "/v1/traces"} or {}
        attempt = next(span for span in spans if span["url.full"] == server.url + "/ours?x=1")
        assert headers["/ours?x=1"]["traceparent"] == f"00-{attempt.trace}-{attempt.id}-01"
        assert headers["/own"]["traceparent"] == PARENT
        assert attempt.kind == 3 and attempt["http.response.status_code"] == 200
        assert attempt["server.port"] == server.server.server_port and attempt["http.request.method"] == "GET"
        run = Run(weft, {"steps": [{"id": "ours", "http": {"url": server.url + "/bare"}}]})
        assert run.run().returncode == 0
        assert "traceparent" not in {name.lower() for name in server.requests[-1].headers}


def settings(weft):
    """headers, resource, service name and endpoint come from the variables of OpenTelemetry; --otlp wins"""
    with Collector() as wanted, Collector() as other:
        run = Run(weft, QUICK, OTEL_EXPORTER_OTLP_ENDPOINT=other.url,
                  OTEL_EXPORTER_OTLP_HEADERS="x-key=a%20b%2C,Authorization=Bearer%20" + SECRET,
                  OTEL_RESOURCE_ATTRIBUTES="team=a%3Db,service.name=first", OTEL_SERVICE_NAME="second")
        assert run.run("--otlp", wanted.url + "/base/").returncode == 0
        assert wanted.requests and not other.requests and wanted.requests[0].path == "/base/v1/traces"
        headers = {name.lower(): text for name, text in wanted.requests[0].headers.items()}
        assert headers["x-key"] == "a b," and headers["authorization"] == "Bearer " + SECRET
        resource = wanted.resources()[0]
        assert resource["service.name"] == "second" and resource["team"] == "a=b"
        assert resource["cicd.pipeline.name"] == "quick" and resource["telemetry.sdk.name"] == "weft"
        run.environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = wanted.url + "/exact?x=1"
        assert run.run().returncode == 0
        assert wanted.requests[-1].path == "/exact?x=1" and not other.requests
        run.environment["OTEL_SDK_DISABLED"] = "true"
        count = len(wanted.requests)
        assert run.run().returncode == 0 and len(wanted.requests) == count


def malformed(weft):
    """a malformed --otlp is exit 2 before anything starts; a malformed variable is a warning"""
    run = Run(weft, {"steps": [{"id": "a", "run": "touch ran"}]})
    for url in ("", "localhost:4318", "unix:///run/otel.sock", "/run/otel.sock", "http://", "grpc://localhost:4317",
                "http://user:" + SECRET + "@bad host"):
        for command in (["run", "w.json"], ["resume"]):
            done = run.call(*command, "--otlp", url)
            assert done.returncode == 2 and "--otlp" in done.stderr, (url, done.stderr)
            assert SECRET not in done.stderr and not (run.path / "ran").exists()
    done = run.run("--otlp", "http://localhost", "--dry-run")
    assert done.returncode == 2 and "contradict" in done.stderr
    for variables in (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": SECRET}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a b/" + SECRET},
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}):
        run.environment = CLEAN | variables
        done = run.run()
        (line,) = warnings(done)
        assert done.returncode == 0 and "OTEL_EXPORTER_OTLP_" in line and SECRET not in done.stderr, done.stderr
    with Collector() as collector:
        for name, text in (
                ("OTEL_EXPORTER_OTLP_HEADERS", SECRET), ("OTEL_EXPORTER_OTLP_HEADERS", "a=%0D%0Ab: " + SECRET),
                ("OTEL_RESOURCE_ATTRIBUTES", SECRET), ("OTEL_EXPORTER_OTLP_TIMEOUT", SECRET),
                ("TRACEPARENT", SECRET), ("OTEL_SDK_DISABLED", SECRET)):
            run.environment = CLEAN | {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, name: text}
            count = len(collector.requests)
            done = run.run()
            (line,) = warnings(done)
            assert done.returncode == 0 and name in line and SECRET not in done.stderr, done.stderr
            assert len(collector.requests) > count


def absent(weft):
    """an absent collector costs a second at most, one warning, and no exit code"""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    run = Run(weft, QUICK)
    assert run.run().returncode == 0
    plain = run.seconds
    done = run.run("--otlp", f"http://localhost:{port}")
    (line,) = warnings(done)
    assert done.returncode == 0 and re.search(r"\d+ of \d+ spans .*localhost:\d+: cannot connect", line), done.stderr
    assert run.seconds < plain + 1.5, (run.seconds, plain)
    done = run.run("--otlp", f"http://nowhere.invalid:{port}")
    assert done.returncode == 0 and len(warnings(done)) == 1 and run.seconds < plain + 1.5, (done.stderr, run.seconds)


def silent(weft):
    """a collector that accepts and never answers costs a second at most"""
    stop = threading.Event()

    def never(handler, number):
        stop.wait(LIMIT)
        return True
    with Collector(never) as collector:
        run = Run(weft, QUICK)
        done = run.run("--otlp", collector.url)
        (line,) = warnings(done)
        stop.set()
        assert done.returncode == 0 and run.seconds < 2.5 and "did not answer in time" in line, (line, run.seconds)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        done = run.run("--otlp", f"http://localhost:{deaf.getsockname()[1]}")
        assert done.returncode == 0 and len(warnings(done)) == 1 and run.seconds < 2.5, (done.stderr, run.seconds)


def trickling(weft):
    """a collector whose reply never ends costs a second at most"""
    def drip(handler, number):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        try:
            for _ in range(600):
                handler.wfile.write(b"x")
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass
        return True
    with Collector(drip) as collector:
        run = Run(weft, QUICK)
        done = run.run("--otlp", collector.url)
        assert done.returncode == 0 and len(warnings(done)) == 1 and run.seconds < 2.5, (done.stderr, run.seconds)


def tried_again(weft):
    """429 and 503 are tried again, after Retry-After; no span is lost, none arrives twice"""
    def busy(handler, number):
        if number > 3:
            handler.reply(200)
            return None
        handler.reply((429, 503, 502)[number - 1], **({"Retry_After": "1"} if number == 1 else {}))
        return True
    with Collector(busy) as collector:
        run = Run(weft, {"name": "long", "steps": [{"id": "a", "run": "true"}, {"id": "b", "run": "sleep 4"}]})
        done = run.run("--otlp", collector.url)
        assert done.returncode == 0 and not warnings(done), done.stderr
        spans = collector.spans()
        check_shape(spans)
        check_report(spans, run.report())
        moments = [request.moment for request in collector.requests]
        assert moments[1] - moments[0] >= 1, moments
        assert collector.requests[0].body == collector.requests[3].body


def restarted(weft):
    """a collector that goes away and comes back gets every span"""
    first = Collector()
    run = Run(weft, {"name": "long", "steps": [{"id": f"s{number}", "run": "sleep 0.4"} for number in range(10)]})
    process = run.start("run", "w.json", "-j", "1", "--otlp", first.url)
    run.until(lambda: first.spans())
    first.die()
    time.sleep(1)
    with Collector(port=first.server.server_port) as second:
        assert process.wait(LIMIT) == 0 and process.stderr.read() == ""
        process.stderr.close()
        assert second.spans()
        spans = first.spans() + second.spans()
        check_shape(spans)
        check_report(spans, run.report())


def too_late(weft):
    """a Retry-After that is beyond the end is not waited for"""
    def busy(handler, number):
        handler.reply(429, Retry_After="60")
        return True
    with Collector(busy) as collector:
        run = Run(weft, QUICK)
        done = run.run("--otlp", collector.url)
        (line,) = warnings(done)
        assert done.returncode == 0 and "it answered 429" in line and run.seconds < 1, (line, run.seconds)


def refused(weft):
    """other statuses are not tried again; the reason is reported once, harmless on a terminal"""
    for status, body, words in (
            (400, b"\x12\x07no\x1b[31m", "it answered 400: no [31m"), (401, b"", "it answered 401"),
            (404, b"<html>\n\n<b>" + b"x" * 5000, "it answered 404: <html> <b>xxx"),
            (500, bytes(range(256)), "it answered 500")):
        def refuse(handler, number, status=status, body=body):
            handler.reply(status, body)
            return True
        with Collector(refuse) as collector:
            run = Run(weft, QUICK)
            done = run.run("--otlp", collector.url)
            (line,) = warnings(done)
            assert done.returncode == 0 and words in line and len(line) < 500 and "\x1b" not in line, line
            assert len(collector.requests) == 1 and run.seconds < 1.5


def partly(weft):
    """partial success counts what was rejected; a strange reply is remarked on"""
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
    partial = service.ExportTraceServiceResponse()
    partial.partial_success.rejected_spans = 2
    partial.partial_success.error_message = "two are too old"

    def answering(body, **headers):
        def answer(handler, number):
            handler.reply(200, body, **headers)
        return answer
    with Collector(answering(partial.SerializeToString())) as collector:
        done = Run(weft, QUICK).run("--otlp", collector.url)
        (line,) = warnings(done)
        assert done.returncode == 0 and re.search(r"2 of \d+ spans .*two are too old", line), line
        assert len(collector.requests) == 1
    with Collector(answering(b'{"partialSuccess":{}}', Content_Type="application/json")) as collector:
        assert not warnings(Run(weft, QUICK).run("--otlp", collector.url))
    with Collector(answering(b"<html>welcome</html>", Content_Type="text/html")) as collector:
        (line,) = warnings(Run(weft, QUICK).run("--otlp", collector.url))
        assert "not one of a collector" in line, line


def redirected(weft):
    """a redirect is not followed: headers may be credentials"""
    with Collector() as other:
        def redirect(handler, number):
            handler.reply(307, Location=other.url + "/v1/traces")
            return True
        with Collector(redirect) as collector:
            done = Run(weft, QUICK, OTEL_EXPORTER_OTLP_HEADERS="x-key=" + SECRET).run("--otlp", collector.url)
            (line,) = warnings(done)
            assert done.returncode == 0 and "redirects to " + other.url in line and SECRET not in line, line
            assert not other.requests and len(collector.requests) == 1


def encrypted(weft):
    """TLS is verified, against the system's authorities or OTEL_EXPORTER_OTLP_CERTIFICATE"""
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(pathlib.Path(folder))
        authority.sign("localhost", "localhost")
        with Collector(authority=authority) as collector:
            run = Run(weft, QUICK, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
            done = run.run()
            (line,) = warnings(done)
            assert done.returncode == 0 and "certificate" in line and not collector.requests, line
            run.environment["OTEL_EXPORTER_OTLP_CERTIFICATE"] = folder + "/ca.pem"
            done = run.run()
            assert done.returncode == 0 and not warnings(done), done.stderr
            check_shape(collector.spans())


def proxied(weft):
    """the proxies of the environment are used"""
    with Collector() as proxy:
        run = Run(weft, QUICK, http_proxy=proxy.url, OTEL_EXPORTER_OTLP_ENDPOINT="http://collector.example:4318")
        assert run.run().returncode == 0
        assert proxy.requests[0].path == "http://collector.example:4318/v1/traces"
        run.environment["no_proxy"] = "collector.example"
        count = len(proxy.requests)
        assert len(warnings(run.run())) == 1 and len(proxy.requests) == count


def interrupted(weft):
    """the trace of a run that is cancelled by ^C is complete"""
    with Collector() as collector:
        run = Run(weft, {"name": "long", "steps": [{"id": "a", "run": "touch began; sleep 60"}],
                         "finally": [{"id": "end", "run": "true"}]})
        process = run.start("run", "w.json", "--otlp", collector.url)
        run.until((run.path / "began").exists)
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 130
        process.stderr.close()
        spans = collector.spans()
        check_shape(spans)
        check_report(spans, run.report())
        assert next(span for span in spans if span.role == "run")["cicd.pipeline.result"] == "cancellation"


def live(weft):
    """spans arrive while the run goes on"""
    with Collector() as collector:
        run = Run(weft, {"steps": [{"id": "a", "run": "true"}, {"id": "b", "run": "until test -e go; do sleep 0.02; done"}]})
        process = run.start("run", "w.json", "--otlp", collector.url)
        run.until(lambda: any(span["weft.address"] == "a" for span in collector.spans()))
        (run.path / "go").touch()
        assert process.wait(LIMIT) == 0
        process.stderr.close()
        check_shape(collector.spans())


def suspended(weft):
    """a run that waits for approval ends its spans, and its resumption continues the trace"""
    with Collector() as collector:
        run = Run(weft, {"name": "ask", "steps": [{"id": "a", "approve": "ship?"}, {"id": "b", "run": "true"}]})
        assert run.run("--otlp", collector.url).returncode == 75
        first = collector.spans()
        check_shape(first)
        assert next(span for span in first if span.role == "run")["cicd.pipeline.result"] == "suspended"
        assert run.call("approve", "a").returncode == 0
        assert run.resume("--otlp", collector.url).returncode == 0
        second = collector.spans()[len(first):]
        check_shape(second)
        check_report(second, run.report())
        assert second[0].trace == first[0].trace
        approved = next(span for span in second if span.role == "step" and span["weft.address"] == "a")
        assert approved["weft.approved_by"], approved.attributes


def no_secrets(weft):
    """secrets of the workflow and of the settings appear in no span, no journal and no message"""
    with Collector() as collector:
        run = Run(weft, {
            "name": "secret", "secrets": {"token": {"env": "TOKEN"}},
            "steps": [{"id": "a", "run": "echo $TOKEN >&2; exit 3", "env": {"TOKEN": "${{ secrets.token }}"},
                       "outputs": {"x": "${{ secrets.token }}"}, "allowFailure": True},
                      {"id": "b", "http": {"url": "http://localhost:1/?key=${{ secrets.token }}"}, "allowFailure": True}]},
            TOKEN=SECRET, OTEL_RESOURCE_ATTRIBUTES="leak=" + SECRET,
            OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20key-of-the-collector")
        done = run.run("--otlp", collector.url)
        sent = b"".join(request.body for request in collector.requests)
        written = b"".join(path.read_bytes() for path in run.folder.rglob("*") if path.is_file())
        assert collector.spans(), done.stderr
        for secret in (SECRET, "key-of-the-collector"):
            assert secret.encode() not in sent + written + (done.stdout + done.stderr).encode()


def many(weft):
    """10,000 steps arrive, in bounded memory, and the run does not wait for them"""
    def measured(*arguments):
        began = time.monotonic()
        process = run.start("run", "w.json", "-j", "8", "--record", "none", *arguments)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.stderr.close()
        assert status == 0 and "warning" not in said, said[-500:]
        return time.monotonic() - began, usage.ru_maxrss >> 10
    with Collector() as collector:
        run = Run(weft, {"name": "many", "steps": [
            {"id": "each", "forEach": {"in": list(range(10_000))}, "run": ["true"]}]})
        plain, traced = measured(), measured("--otlp", collector.url)
        spans = collector.spans()
        check_shape(spans)
        assert sum(span.role == "step" for span in spans) == 10_000
        largest = max(len(request.body) for request in collector.requests)
        assert largest < 4 << 20, largest
        assert traced[1] < plain[1] + 64, (traced, plain)
        return (f"{len(spans)} spans in {len(collector.requests)} requests; {plain[0]:.1f} s and {plain[1]} MiB without, "
                f"{traced[0]:.1f} s and {traced[1]} MiB with")


def overflow(weft):
    """too many spans for a collector that does not answer: the oldest are dropped, and counted"""
    stop = threading.Event()

    def never(handler, number):
        stop.wait(LIMIT)
        return True
    with Collector(never) as collector:
        run = Run(weft, {"name": "many", "steps": [
            {"id": "each", "forEach": {"in": ["x" * 190 + str(number) for number in range(12_000)], "key": "${{ item }}"}, "run": ["true"]}]})
        done = run.call("run", "w.json", "-j", "8", "--record", "none", "--otlp", collector.url)
        stop.set()
        (line,) = warnings(done)
        assert done.returncode == 0 and re.search(r"dropped because it was too slow", line), line


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        equals_report, resumed, killed, inherits, resumes_elsewhere, without, keys_are_equal, requests, settings,
        malformed, absent, silent, trickling, tried_again, restarted, too_late, refused, partly, redirected, encrypted, proxied,
        interrupted, live, suspended, no_secrets, many, overflow]))
