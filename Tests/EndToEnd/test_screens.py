#!/usr/bin/env python3
"""Checks what weft draws on a terminal, as a whole screen at moments when steps wait.

usage: test_screens.py PATH_TO_WEFT          (needs pyte)
       UPDATE_GOLDEN=1 test_screens.py …     rewrites the recorded screens

The screens are kept in data/screens. Durations are written TIME and the clock CLOCK, whatever they are; the blanks
that align a column of ages stay. A step waits by opening a FIFO for reading: the script opens it for writing when it
has seen enough.
"""

import difflib
import fcntl
import http.server
import os
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

from lib import cases
from lib.screen import LIMIT, Screen

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data/screens")


def same(name, screen):
    """Waits until the whole screen is as recorded: a step whose end no test waits for may end a moment later."""
    path = f"{GOLDEN}/{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        while screen.take(time.monotonic() + 0.5):
            pass
        os.makedirs(GOLDEN, exist_ok=True)
        with open(path, "w") as file:
            file.write(screen.text())
    with open(path) as file:
        kept = file.read()
    deadline = time.monotonic() + LIMIT
    while screen.text() != kept and screen.take(deadline):
        pass
    difference = "\n".join(difflib.unified_diff(
        kept.splitlines(), screen.text().splitlines(), path, "now", lineterm=""))
    assert not difference, difference


def held(name, *lines):
    """A step that prints lines and then waits."""
    said = "".join(f"echo '{line}'; " for line in lines)
    return {"id": name, "run": f"{said}read line <{name}.fifo"}


def running_and_ending(weft):
    """running steps have a line each; ended ones scroll above"""
    screen = Screen(weft, {"steps": [
        {"id": "both", "parallel": [held("one", "first line", "second line"), held("two")]},
        {"id": "last", "name": "the last one", "run": "echo done"}]}, arguments=["-j4"])
    try:
        screen.wait_for("second line", "  two", "2 running")
        same("running", screen)
        screen.release("one.fifo")
        screen.wait_for("1/3 done")
        same("one-ended", screen)
        screen.release("two.fifo")
        assert screen.status() == 0
        same("ended", screen)
    finally:
        screen.close()


def failing(weft):
    """failures are reported at the end with their last lines, the cause first"""
    screen = Screen(weft, {"steps": [
        {"id": "noise", "run": "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $n; done; exit 3"},
        "echo never", "echo never"]}, rows=24)
    try:
        assert screen.status() == 1
        same("failed", screen)
    finally:
        screen.close()


def resized(weft):
    """after a resize every line fits again"""
    screen = Screen(weft, {"parallel": [
        held("long", "a line of output that is a good deal longer than a small terminal is wide"),
        held("short")]}, columns=100, arguments=["-j4"])
    try:
        screen.wait_for("terminal is wide", "short", "2 running")
        same("wide", screen)
        screen.resize(40, 10)
        screen.release("short.fifo")
        screen.wait_for("✓ short", "1/2 done")
        same("narrow", screen)
        screen.release("long.fifo")
        assert screen.status() == 0
    finally:
        screen.close()


def more_steps_than_rows(weft):
    """what does not fit is counted"""
    names = [f"step-{number:02}" for number in range(1, 21)]
    screen = Screen(weft, {"parallel": [
        {"id": name, "run": f"read line <{name.replace('-', '_')}.fifo"} for name in names]},
        rows=10, arguments=["-j20"])
    try:
        screen.wait_for("20 running")
        same("more-than-rows", screen)
        for name in names:
            screen.release(f"{name.replace('-', '_')}.fifo")
            screen.take(time.monotonic())
        assert screen.status() == 0
        screen.wait_for("20 steps succeeded")
    finally:
        screen.close()


def interrupted(weft):
    """^C reports its effect and that of a second one; the second kills"""
    screen = Screen(weft, {"steps": [
        {"id": "stubborn",
         "run": "trap 'echo told' TERM; (trap '' TERM; exec sleep 1000) & echo ready; "
                "while :; do wait; done"},
        "echo never"]})
    try:
        screen.wait_for("ready")
        screen.press(b"\x03")
        screen.wait_for("told", "^C again kills now")
        same("interrupted", screen)
        screen.press(b"\x03")
        assert screen.status() == 130
        same("killed", screen)
    finally:
        screen.close()


def no_cursor(weft):
    """C06: a dumb terminal, CI and a terminal of one column get plain lines"""
    for environment, size in [({"TERM": "dumb"}, (60, 16)), ({"CI": "true"}, (60, 16)),
                              ({}, (1, 16)), ({}, (60, 1))]:
        screen = Screen(weft, {"steps": [{"id": "hello", "run": "echo hello"}]}, *size, **environment)
        try:
            assert screen.status() == 0
            said = (environment, size, screen.bytes)
            assert b"[hello] hello" in screen.bytes, said
            assert b"\x1b[J" not in screen.bytes and b"\x1b[1A" not in screen.bytes, said
        finally:
            screen.close()


