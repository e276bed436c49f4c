#!/usr/bin/env python3
"""Checks the table of faults against the tests.

Tests/Matrix.md lists every row of the fault matrix. A row has either a test, which is one whose name begins with
the row's id ("W01: a duplicate key ..."; a name may begin with several), or a reason why it has none. Neither, or
both, is a failure.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
row = re.compile(r"^\| ([A-Z]\d\d) \| (.*?) \| (.*?) \|$")
named = re.compile(r"""["']((?:[A-Z]\d\d(?:,? | and )?)+):""")

tested: dict[str, list[str]] = {}
for path in sorted([*root.glob("Tests/**/*.swift"), *root.glob("Tests/EndToEnd/*.py"), *root.glob(".ci/*.py")]):
    if path == pathlib.Path(__file__).resolve():
        continue
    for match in named.finditer(path.read_text(encoding="utf-8")):
        for name in re.findall(r"[A-Z]\d\d", match[1]):
            tested.setdefault(name, []).append(str(path.relative_to(root)))

rows = {}
for line in (root / "Tests/Matrix.md").read_text(encoding="utf-8").splitlines():
    if match := row.match(line):
        rows[match[1]] = match[3].strip()

problems = []
for name, reason in rows.items():
    if name in tested and reason:
        problems.append(f"{name} has a test ({tested[name][0]}) and a reason for having none: {reason}")
    if name not in tested and not reason:
        problems.append(f"{name} has neither a test nor a reason")
for name in sorted(set(tested) - set(rows)):
    problems.append(f"{name} is tested ({tested[name][0]}) and is no row of Tests/Matrix.md")

for problem in problems:
    print(problem)
count = sum(name in tested for name in rows)
print(f"{len(rows)} rows: {count} with a test, {len(rows) - count} with a reason, {len(problems)} problems")
sys.exit(1 if problems or not rows else 0)
