"""A pretended cluster whose controller is in the process of the test: the commands sbatch, squeue, scancel and sacct only
pass it their arguments. So it can be disturbed at any point, and knows what became of each job."""

import collections
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

LIMIT = 60  # seconds, against hanging only

# Passes on its name, arguments and input, each ended by NUL, and prints the answer after the line with its exit code.
COMMAND = r'''#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/PORT || exit 1
name=${0##*/}
[ "$name" != sbatch ] || text=$(cat)
printf '%s\0' "$name" "$@" "" "$text" >&3
read -r code <&3 || exit 1
if [ "$code" = 0 ]; then cat <&3; else cat <&3 >&2; fi
exit "$code"
'''

UNREACHABLE = "Unable to contact slurm controller (connect failure)"
UNANSWERED = "Socket timed out on send/recv operation"


def is_group(number):
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


class Job:
    """`state` is that which squeue shows. `cause` is set if it did not end by itself: "scancel", or the state that the test
    has chosen."""

    def __init__(self, number, index, name, comment, log, script):
        self.number, self.index, self.name, self.comment = number, index, name, comment
        self.log, self.script = log, script
        self.state, self.final, self.cause = "PENDING", None, None
        self.process = self.group = None
        self.killed_at = self.ended = None
        self.is_forgotten = False
        # Whether scancel was called for it, with or without success.
        self.was_asked = False

    @property
    def id(self):
        return self.number if self.index is None else f"{self.number}_{self.index}"

    @property
    def is_over(self):
        return self.process is None and self.state not in ("PENDING", "RUNNING")


def rows(jobs):
    """The lines of squeue for pairs of a state and a job. Those that wait are first, and the elements of an array that wait
    share one."""
    waiting = collections.defaultdict(list)
    for state, job in jobs:
        index = "N/A" if job.index is None else str(job.index)
        waiting[job.comment, job.number, state, index if state != "PENDING" or job.index is None else None].append(index)
    lines = [f"{comment}|{number}|{','.join(indices)}|{state}|node|None\n"
             for (comment, number, state, _), indices in waiting.items()]
    return "".join(sorted(lines, key=lambda line: "|PENDING|" not in line))


