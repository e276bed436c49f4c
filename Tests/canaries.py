#!/usr/bin/env python3
"""Looks for secrets in everything that weft writes, prints and hands on, in every encoding.

usage: canaries.py PATH_TO_WEFT          (as root: some of it is done as another user)
"""

import base64
import contextlib
import json
import os
import re
import subprocess
import sys
import urllib.parse

from signals import Run
from workplace import main, wait_until

# Of each source one, and each awkward in another way. `plain` stands in the workflow as well, where the
# engine has to name it in what it says itself.
CANARIES = {
    "variable": 'canary-Ä /"q\\w\t+&=%~?<é>#\'🔑',
    "file": "-----BEGIN CANARY-----\nMIIcanary+line/one==\n  {\"indented\": \"canary line\"}\n}\nlast-canary-line",
    "command": '{"type": "canary", "key": "AbCdEf0123\\nxyz/+=="}',
    "descriptor": "".join(chr(33 + (i * i * 7 + i // 3) % 90) for i in range(700)),
    "plain": "plain-canary-0815",
}
# What a step makes of `plain`.
MADE = b"plain+canary+0815"

# Prints every canary in every encoding, whole, in lines, and byte by byte.
EMIT = """
import base64, json, os, re, urllib.parse
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
    for number, form in enumerate(forms):
        stream = 1 + number % 2
        os.write(stream, b"<" + form + b">\\n")
        for index in range(len(form)) if len(form) < 100 else ():
            os.write(stream, form[index:index + 1])
        os.write(stream, b"\\n")
    os.write(1, value)  # and no newline
"""


def forms(value):
    """What must be found nowhere, written down anew: nothing of it comes from weft."""
    data = value.encode()
    yield data
    yield from (line.strip() for line in data.split(b"\n") if len(line.strip()) >= 4)
    # No sixteen bytes of it either.
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


def leaks(text, names=CANARIES):
    """Which forms of which canaries stand in the text."""
    found = []
    # What a display draws over or breaks into lines is still to be read.
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
        # Only what is used is read.
        use = {"id": "use", "run": "true", "env": {f"C_{name}": f"${{{{ secrets.{name} }}}}"
                                                   for name in secrets}}
        workflow = {"secrets": secrets, "steps": [use, *steps]}
        # The directory has to be filled before weft starts in it.
        super().__init__(
            weft, workflow, arguments, prepare=lambda: fill(os.getcwd()), descriptors=(self.reading,),
            CANARY_SOURCE=CANARIES["variable"], **keys)
        os.close(self.reading)

    def written(self):
        """All that is in the files of its directory, but for the sources and the workflow."""
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
    # What expressions make of a secret is secret, too, and so is what a program was given and hands on.
    {"id": "made", "needs": ["use"], "run": "echo $MADE; cat; echo handed=$MADE >>$WEFT_OUTPUT",
     "env": {"MADE": "${{ replace(secrets.plain, '-', '+') }}"}, "stdin": "<${{ secrets.command }}>",
     "outputs": {"handed": {"type": "string"}, "seen": "${{ self.stdout }}"}},
    {"id": "again", "run": "echo $HANDED; echo $SEEN", "env": {
        "HANDED": "${{ steps.made.outputs.handed }}", "SEEN": "${{ steps.made.outputs.seen }}"}},
    {"id": "left", "needs": ["use"], "run": "bash -c 'exec -a " + CANARIES["plain"] + " sleep 1000' &"
     " cat canaries/file; exit 3", "shell": ["bash", "-c"]},
    {"id": "logged", "run": ["base64", "-w0"], "stdin": {"log": "emit"}},
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
    """S09: ^C in the middle of a secret: nothing of it is told, in what was held back neither"""
    script = f"printf 'so far: {CANARIES['plain'][:9]}'; echo began >began.fifo; exec sleep 1000"
    run = Place(weft, [{"id": "work", "run": script}], ["--events", "events"])
    try:
        run.wait_for("began.fifo")
        run.press(b"\x03")
        assert run.status() == 130, run.output
        assert leaks(run.output + run.written()) == [], run.output
        # It was no secret: no more than its beginning ever came.
        assert b"so far: plain-can" in run.written(), run.written()
    finally:
        run.close()


def logs_on_disk_are_masked(weft):
    """S09: what weft keeps on disk while it runs, in its record and in files without names, is masked"""
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
            if os.readlink(f"{files}/{name}").endswith("(deleted)"):
                with open(f"{files}/{name}", "rb") as file:
                    kept += file.read()
        assert b"***" in kept and leaks(kept) == [], leaks(kept)
        run.release("wait.fifo")
        assert run.status() == 0, run.output
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
    """S09: who runs as the same user sees neither memory nor environment of a weft that holds secrets"""
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
                      *(["graph", "--format", form] for form in "tree table dot mermaid json".split())):
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
    """S08: a secret that cannot be had or masked: told at its place, exit 2, nothing started"""
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
    """S09: ^C while a command prints a secret: it is ended, exit 130, nothing started"""
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
    """S04: a secret in arguments, scripts, names and paths is refused before anything starts"""
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
    """S09: an input that is declared secret is masked as secrets are"""
    workflow = {"inputs": {"token": {"type": "string", "secret": True}},
                "steps": [{"run": "echo $T; printf %s $T | base64", "env": {"T": "${{ inputs.token }}"}}]}
    run = Run(weft, workflow, ["-i", "token=" + CANARIES["plain"], "--events", "events"], terminal=False)
    try:
        assert run.status() == 0, run.output
        assert b"***" in run.output and leaks(run.output + run.file("events").encode()) == []
    finally:
        run.close()


if __name__ == "__main__":
    main(__doc__, [
        nothing_is_told, nothing_is_told_when_interrupted, logs_on_disk_are_masked,
        others_do_not_see_it, engine_cannot_be_looked_into, leftovers_are_found,
        only_a_run_reads_them, nothing_starts_without_them, reading_can_be_interrupted,
        secrets_stay_out_of_what_is_seen, secret_inputs_are_masked])
