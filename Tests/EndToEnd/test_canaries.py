#!/usr/bin/env python3
"""Looks for secrets in everything that weft writes, prints and passes on, in every encoding.

usage: test_canaries.py PATH_TO_WEFT          (as root: some cases run as a different user)
"""

import base64
import contextlib
import html
import http.server
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import threading
import urllib.parse

from lib import cases
from lib.session import Run
from lib.workplace import wait_until

# One of each source, each awkward in a different way. `plain` is also in the workflow, where the engine has to name it
# in its own messages.
CANARIES = {
    "variable": 'canary-Ä /"q\\w\t+&=%~?<é>#\'🔑',
    "file": "-----BEGIN CANARY-----\nMIIcanary+line/one==\n  {\"indented\": \"canary line\"}\n}\nlast-canary-line",
    "command": '{"type": "canary", "key": "AbCdEf0123\\nxyz/+=="}',
    "descriptor": "".join(chr(33 + (i * i * 7 + i // 3) % 90) for i in range(700)),
    "plain": "plain-canary-0815",
}
# The result of a step that reads `plain`.
MADE = b"plain+canary+0815"

# Prints every canary in every encoding: whole, in lines, and byte by byte.
EMIT = """
import base64, html, json, os, re, shlex, urllib.parse
os.set_blocking(1, True)
for name in sorted(os.listdir("canaries")):
    value = open("canaries/" + name, "rb").read()
    text = value.decode()
    forms = [value, *value.split(b"\\n"), value.hex().encode(), value.hex().upper().encode(),
             base64.encodebytes(value), json.dumps(json.dumps(text)).encode()]
    for before in (b"", b"u", b"us"):
        forms += [base64.b64encode(before + value), base64.urlsafe_b64encode(before + value + b"z")]
    for ascii in (True, False):
        forms += [json.dumps({"k": text}, ensure_ascii=ascii).encode()]
    forms += [json.dumps(text).replace("/", "\\\\/").encode()]
    forms += [form(text).encode() for form in (urllib.parse.quote, urllib.parse.quote_plus)]
    forms += [re.sub("%..", lambda digits: digits[0].lower(), urllib.parse.quote(text, safe="")).encode()]
    forms += [form.encode() for form in (html.escape(text), shlex.quote(text), repr(text))]
    # As "grep --color" writes it.
    forms += [value[:3] + b"\\x1b[01;31m\\x1b[K" + value[3:6] + b"\\x1b[m\\x1b[K" + value[6:]]
    for number, form in enumerate(forms):
        stream = 1 + number % 2
        os.write(stream, b"<" + form + b">\\n")
        for index in range(len(form)) if len(form) < 100 else ():
            os.write(stream, form[index:index + 1])
        os.write(stream, b"\\n")
    os.write(1, value)  # and no newline
"""


def forms(value):
    """The forms that must not be found anywhere, written independently of weft."""
    data = value.encode()
    yield data
    yield from (line.strip() for line in data.split(b"\n") if len(line.strip()) >= 4)
    # Nor any sixteen bytes of it.
    yield from (data[i:i + 16] for i in range(0, max(1, len(data) - 16), 5))
    yield data.hex().encode()
    yield data.hex().upper().encode()
    for before in range(3):
        first, end = (before * 8 + 5) // 6, (before + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"x" * before + data)[first:end]
    first_line = base64.encodebytes(data).split(b"\n")[0]
    yield first_line if len(data) >= 57 else base64.b64encode(data)[:len(data) * 8 // 6]
    for ascii in (True, False):
        yield json.dumps(value, ensure_ascii=ascii)[1:-1].encode()
    yield json.dumps(json.dumps(value))[3:-3].encode()
    for encode in (urllib.parse.quote, urllib.parse.quote_plus):
        yield encode(value).encode()
    yield re.sub("%..", lambda digits: digits[0].lower(), urllib.parse.quote(value, safe="")).encode()
    yield html.escape(value).encode()
    yield shlex.quote(value)[1:-1].encode()
    yield repr(value)[1:-1].encode()


def leaks(text, names=CANARIES):
    """The forms of canaries in the text."""
    found = []
    # Text that a display overwrites or breaks into lines is examined, too.
    texts = (text, re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]", b"", text))
    for name in names:
        for form in forms(CANARIES[name]):
            if any(form in text for text in texts):
                found.append((name, form[:60]))
    return found


class Place(Run):
    """A run whose workflow has all canaries as secrets."""

    def __init__(self, weft, steps, arguments=(), **keys):
        self.reading, writing = os.pipe()
        os.write(writing, CANARIES["descriptor"].encode())
        os.close(writing)
        secrets = {
            "variable": {"env": "CANARY_SOURCE"},
            "file": {"file": "canaries/file"},
            "command": {"command": ["cat", "canaries/command"]},
            "descriptor": {"descriptor": self.reading},
            "plain": {"file": "canaries/plain"},
        }
        # Only secrets that are used are read.
        use = {"id": "use", "run": "true", "env": {f"C_{name}": f"${{{{ secrets.{name} }}}}"
                                                   for name in secrets}}
        workflow = {"secrets": secrets, "steps": [use, *steps]}
        # The directory has to be filled before weft starts in it.
        super().__init__(
            weft, workflow, arguments, prepare=lambda: fill(os.getcwd()), descriptors=(self.reading,),
            CANARY_SOURCE=CANARIES["variable"], **keys)
        os.close(self.reading)

    def written(self):
        """The contents of all files in its directory, except the sources and the workflow."""
        result = b""
        for directory, names, files in os.walk(self.path):
            if directory.endswith("/canaries"):
                continue
            for name in files:
                if name not in ("workflow.json", "emit.py") and not name.endswith(".fifo"):
                    with open(f"{directory}/{name}", "rb") as file:
                        result += file.read()
        return result


def fill(path):
    os.makedirs(f"{path}/canaries", exist_ok=True)
    for name, value in CANARIES.items():
        with open(f"{path}/canaries/{name}", "w") as file:
            file.write(value)
    with open(f"{path}/emit.py", "w") as file:
        file.write(EMIT)


NOISY = [
    {"id": "emit", "run": [sys.executable, "emit.py"]},
    {"id": "missing", "run": ["./" + CANARIES["plain"]], "needs": ["use"]},
    {"id": "elsewhere", "run": "true", "cwd": "/" + CANARIES["plain"], "needs": ["use"]},
    {"id": "input", "run": "true", "stdin": {"file": "/no/" + CANARIES["plain"]}, "needs": ["use"]},
    {"name": "a step called " + CANARIES["plain"], "run": "false", "needs": ["use"]},
    # Results of expressions on a secret are secret, too, and so are the input and the output of a program.
    {"id": "made", "needs": ["use"], "run": "echo $MADE; cat; echo handed=$MADE >>$WEFT_OUTPUT",
     "env": {"MADE": "${{ replace(secrets.plain, '-', '+') }}"}, "stdin": "<${{ secrets.command }}>",
     "outputs": {"handed": {"type": "string"}, "seen": "${{ self.stdout }}"}},
    {"id": "again", "needs": ["made"], "run": "echo $HANDED; echo $SEEN", "env": {
        "HANDED": "${{ steps.made.outputs.handed }}", "SEEN": "${{ steps.made.outputs.seen }}"}},
    {"id": "left", "needs": ["use"], "run": "bash -c 'exec -a " + CANARIES["plain"] + " sleep 1000' &"
     " cat canaries/file; exit 3", "shell": ["bash", "-c"]},
    {"id": "logged", "needs": ["emit"], "run": ["base64", "-w0"], "stdin": {"log": "emit"}},
]


def nothing_is_told(weft):
    """S09: secrets in output, failures, events and displays: not found in anything that is written"""
    for terminal in (False, True):
        run = Place(weft, NOISY, ["-k", "--events", "events"], terminal=terminal, COLUMNS="400")
        try:
            assert run.status() == 1, run.output
            assert b"***" in run.output
            assert leaks(run.output) == [], (leaks(run.output), run.output)
            assert leaks(run.written()) == [], leaks(run.written())
            assert MADE not in run.output + run.written()
            ends = {event["step"]: event for event in run.events() if event["type"] == "step.finished"}
            for name in ("emit", "made", "again"):
                assert ends[name]["outcome"] == "success", ends[name]
            for name in ("missing", "elsewhere", "input"):
                assert "***" in json.dumps(ends[name]), ends[name]
        finally:
            run.close()


def nothing_is_told_when_interrupted(weft):
    """S09: ^C in the middle of a secret: nothing of it is written, not even from held output"""
    script = f"printf 'so far: {CANARIES['plain'][:9]}'; echo began >began.fifo; exec sleep 1000"
    run = Place(weft, [{"id": "work", "run": script}], ["--events", "events"])
    try:
        run.wait_for("began.fifo")
        run.press(b"\x03")
        assert run.status() == 130, run.output
        assert leaks(run.output + run.written()) == [], run.output
        # This was no secret: only its beginning arrived.
        assert b"so far: plain-can" in run.written(), run.written()
    finally:
        run.close()


def logs_on_disk_are_masked(weft):
    """S09: the files that weft keeps during a run, in its record and without names, are masked"""
    emit = {"id": "emit", "run": [sys.executable, "emit.py"]}
    run = Place(weft, [emit, "echo began >began.fifo; cat wait.fifo"], terminal=False)
    try:
        run.wait_for("began.fifo")
        files = f"/proc/{run.process.pid}/fd"
        kept = b""
        for folder, _, names in os.walk(f"{run.path}/.weft"):
            for name in names:
                with open(f"{folder}/{name}", "rb") as file:
                    kept += file.read()
        for name in os.listdir(files):
            # Threads of weft open and close others meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if os.readlink(f"{files}/{name}").endswith("(deleted)"):
                    with open(f"{files}/{name}", "rb") as file:
                        kept += file.read()
        assert b"***" in kept and leaks(kept) == [], leaks(kept)
        run.release("wait.fifo")
        assert run.status() == 0, run.output
    finally:
        run.close()


def traced_commands_are_masked(weft):
    """S09 X38: a secret as shells write it with set -x, and quoted for them and for HTML, is masked"""
    # The variables that the shells themselves print cannot be controlled.
    tools = [shell for shell in ("sh", "bash", "dash", "zsh", "ksh")
             if subprocess.run(["which", shell], capture_output=True).returncode == 0]
    steps = [{"id": shell, "run": [shell, "-c", "set -x; echo \"$A\" 'and more'; : \"$A\""],
              "env": {"A": "${{ secrets.A }}"}} for shell in tools]
    steps.append({"id": "quoted", "run": ["bash", "-c", "printf '%q\\n' \"$A\"; declare -p A; export -p"],
                  "env": {"A": "${{ secrets.A }}"}})
    for value in ("it's a 'canary' & more", 'a "canary" $HOME `x` \\ <b>', "canary\nof two lines\tand 'tabs'"):
        run = Run(weft, {"secrets": SECRETS, "steps": steps}, terminal=False, CANARY_SOURCE=value)
        try:
            assert run.status() == 0, run.output
            kept = b"".join(path.read_bytes() for path in files_of(run))
            assert b"***" in kept and b"canary" not in kept + run.output, kept + run.output
        finally:
            run.close()


# Secrets that become known only when a step has ended. They are written so that no script or workflow contains them as
# they are.
LATE = {"command": "late-canary-4711", "handed": "late-canary-4712", "body": "late-canary-4713",
        "header": "late-canary-4714", "page": "late-canary-4715", "failed": "late-canary-4716"}


def made_late(name):
    head, tail = LATE[name].rsplit("-", 1)
    return f"printf '%s-%s\\n' {head} {tail}"


class Minting(http.server.BaseHTTPRequestHandler):
    """A server that answers with secrets it generates."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Set-Cookie", f"session={LATE['header']}")
        body = {"token": LATE["body"], "note": "of no importance"}
        if self.path == "/pages":
            self.send_header("Link", "</last>; rel=next")
            body = [{"n": 1}]
        if self.path == "/last":
            body = [{"token": LATE["page"]}]
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


def files_of(run):
    """Every file below .weft; files of the run without a name are not included."""
    found = []
    for folder, _, names in os.walk(f"{run.path}/.weft"):
        found += [pathlib.Path(folder, name) for name in names]
    return found


def secret(value):
    return {"value": value, "secret": True}


def late_steps(port, gate):
    """A step for each way in which a secret becomes known late, and one that reads it."""
    url = f"http://127.0.0.1:{port}"
    return [
        {"id": "command", "run": made_late("command") + "; echo of no importance; " + made_late("command") + " >&2",
         "idempotent": True, "outputs": {"t": secret("${{ trim(self.stdout) == '' && 'none' || split(self.stdout, '\n')[0] }}")}},
        {"id": "handed", "run": "t=$(" + made_late("handed") + "); echo $t; echo t=$t >>$WEFT_OUTPUT",
         "idempotent": True, "outputs": {"t": {"secret": True, "type": "string"}}},
        {"id": "body", "http": {"url": url + "/body"}, "outputs": {"t": secret("${{ self.json.token }}")}},
        {"id": "header", "http": {"url": url + "/header"}, "outputs": {"t": secret("${{ self.headers['set-cookie'] }}")}},
        {"id": "page", "http": {"url": url + "/pages", "pages": {"next": "link"}},
         "outputs": {"t": secret("${{ self.json[1].token }}")}},
        {"id": "failed", "run": made_late("failed") + "; echo said on stderr >&2; exit 3", "allowFailure": True, "idempotent": True,
         "outputs": {"t": secret("${{ trim(self.stdout) }}")}},
        {"id": "unknown", "run": made_late("failed") + "; echo said on stderr >&2; exit 3", "allowFailure": True, "idempotent": True,
         "outputs": {"t": secret("${{ fromJSON(self.stdout).token }}")}},
        {"id": "reads", "run": "echo $A $B $C; echo $D", "env": {
            "A": "${{ steps.command.outputs.t }}", "B": "${{ steps.handed.outputs.t }}",
            "C": "${{ steps.body.outputs.t }}", "D": "${{ steps.command.stdout }} ${{ steps.page.json[1].token }}"}},
        gate,
        {"id": "last", "run": "echo $A", "env": {"A": "${{ steps.command.outputs.t }} ${{ steps.body.headers['set-cookie'] }}"}},
    ]


def leaked(run, values):
    # Set-Cookie is secret as an output; elsewhere it is a header like others.
    texts = [(str(path), path.read_bytes()) for path in files_of(run) if path.name != "workflow.json"]
    texts.append(("output", run.output))
    return [(name, value) for name, text in texts for value in values if value.encode() in text]


def late_secrets_are_nowhere(weft):
    """X14: secrets that become known late are in no file after success, failure, kill and resume"""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Minting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    known = [value for name, value in LATE.items() if name != "header"]
    gates = {
        "success": {"id": "gate", "run": "true", "idempotent": True},
        "failure": {"id": "gate", "run": "test -e open"},
        "kill": {"id": "gate", "run": "test -e open || { echo began >began.fifo; exec sleep 1000; }", "idempotent": True},
    }
    try:
        for how, gate in gates.items():
            run = Run(weft, {"steps": late_steps(server.server_address[1], gate)}, ["--events", "events"], terminal=False)
            try:
                if how == "kill":
                    run.wait_for("began.fifo")
                    run.process.send_signal(signal.SIGKILL)
                code = run.status()
                assert code == {"success": 0, "failure": 1, "kill": 137}[how], (how, code, run.output)
                assert leaked(run, known) == [], (how, leaked(run, known))
                text = b"".join(path.read_bytes() for path in files_of(run))
                assert b"of no importance" in text and b"said on stderr" in text and b"***" in text, how
                assert b"a secret output of the step that is not known" in text, how
                header = [path.read_bytes() for path in files_of(run) if path.name == "header.log"]
                assert header and LATE["header"].encode() not in b"".join(header), header
                if how == "success":
                    continue
                pathlib.Path(run.path, "open").touch()
                done = subprocess.run([weft, "resume", "--events", "more"], cwd=run.path, capture_output=True)
                assert done.returncode == 0, done
                run.output += done.stdout + done.stderr
                assert leaked(run, known) == [], (how, "resume", leaked(run, known))
                assert not any(value in run.file("more") for value in known)
            finally:
                run.close()
    finally:
        server.shutdown()


def inputs_with_secrets_are_not_recorded(weft):
    """X14: an ordinary input and a loop that contain a secret: in no file, and required again by resume"""
    workflow = {
        "secrets": SECRETS,
        "inputs": {"url": {"type": "string", "default": "https://none"},
                   "list": {"type": "array", "default": []}, "plain": {"type": "string", "default": "x"}},
        "steps": [USE, {"id": "loop", "forEach": {"in": "${{ inputs.list }}"}, "run": "echo $I", "env": {"I": "${{ item }}"}},
                  {"id": "gate", "run": "echo $U; test -e open", "env": {"U": "${{ inputs.url }}"}}]}
    value = CANARIES["plain"]
    given = ["-i", f"url=https://u:{value}@h/", "-i", f'list:=["a", "{value}", "b"]', "-i", "plain=seen-plainly"]
    given = [text.replace("list:=", "list=") for text in given]
    run = Run(weft, workflow, [*given, "--events", "events"], terminal=False, CANARY_SOURCE=value)
    try:
        assert run.status() == 1, run.output
        assert leaked(run, [value]) == [], leaked(run, [value])
        assert any(b"seen-plainly" in path.read_bytes() for path in files_of(run)), "nothing is recorded"
        assert any(path.name.startswith("loop[") for path in files_of(run)), files_of(run)
        pathlib.Path(run.path, "open").touch()
        environment = dict(os.environ, CANARY_SOURCE=value)
        refused = subprocess.run([weft, "resume"], cwd=run.path, capture_output=True, env=environment)
        assert refused.returncode == 2 and b"are required but not given" in refused.stderr, refused
        done = subprocess.run([weft, "resume", *given[:4]], cwd=run.path, capture_output=True, env=environment)
        assert done.returncode == 0, done
        assert leaked(run, [value]) == [] and value.encode() not in done.stdout + done.stderr, done
    finally:
        run.close()


def not_demanded_of_what_will_not_run(weft):
    """X69: the secret of a step or group whose condition is known to be false is not required"""
    for inputs, status in (([], 0), (["-i", "release=true"], 2)):
        workflow = {"secrets": SECRETS, "inputs": {"release": {"type": "boolean", "default": False}}, "steps": [
            {"if": "inputs.release", **USE},
            {"if": "inputs.release", "parallel": [USE]}, "true"]}
        run = Run(weft, workflow, inputs, terminal=False)
        try:
            assert run.status() == status, run.output
            assert (b"is not set" in run.output) == (status == 2), run.output
        finally:
            run.close()


def children(process):
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as file:
            if file.read().rpartition(")")[2].split()[1] == str(process):
                yield name


def others_do_not_see_it(weft):
    """S10 S11: a step has no secret in its environment, and no descriptor but its three"""
    script = "ls -l /proc/self/fd >descriptors; echo began >began.fifo; cat wait.fifo"
    run = Place(weft, [{"id": "work", "run": script, "needs": []}], terminal=False)
    try:
        run.wait_for("began.fifo")
        seen = 0
        for process in children(run.process.pid):
            with contextlib.suppress(OSError), open(f"/proc/{process}/environ", "rb") as file:
                environment = file.read()
                # The step beside it has them all.
                if b"WEFT_STEP=work" in environment:
                    seen += 1
                    assert b"CANARY_SOURCE" not in environment, environment
                    assert leaks(environment) == [], environment
        assert seen > 0, "the step's process was not found"
        numbers = re.findall(r" (\d+) -> ", run.file("descriptors"))
        # The last is the directory that ls reads.
        assert numbers == ["0", "1", "2", "3"], run.file("descriptors")
        run.release("wait.fifo")
        assert run.status() == 0, run.output
    finally:
        run.close()


def as_nobody():
    os.chmod(os.getcwd(), 0o1777)
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


SECRETS = {"A": {"env": "CANARY_SOURCE"}}
USE = {"run": "true", "env": {"A": "${{ secrets.A }}"}}
LOOK = ("for f in environ mem maps; do head -c 1 /proc/$PPID/$f >/dev/null 2>&1 && echo sees $f;"
        " done; ls /proc/$PPID/fd >/dev/null 2>&1 && echo sees fd; ulimit -c; true")


def engine_cannot_be_looked_into(weft):
    """S09: processes of the same user see neither memory nor environment of a weft that holds secrets"""
    if os.geteuid() != 0:
        return
    os.chmod(os.path.dirname(weft), 0o755)
    for steps, seen in (([LOOK], {"environ", "maps", "fd"}), ([USE, LOOK], set())):
        run = Run(weft, {"secrets": SECRETS, "steps": steps}, ["--events", "events"], terminal=False,
                  prepare=as_nobody, CANARY_SOURCE=CANARIES["plain"])
        try:
            assert run.status() == 0, run.output
            told = {line.split()[-1] for line in run.output.decode().splitlines() if " sees " in line}
            assert seen <= told if seen else not told, (told, run.output)
            assert "run.warning" not in [event["type"] for event in run.events()], run.events()
        finally:
            run.close()


def leftovers_are_found(weft):
    """S09: a weft that hides its memory still finds what its steps leave behind"""
    if os.geteuid() != 0:
        return
    away = "setsid sh -c 'exec 9<lock; flock -s 9; echo up >up.fifo; exec sleep 1000' & cat up.fifo"
    for containment in ("subreaper", "group+cookie"):
        run = Run(weft, {"secrets": SECRETS, "steps": [USE, away]},
                  ["--containment", containment], terminal=False, prepare=as_nobody,
                  CANARY_SOURCE=CANARIES["plain"])
        try:
            os.chmod(f"{run.path}/up.fifo", 0o666)
            assert run.status() == 0, run.output
            wait_until(run.nothing_is_alive, f"the end of what left its group ({containment})")
        finally:
            run.close()


def only_a_run_reads_them(weft):
    """S09 G07: check, graph and the dry run read no secret"""
    for arguments in (["check"], ["check", "--format", "sarif"], ["run", "--dry-run"],
                      *(["graph", "--format", form] for form in "tree table dot mermaid json svg html".split())):
        run = Run(weft, {
            "secrets": {"A": {"command": ["touch", "read"]}, "B": {"env": "CANARY_SOURCE"}},
            "steps": [{"run": "touch ran", "env": {"A": "${{ secrets.A }}", "B": "${{ secrets.B }}"}}]},
            ["--dry-run"], terminal=False)
        try:
            assert run.status() == 0, run.output
            result = subprocess.run([weft, *arguments, "workflow.json"], cwd=run.path,
                                    capture_output=True)
            assert result.returncode == 0, result
            assert not os.path.exists(f"{run.path}/read") and not os.path.exists(f"{run.path}/ran")
            assert leaks(result.stdout + result.stderr) == []
        finally:
            run.close()


def nothing_starts_without_them(weft):
    """S08: a secret that cannot be read or masked: reported with its location, exit 2, nothing started"""
    for value, said in ((None, b'"CANARY_SOURCE" is not set'), ("{", b"has 1 byte"),
                        ("xyz", b"has 3 bytes"), ("", b"is empty")):
        variables = {} if value is None else {"CANARY_SOURCE": value}
        run = Run(weft, {"secrets": SECRETS, "steps": [USE, "touch ran"]}, terminal=False, **variables)
        try:
            assert run.status() == 2, run.output
            assert said in run.output and b"workflow.json:1:" in run.output, run.output
            assert b"xyz" not in run.output
            assert not os.path.exists(f"{run.path}/ran")
        finally:
            run.close()


def reading_can_be_interrupted(weft):
    """S09: ^C while a command prints a secret: the command is ended, exit 130, nothing started"""
    command = ["sh", "-c", "exec 9<lock; flock -s 9; echo began >began.fifo; exec sleep 1000"]
    run = Run(weft, {"secrets": {"A": {"command": command}}, "steps": [USE, "touch ran"]})
    try:
        run.wait_for("began.fifo")
        run.press(b"\x03")
        assert run.status() == 130, run.output
        assert run.nothing_is_alive() and not os.path.exists(f"{run.path}/ran")
    finally:
        run.close()


def secrets_stay_out_of_what_is_seen(weft):
    """S04: a secret in arguments, scripts, names and paths is rejected before anything starts"""
    token = "${{ secrets.A }}"
    for keys in ({"run": ["touch", "ran", token]}, {"run": f"touch ran; echo {token}"},
                 {"run": "touch ran", "name": f"step {token}"}, {"run": "touch ran", "cwd": token},
                 {"run": "touch ran", "stdin": {"file": token}},
                 {"run": ["touch", "ran", "${{ replace(secrets.A, 'a', 'b') }}"]}):
        run = Run(weft, {"secrets": SECRETS, "steps": [keys]}, terminal=False,
                  CANARY_SOURCE=CANARIES["plain"])
        try:
            assert run.status() == 3, (keys, run.output)
            assert b"W0318" in run.output and leaks(run.output) == [], run.output
            assert not os.path.exists(f"{run.path}/ran")
        finally:
            run.close()


def secret_inputs_are_masked(weft):
    """S09: an input that is declared secret is masked like secrets"""
    workflow = {"inputs": {"token": {"type": "string", "secret": True}},
                "steps": [{"run": "echo $T; printf %s $T | base64", "env": {"T": "${{ inputs.token }}"}}]}
    run = Run(weft, workflow, ["-i", "token=" + CANARIES["plain"], "--events", "events"], terminal=False)
    try:
        assert run.status() == 0, run.output
        assert b"***" in run.output and leaks(run.output + run.file("events").encode()) == []
    finally:
        run.close()


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        nothing_is_told, nothing_is_told_when_interrupted, logs_on_disk_are_masked,
        traced_commands_are_masked, late_secrets_are_nowhere, inputs_with_secrets_are_not_recorded,
        not_demanded_of_what_will_not_run,
        others_do_not_see_it, engine_cannot_be_looked_into, leftovers_are_found,
        only_a_run_reads_them, nothing_starts_without_them, reading_can_be_interrupted,
        secrets_stay_out_of_what_is_seen, secret_inputs_are_masked]))
