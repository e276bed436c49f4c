#!/usr/bin/env python3
"""Runs commands on a host by ssh: values and outputs, ends of all kinds, lost connections, and nothing left behind.

usage: test_runners.py PATH_TO_WEFT
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import cases, sshd
from lib.place import LIMIT, Remote


class Place(Remote):
    """A directory with a workflow whose runner "far" is a server."""

    def __init__(self, weft, server, steps, **workflow):
        super().__init__(weft, {"runners": {"far": server.runner()}, "runner": "far", **workflow, **steps})


def alive(marker):
    """The processes with a marker in their command lines."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if marker in text and int(path.parent.name) != os.getpid():
            found.append(text)
    return found


def gone(marker):
    end = time.monotonic() + LIMIT
    while alive(marker):
        assert time.monotonic() < end, alive(marker)
        time.sleep(0.05)


def values_arrive(weft):
    """arguments, variables, scripts and input arrive byte for byte, and outputs, streams and exit codes come back"""
    text = "".join(map(chr, range(1, 0x180))) + "\\0101 $(touch bad) `touch bad` '\"!\n"
    wanted = hashlib.md5(text.encode()).hexdigest()
    with sshd.Server() as server:
        place = Place(weft, server, {"inputs": {"text": {"type": "string"}}, "steps": [
            {"id": "variable", "env": {"TEXT": "${{ inputs.text }}"}, "run": "printf %s \"$TEXT\" | md5sum"},
            {"id": "argument", "run": ["printf", "%s", "${{ inputs.text }}"]},
            {"id": "script", "run": "printf %s ${{ inputs.text }} | md5sum; echo \"$SSH_CONNECTION\"; echo later >&2"},
            {"id": "input", "run": "md5sum", "stdin": "${{ inputs.text }}"},
            {"id": "file", "run": "md5sum", "stdin": {"file": "big"}},
            {"id": "log", "run": "md5sum", "stdin": {"log": "argument"}},
            {"id": "empty", "run": "cat; echo end"},
            {"id": "outputs", "run": "printf '{\"n\": 42, \"t\": \"a\\\\nb\"}\\n' >>\"$WEFT_OUTPUT\"",
             "outputs": {"n": {"type": "integer"}, "t": {"type": "string"}}},
            {"id": "read", "run": "echo ${{ steps.outputs.outputs.n }} ${{ steps.outputs.outputs.t }}"},
            {"id": "merged", "run": "echo 1; echo 2 >&2; echo 3", "mergeOutput": True},
            {"id": "nul", "run": r"printf 'a\000WEFT\000\000b\000'"},
            {"id": "here", "runner": "local", "run": "echo \"here$SSH_CONNECTION\""},
        ]})
        big = os.urandom(3_000_000)
        (place.path / "big").write_bytes(big)
        (place.path / "inputs.json").write_text(json.dumps({"text": text}))
        place.call("run", "w.json", "--inputs", "inputs.json")
        assert wanted in place.log("variable") and wanted in place.log("input")
        assert subprocess.run([weft, "logs", "argument"], cwd=place.path,
                              capture_output=True).stdout.decode().rstrip("\n") == text.rstrip("\n")
        script = place.log("script").splitlines()
        assert wanted in script[0] and "127.0.0.1" in script[1] and script[2] == "later", script
        assert hashlib.md5(big).hexdigest() in place.log("file")
        assert wanted in place.log("log")
        assert place.log("empty") == "end\n"
        assert place.log("read") == "42 a\nb\n"
        assert place.log("merged") == "1\n2\n3\n"
        raw = subprocess.run([weft, "logs", "nul"], cwd=place.path, capture_output=True).stdout
        assert raw.rstrip(b"\n") == b"a\0WEFT\0\0b\0", raw
        assert place.log("here") == "here\n"
        assert not (place.path / "bad").exists()


def environment_is_of_the_host(weft):
    """a program gets what the workflow sets and the host's own environment, not that of weft"""
    with sshd.Server() as server:
        place = Place(weft, server, {"steps": [
            {"id": "a", "env": {"SET": "1"}, "cwd": "sub", "run": "env; pwd"}]}, env={"OUTER": "2"})
        (place.path / "sub").mkdir()
        os.environ["WEFT_TEST_LEAK"] = "yes"
        place.call("run", "w.json")
        lines = place.log("a").splitlines()
        assert "SET=1" in lines and "OUTER=2" in lines and lines[-1] == str(place.path / "sub"), lines
        assert "WEFT_STEP=a" in lines and not any("LEAK" in line for line in lines), lines
        assert not any(line.startswith(("WEFT_ENGINE=", "WEFT_RUN_DIR=")) for line in lines), lines


