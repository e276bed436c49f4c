#!/usr/bin/env python3
"""Runs the examples of a page, and compares weft's output with the page.

    documented.py WEFT PAGE... [--update]

An example is a block of JSON that is a workflow, and the block of a console after it. Its commands (`$ weft run
FILE`) run in an empty directory in which FILE is that workflow; on a page that mentions 127.0.0.1:8080, they run
beside Tests/EndToEnd/lib/server.py. Other files precede it as ```json file=NAME, or in their own languages; after such
files, an example needs no workflow without a name. ```console continued runs in the directory of the example before.
Times, and how many steps run at once, are not compared; after ```console unordered, neither is the order of the lines.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Tests/EndToEnd"))
from lib import server

block = re.compile(r"^```(\w+)(?: file=(\S+)|((?: \w+)*))\n(.*?)^```$", re.M | re.S)
# Parts of the output that differ from run to run, or between machines.
varying = re.compile(r"\b\d+(\.\d+)? (µs|ms|s)\b|\bat most \d+ at once|\b\d{8}-\d{6}-[0-9a-f]{6}\b")


def is_workflow(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and bool(value.keys() & {"steps", "parallel"})


def transcript(weft: str, folder: str, workflow: str, others: dict[str, str], commands: list[str]) -> str:
    """The output of the commands, each after its command line."""
    lines = []
    for name, content in others.items():
        pathlib.Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(folder, name).write_text(content, encoding="utf-8")
    environment = {"PATH": f"{pathlib.Path(weft).resolve().parent}:{os.environ['PATH']}",
                   "HOME": folder, "LANG": "C.UTF-8"}
    for command in commands:
        file = re.search(r"[\w-]+\.json", command)
        if file and workflow:
            pathlib.Path(folder, file[0]).write_text(workflow, encoding="utf-8")
        result = subprocess.run(
            ["/bin/sh", "-c", f"exec 2>&1; {command}"], cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True, timeout=60)
        lines += [f"$ {command}\n", result.stdout.decode("utf-8")]
    return "".join(lines)


def comparable(text: str, flags: list[str]) -> list[str]:
    lines = varying.sub("…", text).splitlines()
    return sorted(lines) if "unordered" in flags else lines


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    weft, pages = arguments[0], arguments[1:]
    count = wrong = 0
    for page in map(pathlib.Path, pages):
        text = page.read_text(encoding="utf-8")
        api = server.start(8080) if "127.0.0.1:8080" in text else None
        workflow, others, pieces, end = "", {}, [], 0
        for match in block.finditer(text):
            kind, name, flags, content = match.groups()
            flags = (flags or "").split()
            if name:
                others[name] = content
                continue
            if kind == "json":
                workflow = content if is_workflow(content) else ""
                continue
            commands = re.findall(r"^\$ (.*)$", content, re.M)
            if kind != "console" or not (workflow or others) or not commands:
                continue
            count += 1
            if "continued" not in flags:
                folder, present = tempfile.TemporaryDirectory(), set()
            added = {path: others[path] for path in others if path not in present}
            present |= set(added)
            actual = transcript(weft, folder.name, workflow, added, commands)
            if comparable(actual, flags) != comparable(content, flags):
                wrong += 1
                print(f"{page}: {commands[0]}\n--- said\n{content}--- printed\n{actual}")
                pieces += [text[end:match.start(4)], actual]
                end = match.end(4)
        if "--update" in sys.argv:
            page.write_text("".join(pieces) + text[end:], encoding="utf-8")
    print(f"{count} examples of {len(pages)} pages, {wrong} that differ")
    return 1 if wrong or not count else 0


sys.exit(main())
