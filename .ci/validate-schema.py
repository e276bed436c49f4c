#!/usr/bin/env python3
"""Checks schemas/workflow.schema.json and schemas/test.schema.json: that each is a schema, that its examples are valid,
and that it accepts and rejects the cases that the decoder's tests accept and reject.

Needs jsonschema from PyPI.  Usage: .ci/validate-schema.py
"""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "Tests/Unit/WeftDefinitionTests"
# Each schema, the folder with its cases, and the least number of checks.
SCHEMAS = (("workflow", "Cases", 120), ("test", "TestFileCases", 40))


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def read(path):
    return json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=refuse)


def is_json(path):
    try:
        read(path)
    except ValueError:
        return False
    return True


def examples(schema, pointer="#"):
    """Every schema inside `schema` that has examples or a default, with its pointer."""
    if isinstance(schema, dict):
        if "$defs" in schema or "type" in schema or "anyOf" in schema or "enum" in schema or "$ref" in schema:
            samples = schema.get("examples", [])
            if "default" in schema:
                samples = samples + [schema["default"]]
            yield from ((pointer, schema, sample) for sample in samples)
        for key, inner in schema.items():
            if key in ("properties", "patternProperties", "dependentSchemas", "$defs"):
                # A name in there may equal a keyword.
                for name, part in inner.items():
                    yield from examples(part, f"{pointer}/{key}/{name}")
            elif key not in ("examples", "default", "defaultSnippets"):
                yield from examples(inner, f"{pointer}/{key}")
    elif isinstance(schema, list):
        for index, inner in enumerate(schema):
            yield from examples(inner, f"{pointer}/{index}")


def check(name, cases, least):
    """The failures of one schema."""
    schema = read(ROOT / f"schemas/{name}.schema.json")
    Draft202012Validator.check_schema(schema)
    whole = Draft202012Validator(schema)
    failures = []
    checked = 0

    for folder, wanted in (("accepted", True), ("rejected", False)):
        for path in sorted((TESTS / cases / folder).glob("*.json")):
            checked += 1
            if whole.is_valid(read(path)) != wanted:
                failures.append(f"{path.relative_to(ROOT)}: the schema disagrees with the folder")

    # This folder holds what the schema cannot express: if it can, the case has moved.
    for path in sorted((TESTS / cases / "rejected-beyond-schema").glob("*.json")):
        checked += 1
        if is_json(path) and not whole.is_valid(read(path)):
            failures.append(f"{path.relative_to(ROOT)}: the schema rejects it; it belongs to rejected/")

    for pointer, inner, sample in examples(schema):
        checked += 1
        part = whole.evolve(schema={**inner, "$defs": schema["$defs"]})
        if not part.is_valid(sample):
            failures.append(f"{pointer}: the example {json.dumps(sample)} does not hold")

    for failure in failures:
        print(failure, file=sys.stderr)
    if checked < least:
        failures.append("too few cases")
        print(f"only {checked} cases were found", file=sys.stderr)
    print(f"{name}.schema.json: {checked} cases, {len(failures)} failures")
    return failures


def main():
    # Both, even if the first fails.
    failures = [check(*schema) for schema in SCHEMAS]
    return 1 if any(failures) else 0


if __name__ == "__main__":
    sys.exit(main())