class Controller:
    """Runs at most `cpus` jobs at once. `faults` has the number of times that each fault is still to occur:

    down     sbatch is not answered, and nothing is submitted
    full     sbatch is refused, as the user has too many jobs
    lose     sbatch is not answered, but its jobs are accepted
    silent   squeue is not answered
    deaf     scancel is not answered
    mute     sacct says that there is no accounting, as it always does without `has_accounting`
    slow     an answer takes a while
    late     squeue shows jobs that have ended as running
    refuse   sbatch is refused for good
    cut      only the beginning of the script arrives
    drained  no job begins until squeue was asked
    forget   a job that was accepted is not known, and never begins
    """

    def __init__(self, cpus=16):
        self.directory = tempfile.TemporaryDirectory(prefix="weft-controller-")
        self.path = pathlib.Path(self.directory.name)
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        for name in ("sbatch", "squeue", "scancel", "sacct"):
            (self.path / name).write_text(COMMAND.replace("PORT", str(self.server.getsockname()[1])))
            (self.path / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{self.path}:{os.environ['PATH']}"}
        self.cpus = cpus
        self.faults = collections.Counter()
        # The most jobs of an array; seconds after which a job that has ended is not listed any more, and of a slow answer.
        self.largest, self.memory, self.slowness = 1001, 300, 0.2
        # Whether sacct tells of jobs.
        self.has_accounting = False
        self.calls = collections.Counter()
        self.jobs, self.running = [], []
        # The arguments of each sbatch that was accepted, and the states in which the next jobs end before they begin.
        self.submitted, self.ends = [], []
        self.history = []
        # A command that is held at this point: "sbatch", "accepted", "squeue" or "scancel".
        self.holds = None
        self.held, self.released = threading.Event(), threading.Event()
        self.began = time.monotonic()
        self.lock = threading.RLock()
        self.is_open = True
        self.threads = [threading.Thread(target=run, daemon=True) for run in (self.serve, self.run_jobs)]
        for thread in self.threads:
            thread.start()

    def note(self, text):
        self.history.append(f"{time.monotonic() - self.began:7.3f}  {text}")

    # MARK: Commands

    def serve(self):
        while True:
            try:
                link, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(link,), daemon=True).start()

    def answer(self, link):
        with link:
            try:
                name, arguments, text = self.received(link)
                with self.lock:
                    self.calls[name] += 1
                code, answer = getattr(self, name)(arguments, text)
                if self.takes("slow"):
                    time.sleep(self.slowness)
                link.sendall(f"{code}\n{answer}".encode())
            except (OSError, EOFError):
                self.note("a command has gone away")

    def received(self, link):
        """The name, the arguments and the input of a command. An empty field is before the input, which is the last."""
        data = b""
        while not data.endswith(b"\0") or (empty := data.find(b"\0\0")) < 0 or data.find(b"\0", empty + 2) < 0:
            piece = link.recv(1 << 16)
            if not piece:
                raise EOFError
            data += piece
        name, *arguments = data[:empty].decode().split("\0")
        return name, arguments, data[empty + 2:-1].decode()

    def takes(self, fault, quiet=False):
        with self.lock:
            if self.faults[fault] <= 0:
                return False
            self.faults[fault] -= 1
        if not quiet:
            self.note(f"fault: {fault}")
        return True

    def hold(self, point):
        """Keeps a command waiting, if this is the point that the test has named."""
        with self.lock:
            if self.holds != point:
                return
            self.holds = None
        self.note(f"held: {point}")
        self.held.set()
        self.released.wait(LIMIT)

    def sbatch(self, arguments, script):
        self.hold("sbatch")
        failed = "sbatch: error: Batch job submission failed: "
        if self.takes("down"):
            return 1, failed + UNREACHABLE
        if self.takes("full"):
            return 1, failed + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
        if self.takes("refuse"):
            return 1, failed + "Invalid account or account/partition combination specified"
        if self.takes("cut"):
            script = script[:len(script) // 2]
        options = dict(word.split("=", 1) for word in arguments if "=" in word)
        count = int(options.get("--array", "0-0").split("-")[1]) + 1
        if "--array" in options and count > self.largest:
            return 1, failed + "Invalid job array specification"
        with self.lock:
            number = str(self.calls["job"] + 1)
            self.calls["job"] += 1
            self.submitted.append(arguments)
            path = self.path / f"{number}.sh"
            path.write_text(script)
            for index in range(count):
                job = Job(number, index if "--array" in options else None, options["--job-name"], options["--comment"],
                          options["--output"].replace("%%", "%"), path)
                job.is_forgotten = self.takes("forget")
                self.jobs.append(job)
                if self.ends:
                    self.end(job, self.ends.pop(0))
        self.note(f"job {number}: {options['--job-name']}, {count}")
        self.hold("accepted")
        if self.takes("lose"):
            return 1, failed + UNANSWERED
        return 0, number + "\n"

    def squeue(self, *_):
        self.hold("squeue")
        if self.takes("silent"):
            return 1, "slurm_load_jobs error: " + UNREACHABLE
        is_late = self.takes("late")
        self.takes("drained", quiet=True)
        with self.lock:
            oldest = time.monotonic() - self.memory
            shown = [job for job in self.jobs if not job.is_forgotten and (job.ended is None or job.ended > oldest)]
            return 0, rows([("RUNNING" if is_late and job.is_over else job.state, job) for job in shown])

    def scancel(self, arguments, _):
        self.hold("scancel")
        ids = {word for word in arguments if not word.startswith("-")}
        with self.lock:
            named = [job for job in self.jobs if job.id in ids or job.number in ids]
            for job in named:
                job.was_asked = True
            if self.takes("deaf"):
                return 1, "scancel: error: Kill job error on job id: " + UNANSWERED
            self.note(f"scancel {' '.join(arguments)}"[:200])
            for job in named:
                if "--signal=KILL" in arguments:
                    self.send(job, signal.SIGKILL)
                else:
                    self.end(job, "CANCELLED", "scancel")
        return 0, ""

    def sacct(self, arguments, _):
        if self.takes("mute") or not self.has_accounting:
            return 1, "sacct: error: Slurm accounting storage is disabled"
        call = re.fullmatch("--noheader --parsable2 --noconvert --jobs=([0-9_,]+) --format=JobID,State,UserCPU,SystemCPU,MaxRSS", " ".join(arguments))
        if not call:
            return 1, f"sacct: error: not pretended: {arguments}"
        answer = ""
        with self.lock:
            for job in self.jobs:
                if {job.number, job.id}.intersection(call[1].split(",")) and not job.is_forgotten:
                    # A job that ends has its last state already.
                    state = job.final or job.state
                    answer += f"{job.id}|{state}{' by 0' if state == 'CANCELLED' else ''}|00:01.500|00:00.250|\n{job.id}.batch|{state}|00:01.500|00:00.250|4096K\n"
        return 0, answer

    def end(self, job, state, cause=None):
        """Ends a job as its cluster does: its processes first."""
        with self.lock:
            if job.is_forgotten or job.is_over or job.final:
                return False
            job.cause, job.final = cause or state, state
            if job.process is None:
                job.state, job.ended = state, time.monotonic()
                return True
            job.state = "COMPLETING"
            if state == "NODE_FAIL":
                self.send(job, signal.SIGKILL)
            else:
                self.send(job, signal.SIGTERM)
                job.killed_at = time.monotonic() + 2
            return True

    def send(self, job, number):
        with self.lock:
            if job.process is not None:
                try:
                    os.killpg(job.process.pid, number)
                except ProcessLookupError:
                    pass

    def run_jobs(self):
        while self.is_open or self.running:
            with self.lock:
                for job in self.running:
                    self.look(job)
                self.running = [job for job in self.running if job.process is not None]
                if self.faults["drained"] <= 0 and self.is_open:
                    self.begin_jobs()
            time.sleep(0.02)

    def begin_jobs(self):
        for job in self.jobs:
            if len(self.running) >= self.cpus:
                return
            if job.state != "PENDING" or job.is_forgotten:
                continue
            try:
                log = open(job.log, "ab")
            except OSError:
                job.state, job.ended = "FAILED", time.monotonic()
                continue
            with log:
                job.process = subprocess.Popen(
                    ["/bin/sh", job.script], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    env={**os.environ, "SLURM_JOB_ID": job.id,
                         **({} if job.index is None else {"SLURM_ARRAY_TASK_ID": str(job.index)})})
            job.state, job.group = "RUNNING", job.process.pid
            self.running.append(job)

    def look(self, job):
        code = job.process.poll()
        if code is not None:
            job.process, job.ended = None, time.monotonic()
            job.state = job.final or ("COMPLETED" if code == 0 else "FAILED")
        elif job.killed_at and time.monotonic() > job.killed_at:
            self.send(job, signal.SIGKILL)

    def wait(self, holds):
        end = time.monotonic() + LIMIT
        while not holds():
            assert time.monotonic() < end, "the cluster waits in vain"
            time.sleep(0.01)

    def alive(self):
        """The jobs that have not ended, or have left a process."""
        with self.lock:
            return [f"{job.id} {job.name} {job.state}" for job in self.jobs
                    if not job.is_forgotten and not job.is_over or job.group and is_group(job.group)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_open = False
        self.released.set()
        for job in list(self.running):
            self.send(job, signal.SIGKILL)
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        for thread in self.threads:
            thread.join(LIMIT)
        self.directory.cleanup()
