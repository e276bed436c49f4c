"""What a cell of the tables is found out with: a weft in a directory of its own, a step of its workflow, and a way to end it."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import time

from lib import pace

LIMIT = 60  # seconds, against hanging only
# What passes before what does not obey is killed. What ends sooner was not waited for.
GRACE = 3


def compiled_member(directory):
    """The path of the program that plays a process of a step."""
    program = f"{directory}/member"
    compiler = shutil.which("cc") or shutil.which("clang")
    subprocess.run(
        [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
         pathlib.Path(__file__).with_name("member.c")], check=True)
    return program


def only_child(process):
    """The pid of a process's one child, as it is seen from here."""
    with open(f"/proc/{process}/task/{process}/children") as file:
        child, = file.read().split()
    return int(child)


class Failed(Exception):
    """What did not happen as it must, whatever the table says."""


class Trial:
    """Everything of a trial holds the file `lock`: the step's script locks it and all that the script
    starts inherits that, and each member locks it once more by itself. So who gets the lock alone knows
    that all of them are dead, wherever they went."""

    def __init__(self, weft, member, level):
        self.weft, self.member, self.level = weft, member, level
        self.scratch = tempfile.TemporaryDirectory(prefix="weft-matrix-")
        self.path = self.scratch.name
        self.output, self.events_text = b"", b""
        self.up = []
        self.process = self.terminal = self.events = None
        # What is beside the run and must survive it, where a test has any.
        self.neighbours = None
        # When the end was asked for, when all were dead, and who was not.
        self.stopped = self.ended = None
        self.left = []
        for name in ("up.fifo", "go.fifo", "sibling.fifo", "events.fifo"):
            os.mkfifo(f"{self.path}/{name}")
        for name in ("lock", "told"):
            open(f"{self.path}/{name}", "w").close()
        # Open for both: nobody has to wait for the other side, and there is never an end of file.
        self.ups, self.go, self.go_sibling = (
            os.open(f"{self.path}/{name}.fifo", os.O_RDWR | os.O_NONBLOCK)
            for name in ("up", "go", "sibling"))

    # What is run

    def script(self, text):
        """A script that holds the lock from its beginning. In it, `member` stands for the program and the
        directory that it needs."""
        return "exec 9<lock; flock -s 9; " + text.replace("member ", f"{self.member} {self.path} ")

    def step(self, id, run, **keys):
        return dict(keys, id=id, run=run, stop={"grace": f"{GRACE}s"})

    def start(self, steps, *arguments, jobs=8, terminal=False, through=()):
        with open(f"{self.path}/workflow.json", "w") as file:
            json.dump({"parallel": steps}, file)
        self.events = os.open(f"{self.path}/events.fifo", os.O_RDWR | os.O_NONBLOCK)
        ours, theirs = pty.openpty() if terminal else os.pipe()

        def prepare():
            os.setsid()
            if terminal:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        environment = dict(os.environ, TERM="xterm", LANG="C.UTF-8")
        for name in ("CI", "GITHUB_ACTIONS", "NO_COLOR"):
            environment.pop(name, None)
        command = [*through, self.weft, "run", "workflow.json", f"-j{jobs}", "--events", "events.fifo",
                   "--containment", self.level, *arguments]
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command, cwd=self.path, env=environment, preexec_fn=prepare,
            stdin=theirs if terminal else subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self.terminal = ours

    # What is waited for

    def wait_until_up(self, count):
        """Until so many members have said that they are up; the time when the last one did."""
        self.take_until(lambda: len(self.up) >= count, f"{count} members")
        when = time.monotonic()
        if self.neighbours:
            for process in self.holders():
                self.neighbours.ask(process)
        return when

    def read_until(self, text):
        self.take_until(lambda: text.encode() in self.output, repr(text))

    def wait_for_exit(self):
        """The exit code as a shell tells it, after everything was read. Notes when all were dead: what
        they have written until then may take weft a while to pass on."""
        def has_ended():
            if self.ended is None and self.nothing_is_alive():
                self.ended = time.monotonic()
            return self.process.poll() is not None

        self.take_until(has_ended, "the end of weft")
        self.take(0)
        code = self.process.returncode
        return code if code >= 0 else 128 - code

    def take_until(self, holds, what):
        deadline = time.monotonic() + LIMIT
        while not holds():
            if time.monotonic() > deadline:
                raise Failed(f"waited too long for {what}; up: {len(self.up)}, {self.up[-9:]}; "
                             f"said so far: {self.output[-2000:]!r}")
            self.take(0.01)

    def take(self, seconds):
        """Takes in what members, events and output have brought."""
        descriptors = [d for d in (self.ups, self.events, self.terminal) if d is not None]
        for ready in select.select(descriptors, [], [], seconds)[0]:
            try:
                part = os.read(ready, 1 << 20)
            except OSError:  # the terminal of a session that has ended
                part = b""
            if ready == self.ups:
                self.up += [line.split()[0].decode() for line in part.splitlines()]
            elif ready == self.events:
                self.events_text += part
            elif part:
                self.output += part
            else:
                os.close(self.terminal)
                self.terminal = None

    def look_for_survivors(self):
        """Nothing may be alive from now on, not even for a moment."""
        self.ended = self.ended or time.monotonic()
        self.left = [] if self.nothing_is_alive() else sorted(set(self.holders().values()))

    def wait_until_dead(self):
        """Until nobody holds the lock, nor can ever again: who forks hands it on."""
        self.take_until(self.nothing_is_alive, "the end of all members")

    # What has happened

    def nothing_is_alive(self):
        with open(f"{self.path}/lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                return False

    def told(self):
        """By member, the signal that it was able to catch."""
        with open(f"{self.path}/told") as file:
            return {line.split()[0]: line.split()[1] for line in file}

    def told_at(self):
        with open(f"{self.path}/told") as file:
            return [int(line.split()[2]) / 1e9 for line in file]

    def seconds(self):
        return self.ended - self.stopped

    def events_of(self, kind):
        whole, _, _ = self.events_text.rpartition(b"\n")
        events = [json.loads(line) for line in whole.decode().splitlines() if line]
        return [event for event in events if event["type"] == kind]

    def end_of_step(self, step):
        """The step's `step.finished`; `None` while there is none."""
        return next((end for end in self.events_of("step.finished") if end["step"] == step), None)

    def holders(self):
        """Who has the file `lock` open: pids, and what members are called. For messages and for cleaning up,
        not for proof."""
        found = {}
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                files = {os.readlink(file.path) for file in os.scandir(f"/proc/{process}/fd")}
                if f"{self.path}/lock" in files:
                    with open(f"/proc/{process}/cmdline") as cmdline:
                        words = cmdline.read().split("\0")
                    found[int(process)] = words[2] if words[0] == self.member else words[0]
            except OSError:
                continue
        return found

    # What is done to it

    def send(self, number, process=None):
        self.stopped = time.monotonic()
        os.kill(process or self.process.pid, number)

    def press(self, key):
        pace.keep()
        self.stopped = time.monotonic()
        os.write(self.terminal, key)

    def let_go(self, fifo):
        """Lets the one go on that reads a line from there."""
        self.stopped = time.monotonic()
        os.write(fifo, b"go\n")

    def fill_events(self):
        """Fills the pipe of events: from the next one on, weft cannot come to its end."""
        # One that holds more already, as that of a fast weft whose step keeps writing, keeps its size.
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.events, fcntl.F_SETPIPE_SZ, 4096)
        self.kept, self.events = self.events, None
        for size in (4096, 1):
            try:
                while os.write(self.kept, b"\n" * size):
                    pass
            except BlockingIOError:
                continue

    def empty_events(self):
        self.events = self.kept

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.neighbours:
            self.neighbours.close()
        while survivors := self.holders():
            for process in survivors:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        for descriptor in (self.ups, self.go, self.go_sibling, self.events, self.terminal):
            if descriptor is not None:
                os.close(descriptor)
        self.scratch.cleanup()
