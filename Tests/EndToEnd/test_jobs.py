#!/usr/bin/env python3
"""Stops, continues and ends weft from an interactive bash, as people do, and looks at what is left.

usage: test_jobs.py PATH_TO_WEFT          (needs pexpect and pyte)
"""

import os
import signal
import sys

from lib import cases
from lib.shell import Shell
from lib.workplace import state, step, wait_until

# Writes its process id, and continues when a line arrives in the other FIFO.
PATIENT = step("echo $$ >began.fifo; read line <go.fifo; echo went on >result", id="work")

# Takes long enough for a display to be drawn several times.
SLOW = step("echo $$ >began.fifo; read line <first.fifo; sleep 0.5; echo later >later.fifo; "
            "read line <go.fifo; echo went on >result", id="work")


def stopped_and_continued(weft):
    """K23: ^Z stops weft and its steps and leaves a clean terminal; fg draws again, and ^C works"""
    with Shell(weft, {"steps": [PATIENT]}) as shell:
        shell.run("weft run workflow.json")
        work = int(shell.wait_for("began.fifo"))
        shell.wait_for_screen("1 running")
        shell.press("\x1a")
        shell.wait_for_prompt()
        wait_until(lambda: state(work) == "T", "the step to stop")
        assert state(shell.weft_process()) == "T"
        assert shell.terminal_is_as_before()
        assert "running" not in shell.text(), shell.text()
        shell.run("fg")
        shell.wait_for_screen("1 running")
        wait_until(lambda: state(work) == "S", "the step to go on")
        shell.press("\x03")
        shell.wait_for_prompt()
        assert shell.status() == 130
        assert shell.nothing_is_alive() and shell.terminal_is_as_before()


def continued_in_the_background(weft):
    """K23: after ^Z and bg the steps go on, and nothing is drawn but the result"""
    with Shell(weft, {"steps": [SLOW]}) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for("began.fifo")
        shell.wait_for_screen("1 running")
        shell.press("\x1a")
        shell.wait_for_prompt()
        shell.run("bg")
        shell.wait_for_prompt()
        seen = len(shell.output)
        shell.release("first.fifo")
        shell.wait_for("later.fifo")
        shell.release("go.fifo")
        shell.run("wait %1; echo waited $?")
        shell.wait_for_screen("waited 0")
        assert b"succeeded" in shell.output[seen:]
        assert b"running" not in shell.output[seen:], shell.output[seen:]
        assert shell.file("result") == "went on\n"


def started_in_the_background(weft):
    """K23: started with &, weft draws nothing until fg, then what runs"""
    with Shell(weft, {"steps": [SLOW]}) as shell:
        shell.run("weft run workflow.json &")
        shell.wait_for("began.fifo")
        shell.release("first.fifo")
        shell.wait_for("later.fifo")
        shell.wait_for_prompt()
        shell.run("fg")
        shell.wait_for_screen("weft run")
        assert b"running" not in shell.output, shell.output
        shell.wait_for_screen("1 running")
        shell.release("go.fifo")
        shell.wait_for_prompt()
        assert shell.status() == 0 and shell.file("result") == "went on\n"


# Asks while another step runs.
ASKING = {"parallel": [PATIENT, {"id": "ask", "approve": "Go on?"}]}


def background_leaves_the_terminal(weft):
    """K23: after ^Z and bg at a question, the terminal stays the shell's; fg asks again"""
    with Shell(weft, ASKING) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for("began.fifo")
        shell.wait_for_screen("Go on? [y/N]")
        shell.press("\x1a")
        shell.wait_for_prompt()
        shell.run("bg")
        shell.wait_for_prompt()
        # Longer than weft looks away from a terminal.
        for number in range(4):
            shell.run(f"sleep 0.1; echo typed-{number}-$((1 + 1))")
            shell.wait_for_screen(f"typed-{number}-2")
            shell.wait_for_prompt()
        seen = len(shell.output)
        shell.run("fg")
        shell.read_until(lambda: b"Go on? [y/N]" in shell.output[seen:], "the question again")
        shell.press("y\r")
        shell.release("go.fifo")
        shell.wait_for_prompt()
        assert shell.status() == 0 and shell.file("result") == "went on\n"


