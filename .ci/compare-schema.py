#!/usr/bin/env python3
"""Compares schemas/workflow.schema.json with `weft check`, over changes of the files that the decoder's tests accept.

Each change removes one member or element, replaces one value by a value of another type, or moves a key into another
object. The schema and the decoder must agree about the result, except about the rules that a schema cannot express.

Needs jsonschema from PyPI.  Usage: .ci/compare-schema.py WEFT [COUNT]

COUNT is the number of changed files that are compared, 2000 unless given; there are some 14,000.
"""

import collections
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = ROOT / "Tests/Unit/WeftDefinitionTests/Cases/accepted"
VALUES = (None, True, 0, -1, 1.5, 7, "", "x", "1s", "${{ inputs.a }}", "a ${{ 1 }}", [], [""], ["x"], [1], {}, {"x": 1})


def is_of_shape(code, message):
    """Whether a schema can express the rule. The graph, the language of expressions and values are not its business."""
    return code.startswith("W01") or code == "W0325" or message.endswith("an expression, which is not allowed here")


def places(value, path=()):
    """The path of every member and element, the whole value excluded."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield path + (key,)
            yield from places(inner, path + (key,))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield path + (index,)
            yield from places(inner, path + (index,))


def holder(value, path):
    for key in path[:-1]:
        value = value[key]
    return value


def changes(file, chance, keys):
    """A copy of the file for each change."""
    for path in list(places(file)):
        for value in [...] + chance.sample(VALUES, 5):
            changed = copy.deepcopy(file)
            parent = holder(changed, path)
            if value is ...:
                del parent[path[-1]]
            else:
                parent[path[-1]] = value
            yield changed
        key, value = chance.choice(keys)
        if isinstance(holder(file, path), dict):
            changed = copy.deepcopy(file)
            holder(changed, path).setdefault(key, copy.deepcopy(value))
            yield changed


def verdicts(weft, files):
    """The codes of the errors in each file, in order."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, file in enumerate(files):
            names.append(f"{number}.json")
            (pathlib.Path(folder) / names[-1]).write_text(json.dumps(file))
        found = collections.defaultdict(list)
        for start in range(0, len(names), 400):
            done = subprocess.run([weft, "check", "--format", "json", *names[start:start + 400]], cwd=folder,
                                  capture_output=True, text=True)
            report = json.loads(done.stdout)
            assert not report["notShown"], "some problems are not shown"
            for diagnostic in report["diagnostics"]:
                if diagnostic["severity"] == "error":
                    found[diagnostic.get("file")].append((diagnostic["code"], diagnostic["message"]))
        return [found[name] for name in names]


def main():
    weft = str(pathlib.Path(sys.argv[1]).resolve())
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    schema = Draft202012Validator(json.loads((ROOT / "schemas/workflow.schema.json").read_text()))
    chance = random.Random(7)
    cases = [json.loads(path.read_text(encoding="utf-8-sig")) for path in sorted(CASES.glob("*.json"))]
    keys = [(path[-1], holder(file, path)[path[-1]]) for file in cases for path in places(file)
            if isinstance(path[-1], str)]
    files = [changed for file in cases if len(json.dumps(file)) < 20_000 for changed in changes(file, chance, keys)]
    if count > len(files):
        sys.exit(f"there are only {len(files)} files")
    files = chance.sample(files, count)
    failures = collections.defaultdict(list)
    for file, errors in zip(files, verdicts(weft, files)):
        accepts = schema.is_valid(file)
        shape = [error for error in errors if is_of_shape(*error)]
        if accepts and shape:
            failures["accepts", shape[0][0], shape[0][1]].append(file)
        elif not accepts and not errors:
            failures["refuses", "", next(schema.iter_errors(file)).message[:100]].append(file)
    for (verb, code, message), files_of in sorted(failures.items()):
        example = json.dumps(min(files_of, key=lambda file: len(json.dumps(file))))
        print(f"the schema {verb} {len(files_of)}x: {message} [{code}]\n    {example[:300]}")
    print(f"{len(files)} files, {len(failures)} kinds of failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
