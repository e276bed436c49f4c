"""A cluster of Slurm with this machine as its only node; and a pretended one, whose commands answer as a test wants."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import textwrap
import time

from lib import cases

LIMIT = 60  # seconds, against hanging only

PATH = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"


def is_there():
    return os.getuid() == 0 and all(shutil.which(name, path=PATH) for name in ("slurmctld", "slurmd", "munged", "sbatch"))


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Cluster:
    """Needs root. `environment` is that of programs that use it.

    With `memory`, in MiB, each job has a control group that confines it to what it requests."""

    def __init__(self, cpus=64, memory=None):
        self.directory = tempfile.TemporaryDirectory(prefix="weft-slurm-")
        self.path = path = pathlib.Path(self.directory.name)
        for name in ("state", "spool"):
            (path / name).mkdir()
        key = path / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        name = socket.gethostname().split(".")[0]
        tracking, tasks, resources, size = "linuxproc", "none", "CR_Core", ""
        if memory:
            tracking, tasks, resources, size = "cgroup", "cgroup", "CR_Core_Memory", f" RealMemory={memory}"
            (path / "cgroup.conf").write_text("CgroupAutomount=no\nConstrainRAMSpace=yes\n")
        (path / "slurm.conf").write_text(textwrap.dedent(f"""\
            ClusterName=weft
            SlurmctldHost={name}(127.0.0.1)
            SlurmUser=root
            SlurmdUser=root
            AuthType=auth/munge
            AuthInfo=socket={path}/munge.socket
            ProctrackType=proctrack/{tracking}
            TaskPlugin=task/{tasks}
            SelectType=select/cons_tres
            SelectTypeParameters={resources}
            SchedulerParameters=batch_sched_delay=0
            ReturnToService=2
            MpiDefault=none
            SwitchType=switch/none
            JobAcctGatherType=jobacct_gather/none
            StateSaveLocation={path}/state
            SlurmdSpoolDir={path}/spool
            SlurmctldPidFile={path}/slurmctld.pid
            SlurmdPidFile={path}/slurmd.pid
            SlurmctldLogFile={path}/slurmctld.log
            SlurmdLogFile={path}/slurmd.log
            SlurmctldPort={free_port()}
            SlurmdPort={free_port()}
            KillWait=2
            SlurmdParameters=config_overrides
            NodeName={name} NodeAddr=127.0.0.1 CPUs={cpus}{size} State=UNKNOWN
            PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
            """))
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(path / "slurm.conf")}
        self.munged = self.begin("munged", "--foreground", f"--key-file={key}", f"--socket={path}/munge.socket", "--force",
                                 f"--pid-file={path}/munge.pid", f"--log-file={path}/munge.log",
                                 f"--seed-file={path}/munge.seed", "--num-threads=2")
        self.wait(lambda: (path / "munge.socket").exists())
        self.controller = self.begin("slurmctld", "-D")
        self.node = self.begin("slurmd", "-D")
        try:
            self.wait(lambda: "idle" in self.call("sinfo", "-h", expect=None))
        except AssertionError as reason:
            self.end()
            raise cases.Skipped(f"Slurm does not start here: {reason}")

    def begin(self, *command):
        log = open(self.path / f"{command[0]}.out", "ab")
        return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                cwd=self.path, start_new_session=True)

    def wait(self, holds, limit=LIMIT):
        end = time.monotonic() + limit
        while not holds():
            assert time.monotonic() < end, "".join(path.read_text()[-2000:] for path in self.path.glob("*.log"))
            time.sleep(0.1)

    def call(self, *command, expect=0):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=LIMIT)
        assert expect is None or done.returncode == expect, (command, done)
        return done.stdout

    def jobs(self):
        """The jobs that wait or run."""
        return self.call("squeue", "-h", "--array", "-o", "%i %T").split("\n")[:-1]

    def stop_controller(self):
        self.controller.terminate()
        self.controller.wait(LIMIT)

    def start_controller(self):
        self.controller = self.begin("slurmctld", "-D")

    def __enter__(self):
        return self

    def __exit__(self, fault, *_):
        left = self.jobs() if fault is None else []
        self.end()
        assert not left, f"jobs are left: {left}"

    def end(self):
        for server in (self.node, self.controller, self.munged):
            server.terminate()
        for server in (self.node, self.controller, self.munged):
            server.wait(LIMIT)
        for left in pathlib.Path("/sys/fs/cgroup").glob("*/slurm_*/"):
            for group in sorted(left.rglob("*/"), reverse=True) + [left]:
                try:
                    group.rmdir()
                except OSError:
                    pass  # not a group, or of another cluster
        self.directory.cleanup()


PRETENDED = r'''#!/usr/bin/env python3
"""One of the commands sbatch, squeue and scancel, on a directory of jobs. Faults are files there: see test_slurm.py."""
import os, pathlib, re, signal, subprocess, sys, time
here = pathlib.Path(__file__).resolve().parent
jobs, name = here / "jobs", pathlib.Path(sys.argv[0]).name

def fault(what):
    """Takes one from the number in a file."""
    path = here / what
    left = int(path.read_text()) if path.exists() else 0
    if left > 0:
        path.write_text(str(left - 1))
    return left > 0

def begin_jobs():
    """Only a command that succeeds does this: what others have started is ended with them."""
    for job in sorted(jobs.iterdir()):
        if (job / "pid").exists() or not (job / "script").exists() or (job / "state").exists():
            continue
        child = subprocess.Popen(["/bin/sh", job / "script"], env={**os.environ, "SLURM_ARRAY_TASK_ID": job.name.split("_")[1]},
                                 start_new_session=True, stdin=subprocess.DEVNULL, stdout=open(job / "log", "w"),
                                 stderr=subprocess.STDOUT)
        (job / "pid").write_text(str(child.pid))

if name == "sbatch":
    script = sys.stdin.read()
    if fault("down"):
        sys.exit("sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)")
    array = [int(a.rsplit("-", 1)[1]) + 1 for a in sys.argv if a.startswith("--array=")]
    if array and array[0] > 2 and (here / "small").exists():
        sys.exit("sbatch: error: Batch job submission failed: Invalid job array specification")
    comment = next(a.split("=", 1)[1] for a in sys.argv if a.startswith("--comment="))
    with open(here / "arguments", "a") as file:
        file.write(" ".join(sys.argv[1:]) + "\n")
    number = str(len(list(jobs.iterdir())) + 1)
    state = here / "state"
    for index in range(array[0] if array else 1):
        job = jobs / f"{number}_{index}"
        job.mkdir()
        (job / "row").write_text(f"{number}|{index if array else 'N/A'}|STATE|node|None|{comment}")
        if fault("forget"):
            (job / "forgotten").touch()
            continue
        if state.exists():
            (job / "state").write_text(state.read_text())
            state.unlink()
            continue
        (job / "script").write_text(script)
    if fault("lose"):
        sys.exit("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
    begin_jobs()
    print(number)
elif name == "squeue":
    if fault("silent"):
        sys.exit("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
    begin_jobs()
    for job in sorted(jobs.iterdir()):
        if (job / "forgotten").exists():
            continue
        pid = job / "pid"
        state = (job / "state").read_text().strip() if (job / "state").exists() else ""
        if not state:
            alive = pid.exists() and pathlib.Path(f"/proc/{pid.read_text()}/stat").exists() \
                and " Z " not in pathlib.Path(f"/proc/{pid.read_text()}/stat").read_text()
            state = "RUNNING" if alive else "COMPLETED"
        print((job / "row").read_text().replace("STATE", state))
elif name == "scancel":
    for id in [a for a in sys.argv[1:] if not a.startswith("-")]:
        for job in [jobs / id, jobs / f"{id}_0"]:
            if job.exists():
                (job / "state").write_text("CANCELLED")
                if (job / "pid").exists():
                    try: os.killpg(int((job / "pid").read_text()), signal.SIGTERM)
                    except ProcessLookupError: pass
'''


class Pretended:
    """Commands that run jobs on this machine, and have faults: each is a file with the number of times."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="weft-pretended-")
        self.path = pathlib.Path(self.directory.name)
        (self.path / "jobs").mkdir()
        (self.path / "command").write_text(PRETENDED)
        (self.path / "command").chmod(0o755)
        for name in ("sbatch", "squeue", "scancel"):
            (self.path / name).symlink_to("command")
        self.environment = {**os.environ, "PATH": f"{self.path}:{os.environ['PATH']}"}

    def fault(self, name, times):
        (self.path / name).write_text(str(times))

    def arguments(self):
        return (self.path / "arguments").read_text().splitlines()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.directory.cleanup()