def ends_are_told_apart(weft):
    """exit codes, signals, and what does not start have the classes and messages of this machine's"""
    with sshd.Server() as server:
        elsewhere = server.runner(cwd="/nowhere")
        place = Place(weft, server, {"parallel": [
            {"id": "code", "run": "exit 7"}, {"id": "signal", "run": ["sh", "-c", "kill -SEGV $$"]},
            {"id": "high", "run": "exit 137"}, {"id": "progress", "run": "echo 1/2 >>$WEFT_PROGRESS"},
            {"id": "program", "run": ["no-such-program", "x"]}, {"id": "cwd", "run": "true", "cwd": "nope"},
            {"id": "directory", "run": "true", "runner": "elsewhere"},
            {"id": "output", "run": "true", "outputs": {"x": {"type": "string"}}},
            {"id": "tolerated", "run": "exit 3", "allowFailure": ["exit:3"]},
            {"id": "fine", "run": "exit 4", "successCodes": [4]},
        ]}, onFailure="continue", runners={"far": server.runner(), "elsewhere": elsewhere})
        found = place.failures()
        classes = {step: failure["classes"] for step, failure in found.items()}
        assert classes["code"] == ["exit:7", "exit"], classes
        assert classes["signal"] == ["signal:SEGV", "signal"], classes
        assert classes["program"] == classes["cwd"] == classes["directory"] == ["spawn"], classes
        assert classes["output"] == ["output"], classes
        assert classes["high"] == ["exit:137", "exit"], classes
        assert "fine" not in found and "progress" not in found, found
        assert "no-such-program" in found["program"]["message"] and "127.0.0.1" in found["program"]["message"]
        assert str(place.path / "nope") in found["cwd"]["message"], found
        assert "/nowhere" in found["directory"]["message"], found


def unreachable_hosts_are_named(weft):
    """a closed port, a changed host key and a key that is not accepted fail the step, with the words of ssh"""
    with sshd.Server() as server:
        closed = ["-p", "1"] + server.options[2:]
        changed = [part.replace("UserKnownHostsFile=", "UserKnownHostsFile=/dev/null #") for part in server.options]
        foreign = [part if part != f"{server.path}/key" else f"{server.path}/host" for part in server.options]
        place = Place(weft, server, {"parallel": [
            {"id": "closed", "run": "true", "runner": "closed"}, {"id": "changed", "run": "true", "runner": "changed"},
            {"id": "foreign", "run": "true", "runner": "foreign"}, {"id": "works", "run": "true"},
            {"id": "tolerated", "run": "true", "runner": "closed", "allowFailure": ["runner"]},
        ]}, onFailure="continue", runners={
            "far": server.runner(), "closed": server.runner(options=closed), "changed": server.runner(options=changed),
            "foreign": server.runner(options=foreign)})
        found = place.failures()
        assert all(found[step]["classes"] == ["runner"] for step in ("closed", "changed", "foreign")), found
        assert "refused" in found["closed"]["message"], found
        assert "verification failed" in found["changed"]["message"], found
        assert "denied" in found["foreign"]["message"], found
        assert "works" not in found
        probed = place.call("check", "w.json", "--probe", expect=1).stdout
        refused = re.findall(r'^.*runner "(\w+)" would not run "\w+": 127.0.0.1 cannot be reached', probed, re.M)
        assert refused == ["closed", "changed", "foreign"], probed
        place.write({"runners": {"far": server.runner(), "nowhere": {**server.runner(), "cwd": "/nowhere"}},
                     "runner": "far", "steps": ["true"]})
        assert place.call("check", "w.json", "--probe").stdout == "1 file: no problems\n"
        probed = place.call("check", "w.json", "--probe", "--runner", "nowhere", expect=1).stdout
        assert 'the directory "/nowhere" cannot be entered' in probed, probed
        assert "W0234" in place.call("check", "w.json", "--runner", "elsewhere", expect=2).stdout


