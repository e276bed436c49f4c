#!/usr/bin/env python3
"""Checks how weft shows the output of steps: all modes on a terminal, in a pipe, in CI and in GitHub Actions.

usage: test_output.py PATH_TO_WEFT          (needs pyte)
       UPDATE_GOLDEN=1 test_output.py …     rewrites the recorded screens and texts

They are kept in data/output. Durations are written TIME, the clock CLOCK and run ids RUN, whatever they are. A step
waits by opening a FIFO for reading: the script opens it for writing when it has seen enough.
"""

import difflib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from lib import cases
from lib.place import Place
from lib.screen import Screen, normalised
from lib.shell import Shell

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data/output")
MODES = ("auto", "stream", "group", "failed", "none")


def compared(name, actual):
    """Compares a text with the recorded one."""
    path = f"{GOLDEN}/{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        os.makedirs(GOLDEN, exist_ok=True)
        with open(path, "w") as file:
            file.write(actual)
    with open(path) as file:
        kept = file.read()
    difference = "\n".join(difflib.unified_diff(
        kept.splitlines(), actual.splitlines(), path, "now", lineterm=""))
    assert not difference, difference


# A step alone, two side by side of which one writes much, and one that fails: the order of all lines is certain.
STEPS = {"steps": [
    {"id": "alone", "run": "echo first; echo second >&2"},
    {"id": "both", "parallel": [
        {"id": "long", "run": "echo >long.fifo; i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i; done; read line <end.fifo"},
        {"id": "short", "run": "read line <long.fifo; read line <short.fifo; echo hello"}]},
    {"id": "colours", "run": r"printf '\033[31m\033[Kred\033[0m\033[K \033[2J\033]0;t\007 10%%\r20%%\n'"},
    {"id": "broken", "run": "echo expected; exit 3"},
    {"id": "never", "run": "echo never"}]}


def wait_for_lines(directory):
    """Waits until weft has read all lines of the long step, so that the short one writes after it."""
    end = time.monotonic() + 20
    while time.monotonic() < end and not any(
            "line 30" in path.read_text(errors="replace") for path in pathlib.Path(directory).glob(".weft/runs/*/logs/long.log")):
        time.sleep(0.01)


def released(weft, *arguments, **environment):
    """Runs the steps on a terminal; the long step ends before the short one."""
    screen = Screen(weft, STEPS, 80, 24, arguments=["-j2", *arguments], **environment)
    wait_for_lines(screen.path)
    screen.release("short.fifo")
    wait_for_end(screen, "long", "short")
    screen.release("end.fifo")
    assert screen.status() == 1, screen.text()
    return screen


def wait_for_end(screen, running, ended):
    """Waits until the step has ended that lets the other one go on."""
    done = re.compile(f"(✓ {ended}|\\[{ended}\\] succeeded|ok {ended})")
    screen.wait_until(lambda: done.search(screen.text()), f"the end of {ended}")
    assert not re.search(f"✓ {running} ", screen.text()), screen.text()


def on_a_terminal(weft):
    """each mode on a terminal, as a whole screen"""
    for mode in MODES:
        screen = released(weft, "--output", mode)
        try:
            compared(f"terminal-{mode}", screen.text())
        finally:
            screen.close()


def hello(weft):
    """the example shows its greetings, each below the line of its step"""
    root = pathlib.Path(__file__).resolve().parents[2]
    screen = Screen(weft, json.loads((root / "workflows/hello.json").read_text()), 60, 30)
    try:
        assert screen.status() == 0
        lines = [line.strip() for line in screen.text().splitlines()]
        for name in ("ada", "grace", "edsger"):
            place = next(place for place, line in enumerate(lines) if line.startswith(f"✓ {name} "))
            assert lines[place + 1] == f"│ hello from {name.capitalize()}", lines
        assert "setting the table" in lines and "and hello, Ada, to you" in lines, lines
    finally:
        screen.close()


