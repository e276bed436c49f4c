"""nginx and tinyproxy, started in a folder of their own, on free ports of this machine, and not as root."""

import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading

from lib import authority
from lib.workplace import wait_until

content = bytes(i * 7 % 251 for i in range(1_000_000))
BIG = 200 << 20
USER, PASSWORD = "reader", "opens-it"
PROXY_USER, PROXY_PASSWORD = "carrier", "proxy-secret-0815"

NGINX = """
daemon off;
worker_processes 1;
pid nginx.pid;
error_log error.log notice;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
  limit_req_zone $binary_remote_addr zone=often:64k rate=2r/s;
  ssl_certificate good.pem;
  ssl_certificate_key good.key;
  ssl_protocols TLSv1.2 TLSv1.3;
  server { listen 127.0.0.1:{plain}; include places; }
  server { listen 127.0.0.1:{tls} ssl http2; include places; }
  # Says after five requests that the connection is to be used no longer.
  server { listen 127.0.0.1:{weary} ssl http2; keepalive_requests 5; include places; }
  server { listen 127.0.0.1:{tls11} ssl; include places; }
  server { listen 127.0.0.1:{expired} ssl; ssl_certificate old.pem; ssl_certificate_key old.key; }
  server { listen 127.0.0.1:{other} ssl; ssl_certificate other.pem; ssl_certificate_key other.key; }
  server { listen 127.0.0.1:{own} ssl; ssl_certificate own.pem; ssl_certificate_key own.key; }
  server {
    listen 127.0.0.1:{knows} ssl http2;
    ssl_verify_client on;
    ssl_client_certificate ca.pem;
    include places;
  }
  # Another origin, which takes a certificate if it is shown one, and writes down what it is asked.
  server {
    listen 127.0.0.1:{meets} ssl http2;
    access_log meets.log;
    ssl_verify_client optional;
    ssl_client_certificate ca.pem;
    include places;
  }
}
"""

PLACES = """
root files;
location /echo {
  default_type application/json;
  return 200 '{"method":"$request_method","protocol":"$server_protocol","connection":"$connection",
    "tls":"$ssl_protocol","client":"$ssl_client_s_dn","via":"$http_via","proxy":"$http_proxy_authorization",
    "asked":"$request_uri","token":"$http_authorization","key":"$http_idempotency_key"}';
}
location /to-meets { return 302 https://localhost:{meets}/echo; }
location /again-at-meets { return 307 https://localhost:{meets}/echo; }
location /first-page {
  default_type application/json;
  add_header Link '<https://localhost:{meets}/echo>; rel="next"';
  return 200 '[]';
}
location /packed/ { gzip on; gzip_types text/plain; alias files/; }
location /slow/ { limit_rate 12k; add_header Connection-Number $connection; alias files/; }
location /private/ { auth_basic "readers"; auth_basic_user_file users; alias files/; }
location /store/ { dav_methods PUT DELETE; client_max_body_size 0; alias store/; }
location /little/ { client_max_body_size 1k; return 200; }
location /kept/ { expires 10m; alias files/; }
location /often { limit_req zone=often; limit_req_status 429; error_page 429 = @later; try_files /hello.txt =404; }
location @later { add_header Retry-After 1 always; return 429; }
location /to-tls { return 301 https://localhost:{tls}/echo; }
location /to-plain { return 302 http://localhost:{plain}/echo; }
"""

TINYPROXY = f"""
Port {{port}}
Listen 127.0.0.1
Allow 127.0.0.1
BasicAuth {PROXY_USER} {PROXY_PASSWORD}
LogFile "proxy.log"
LogLevel Connect
"""

NAMES = ("plain", "tls", "weary", "tls11", "expired", "other", "own", "knows", "meets")


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def filled(text, values):
    for name, value in values.items():
        text = text.replace("{%s}" % name, str(value))
    return text


