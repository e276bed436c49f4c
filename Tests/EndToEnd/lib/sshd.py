"""A server for ssh on the loopback interface, with a key and known hosts of its own."""

import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

LIMIT = 30  # seconds, against hanging only


def program():
    return shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")


class Server:
    """Accepts only the key in `options`. Commands are run by `shell`, if one is given, as a login shell would."""

    def __init__(self, command=None):
        self.directory = tempfile.TemporaryDirectory(prefix="weft-sshd-")
        self.path = pathlib.Path(self.directory.name)
        for name in ("host", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path / name], check=True)
        shutil.copy(self.path / "key.pub", self.path / "authorized")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        lines = [f"Port {self.port}", "ListenAddress 127.0.0.1", f"HostKey {self.path}/host",
                 f"AuthorizedKeysFile {self.path}/authorized", f"PidFile {self.path}/pid", "StrictModes no", "UsePAM no",
                 "PermitRootLogin yes", "PasswordAuthentication no", "AcceptEnv none", f"SetEnv TMPDIR={self.path}/tmp"]
        (self.path / "tmp").mkdir()
        if command:
            lines.append(f"ForceCommand {command}")
        (self.path / "config").write_text("\n".join(lines) + "\n")
        key = (self.path / "host.pub").read_text().split()
        (self.path / "known").write_text(f"[127.0.0.1]:{self.port} {key[0]} {key[1]}\n")
        os.makedirs("/run/sshd", exist_ok=True) if os.getuid() == 0 else None
        self.start()

    def start(self):
        self.server = subprocess.Popen(
            [program(), "-D", "-f", self.path / "config", "-E", self.path / "log"], stdin=subprocess.DEVNULL)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError((self.path / "log").read_text())

    @property
    def options(self):
        return ["-p", str(self.port), "-l", getpass.getuser(), "-F", "none", "-i", f"{self.path}/key", "-o",
                f"UserKnownHostsFile={self.path}/known", "-o", "IdentitiesOnly=yes"]

    def runner(self, **more):
        return {"kind": "ssh", "hosts": ["127.0.0.1"], "options": self.options, **more}

    def sessions(self):
        """The processes that serve connections."""
        found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.split("\n")
        parents = {int(line.split()[0]): int(line.split()[1]) for line in found if line}
        mine = {self.server.pid}
        grown = True
        while grown:
            more = {pid for pid, parent in parents.items() if parent in mine} | mine
            names = {pid for pid in more if self.is_server(pid)}
            grown, mine = names - mine, mine | names
        return mine - {self.server.pid}

    @staticmethod
    def is_server(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/comm").read_text().startswith("sshd")
        except OSError:
            return False

    def cut(self):
        """Loses all connections."""
        for pid in self.sessions():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def stop(self):
        self.server.terminate()
        self.server.wait(LIMIT)

    def __enter__(self):
        return self

    def __exit__(self, fault, *_):
        # A supervisor removes its directory once it has ended everything.
        end = time.monotonic() + LIMIT
        while fault is None and (left := list((self.path / "tmp").iterdir())):
            assert time.monotonic() < end, f"files are left on the host: {left}"
            time.sleep(0.05)
        self.cut()
        self.stop()
        self.directory.cleanup()
