#!/usr/bin/env python3
"""Checks the page of diagnostic codes against the sources.

Every code in a source file is in a row of Diagnostics.md, every row is used, and a code has one meaning: it is
written in one file, except for those that several parts report in the same sense.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
page = root / "Sources/Weft/Documentation.docc/Diagnostics.md"

# Codes that more than one part reports, each at its own time.
shared = {
    "W0000": "a file that cannot be read: whoever opens it",
    "W0104": "a wrong type: in the workflow, in the contexts of `weft eval`",
    "W0310": "an unknown context: in a workflow, in `weft eval`",
    "W0318": "a secret that would be seen: before the run, and when it turns up during it",
}

given: dict[str, set[str]] = {}
for path in sorted(root.glob("Sources/**/*.swift")):
    text = path.read_text(encoding="utf-8")
    # A case of an enumeration, an argument, the value of a switch; not a code that is compared with.
    for match in re.finditer(r'(?<!== )"(W0\d{3})"', text):
        given.setdefault(match[1], set()).add(str(path.relative_to(root)))

rows = re.findall(r"^\| (W0\d{3}) \| .+ \|$", page.read_text(encoding="utf-8"), re.M)

problems = [f"{code} has no row in {page.name}: {sorted(given[code])[0]}" for code in sorted(given) if code not in rows]
problems += [f"{code} has a row in {page.name}, and no source gives it out" for code in rows if code not in given]
problems += [f"{code} has two rows in {page.name}" for code in sorted(set(rows)) if rows.count(code) > 1]
problems += [f"{code} comes before its turn in {page.name}" for code, next in zip(rows[1:], rows) if code < next]
for code, files in sorted(given.items()):
    if len(files) > 1 and code not in shared:
        problems.append(f"{code} stands for two things: {', '.join(sorted(files))}")

for problem in problems:
    print(problem)
print(f"{len(rows)} codes, {len(problems)} problems")
sys.exit(1 if problems or not rows else 0)
