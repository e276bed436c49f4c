"""A cluster of Slurm with this machine as its only node."""

import contextlib
import os
import pathlib
import random
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
    programs = ("slurmctld", "slurmd", "munged", "sbatch", "slurmdbd", "mariadbd")
    return os.getuid() == 0 and all(shutil.which(name, path=PATH) for name in programs)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Cluster:
    """Needs root. `environment` is that of programs that use it.

    With `memory`, in MiB, each job has a control group that confines it to what it requests. Without it, jobs may request
    memory, and nothing confines them. With `accounting`, it keeps records of its jobs in a database."""

    def __init__(self, cpus=64, memory=None, accounting=False):
        self.directory = tempfile.TemporaryDirectory(prefix="weft-slurm-")
        self.path = path = pathlib.Path(self.directory.name)
        for name in ("state", "spool"):
            (path / name).mkdir()
        key = path / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        # Groups of jobs of another cluster on this machine would have the same names.
        self.first = random.randrange(1, 60_000) * 1_000
        name = socket.gethostname().split(".")[0]
        self.confines = memory is not None
        tracking, tasks, resources = "linuxproc", "none", "CR_Core"
        if self.confines:
            tracking, tasks, resources = "cgroup", "cgroup", "CR_Core_Memory"
            (path / "cgroup.conf").write_text("CgroupAutomount=no\nConstrainRAMSpace=yes\n")
        database_port = free_port()
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
            JobAcctGatherType=jobacct_gather/{"linux" if accounting else "none"}
            JobAcctGatherFrequency=1
            AccountingStorageType=accounting_storage/{"slurmdbd" if accounting else "none"}
            AccountingStorageHost=127.0.0.1
            AccountingStoragePass={path}/munge.socket
            AccountingStoragePort={database_port}
            StateSaveLocation={path}/state
            SlurmdSpoolDir={path}/spool
            SlurmctldPidFile={path}/slurmctld.pid
            SlurmdPidFile={path}/slurmd.pid
            SlurmctldLogFile={path}/slurmctld.log
            SlurmdLogFile={path}/slurmd.log
            SlurmctldPort={free_port()}
            SlurmdPort={free_port()}
            KillWait=2
            FirstJobId={self.first}
            SlurmdParameters=config_overrides
            NodeName={name} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory or 64000} State=UNKNOWN
            PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
            """))
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(path / "slurm.conf")}
        self.servers = []
        self.begin("munged", "--foreground", f"--key-file={key}", f"--socket={path}/munge.socket", "--force",
                   f"--pid-file={path}/munge.pid", f"--log-file={path}/munge.log", f"--seed-file={path}/munge.seed",
                   "--num-threads=2")
        self.wait(lambda: (path / "munge.socket").exists())
        try:
            if accounting:
                self.keep_records(database_port)
            self.controller = self.begin("slurmctld", "-D")
            self.begin("slurmd", "-D")
            self.wait(lambda: "idle" in self.call("sinfo", "-h", expect=None))
        except (AssertionError, subprocess.SubprocessError) as reason:
            self.end()
            raise cases.Skipped(f"Slurm does not start here: {reason}")

    def keep_records(self, port):
        data = self.path / "database"
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root", "--skip-test-db",
                        "--auth-root-authentication-method=socket"], check=True, capture_output=True, timeout=LIMIT)
        self.begin("mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={data}/socket", "--skip-networking",
                   "--user=root", f"--pid-file={data}/pid")
        self.wait((data / "socket").exists)
        settings = self.path / "slurmdbd.conf"
        settings.write_text(textwrap.dedent(f"""\
            AuthType=auth/munge
            AuthInfo=socket={self.path}/munge.socket
            DbdHost=localhost
            DbdAddr=127.0.0.1
            DbdPort={port}
            SlurmUser=root
            PidFile={self.path}/slurmdbd.pid
            LogFile={self.path}/slurmdbd.log
            StorageType=accounting_storage/mysql
            StorageHost=localhost
            StorageUser=root
            """))
        settings.chmod(0o600)
        # The library of MariaDB takes its socket from there.
        self.environment["MYSQL_UNIX_PORT"] = f"{data}/socket"
        self.begin("slurmdbd", "-D")
        self.wait(lambda: subprocess.run(["sacctmgr", "-i", "add", "cluster", "weft"], env=self.environment,
                                         capture_output=True, timeout=LIMIT).returncode == 0)

    def begin(self, *command):
        log = open(self.path / f"{command[0]}.out", "ab")
        server = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  cwd=self.path, start_new_session=True)
        self.servers.append(server)
        return server

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
        # Each needs those that began before it.
        for server in reversed(self.servers):
            server.terminate()
            server.wait(LIMIT)
        for job in pathlib.Path("/sys/fs/cgroup").glob("*/slurm_*/uid_*/job_*/") if self.confines else ():
            if int(job.name[4:]) // 1_000 == self.first // 1_000:
                for group in sorted(job.rglob("*/"), reverse=True) + [job]:
                    with contextlib.suppress(OSError):  # a file of the group, or in use
                        group.rmdir()
        self.directory.cleanup()
