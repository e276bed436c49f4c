#!/usr/bin/env python3
"""Checks the language of comments and documentation against the glossary in Architecture.md.

usage: prose.py [FOLDER_OR_FILE...]     default: Sources, Tests, README.md and .github

A doc comment starts with a noun or a verb, never with a question word, "of", "by", "the same" or "likewise". Comments
and articles use one word for each idea; the phrases below have a plain one.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent

START = re.compile(
    r"^(What|Who|Whose|Whom|Where|How|Why|Of|By|The same|Likewise|That which|In what|For what|At what)\b")
# The plain word, and a pattern of the phrases that it replaces.
PHRASES = [
    ("report", r"\b(is|are|was|be|been|being) told\b|\btells? (of|about|again|it|them|whether)\b|\btold (of|again)\b"),
    ("continue, resume", r"\b(go|goes|going|gone|went) on with\b|\btake[ns]? up again\b"),
    ("output, pass", r"\bhand(s|ed|ing)? on\b"),
    ("evaluate to", r"\bcomes? to (be )?(nothing|true|false|a|an|the)\b"),
    ("a process, step or module is \"it\"", r"\b(whoever|nobody|somebody|someone|whose turn|who)\b"),
    ("loop", r"\brun for many\b|\bmany at once\b"),
    ("again, another", r"\bonce more\b|\banew\b"),
    ("still, anyway", r"\ball the same\b|\bbe it\b|\bso many\b"),
    ("pending cleanup", r"\bcleans? up after\b.*\bow(e|es|ed|ing)\b|\bow(e|es|ed|ing)\b.*\bclean"),
    ("previous engine", r"\bearlier part of the run\b"),
    ("blocked", r"\bh(o|e)lds? (nobody|somebody) back\b|\bheld back\b"),
]
PHRASES = [(remedy, re.compile(pattern, re.I)) for remedy, pattern in PHRASES]


def comments(path: pathlib.Path):
    """The comments of a Swift or C file: line, whether one starts a doc comment or a field of it, text."""
    before = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if text.startswith("///"):
            body = text[3:].strip()
            field = re.match(r"- (Parameter \w+|Returns|Throws|\w+): ?(.*)", body)
            yield number, not before, body
            if field:
                yield number, True, field[2]
            before = True
            continue
        before = False
        if text.startswith("//"):
            yield number, False, text[2:].strip()


def prose(path: pathlib.Path):
    """The text of an article, without its code."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, False, re.sub(r"`[^`]*`", "``", line)


def problems(path: pathlib.Path):
    lines = prose(path) if path.suffix == ".md" else comments(path)
    for number, starts, text in lines:
        if starts and (found := START.match(text)):
            yield number, f"starts with \"{found[0]}\"", text
        for remedy, pattern in PHRASES:
            if found := pattern.search(text):
                yield number, f"\"{found[0]}\" (say: {remedy})", text


def main() -> int:
    paths = [pathlib.Path(word).resolve() for word in sys.argv[1:]] or [
        root / "Sources", root / "Tests", root / "README.md", root / ".github"]
    count = 0
    for path in paths:
        files = [path] if path.is_file() else sorted(
            file for kind in ("swift", "md", "c", "h") for file in path.rglob(f"*.{kind}"))
        for file in files:
            # Its rows quote the findings of others.
            if file.name == "Matrix.md":
                continue
            for number, problem, text in problems(file):
                count += 1
                print(f"{file.relative_to(root)}:{number}: {problem}: {text[:90]}")
    print(f"{count} problems")
    return 1 if count else 0


sys.exit(main())
