"""Certificates of an authority of one's own, made by openssl in a folder."""

import subprocess

# Of both ends of a time that has passed; `openssl ca` alone takes them in all versions.
PASSED = ("-startdate", "20200101000000Z", "-enddate", "20200201000000Z")

CONFIGURATION = """
[ca]
default_ca = this
[this]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
x509_extensions = leaf
[any]
commonName = supplied
[leaf]
basicConstraints = critical, CA:FALSE
[req]
distinguished_name = name
[name]
"""


class Authority:
    """`ca.pem` in a folder, and what it signs: NAME.pem with NAME.key."""

    def __init__(self, folder):
        self.folder = folder
        folder.joinpath("openssl.cnf").write_text(CONFIGURATION)
        folder.joinpath("index.txt").touch()
        self.make_own("ca", "/CN=Authority of a test", "-addext", "basicConstraints=critical,CA:TRUE")

    def openssl(self, command, *arguments):
        made = subprocess.run(["openssl", command, "-config", "openssl.cnf", *arguments],
                              cwd=self.folder, capture_output=True, text=True, timeout=30)
        assert made.returncode == 0, made.stderr

    def make_own(self, name, subject, *more):
        """A certificate that is signed by itself."""
        self.openssl("req", "-x509", "-days", "2", *self.key(name), "-subj", subject, *more, "-out", f"{name}.pem")

    def sign(self, name, host, dates=("-days", "2")):
        self.openssl("req", "-new", *self.key(name), "-subj", f"/CN={host}",
                     "-addext", f"subjectAltName=DNS:{host}", "-out", f"{name}.csr")
        self.openssl("ca", "-batch", "-notext", *dates, "-cert", "ca.pem", "-keyfile", "ca.key",
                     "-in", f"{name}.csr", "-out", f"{name}.pem")

    @staticmethod
    def key(name):
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key"
