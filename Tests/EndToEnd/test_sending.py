#!/usr/bin/env python3
"""Sends requests with the built program to a small server, and looks at files, events and what the process maps.

usage: test_sending.py PATH_TO_WEFT
"""

import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from lib import cases, server
from lib.request import Ended, request
from lib.workplace import LIMIT, wait_until


folders = []


def run(weft, workflow, *arguments, **variables):
    """Runs a workflow, in whose texts `SERVER` is the server, in a folder of its own."""
    api = server.start()
    address = f"http://127.0.0.1:{api.server_address[1]}"
    folders.append(tempfile.TemporaryDirectory(prefix="weft-test-"))
    folder = folders[-1].name
    text = json.dumps(workflow).replace("SERVER", address)
    pathlib.Path(folder, "workflow.json").write_text(text)
    result = subprocess.run(
        [weft, "run", "workflow.json", "--events", "events", *arguments], cwd=folder, timeout=LIMIT,
        env={"PATH": os.environ["PATH"], **variables}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    api.shutdown()
    return Ended(folder, result.returncode, result.stdout.decode())


def asked(ended):
    """The requests that the server received."""
    return ended.finish("a")["outputs"]["asked"]


def echoing(**http):
    return {"steps": [request(**http) | {"outputs": {"asked": "${{ self.json }}"}}]}


def values_arrive_as_they_are(weft):
    """H23: whatever a value contains, it arrives in the place where it was written"""
    nasty = "a/../b?c=d&e#f%20\"'\\ ;\t<é>🔑+"
    # Servers resolve ".." in a path also if it is encoded, so it is refused there.
    part = nasty.replace("/../", "/.../")
    ended = run(weft, {
        "inputs": {"x": {"type": "string"}, "part": {"type": "string"}},
        "steps": [
            request(url="SERVER/echo/${{ inputs.part }}/end?q=${{ inputs.x }}", query={"r": "${{ inputs.x }}"},
                    json={"k": "${{ inputs.x }}", "t": "<${{ inputs.x }}>"})
            | {"outputs": {"asked": "${{ self.json }}"}}]}, "-i", f"x={nasty}", "-i", f"part={part}")
    assert ended.code == 0, ended.output
    got = asked(ended)
    from urllib.parse import parse_qs, unquote, urlsplit
    url = urlsplit(got["path"])
    assert [unquote(segment) for segment in url.path.split("/")] == ["", "echo", part, "end"], got["path"]
    assert parse_qs(url.query) == {"q": [nasty], "r": [nasty]}, got["path"]
    body = json.loads(got["body"].encode("latin-1"))
    assert body == {"k": nasty, "t": f"<{nasty}>"}, body


def every_body_arrives(weft):
    """every form of body arrives unchanged"""
    forms = [
        ({"form": {"a": "b c", "d": ["1", "2"]}}, "application/x-www-form-urlencoded", "a=b+c&d=1&d=2"),
        ({"body": "plain é"}, "text/plain; charset=utf-8", "plain é".encode().decode("latin-1")),
        ({"bodyFile": "workflow.json", "headers": {"Content-Type": "a/b"}}, "a/b", None),
        ({"multipart": {"t": "x", "f": {"file": "workflow.json", "contentType": "a/b"}}}, "multipart/form-data; boundary=", None),
    ]
    for keys, kind, body in forms:
        ended = run(weft, echoing(url="SERVER/echo", **keys))
        assert ended.code == 0, ended.output
        got = asked(ended)
        assert got["method"] == "POST" and got["headers"]["content-type"].startswith(kind), got
        if body is None:
            assert ended.file("workflow.json").decode() in got["body"], got
        else:
            assert got["body"] == body, got


def secrets_are_sent_and_never_shown(weft):
    """H30: secrets reach the server, and nothing that weft writes"""
    secret = "s3cret/Key+0815"
    ended = run(weft, {
        "secrets": {"KEY": {"env": "KEY"}},
        "steps": [
            request(url="SERVER/echo", query={"k": "${{ secrets.KEY }}"}, headers={"X-Key": "${{ secrets.KEY }}"},
                    auth={"basic": {"user": "me", "password": "${{ secrets.KEY }}"}},
                    json={"k": "${{ secrets.KEY }}"}, expect={"status": 500})
            | {"allowFailure": True},
            {"id": "b", "http": {"url": "SERVER/requests"}, "outputs": {"counts": "${{ self.body }}"}},
            {"id": "c", "http": {"url": "http://me:literal-password@127.0.0.1:9/"}, "allowFailure": True}]},
        KEY=secret)
    assert ended.code == 0, ended.output
    told = ended.output + ended.file("events").decode()
    for form in (secret, "s3cret%2FKey%2B0815", base64.b64encode(f"me:{secret}".encode()).decode()):
        assert form not in told, f"{form} in {told}"
    # Nor does the content of the file, though its line is shown.
    assert "literal-password" not in told, told
    assert "http://*******************@127.0.0.1:9/" in ended.output, ended.output
    assert "W0514" in told, told
    assert ended.finish("a")["failure"]["classes"][0] == "http:200", told


def downloads_go_on(weft):
    """H34: an interrupted download continues where it was, and nothing is left beside it"""
    ended = run(weft, {"steps": [
        request(url="SERVER/torn", saveTo="data") | {"retry": {"max": 1, "delay": "1ms"}}]})
    assert ended.code == 0, ended.output
    assert ended.file("data") == server.content
    finish = ended.finish("a")
    assert finish["http"]["status"] == 206 and finish["http"]["bytesReceived"] == 200_000, finish
    assert sorted(os.listdir(ended.folder)) == [".weft", "data", "events", "workflow.json"]


def a_broken_download_leaves_nothing(weft):
    """a download that is not retried leaves the old file, and nothing beside it"""
    ended = run(weft, {"steps": [
        {"run": "echo old >data"},
        request(url="SERVER/torn", saveTo="data")]})
    assert ended.code == 1, ended.output
    assert ended.file("data") == b"old\n"
    left = sorted(os.listdir(ended.folder))
    assert left == [".weft", "data", "events", "workflow.json"], left
    assert ended.finish("a")["failure"]["classes"] == ["network:read", "network"], ended.output


def a_failure_says_what_the_server_says(weft):
    """a failure is reported with the status, its meaning, and the server's text"""
    ended = run(weft, {"steps": [request(url="SERVER/status/404")]})
    assert ended.code == 1
    assert "returned 404 Not Found" in ended.output, ended.output
    assert '| {"error": "this is 404"}' in ended.output, ended.output
    assert ended.finish("a")["failure"]["classes"] == ["http:404", "http:4xx", "http"]


def redirects_keep_credentials(weft):
    """H03: credentials do not follow to a different origin"""
    other = server.start()
    target = f"http://127.0.0.1:{other.server_address[1]}/echo"
    ended = run(weft, echoing(url="SERVER/moved", query={"to": target}, auth={"bearer": "token-0815"}))
    other.shutdown()
    assert ended.code == 0, ended.output
    assert "authorization" not in asked(ended)["headers"], asked(ended)
    assert ended.finish("a")["http"]["redirects"] == 1, ended.events


def answers_are_kept_for_later_runs(weft):
    """H40: a later run uses responses in a folder: fresh, revalidated, and stale if the server is gone"""
    folders.append(tempfile.TemporaryDirectory(prefix="weft-test-"))
    cache = folders[-1].name + "/kept"
    api = server.start()
    url = f"http://127.0.0.1:{api.server_address[1]}/cached"

    def told(**keys):
        ended = run(weft, {"steps": [request(url=url, cache=cache, **keys) | {
            "outputs": {"x": "${{ self.stale }} ${{ self.body }}"}}]})
        finish = ended.finish("a")
        return finish["http"].get("cache"), finish.get("outputs", {}).get("x"), ended.output

    assert told(query={"age": "600"})[:2] == ("miss", "false content")
    assert told(query={"age": "600"})[:2] == ("hit", "false content")
    assert told()[:2] == ("miss", "false content")
    assert told()[:2] == ("revalidated", "false content")
    api.shutdown()
    api.server_close()
    status, value, output = told(staleOnError=True)
    assert (status, value) == ("stale", "true content"), output
    assert "a stale response from the cache: cannot connect to" in output, output
    assert told()[1] is None
    assert os.stat(cache + "/http-1").st_mode & 0o777 == 0o700


def kept_answers_hold_no_secret(weft):
    """a response that contains a secret is not stored in a folder, neither its body nor its headers"""
    def kept(address):
        ended = run(weft, {"secrets": {"KEY": {"env": "SRC"}}, "steps": [
            {"id": "a", "http": {"url": f"SERVER/{address}", "headers": {"X-Key": "${{ secrets.KEY }}"}, "cache": "kept"}}]},
            SRC="Cached/Secret+123456")
        assert ended.code == 0, ended.output
        files = [file for file in pathlib.Path(ended.folder, "kept").rglob("*") if file.is_file() and file.name != "secret"]
        assert not any(b"Secret" in file.read_bytes() for file in files), files
        return files

    assert kept("mirrored") == [], "a response with a secret is stored"
    assert len(kept("cached?age=600")) == 1


def cancelled_at_once(weft):
    """H24: ^C ends a request without a response, and the run says so"""
    api = server.start()
    folders.append(tempfile.TemporaryDirectory(prefix="weft-test-"))
    folder = folders[-1].name
    pathlib.Path(folder, "workflow.json").write_text(json.dumps(
        {"steps": [request(url=f"http://127.0.0.1:{api.server_address[1]}/slow")]}))
    process = subprocess.Popen([weft, "run", "workflow.json", "--events", "events"], cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wait_until(lambda: api.RequestHandlerClass.counts["/slow"] > 0, "the request")
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=LIMIT)[0].decode()
    ended = Ended(folder, process.returncode, output)
    assert ended.code == 130, (ended.code, output)
    finish = ended.finish("a")
    assert finish["outcome"] == "cancelled" and finish["durationUs"] < 4_000_000, finish


def libcurl_is_opened_by_requests_alone(weft):
    """a workflow without a request never opens libcurl; one with a request does"""
    look = {"id": "look", "run": "grep -c libcurl /proc/$PPID/maps || true", "outputs": {"n": "${{ self.stdout }}"}}
    without = run(weft, {"steps": [look]})
    assert without.finish("look")["outputs"]["n"] == "0", without.events
    checked = subprocess.run(["strace", "-f", "-e", "trace=openat", weft, "check", "workflow.json"],
                             cwd=without.folder, capture_output=True, timeout=LIMIT)
    assert b"libcurl" not in checked.stderr, checked.stderr
    with_one = run(weft, {"steps": [request(url="SERVER/echo"), look]})
    assert with_one.finish("look")["outputs"]["n"] != "0", with_one.events


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        values_arrive_as_they_are, every_body_arrives, secrets_are_sent_and_never_shown, downloads_go_on,
        a_broken_download_leaves_nothing, a_failure_says_what_the_server_says, redirects_keep_credentials,
        answers_are_kept_for_later_runs, kept_answers_hold_no_secret,
        cancelled_at_once, libcurl_is_opened_by_requests_alone]))
