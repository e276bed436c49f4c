#!/usr/bin/env python3
"""Runs steps that have the terminal (`tty`) under an interactive bash, as people do.

usage: test_terminal.py PATH_TO_WEFT          (needs pexpect, pyte and git)
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

from lib import cases, pace
from lib.session import Run
from lib.shell import Shell
from lib.workplace import LIMIT, state, step, wait_until


def python(text, **keys):
    """A step at the terminal that runs Python and holds the lock."""
    return dict(keys, tty=True, run=["python3", "-c", "import fcntl, os, signal, sys, termios, tty\n"
                                     "fcntl.flock(lock := open('lock'), fcntl.LOCK_SH)\n"
                                     "def tell(name, text=''):\n"
                                     "  with open(name, 'w') as fifo: fifo.write(str(text))\n" + text])


# Asks like sudo, ssh and gpg: from /dev/tty, without echo.
PASSWORD = python("import getpass\nopen('result', 'w').write(getpass.getpass('Password: '))")
# Draws like less and vim: the alternate screen, no cursor, raw mode, mouse and paste reports.
DRAWS = ("tty.setraw(0)\n"
         "sys.stdout.write('\\x1b[?1049h\\x1b[?25l\\x1b[?1000h\\x1b[?2004h\\x1b[31mon the whole screen')\n"
         "sys.stdout.flush()\n")
CLEANED = [b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[0m", b"\x1b[?2004l", b"\x1b[?1000l"]


def ended_well(shell, code=0):
    shell.wait_for_prompt()
    assert shell.status() == code, shell.text()
    assert shell.terminal_is_as_before(), "the terminal's modes have changed"
    assert shell.nothing_is_alive()
    assert shell.foreground() == shell.bash.pid


def password(weft):
    """P22: a step at the terminal asks for a password there, unseen, and nothing of it is recorded"""
    with Shell(weft, {"steps": [PASSWORD, "test -s result"]}) as shell:
        shell.run("weft run --events events workflow.json")
        shell.wait_for_screen("Password:")
        shell.press("open sesame\n")
        ended_well(shell)
        assert shell.file("result") == "open sesame"
        assert b"sesame" not in shell.output, shell.output
        assert not any(event["type"] == "step.output" for event in shell.events())
        ends = [event for event in shell.events() if event["type"] == "step.finished"]
        assert len(ends) == 2 and all("usage" in end for end in ends), ends


def killed_on_the_whole_screen(weft):
    """K23: a program that a timeout kills in raw mode on the alternate screen leaves neither"""
    # A busy machine may need longer than the first timeouts to start Python.
    for timeout in 1, 5, 25:
        step = python("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + DRAWS
                      + "while True: signal.pause()", id="work", timeout=f"{timeout}s", stop={"grace": "100ms"})
        with Shell(weft, {"steps": [step]}) as shell:
            shell.run("weft run workflow.json")
            ended_well(shell, 1)
            _, drawn, after = shell.output.partition(b"on the whole screen")
        if drawn:
            break
    for sequence in CLEANED:
        assert sequence in after, (sequence, after)
    assert b"timed out" in after, after


def ended_by_itself(weft):
    """K23: nothing is written to the terminal after a program that restored it itself"""
    with Shell(weft, {"steps": [python("print('hello')\ntty.setraw(0)")]}) as shell:
        shell.run("weft run workflow.json")
        ended_well(shell)
        for sequence in CLEANED[:2]:
            assert sequence not in shell.output, shell.output


def git_commit(weft):
    """P22: git commit opens its editor on the terminal"""
    editor = ("#!/bin/sh\nprintf 'message: ' >/dev/tty\nread line </dev/tty\n"
              "echo \"$line\" >\"$1\"\n")
    with Shell(weft, {"steps": [
            "git init -q repository", {"run": ["git", "-C", "repository", "commit", "--allow-empty"],
                                       "tty": True, "id": "commit"}]},
               GIT_AUTHOR_NAME="A", GIT_AUTHOR_EMAIL="a@example.com", GIT_COMMITTER_NAME="A",
               GIT_COMMITTER_EMAIL="a@example.com") as shell:
        with open(f"{shell.path}/editor", "w") as file:
            file.write(editor)
        os.chmod(f"{shell.path}/editor", 0o755)
        shell.run("GIT_EDITOR=$PWD/editor weft run workflow.json")
        shell.wait_for_screen("file... message:")
        shell.press("written by hand\n")
        ended_well(shell)
        log = subprocess.run(["git", "-C", f"{shell.path}/repository", "log", "--format=%s"],
                             capture_output=True, text=True, check=True)
        assert log.stdout == "written by hand\n", log


def alone(weft):
    """K23: one step at a time has the terminal; output of other steps is shown afterwards"""
    with Shell(weft, {"parallel": [
            python("print('first asks')\ninput()\nprint('first is done')", id="first"),
            python("print('second asks')\ninput()\nprint('second is done')", id="second"),
            step("echo >began.fifo; sleep 0.5; echo ends >other.fifo", id="other")]}) as shell:
        shell.run("weft run -j 3 workflow.json")
        shell.wait_for_screen(" asks")
        first = "first" if b"first asks" in shell.output else "second"
        second = "second" if first == "first" else "first"
        shell.wait_for("began.fifo")
        shell.wait_for("other.fifo")
        seen = shell.output
        assert b"running" not in seen.partition(b" asks")[2], seen
        assert f"{second} asks".encode() not in seen, seen
        shell.press("\n")
        shell.wait_for_screen(f"{second} asks")
        shell.press("\n")
        ended_well(shell)
        order = [shell.output.index(text.encode()) for text in
                 (f"{first} asks", f"{first} is done", f"{second} asks", f"{second} is done")]
        assert order == sorted(order), shell.output
        assert shell.output.index(b"other  ") > order[1], shell.output


def a_wait_for_the_terminal_ends(weft):
    """K11: a step that waits for the terminal when the run is cancelled never starts"""
    holds = ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(open('end.fifo').read()))\n"
             "tell('began.fifo'); signal.pause()")
    with Shell(weft, {"parallel": [python(holds), python(holds)]}) as shell:
        shell.run("weft run -j 2 --events events workflow.json")
        shell.wait_for("began.fifo")
        wait_until(lambda: shell.file("events").count('"step.started"') == 2, "both steps")
        os.kill(shell.weft_process(), signal.SIGTERM)
        # While the other still has the terminal.
        wait_until(lambda: '"step.finished"' in shell.file("events"), "the step that waits")
        shell.release("end.fifo")
        ended_well(shell, 143)
        ends = [event for event in shell.events() if event["type"] == "step.finished"]
        assert ["exit" in end for end in ends] == [False, True], ends


def interrupted(weft):
    """K15: ^C at a step that has the terminal is for that step alone"""
    with Shell(weft, {"steps": [python(
            "signal.signal(signal.SIGINT, lambda *_: tell('told.fifo', 'told'))\n"
            "print('works')\nsys.stdout.flush()\nsignal.pause()", id="work"), "touch after"]}) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for_screen("works")
        shell.press("\x03")
        assert shell.wait_for("told.fifo") == "told"
        ended_well(shell)
        assert os.path.exists(f"{shell.path}/after")


def stopped_and_continued(weft):
    """K23: ^Z at a step that has the terminal stops weft and all its steps; fg gives the terminal back"""
    with Shell(weft, {"parallel": [
            python(DRAWS.replace("tty.setraw(0)", "tty.setcbreak(0)")
                   + "tell('began.fifo', os.getpid())\nkey = os.read(0, 1)\n"
                     "open('result', 'wb').write(key)", id="work"),
            step("echo $$ >other.fifo; read line <end.fifo", id="other")]}) as shell:
        shell.run("weft run -j 2 workflow.json")
        work, other = int(shell.wait_for("began.fifo")), int(shell.wait_for("other.fifo"))
        assert shell.foreground() == work
        for _ in range(2):
            shell.press("\x1a")
            shell.wait_for_prompt()
            for process in (work, other, shell.weft_process()):
                wait_until(lambda: state(process) == "T", "weft and its steps to stop")
            assert shell.terminal_is_as_before()
            shell.run("fg")
            wait_until(lambda: shell.foreground() == work, "the step to have the terminal again")
            wait_until(lambda: state(work) == "S" and state(other) == "S", "the steps to go on")
            assert not shell.terminal_is_as_before(), "the step's own modes are lost"
        shell.press("q")
        wait_until(lambda: os.path.exists(f"{shell.path}/result"), "the step to end")
        shell.release("end.fifo")
        ended_well(shell)
        assert shell.file("result") == "q"


def stopped_from_elsewhere(weft):
    """K23: weft stopped by kill -TSTP takes the terminal back from a step, and in the background keeps it"""
    with Shell(weft, {"steps": [python(
            DRAWS + "tell('began.fifo', os.getpid())\nopen('result', 'wb').write(os.read(0, 1))",
            id="work")]}) as shell:
        shell.run("weft run workflow.json")
        work = int(shell.wait_for("began.fifo"))
        os.kill(shell.weft_process(), signal.SIGTSTP)
        shell.wait_for_prompt()
        assert state(work) == "T" and shell.terminal_is_as_before()
        shell.run("bg")
        shell.wait_for_prompt()
        assert shell.status() == 0
        assert state(work) == "T" and shell.foreground() == shell.bash.pid
        shell.run("fg")
        wait_until(lambda: shell.foreground() == work, "the step to have the terminal again")
        assert not shell.terminal_is_as_before()
        shell.press("q")
        ended_well(shell)
        assert shell.file("result") == "q"


def nobody_to_continue(weft):
    """K23: without a shell that could continue weft, a step that ^Z has stopped continues at once"""
    with Shell(weft, {"steps": [python(
            "signal.signal(signal.SIGCONT, lambda *_: tell('continued.fifo', os.tcgetpgrp(0)))\n"
            "tell('began.fifo', os.getpid())\nsignal.pause()", id="work")]}) as shell:
        shell.run("exec weft run workflow.json")
        work = shell.wait_for("began.fifo")
        shell.press("\x1a")
        assert shell.wait_for("continued.fifo") == work, "continued without the terminal"
        shell.wait_for_end()
        assert b"1 step succeeded" in shell.output, shell.output


def hung_up(weft):
    """K18: a terminal that closes under a step that has it ends the run"""
    run = Run(weft, {"steps": [python("tell('began.fifo'); signal.pause()", id="work"), "touch after"]})
    try:
        run.wait_for("began.fifo")
        os.close(run.terminal)
        run.terminal = os.open("/dev/null", os.O_RDONLY)
        assert run.process.wait(timeout=LIMIT) == 129
        assert run.nothing_is_alive() and not os.path.exists(f"{run.path}/after")
    finally:
        run.close()


def display_is_blocked(weft):
    """K11: a step that waits for a blocked display (^S) ends with the run"""
    with Shell(weft, {"steps": [
            step("echo >began.fifo; sleep 0.5; echo >later.fifo"),
            python("signal.pause()", id="work")]}) as shell:
        shell.run("weft run --events events workflow.json")
        shell.wait_for("began.fifo")
        shell.wait_for_screen("1 running")
        shell.press("\x13")
        shell.wait_for("later.fifo")
        wait_until(lambda: shell.file("events").count('"step.started"') == 2, "the second step")
        os.kill(shell.weft_process(), signal.SIGTERM)
        wait_until(lambda: '"run.finished"' in shell.file("events"), "the end of the run")
        ends = [event for event in shell.events() if event["type"] == "step.finished"]
        assert ends[-1]["step"] == "work" and "exit" not in ends[-1], "it was started"
        shell.press("\x11")
        ended_well(shell, 143)


def left_at_once(weft):
    """K16: the third ^C exits within 100 ms with the terminal as it was, though a kill is stuck"""
    for at_terminal in (False, True):
        # Any single one may be slow on a busy machine.
        times = [leaving(weft, at_terminal) for _ in range(3)]
        assert min(times) < 0.1, times


def leaving(weft, at_terminal):
    """The time from the third interrupt to the shell's prompt, in seconds."""
    work = python(DRAWS + "tell('began.fifo', os.getpid())\nsignal.pause()", id="work")
    if not at_terminal:
        work = step("echo $$ >began.fifo; read line <go.fifo", id="work")
    with Shell(weft, {"steps": [work]}) as shell:
        shell.run("weft run workflow.json")
        work = int(shell.wait_for("began.fifo"))
        weft_process = shell.weft_process()

        def interrupt():
            # A step that has the terminal receives the key, too.
            if at_terminal:
                pace.keep()
                os.kill(weft_process, signal.SIGINT)
            else:
                shell.press("\x03")

        # A traced process stops before each signal but KILL, and its tracer reaps it before its parent does.
        trace(work)
        interrupt()
        wait_until(lambda: state(work) == "t", "the step to get TERM")
        interrupt()
        wait_until(lambda: state(work) == "Z", "the step to be killed")
        assert state(weft_process) == "S", "ended without having reaped the step"
        time.sleep(pace.REPETITION)
        began = time.monotonic()
        interrupt()
        shell.wait_for_prompt()
        took = time.monotonic() - began
        os.waitpid(work, 0)
        assert shell.status() == 130
        assert shell.terminal_is_as_before() and shell.foreground() == shell.bash.pid
        assert not at_terminal or CLEANED[0] in shell.output
        return took


def trace(process):
    """Makes this process the tracer of a process (ptrace, PTRACE_SEIZE)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(0x4206, process, None, None) != 0:
        raise OSError(ctypes.get_errno(), "PTRACE_SEIZE")


def without_a_terminal(weft):
    """P22: without a terminal, or in the background, a step that wants one fails at its start"""
    workflow = {"steps": [python("print('started')", id="work")]}
    with Shell(weft, workflow) as shell:
        shell.run("setsid -w weft run workflow.json")
        shell.wait_for_prompt()
        assert shell.status() == 1
        assert "it needs a terminal, but there is none" in shell.text(), shell.text()
        shell.run("weft run workflow.json & wait %1; echo ended $?")
        shell.wait_for_screen("ended 1")
        assert b"weft is in the background" in shell.output, shell.text()
        assert b"started" not in shell.output, shell.text()


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        password, killed_on_the_whole_screen, ended_by_itself, git_commit, alone,
        a_wait_for_the_terminal_ends, interrupted, stopped_and_continued, stopped_from_elsewhere,
        nobody_to_continue, hung_up, display_is_blocked, left_at_once, without_a_terminal]))
