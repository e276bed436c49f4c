#!/usr/bin/env python3
"""Sends signals to a running weft, over a terminal and without one, and looks at what is left.

usage: test_signals.py PATH_TO_WEFT
"""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import termios
import time

from lib import cases
from lib.place import Place
from lib.session import Run
from lib.workplace import LIMIT, step, wait_until


# Ends at TERM, as programs do; `began` is written when it runs.
OBEDIENT = [step("echo began >began.fifo; exec sleep 1000", id="work"), "touch after"]
# Reports TERM and continues, and so does a child of it.
STUBBORN = [step("trap 'echo told >told.fifo' TERM; (trap '' TERM; exec sleep 1000) & "
                 "echo began >began.fifo; while :; do wait; done", id="work"), "touch after"]
# Writes more than is ever read.
NOISY = step("echo began >began.fifo; exec yes 'a line of the many that fill a pipe'", id="work")


def interrupted_once(weft):
    """K15: ^C once ends what runs, starts nothing new, exits 130"""
    run = Run(weft, {"steps": OBEDIENT})
    try:
        run.wait_for("began.fifo")
        run.press(b"\x03")
        assert run.status() == 130, run.output
        assert run.nothing_is_alive()
        assert not os.path.exists(f"{run.path}/after")
        assert b"interrupted" in run.output, run.output
        assert run.terminal_is_as_before()
    finally:
        run.close()


def interrupted_twice(weft):
    """K16: the first ^C says what a second does; the second kills at once"""
    run = Run(weft, {"steps": STUBBORN})
    try:
        run.wait_for("began.fifo")
        run.press(b"\x03")
        run.wait_for("told.fifo")
        run.read_until("^C again kills now")
        assert not run.nothing_is_alive()
        started = time.monotonic()
        run.press(b"\x03")
        assert run.status() == 130, run.output
        assert time.monotonic() - started < 9, "waited for the grace of 10 s"
        assert run.nothing_is_alive()
        assert not os.path.exists(f"{run.path}/after")
    finally:
        run.close()


def nothing_starts_after_the_second(weft):
    """^C twice: not even a step that always runs is reported as started"""
    run = Run(weft, {"steps": STUBBORN + [{"id": "always", "if": "always()", "run": "touch always"}]},
              ["--events", "events"])
    try:
        run.wait_for("began.fifo")
        run.press(b"\x03")
        run.wait_for("told.fifo")
        run.press(b"\x03")
        assert run.status() == 130, run.output
        of_it = [event["type"] for event in run.events() if event.get("step") == "always"]
        assert of_it[-1] == "step.skipped" and "step.started" not in of_it, of_it
    finally:
        run.close()


def quits(weft):
    """^\\ kills at once, like the second ^C, and prints no backtrace"""
    run = Run(weft, {"steps": STUBBORN})
    try:
        run.wait_for("began.fifo")
        started = time.monotonic()
        run.press(b"\x1c")
        assert run.status() == 131, run.output
        assert time.monotonic() - started < 9, "waited for the grace of 10 s"
        assert run.nothing_is_alive() and b"0x" not in run.output, run.output
    finally:
        run.close()


def interrupted_inside(weft):
    """^C once lets a Weft that is a step run its cleanup and finally"""
    for _ in range(6):
        run = Run(weft, {"steps": [step(f"{weft} run inner.json --state-dir .in", id="outer", cleanup="echo outer >>log")]}, others={
            "inner.json": {"steps": [step("echo began >began.fifo; sleep 1000", id="inner", cleanup="echo inner >>log")],
                           "finally": ["echo last >>log"]}})
        try:
            run.wait_for("began.fifo")
            run.press(b"\x03")
            assert run.status() == 130, run.output
            assert run.file("log").split() == ["inner", "last", "outer"], run.output
            assert run.nothing_is_alive()
        finally:
            run.close()


