#!/usr/bin/env python3
"""Runs services beside the steps that use them: real servers, and servers that die, hang, or are killed.

usage: test_services.py PATH_TO_WEFT

Uses nginx, redis-server and PostgreSQL; a case whose server is not installed says so.
"""

import concurrent.futures
import fcntl
import glob
import json
import os
import shutil
import signal
import socket
import sys

from lib import cases
from lib.place import Place
from lib.web import free_ports

SERVER = """
import http.server, signal, sys
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)
open("starts", "a").write("x")
print("ready", flush=True)
server.serve_forever()
"""


STREAM = """
import socket, sys, time
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
kept = []
while True:
    kept.append(server.accept()[0])
    kept[-1].sendall(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\n\\r\\ndata: 1\\n\\n")
"""


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def server(port, probe=None, **keys):
    return {"id": "server", "run": ["python3", "-c", SERVER, str(port)],
            "service": {"ready": probe or {"tcp": f"127.0.0.1:{port}"}, **keys}}


def get(port):
    return {"id": "get", "http": {"url": f"http://127.0.0.1:{port}/w.json"}}


def events(place):
    """The events of the journal, without the records that are none."""
    return [json.loads(line.split(" ", 1)[-1] if not line.startswith("{") else line)
            for line in place.journal.read_text().splitlines()]


def kinds(place, step):
    return [event["type"] for event in events(place) if event.get("step") == step]


def ends(place, step):
    return [event for event in events(place) if event.get("step") == step and event["type"] == "step.finished"]


def succeeds(place, *arguments):
    ended = place.run(*arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise cases.Skipped(f"{program} is not installed")


# MARK: Real servers


def serves_nginx(weft):
    """nginx, ready by a request; it has ended when the run has"""
    needs("nginx")
    (port,) = free_ports(1)
    place = Place(weft, {
        "steps": [
            {"id": "server", "run": ["nginx", "-p", ".", "-c", "nginx.conf"],
             "service": {"ready": {"http": f"http://127.0.0.1:{port}/w.json"}}},
            get(port)]})
    (place.path / "nginx.conf").write_text(f"""
        daemon off; pid nginx.pid; error_log stderr; worker_processes 2; events {{}}
        http {{ access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4;
          scgi_temp_path t5; server {{ listen 127.0.0.1:{port}; root {place.path}; }} }}""")
    os.chmod(place.path, 0o755)
    succeeds(place)
    assert not is_open(port)
    assert kinds(place, "server")[-2:] == ["step.ready", "step.finished"], kinds(place, "server")


def serves_redis(weft):
    """Redis, ready at its port; a value is written and read"""
    needs("redis-server", "redis-cli")
    (port,) = free_ports(1)
    cli = ["redis-cli", "-p", str(port)]
    place = Place(weft, {
        "steps": [
            {"id": "server", "run": ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
             "service": {"ready": {"tcp": f"127.0.0.1:{port}"}}},
            {"run": cli + ["set", "key", "a value"], "cleanup": {"run": cli + ["del", "key"]}},
            {"id": "read", "run": cli + ["get", "key"]}],
        "outputs": {"value": "${{ steps.read.stdout }}"}})
    assert "a value" in succeeds(place)
    assert not is_open(port)


def serves_postgresql(weft):
    """PostgreSQL, ready by pg_isready; a table is made, filled, read and dropped"""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not folders:
        raise cases.Skipped("PostgreSQL is not installed")
    (port,) = free_ports(1)
    # It does not run as root.
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    sql = user + ["psql", "-h", "127.0.0.1", "-p", str(port), "-U", "weft", "-d", "postgres", "-qAtc"]
    place = Place(weft, {
        "env": {"PATH": folders[-1] + ":" + os.environ["PATH"]},
        "steps": [
            {"run": user + ["initdb", "-D", "db/data", "-U", "weft", "-A", "trust"]},
            {"id": "server", "run": user + ["postgres", "-D", "db/data", "-p", str(port), "-k", "", "-h", "127.0.0.1"],
             "stop": {"signal": "INT"}, "service": {"ready": {"run": ["pg_isready", "-h", "127.0.0.1", "-p", str(port)]}}},
            {"run": sql + ["create table t as select generate_series(1, 1000) as n"],
             "cleanup": {"run": sql + ["drop table t"]}},
            {"id": "read", "run": sql + ["select sum(n) from t"]}],
        "outputs": {"sum": "${{ steps.read.stdout }}"}})
    os.chmod(place.path, 0o755)
    (place.path / "db").mkdir()
    if user:
        shutil.chown(place.path / "db", "postgres", "postgres")
    assert "500500" in succeeds(place)
    assert not is_open(port)
    assert "database system is shut down" in place.call("logs", "server").stdout


# MARK: How they end


def ends_last(weft):
    """a step that uses the service ends before it, also by ^C"""
    (port,) = free_ports(1)
    place = Place(weft, {"steps": [server(port, {"log": "ready"}), {"id": "use", "run": "touch using; sleep 100"}]})
    run = place.start("run", "w.json")
    place.until((place.path / "using").exists)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) == 130
    assert not is_open(port)
    ended = [event["step"] for event in events(place) if event["type"] == "step.finished"]
    assert ended == ["use", "server"], ended
    assert ends(place, "server")[0]["outcome"] == "success", ends(place, "server")


