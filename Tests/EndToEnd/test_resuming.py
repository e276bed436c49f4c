#!/usr/bin/env python3
"""Kills weft, cuts its journals, changes its files, and checks that it resumes as promised.

usage: test_resuming.py PATH_TO_WEFT

Every case has a directory of its own. Steps append lines to a file, by which their runs are counted.
"""

import collections
import contextlib
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from lib import cases
from lib.place import LIMIT, Place, crc32c

def does(name, *more):
    return "; ".join([f"echo {name} >> done", *more])


LADDER = {
    "steps": [
        {"id": "a", "run": does("a", "echo one two"), "idempotent": True,
         "outputs": {"words": "${{ split(self.stdout, ' ') }}"}},
        {"id": "b", "forEach": {"in": "${{ steps.a.outputs.words }}", "as": "word"},
         "idempotent": True, "run": "echo b-${{ word }} >> done"},
        {"id": "g", "retry": 1, "steps": [
            {"id": "c", "run": does("c"), "idempotent": True},
            {"id": "d", "run": does("d"), "idempotent": True, "allowFailure": True}]},
        {"id": "r", "race": [
            {"id": "e", "run": does("e"), "idempotent": True},
            {"id": "f", "run": does("f", "sleep 20"), "idempotent": True}]},
        {"id": "h", "run": does("h"), "idempotent": True},
    ],
    "outputs": {"first": "${{ steps.a.outputs.words[0] }}"},
}


def findRecorded(journal):
    """The steps whose success is in a journal."""
    names = set()
    # A line without its end is torn, even if only the newline is missing.
    for line in journal[:journal.rfind(b"\n") + 1].splitlines():
        record = json.loads(line)
        if record["type"] == "step.finished" and record["conclusion"] == "success":
            names.add(record["step"])
    return names


EFFECTS = {"a": "a", "b[0]": "b-one", "b[1]": "b-two", "c": "c", "d": "d", "e": "e", "h": "h"}


def cut(weft, ends):
    """Resumes from a journal that was cut at each of these places; nothing recorded is done again."""
    whole = Place(weft, LADDER)
    result = whole.run()
    assert result.returncode == 0, result.stderr
    bytes_ = whole.journal.read_bytes()
    tried = 0
    for end in ends(bytes_):
        place = Place(weft, LADDER)
        shutil.copytree(whole.path / ".weft", place.path / ".weft", symlinks=True)
        # The run is resumed where it began: not in this directory.
        journal = bytes_[:end]
        place.journal.write_bytes(journal)
        (whole.path / "done").unlink(missing_ok=True)
        result = place.resume("--trust-record")
        if not journal.count(b"\n"):
            assert result.returncode == 4, (end, result)
            continue
        assert result.returncode == 0, (end, result)
        done = whole.done()
        for step in findRecorded(journal):
            if step in EFFECTS:
                assert not done[EFFECTS[step]], (end, f"{step} is done again", done)
        for step, effect in EFFECTS.items():
            assert done[effect] <= 1, (end, effect, done)
            assert done[effect] == 1 or step in findRecorded(journal), (end, f"{step} is not done", done)
        again = place.resume("--trust-record")
        assert again.returncode == 0 and "nothing left" in again.stderr, again
        tried += 1
    return tried


def every_record(weft):
    def ends(journal):
        return [match.end() for match in re.finditer(b"\n", journal)]

    return f"{cut(weft, ends)} records"


def every_byte(weft):
    def ends(journal):
        lines = [match.end() for match in re.finditer(b"\n", journal)]
        last = range(lines[-2] + 1, lines[-1])
        # Of the others, every seventh byte.
        return [*range(1, lines[-2], 7), *last]

    return f"{cut(weft, ends)} places"


def survivor(weft):
    place = Place(weft, {"steps": [
        {"id": "a", "idempotent": True, "run": "exec 9>lock; flock -n 9 || echo two >> done; "
                                               "echo a >> done; [ -e go ] || sleep 60"}]})
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["a"] == 1)
    engine.kill()
    engine.wait()
    (place.path / "go").touch()
    result = place.resume()
    assert result.returncode == 0, result
    assert "ended processes that were still running" in result.stderr, result.stderr
    assert place.done() == {"a": 2}, place.done()


def slow_survivor(weft):
    place = Place(weft, {"steps": [
        {"id": "a", "idempotent": True,
         "run": "exec 2>/dev/null; trap 'touch go; sleep 2; exit' TERM; echo a >> done; until [ -e go ]; do sleep 0.1 || :; done"}]})
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["a"] == 1)
    engine.kill()
    engine.wait()
    result = place.resume()
    assert result.returncode == 0 and place.done() == {"a": 2}, result
    assert re.search(r"waiting for processes of the killed weft to end: .*\n.*ended processes", result.stderr), result


def alive(weft):
    place = Place(weft, {"steps": [{"id": "a", "run": does("a", "sleep 60")}]})
    engine = place.start("run", "w.json")
    try:
        place.until(lambda: place.done()["a"] == 1)
        result = place.resume()
        assert result.returncode == 4, result
        assert str(engine.pid) in result.stderr and "since" in result.stderr, result.stderr
        assert place.done() == {"a": 1}
    finally:
        engine.send_signal(signal.SIGTERM)
        engine.wait()


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass


