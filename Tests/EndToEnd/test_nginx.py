#!/usr/bin/env python3
"""Sends requests with the built program to nginx: over TLS, by HTTP/2, through a proxy.

usage: test_nginx.py PATH_TO_WEFT

Needs nginx, tinyproxy and openssl, which run in a folder of their own on free ports.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from lib import cases, web
from lib.request import Ended, request
from lib.session import Run

LIMIT = 60  # seconds, against hanging only
SITE = None
PROXY = f"http://{web.PROXY_USER}:{web.PROXY_PASSWORD}@127.0.0.1:"


def address(server, path="/echo"):
    scheme = "http" if server == "plain" else "https"
    return f"{scheme}://localhost:{SITE.ports[server]}{path}"


def file(name):
    return str(SITE.folder / name)


def asks(id, server="tls", path="/echo", **http):
    """A step with a request to nginx that trusts the authority that signed for it."""
    keys = http if server == "plain" else {"tls": {"caFile": file("ca.pem")}, **http}
    return {"id": id, "http": {"url": address(server, path), **keys}}


def keeping(step, **outputs):
    return step | {"outputs": outputs or {"echo": "${{ self.json }}"}}


places = []


def run(weft, steps, *arguments, environment=None, **workflow):
    places.append(tempfile.TemporaryDirectory(prefix="weft-test-"))
    folder = places[-1].name
    pathlib.Path(folder, "workflow.json").write_text(json.dumps({"steps": steps, **workflow}))
    process = subprocess.Popen(
        [weft, "run", "workflow.json", "--events", "events", *arguments], cwd=folder, stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.communicate(timeout=LIMIT)[0]
    return Ended(folder, process.returncode, output.decode())


def echo(ended, step="a"):
    return ended.finish(step)["outputs"]["echo"]


def failure(ended, step="a"):
    return ended.finish(step)["failure"]


def told(ended):
    """Everything that the run has written anywhere."""
    files = [path for path in pathlib.Path(ended.folder).rglob("*")
             if path.is_file() and path.name != "workflow.json"]
    return ended.output + "".join(path.read_bytes().decode(errors="replace") for path in files)


# TLS

def trusts_who_is_named(weft):
    ended = run(weft, [keeping(asks("a"))])
    assert ended.code == 0, ended.output
    assert echo(ended)["protocol"] == "HTTP/2.0" and echo(ended)["tls"] == "TLSv1.3", echo(ended)
    http = ended.finish("a")["http"]
    assert http["protocol"] == "HTTP/2" and http["port"] == SITE.ports["tls"], http
    assert http["dnsUs"] <= http["connectUs"] < http["tlsUs"] < http["firstByteUs"] <= http["totalUs"], http


REFUSED = [
    ("tls", {"tls": {}}, "is from an unknown authority", True),
    ("expired", {}, "has expired", False),
    ("other", {}, "is for another host", False),
    ("own", {}, "is self-signed", True),
]


def tells_what_is_wrong_with_certificates(weft):
    for server, keys, sentence, has_help in REFUSED:
        ended = run(weft, [asks("a", server, **keys) | {"retry": {"max": 2, "delay": "1ms"}}])
        assert ended.code == 1, ended.output
        assert f"the server's certificate {sentence}" in failure(ended)["message"], failure(ended)
        assert failure(ended)["classes"] == ["network:tls", "network"], failure(ended)
        assert ("to trust the authority, name its PEM file" in ended.output) == has_help, ended.output
        assert ended.finish("a")["attempts"] == 1, "it was tried again"


def tells_a_server_without_tls(weft):
    ended = run(weft, [{"id": "a", "http": {"url": address("plain").replace("http:", "https:")}}])
    assert "TLS handshake failed" in failure(ended)["message"], failure(ended)
    assert failure(ended)["classes"][0] == "network:tls", failure(ended)


def tells_which_file_is_not_there(weft):
    ended = run(weft, [asks("a", tls={"caFile": "no.pem"})])
    assert failure(ended)["message"].startswith(
        'a file for TLS cannot be used: "no.pem": no such file or directory'), failure(ended)
    assert "no.pem" in failure(ended)["message"], failure(ended)


def shows_who_it_is(weft):
    known = {"caFile": file("ca.pem"), "certFile": file("client.pem"), "keyFile": file("client.key")}
    ended = run(weft, [keeping(asks("a", "knows", tls=known)),
                       asks("b", "knows") | {"allowFailure": True}])
    assert ended.code == 0, ended.output
    assert echo(ended)["client"] == "CN=a-client", echo(ended)
    assert failure(ended, "b")["classes"][0] == "http:400", failure(ended, "b")
    assert "No required SSL certificate was sent" in ended.output, ended.output


def does_not_ask_for_a_password(weft):
    for key, found in (("locked", b"the key of the client's certificate is encrypted"),
                       ("locked-ec", b"the key of the client's certificate is encrypted"),
                       ("fifo", b"is not a regular file")):
        path = file(f"{key}.key")
        if key == "fifo":
            os.mkfifo(path)
        shown = {"caFile": file("ca.pem"), "certFile": file("client.pem"), "keyFile": path}
        # A request runs beside it, which must not be delayed.
        at = Run(weft, {"steps": [{"parallel": [
            asks("a", "knows", tls=shown), keeping(asks("b"), method="${{ self.json.method }}")]}]},
            ["-k", "--events", "events"])
        try:
            assert at.status() == 1, at.output
            assert found in at.output and b"pass phrase" not in at.output, at.output
            ends = {event["step"]: event for event in at.events() if event["type"] == "step.finished"}
            assert ends["a"]["failure"]["classes"] == ["network:tls", "network"], ends["a"]
            assert ends["b"]["outcome"] == "success", ends["b"]
        finally:
            at.close()


CANARY = "canary-in-a-body-0815"


def tells_another_origin_no_more_than_it_may(weft):
    shown = {"caFile": file("ca.pem"), "certFile": file("client.pem"), "keyFile": file("client.key")}
    secret = {"tls": shown, "auth": {"bearer": "${{ secrets.T }}"}, "idempotencyKey": True}
    body = {"json": {"token": "${{ secrets.T }}"}}
    link = {"pages": {"next": "link"}}
    before = len(SITE.met())
    ended = run(weft, [
        keeping(asks("redirect", "knows", "/to-meets", **secret)),
        keeping(asks("page", "knows", "/first-page", **secret, **link), echo="${{ self.json[0] }}"),
        keeping(asks("named", "knows", "/first-page", **secret, method="POST",
                     pages={"next": "link", "origins": [f"https://localhost:{SITE.ports['meets']}"]}),
                echo="${{ self.json[0] }}")],
        secrets={"T": {"env": "T"}}, environment={"T": CANARY})
    assert ended.code == 0, ended.output
    for step, method in (("redirect", "GET"), ("page", "GET"), ("named", "POST")):
        seen = echo(ended, step)
        assert (seen["method"], seen["client"], seen["token"], seen["key"]) == (method, "", "", ""), (step, seen)
    assert len(SITE.met()) == before + 3, SITE.met()
    refused = {
        "a": asks("a", "knows", "/again-at-meets", **secret, **body),
        "b": asks("b", "knows", "/again-at-meets", **secret, method="DELETE"),
        "c": asks("c", "knows", "/first-page", **secret, **link, **body),
        "d": asks("d", "knows", "/first-page", **secret, **link, method="POST"),
    }
    ended = run(weft, [{"parallel": [step | {"allowFailure": True} for step in refused.values()]}],
                secrets={"T": {"env": "T"}}, environment={"T": CANARY})
    for name in refused:
        assert failure(ended, name)["classes"] == ["redirect"], failure(ended, name)
        assert "a different origin" in failure(ended, name)["message"], failure(ended, name)
    assert len(SITE.met()) == before + 3, SITE.met()
    assert CANARY not in told(ended), told(ended)


# Connections

def steps(count, *arguments, **keys):
    """This number of steps, which run one after another unless they are put side by side."""
    return [keeping(asks(f"s{i}", *arguments, **keys)) for i in range(count)]


def connections(ended):
    finishes = [e for e in ended.events if e["type"] == "step.finished"]
    return [e["outputs"]["echo"]["connection"] for e in finishes]


def keeps_one_connection(weft):
    for server, version in (("plain", "HTTP/1.1"), ("tls11", "HTTP/1.1"), ("tls", "HTTP/2")):
        ended = run(weft, steps(12, server))
        assert ended.code == 0, ended.output
        assert len(set(connections(ended))) == 1, (server, connections(ended))
        assert ended.finish("s11")["http"]["protocol"] == version, ended.finish("s11")


def at_once(weft, server, count=8):
    """The connections of as many slow responses as there are steps."""
    slow = [step | {"outputs": {"echo": "${{ self.headers }}"}} for step in steps(count, server, "/slow/hello.txt")]
    ended = run(weft, [{"parallel": slow}], "-j", str(count))
    assert ended.code == 0, ended.output
    return [ended.finish(f"s{i}")["outputs"]["echo"]["connection-number"] for i in range(count)]


def shares_one_connection(weft):
    assert len(set(at_once(weft, "tls"))) == 1


def asks_a_server_without_http2_at_once(weft):
    for server in ("plain", "tls11"):
        used = at_once(weft, server)
        assert len(set(used)) == len(used), used


def does_without_a_connection_that_broke(weft):
    way = web.Cutter(SITE.ports["tls"], 0)
    again = {"retry": {"max": 1, "delay": "1ms"}}
    many = [step | again for step in steps(16)]
    for step in many:
        step["http"]["url"] = f"https://localhost:{way.port}/echo"
    ended = run(weft, [{"parallel": many}], "-j", "8")
    assert ended.code == 0, ended.output
    waits = [e for e in ended.events if e["type"] == "step.retrying"]
    assert [e["failure"]["classes"][0] for e in waits] == ["network:reset"], waits


def goes_on_when_a_connection_is_given_up(weft):
    for method in ("GET", "POST", "PUT"):
        body = {} if method == "GET" else {"method": method, "json": {"x": 1}}
        ended = run(weft, steps(16, "weary", **body))
        assert ended.code == 0, ended.output
        assert 3 <= len(set(connections(ended))) <= 4, connections(ended)
        ended = run(weft, [{"parallel": steps(40, "weary", **body)}], "-j", "8")
        assert ended.code == 0, ended.output


# Bodies

def unpacks(weft):
    ended = run(weft, [keeping(asks("a", "plain", "/packed/hello.txt"), text="${{ self.body }}",
                               how="${{ self.headers['content-encoding'] }}")])
    assert ended.code == 0, ended.output
    finish = ended.finish("a")
    assert finish["outputs"] == {"text": "hello from nginx\n" * 1000, "how": "gzip"}, finish["outputs"]["how"]
    assert finish["http"]["bytesReceived"] < 2000, finish["http"]


def goes_on_with_a_download(weft):
    way = web.Cutter(SITE.ports["plain"], 400_000)
    ended = run(weft, [request(url=f"http://127.0.0.1:{way.port}/data", saveTo="data")
                       | {"retry": {"max": 1, "delay": "1ms"}}])
    assert ended.code == 0, ended.output
    assert ended.file("data") == web.content
    http = ended.finish("a")["http"]
    assert http["status"] == 206 and 600_000 <= http["bytesReceived"] < 601_000, http


def saves_much_in_little_memory(weft):
    # Read by the program's own shell, which sees the peak of the engine above it.
    peak = {"id": "peak", "run": "grep VmHWM /proc/$PPID/status", "outputs": {
        "line": "${{ self.stdout }}"}}
    for server in ("plain", "tls"):
        ended = run(weft, [asks("a", server, "/big", saveTo="big"), peak])
        assert ended.code == 0, ended.output
        assert os.path.getsize(ended.folder + "/big") == web.BIG
        os.unlink(ended.folder + "/big")
        kilobytes = int(ended.finish("peak")["outputs"]["line"].split()[1])
        assert kilobytes < 64 << 10, f"{kilobytes} kB"
    return f"{web.BIG >> 20} MB in {kilobytes >> 10} MB"


def sends_files(weft):
    for server in ("plain", "tls"):
        name = f"/store/from-{server}"
        ended = run(weft, [asks("put", server, name, method="PUT", bodyFile=file("files/data")),
                           asks("get", server, name, saveTo="back"),
                           asks("delete", server, name, method="DELETE")])
        assert ended.code == 0, ended.output
        assert ended.finish("put")["http"]["status"] == 201, ended.finish("put")["http"]
        assert ended.file("back") == web.content


def tells_what_is_too_large(weft):
    for server in ("plain", "tls"):
        ended = run(weft, [asks("a", server, "/little/", method="PUT", bodyFile=file("files/big"))])
        assert failure(ended)["classes"][0] == "http:413", failure(ended)
        assert "413 Request Entity Too Large" in ended.output, ended.output


# Requirements of a server

def shows_a_password(weft):
    good = {"basic": {"user": web.USER, "password": "${{ secrets.PASSWORD }}"}}
    wrong = {"basic": {"user": web.USER, "password": "no"}}
    ended = run(weft, [
        keeping(asks("a", path="/private/hello.txt", auth=good), size="${{ length(self.body) }}"),
        asks("b", path="/private/hello.txt", auth=wrong) | {"allowFailure": True},
        asks("c", path="/private/hello.txt") | {"allowFailure": True}],
        secrets={"PASSWORD": {"env": "PASSWORD"}}, environment={"PASSWORD": web.PASSWORD})
    assert ended.code == 0, ended.output
    assert ended.finish("a")["outputs"]["size"] == 17_000, ended.finish("a")
    assert failure(ended, "b")["classes"][0] == failure(ended, "c")["classes"][0] == "http:401"
    token = base64.b64encode(f"{web.USER}:{web.PASSWORD}".encode()).decode()
    assert web.PASSWORD not in told(ended) and token not in told(ended), told(ended)


def follows_to_tls_and_not_back(weft):
    ca = {"caFile": file("ca.pem")}
    ended = run(weft, [
        keeping(asks("a", "plain", "/to-tls", tls=ca)),
        asks("b", path="/to-plain") | {"allowFailure": True},
        keeping(asks("c", path="/to-plain", redirects={"max": 3, "allowDowngrade": True})),
        asks("d", "plain", "/to-tls", tls=ca, json={}, method="PUT") | {"allowFailure": True}])
    assert ended.code == 0, ended.output
    assert echo(ended)["tls"] == "TLSv1.3" and ended.finish("a")["http"]["redirects"] == 1, ended.finish("a")
    assert failure(ended, "b")["classes"] == ["redirect"], failure(ended, "b")
    assert "which is not encrypted" in failure(ended, "b")["message"], failure(ended, "b")
    assert echo(ended, "c")["tls"] == "", echo(ended, "c")
    assert failure(ended, "d")["classes"] == ["redirect"], failure(ended, "d")


def waits_as_long_as_it_is_told(weft):
    again = {"retry": {"max": 5, "delay": "1ms", "maxDelay": "5s"}}
    ended = run(weft, [asks("a", path="/often"), asks("b", path="/often") | again])
    assert ended.code == 0, ended.output
    assert ended.finish("b")["attempts"] == 2, ended.events
    waits = [e for e in ended.events if e["type"] == "step.retrying"]
    assert [e["failure"]["classes"][0] for e in waits] == ["http:429"], waits
    assert waits[0]["delayUs"] >= 1_000_000, waits
    time.sleep(0.6)
    short = {"retry": {"max": 5, "delay": "1ms", "maxDelay": "100ms"}}
    ended = run(weft, [asks("a", path="/often"), asks("b", path="/often") | short])
    assert ended.code == 1 and ended.finish("b")["attempts"] == 1, ended.output
    assert "the server asks to wait 1s" in ended.output, ended.output


def keeps_answers_as_it_is_told(weft):
    def status(path):
        ended = run(weft, [asks("a", path=path, cache=kept)])
        assert ended.code == 0, ended.output
        return ended.finish("a")["http"]["cache"]

    with tempfile.TemporaryDirectory() as kept:
        assert [status("/kept/data") for _ in range(2)] == ["miss", "hit"]
        # What has just changed may change again: a response is fresh for a tenth of its age.
        os.utime(file("files/data"))
        assert [status("/data") for _ in range(2)] == ["miss", "revalidated"]


# A proxy

def proxied(weft, steps, **environment):
    """Runs steps that know `secrets.PROXY_PASSWORD`; also returns what they made the proxy do."""
    before = len(SITE.proxied())
    ended = run(weft, steps, secrets={"PROXY_PASSWORD": {"env": "PROXY_PASSWORD"}},
                environment={"PROXY_PASSWORD": web.PROXY_PASSWORD, **environment})
    return ended, SITE.proxied()[before:]


def goes_through_a_proxy(weft):
    proxy = f"http://{web.PROXY_USER}:${{{{ secrets.PROXY_PASSWORD }}}}@127.0.0.1:{SITE.proxy}"
    ended, asked = proxied(weft, [keeping(asks("a", "plain", proxy=proxy)),
                                  keeping(asks("b", proxy=proxy))])
    assert ended.code == 0, ended.output
    assert asked == [f"GET {address('plain')} HTTP/1.1", f"CONNECT localhost:{SITE.ports['tls']} HTTP/1.1"], asked
    assert "tinyproxy" in echo(ended)["via"] and echo(ended)["proxy"] == "", echo(ended)
    assert echo(ended, "b")["via"] == "" and echo(ended, "b")["protocol"] == "HTTP/2.0", echo(ended, "b")
    token = base64.b64encode(f"{web.PROXY_USER}:{web.PROXY_PASSWORD}".encode()).decode()
    assert web.PROXY_PASSWORD not in told(ended) and token not in told(ended), told(ended)


def tells_what_a_proxy_refuses(weft):
    proxy = f"http://127.0.0.1:{SITE.proxy}"
    nowhere = f"http://127.0.0.1:{web.free_ports(1)[0]}"
    # A retry would be refused, too.
    ended, _ = proxied(weft, [
        asks("a", "plain", proxy=proxy) | {"allowFailure": True, "retry": 3},
        asks("b", proxy=proxy) | {"allowFailure": True, "retry": 3},
        asks("c", proxy=nowhere) | {"allowFailure": True}])
    assert failure(ended, "a")["classes"][0] == "http:407", failure(ended, "a")
    assert failure(ended, "b")["classes"] == failure(ended, "a")["classes"], failure(ended, "b")
    assert "407" in failure(ended, "b")["message"], failure(ended, "b")
    assert failure(ended, "c")["classes"] == ["network:connect", "network"], failure(ended, "c")


def asks_the_environment_only_if_told_so(weft):
    url = f"{PROXY}{SITE.proxy}"
    told_so = [keeping(asks("a", "plain", proxy="env")), keeping(asks("b", proxy="env"))]
    ended, asked = proxied(weft, told_so, http_proxy=url, https_proxy=url)
    assert ended.code == 0 and [line.split()[0] for line in asked] == ["GET", "CONNECT"], (asked, ended.output)
    assert web.PROXY_PASSWORD not in told(ended), told(ended)
    ended, asked = proxied(weft, told_so, http_proxy=url, https_proxy=url, no_proxy="localhost")
    assert ended.code == 0 and asked == [], (asked, ended.output)
    ended, asked = proxied(weft, [asks("a", "plain"), asks("b")], http_proxy=url, https_proxy=url)
    assert ended.code == 0 and asked == [], (asked, ended.output)


def writes_a_proxy_password_as_it_is(weft):
    # nginx itself acts as the proxy, and returns the credentials that it received.
    password = "p@ss:w/rd%20?#0815"
    proxy = f"http://me:${{{{ secrets.PASSWORD }}}}@127.0.0.1:{SITE.ports['plain']}"
    ended = run(weft, [keeping(asks("a", "plain", proxy=proxy), shown="${{ self.json.proxy }}")],
                secrets={"PASSWORD": {"env": "PASSWORD"}}, environment={"PASSWORD": password})
    token = base64.b64encode(f"me:{password}".encode()).decode()
    assert ended.code == 0, ended.output
    assert password not in told(ended) and token not in told(ended), told(ended)
    # The credentials are secret, but a condition can check them.
    ended = run(weft, [asks("a", "plain", proxy=proxy, expect={"when": "self.json.proxy == inputs.wanted"})],
                "-i", f"wanted=Basic {token}", inputs={"wanted": {"type": "string"}},
                secrets={"PASSWORD": {"env": "PASSWORD"}}, environment={"PASSWORD": password})
    assert ended.code == 0, ended.output


CASES = [
    ("TLS with a named authority, HTTP/2, and how long each part took", trusts_who_is_named),
    ("H18: a certificate of nobody known, expired, of another host, of itself", tells_what_is_wrong_with_certificates),
    ("a server that does not speak TLS", tells_a_server_without_tls),
    ("a file of authorities that is not there", tells_which_file_is_not_there),
    ("a certificate of the client, and none", shows_who_it_is),
    ("X10: an encrypted key of the client's, on a terminal", does_not_ask_for_a_password),
    ("X11: another origin, with a certificate, a token, a key and a body", tells_another_origin_no_more_than_it_may),
    ("one connection for requests one after another: HTTP/1.1, TLS, HTTP/2", keeps_one_connection),
    ("one HTTP/2 connection for many requests at once", shares_one_connection),
    ("H35: many requests at once without HTTP/2", asks_a_server_without_http2_at_once),
    ("a connection that breaks while others wait for it", does_without_a_connection_that_broke),
    ("a server that gives up HTTP/2 connections after some requests", goes_on_when_a_connection_is_given_up),
    ("an answer that is packed", unpacks),
    ("H34: a download that broke goes on where it was", goes_on_with_a_download),
    ("H10: a large file in little memory", saves_much_in_little_memory),
    ("a file that is sent, over HTTP/1.1 and HTTP/2", sends_files),
    ("a body that is refused before it has been sent", tells_what_is_too_large),
    ("H02: a password", shows_a_password),
    ("H04: a redirect to TLS, and one away from it", follows_to_tls_and_not_back),
    ("H28: too many requests, with Retry-After", waits_as_long_as_it_is_told),
    ("H40: fresh for a time, or asked about again", keeps_answers_as_it_is_told),
    ("a proxy with a password: forwarding and tunnel", goes_through_a_proxy),
    ("a proxy that refuses, or is not there", tells_what_a_proxy_refuses),
    ("H31: the proxy of the environment", asks_the_environment_only_if_told_so),
    ("H23: a proxy's password of characters that mean something", writes_a_proxy_password_as_it_is),
]


if __name__ == "__main__":
    SITE = web.Web()
    try:
        code = cases.run(__doc__, CASES)
    finally:
        SITE.close()
    sys.exit(code)