class Web:
    """Both programs, and the authority that signed for nginx; `close()` ends them."""

    def __init__(self):
        self.place = tempfile.TemporaryDirectory(prefix="weft-web-")
        self.folder = pathlib.Path(self.place.name)
        self.processes = []
        try:
            self.fill()
            self.start()
        except BaseException:
            self.close()
            raise

    def fill(self):
        signer = self.authority = authority.Authority(self.folder)
        signer.sign("good", "localhost")
        signer.sign("old", "localhost", authority.PASSED)
        signer.sign("other", "other.example")
        signer.sign("client", "a-client")
        for name, how in (("locked", ["pkey"]), ("locked-ec", ["ec"])):
            subprocess.run(["openssl", *how, "-in", "client.key", "-aes256", "-passout", "pass:x", "-out", f"{name}.key"],
                           cwd=self.folder, check=True, capture_output=True)
        signer.make_own("own", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        files = self.folder / "files"
        files.mkdir()
        (self.folder / "store").mkdir()
        (files / "hello.txt").write_text("hello from nginx\n" * 1000)
        (files / "data").write_bytes(content)
        with open(files / "big", "wb") as file:
            file.truncate(BIG)
        (self.folder / "users").write_text(f"{USER}:{{PLAIN}}{PASSWORD}\n")

    def start(self):
        *ports, self.proxy = free_ports(len(NAMES) + 1)
        self.ports = dict(zip(NAMES, ports))
        (self.folder / "nginx.conf").write_text(filled(NGINX, self.ports))
        (self.folder / "places").write_text(filled(PLACES, self.ports))
        (self.folder / "tinyproxy.conf").write_text(filled(TINYPROXY, {"port": self.proxy}))
        if os.geteuid() == 0:
            self.give_to_nobody()
        self.run("nginx", "-p", f"{self.folder}/", "-c", "nginx.conf", "-e", "error.log")
        self.run("tinyproxy", "-d", "-c", "tinyproxy.conf")
        for port in (*ports, self.proxy):
            wait_until(lambda: self.answers(port), f"port {port}: {self.trouble()}")

    def give_to_nobody(self):
        nobody = pwd.getpwnam("nobody")
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)

    def run(self, program, *arguments):
        path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")
        assert path, f"{program} is not installed"
        log = open(self.folder / f"{program}.out", "w")
        nobody = "nobody" if os.geteuid() == 0 else None
        self.processes.append(subprocess.Popen(
            [path, *arguments], cwd=self.folder, user=nobody, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def trouble(self):
        return " ".join((self.folder / f"{name}.out").read_text() for name in ("nginx", "tinyproxy"))

    def answers(self, port):
        assert all(process.poll() is None for process in self.processes), self.trouble()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            return False

    def close(self):
        for process in self.processes:
            process.terminate()
            process.wait(30)
        self.place.cleanup()

    def met(self):
        """What the other origin was asked, in order."""
        return (self.folder / "meets.log").read_text().splitlines()

    def proxied(self):
        """What the proxy was asked to do, in order."""
        return [line.partition("Request (file descriptor ")[2].partition("): ")[2]
                for line in (self.folder / "proxy.log").read_text().splitlines() if "Request (file" in line]


class Cutter:
    """A way to a port of which the first connection breaks off after so many bytes of the answer."""

    def __init__(self, port, limit):
        self.target, self.limits = port, [limit]
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            near = self.listener.accept()[0]
            far = socket.create_connection(("127.0.0.1", self.target))
            limit = self.limits.pop() if self.limits else None
            threading.Thread(target=self.carry, args=(near, far, None), daemon=True).start()
            threading.Thread(target=self.carry, args=(far, near, limit), daemon=True).start()

    @staticmethod
    def carry(source, target, limit):
        try:
            while limit != 0 and (some := source.recv(min(limit or 65536, 65536))):
                target.sendall(some)
                limit = limit and limit - len(some)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
