#!/usr/bin/env python3
"""Workflows that are found without a path: the project's own, those in `workflows`, comments in `.jsonc` files, and the state
directory above.

usage: test_projects.py PATH_TO_WEFT
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from lib import cases

LIMIT = 60


class Project:
    def __init__(self, weft, files):
        self.weft = weft
        self.held = tempfile.TemporaryDirectory(prefix="weft-projects-")
        self.root = pathlib.Path(os.path.realpath(self.held.name))
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))

    def call(self, *words, at=".", **environment):
        place = self.root / at
        place.mkdir(parents=True, exist_ok=True)
        return subprocess.run(
            [self.weft, *words], cwd=place, stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=LIMIT,
            env={**os.environ, **environment})

    def said(self, *words, at="."):
        """What the workflow printed, by the log of its only step."""
        done = self.call(*words, at=at)
        assert done.returncode == 0, done
        logs = self.call("logs", at=at)
        assert logs.returncode == 0, logs
        return logs.stdout.strip().removeprefix("[say] ")


def saying(text):
    return {"steps": [{"id": "say", "run": f"echo {text} in $(basename \"$PWD\")"}]}


def found_here_and_above(weft):
    project = Project(weft, {"app/weft.json": saying("weft"), "app/workflow.json": saying("workflow")})
    name = "app"
    assert project.said("run", at="app") == f"weft in {name}"
    deep = "app/a/b"
    done = project.call("run", at=deep)
    assert done.returncode == 0 and "weft: using ../../weft.json\n" in done.stderr, done
    assert project.call("logs", at=deep).stdout.strip() == f"[say] weft in {name}"
    # Both runs are in one place.
    assert [path.name for path in project.root.glob("**/.weft")] == [".weft"]
    runs = json.loads(project.call("runs", "--format", "json", at=deep).stdout)["runs"]
    assert len(runs) == 2 and {run["file"] for run in runs} == {"weft.json"}, runs
    (project.root / "app/weft.jsonc").write_text("// first\n" + json.dumps(saying("commented")))
    assert project.said("run", at=deep) == f"commented in {name}"
    for words in (["check"], ["graph"]):
        done = project.call(*words, at=deep)
        assert done.returncode == 0 and "using ../../weft.jsonc" in done.stderr, done


def named(weft):
    project = Project(weft, {
        "p/workflows/deploy.json": saying("deploy"), "p/workflows/tidy.jsonc": "/* tidy */ " + json.dumps(saying("tidy")),
        "p/deploy": "a file with the name of a workflow"})
    assert project.said("run", "tidy", at="p") == "tidy in p"
    assert project.said("run", "deploy", at="p/x/y") == "deploy in p"
    done = project.call("run", "deploy", at="p")
    assert done.returncode == 3 and "deploy:1:1" in done.stderr, done
    done = project.call("run", "deplo", at="p/x")
    assert done.returncode == 2 and '"deplo"' in done.stderr, done
    assert project.call("check", "tidy", at="p/x").returncode == 0
    done = project.call("tidy", at="p/x")
    assert done.returncode == 2 and "weft run tidy" in done.stderr, done
    done = project.call("why", "tidy", "say", at="p/x")
    assert done.returncode == 2 and 'has no "cache"' in done.stderr, done


def names_of_other_things(weft):
    build = {"steps": [{"id": "build", "run": "mkdir -p build; echo x >build/x", "cache": {"inputs": [], "outputs": ["build/x"]}}]}
    project = Project(weft, {"workflows/build.json": build})
    for words in (["run", "build"], ["run", "build"], ["check", "build"], ["graph", "build"], ["why", "build", "build"],
                  ["why", "workflows/build.json", "build"], ["run", "build"]):
        done = project.call(*words)
        assert done.returncode == 0, (words, done)
    assert "would not run" in project.call("why", "build", "build").stdout
    assert "is a directory" in project.call("run", "workflows").stderr


def paths_are_those_of_the_caller(weft):
    project = Project(weft, {"weft.json": {
        "inputs": {"text": {"type": "string"}}, "steps": [{"id": "a", "run": "echo \"$T\"", "env": {"T": "${{ inputs.text }}"}}]}})
    (project.root / "sub").mkdir()
    (project.root / "sub/text").write_text("from a file\n")
    (project.root / "sub/inputs.json").write_text('{"text": "from inputs"}')
    done = project.call("run", "-i", "text=@text", "--report", "out.html", "--report", "markdown=out", "--events", "events", at="sub")
    assert done.returncode == 0, done
    assert sorted(path.name for path in (project.root / "sub").iterdir()) == ["events", "inputs.json", "out", "out.html", "text"]
    assert project.call("logs", at="sub").stdout == "[a] from a file\n" or "from a file" in project.call("logs", at="sub").stdout
    assert project.call("run", "--inputs", "inputs.json", at="sub").returncode == 0
    assert "from inputs" in project.call("logs", at="sub").stdout
    assert project.call("report", "-o", "late.md", at="sub").returncode == 0 and (project.root / "sub/late.md").exists()


def nothing_found(weft):
    project = Project(weft, {"sub/other.json": saying("other")})
    for command in ("run", "check", "graph"):
        done = project.call(command, at="sub")
        assert done.returncode == 2, done
        for name in ("weft.jsonc", "weft.json", "workflow.jsonc", "workflow.json", "weft init"):
            assert name in done.stderr, (name, done)
    done = project.call("why", "say", at="sub")
    assert done.returncode == 2 and "weft.json" in done.stderr, done
    done = project.call("list", at="sub")
    assert done.returncode == 0 and "no workflow" in done.stderr and not done.stdout, done


def foreign_files(weft):
    """What another user has put above is passed over; only root can try this."""
    if os.geteuid() != 0:
        raise cases.Skipped("needs root, to make files of another user")
    project = Project(weft, {"weft.json": saying("own"), "shared/weft.json": saying("theirs"), "shared/sub/x": ""})
    os.chown(project.root / "shared/weft.json", 4321, 4321)
    assert project.said("run", at="shared/sub") == f"own in {project.root.name}"
    # In a directory that another user can change, nothing counts, and a link is as its owner made it.
    os.chown(project.root / "shared/weft.json", 0, 0)
    os.chown(project.root / "shared", 4321, 4321)
    assert project.said("run", at="shared/sub") == f"own in {project.root.name}"
    os.chown(project.root / "shared", 0, 0)
    assert project.said("run", at="shared/sub") == "theirs in shared"
    # The user who goes there has chosen it.
    os.chown(project.root / "shared/weft.json", 4321, 4321)
    assert project.call("check", at="shared").returncode == 0


def state_above(weft):
    """The state directory above serves all directories below, and resume works from each."""
    project = Project(weft, {"weft.json": {"steps": [{"id": "a", "run": "test -e fixed"}]}, "sub/own.json": saying("sub")})
    assert project.call("run", at="sub").returncode == 1
    (project.root / "fixed").touch()
    done = project.call("resume", at="sub")
    assert done.returncode == 0, done
    assert project.call("run", "own.json", at="sub").returncode == 0
    assert not (project.root / "sub/.weft").exists()
    assert len(json.loads(project.call("runs", "--format", "json").stdout)["runs"]) == 2
    (project.root / "sub/.weft").mkdir(mode=0o700)
    assert project.call("run", "own.json", at="sub").returncode == 0
    assert len(json.loads(project.call("runs", "--format", "json").stdout)["runs"]) == 2


def listed(weft):
    project = Project(weft, {
        "weft.jsonc": """{
            // Comments are allowed here.
            "name": "main", "description": "Builds it.",
            "inputs": { "version": { "type": "string", "description": "what to build" }, "pin": { "secret": true, "default": "hush" }, },
            "steps": [ { "id": "build", "description": "Compiles.", "run": "true" }, { "id": "test", "run": "true" } ], }""",
        "workflows/deploy.json": saying("deploy"), "workflows/deploy.test.json": {}, "workflows/bad.json": "{",
        "workflows/.hidden.json": {}, "workflows/notes.txt": ""})
    done = project.call("list", at="sub")
    assert done.returncode == 0, done
    for text in ("weft run  (../weft.jsonc): main\n  Builds it.\n", "    -i version", "what to build", "required", "Compiles.",
                 "weft run deploy  (../workflows/deploy.json)\n", "weft run bad  (../workflows/bad.json)\n", "weft check bad\n"):
        assert text in done.stdout, (text, done.stdout)
    assert "hush" not in done.stdout and "hidden" not in done.stdout and "test.json" not in done.stdout
    found = json.loads(project.call("list", "--format", "json", at="sub").stdout)
    assert [one["command"] for one in found["workflows"]] == ["weft run", "weft run bad", "weft run deploy"], found
    main = found["workflows"][0]
    assert [step["step"] for step in main["steps"]] == ["build", "test"] and main["steps"][0]["description"] == "Compiles."
    assert [(one["name"], one["required"], "default" in one) for one in main["inputs"]] == [("version", True, False), ("pin", False, False)]
    assert found["workflows"][1]["problems"] >= 1
    # Nested files are read from where `weft run` starts, wherever the list is made.
    project = Project(weft, {"weft.json": {"steps": [{"id": "inner", "workflow": "parts/n.json"}]}, "parts/n.json": saying("n"),
                             "workflows/w.json": {"steps": [{"id": "inner", "workflow": "n.json"}]}, "workflows/n.json": saying("n")})
    for at in (".", "sub/deep"):
        found = json.loads(project.call("list", "--format", "json", at=at).stdout)["workflows"]
        assert len(found) == 3 and not any("problems" in one and one["problems"] for one in found), found
        assert "problem" not in project.call("list", at=at).stdout
    # Commands that would not run what they are said to run.
    project = Project(weft, {"workflows/a.json": saying("a"), "workflows/a.jsonc": saying("a"), "workflows/-x.json": saying("x"),
                             "workflows/b.json": saying("b"), "b": ""})
    found = json.loads(project.call("list", "--format", "json").stdout)
    assert [one["command"] for one in found["workflows"]] == [
        "weft run workflows/-x.json", "weft run workflows/a.json", "weft run a", "weft run workflows/b.json"], found


def comments(weft):
    project = Project(weft, {"a.jsonc": '// é\n{ "steps": [ /* one */ "echo hi", ], # wrong\n "nmae": "x", }\n', "b.json": '// é\n{"steps": ["true",]}'})
    done = project.call("check", "a.jsonc")
    assert done.returncode == 3 and "a.jsonc:2:38: error" in done.stderr + done.stdout, done
    assert "W0011" in done.stdout + done.stderr and '"//"' in done.stdout + done.stderr
    assert "a.jsonc:3:2: error" in done.stdout + done.stderr, done
    done = project.call("check", "b.json")
    text = done.stdout + done.stderr
    assert done.returncode == 3 and "W0011" in text and "W0012" in text and text.count("NAME.jsonc") == 2, done
    for text, code in (("// only", 3), ('{"steps": ["true"]} // end', 0), ('{"steps": ["true"]} /* open', 3), ('{"steps": ["true",,]}', 3),
                       ('{"steps": [,]}', 3), ('{"steps"/**/:/**/["true"/**/,/**/]/**/}', 0), ('{"steps": ["echo // no comment"]}', 0)):
        (project.root / "c.jsonc").write_text(text)
        done = project.call("check", "c.jsonc")
        assert done.returncode == code, (text, done)


def limits_of_nested_files(weft):
    """The time limit of a file is that of a run to its `finally`, and a tolerated failure to the step that runs it."""
    finals = [{"if": f"{name}()", "run": f"echo {name}"} for name in ("cancelled", "failure", "success")]
    for limit, script, ends in (("100ms", "sleep 1000", "cancelled"), ("1h", "exit 1", "failure"), ("1h", "true", "success")):
        for allowed in (False, True):
            step = {"id": "n", "workflow": "n.json", **({"allowFailure": ["timeout", "exit"]} if allowed else {})}
            project = Project(weft, {
                "n.json": {"timeout": limit, "steps": [{"id": "a", "run": script}], "finally": finals},
                "w.json": {"steps": [step, "echo after ${{ steps.n.outcome }}"]}})
            alone, nested = project.call("run", "n.json"), project.call("run", "w.json", "--strict")
            for done in (alone, nested):
                assert [line for line in done.stdout.splitlines() if line.endswith(f"] {ends}")], (ends, done)
                assert all(f"] {other}\n" not in done.stdout for other in {"cancelled", "failure", "success"} - {ends}), done
            assert nested.returncode == (0 if ends == "success" else 1), nested
            reached = "after success" if ends == "success" else "after failure"
            assert (reached in nested.stdout) == (allowed or ends == "success"), nested
            if ends == "cancelled":
                assert f"[n] group failed {'(tolerated) ' if allowed else ''}after" in nested.stdout, nested


CASES = [
    limits_of_nested_files,
    ("the project's workflow is found here and above", found_here_and_above),
    ("a workflow is found by its name", named),
    ("a directory hides no workflow of its name, and neither does a step", names_of_other_things),
    ("paths in options are those of the caller", paths_are_those_of_the_caller),
    ("what was looked for is said where nothing is found", nothing_found),
    ("files of other users above are passed over", foreign_files),
    ("the state directory above serves those below", state_above),
    ("the workflows of a project are listed", listed),
    ("comments and trailing commas are allowed in .jsonc", comments),
]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, CASES))