def interrupted_until_it_leaves(weft):
    """K16: ^C exits at once with 130 when all that is left is output without a reader"""
    run = Run(weft, {"steps": [NOISY]}, terminal=False)
    try:
        run.wait_for("began.fifo")
        wait_until(lambda: pipe_fills(run.terminal), "a pipe that fills")
        run.process.send_signal(signal.SIGINT)
        wait_until(run.nothing_is_alive, "the end of the step")
        assert run.process.poll() is None, "ended though nobody has read what it says"

        def gone():
            run.process.send_signal(signal.SIGINT)
            return run.process.poll() is not None

        wait_until(gone, "the end of weft")
        assert run.process.returncode == 130, run.process.returncode
    finally:
        run.close()


def terminated(weft):
    """K18: SIGTERM ends the run as ^C does and exits 143"""
    ended_by(weft, signal.SIGTERM, 143, "SIGTERM")


def told_twice(weft):
    """`timeout` sends TERM to weft and to the group of weft: that is one request, and cleanups run"""
    for _ in range(4):
        run = Run(weft, {"steps": [step("echo began >began.fifo; exec sleep 1000", id="work", cleanup="echo undone >>log")],
                         "finally": ["echo last >>log"]}, terminal=False)
        try:
            run.wait_for("began.fifo")
            os.kill(run.process.pid, signal.SIGTERM)
            os.killpg(run.process.pid, signal.SIGTERM)
            assert run.status() == 143, run.output
            assert run.file("log").split() == ["undone", "last"], run.output
        finally:
            run.close()


def told_while_programs_start(weft):
    """A program that is about to start is still in the group of weft: a signal to the group is not meant for it"""
    run = Run(weft, {"steps": [step("echo began >began.fifo; exec sleep 1000", id="work",
                                    cleanup=["echo undone >>log"] * 60)]}, terminal=False)
    try:
        run.wait_for("began.fifo")
        began = time.monotonic()
        os.kill(run.process.pid, signal.SIGTERM)
        # These count as the same request, since they come in the same tenth of a second.
        while time.monotonic() - began < 0.08:
            os.killpg(run.process.pid, signal.SIGTERM)
        assert run.status() == 143, run.output
        assert run.file("log").split() == ["undone"] * 60, run.output
    finally:
        run.close()


def hung_up(weft):
    """K18: SIGHUP ends the run as ^C does and exits 129"""
    ended_by(weft, signal.SIGHUP, 129, "SIGHUP")


def ended_by(weft, number, code, name):
    for terminal in (True, False):
        run = Run(weft, {"steps": OBEDIENT}, terminal=terminal)
        try:
            run.wait_for("began.fifo")
            run.process.send_signal(number)
            assert run.status() == code, run.output
            assert run.nothing_is_alive()
            assert not os.path.exists(f"{run.path}/after")
            assert name.encode() in run.output, run.output
        finally:
            run.close()


def terminal_goes_away(weft):
    """K18: a terminal that closes is SIGHUP: the run ends, nothing is left"""
    run = Run(weft, {"steps": OBEDIENT})
    try:
        run.wait_for("began.fifo")
        os.close(run.terminal)
        run.terminal = os.open("/dev/null", os.O_RDONLY)
        assert run.process.wait(timeout=LIMIT) == 129
        assert run.nothing_is_alive()
    finally:
        run.close()


def hangup_is_ignored(weft):
    """K20: SIGHUP that was ignored at the start, as under nohup, stays ignored"""
    for number in (signal.SIGHUP, signal.SIGINT):
        run = Run(weft, {"steps": [
            step("echo began >began.fifo; read line <go.fifo; echo went on", id="work")]},
            terminal=False, prepare=lambda: signal.signal(number, signal.SIG_IGN))
        try:
            run.wait_for("began.fifo")
            run.process.send_signal(number)
            run.release("go.fifo")
            assert run.status() == 0, run.output
            assert b"went on" in run.output, run.output
        finally:
            run.close()