def background_suspends(weft):
    """K23: a question that is left in the background suspends the run once nothing else runs"""
    with Shell(weft, ASKING) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for("began.fifo")
        shell.wait_for_screen("Go on? [y/N]")
        shell.press("\x1a")
        shell.wait_for_prompt()
        shell.run("bg")
        shell.wait_for_prompt()
        shell.release("go.fifo")
        shell.run("wait %1; echo waited $?")
        shell.wait_for_screen("waited 75")
        assert shell.file("result") == "went on\n"


def terminated_in_the_background(weft):
    """K23: TERM ends a run that waits in the background for a question to be asked, and its steps"""
    with Shell(weft, ASKING) as shell:
        shell.run("weft run workflow.json")
        work = int(shell.wait_for("began.fifo"))
        shell.wait_for_screen("Go on? [y/N]")
        shell.press("\x1a")
        shell.wait_for_prompt()
        shell.run("bg")
        shell.wait_for_prompt()
        shell.run("sleep 0.3; kill %1; wait %1; echo waited $?")
        shell.wait_for_screen("waited 143")
        wait_until(lambda: state(work) is None, "the step to end")


def foreground_asks_again(weft):
    """K23: after ^Z and fg at a question, it is asked again"""
    with Shell(weft, {"steps": [{"id": "ask", "approve": "Go on?"}]}) as shell:
        shell.run("weft run workflow.json")
        for _ in range(2):
            shell.wait_for_screen("Go on? [y/N]")
            shell.press("\x1a")
            shell.wait_for_prompt()
            seen = len(shell.output)
            shell.run("fg")
            shell.read_until(lambda: b"Go on? [y/N]" in shell.output[seen:], "the question again")
        shell.press("y\r")
        shell.wait_for_prompt()
        assert shell.status() == 0


def started_job_asks_in_the_foreground(weft):
    """K23: started with &, weft asks once fg brings it to the foreground"""
    with Shell(weft, ASKING) as shell:
        shell.run("weft run workflow.json &")
        shell.wait_for("began.fifo")
        shell.wait_for_prompt()
        assert b"Go on? [y/N]" not in shell.output, shell.output
        shell.run("fg")
        shell.wait_for_screen("Go on? [y/N]")
        shell.press("y\r")
        shell.release("go.fifo")
        shell.wait_for_prompt()
        assert shell.status() == 0


def input_is_asked_again(weft):
    """K23: after ^Z and fg at the question for an input, shown or hidden, it is asked again"""
    inputs = {"name": {"type": "string"}, "key": {"type": "string", "secret": True}}
    use = {"run": ["true", "--", "${{ inputs.name }}"], "env": {"K": "${{ inputs.key }}"}}
    with Shell(weft, {"inputs": inputs, "steps": [use]}) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for_screen("name")
        shell.press("\x1a")
        shell.wait_for_prompt()
        seen = len(shell.output)
        shell.run("fg")
        shell.read_until(lambda: b"name" in shell.output[seen:].replace(b"workflow", b""), "the question again")
        shell.press("x\r")
        shell.wait_for_screen("key")
        seen = len(shell.output)
        # Its keys send no signals while input is hidden.
        os.kill(shell.weft_process(), signal.SIGSTOP)
        shell.wait_for_prompt()
        shell.run("fg")
        shell.read_until(lambda: b"key" in shell.output[seen:], "the hidden question again")
        shell.press("secret-1234\r")
        shell.wait_for_prompt()
        assert shell.status() == 0 and b"secret-1234" not in shell.output


