#!/usr/bin/env python3
"""Checks schemas/event.schema.json: that it is a schema, that the recorded lines of the tests are valid and of every
kind it knows, and that slightly wrong lines are invalid.

Needs jsonschema from PyPI.  Usage: .ci/validate-events.py [FILE.jsonl…]

With files, their lines are checked instead: the events of a real run.
"""

import copy
import json
import pathlib
import sys

from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDED = ROOT / "Tests/Unit/WeftReportingTests/Golden/events"


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key stands twice among {keys}")
    return dict(pairs)


def read(text):
    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


def lines(path):
    text = path.read_bytes().decode("utf-8")
    if not text.endswith("\n"):
        raise ValueError(f"{path}: the last line does not end")
    return text.split("\n")[:-1]


# Members whose keys are names that workflows choose: any key is valid, but not a value of a different type.
NAMED = ("waitingFor",)


def objects(value):
    """The object and all objects inside, each as the path to it."""
    if isinstance(value, dict):
        yield ()
        for key, inner in value.items():
            yield from ((key, *path) for path in objects(inner))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from ((index, *path) for path in objects(inner))


def mutations(event):
    """Events that differ from a valid one and must be invalid."""
    for path in objects(event):
        changed = copy.deepcopy(event)
        place = changed
        for key in path:
            place = place[key]
        place["surprise"] = "1" if path and path[-1] in NAMED else 1
        yield f"a surprise in {list(path)}", changed
    for key in event:
        yield f"{key} is null", {**event, key: None}
    for key in ("n", "at", "type"):
        yield f"no {key}", {name: value for name, value in event.items() if name != key}
    yield "n is 0", {**event, "n": 0}
    yield "at has no milliseconds", {**event, "at": "2026-11-20T23:30:05Z"}
    yield "an unknown type", {**event, "type": event["type"] + "!"}


def check(path, validator, failures):
    """The valid lines of a file."""
    good = []
    for number, line in enumerate(lines(path), 1):
        event = read(line)
        errors = [error.message for error in validator.iter_errors(event)]
        if errors:
            failures.append(f"{path}:{number}: {errors[0]}\n  {line[:300]}")
        else:
            good.append(event)
    return good


def main():
    schema = read((ROOT / "schemas/event.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    failures = []

    given = [pathlib.Path(name) for name in sys.argv[1:]]
    events = [event for path in given or sorted(RECORDED.glob("*.jsonl"))
              for event in check(path, validator, failures)]
    mutated = 0
    if not given:
        kinds = set(schema["properties"]["type"]["enum"])
        missing = kinds - {event["type"] for event in events}
        if missing:
            failures.append(f"no recorded line of {sorted(missing)}")
        for event in events:
            for what, changed in mutations(event):
                mutated += 1
                if validator.is_valid(changed):
                    failures.append(f"{event['type']}: holds though {what}")

    for failure in failures:
        print(failure, file=sys.stderr)
    if not events:
        failures.append("no lines")
        print("no lines were found", file=sys.stderr)
    print(f"event.schema.json: {len(events)} lines, {mutated} nearly right ones, "
          f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
