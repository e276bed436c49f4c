#!/usr/bin/env python3
"""Checks what a real bash, zsh and fish propose for command lines of weft.

usage: test_completions.py PATH_TO_WEFT        (needs pexpect; a shell that is not installed fails)

bash and zsh are asked over a terminal, as a person would: a key lists the proposals, TAB completes, and the line
is then run with `weft` as a function that shows its arguments. fish answers directly.
"""

import os
import re
import subprocess
import sys
import tempfile

import pexpect

COMMANDS = {"run", "runs", "show", "logs", "clean", "check", "graph", "why", "schema", "init", "completions", "help",
            "version"}
RUN_OPTIONS = {"-j", "-k", "--fail-fast", "--strict", "-C", "--timeout", "--events", "--dry-run",
               "--only", "--skip", "--from", "--retry-budget",
               "-h", "--help"}
ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm", "PS1": "$ ",
               "WEFT_DIR": "sub/records"}


class Terminal:
    """A shell on a terminal that has the completions loaded."""

    def __init__(self, command, setup, directory):
        environment = dict(ENVIRONMENT, HOME=directory)
        self.directory = directory
        self.shell = pexpect.spawn(command[0], command[1:], cwd=directory, env=environment,
                                   dimensions=(60, 200), encoding="utf-8", timeout=20)
        for line in setup + ['weft() { printf "<%s>" "$@"; echo; }']:
            self.shell.sendline(line)
        self.said()

    def said(self):
        """The output of the shell so far; a cursor movement counts as the end of a line."""
        self.shell.send("\x15echo E''ND\r")
        self.shell.expect_exact("END")
        text = self.shell.before
        self.shell.expect_exact("\n")
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|[\x07\b\r]", "\n", text)

    def listed(self, line):
        """The proposed words."""
        self.shell.send(line + "\x18l")
        text = self.said()
        return set(re.split(r" {2,}| ?\n", text.replace("\\ ", " ")))

    def completed(self, line):
        """The arguments after TAB."""
        self.shell.send(line + "\t\r")
        found = re.findall(r"^((?:<[^>]*>)+)$", self.said(), re.M)
        return re.findall("<([^>]*)>", found[0]) if found else None

    def close(self):
        self.shell.close(force=True)


class Bash(Terminal):
    def __init__(self, weft, directory):
        super().__init__(["bash", "--norc", "--noprofile", "-i"], [
            "bind 'set enable-bracketed-paste off'", "bind 'set page-completions off'",
            "bind 'set completion-query-items 0'", "bind '\"\\C-xl\": possible-completions'",
            f"source <({weft} completions bash)"], directory)


class Zsh(Terminal):
    def __init__(self, weft, directory):
        super().__init__(["zsh", "-f", "-i"], [
            "unset zle_bracketed_paste", "PS1='$ ' PROMPT_EOL_MARK=", "LISTMAX=1000",
            "autoload -Uz compinit && compinit -u -D",
            "zstyle ':completion:*' verbose no", "bindkey '^Xl' list-choices",
            f"source <({weft} completions zsh)"], directory)


