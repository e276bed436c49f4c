"""Processes that weft has not started, and that must survive whatever it ends beside them."""

import contextlib
import os
import pathlib
import re
import signal

NOBODY = 65534


def tree():
    """The directory of this process's own control group (cgroup v2); `None` where it cannot be written."""
    own = re.search(r"^0::(/.*)$", pathlib.Path("/proc/self/cgroup").read_text(), re.M)
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        fields = line.split()
        if own and fields[2] == "cgroup2":
            place = pathlib.Path(fields[1]) / own[1].lstrip("/")
            return place if os.access(place / "cgroup.procs", os.W_OK) else None
    return None


def environment_of(process):
    """What the process was started with; `None` if that cannot be read."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return None
    return dict(entry.split(b"=", 1) for entry in entries if b"=" in entry)


class Neighbours:
    """The service of an administrator, in a control group whose name begins as those of weft do; a daemon that
    starts a job for whoever asks, with the environment of that, and another job; and a process of another user
    whose environment says that it belongs to the run."""

    def __init__(self):
        self.processes = {}
        self.group = None
        place = tree()
        if place:
            self.group = place / f"weft-nightly{os.getpid()}-{id(self)}.service"
            self.group.mkdir()
            self.begin("the service in weft-nightly.service", lambda: self.enter(self.group))
        self.asked, self.asking = os.pipe()
        self.begin("the daemon", lambda: None, body=self.serve)
        os.close(self.asked)

    def begin(self, name, prepare, body=None, environment=None):
        process = os.fork()
        if process == 0:
            try:
                os.setsid()
                prepare()
                if body:
                    body()
                os.execve("/bin/sleep", ["sleep", "1000"], environment or {"PATH": "/bin"})
            finally:
                os._exit(1)
        self.processes[name] = process

    @staticmethod
    def enter(group):
        (group / "cgroup.procs").write_text("0")

    def serve(self):
        """The daemon: has a job under way, and starts another with the environment that comes."""
        os.close(self.asking)
        if os.fork() == 0:
            os.execve("/bin/sleep", ["sleep", "1000"], {"PATH": "/bin"})
        text = b""
        while part := os.read(self.asked, 1 << 16):
            text += part
        if text and os.fork() == 0:
            environment = dict(entry.split(b"=", 1) for entry in text.split(b"\0") if b"=" in entry)
            os.execve("/bin/sleep", ["sleep", "1000"], environment)
        while True:
            signal.pause()

    def ask(self, process):
        """On behalf of a step's process."""
        environment = environment_of(process)
        if self.asking is None or not environment or b"WEFT_ENGINE" not in environment:
            return
        os.write(self.asking, b"\0".join(b"=".join(entry) for entry in environment.items()))
        self.answer_nobody()
        if os.geteuid() == 0:
            engine, _, _ = environment[b"WEFT_ENGINE"].rpartition(b".")
            # Others cannot read the cookie: it is in the environments of the run's processes and its record.
            forged = {**environment, b"WEFT_ENGINE": engine + b"." + b"0" * 32}
            self.begin("the process of another user", lambda: os.setuid(NOBODY), environment=forged)

    def answer_nobody(self):
        os.close(self.asking)
        self.asking = None

    def dead(self):
        """Those of them that have not survived, by what they are; the other job of the daemon as well."""
        found = [name for name, process in self.processes.items() if not alive(process)]
        daemon = self.processes["the daemon"]
        # In the order of their birth; the other one may have been ended with the step that asked for it.
        if not found and not alive(children(daemon)[0]):
            found.append("the other job of the daemon")
        return found

    def close(self):
        if self.asking is not None:
            os.close(self.asking)
        for process in self.processes.values():
            for one in (*children(process), process):
                try:
                    os.kill(one, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            os.waitpid(process, 0)
        if self.group:
            with contextlib.suppress(FileNotFoundError):
                self.group.rmdir()


def children(process):
    try:
        with open(f"/proc/{process}/task/{process}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
