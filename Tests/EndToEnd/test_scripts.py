#!/usr/bin/env python3
"""Runs scripts of several lines and script files with weft, and changes the files between its commands and meanwhile.

usage: test_scripts.py PATH_TO_WEFT
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from lib import cases

LIMIT = 60  # seconds, against hanging only


class Place:
    """A directory with a workflow and script files, in which weft runs."""

    def __init__(self, weft, workflow, **scripts):
        self.weft = weft
        self.directory = tempfile.TemporaryDirectory(prefix="weft-script-")
        self.path = pathlib.Path(self.directory.name)
        self.write("w.json", json.dumps(workflow))
        for name, text in scripts.items():
            self.write(f"{name}.sh", text)

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def read(self, name):
        return (self.path / name).read_text()

    def call(self, *arguments, expect=0, cwd=".", **options):
        options = {"stdin": subprocess.DEVNULL, **options}
        if "input" in options:
            del options["stdin"]
        done = subprocess.run([self.weft, *arguments], cwd=self.path / cwd, capture_output=True, text=True, timeout=LIMIT,
                              **options)
        assert done.returncode == expect, (arguments, done.returncode, done.stdout, done.stderr)
        return done


def script(name, **keys):
    return {"id": name, "script": {"file": f"{name}.sh"}, **keys}


def lines_are_a_script(weft):
    """an array of lines runs like one text, whatever its lines contain"""
    body = ["if true; then", "", "  cat <<END", "é ${{ inputs.v }} \\$x", "END", "fi", "x='a", "b'; echo \"$x\"", "\ttrue"]
    value = "'\"$(touch made)`x`\n${y}"
    written = []
    for step in ({"script": body}, {"run": "\n".join(body)}):
        place = Place(weft, {"inputs": {"v": {"type": "string"}}, "steps": [{"id": "a", **step}]})
        place.call("run", "w.json", "-i", f"v={value}")
        assert not (place.path / "made").exists()
        written.append(next((place.path / ".weft/runs").glob("*/logs/a.log")).read_text())
    assert written == [f"é {value} $x\na\nb\n"] * 2, written


def read_once(weft):
    """a file that is edited during a run has no effect on it"""
    place = Place(weft, {"steps": [
        {"id": "edit", "run": "echo 'echo edited >> out' > late.sh; rm again.sh; mkdir again.sh"},
        script("late"), {**script("late"), "id": "again"}, script("again") | {"id": "third"}]},
        late="echo late >> out\n", again="echo again >> out\n")
    place.call("run", "w.json")
    assert place.read("out") == "late\nlate\nagain\n", place.read("out")


def resumed(weft):
    """a run is resumed with a changed script file only if the change is accepted, and the steps that run it run again"""
    place = Place(weft, {"steps": [script("a"), {"workflow": "part/part.json"}, {"id": "gate", "run": "test -e ok"}]},
                  a="echo a >> out\n")
    place.write("part/part.json", json.dumps({"steps": [script("own")]}))
    place.write("part/own.sh", "echo own >> out\n")
    place.call("run", "w.json", expect=1)
    (place.path / "ok").touch()
    place.write("part/own.sh", "echo changed >> out\n")
    refused = place.call("resume", expect=3)
    assert '"part/own.sh" has changed' in refused.stderr and "--accept-changes" in refused.stderr, refused
    assert place.read("out") == "a\nown\n"
    place.call("resume", "--accept-changes")
    assert place.read("out") == "a\nown\nchanged\n", place.read("out")
    # Removing the file is found, too.
    (place.path / "a.sh").unlink()
    missing = place.call("resume", "--from", "a", expect=3)
    assert "W0601" in missing.stderr and '"a.sh"' in missing.stderr, missing


def keyed(weft):
    """the cache key of a step contains its script file, and weft why says what changed"""
    place = Place(weft, {"steps": [script("a", cache={"inputs": []}), {"id": "b", "script": ["true", "echo $((1 + 1))"],
                                                                     "cache": {"inputs": []}}]}, a="echo one\n")
    place.call("run", "w.json")
    assert place.call("run", "w.json", "--events", "events").returncode == 0
    cached = [event for event in map(json.loads, place.read("events").splitlines()) if event["type"] == "step.cached"]
    assert len(cached) == 2, place.read("events")
    place.write("a.sh", "echo two\n")
    why = place.call("why", "w.json", "a").stdout
    assert "command changed" in why and r'"echo one\n" -> "echo two\n"' in why, why
    done = place.call("run", "w.json")
    assert "two" in done.stdout + done.stderr, done


def from_standard_input(weft):
    """the paths in a workflow from standard input begin in the start directory"""
    place = Place(weft, {"steps": [{"script": {"file": "sub/x.sh"}}]})
    place.write("sub/x.sh", "#!/usr/bin/env bash\n[[ $0 == bash ]] && pwd -P > out\n")
    place.call("run", "-", input=place.read("w.json"))
    assert place.read("out") == f"{place.path.resolve()}\n"
    done = place.call("check", "-", cwd="sub", input=place.read("w.json"), expect=3)
    assert "W0601" in done.stdout, done
    # Messages name the file as seen from the directory where weft was started.
    place.write("sub/x.sh", "true\n\techo ${{ inputs.x }}\n")
    done = place.call("check", "-C", "..", "w.json", cwd="sub", expect=3)
    assert "sub/x.sh:2:18: error: the workflow has no input" in done.stdout, done


def shells(weft):
    """the #! line is the shell of a file that is run by the step's environment, whatever its mode"""
    place = Place(weft, {"shell": "python", "steps": [
        script("bash"), script("sh"), script("python"), {**script("bash"), "id": "own", "shell": ["/bin/echo", "-n"]}]},
        bash="#!/usr/bin/env -S bash -u\nset -o | grep -c '^\\(errexit\\|nounset\\|pipefail\\).*on$' > bash\n",
        sh="#! /bin/sh\necho $- | grep -q e && echo $0 > sh\n",
        python="#!/usr/bin/python3 -I\nimport sys\nopen('python', 'w').write(str(sys.flags.isolated))\n")
    os.chmod(place.path / "sh.sh", 0o400)
    place.call("run", "w.json")
    assert [place.read(name) for name in ("bash", "sh", "python")] == ["3\n", "/bin/sh\n", "1"], place.read("bash")


def inside(weft):
    """nothing outside of the start directory is opened, also not by a link, and no device or FIFO is waited for"""
    outside = tempfile.NamedTemporaryFile(suffix=".sh", mode="w")
    outside.write("echo secret\n")
    outside.flush()
    place = Place(weft, {"steps": [script(name) for name in ("link", "fifo", "zero", "folder")]
                         + [{"script": {"file": os.path.relpath(outside.name, "/tmp")}}, {"script": {"file": "../x.sh"}}]})
    os.symlink(outside.name, place.path / "link.sh")
    os.symlink("/dev/zero", place.path / "zero.sh")
    os.mkfifo(place.path / "fifo.sh")
    os.mkdir(place.path / "folder.sh")
    done = place.call("check", "w.json", expect=3)
    codes = [line.rsplit("[", 1)[1][:-1] for line in done.stdout.splitlines() if ": error: " in line]
    assert codes == ["W0602", "W0601", "W0602", "W0601", "W0601", "W0602"], done.stdout
    assert "secret" not in done.stdout


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [lines_are_a_script, read_once, resumed, keyed, from_standard_input, shells, inside]))