class Fish:
    """Answers with whole lines: word, tab, description."""

    def __init__(self, weft, directory):
        self.weft, self.directory = weft, directory

    def answers(self, line):
        script = f"{self.weft} completions fish | source; complete -C {quoted(line)}"
        done = subprocess.run(["fish", "--no-config", "-c", script], cwd=self.directory, text=True,
                              capture_output=True, timeout=20,
                              env=dict(ENVIRONMENT, HOME=self.directory))
        assert done.returncode == 0 and not done.stderr, done.stderr
        return [answer.split("\t") for answer in done.stdout.splitlines()]

    def listed(self, line):
        return {re.sub("^--?[a-z]+=", "", answer[0]) for answer in self.answers(line)}

    def completed(self, line):
        found = self.answers(line)
        if len(found) != 1:
            return None
        return line.split(" ")[1:-1] + [found[0][0]]

    def close(self):
        pass


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def checks(shell):
    """Pairs of a description and whether it holds."""
    yield "commands", COMMANDS <= shell.listed("weft ")
    yield "options of the program", {"--help", "--version"} <= shell.listed("weft -")
    yield "a command is completed", shell.completed("weft gra") == ["graph"]
    options = shell.listed("weft run -")
    yield "options of run", RUN_OPTIONS <= options
    yield "no options of others", not {"--format", "--version"} & options
    yield "options of check", {"--format", "--strict"} <= shell.listed("weft check -")
    yield "an option is completed", shell.completed("weft run --fail") == ["run", "--fail-fast"]
    yield "options after a file", RUN_OPTIONS <= shell.listed("weft run a.json -")
    formats = shell.listed("weft check --format ")
    yield "formats of check", {"text", "json", "sarif", "github"} <= formats and "dot" not in formats
    formats = shell.listed("weft graph --format ")
    yield "formats of graph", {"tree", "table", "dot", "mermaid", "json", "svg", "html"} <= formats
    yield "a format is completed", shell.completed("weft check --format sa") == [
        "check", "--format", "sarif"]
    yield "a format after =", {"tree", "table"} <= shell.listed("weft graph --format=t")
    yield "a format after = is completed", shell.completed("weft graph --format=me") == [
        "graph", "--format=mermaid"]
    yield "schemas", {"workflow", "event"} <= shell.listed("weft schema ")
    yield "shells", {"bash", "zsh", "fish"} <= shell.listed("weft completions ")
    yield "help on commands", COMMANDS <= shell.listed("weft help ")
    files = shell.listed("weft run ")
    yield "files", {"alpha.json", "beta.json", "a space.json"} <= files
    if not isinstance(shell, Fish):  # fish sorts the others after them
        yield "no other files", "notes.txt" not in files
    yield "directories to look in", any(name.rstrip("/") == "sub" for name in files)
    yield "a second file", {"alpha.json"} <= shell.listed("weft check beta.json ")
    yield "a file is completed", shell.completed("weft graph alp") == ["graph", "alpha.json"]
    yield "a file in a directory", shell.completed("weft run sub/in") == ["run", "sub/inner.json"]
    yield "files for events", "notes.txt" in shell.listed("weft run --events ")
    directories = {name.rstrip("/") for name in shell.listed("weft run -C ")}
    yield "directories alone", "sub" in directories and "alpha.json" not in directories
    yield "nothing for a number", not {"alpha.json", "notes.txt"} & shell.listed("weft run -j ")
    runs = {"20261121-151337-4f2a9c", "20261122-151337-4f2a9c"}
    yield "runs", all(runs <= shell.listed(f"weft {command} ") for command in ("show", "resume", "logs"))
    yield "a run is completed", shell.completed("weft show 20261122") == [
        "show", "20261122-151337-4f2a9c"]
    steps = {"compile", "package"}
    yield "X72: steps of a file", steps <= shell.listed("weft why flow.json ")
    yield "X72: steps for options", all(
        steps <= shell.listed(f"weft run flow.json --{option} ") for option in ("only", "skip", "from"))
    listed = {name.replace("\\", "") for name in shell.listed("weft why loop.json ")}
    yield "elements of a run", {"turn[0]", "turn[1]"} <= listed
    chosen = shell.listed("weft run flow.json --only ") | shell.listed("weft run loop.json --skip ")
    yield "no elements, and no steps of other runs, to choose from", "turn" in chosen and not any("[" in name for name in chosen)
    yield "no steps of other runs", "turn" not in shell.listed("weft run flow.json --from ")
    yield "X72: a step is completed", shell.completed("weft why flow.json pack") == [
        "why", "flow.json", "package"]
    inputs = shell.listed("weft run flow.json -i ")
    yield "X72: inputs of a file", {"colour=", "size="} <= inputs
    yield "steps of the project's workflow", {"lint", "each"} <= shell.listed("weft why ")
    yield "steps for options of the project's workflow", "lint" in shell.listed("weft run --only ")
    yield "inputs of the project's workflow", "level=" in shell.listed("weft run -i ")
    yield "workflows by name", {"nightly", "release"} <= shell.listed("weft run ")
    yield "a workflow by name is completed", shell.completed("weft graph night") == ["graph", "nightly"]
    yield "a workflow by name with a space", shell.completed("weft graph with") == ["graph", "with blanks"]
    yield "inputs of a workflow by name", "when=" in shell.listed("weft run nightly -i ")
    values = shell.listed("weft run -i level=")
    yield "values of an enum", {"low", "high"} <= {value.rpartition("=")[2] for value in values}
    yield "values of a boolean", shell.completed("weft run -i fast=t") == ["run", "-i", "fast=true"]
    yield "a value is completed", shell.completed("weft run -i level=hi") == ["run", "-i", "level=high"]
    yield "no values of others", not {"low", "high"} & shell.listed("weft run -i other=")
    shell.listed("weft run -i evil=")
    shell.completed("weft run -i evil=\\$")
    yield "names are never run", not os.path.exists(f"{shell.directory}/ran")
    yield "steps to be faster", {"compile=", "package="} <= shell.listed("weft estimate flow.json --faster ")
    yield "a step to be faster is completed", shell.completed("weft estimate flow.json --faster comp") == [
        "estimate", "flow.json", "--faster", "compile="]
    yield "factors", shell.completed("weft estimate flow.json --faster compile=2") == [
        "estimate", "flow.json", "--faster", "compile=2x"]
    yield "classes of failures", {"timeout", "network"} <= shell.listed("weft runs --failure ")
    yield "files that have been run", shell.completed("weft runs --file loop") == ["runs", "--file", "loop.json"]
    runners = shell.listed("weft run flow.json --runner ")
    yield "runners of a file and of the configuration", {"farm", "site", "local", "slurm"} <= runners
    yield "runners of the configuration", {"site", "local"} <= shell.listed("weft check alpha.json --runner ")
    yield "a runner is completed", shell.completed("weft run flow.json --runner fa") == [
        "run", "flow.json", "--runner", "farm"]
    yield "states of runs", {"interrupted", "damaged"} <= shell.listed("weft runs --state ")
    if not isinstance(shell, Fish):  # fish has proposals only for a word that begins with a dash
        yield "files after --", "alpha.json" in shell.listed("weft run -- ")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    weft = os.path.abspath(sys.argv[1])
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="weft-completions-") as directory:
        os.mkdir(f"{directory}/sub")
        for run in ["20261121-151337-4f2a9c", "20261122-151337-4f2a9c", ".removed-x"]:
            os.makedirs(f"{directory}/sub/records/runs/{run}")
        for name in ["alpha.json", "beta.json", "a space.json", "notes.txt", "sub/inner.json"]:
            open(f"{directory}/{name}", "w").close()
        with open(f"{directory}/flow.json", "w") as file:
            file.write('{"runners": {"farm": {"kind": "ssh", "hosts": ["h"]}}, "inputs": {"colour": {"default": "red"}, "size": {"default": "1"}}, "steps": ['
                       '{"id": "compile", "run": "true"}, {"id": "package", "run": "true"}]}')
        with open(f"{directory}/loop.json", "w") as file:
            file.write('{"steps": [{"id": "turn", "forEach": [1, 2], "run": "true"}]}')
        with open(f"{directory}/weft.json", "w") as file:
            file.write('{"inputs": {"level": {"enum": ["low", "high"]}, "fast": {"type": "boolean"}, "other": {},'
                       ' "evil": {"enum": ["$(touch ran)", "`touch ran`", "; touch ran"]}},'
                       ' "steps": [{"id": "lint", "run": "true"}, {"id": "each", "forEach": ["$(touch ran)"], "run": "true"}]}')
        os.makedirs(f"{directory}/.config/weft")
        with open(f"{directory}/.config/weft/config.jsonc", "w") as file:
            file.write('{"runners": {"site": {"kind": "ssh", "hosts": ["h"]}}}')
        os.mkdir(f"{directory}/workflows")
        for name in ["nightly.json", "release.jsonc", "with blanks.json"]:
            with open(f"{directory}/workflows/{name}", "w") as file:
                file.write('{"inputs": {"when": {"default": "now"}}, "steps": ["true"]}')
        subprocess.run([weft, "run", "loop.json", "-q"], cwd=directory, check=True,
                       env={**os.environ, "WEFT_DIR": "sub/records"}, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The shells ask the program itself for names.
        os.environ["PATH"] = ENVIRONMENT["PATH"] = f"{os.path.dirname(weft)}:{ENVIRONMENT['PATH']}"
        for kind in (Bash, Zsh, Fish):
            shell = None
            try:
                shell = kind(weft, directory)
                for what, holds in checks(shell):
                    passed, failed = passed + holds, failed + (not holds)
                    if not holds:
                        print(f"failed: {kind.__name__}: {what}")
            except Exception as error:
                failed += 1
                print(f"failed: {kind.__name__}: {type(error).__name__}: {error}")
            finally:
                if shell:
                    shell.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