def odd_sizes(weft):
    """C06: a size of zero, and a storm of sizes, do no harm"""
    screen = Screen(weft, {"steps": [held("hello", "hello")]}, COLUMNS="0")
    try:
        screen.wait_for("hello")
        for number in range(200):
            fcntl.ioctl(screen.terminal, termios.TIOCSWINSZ,
                        struct.pack("HHHH", number % 7, number % 90, 0, 0))
            os.kill(screen.process.pid, signal.SIGWINCH)
        screen.resize(60, 16)
        screen.release("hello.fifo")
        assert screen.status() == 0
        screen.wait_for("1 step succeeded")
    finally:
        screen.close()


def reporting_progress(weft):
    """a step that reports its progress has a bar; other lines are ignored with one warning"""
    screen = Screen(weft, {"steps": [{"id": "build", "run":
        "echo starting; echo '3/10 linking \u202e it' >> \"$WEFT_PROGRESS\"; read line <one.fifo; "
        "echo 'no progress' >> \"$WEFT_PROGRESS\"; echo '8/10' >> \"$WEFT_PROGRESS\"; read line <two.fifo"
    }]})
    try:
        screen.wait_for("3/10")
        same("progress", screen)
        screen.release("one.fifo")
        screen.wait_for("8/10", "warning")
        screen.release("two.fifo")
        assert screen.status() == 0
        same("progress-ended", screen)
    finally:
        screen.close()


def loops(weft):
    """a loop has one bar for all its elements"""
    names = [f"e{number}.fifo" for number in range(4)]
    screen = Screen(weft, {"steps": [
        {"id": "each", "forEach": {"in": names, "maxParallel": 2, "tolerate": 1},
         "run": "read line <\"${{ item }}\"; test ${{ item }} != e1.fifo"}]}, columns=80)
    try:
        screen.wait_for("0/4", "2 running")
        same("loop", screen)
        for name in names[:2]:
            screen.release(name)
        screen.wait_for("2/4 · 2 running · 1 failed")
        for name in names[2:]:
            screen.release(name)
        assert screen.status() == 0
    finally:
        screen.close()


def waiting(weft):
    """waiting steps say for what, while they wait and in weft show"""
    screen = Screen(weft, {
        "pools": {"db": 1, "api": {"slots": 5, "rate": "1/1h"}}, "parallel": [
            {**held("holder"), "pool": "db"}, {"id": "second", "pool": "db", "run": "true"},
            {"id": "first", "pool": "api", "run": "true"},
            {"id": "rated", "pool": "api", "run": "true"},
            {"id": "narrow", "maxParallel": 1, "parallel": [held("in"), {"id": "next", "run": "true"}]},
            {"id": "after", "needs": ["holder", "in"], "run": "true"}]},
        columns=70, arguments=["-j4"])
    try:
        screen.wait_for('waits for pool "db", held by "holder"', 'waits for the rate of pool "api"',
                        'waits for a slot of "narrow"', "3 waiting")
        same("waiting", screen)
        shown = subprocess.run([weft, "show"], cwd=screen.path, capture_output=True, text=True).stdout
        for line in ['second: waits for pool "db", held by "holder"',
                     'rated: waits for the rate of pool "api"', 'next: waits for a slot of "narrow"',
                     'after: waits for "holder", "in"']:
            assert line in shown, (line, shown)
        screen.press(b"\x03")
        assert screen.status() == 130
    finally:
        screen.close()


def downloading(weft):
    """a download reports its bytes"""
    gate = threading.Event()

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "4000000")
            self.end_headers()
            self.wfile.write(bytes(1_000_000))
            time.sleep(0.5)
            self.wfile.write(bytes(1_000_000))
            gate.wait(30)
            self.wfile.write(bytes(2_000_000))

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    screen = Screen(weft, {"steps": [{"id": "fetch", "http": {
        "url": f"http://127.0.0.1:{server.server_port}/big", "saveTo": "big"}}]}, columns=80)
    try:
        screen.wait_for("2.0 MB of 4.0 MB")
        gate.set()
        assert screen.status() == 0
        assert os.path.getsize(f"{screen.path}/big") == 4_000_000
    finally:
        gate.set()
        server.shutdown()
        screen.close()


TESTS = [running_and_ending, failing, resized, more_steps_than_rows, interrupted, no_cursor,
         odd_sizes, reporting_progress, loops, waiting, downloading]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, TESTS))