def served(handler):
    """Starts a server that ends with this program, and returns its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


class Server:
    """Counts requests, and lets the first of them wait for ever."""

    def __init__(self):
        self.keys = []
        server = self
        arrived = self.arrived = threading.Event()

        class Handler(Quiet):
            def answer(self):
                server.keys.append(self.headers.get("Idempotency-Key"))
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if len(server.keys) == 1:
                    arrived.set()
                    time.sleep(LIMIT)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_POST = do_GET = answer

        self.url = served(Handler)


def ended_in_request(weft, call, by=signal.SIGKILL):
    server = Server()
    place = Place(weft, {"steps": [{"id": "send", "http": {"url": server.url, **call}}]})
    engine = place.start("run", "w.json")
    assert server.arrived.wait(LIMIT)
    engine.send_signal(by)
    engine.wait()
    return place, server


def in_doubt(weft):
    place, server = ended_in_request(weft, {"method": "POST", "body": "x"})
    for _ in range(2):
        result = place.resume()
        assert result.returncode == 1, result
        assert "--rerun-interrupted" in result.stderr, result.stderr
        assert len(server.keys) == 1
    result = place.resume("--rerun", "send")
    assert result.returncode == 0, result
    assert len(server.keys) == 2


class Resets:
    """A server that reads a request and resets the connection, in the middle of the response if it has a status,
    unless it answers like a gateway, or `allows`."""

    def __init__(self, status=None):
        self.count = 0
        self.allows = status == 504
        server = self

        class Handler(Quiet):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server.count += 1
                if status or server.allows:
                    self.send_response(status if status and server.count == 1 else 200)
                    self.send_header("Content-Length", "0" if server.allows else "1000")
                    self.end_headers()
                    self.wfile.flush()
                if not server.allows:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()

        self.url = served(Handler)


def reset(weft):
    for status in None, 203, 504:
        known = "answered with 504" if status == 504 else "not answered"
        api = Resets(status)
        place = Place(weft, {"steps": [
            {"id": "send", "http": {"url": api.url, "method": "POST", "body": "x"}}, {"id": "end", "run": "true"}]})
        result = place.run()
        assert result.returncode == 1 and "POST request may have been processed" in result.stdout, result
        for _ in range(2):
            result = place.resume()
            assert result.returncode == 1 and f"was sent, but {known}" in result.stdout, result
            assert "1 step was interrupted" in result.stderr, result
            assert api.count == 1, api.count
        api.allows = True
        result = place.resume("--rerun-interrupted")
        assert result.returncode == 0, result
        assert api.count == 2, api.count


def reset_harmlessly(weft):
    """A tolerated failure is done, an idempotent step is sent again, and so is a request that is idempotent by itself."""
    for keys, call, code, count in (
        ({"allowFailure": True}, {"method": "POST"}, 0, 1), ({"idempotent": True}, {"method": "POST"}, 1, 2),
        ({}, {"method": "POST", "idempotencyKey": True}, 1, 2),
    ):
        api = Resets()
        place = Place(weft, {"steps": [{"id": "send", "http": {"url": api.url, "body": "x", **call}, **keys}]})
        for _ in range(2):
            result = place.run() if not api.count else place.resume()
            assert result.returncode == code, (keys, call, result)
        assert api.count == count, (keys, call, api.count)


class Closes:
    """A server that answers the first request of each connection, and closes the connection when it has read the second."""

    def __init__(self):
        self.paths = []
        server = self

        class Handler(Quiet):
            protocol_version = "HTTP/1.1"
            count = 0

            def answer(self):
                self.count += 1
                server.paths.append(self.path)
                if self.count > 1:
                    self.close_connection = True
                    return
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_DELETE = answer

        self.url = served(Handler)


def declared(weft):
    """What a step declares counts, whatever its method says: for connections that are used again, for `retry` and for
    `weft resume`."""
    for keys in {"idempotent": False}, {"onInterrupted": "fail"}:
        api = Closes()
        place = Place(weft, {"steps": [
            {"id": "first", "http": {"url": api.url + "first"}},
            {"id": "send", "retry": 2, "http": {"url": api.url + "send", "method": "DELETE"}, **keys}]})
        result = place.run()
        assert result.returncode == 1 and "DELETE request may have been processed" in result.stdout, (keys, result)
        result = place.resume()
        assert result.returncode == 1 and "was sent, but not answered" in result.stdout, (keys, result)
        assert api.paths == ["/first", "/send"], (keys, api.paths)
    api = Resets()
    place = Place(weft, {"steps": [
        {"id": "send", "idempotent": True, "retry": {"max": 1, "delay": "0s"},
         "http": {"url": api.url, "method": "POST", "body": "x"}}]})
    result = place.run()
    assert result.returncode == 1 and api.count == 2, (result, api.count)


def cancelled_while_sent(weft):
    """^C during a POST leaves it in doubt as well."""
    place, server = ended_in_request(weft, {"method": "POST", "body": "x"}, signal.SIGINT)
    result = place.resume()
    assert result.returncode == 1 and "was sent, but not answered" in result.stdout, result
    assert len(server.keys) == 1
    result = place.resume("--skip-interrupted")
    assert result.returncode == 0 and "counted as done:\n  send\n" in result.stderr, result
    assert len(server.keys) == 1


def in_doubt_and_skipped(weft):
    place, server = ended_in_request(weft, {"method": "POST", "body": "x"})
    result = place.resume("--skip-interrupted", "--rerun-interrupted")
    assert result.returncode == 2, result
    result = place.resume("--skip-interrupted")
    assert result.returncode == 0 and "counted as done:\n  send\n" in result.stderr, result
    assert len(server.keys) == 1
    shown = json.loads(place.call("show", "--format", "json").stdout)
    (send,) = [s for s in shown["steps"] if s["step"] == "send"]
    assert (send["outcome"], send["conclusion"]) == ("failure", "success"), send
    assert shown["state"] == "success", shown
    # `--rerun-interrupted` finds nothing to do any more.
    assert f"weft resume {shown['run']} --rerun send; " in send["failure"]["help"], send
    # This is final: the run is done.
    assert place.resume().returncode == 0 and len(server.keys) == 1
    assert place.resume("--rerun", "send").returncode == 0 and len(server.keys) == 2


def in_doubt_with_key(weft):
    place, server = ended_in_request(
        weft, {"method": "POST", "body": "x", "idempotencyKey": True})
    result = place.resume()
    assert result.returncode == 0, result
    assert len(server.keys) == 2 and server.keys[0] and server.keys[0] == server.keys[1], server.keys


class Answers:
    """A server that always answers the same, and counts the requests of each path."""

    def __init__(self, **bodies):
        counts = self.counts = collections.Counter()

        class Handler(Quiet):
            def answer(self):
                name = self.path[1:]
                counts[name] += 1
                # A connection that is closed with unread data is reset, which may cut off a long answer.
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = bodies[name].encode()
                self.send_response(203)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("X-Kind", f"of {name}")
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET = answer

        self.url = served(Handler)

    def post(self, name, **keys):
        return {"id": name, "http": {"url": self.url + name, "method": "POST", "body": "x"}, **keys}


def answered(weft):
    api = Answers(order='{"id": 7, "of": "é"}')
    told = ("${{ steps.order.status }} ${{ steps.order.headers['x-kind'] }} ${{ steps.order.stale }} "
            "${{ steps.order.json.id }} ${{ steps.order.body }}")
    place = Place(weft, {"steps": [
        api.post("order"), {"id": "gate", "run": "test -e open"},
        {"id": "tell", "run": ["echo", told]},
        {"id": "end", "run": "test -e open2"}, {"id": "last", "run": ["echo", told]}]})
    assert place.run().returncode == 1
    for gate, code in (("open", 1), ("open2", 0)):
        (place.path / gate).touch()
        result = place.resume()
        assert result.returncode == code, result
        assert '203 of order false 7 {"id": 7, "of": "é"}' in result.stdout, result
    assert api.counts == {"order": 1}, api.counts


def answered_too_much(weft):
    api = Answers(order=json.dumps({"x": "y" * (1 << 20)}), small="{}")
    read = {"id": "read", "run": ["echo", "${{ length(steps.order.json.x) }} ${{ steps.small.status }}"]}
    place = Place(weft, {"steps": [
        api.post("order"), api.post("small"), {"id": "gate", "run": "test -e open"}, read]})
    assert place.run().returncode == 1
    (place.path / "open").touch()
    result = place.resume()
    assert result.returncode == 1 and "--rerun order" in result.stdout, result
    result = place.resume("--rerun", "order")
    assert result.returncode == 0 and f"{1 << 20} 203" in result.stdout, result
    assert api.counts == {"order": 2, "small": 1}, api.counts


def answered_with_a_secret(weft):
    api = Answers(order='{"token": "tell-nobody-0815"}')
    place = Place(weft, {
        "secrets": {"T": {"file": "token"}},
        "steps": [
            {"id": "login", "env": {"T": "${{ secrets.T }}"}, "run": "test -n \"$T\""},
            api.post("order", idempotent=True), {"id": "gate", "run": "test -e open"},
            {"id": "read", "env": {"X": "${{ steps.order.json.token }}"}, "run": "test -n \"$X\""}]})
    (place.path / "token").write_text("tell-nobody-0815")
    assert place.run().returncode == 1
    assert "tell-nobody" not in place.journal.read_text()
    (place.path / "open").touch()
    result = place.resume()
    assert result.returncode == 0, result
    assert api.counts == {"order": 2}, api.counts
    assert "tell-nobody" not in place.journal.read_text()


MAKER = {"id": "make", "run": does("make", "mkdir -p out/d", "echo one > out/d/x", "echo two > out/y"),
         "cache": {"inputs": ["w.json"], "outputs": ["out"]}}
GATE = {"id": "gate", "run": "test -e ok"}


def rewrite(path):
    text = path.read_text()
    path.write_text("X" + text[1:])


# Damage to files, the step that made each, the message, and the effect of naming that step.
DAMAGES = [
    (lambda place: rewrite(place / "out/d/x"), "make", '"out", which step "make" created, has changed'),
    (lambda place: (place / "out/more").touch(), "make", '"out", which step "make" created, has changed'),
    (lambda place: shutil.rmtree(place / "out"), "make", '"out", which step "make" created, no longer exists'),
    (lambda place: rewrite(place / "book"), "get", '"book", which step "get" created, has changed'),
    (lambda place: (place / "book").unlink(), "get", '"book", which step "get" created, no longer exists'),
    (lambda place: (place / "got-1").unlink(), "each[1]",
     '"got-1", which step "each[1]" created, no longer exists'),
]


def made_files(weft):
    for damage, step, told in DAMAGES:
        api = Answers(book="from afar")
        get = lambda name: {"url": api.url + "book", "saveTo": name}
        place = Place(weft, {"steps": [
            MAKER, {"id": "get", "http": get("book")},
            {"id": "each", "forEach": {"in": [0, 1, 2]}, "http": get("got-${{ item }}")}, GATE,
            {"id": "use", "run": "cat out/d/x out/y book got-0 got-1 got-2"}]})
        assert place.run().returncode == 1
        assert place.resume().returncode == 1, "files that are as they were are no obstacle"
        (place.path / "ok").touch()
        damage(place.path)
        before = place.journal.read_bytes()
        result = place.resume()
        assert result.returncode == 3 and told in result.stderr, result
        assert f"--rerun {step} to create" in result.stderr.replace("'", ""), result
        assert place.journal.read_bytes() == before
        result = place.resume("--rerun", step)
        assert result.returncode == 0, result
        assert place.done() == {"make": 1}, "the cache has it"
        assert api.counts == {"book": 4 if step == "make" else 5}, api.counts


def accepted_files(weft):
    place = Place(weft, {"steps": [MAKER, GATE, {"id": "use", "run": "cat out/d/x"}]})
    assert place.run().returncode == 1
    (place.path / "ok").touch()
    rewrite(place.path / "out/d/x")
    result = place.resume("--accept-changes")
    assert result.returncode == 0 and "Xne" in result.stdout, result
    assert 'warning: "out", which step "make" created, has changed' in result.stderr, result


def used_files(weft):
    """Files that are no longer used may be gone."""
    place = Place(weft, {"parallel": [
        MAKER, {"id": "use", "needs": ["make"], "run": "cat out/d/x && rm -r out"}, GATE]})
    assert place.run("-j1").returncode == 1
    (place.path / "ok").touch()
    result = place.resume()
    assert result.returncode == 0 and place.done() == {"make": 1}, result


def changed_file(weft):
    steps = [{"id": name, "run": does(name)} for name in "abc"]
    steps.append({"id": "z", "run": "[ -e ok ]"})
    place = Place(weft, {"steps": steps})
    assert place.run().returncode == 1
    (place.path / "ok").touch()
    steps[1]["run"] = does("b", "true")
    place.write({"steps": steps})
    result = place.resume()
    assert result.returncode == 3, result
    assert 'changed "b"' in result.stderr and "--accept-changes" in result.stderr, result.stderr
    assert place.done() == {"a": 1, "b": 1, "c": 1}
    result = place.resume("--accept-changes")
    assert result.returncode == 0, result
    # Its dependents run again, too.
    assert place.done() == {"a": 1, "b": 2, "c": 2}, place.done()


def members_of_done_groups(weft):
    """A step that an edit adds to a group that is done, or moves into it, runs, and its failure counts"""
    def flow(*groups):
        named = [{"id": name, "steps": list(steps)} for name, steps in groups]
        return {"onFailure": "continue", "parallel": named}
    a, b, c = ({"id": name, "run": does(name)} for name in "abc")
    fails = {"id": "fails", "run": "exit 3"}
    for edited, code in ((flow(("g", [a, dict(fails)]), ("h", [b, fails | {"id": "other"}, c])), 1),
                         (flow(("g", [a, c]), ("h", [b])), 0)):
        place = Place(weft, flow(("g", [a]), ("h", [b, {"id": "other", "run": "exit 3"}, c])))
        assert place.run().returncode == 1 and place.done() == {"a": 1, "b": 1}, place.done()
        (place.path / "w.json").write_text(json.dumps(edited))
        result = place.resume("--accept-changes")
        assert result.returncode == code, result
        assert place.done() == {"a": 1, "b": 1} | ({"c": 1} if code == 0 else {}), place.done()
        if code == 1:
            edited["parallel"][1]["steps"][1]["run"] = "true"
            (place.path / "w.json").write_text(json.dumps(edited))
            assert place.resume("--accept-changes").returncode == 1, "the failure is lost"
            edited["parallel"][0]["steps"][1]["run"] = "true"
            (place.path / "w.json").write_text(json.dumps(edited))
            assert place.resume("--accept-changes").returncode == 0 and place.done() == {"a": 1, "b": 1, "c": 1}
    place = Place(weft, flow(("g", [a, b]), ("h", [fails])))
    assert place.run().returncode == 1
    edited = flow(("g", [a, b]), ("h", [fails | {"run": "true"}]))
    edited["parallel"][0] = {"id": "g", "parallel": [b, a]}
    (place.path / "w.json").write_text(json.dumps(edited))
    assert place.resume("--accept-changes").returncode == 0 and place.done() == {"a": 1, "b": 1}, place.done()


def changed_nested_file(weft):
    """Only the changed steps of a nested file run again, and those after them, also where weft runs elsewhere."""
    steps = [{"id": name, "run": does(name)} for name in "abc"]
    place = Place(weft, {"steps": [{"id": "n", "workflow": "sub/n.json"}, {"id": "z", "run": "[ -e ok ]"}]})
    (place.path / "sub").mkdir()
    place.write({"steps": steps}, "sub/n.json")
    assert place.run().returncode == 1
    (place.path / "ok").touch()
    place.write({"description": "no step of it", "steps": steps}, "sub/n.json")
    result = place.resume()
    assert result.returncode == 3 and '"sub/n.json" has changed' in result.stderr, result
    steps[1]["run"] = does("b", "true")
    place.write({"steps": steps}, "sub/n.json")
    result = place.resume()
    assert result.returncode == 3 and 'changed "n/b"' in result.stderr, result
    result = place.resume("--accept-changes")
    assert result.returncode == 0, result
    assert place.done() == {"a": 1, "b": 2, "c": 2}, place.done()


def described_step(weft):
    """A text for people changes no step."""
    steps = [{"id": "a", "run": does("a")}, {"id": "b", "run": does("b")}, {"id": "z", "run": "[ -e ok ]"}]
    place = Place(weft, {"steps": steps})
    assert place.run().returncode == 1
    (place.path / "ok").touch()
    steps[0].update(name="A", description="builds")
    place.write({"steps": steps})
    result = place.resume()
    assert result.returncode == 3, result
    assert 'no step has changed, but "name" of "a", "description" of "a"' in result.stderr, result
    assert "nothing that is done runs again" in result.stderr, result
    place.write({"description": "all", "pools": {"p": 1}, "steps": [steps[1], steps[0], steps[2]]})
    result = place.resume()
    assert 'but "description" of the workflow, "pools" of the workflow, "steps" of the workflow' in result.stderr, result
    assert place.resume("--accept-changes").returncode == 0 and place.done() == {"a": 1, "b": 1}, place.done()


def reformatted(weft):
    """White space, comments and trailing commas are no change, also in nested files; scripts are compared byte by byte."""
    inner = '{"steps": [{"id": "i", "run": "echo i >>done"}]}'
    outer = '{"steps": [{"id": "n", "workflow": "inner.jsonc"}, {"id": "s", "script": {"file": "s.sh"}}, {"id": "z", "run": "[ -e ok ]"}]}'
    for name, text, code in (("w.jsonc", "// A comment\n" + outer.replace("}]", "},]").replace(",", ", "), 0),
                             ("inner.jsonc", "/* one */ " + inner, 0), ("inner.jsonc", inner.replace("echo i", "echo  i"), 3),
                             ("s.sh", "echo s >>done \n", 3), ("w.jsonc", outer.replace("z", "y"), 3)):
        place = Place(weft, {})
        for file, content in (("w.jsonc", outer), ("inner.jsonc", inner), ("s.sh", "echo s >>done\n")):
            (place.path / file).write_text(content)
        assert place.call("run", "w.jsonc").returncode == 1
        (place.path / "ok").touch()
        (place.path / name).write_text(text)
        result = place.resume()
        assert result.returncode == code, (name, text, result)
        if code == 0:
            assert place.done() == {"i": 1, "s": 1}, place.done()
            assert place.call("show").returncode == 0 and place.resume("--rerun", "s").returncode == 0
            assert place.done() == {"i": 1, "s": 2}, place.done()


def rerun_in_a_file(weft):
    """A step that was not selected at first brings `finally` of its file."""
    for words in ["--from", "post"], ["--skip", "n"]:
        place = Place(weft, {"steps": [{"id": "n", "workflow": "n.json"}, {"id": "post", "run": does("post")}]})
        place.write({"steps": ["true", {"id": "b", "run": does("b"), "cleanup": does("c")}], "finally": [does("f")]}, "n.json")
        assert place.run(*words).returncode == 0
        result = place.resume("--rerun", "n/b")
        assert result.returncode == 0 and place.done() == {"post": 1, "b": 1, "c": 1, "f": 1}, (result, place.done())


def cleaned_up_loser(weft):
    """The failed cleanup of a loser is repeated while the service that it uses is up."""
    loser = {"id": "g", "steps": [
        {"id": "s", "run": "trap 'rm up; exit' TERM; touch up; echo UP; while :; do sleep 0.02; done",
         "service": {"ready": {"log": "UP"}}},
        {"id": "u", "run": "touch used; sleep 60", "cleanup": does("u", "[ -e up ] && [ -e ok ]")}]}
    winner = {"id": "w", "run": "until [ -e used ]; do sleep 0.02; done"}
    for group in {"race": [winner, loser]}, {"join": {"atLeast": 1}, "parallel": [winner, loser]}:
        place = Place(weft, {"steps": [{"id": "r", **group}]})
        assert place.run("-j", "4").returncode == 1
        assert 'continues it: "s", "u.cleanup"' in place.call("show").stdout
        (place.path / "ok").touch()
        result = place.resume("-j", "4")
        assert result.returncode == 0 and place.done() == {"u": 2} and not (place.path / "up").exists(), result
        assert "s: succeeded" in place.call("show").stdout, place.call("show").stdout


def counts_of_a_suspended_run(weft):
    """The counts of a run that is suspended again include what is not repeated."""
    place = Place(weft, {"steps": [
        {"id": "g", "steps": [{"id": "p", "run": "true", "cleanup": "true"}]}, {"id": "q", "approve": "?"}, {"id": "q2", "approve": "?"}]})
    assert place.run().returncode == 75
    assert place.call("approve", "q").returncode == 0 and place.resume().returncode == 75
    assert place.records()[-1]["counts"]["succeeded"] == 3, place.records()[-1]


def elements_that_have_begun(weft):
    """`weft show` counts the steps to come in elements that have begun, too."""
    place = Place(weft, {"steps": [{"id": "l", "forEach": [1, 2], "steps": [
        {"id": "a", "run": does("a", "sleep 60")}, {"id": "b", "run": "true"}, {"id": "c", "run": "true"}]}]})
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["a"] == 2)
    engine.kill()
    engine.wait()
    assert "4 steps not started yet" in place.call("show").stdout, place.call("show").stdout
    assert place.call("reap").returncode == 0


def rerun_of_former_elements(weft):
    """`--rerun` refuses an element that the loop no longer has, as one that it never had."""
    loop = {"id": "l", "forEach": {"in": ["a", "b"], "key": "item"}, "run": "echo ${{ item }} >> done"}
    place = Place(weft, {"steps": [loop]})
    assert place.run().returncode == 0
    place.write({"steps": [dict(loop, forEach={"in": ["b", "c"], "key": "item"})]})
    assert place.resume("--accept-changes").returncode == 0
    assert place.done() == {"a": 1, "b": 1, "c": 1}, place.done()
    for name, code in ("l[a]", 2), ("l[z]", 2), ("l[b]", 0):
        result = place.resume("--rerun", name)
        assert result.returncode == code and (code == 0 or f'"{name}" is not a step' in result.stderr), result
    assert place.done() == {"a": 1, "b": 2, "c": 1}, place.done()


def renamed_step(weft):
    steps = [{"id": name, "run": does(name)} for name in "ab"]
    place = Place(weft, {"steps": [*steps, {"id": "z", "run": "[ -e ok ]"}]})
    assert place.run().returncode == 1
    (place.path / "ok").touch()
    place.write({"steps": [steps[0], {"id": "z", "run": "[ -e ok ]"}, {"id": "n", "run": does("n")}]})
    result = place.resume()
    assert result.returncode == 3, result
    assert 'added "n"' in result.stderr and 'removed "b"' in result.stderr, result.stderr
    result = place.resume("--accept-changes")
    assert result.returncode == 0, result
    assert place.done() == {"a": 1, "b": 1, "n": 1}, place.done()


def finished(weft):
    place = Place(weft, {"steps": [{"id": "a", "run": does("a")}]})
    assert place.run().returncode == 0
    before = place.journal.read_bytes()
    for words in [], ["--rerun-interrupted"], ["--skip-interrupted"], ["--accept-changes"]:
        result = place.resume(*words)
        assert result.returncode == 0 and "nothing left" in result.stderr, result
    assert place.done() == {"a": 1}
    assert place.journal.read_bytes() == before


def again(weft):
    steps = [{"id": name, "run": does(name)} for name in "abc"]
    place = Place(weft, {"steps": steps})
    assert place.run().returncode == 0
    assert place.resume("--rerun", "b").returncode == 0
    assert place.done() == {"a": 1, "b": 2, "c": 1}, place.done()
    assert place.resume("--from", "b").returncode == 0
    assert place.done() == {"a": 1, "b": 3, "c": 2}, place.done()
    assert place.resume("--rerun", "nobody").returncode == 2


def hostile_keys(weft):
    """Elements whose keys look like addresses are resumed individually, and named as they are shown."""
    place = Place(weft, {
        "inputs": {"k": {"type": "array"}}, "onFailure": "continue", "steps": [
            {"id": "g", "forEach": {"in": "${{ inputs.k }}", "as": "f", "key": "f.a"}, "steps": [
                {"id": "b", "forEach": {"in": "${{ f.list }}", "as": "e", "key": "e"},
                 "env": {"A": "${{ f.a }}", "E": "${{ e }}"},
                 "run": "test \"$A\" != a || test -e go || exit 1; printf '%s\\n' \"$A+$E\" >> done"}]}]})

    def done_now():
        return collections.Counter((place.path / "done").read_text().splitlines())

    keys = [{"a": "a", "list": ["c].b[d"]}, {"a": "a].b[c", "list": ["d"]},
            {"a": " \\", "list": ["é", "e\u0301", "[", "]", ".", "/", "a b", "'"]}]
    assert place.run("-i", "k=" + json.dumps(keys)).returncode == 1
    done = ["a].b[c+d", *(" \\+" + key for key in keys[2]["list"])]
    assert done_now() == {text: 1 for text in done}, done_now()
    (place.path / "go").touch()
    result = place.resume()
    assert result.returncode == 0, result
    assert "10 steps succeeded" in result.stdout and "(9 in an earlier part)" in result.stdout, result.stdout
    assert done_now() == {text: 1 for text in [*done, "a+c].b[d"]}, done_now()
    # The names in the record are accepted by the commands.
    steps = {record["step"] for record in map(json.loads, place.journal.read_text().splitlines())
             if record["type"] == "step.finished"}
    assert len(steps) == 10, steps
    for count, step in enumerate(sorted(steps), 1):
        assert place.resume("--rerun", step).returncode == 0, step
        assert sum(done_now().values()) == 10 + count, (step, done_now())
    assert set(done_now().values()) == {2}, done_now()
    hidden = Place(weft, {"steps": [{"id": "u", "forEach": {
        "in": ["a\u202etxt.exe"], "key": "item"}, "run": "true"}]})
    result = hidden.run()
    assert result.returncode == 3 and "U+202E" in result.stderr, result


def cleaned(weft):
    place = Place(weft, {"steps": [
        {"id": "up", "run": does("up"), "cleanup": does("down")},
        {"id": "use", "run": does("use", "[ -e ok ]")}]})
    assert place.run().returncode == 1
    (place.path / "ok").touch()
    assert place.resume().returncode == 0
    assert place.done() == {"up": 2, "down": 2, "use": 2}, place.done()


def killed_cleanup(weft):
    """What a cleanup began to undo is done again for those who need it, also if the cleanup fails again and again."""
    steps = [{"id": "db", "run": does("db", "touch db.up"), "cleanup": does("down", "rm db.up; [ -e go ]")},
             {"id": "test", "run": does("test", "[ -e db.up ]; [ -e db.up ] && [ -e ok ]")}]
    place = Place(weft, {"steps": steps})
    for _ in range(2):
        assert (place.resume if place.done() else place.run)().returncode == 1
    (place.path / "go").touch()
    (place.path / "ok").touch()
    assert place.resume().returncode == 0 and place.done() == {"db": 3, "test": 3, "down": 3}, place.done()
    steps[0]["cleanup"] = does("down", "rm db.up; [ -e ok ] || sleep 60")
    place = Place(weft, {"steps": steps})
    engine = place.start("run", "w.json")
    place.until(lambda: place.done()["down"] == 1)
    engine.kill()
    engine.wait()
    (place.path / "ok").touch()
    result = place.resume()
    assert result.returncode == 0 and "interrupted" not in result.stderr, result
    assert place.done() == {"db": 2, "test": 2, "down": 2}, place.done()


def not_in_doubt(weft):
    """Only what the next engine does not start again is told to be in doubt."""
    waits = "until [ -e ok ]; do sleep 0.02; done"
    for name, steps, last in [
        ("w", [{"id": "w", "wait": "1500ms"}], []), ("w.cleanup", [{"id": "w", "run": "true", "cleanup": waits}], []),
        ("finally.1", ["true"], [waits]), ("u", [{"id": "u", "run": waits, "idempotent": True}], []),
    ]:
        place = Place(weft, {"steps": steps, "finally": [*last, does("last")]})
        engine = place.start("run", "w.json")
        kinds = ("step.spawned", "step.waiting")
        place.until(lambda: any(
            record["type"] in kinds and record["step"] == name
            for path in place.path.glob(".weft/runs/2*/journal.jsonl")
            for record in map(json.loads, path.read_text().splitlines(keepends=False) if path.exists() else [])))
        engine.kill()
        engine.wait()
        shown = json.loads(place.call("show", "--format", "json").stdout)
        assert shown["resume"]["inDoubt"] == [] and name in shown["resume"]["again"], (name, shown)
        assert "rerun only" not in place.call("show").stdout, name
        (place.path / "ok").touch()
        result = place.resume("--skip-interrupted")
        assert result.returncode == 0 and "interrupted" not in result.stderr, (name, result)


def doubtful_loser(weft):
    """A loser of a race that is in doubt counts as tolerated in all parts of a run, in the history and in reports."""
    place = Place(weft, {"steps": [
        {"id": "r", "race": [{"id": "a", "run": "[ -e killed ] || { touch killed; kill -9 $PPID; sleep 5; }"},
                             {"id": "b", "run": "sleep 0.3", "idempotent": True}]},
        {"id": "z", "run": "[ -e ok ]"}]})
    assert place.run().returncode == -9
    for _ in range(3):
        assert place.resume().returncode == 1
        shown = place.call("show").stdout
        assert "✗ a: failed (\"b\" won the race) after" in shown, shown
        report = place.call("report", "--format", "junit").stdout
        assert 'errors="0" skipped="1" failures="1"' in report, report
        assert '<skipped message="failed, which is tolerated: in doubt' in report, report


def list_gone_wrong(weft):
    """A loop whose list cannot be computed any more is shown with the reason, and without the elements of its earlier list;
    they are not said to start again."""
    place = Place(weft, {"steps": [
        {"id": "s", "run": "cat list"},
        {"id": "k", "forEach": {"in": "${{ fromJSON(steps.s.stdout) }}", "as": "x"}, "run": "exit ${{ x }}"}, {"id": "z", "run": "true"}]})
    (place.path / "list").write_text("[1, 2]")
    assert place.run().returncode == 1
    (place.path / "list").write_text("oops")
    assert place.resume("--rerun", "s", "--rerun", "k").returncode == 1
    shown = place.call("show").stdout
    assert 'failed in "k": forEach.in cannot be computed: fromJSON() is given a string' in shown, shown
    assert "not started: " not in shown and "k[" not in shown, shown
    assert 'continues it: "z" and 1 step not started yet' in shown, shown
    (place.path / "list").write_text("[2, 0, 0]")
    assert place.resume("--rerun", "s", "-k").returncode == 1
    shown = place.call("show").stdout
    assert 'continues it: "k[0]", "z"\n' in shown, shown
    done = place.resume("--rerun", "k[2]")
    assert done.returncode == 1 and "[k[0]] started" in done.stdout, done


def suspended_in_an_attempt(weft):
    """A retried group in which a run is suspended goes on with the attempt that it had, and its cleanup runs once."""
    for group, name in (({}, "g"), ({"forEach": ["a"]}, "g[0]")):
        place = Place(weft, {"steps": [
            {"id": "g", **group, "retry": {"max": 2, "delay": "10ms"}, "cleanup": {"run": does("cg")}, "steps": [
                {"id": "x", "run": does("x", "[ -e once ] || { touch once; exit 1; }"), "cleanup": {"run": does("cx")}},
                {"id": "ok", "approve": "go on?"}, {"id": "y", "run": does("y", "exit 1")}]}]})
        assert place.run().returncode == 75
        step = "ok" if name == "g" else f"{name}.ok"
        for attempt, code in ((2, 75), (3, 1)):
            assert place.call("approve", step).returncode == 0
            result = place.resume()
            assert result.returncode == code and f"[{name}] group started (attempt {attempt})" in result.stdout, result
            assert f"attempt {attempt} of 3" not in result.stdout, result
        assert place.done() == {"x": 3, "y": 2, "cx": 3, "cg": 1}, place.done()
        ends = [record for record in map(json.loads, place.journal.read_text().splitlines()) if record["type"] == "group.finished"]
        assert [end["attempts"] for end in ends if end["group"] == name] == [3], ends
        # A failed group has all its attempts again.
        assert place.resume().returncode == 75


def decided_later(weft):
    """A member that a failure elsewhere cancelled is a loser once its race or join has succeeded in a later part."""
    for group, reason in (({"race": []}, '"win" won the race'), ({"parallel": [], "join": {"atLeast": 1}}, 'enough of "r" had succeeded')):
        members = [{"id": "win", "run": "sleep 0.3"}, {"id": "lose", "wait": "10s"}]
        group = {"id": "r", **{key: members if value == [] else value for key, value in group.items()}}
        place = Place(weft, {"parallel": [group, {"id": "f", "run": "[ -e go ]"}]})
        assert place.run().returncode == 1
        (place.path / "go").touch()
        assert place.resume().returncode == 0
        report = place.call("report", "--format", "junit").stdout
        assert 'errors="0" skipped="1" failures="0"' in report, report
        shown = place.call("show").stdout
        assert reason in shown and '"f" failed' not in shown, shown
        assert reason.replace('"', "&quot;") in report and "&quot;f&quot;" not in report, report


def skipped_after_doubt(weft):
    """A step in doubt that is skipped later is skipped in all records, and in doubt when it is to start again."""
    loop = {"id": "lp", "forEach": ["p"], "steps": [{"id": "u", "run": does("u", "[ -e ok ] || sleep 60")}]}
    for step, name in [(loop, "lp[0].u"), (loop["steps"][0], "u")]:
        place = Place(weft, {"steps": [{"id": "l", "run": "cat list; [ ! -e fails ]"}, {"if": "steps.l.stdout == 'yes'", **step}]})
        (place.path / "list").write_text("yes")
        engine = place.start("run", "w.json")
        place.until(lambda: place.done()["u"] == 1)
        engine.kill()
        engine.wait()
        (place.path / "fails").touch()
        assert place.resume("--rerun", "l").returncode == 1
        for words in (["show"], ["report", "--format", "csv", "-o", "-"]):
            assert "interrupted;" not in place.call(*words).stdout and f"{name},interrupted" not in place.call(*words).stdout
        (place.path / "fails").unlink()
        (place.path / "list").write_text("no")
        result = place.resume("--rerun", "l")
        assert result.returncode == 0 and "1 of 2 steps succeeded, 1 skipped" in result.stdout, result
        junit = place.call("report", "--format", "junit", "-o", "-").stdout
        assert 'errors="0"' in junit and "in doubt" not in junit, junit
        assert "interrupted" not in place.call("report", "--format", "csv", "-o", "-").stdout
        assert "interrupted" not in place.call("show").stdout
        (place.path / "list").write_text("yes")
        result = place.resume("--rerun", "l")
        assert result.returncode == 1 and "in doubt" in result.stdout and place.done()["u"] == 1, result


def secret_input(weft):
    place = Place(weft, {
        "inputs": {"token": {"type": "string", "secret": True}, "name": {"type": "string"}},
        "steps": [{"id": "a", "env": {"T": "${{ inputs.token }}"}, "run": "[ \"$T\" = right ]"},
                  {"id": "b", "run": "echo ${{ inputs.name }} >> done"}]})
    assert place.run("-i", "token=wrong", "-i", "name=ada").returncode == 1
    for file in place.folder.rglob("*"):
        assert file.is_dir() or b"wrong" not in file.read_bytes(), file
    assert place.resume().returncode == 2
    result = place.resume("-i", "token=right", "-i", "name=bob")
    assert result.returncode == 2 and "recorded with the run" in result.stderr, result
    assert place.resume("-i", "token=right").returncode == 0
    assert place.done() == {"ada": 1}


def secret_output(weft):
    """A secret output, which is not recorded, matters only if another step that is not done reads it."""
    for value in ({"value": "${{ self.stdout }}"}, {"type": "string"}):
        for reads in (False, True):
            place = Place(weft, {"steps": [
                {"id": "a", "run": "echo a >>log; echo hunter22 " + ("" if "value" in value else "| sed s/^/v=/ >>$WEFT_OUTPUT"),
                 "outputs": {"v": {**value, "secret": True}}},
                {"id": "b", "run": "test -e ok", "env": {"V": "${{ steps.a.outputs.v }}"} if reads else {}}]})
            assert place.call("run", "w.json").returncode == 1
            (place.path / "ok").touch()
            # The history foresees what resume does.
            shown = place.call("show").stdout
            assert ("values that others read are not recorded: \"a\"" in shown) == reads, (value, reads, shown)
            result = place.resume()
            assert result.returncode == reads and ("was secret" in result.stdout) == reads, (value, reads, result)
            assert ("1 step succeeded, but values that others read" in result.stderr) == reads, (value, reads, result)
            assert (place.path / "log").read_text() == "a\n"
            if not reads:
                continue
            shown = place.call("show").stdout
            assert "values that others read are not recorded: \"a\"" in shown and "interrupted:" not in shown, shown
            result = place.resume()
            assert result.returncode == 1 and "1 step succeeded, but values that others read" in result.stderr, result
            assert "interrupted, and" not in result.stderr, result
            result = place.resume("--rerun-interrupted")
            assert result.returncode == 0 and (place.path / "log").read_text() == "a\na\n", result
            # The option counts from the first resume on.
            (place.path / "ok").unlink()
            assert place.call("run", "w.json").returncode == 1
            (place.path / "ok").touch()
            result = place.resume("--rerun-interrupted")
            assert result.returncode == 0 and (place.path / "log").read_text() == "a\na\na\na\n", result


def chain_of_secrets(weft):
    """A step that has succeeded, and that is skipped because of another in doubt, runs again only if that is asked for."""
    for option, ran in (("--skip-interrupted", "abcc"), ("--rerun-interrupted", "abcabc")):
        secret = {"o": {"value": "${{ self.stdout }}", "secret": True}}
        place = Place(weft, {"steps": [
            {"id": "a", "run": "printf a >>log; echo hunter22", "outputs": secret},
            {"id": "b", "run": "printf b >>log; echo hunter33", "env": {"A": "${{ steps.a.outputs.o }}"}, "outputs": secret},
            {"id": "c", "run": "printf c >>log; test -e ok", "env": {"B": "${{ steps.b.outputs.o }}"}}]})
        assert place.call("run", "w.json").returncode == 1
        (place.path / "ok").touch()
        for _ in range(2):
            assert place.resume().returncode == 1
            assert (place.path / "log").read_text() == "abc"
        shown = place.call("show").stdout
        assert "values that others read are not recorded: \"a\", \"b\"" in shown, shown
        result = place.resume(option)
        assert result.returncode == 0 and (place.path / "log").read_text() == ran, (option, result, (place.path / "log").read_text())


def file_skipped_at_resume(weft):
    """The cleanups and `finally` of a nested file that had started run once although its condition is false when the run is resumed."""
    flag = {"id": "flag", "run": "[ -e ok ] && echo no || echo yes"}
    sub = {"id": "sub", "if": "steps.flag.stdout == 'yes'", "workflow": "n.json"}
    nested = {"steps": [{"id": "a", "run": does("a"), "cleanup": {"run": does("ca")}},
                        {"id": "b", "run": does("b", "if [ ! -e ok ]; then kill -9 $PPID; sleep 5; fi")}],
              "finally": [{"id": "f", "run": does("f"), "cleanup": {"run": does("cf")}},
                          {"id": "g", "if": "failure()", "run": does("g")}]}
    for steps in ([flag, sub], [flag, {**sub, "forEach": ["x"]}],
                  [flag, {"id": "o", "if": sub["if"], "steps": [{"id": "sub", "workflow": "n.json"}]}]):
        place = Place(weft, {"onFailure": "continue", "steps": steps + [{"id": "z", "needs": ["flag"], "run": "[ -e ok ]"}]})
        (place.path / "n.json").write_text(json.dumps(nested))
        assert place.run("-j1").returncode == -9 and place.done() == {"a": 1, "b": 1}, place.done()
        (place.path / "ok").touch()
        result = place.resume("--rerun", "flag")
        assert result.returncode == 0, result
        log = place.done()
        assert log == {"a": 1, "b": 1, "ca": 1, "f": 1, "cf": 1}, (steps, log, result)
        assert result.stdout.index("a.cleanup] started") < result.stdout.index("/f] started"), result
        # What has run is not pending any more, nor in a run whose file ended before.
        assert "nothing left to do" in place.resume().stderr
    place = Place(weft, {"onFailure": "continue", "steps": [flag, sub, {"id": "z", "needs": ["flag"], "run": "[ -e ok ]"}]})
    nested["steps"][1]["run"] = does("b", "exit 1")
    (place.path / "n.json").write_text(json.dumps(nested))
    assert place.run("-j1").returncode == 1
    done = place.done()
    (place.path / "ok").touch()
    assert place.resume("--rerun", "flag").returncode == 0 and place.done() == done, place.done()


def refusals(weft):
    place = Place(weft, {"steps": [{"id": "a", "run": does("a", "[ -e ok ]")}]})
    result = place.resume()
    assert result.returncode == 2 and "no run is recorded" in result.stderr, result
    assert place.run().returncode == 1
    before = place.journal.read_bytes()
    for words, code, told in [
        (["--record", "none"], 2, "is not allowed here"), (["9"], 2, 'no run "9" is recorded'),
        (["--rerun", "a[x]"], 2, "not a step"), (["--state-dir", "/nowhere"], 2, "no run is recorded"),
    ]:
        result = place.resume(*words)
        assert result.returncode == code and told in result.stderr, result
    assert place.journal.read_bytes() == before and place.done() == {"a": 1}
    (place.path / ".weft/runs/20200101-000000-abcdef").mkdir(mode=0o700)
    result = place.resume("2020")
    assert result.returncode == 4 and "20200101-000000-abcdef" in result.stderr, result
    result = place.resume("20")
    assert result.returncode == 2 and "several runs" in result.stderr, result


def first_record(place, **changes):
    """Changes the first record, and makes its checksum match."""
    first, *rest = place.journal.read_text().splitlines(keepends=True)
    record = {}
    # The order of members is fixed.
    for key, value in json.loads(first).items():
        if key == "directory" and "numbers" in changes:
            record["numbers"] = changes["numbers"]
        record[key] = changes.get(key, value)
    del record["crc"]
    body = json.dumps(record, separators=(",", ":"), ensure_ascii=False)[:-1]
    place.journal.write_text(f'{body},"crc":"{crc32c(body.encode()):08x}"}}\n' + "".join(rest))


def forged_names(weft):
    """A record that others can write to leads to no other file or directory."""
    evil = {"steps": [{"id": "a", "run": "touch $TOUCHED"}]}
    for kind in ("file", "absolute", "directory", "sha256", "stdin", "workflow.json"):
        place = Place(weft, {"steps": [{"id": "a", "run": "[ -e ok ]"}]})
        elsewhere = Place(weft, evil)
        evil["steps"][0]["run"] = f"touch {place.path}/pwned"
        elsewhere.write(evil)
        assert place.run().returncode == 1
        forged = (elsewhere.path / "w.json").read_bytes()
        changes = {"sha256": hashlib.sha256(forged).hexdigest()}
        if kind == "file":
            changes["file"] = os.path.relpath(elsewhere.path / "w.json", place.path)
        elif kind == "absolute":
            changes["file"] = str(elsewhere.path / "w.json")
        elif kind == "directory":
            changes["directory"] = str(elsewhere.path)
        elif kind == "stdin":
            changes["file"] = "<stdin>"
        if kind != "sha256":
            (place.folder / "workflow.json").write_bytes(forged)
        if kind != "workflow.json":
            first_record(place, **changes)
        result = place.resume("--accept-changes")
        code = {"sha256": 4, "workflow.json": 4}.get(kind, 2)
        assert result.returncode == code, (kind, result)
        told = {"directory": str(elsewhere.path), "stdin": "standard input", "sha256": "workflow.json",
                "workflow.json": "workflow.json"}.get(kind, "outside")
        assert told in result.stderr, (kind, result.stderr)
        assert not (place.path / "pwned").exists(), kind
        if code == 2:
            assert "--trust-record" in result.stderr, (kind, result.stderr)
            assert place.resume("--trust-record").returncode == 0 and (place.path / "pwned").exists(), kind


def moved_project(weft):
    """A run continues where its project was moved to, or where it is mounted now; done steps stay done."""
    workflow = {"steps": [{"id": "a", "run": does("a")}, {"id": "b", "run": does("b", "[ -e ok ]")}]}
    place = Place(weft, workflow)
    assert place.run().returncode == 1
    began = place.path

    def move(name):
        moved = began.with_name(f"{began.name}-{name}")
        place.path.rename(moved)
        place.path = moved

    for name in ("first", "second"):
        move(name)
        result = place.resume()
        assert result.returncode == 1 and f'continues in "{place.path}"' in result.stderr, result
    (place.path / "ok").touch()
    # Without its state directory nothing says where the project is.
    state = began.with_name(f"{began.name}-state")
    (place.path / ".weft").rename(state)
    move("third")
    for words in ([], ["--trust-record"]):
        result = place.resume("--state-dir", str(state), *words)
        assert result.returncode == 2 and "which no longer exists" in result.stderr, result
    state.rename(place.path / ".weft")
    result = place.resume()
    assert result.returncode == 0 and place.done() == {"a": 1, "b": 4}, (result, place.done())
    place.path.rename(began)
    place.path = began
    # A directory that was removed from its project has not been moved.
    (began / "deep").mkdir()
    shutil.copy(began / "w.json", began / "deep/w.json")
    (began / "ok").unlink()
    result = subprocess.run([weft, "run", "w.json"], cwd=began / "deep", capture_output=True, text=True)
    assert result.returncode == 1, result
    shutil.rmtree(began / "deep")
    result = place.resume()
    assert result.returncode == 2 and "which no longer exists" in result.stderr, result


def temporary_files(weft):
    """What killed engines have left in the directory for temporary files is removed by the next engine, and by weft reap."""
    for words in (["resume", "RUN"], ["reap", "RUN"], ["reap"]):
        place = Place(weft, {"steps": [{"id": "a", "idempotent": True, "jobserver": True, "outputs": {"n": {"type": "string"}},
                                        "run": "echo n=1 >> $WEFT_OUTPUT; echo $$ > pid; echo $MAKEFLAGS > flags; touch up;"
                                               " [ -e ok ] || sleep 1000"}]})
        # Steps are offered a FIFO if their make knows that.
        (place.path / "bin").mkdir()
        (place.path / "bin/make").write_text("#!/bin/sh\necho GNU Make 4.4\n")
        (place.path / "bin/make").chmod(0o755)
        temporary = place.path / "tmp"
        temporary.mkdir()
        (temporary / "weft-of-another").mkdir()
        environment = {**os.environ, "TMPDIR": str(temporary), "PATH": f"{place.path}/bin:{os.environ['PATH']}"}
        run = subprocess.Popen([weft, "run", "w.json"], cwd=place.path, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        place.until((place.path / "up").exists)
        if words == ["reap"]:
            # The files of a run whose engine is alive stay.
            result = subprocess.run([weft, *words], cwd=place.path, env=environment, capture_output=True, text=True)
            assert result.returncode == 0 and len(list(temporary.iterdir())) == 2, result
        run.kill()
        run.wait()
        assert "fifo:" in (place.path / "flags").read_text()
        assert len(list(temporary.iterdir())) == 2, list(temporary.iterdir())
        (place.path / "ok").touch()
        if words == ["reap"]:
            # No process is left that leads to the run.
            os.killpg(int((place.path / "pid").read_text()), signal.SIGKILL)
        arguments = [word.replace("RUN", place.folder.name) for word in words]
        result = subprocess.run([weft, *arguments], cwd=place.path, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result
        assert [path.name for path in temporary.iterdir()] == ["weft-of-another"], list(temporary.iterdir())


def elsewhere_called(weft):
    """The directory of the run is that of the call, or the one with the state directory."""
    place = Place(weft, {"steps": [{"id": "a", "run": does("a", "[ -e ok ]")}]})
    assert place.run().returncode == 1
    (place.path / "ok").touch()
    outside = tempfile.mkdtemp()
    result = subprocess.run(
        [weft, "resume", "--state-dir", str(place.path / ".weft")], cwd=outside, capture_output=True, text=True)
    assert result.returncode == 0 and place.done() == {"a": 2}, result


def former_elements(weft):
    """Elements of former lists are not said to start again."""
    place = Place(weft, {"onFailure": "continue", "steps": [
        {"id": "list", "run": "cat list"},
        {"id": "k", "forEach": {"in": "${{ steps.list.json }}", "key": "item"}, "run": "test ! -e fail-${{ item }}"},
        {"id": "g", "needs": ["list"], "forEach": {"in": "${{ steps.list.json }}", "key": "item"}, "steps": [
            {"id": "in", "forEach": [1], "run": "test ! -e fail-${{ item }}; exit 1"}]}]})
    for names in (["a", "b"], ["a", "c"]):
        (place.path / "list").write_text(json.dumps(names))
        for name in names:
            (place.path / f"fail-{name}").touch()
        place.resume("--from", "list") if list((place.path).glob(".weft")) else place.run()
        (offered,) = [line for line in place.call("show").stdout.splitlines() if line.startswith("next:")]
        assert all(f'"k[{name}]"' in offered and f'"g[{name}].in[0]"' in offered for name in names), offered
        assert ("[b]" in offered) == ("b" in names), offered


def failures_at_the_start(weft):
    """A group, loop or file whose condition, inputs or list cannot be computed has failed, in each resumed run, too."""
    wrong = "fromJSON(steps.v.stdout)"
    own = {"if": wrong}
    each = {"if": "item && " + wrong, "forEach": ["a", "b"]}
    cases = {
        "a group": {**own, "steps": ["echo in", {"steps": ["echo in"]}]},
        "a race": {**own, "race": ["echo in", "echo in"]},
        "a retried group": {**own, "steps": ["echo in"], "retry": {"max": 1, "delay": "1ms"}},
        "a file": {**own, "workflow": "n.json"},
        "a loop": {**own, "forEach": ["a"], "run": "echo in"},
        "a loop of groups": {**own, "matrix": {"a": [1]}, "steps": ["echo in"]},
        "an element": {**each, "steps": ["echo in"]},
        "an element, retried": {**each, "steps": ["echo in"], "retry": {"max": 1, "delay": "1ms"}},
        "an element, a file": {**each, "workflow": "n.json"},
        "inputs": {"workflow": "n.json", "with": {"n": "${{ " + wrong + " }}"}},
        "a list": {"forEach": "${{ " + wrong + " }}", "run": "echo in"},
    }
    for name, group in cases.items():
        for tolerant in (False, True):
            body = {"id": "g", **group}
            if tolerant:
                body = {"id": "around", "allowFailure": True, "steps": [body]}
            place = Place(weft, {"onFailure": "continue", "steps": [
                {"id": "v", "run": "echo x"}, body,
                {"id": "failed", "if": "failure()", "run": "echo failed"},
                {"id": "z", "if": "always()", "run": "test -e good"}]})
            place.write({"inputs": {"n": {"type": "integer", "default": 1}}, "steps": ["echo in"]}, "n.json")
            for attempt in (place.run, place.resume, place.resume):
                done = attempt()
                shown = (name, tolerant, done.stdout)
                assert done.returncode == 1 and "] in" not in done.stdout, shown
                assert "cannot be computed: fromJSON() is given" in done.stdout, shown
            assert ("[failed] failed" in place.call("logs").stdout) != tolerant, (name, tolerant)
            if tolerant:
                assert "not started yet" not in place.call("show").stdout, (name, place.call("show").stdout)
            (place.path / "good").touch()
            done = place.resume()
            assert done.returncode == (0 if tolerant else 1), (name, tolerant, done.stdout)
            assert "] in" not in done.stdout, (name, tolerant, done.stdout)


def unfit_numbers(weft):
    """A journal whose numbers of steps do not fit the workflow is refused, and its plan is not shown."""
    for numbers, of in ([2], ""), ([2, 0], ""), ([2, 3, 1], ""), ([2, 1], "g"):
        place = Place(weft, {"steps": [does("a"), does("b", "[ -e ok ]")]})
        assert place.run().returncode == 1
        first_record(place, numbers=[{"of": of, "numbers": numbers}])
        assert place.call("show").returncode == 0
        result = place.resume()
        assert result.returncode == 4 and "the numbers of its steps" in result.stderr, (numbers, result)
        assert place.done() == {"a": 1, "b": 1}, place.done()
    first_record(place, numbers=[{"of": "", "numbers": [2, 1]}])
    result = place.resume()
    assert result.returncode == 0 and "[2] started: echo a" in result.stdout, result


def incomplete(weft):
    """A record without the workflow file, or with a different one, is reported by its name."""
    place = Place(weft, {"steps": [{"id": "a", "run": "[ -e ok ]"}]})
    assert place.run().returncode == 1
    kept = place.folder / "workflow.json"
    bytes_ = kept.read_bytes()
    kept.write_bytes(bytes_[:-3])
    result = place.resume()
    assert result.returncode == 4 and str(kept.name) in result.stderr and "damaged" in result.stderr, result
    kept.unlink()
    result = place.resume()
    assert result.returncode == 4 and "has no workflow.json" in result.stderr, result
    place.journal.write_bytes(place.journal.read_bytes().replace(b"\n", b"\r\n"))
    for words in (["resume"], ["show"]):
        result = place.call(*words)
        assert result.returncode == 4 and "journal.jsonl:1:0" in result.stderr, result


def foreign(weft):
    """The record of a different user is not resumed, not even by root."""
    if os.geteuid() != 0:
        return "not here: only root can give files away"
    for name in (".weft", ".weft/runs", "RUN", "RUN/journal.jsonl", "RUN/workflow.json", "RUN/lock"):
        place = Place(weft, {"steps": [{"id": "a", "run": does("a", "[ -e ok ]")}]})
        assert place.run().returncode == 1
        path = place.path / name.replace("RUN", str(place.folder))
        os.chown(path, 65534, 65534)
        result = place.resume()
        assert result.returncode != 0 and "belongs to another user" in result.stderr, (name, result)
        assert place.done() == {"a": 1}, name


def report_again(weft):
    place = Place(weft, LADDER)
    assert place.run().returncode == 0
    report = place.folder / "report.json"
    whole = json.loads(report.read_text())
    for damaged in (None, b"", report.read_bytes()[:100], b"[]\n"):
        report.unlink()
        if damaged is not None:
            report.write_bytes(damaged)
        result = place.resume()
        assert result.returncode == 0 and "the report of run" in result.stderr, result
        again = json.loads(report.read_text())
        for one in (whole, again):
            for key in ("at", "startedAt"):
                del one[key]
            for step in one["states"]:
                step.pop("atUs", None)
        assert again == whole, (again, whole)
        whole = json.loads(report.read_text())
    assert "the report" not in place.resume().stderr


def logs_of_others(weft):
    """The log of a step that is not started again is read as before; a missing one is reported."""
    place = Place(weft, {"steps": [
        {"id": "gen", "run": "test -e again && echo two || { echo one; touch again; exit 1; }",
         "retry": {"max": 1, "delay": "1ms"}},
        {"id": "use", "run": "cat > read; test -e ok", "stdin": {"log": "gen"}}]})
    read = place.path / "read"
    assert place.run().returncode == 1 and read.read_text() == "two\n"
    for _ in range(2):
        read.unlink()
        assert place.resume().returncode == 1 and read.read_text() == "two\n", read.read_text()
    (log,) = (place.folder / "logs").glob("gen*")
    log.write_text("t")
    result = place.resume()
    assert result.returncode == 1 and "7 of its 8 bytes are missing" in result.stdout + result.stderr, result
    log.unlink()
    result = place.resume()
    assert result.returncode == 1 and '"gen"' in result.stderr + result.stdout, result
    assert "no such file" in result.stderr + result.stdout, result


@contextlib.contextmanager
def small_disk(place, options):
    """A file system in memory at "small"; why there is none, where none can be mounted."""
    small = place.path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(small)], capture_output=True, text=True)
    try:
        yield "not here: " + mounted.stderr.strip() if mounted.returncode != 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "-l", str(small)], check=True)


def no_inodes(weft):
    place = Place(weft, {"steps": [
        {"id": f"s{i}", "run": f"echo said {i}; echo s{i} >> done"} for i in range(19)]})
    small = place.path / "small"
    with small_disk(place, "nr_inodes=16") as missing:
        if missing:
            return missing
        result = place.run("--state-dir", "small/state")
        told = result.stderr + result.stdout
        assert "the output of steps could not be stored: no space left on device" in told, result
        logs = {p.name for p in (small / "state").rglob("*.log")}
        assert 0 < len(logs) < 19, logs
        # Logs that could not be kept are named step by step, up to ten.
        lost = [n for n in range(19) if f"s{n}.log" not in logs]
        named = re.search(r"could not be stored: [^\n]*", told)[0]
        assert f'"s{lost[0]}"' in named, (lost, named)
        if len(lost) > 10:
            assert f"and {len(lost) - 10} more" in named, (lost, named)
        assert set(place.done().values()) == {1} and len(place.done()) == 19, place.done()
        return f"{len(lost)} of 19 logs were lost"


def full_disk(weft):
    place = Place(weft, {"steps": [
        {"id": "a", "run": does("a")}, {"id": "fill", "run": does("fill", "[ -e full ] || cat /dev/zero > small/filler || : > full")},
        *({"id": f"s{i}", "run": does(f"s{i}")} for i in range(40))]})
    small = place.path / "small"
    with small_disk(place, "size=256k") as missing:
        if missing:
            return missing
        result = place.run("--state-dir", "small/state")
        assert result.returncode == 4 and "needs" in result.stderr and "free some space" in result.stderr, result
        before = place.done()
        assert before["a"] == before["fill"] == 1 and before["s39"] == 0, before
        (small / "filler").unlink()
        result = place.resume("--state-dir", "small/state")
        assert result.returncode == 0, result
        assert len(place.done()) == 42 and set(place.done().values()) == {1}, place.done()
        return f"{42 - len(before)} of 42 steps were left"


def cancelled_while_suspended(weft):
    """What had started in a suspended run looks at a cancellation as in a live one: always(), cancelled() and finally of files"""
    part = {"steps": [{"id": "a", "run": does("a"), "cleanup": does("undo")}, {"id": "ok", "approve": "go?"},
                      {"id": "c", "if": "cancelled()", "run": does("c")}], "finally": [does("f")]}
    forms = {
        "file": {"workflow": "part.json"},
        "files": {"forEach": ["x", "y"], "workflow": "part.json"},
        "group": {"steps": part["steps"][:-1] + [{"id": "c", "if": "always()", "run": does("c")}]},
        "groups": {"forEach": {"in": ["x", "y"], "maxParallel": 1}, "steps": part["steps"]},
        "condition": {"if": "!cancelled()", "workflow": "part.json"},
        "element condition": {"forEach": ["x"], "if": "item == 'x' && success()", "workflow": "part.json"},
        "retried": {"retry": 2, "steps": part["steps"]},
        "parallel": {"parallel": part["steps"]},
        "race": {"race": [{"steps": part["steps"]}, {"steps": [{"id": "ok2", "approve": "go?"}]}]},
        "never started": {"needs": ["w"], "workflow": "part.json"},
    }
    for name, form in forms.items():
        steps = [{"id": "w", "approve": "wait?"}] if "needs" in form else []
        place = Place(weft, {"parallel": [*steps, {"id": "g", **form}], "finally": [does("end")]})
        (place.path / "part.json").write_text(json.dumps(part))
        assert place.run("--no-prompt").returncode == 75, name
        count = {"files": 2, "never started": 0}.get(name, 1)
        started = {"a": count} if count else {}
        assert place.done() == started, (name, place.done())
        assert place.call("cancel").returncode == 0
        expected = dict(started, end=1)
        if count:
            expected |= {"c": count, "undo": count}
            if "file" in name or "condition" in name:
                expected["f"] = count
        result = place.resume()
        assert result.returncode == 130 and place.done() == expected, (name, place.done(), result)


def started_in_what_is_skipped_now(weft):
    """A loop that had started is skipped with the group around it whose condition is false now"""
    for condition in "item != ''", "always() && item != ''":
        place = Place(weft, {"steps": [{"id": "g", "if": "hashFiles('no') == ''", "steps": [
            {"id": "l", "forEach": ["x", "y"], "if": condition, "steps": [
                {"id": "a", "run": does("a", "sleep 60"), "idempotent": True}]}]}]})
        engine = place.start("run", "w.json")
        place.until(lambda: place.done()["a"] == 2)
        engine.kill()
        engine.wait()
        (place.path / "no").write_text("1")
        result = place.resume()
        assert result.returncode == 0 and "[l] started" not in result.stdout + result.stderr, (condition, result)
        assert place.done() == {"a": 2}, place.done()


def long_values_on_a_full_disk(weft):
    """J08: a step whose values have no room on a full disk is done nevertheless"""
    place = Place(weft, {"steps": [
        {"id": "fill", "run": "[ -e ok ] || cat /dev/zero > small/filler || : > full"},
        {"id": "b", "run": does("b", "seq 1 40000"), "outputs": {"n": "${{ length(self.stdout) }}"}},
        {"id": "c", "run": does("c", "test ${{ steps.b.outputs.n }} = 228893"), "env": {"B": "${{ steps.b.outputs.n }}"}}]})
    small = place.path / "small"
    with small_disk(place, "size=512k") as missing:
        if missing:
            return missing
        result = place.run("--state-dir", "small/state")
        assert result.returncode == 4 and "[b] succeeded" in result.stderr + result.stdout, result
        assert place.done() == {"b": 1}, place.done()
        (small / "filler").unlink()
        for _ in range(2):
            result = place.resume("--state-dir", "small/state")
            assert result.returncode == 0, result
            assert place.done() == {"b": 1, "c": 1}, place.done()


CASES = [
    ("J01: killed after any record, nothing recorded is done again", every_record),
    ("J02: cut at any byte of the last record, it goes on", every_byte),
    ("J08: on a full disk nothing new starts, and what has ended is not done again when there is room", full_disk),
    ("J12: a run that is alive is left alone, and who has it is told", alive),
    ("J13 J14: what a killed engine has left is ended first, and nothing is there to unlock", survivor),
    ("what takes more than a second to end is named meanwhile", slow_survivor),
    ("J17: a POST that was cut off is sent again only when somebody says so", in_doubt),
    ("J17: or counts as done when somebody says so", in_doubt_and_skipped),
    ("H27: a POST whose connection broke is sent again only when somebody says so", reset),
    ("H27: but tolerated ones are done, and repeatable ones are sent again", reset_harmlessly),
    ("H27: a POST that was cancelled is in doubt", cancelled_while_sent),
    ("H27: and so is a request that is declared not to be idempotent", declared),
    ("J18: one with a key is sent again once, with the same key", in_doubt_with_key),
    ("what a request was answered is recorded, and read by those who are still to be done", answered),
    ("a long answer is not, and its request is in doubt if somebody reads it", answered_too_much),
    ("J21: nor is one that has a secret in it; an idempotent step is done again", answered_with_a_secret),
    ("J19: a changed file is told step by step, and what is the same stands", changed_file),
    ("J19: a changed nested file is told step by step, too", changed_nested_file),
    ("J20: steps that are gone or new are told as such", renamed_step),
    members_of_done_groups, rerun_of_former_elements, started_in_what_is_skipped_now, long_values_on_a_full_disk, cancelled_while_suspended, described_step, reformatted, rerun_in_a_file, cleaned_up_loser, counts_of_a_suspended_run, elements_that_have_begun,
    ("J26: a run that has succeeded is left as it is", finished),
    ("J27: files of steps that are done must be as they were, where somebody is to use them", made_files),
    ("J27: one who says so goes on with what is there", accepted_files),
    ("J27: what nobody uses any more may be gone", used_files),
    ("what is named is done again", again),
    ("X05 X31: keys that look like addresses are told apart, and hidden characters refused", hostile_keys),
    ("what was cleaned up is done again for those who need it", cleaned),
    killed_cleanup,
    not_in_doubt, doubtful_loser, decided_later, list_gone_wrong, suspended_in_an_attempt,
    skipped_after_doubt,
    ("what cannot be gone on with is told, and nothing is touched", refusals),
    ("J21: secrets are recorded nowhere, and given anew", secret_input),
    secret_output, chain_of_secrets,
    ("X19: a record leads to no file and no directory that nobody has confirmed", forged_names),
    ("X19: the directory of the run is that of the command, or that of the state directory", elsewhere_called),
    moved_project, temporary_files,
    ("X19: the record of another user is refused, by root too", foreign),
    ("X24: a report that is missing or damaged is written again", report_again),
    ("X53: without inodes the steps are named whose logs are lost", no_inodes),
    ("the log of a step that is done is read by those who are still to be done", logs_of_others),
    ("X46, X48: a record without its workflow file, or its first record, is told of by the file's name", incomplete),
    unfit_numbers, failures_at_the_start, former_elements, file_skipped_at_resume,
]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, CASES))