def tells_its_death(weft):
    """one that dies while it is needed fails the run, and says so"""
    place = Place(weft, {"steps": [
        {"id": "server", "run": "echo $$ > server.pid; echo ready; exec sleep 100",
         "service": {"ready": {"log": "ready"}}},
        {"id": "use", "run": "kill $(cat server.pid); sleep 0.5; exit 1"}, "true"]})
    ended = place.run()
    assert ended.returncode == 1
    assert "was ended by signal TERM while it was needed" in ended.stderr + ended.stdout
    (end,) = ends(place, "server")
    assert end["failure"]["classes"] == ["service"], end
    (use,) = ends(place, "use")
    assert "service server, which it needs, had ended" in use["failure"]["message"], use


def ends_at_once(weft):
    """a service that ends while it gets ready fails, or is no longer needed by then, in each of forty runs"""
    service = {"id": "server", "run": "echo up", "service": {"ready": {"log": "up"}}}
    place = Place(weft, {"steps": [service, "true"]})
    for _ in range(40):
        done = place.run()
        assert done.returncode in (0, 1), done
        assert done.returncode == 0 or "exited with code 0" in done.stdout, done


def is_ready_by_its_log(weft):
    """a line of output starts the users of a service, in each of sixty runs, four at a time"""
    service = {"id": "server", "run": "echo ready; exec sleep 1000", "service": {"ready": {"log": "ready"}}}
    places = [Place(weft, {"steps": [service, "true"]}) for _ in range(60)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert {done.returncode for done in pool.map(Place.run, places)} == {0}


def is_dead(place):
    """Whether no process of the service is left: each inherits a lock, wherever it went."""
    with open(place.path / "lock") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False


def ended_early(weft, is_ready, way):
    """Ends a run whose service ignores TERM and has a child in a session of its own; returns what is wrong."""
    script = f"""
        exec 9<lock; flock -s 9; trap '' TERM
        setsid sleep 1000 &
        echo {"ready" if is_ready else "not yet"}; touch up; sleep 1000; sleep 1000"""
    place = Place(weft, {"parallel": [
        {"id": "server", "run": script, "stop": {"grace": "500ms"},
         "service": {"ready": {"log": "^ready"}, "timeout": "700ms" if way == "its timeout" else "10m"}},
        {"id": "use", "needs": ["server"], "run": "touch using; while [ ! -e fail ]; do sleep 0.02; done; exit 1"},
        {"id": "beside", "run": "while [ ! -e fail ]; do sleep 0.02; done; exit 1"}]})
    (place.path / "lock").touch()
    more = {"fail fast": ["--fail-fast"], "run's timeout": ["--timeout", "1s"]}.get(way, [])
    run = place.start("run", "w.json", *more)
    place.until((place.path / ("using" if is_ready else "up")).exists)
    wanted = {"TERM": 143, "cancel": 130, "fail fast": 1, "failure": 1, "run's timeout": 124, "killed": -9,
              "its timeout": 1}[way]
    if way == "TERM":
        run.send_signal(signal.SIGTERM)
    elif way == "cancel":
        assert place.call("cancel").returncode == 0
    elif way in ("fail fast", "failure"):
        (place.path / "fail").touch()
    elif way == "killed":
        run.kill()
    elif way == "its timeout":
        place.until(lambda: b"not ready" in place.journal.read_bytes())
        (place.path / "fail").touch()
    code = run.wait(timeout=60)
    if way == "killed":
        if is_dead(place):
            return "dead before it was reaped"
        code = wanted if place.call("reap").returncode == 0 else "of reap"
    wrong = [] if code == wanted else [f"exit code {code}"]
    return wrong + ([] if is_dead(place) else ["something is left"])


def leaves_nothing(weft):
    """whatever ends a run, nothing is left of a service that ignores TERM, ready or not"""
    trials = [(ready, way) for ready in (False, True)
              for way in ("TERM", "cancel", "fail fast", "failure", "run's timeout", "killed", "its timeout")
              # A failure lets running steps finish, as a service that is not ready is; the other has been ready in time.
              if (ready, way) not in ((False, "failure"), (True, "its timeout"))]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda trial: ended_early(weft, *trial), trials))
    wrong = [(trial, what) for trial, what in zip(trials, found) if what]
    assert not wrong, wrong