def stopped_by_others(weft):
    """K23: fg continues those steps that ^Z has stopped, and no others"""
    with Shell(weft, {"parallel": [
            PATIENT, step("echo $$ >other.fifo; read line <end.fifo", id="other")]}) as shell:
        shell.run("weft run workflow.json -j 2")
        work, other = (int(shell.wait_for(name)) for name in ("began.fifo", "other.fifo"))
        shell.wait_for_screen("2 running")
        os.killpg(other, signal.SIGSTOP)
        wait_until(lambda: state(other) == "T", "the step to stop")
        shell.press("\x1a")
        shell.wait_for_prompt()
        wait_until(lambda: state(work) == "T", "the step to stop")
        shell.run("fg")
        shell.wait_for_screen("2 running")
        shell.release("go.fifo")
        shell.wait_for_screen("1/2 done")
        assert state(other) == "T"
        os.killpg(other, signal.SIGCONT)
        shell.release("end.fifo")
        shell.wait_for_prompt()
        assert shell.status() == 0


def terminated_while_stopped(weft):
    """K23: TERM to a stopped weft ends the run when it is continued"""
    with Shell(weft, {"steps": [PATIENT]}) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for("began.fifo")
        shell.wait_for_screen("1 running")
        shell.press("\x1a")
        shell.wait_for_prompt()
        os.kill(shell.weft_process(), signal.SIGTERM)
        shell.run("fg")
        shell.wait_for_prompt()
        assert shell.status() == 143
        assert shell.nothing_is_alive() and shell.terminal_is_as_before()


def stop_is_ignored(weft):
    """K23: TSTP that was ignored at the start stays ignored"""
    with Shell(weft, {"steps": [PATIENT]}) as shell:
        shell.run("(trap '' TSTP; exec weft run workflow.json)")
        work = int(shell.wait_for("began.fifo"))
        shell.wait_for_screen("1 running")
        shell.press("\x1a")
        shell.release("go.fifo")
        shell.wait_for_prompt()
        assert shell.status() == 0 and state(work) is None, shell.text()
        assert "Stopped" not in shell.text(), shell.text()


def nobody_to_continue(weft):
    """K23: without a shell that could continue it (an orphaned group), ^Z changes nothing"""
    with Shell(weft, {"steps": [PATIENT]}) as shell:
        shell.run("exec weft run workflow.json")
        shell.wait_for("began.fifo")
        shell.wait_for_screen("1 running")
        shell.press("\x1a")
        shell.release("go.fifo")
        shell.wait_for_end()
        assert b"succeeded" in shell.output and shell.file("result") == "went on\n"


def killed(weft):
    """K23: a weft that is killed leaves the terminal as it was: nothing on it needs undoing"""
    with Shell(weft, {"steps": [PATIENT]}) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for("began.fifo")
        shell.wait_for_screen("1 running")
        assert shell.terminal_is_as_before()
        os.kill(shell.weft_process(), signal.SIGKILL)
        shell.wait_for_prompt()
        assert shell.terminal_is_as_before()
        # No hidden cursor, no alternate screen, no reports: all private modes begin like this.
        assert b"\x1b[?" not in shell.output, shell.output
        shell.release("go.fifo")


def nobody_reads(weft):
    """K23: a terminal that takes no output (^S) does not keep weft from being stopped"""
    with Shell(weft, {"steps": [SLOW]}) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for("began.fifo")
        shell.wait_for_screen("1 running")
        shell.press("\x13")
        shell.release("first.fifo")
        # Meanwhile the display is drawn, and blocks.
        shell.wait_for("later.fifo")
        weft_process = shell.weft_process()
        os.kill(weft_process, signal.SIGTSTP)
        wait_until(lambda: state(weft_process) == "T", "weft to stop")
        shell.press("\x11")
        shell.wait_for_prompt()
        shell.run("fg")
        shell.release("go.fifo")
        shell.wait_for_prompt()
        assert shell.status() == 0 and shell.terminal_is_as_before()


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        stopped_and_continued, continued_in_the_background, started_in_the_background,
        background_leaves_the_terminal, background_suspends, terminated_in_the_background,
        foreground_asks_again, started_job_asks_in_the_foreground, input_is_asked_again,
        stopped_by_others, terminated_while_stopped, stop_is_ignored, nobody_to_continue,
        killed, nobody_reads]))