def nohup_for_real(weft):
    """K20: nohup weft run continues when its terminal closes"""
    run = Run(weft, {"steps": [
        step("echo began >began.fifo; read line <go.fifo; echo went on >result", id="work")]},
        prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    try:
        run.wait_for("began.fifo")
        os.close(run.terminal)
        run.terminal = os.open("/dev/null", os.O_RDONLY)
        run.release("go.fifo")
        code = run.process.wait(timeout=LIMIT)
        # Its terminal is gone, so its output was lost: the exit code reports that.
        assert code == 4, code
        assert run.file("result") == "went on\n"
        assert run.nothing_is_alive()
    finally:
        run.close()


def blocked_output(weft):
    """K15: ^C takes effect while the program's output is not read, and all of it comes later"""
    run = Run(weft, {"steps": [NOISY]}, terminal=False)
    try:
        run.wait_for("began.fifo")
        wait_until(lambda: pipe_fills(run.terminal), "a pipe that fills")
        run.process.send_signal(signal.SIGINT)
        wait_until(run.nothing_is_alive, "the end of the step")
        assert run.status() == 130
        assert b"interrupted" in run.output[-1000:], run.output[-1000:]
    finally:
        run.close()


def interrupted_before_it_begins(weft):
    """G08: ^C while a workflow is read and planned ends weft at once, and nothing starts"""
    with tempfile.TemporaryDirectory(prefix="weft-signals-") as path:
        process = subprocess.Popen(
            [weft, "run", "-"], cwd=path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        # More than a pipe holds: when it has all been read, weft is parsing it.
        process.stdin.write(b'{"steps":["touch started"' + b', "true"' * 100_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=LIMIT)
        assert process.returncode in (-signal.SIGINT, 130), process.returncode
        assert output == b"", output
        assert os.listdir(path) == []


def closing_is_not_cut_short(weft):
    """a signal between the end of a run and that of its record ends the program only after that"""
    for _ in range(10):
        place = Place(weft, {"concurrency": "one", "steps": ["true"]})
        process = place.start("run", "w.json")
        place.until(lambda: list(place.path.glob(".weft/runs/*/journal.jsonl")))
        place.until(lambda: b'"run.finished"' in place.journal.read_bytes())
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) in (0, 128 + signal.SIGTERM)
        assert (place.folder / "report.json").exists()
        assert list(place.path.glob(".weft/concurrency/*")) == []


def everything_is_ignored(weft):
    """P21: weft itself ignores and blocks what it can, and a step has all signals' default effects"""
    def prepare():
        others = set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}
        for number in others:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, others)

    program = {"run": ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]}
    run = Run(weft, {"steps": [program, program]}, terminal=False, prepare=prepare)
    try:
        assert run.status() == 0, run.output
        masks = [line.split()[-1] for line in run.output.split(b"\n")
                 if line.split(b"] ")[-1].startswith((b"SigBlk:", b"SigIgn:"))]
        assert masks == [b"0" * 16] * 4, run.output
    finally:
        run.close()


def ends_of_programs_wake_nobody(weft):
    """the threads that start programs let CHLD through: blocked, each would wake the main thread"""
    script = "for task in /proc/$PPID/task/*; do grep -h -E '^(Name|SigBlk)' $task/status; done"
    run = Run(weft, {"steps": [script]}, terminal=False)
    try:
        assert run.status() == 0, run.output
        words = [line.split()[-1] for line in run.output.split(b"\n")
                 if line.split(b"] ")[-1].startswith((b"Name:", b"SigBlk:"))]
        masks = [int(mask, 16) for name, mask in zip(words[::2], words[1::2])
                 if name == b"weft-blocking"]
        assert masks, run.output
        for mask in masks:
            assert mask >> signal.SIGTERM - 1 & 1 == 1, run.output
            assert mask >> signal.SIGCHLD - 1 & 1 == 0, run.output
    finally:
        run.close()


def pipe_fills(descriptor):
    """Whether the pipe is more than half full; short writes leave the rest of a page unused."""
    held = fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4)
    return int.from_bytes(held, sys.byteorder) > fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ) / 2


TESTS = [interrupted_once, interrupted_twice, nothing_starts_after_the_second, quits, interrupted_inside,
         interrupted_until_it_leaves, terminated, told_twice, told_while_programs_start, hung_up,
         terminal_goes_away, hangup_is_ignored, nohup_for_real, blocked_output,
         interrupted_before_it_begins, closing_is_not_cut_short, everything_is_ignored, ends_of_programs_wake_nobody]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, TESTS))