def starts_again(weft):
    """one that dies is started again"""
    place = Place(weft, {"steps": [
        {"id": "server", "run": "echo x >> starts; echo $$ > server.pid; echo ready; exec sleep 100",
         "service": {"ready": {"log": "ready"}, "restart": 1}},
        {"id": "use", "run": "kill $(cat server.pid); while [ $(wc -l < starts) -lt 2 ]; do sleep 0.05; done"}]})
    succeeds(place)
    assert kinds(place, "server").count("step.ready") == 2, kinds(place, "server")


def fails_rather_than_hang(weft):
    """two elements whose services take a pool that their users need too: one step fails, and the other runs"""
    service = {"id": "server", "run": "echo ready; exec sleep 1000", "service": {"ready": {"log": "ready"}}, "pool": "port"}
    group = {"id": "env", "forEach": ["a", "b"], "steps": [service, {"id": "use", "run": "true", "pool": "port"}]}
    place = Place(weft, {"pools": {"port": 2}, "onFailure": "continue", "steps": [group]})
    ended = place.run()
    assert ended.returncode == 1, ended
    failed = [event for event in events(place) if event["type"] == "step.finished" and event["outcome"] == "failure"]
    assert [event["failure"]["classes"] for event in failed] == [["limit"]], failed
    assert "would wait for ever for pool \"port\"" in ended.stdout + ended.stderr, ended


def is_refused_what_never_comes(weft):
    """a step that needs more of a pool than its service leaves is an error of the file"""
    service = {"id": "server", "run": "sleep 1000", "service": {"ready": {"log": "ready"}}, "pool": "port"}
    place = Place(weft, {"pools": {"port": 1}, "steps": [service, {"id": "use", "run": "true", "pool": "port"}]})
    ended = place.run()
    assert ended.returncode == 3 and "W0233" in ended.stderr, ended


