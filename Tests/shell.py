"""An interactive bash on a terminal, for the scripts that run weft as people do."""

import fcntl
import json
import os
import re
import signal
import sys
import tempfile
import termios
import time

import pexpect
import pyte

from signals import LIMIT

PROMPT = "prompt> "


class Shell:
    """A bash in a directory with a workflow, its FIFOs, and the file `lock` that steps hold."""

    def __init__(self, weft, workflow, **environment):
        self.directory = tempfile.TemporaryDirectory(prefix="weft-shell-")
        self.path = self.directory.name
        with open(f"{self.path}/workflow.json", "w") as file:
            json.dump(workflow, file)
        for name in set(re.findall(r"\w+\.fifo", json.dumps(workflow))):
            os.mkfifo(f"{self.path}/{name}")
        open(f"{self.path}/lock", "w").close()
        kept = {name: value for name, value in os.environ.items()
                if name not in ("CI", "GITHUB_ACTIONS", "NO_COLOR", "COLUMNS", "LINES")}
        kept.update(PS1=PROMPT, TERM="xterm", LC_ALL="C.UTF-8", HISTFILE="/dev/null",
                    PATH=os.path.dirname(weft) + ":" + os.environ["PATH"])
        kept.update(environment)
        # Without line editing bash leaves the terminal's modes alone, so that they can be compared.
        self.bash = pexpect.spawn(
            "bash", ["--norc", "--noprofile", "--noediting", "-i"], cwd=self.path, env=kept,
            dimensions=(24, 80), timeout=LIMIT)
        self.bytes = b""
        self.prompts = 0
        self.screen = pyte.Screen(80, 24)
        self.stream = pyte.ByteStream(self.screen)
        self.wait_for_prompt()
        self.modes = termios.tcgetattr(self.bash.child_fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The shell's end hangs up what it has started.
        self.bash.close(force=True)
        self.directory.cleanup()

    # What a person does.

    def run(self, command):
        self.bash.sendline(command)

    def press(self, keys):
        self.bash.send(keys)

    # What a person sees.

    def take(self, deadline):
        """Reads what there is; false when nothing came until the deadline, or nothing will."""
        try:
            part = self.bash.read_nonblocking(65536, max(0, deadline - time.monotonic()))
        except (pexpect.TIMEOUT, pexpect.EOF):
            return False
        self.bytes += part
        self.stream.feed(part)
        return True

    def read_until(self, holds, what):
        deadline = time.monotonic() + LIMIT
        while not holds():
            if not self.take(deadline):
                raise AssertionError(f"never came: {what}\n{self.text()}")

    def wait_for_screen(self, text):
        self.read_until(lambda: text in self.text(), text)

    def wait_for_prompt(self):
        """Reads until bash has prompted once more."""
        self.prompts += 1
        self.read_until(lambda: self.bytes.count(PROMPT.encode()) >= self.prompts, "a prompt")

    def wait_for_end(self):
        while self.take(time.monotonic() + LIMIT):
            pass

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n")

    def status(self):
        """The exit code of the last command."""
        self.run("echo code=$?.")
        self.wait_for_prompt()
        return int(re.findall(rb"code=(\d+)\.", self.bytes)[-1])

    # What stands behind it.

    def wait_for(self, fifo):
        """Returns when a step has begun to write into the FIFO, with what it wrote."""
        with self.alarm(f"a step that writes into {fifo}"), open(f"{self.path}/{fifo}") as file:
            return file.read()

    def release(self, fifo):
        """Lets the step go on that reads the FIFO."""
        with self.alarm(f"a step that reads {fifo}"), open(f"{self.path}/{fifo}", "w") as file:
            file.write("go\n")

    def file(self, name):
        with open(f"{self.path}/{name}") as file:
            return file.read()

    def weft_process(self):
        """The process id of weft, the shell's only child."""
        with open(f"/proc/{self.bash.pid}/task/{self.bash.pid}/children") as file:
            return int(file.read())

    @staticmethod
    def state(process):
        """The kernel's letter for a process: T stands still, S waits; `None` when there is none."""
        try:
            with open(f"/proc/{process}/stat") as file:
                return file.read().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return None

    def foreground(self):
        return os.tcgetpgrp(self.bash.child_fd)

    def terminal_is_as_before(self):
        return termios.tcgetattr(self.bash.child_fd) == self.modes

    def nothing_is_alive(self):
        """Whether nobody holds a shared lock on the file `lock` any more."""
        with open(f"{self.path}/lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                return False

    def alarm(self, what):
        return Alarm(self, what)


class Alarm:
    """Ends a wait that would never end."""

    def __init__(self, shell, what):
        self.shell, self.what = shell, what

    def __enter__(self):
        signal.signal(signal.SIGALRM, self.ring)
        signal.alarm(LIMIT)

    def __exit__(self, *_):
        signal.alarm(0)

    def ring(self, *_):
        self.shell.take(time.monotonic())
        raise AssertionError(f"waited too long for {self.what}\n{self.shell.text()}")


def main(usage, tests):
    """Runs the tests, or those named after the program's path, and exits."""
    if len(sys.argv) < 2:
        sys.exit(usage)
    weft, chosen = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tests = [test for test in tests if not chosen or test.__name__ in chosen]
    failed = 0
    for test in tests:
        try:
            test(weft)
        except Exception as error:
            failed += 1
            print(f"failed: {test.__doc__}: {type(error).__name__}: {error}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not tests else 0)