def nothing_is_left(weft):
    """whatever a step has started ends with it: after a time limit, ^C, kill -9 of weft, and a lost connection"""
    marker = "31.4159"
    stubborn = f"trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep {marker}; :' & echo > up; sleep {marker}; :"
    step = {"id": "a", "run": stubborn, "stop": {"grace": "1s"}}
    with sshd.Server() as server:
        place = Place(weft, server, {"steps": [{**step, "timeout": "2s"}]})
        found = place.failures()
        assert found["a"]["classes"] == ["timeout"], found
        assert not alive(marker), "still there when the run has ended"
        place = Place(weft, server, {"steps": [
            {"id": "a", "run": ["sh", "-c", "trap 'echo asked; exit 0' INT; while :; do sleep 0.1; done"], "timeout": "4s",
             "stop": {"signal": "INT", "grace": "50s"}}]})
        assert place.failures()["a"]["classes"] == ["timeout"] and place.log("a") == "asked\n", place.log("a")
        for means in ("interrupt", "kill", "cut", "interrupt twice"):
            place = Place(weft, server, {"steps": [step]})
            run = place.start("run", "w.json")
            place.wait_for("up")
            assert alive(marker)
            if means == "cut":
                server.cut()
            else:
                run.send_signal(signal.SIGKILL if means == "kill" else signal.SIGINT)
            if means == "interrupt twice":
                time.sleep(0.3)
                run.send_signal(signal.SIGINT)
            output = run.communicate(timeout=LIMIT)[0]
            if means == "interrupt":
                assert run.returncode == 130 and not alive(marker), (run.returncode, output)
            if means == "cut":
                assert run.returncode == 1 and "lost the connection" in output, output
            gone(marker)
        place = Place(weft, server, {"steps": [{"id": "a", "run": f"setsid sleep {marker} & echo done"}]})
        place.call("run", "w.json")
        assert not alive(marker), "what a step leaves behind is ended with it"


def lost_connections_are_retried(weft):
    """a step whose connection is lost is run again over a new one, if its retries name the class"""
    with sshd.Server() as server:
        place = Place(weft, server, {"steps": [
            {"id": "a", "run": "if [ -e up ]; then echo again; else echo >up; sleep 60; fi",
             "retry": {"max": 1, "on": ["runner"], "delay": "10ms"}}, {"id": "b", "run": "echo after"}]})
        run = place.start("run", "w.json")
        place.wait_for("up")
        server.cut()
        output = run.communicate(timeout=LIMIT)[0]
        assert run.returncode == 0 and "again" in output and "after" in output, output


def interrupted_runs_are_resumed(weft):
    """runs that are killed are resumed, several times, and run again only what had not ended"""
    with sshd.Server() as server:
        place = Place(weft, server, {"steps": [
            {"id": "once", "run": "echo x >>once; echo 'v=1' >>$WEFT_OUTPUT", "outputs": {"v": {"type": "integer"}}},
            {"id": "slow", "idempotent": True, "stop": {"grace": "60s"},
             "run": "trap '' TERM; echo $$ >>pids; for p in $(cat pids); do [ $p = $$ ] || ! kill -0 $p || echo >two; done; echo x >>tries; echo >up; while [ ! -e go ]; do sleep 0.1; done; echo ${{ steps.once.outputs.v }}"},
        ]})
        run = place.start("run", "w.json")
        for _ in range(3):
            place.wait_for("up")
            (place.path / "up").unlink()
            run.kill()
            run.communicate(timeout=LIMIT)
            run = place.start("resume")
        place.wait_for("up")
        (place.path / "go").touch()
        output = run.communicate(timeout=LIMIT)[0]
        assert run.returncode == 0, output
        assert (place.path / "once").read_text() == "x\n" and (place.path / "tries").read_text() == "x\n" * 4
        assert not (place.path / "two").exists(), "an attempt ran beside the one before it"


def hosts_form_a_pool(weft):
    """steps are distributed among the hosts of a runner, no more at once than it has slots"""
    with sshd.Server() as server:
        runner = server.runner(hosts=["127.0.0.1", "127.0.0.2"], slots=2)
        runner["options"] = runner["options"] + ["-o", "HostKeyAlias=[127.0.0.1]:%d" % server.port, "-o",
                                                 "Hostname=127.0.0.1"]
        place = Place(weft, server, {"steps": [
            {"id": "all", "forEach": list(range(12)), "run": [
                "sh", "-c", "touch busy/$0 begun/$0; ls busy | wc -l >>most; "
                "until [ $(ls begun | wc -l) -ge 4 ]; do sleep 0.1; done; rm busy/$0",
                "${{ item }}"]}]}, runners={"far": runner}, maxParallel=12)
        for name in ("busy", "begun"):
            (place.path / name).mkdir()
        place.call("run", "w.json")
        most = [int(line) for line in (place.path / "most").read_text().split()]
        assert len(most) == 12 and max(most) <= 4, most
        shown = place.call("show").stdout
        assert all(f", on {host}," in shown for host in ("127.0.0.1", "127.0.0.2")), shown