def quiet(weft):
    """-q is --output failed, and contradicts --output"""
    screen = released(weft, "-q")
    try:
        compared("terminal-failed", screen.text())
    finally:
        screen.close()
    done = subprocess.run([weft, "run", "-q", "--output", "none", "x.json"], capture_output=True, text=True)
    assert done.returncode == 2 and '"-q" and "--output" contradict each other' in done.stderr, done
    done = subprocess.run([weft, "run", "--output", "log.txt", "x.json"], capture_output=True, text=True)
    assert done.returncode == 2 and "expected one of auto, stream, group, failed, none" in done.stderr, done
    for option in (["--output", "none"], ["-q"]):
        done = subprocess.run([weft, "show", *option], capture_output=True, text=True)
        assert done.returncode == 2 and "only with \"--follow\"" in done.stderr, done


def colours(weft):
    """SGR and \"erase to the end of the line\" reach a terminal, nothing else does; NO_COLOR removes both"""
    step = {"steps": [{"id": "c", "run": r"printf '\033[01;31m\033[Kerror\033[m\033[K \033[2J\033[1A\233\302\233\n'"}]}
    for mode in ("auto", "group", "stream"):
        for environment in ({}, {"NO_COLOR": "1"}):
            screen = Screen(weft, step, 80, 24, arguments=["--output", mode], **environment)
            try:
                assert screen.status() == 0
                line = next(line for line in screen.bytes.split(b"\n") if b"error" in line).rstrip(b"\r")
                if environment:
                    assert line.endswith("error \\x1b[2J\\x1b[1A\ufffd\\x9b".encode()), line
                else:
                    assert b"\x1b[01;31m\x1b[Kerror\x1b[m\x1b[K \\x1b[2J\\x1b[1A" in line, line
                    assert line.endswith(b"\x1b[0m"), line
            finally:
                screen.close()


