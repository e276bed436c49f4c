#!/usr/bin/env python3
"""Answers the questions that weft asks for missing inputs, at the terminal of an interactive bash.

usage: test_prompts.py PATH_TO_WEFT          (needs pexpect and pyte)
"""

import os
import subprocess
import sys

from lib import cases
from lib.shell import Shell

TEXT = {"inputs": {"version": {"type": "string", "pattern": "^v[0-9]+$", "description": "the tag to publish"},
                   "count": {"type": "integer", "default": 1}},
        "steps": [{"run": ["sh", "-c", "echo \"[$0]\" > result", "${{ inputs.version }} ${{ inputs.count }}"]}]}
CHOICE = {"inputs": {"target": {"enum": ["staging", "production", 1]}},
          "steps": [{"run": ["sh", "-c", "echo \"$0\" > result", "${{ inputs.target }}"]}]}
SECRET = {"inputs": {"token": {"type": "string", "secret": True}},
          "steps": [{"run": "printenv TOKEN > result", "env": {"TOKEN": "${{ inputs.token }}"}}]}
SEVERAL = {"inputs": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
           "steps": [{"run": ["sh", "-c", "echo \"$0 $1\" > result", "${{ inputs.name }}",
                              "${{ join(inputs.tags, '+') }}"]}]}


def ended(shell, code):
    shell.wait_for_prompt()
    assert shell.status() == code, shell.text()
    assert shell.terminal_is_as_before(), "the terminal's modes have changed"


def an_answer_that_fits(weft):
    """a missing input is asked for with its description; a wrong answer is explained and asked for again"""
    with Shell(weft, TEXT) as shell:
        shell.run("weft run workflow.json -i count=2")
        shell.wait_for_screen("version: the tag to publish; a string, matching")
        shell.press("12\n")
        shell.wait_for_screen("expected a string that matches")
        shell.press("\n")
        shell.wait_for_screen("write a value, or press ^D to stop")
        shell.press("v12\n")
        ended(shell, 0)
        assert shell.file("result") == "[v12 2]\n", shell.file("result")


def a_choice(weft):
    """the values of an enum are numbered; a number or a value answers, and a value comes before a number"""
    for answer, expected in (("2", "production"), ("staging", "staging"), ("1", "1")):
        with Shell(weft, CHOICE) as shell:
            shell.run("weft run workflow.json")
            shell.wait_for_screen("target [1-3]:")
            assert "1) staging" in shell.text() and "3) 1" in shell.text(), shell.text()
            shell.press("9\n")
            shell.wait_for_screen("expected")
            shell.press("-9223372036854775808\n")
            shell.press(answer + "\n")
            ended(shell, 0)
            assert shell.file("result") == expected + "\n", shell.file("result")


def a_secret(weft):
    """a secret is not shown, and the terminal is as before, also after ^C"""
    with Shell(weft, SECRET) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for_screen("token (hidden):")
        shell.press("open sesame\n")
        ended(shell, 0)
        assert shell.file("result") == "open sesame\n"
        assert b"sesame" not in shell.output, shell.output
        shell.run("rm result")
        shell.wait_for_prompt()
        for key in ("\x03", "\x1c"):
            shell.run("weft run workflow.json")
            shell.wait_for_screen("token (hidden):")
            shell.press("half" + key)
            ended(shell, 130)
            assert not os.path.exists(f"{shell.path}/result")


def several(weft):
    """each missing input is asked for, in the order of the file; an array is JSON"""
    with Shell(weft, SEVERAL) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for_screen("name:")
        shell.press("shop\n")
        shell.wait_for_screen("tags:")
        shell.press("a\n")
        shell.wait_for_screen("JSON")
        shell.press('["a", "b"]\n')
        ended(shell, 0)
        assert shell.file("result") == "shop a+b\n"


def left(weft):
    """^D leaves the inputs missing, and ^C ends the program"""
    with Shell(weft, TEXT) as shell:
        shell.run("weft run workflow.json")
        shell.wait_for_screen("version:")
        shell.press("\x04")
        ended(shell, 2)
        assert 'input "version" is required but not given' in shell.text(), shell.text()
        shell.run("weft run workflow.json")
        shell.wait_for_screen("version:")
        shell.press("\x03")
        ended(shell, 130)
        assert not os.path.exists(f"{shell.path}/result")


def nobody_is_asked(weft):
    """no question with --no-prompt, without a terminal, or beside another mistake"""
    with Shell(weft, TEXT) as shell:
        for command in ("weft run --no-prompt workflow.json", "weft run workflow.json 2> errors",
                        "weft run workflow.json < /dev/null"):
            shell.run(command)
            ended(shell, 2)
        shell.run("weft run workflow.json -i vresion=v1 -i count=x")
        ended(shell, 2)
        assert 'did you mean "version"' in shell.text(), shell.text()
        result = subprocess.run([weft, "run", "workflow.json"], cwd=shell.path, capture_output=True,
                                text=True, stdin=subprocess.DEVNULL)
        assert result.returncode == 2 and "is required but not given" in result.stderr, result


def no_approval_is_asked_for(weft):
    """with --no-prompt, a run waits for its approval from elsewhere"""
    with Shell(weft, {"steps": [{"id": "ship", "approve": "Ship it?"}]}) as shell:
        shell.run("weft run --no-prompt workflow.json")
        ended(shell, 75)
        assert "[y/N]" not in shell.text(), shell.text()


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        an_answer_that_fits, a_choice, a_secret, several, left, nobody_is_asked, no_approval_is_asked_for]))