def runners_share_a_host(weft):
    """a connection of one runner leaves alone what another runner of the same run has on that host"""
    with sshd.Server() as server:
        place = Place(weft, server, {"parallel": [
            {"id": "first", "run": "echo >up; while [ ! -e go ]; do sleep 0.1; done"},
            {"id": "second", "runner": "other", "run": "touch go"}]},
            runners={"far": server.runner(), "other": server.runner(slots=3)})
        second = json.loads((place.path / "w.json").read_text())
        second["parallel"].insert(1, {"id": "up", "runner": "local", "run": "while [ ! -e up ]; do sleep 0.1; done"})
        second["parallel"][2]["needs"] = ["up"]
        place.write(second)
        place.call("run", "w.json", "-j", "4")


def login_shells_do_not_matter(weft):
    """it works whatever the login shell is, what its scripts print, and whichever shell /bin/sh is"""
    def inside(shell):
        return f"{shell} -c \"$SSH_ORIGINAL_COMMAND\""

    def instead(shell):
        return f"eval \"$(printf %s \"$SSH_ORIGINAL_COMMAND\" | sed 's|/bin/sh|{shell}|')\""

    tried = []
    for name, command in [("fish", inside("fish")), ("zsh", inside("zsh")), ("csh", inside("csh")),
                          ("busybox", instead("busybox sh")), ("bash", instead("bash --posix")),
                          ("noise", "echo noise; echo more noise >&2; " + inside("sh"))]:
        if name != "noise" and not shutil.which(name):
            continue
        with sshd.Server(command) as server:
            place = Place(weft, server, {"steps": [
                {"id": "a", "env": {"T": "it's \"ü\" !1 \\n\n$x"}, "run": "printf '%s' \"$T\"; cat; echo 'o=1' >>$WEFT_OUTPUT",
                 "stdin": "in", "outputs": {"o": {"type": "integer"}}},
                {"id": "b", "run": "exit 9", "allowFailure": ["exit:9"]},
                {"id": "c", "run": "sleep 60", "timeout": "500ms", "allowFailure": ["timeout"]}]})
            place.call("run", "w.json")
            assert place.log("a") == "it's \"ü\" !1 \\n\n$xin", (name, place.log("a"))
        tried.append(name)
    return ", ".join(tried)


def much_output_arrives(weft):
    """large outputs arrive whole and in order, and secrets in them are masked"""
    with sshd.Server() as server:
        place = Place(weft, server, {"steps": [
            {"id": "much", "run": "seq 1 2000000", "logLimit": "64MiB"},
            {"id": "secret", "env": {"KEY": "${{ secrets.K }}"}, "run": "echo \"<$KEY>\"; echo $KEY | rev"}]},
            secrets={"K": {"env": "WEFT_TEST_KEY"}})
        os.environ["WEFT_TEST_KEY"] = "horse-battery-staple"
        place.call("run", "w.json")
        assert place.log("much") == "".join(f"{n}\n" for n in range(1, 2000001))
        assert place.log("secret") == "<***>\nelpats-yrettab-esroh\n", place.log("secret")
        assert not any(b"horse-battery" in path.read_bytes() for path in place.path.rglob("*") if path.is_file())