def piped(weft, arguments, steps=None, **environment):
    """The standard output and the standard error of a run in a pipe, and its directory."""
    directory = Screen.made(steps or STEPS)
    kept = {name: value for name, value in os.environ.items()
            if name not in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "NO_COLOR")}
    kept.update({"LC_ALL": "C.UTF-8"}, **environment)
    process = subprocess.Popen(
        [weft, "run", "-j2", *arguments, "workflow.json"], cwd=directory.name, env=kept, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace")
    if steps is None:
        def opened(name):
            with open(f"{directory.name}/{name}", "w") as file:
                file.write("go\n")
        signal.signal(signal.SIGALRM, lambda *_: process.kill())
        signal.alarm(30)
        wait_for_lines(directory.name)
        opened("short.fifo")
        # The journal says when the other one has ended.
        while '"short"' not in "".join(
                line for line in journal(directory) if '"step.finished"' in line):
            time.sleep(0.01)
        opened("end.fifo")
        signal.alarm(0)
    output, errors = process.communicate(timeout=30)
    return process.returncode, output, errors, directory


def journal(directory):
    for folder, _, names in os.walk(f"{directory.name}/.weft/runs"):
        for name in names:
            if name == "journal.jsonl":
                with open(f"{folder}/{name}", errors="replace") as file:
                    return file.readlines()
    return []


def texted(text):
    return "".join(normalised(line) + "\n" for line in text.splitlines())


def in_a_pipe(weft):
    """each mode in a pipe, where every line has the name of its step, and the summary is on standard output"""
    for mode in MODES:
        code, output, errors, directory = piped(weft, ["--output", mode])
        assert code == 1 and errors == "", errors
        compared(f"pipe-{mode}", texted(output))
        directory.cleanup()


def in_ci(weft):
    """CI gets lines even on a terminal; GitHub Actions gets groups, annotations and a table of steps"""
    screen = released(weft, CI="true")
    try:
        compared("terminal-ci", screen.text())
    finally:
        screen.close()
    code, output, errors, directory = piped(
        weft, [], GITHUB_ACTIONS="true", CI="true", GITHUB_STEP_SUMMARY="summary.md")
    assert code == 1 and errors == "", errors
    compared("github", texted(output))
    with open(f"{directory.name}/summary.md") as file:
        compared("github-summary", texted(file.read()))
    directory.cleanup()
    for mode in MODES[1:]:
        code, output, errors, directory = piped(
            weft, ["--output", mode], GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY="/nowhere/summary.md")
        assert code == 1 and "::group::" not in output and "::error title=broken" in output, (mode, output)
        assert "warning: the table of steps cannot be added" in errors, errors
        directory.cleanup()


def in_a_narrow_window(weft):
    """a narrow window wraps lines of output, and the live area fits before and after a resize"""
    screen = Screen(weft, {"parallel": [
        {"id": "wide", "run": "echo a line of output that is a good deal longer than this terminal is wide; read l <wide.fifo"},
        {"id": "other", "run": "read l <other.fifo"}]}, 30, 12, arguments=["-j2"])
    try:
        screen.wait_for("2 running")
        screen.release("wide.fifo")
        screen.wait_for("rminal is wide", "1 running")
        compared("narrow", screen.text())
        screen.resize(70, 12)
        screen.release("other.fifo")
        assert screen.status() == 0
        assert "2 steps succeeded" in screen.text() and "running" not in screen.text(), screen.text()
    finally:
        screen.close()


def alone(weft):
    """a step that runs alone is shown line by line; a prompt and a progress bar are shown while they are there"""
    screen = Screen(weft, {"steps": [{"id": "ask", "run":
        "echo one; read l <a.fifo; printf 'Name: '; read l <b.fifo; echo $l; printf '10%%\\r20%%\\r'; read l <c.fifo; echo done"}]})
    try:
        screen.wait_for("one\n  ask")
        screen.release("a.fifo")
        screen.wait_for("one\nName:\n  ask")
        screen.release("b.fifo")
        screen.wait_for("one\nName: go\n20%\n  ask")
        screen.release("c.fifo")
        assert screen.status() == 0
        compared("alone", screen.text())
    finally:
        screen.close()


def a_secret_prompt(weft):
    """secrets are masked in lines that have not ended, too"""
    screen = Screen(weft, {"secrets": {"token": {"env": "TOKEN"}}, "steps": [
        {"id": "ask", "env": {"T": "${{ secrets.token }}"}, "run": "printf 'with %s and %s: ' $T hunter2hunter2; read l <a.fifo"}]},
        TOKEN="hunter2hunter2")
    try:
        screen.wait_for("with *** and ***:")
        screen.release("a.fifo")
        assert screen.status() == 0
        assert b"hunter2" not in screen.bytes, screen.bytes
    finally:
        screen.close()


def interrupted(weft):
    """^C in the middle of a line: what was written is shown, then the summary"""
    for mode in ("auto", "group", "stream"):
        screen = Screen(weft, {"steps": [
            {"id": "work", "run": "echo begun; printf half; read l <a.fifo"}, "echo never"]},
            arguments=["--output", mode])
        try:
            screen.wait_for("begun", "running")
            screen.press(b"\x03")
            assert screen.status() == 130
            compared(f"interrupted-{mode}", screen.text())
        finally:
            screen.close()


def in_the_background(weft):
    """after ^Z and bg nothing is written over the shell; fg shows what has come meanwhile"""
    with Shell(weft, {"steps": [{"id": "work", "run":
            "echo before; read l <a.fifo; echo behind; read l <b.fifo; echo after; read l <c.fifo"}]}) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for_screen("before")
        shell.press("\x1a")
        shell.wait_for_prompt()
        shell.run("bg")
        shell.wait_for_prompt()
        shell.release("a.fifo")
        time.sleep(0.5)
        shell.run("echo still here")
        shell.wait_for_prompt()
        assert b"behind" not in shell.output, shell.text()
        shell.run("fg")
        shell.wait_for_screen("behind")
        shell.release("b.fifo")
        shell.wait_for_screen("after")
        shell.release("c.fifo")
        shell.wait_for_prompt()
        assert shell.status() == 0
        rest = shell.output.partition(b"fg\r\n")[2]
        assert rest.count(b"behind") == 1 and b"before" not in rest, rest


def followed(weft):
    """a run that another terminal follows is shown there in its own mode"""
    screen = Screen(weft, {"steps": [{"id": "work", "run": "echo one; read l <a.fifo; echo two"}]},
                    arguments=["--output", "none"])
    beside = None
    try:
        screen.wait_for("running")
        beside = Screen(weft, None, command=("show", "--follow"), arguments=["--output", "stream"], beside=screen)
        beside.wait_for("one\n  work")
        screen.release("a.fifo")
        assert beside.status() == 0 and screen.status() == 0
        assert "one\ntwo\n✓ work" in beside.text(), beside.text()
        assert "one" not in screen.text(), screen.text()
    finally:
        if beside:
            beside.close()
        screen.close()


def resumed(weft):
    """a resumed run shows the output of what it runs, and nothing again"""
    screen = Screen(weft, {"steps": ["echo first", {"id": "second", "run": "echo again; test -e ok"}]})
    again = None
    try:
        assert screen.status() == 1
        with open(f"{screen.path}/ok", "w"):
            pass
        again = Screen(weft, None, command=("resume",), arguments=["--output", "group"], beside=screen)
        assert again.status() == 0
        compared("resumed", again.text())
    finally:
        if again:
            again.close()
        screen.close()


def a_million_lines(weft):
    """a million lines pass a pipe whole, with and without a record, and a terminal gets at most 20 of them"""
    step = {"steps": [{"id": "many", "run": "seq 1000000", "logLimit": "100MiB"}]}
    for record in ("process", "none"):
        code, output, _, directory = piped(weft, ["--record", record, "--output", "stream"], step)
        lines = [line for line in output.splitlines() if line.startswith("[many]")]
        assert code == 0 and len(lines) == 1_000_000, (record, len(lines))
        assert all(line == f"[many] {number}" for number, line in enumerate(lines, 1)), record
        directory.cleanup()
        screen = Screen(weft, step, 80, 24, arguments=["--record", record, "--output", "group"])
        try:
            assert screen.status() == 0
            text = screen.text()
            assert "│ 10\n" in text and "│ 1000000\n" in text and " more" in text, text
            assert len(text.splitlines()) < 26, text
        finally:
            screen.close()


# The bytes that a server sends for a path before it closes the connection.
BROKEN = {
    "/none": b"",
    "/moved": b"HTTP/1.1 302 Found\r\nLocation: /short\r\nContent-Length: 0\r\n\r\n",
    "/short": b"HTTP/1.1 200 OK\r\nX-Token: hunter22\r\nContent-Length: 50\r\n\r\nhalf of hunter22 a\xc3",
    "/long": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000,
    "/slow": b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\npart",
}


def incomplete_responses(weft):
    """A request without a complete response leaves a log: what was sent, and as much of the response as arrived."""
    server = socket.create_server(("127.0.0.1", 0))
    release = threading.Event()

    def serve(connection):
        path = connection.recv(65536).decode().split()[1].partition("?")[0]
        connection.sendall(BROKEN[path])
        if path == "/slow":
            release.wait(30)
        connection.close()

    def accept():
        while True:
            threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    url = f"http://127.0.0.1:{server.getsockname()[1]}"
    short = "HTTP/1.1 200\nX-Token: ***\nContent-Length: 50\n\nhalf of *** a\n[response incomplete: 19 bytes of the body received]\n"
    expected = {
        "none": ({}, f"GET {url}/none\n[no response]\n"),
        "short": ({"query": {"k": "${{ secrets.T }}"}}, f"GET {url}/short?k=***\n{short}"),
        "moved": ({}, f"GET {url}/moved\n302 {url}/moved -> {url}/short\nGET {url}/short\n{short}"),
        "long": ({"maxBytes": "1KiB"}, f"GET {url}/long\nHTTP/1.1 200\nContent-Type: text/plain\nContent-Length: 5000\n\n"
                 "[response incomplete: 0 bytes of the body received]\n"),
        "slow": ({"timeout": "500ms"}, f"GET {url}/slow\nHTTP/1.1 200\nContent-Length: 50\n\npart\n"
                 "[response incomplete: 4 bytes of the body received]\n"),
    }
    place = Place(weft, {"onFailure": "continue", "secrets": {"T": {"file": "token"}}, "parallel": [
        {"id": name, "http": {"url": f"{url}/{name}", **keys}} for name, (keys, _) in expected.items()]})
    (place.path / "token").write_text("hunter22\n")
    (place.path / "token").chmod(0o600)
    result = place.run()
    release.set()
    assert result.returncode == 1 and "0 of 5 steps succeeded" in result.stdout, result
    for name, (_, log) in expected.items():
        assert place.call("logs", name).stdout == log, (name, place.call("logs", name).stdout)


TESTS = [incomplete_responses, on_a_terminal, hello, quiet, colours, in_a_pipe, in_ci, in_a_narrow_window, alone, a_secret_prompt, interrupted,
         in_the_background, followed, resumed, a_million_lines]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, TESTS))