def ends_with_its_grace_when_suspended(weft):
    """a run that is suspended for an approval terminates its service before it leaves"""
    script = "trap 'echo bye > bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    service = {"id": "server", "run": script, "service": {"ready": {"log": "ready"}}}
    place = Place(weft, {"steps": [service, {"id": "ask", "approve": {"message": "go on?"}}]})
    assert place.run().returncode == 75
    assert (place.path / "bye").exists()
    # Every view agrees that it has not succeeded, and is gone.
    assert "server: terminated, was ready after" in place.call("show").stdout
    shown = json.loads(place.call("show", "--format", "json").stdout)
    assert shown["steps"][0]["state"] == "terminated" and "outcome" not in shown["steps"][0], shown
    assert shown["totals"]["attempts"] == 1, shown
    assert "0 of 2 done" in place.call("runs").stdout
    assert "\nserver,terminated," in place.call("report", "--format", "csv").stdout.replace("\r", "")
    assert "succeeded" not in place.call("report", "--format", "markdown").stdout
    assert 'errors="0" skipped="2" failures="0"' in place.call("report", "--format", "junit").stdout
    assert place.call("approve", "ask").returncode == 0 and place.resume().returncode == 0
    # One start each, and the question.
    shown = json.loads(place.call("show", "--format", "json").stdout)
    assert shown["totals"]["attempts"] == 1 + len([end for end in events(place) if end["type"] == "step.finished"]), shown


def waits_no_longer(weft):
    """one that is not ready in time is terminated"""
    (port,) = free_ports(1)
    place = Place(weft, {"steps": [
        {"id": "server", "run": "sleep 100", "service": {"ready": {"tcp": f"127.0.0.1:{port}"}, "timeout": "300ms", "restart": 2}},
        "true"]})
    ended = place.run()
    assert ended.returncode == 1
    assert ends(place, "server")[0]["failure"]["classes"] == ["timeout"]
    assert "was not ready within 300ms" in ended.stderr + ended.stdout
    assert ends(place, "server")[0]["notRetried"] == '"restart" only starts a service again that has ended early'


# MARK: Resuming


def starts_for_the_rest(weft):
    """resume starts the service again for the steps that have yet to run, and only for them"""
    (port,) = free_ports(1)
    place = Place(weft, {"steps": [server(port), get(port), {"id": "use", "run": "test -e permitted"}]})
    assert place.run().returncode == 1
    (place.path / "permitted").touch()
    resumed = place.resume()
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert (place.path / "starts").read_text() == "xx"
    assert kinds(place, "get").count("step.started") == 1
    assert place.resume().returncode != 3
    assert (place.path / "starts").read_text() == "xx"
    assert not is_open(port)


def is_terminated_after_a_kill(weft):
    """kill -9 of weft: resume terminates the old server first, and starts another"""
    (port,) = free_ports(1)
    place = Place(weft, {"steps": [
        server(port), {"id": "use", "run": "touch using; test -e permitted || sleep 100", "idempotent": True}]})
    run = place.start("run", "w.json")
    place.until((place.path / "using").exists)
    run.kill()
    run.wait()
    assert is_open(port), "the server survives weft"
    (place.path / "permitted").touch()
    resumed = place.resume()
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert (place.path / "starts").read_text() == "xx"
    assert not is_open(port)


def is_reaped(weft):
    """kill -9 of weft: reap terminates the server"""
    (port,) = free_ports(1)
    place = Place(weft, {"steps": [server(port), {"id": "use", "run": "touch using; sleep 100"}]})
    run = place.start("run", "w.json")
    place.until((place.path / "using").exists)
    run.kill()
    run.wait()
    assert place.call("reap").returncode == 0
    place.until(lambda: not is_open(port))


def is_ready_by_the_head_of_a_stream(weft):
    """a response without an end says by its status that a service is ready"""
    (port,) = free_ports(1)
    probe = {"http": f"http://127.0.0.1:{port}/"}
    place = Place(weft, {"steps": [
        {"id": "server", "run": ["python3", "-c", STREAM, str(port)], "service": {"ready": probe}},
        {"id": "use", "run": "echo used"}]})
    succeeds(place)


CASES = [
    is_ready_by_the_head_of_a_stream, serves_nginx, serves_redis, serves_postgresql, ends_last, tells_its_death, starts_again, ends_at_once, is_ready_by_its_log, leaves_nothing,
    waits_no_longer, fails_rather_than_hang, is_refused_what_never_comes, ends_with_its_grace_when_suspended, starts_for_the_rest, is_terminated_after_a_kill, is_reaped,
]

if __name__ == "__main__":
    sys.exit(cases.run(__doc__, CASES))