def a_run_chooses_its_runner(weft):
    """--runner takes the place of the workflow's, is kept by weft resume, and runners come from the configuration too"""
    with sshd.Server() as server:
        place = Place(weft, server, {"steps": [
            {"id": "a", "run": "echo \"<$SSH_CONNECTION>\"; [ -e go ] || exit 1"},
            {"id": "b", "runner": "local", "run": "echo \"<$SSH_CONNECTION>\""}]}, runner="local")
        place.write({"runners": {"site": server.runner(), "far": {"kind": "ssh", "hosts": ["nowhere.invalid"]}}}, "site.jsonc")
        text = (place.path / "site.jsonc").read_text()
        (place.path / "site.jsonc").write_text("// for all workflows\n" + text)
        (place.path / "go").touch()
        place.call("run", "w.json")
        assert place.log("a") == "<>\n", place.log("a")
        place.call("run", "w.json", "--runner", "far")
        assert "127.0.0.1" in place.log("a") and place.log("b") == "<>\n"
        answer = place.call("run", "w.json", "--runner", "site", expect=2)
        assert "W0234" in answer.stderr and "available: far, slurm, local" in answer.stderr, answer.stderr
        os.environ["WEFT_CONFIG"] = str(place.path / "site.jsonc")
        try:
            (place.path / "go").unlink()
            place.call("run", "w.json", "--runner", "site", expect=1)
            assert "127.0.0.1" in place.log("a")
            (place.path / "go").touch()
            place.call("resume")
            assert place.log("a").count("<127.0.0.1") == 2, place.log("a")
            # What a file declares wins, also over the configuration.
            place.call("run", "w.json", "--runner", "far")
            place.write({"runner": "site", "steps": [{"id": "c", "run": "echo \"<$SSH_CONNECTION>\""}]}, "inner.json")
            place.write({"steps": [{"id": "n", "workflow": "inner.json"}]}, "outer.json")
            place.call("run", "outer.json")
            assert "127.0.0.1" in place.log("n/c")
            place.write({"workflow": "inner.json", "cases": [{"name": "x", "steps": {"c": {}}, "expect": {"outcome": "success"}}]},
                        "inner.test.json")
            place.call("test", "inner.test.json")
            (place.path / "site.jsonc").write_text('{"runners": {"x": {}}}')
            answer = place.call("run", "w.json", expect=3)
            assert "site.jsonc:1:" in answer.stderr and "W0113" in answer.stderr, answer.stderr
            for name in ("site.jsonc", "missing.jsonc"):
                # Once for all files, and no runner that is not known because of it.
                os.environ["WEFT_CONFIG"] = name
                answer = place.call("check", "inner.json", "outer.json", expect=3)
                assert re.findall(r"\[(W\d+)\]", answer.stdout) in (["W0113"], ["W0000"]), answer.stdout
            assert "missing.jsonc" in place.call("run", "w.json", expect=3).stderr
            os.environ["WEFT_CONFIG"] = ""
            place.call("run", "w.json")
        finally:
            del os.environ["WEFT_CONFIG"]
        # The usual place counts only as far as it can be read.
        usual = place.path / "home/weft"
        usual.mkdir(parents=True)
        os.environ["XDG_CONFIG_HOME"] = str(usual.parent)
        try:
            place.call("run", "w.json")
            (usual / "config.jsonc").write_text("// nothing\n{}")
            place.call("run", "w.json")
            (usual / "config.jsonc").write_text("{")
            place.call("run", "w.json", expect=3)
            if os.getuid() != 0:
                (usual / "config.jsonc").chmod(0)
                place.call("run", "w.json")
        finally:
            del os.environ["XDG_CONFIG_HOME"]


def mistakes_are_found_before(weft):
    """unknown runners, and steps that must stay on this machine, are errors before anything starts"""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "w.json"

        def check(workflow):
            path.write_text(json.dumps(workflow))
            done = subprocess.run([weft, "check", path], capture_output=True, text=True, timeout=LIMIT)
            return re.findall(r"\[(W\d+)\]", done.stdout)

        far = {"kind": "ssh", "hosts": ["h"]}
        assert check({"runners": {"far": far}, "runner": "fra", "steps": ["true"]}) == ["W0234"]
        assert check({"runners": {"far": far}, "steps": [{"run": "true", "runner": "fra"}]}) == ["W0234"]
        assert check({"steps": [{"steps": ["true"], "runner": "cluster"}]}) == ["W0234"]
        assert check({"runners": {"far": far}, "steps": [{"run": "vi", "tty": True, "runner": "far"}]}) == ["W0235"]
        assert check({"runners": {"far": far}, "runner": "far", "steps": [{"run": "vi", "tty": True}]}) == []
        assert check({"runners": {"far": {"kind": "ssh", "hosts": ["-oProxyCommand=x"]}}, "steps": ["true"]}) == ["W0418"]
        assert check({"runners": {"far": {**far, "cwd": "x"}}, "steps": ["true"]}) == ["W0419"]
        assert check({"runners": {"local": far}, "steps": ["true"]}) == ["W0402"]
        assert check({"runners": {"far": {"kind": "ssh"}}, "steps": ["true"]}) == ["W0113"]


if __name__ == "__main__":
    if not sshd.program():
        sys.exit("install openssh-server")
    sys.exit(cases.run(
        __doc__,
        [values_arrive, environment_is_of_the_host, ends_are_told_apart, unreachable_hosts_are_named, nothing_is_left,
         lost_connections_are_retried, interrupted_runs_are_resumed, hosts_form_a_pool, runners_share_a_host, login_shells_do_not_matter,
         much_output_arrives, a_run_chooses_its_runner, mistakes_are_found_before]))
