#!/usr/bin/env python3
"""Runs steps with env files, and changes the files between runs.

usage: test_env_files.py PATH_TO_WEFT
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
    """A directory with a workflow and env files, in which weft runs."""

    def __init__(self, weft, workflow, **files):
        self.weft = weft
        self.directory = tempfile.TemporaryDirectory(prefix="weft-env-")
        self.path = pathlib.Path(self.directory.name)
        self.write("w.json", json.dumps(workflow))
        for name, text in files.items():
            self.write(f"{name}.env", text)

    def write(self, name, text):
        (self.path / name).write_text(text)

    def read(self, name):
        return (self.path / name).read_text()

    def call(self, *arguments, expect=0, **variables):
        done = subprocess.run([self.weft, *arguments], cwd=self.path, capture_output=True, text=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, env={**os.environ, **variables})
        assert done.returncode == expect, (arguments, done.returncode, done.stdout, done.stderr)
        return done


def resumed(weft):
    """a resumed run reads the files again: steps that are done stay done, others get the values of today"""
    place = Place(weft, {"envFile": "a.env", "steps": [
        {"id": "first", "run": "echo $V >> first"},
        {"id": "second", "run": "echo $V >> second; test $V = new"}]}, a="V=old\n")
    place.call("run", "w.json", expect=1)
    place.write("a.env", "V=new\n")
    place.call("resume")
    assert place.read("first") == "old\n"
    assert place.read("second") == "old\nnew\n"
    os.remove(place.path / "a.env")
    place.call("run", "w.json", expect=2)
    assert place.read("first") == "old\n"


def not_recorded(weft):
    """the values of a file are in no file of the run's record, also not those of a file with a secret"""
    place = Place(weft, {"envFile": "a.env", "secrets": {"T": {"envFile": "a.env", "name": "T"}}, "steps": [
        {"id": "a", "run": "test ${#PLAIN} = 10 && test ${#OWN} = 11 && test -z \"${T-}\" && echo $OWN",
         "env": {"OWN": "${{ secrets.T }}"}}]}, a="PLAIN=plainvalue\nT=secretvalue\n")
    done = place.call("run", "w.json")
    assert "secretvalue" not in done.stdout + done.stderr and "***" in done.stdout, done.stdout
    for path in (place.path / ".weft").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"secretvalue" not in content, path
            assert b"plainvalue" not in content, path


def keyed(weft):
    """a changed value runs a cached step again, and weft why says so; a comment does not"""
    place = Place(weft, {"steps": [
        {"id": "a", "envFile": "a.env", "run": "echo $V >> out", "cache": {"inputs": ["w.json"]}}]}, a="V=1\n")
    place.call("run", "w.json")
    place.call("run", "w.json")
    assert place.read("out") == "1\n"
    place.write("a.env", "# a comment\nV=1\n")
    place.call("run", "w.json")
    assert place.read("out") == "1\n"
    place.write("a.env", "V=2\n")
    why = place.call("why", "w.json", "a").stdout
    assert '"1" -> "2"' in why, why
    place.call("run", "w.json")
    assert place.read("out") == "1\n2\n"
    os.remove(place.path / "a.env")
    why = place.call("why", "w.json", "a").stdout
    assert "has not been read" in why, why


def layers(weft):
    """files of inner layers win over env of outer ones, files of nested workflows are their own"""
    place = Place(weft, {"envFile": "outer.env", "env": {"B": "env"}, "steps": [
        {"id": "g", "envFile": "inner.env", "forEach": ["x", "y"], "steps": [
            {"run": "echo $A $B $C ${{ item }} >> out"}]},
        {"workflow": "part.json"}]}, outer="A=outer\nB=outer\nC=$FROM_WEFT\n", inner="B=inner\n", part="A=part\n")
    place.write("part.json", json.dumps({"envFile": "part.env", "steps": ["echo $A ${B-none} >> out"]}))
    place.call("run", "-j1", "w.json", FROM_WEFT="weft")
    assert place.read("out") == "outer inner weft x\nouter inner weft y\npart none\n", place.read("out")


def only_what_runs(weft):
    """files and secrets of steps that are not selected, or whose if is false, may be missing"""
    place = Place(weft, {
        "secrets": {"ONE": {"envFile": "a.env", "name": "ONE"}, "TWO": {"envFile": "b.env", "name": "TWO"}},
        "steps": [
            {"id": "one", "run": "echo ${#ONE} > one", "env": {"ONE": "${{ secrets.ONE }}"}},
            {"id": "two", "envFile": "c.env", "run": "true", "env": {"TWO": "${{ secrets.TWO }}"}},
            {"id": "never", "if": "false", "envFile": "d.env", "run": "true", "env": {"X": "${{ secrets.TWO }}"}}]},
        a="ONE=12345\n")
    place.call("run", "w.json", "--only", "one")
    assert place.read("one") == "5\n"
    done = place.call("run", "w.json", expect=2)
    assert "W0425" in done.stderr, done.stderr
    place.write("b.env", "TWO=23456\n")
    done = place.call("run", "w.json", expect=2)
    assert '"c.env" cannot be read' in done.stderr and "d.env" not in done.stderr, done.stderr
    place.write("c.env", "")
    place.call("run", "w.json")
    place.write("w.json", json.dumps({"steps": ["true", {"if": False, "envFile": "d.env", "run": "true"}]}))
    place.call("run", "w.json")


def special_files(weft):
    """an endless device and a file that is too large are refused"""
    place = Place(weft, {"envFile": "big.env", "steps": ["true"]}, big="A=" + "x" * (1 << 20))
    assert "W0610" in place.call("run", "w.json", expect=2).stderr
    (place.path / "big.env").unlink()
    os.symlink("/dev/zero", place.path / "big.env")
    assert "W0610" in place.call("run", "w.json", expect=2).stderr


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [resumed, not_recorded, keyed, layers, only_what_runs, special_files]))
