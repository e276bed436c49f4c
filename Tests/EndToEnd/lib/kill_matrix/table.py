"""Tables of a document that a test writes, and is held against."""

import pathlib
from dataclasses import dataclass
from typing import Callable


@dataclass
class Result:
    """What was found for one cell."""
    text: str
    # What is the same in all of a column, by the name of the line that tells it.
    notes: dict[str, str]
    # From the request to the death of all; `None` where that says nothing.
    seconds: float | None = None


@dataclass(frozen=True)
class Row:
    name: str
    script: str
    # How many of its processes say that they are up.
    members: int = 1
    # Writes to a pipe, so it dies with who reads it.
    needs_reader: bool = False
    # Some of it is ended by TERM.
    obeys: bool = True
    # Run as `sh -c` by the workflow itself instead of as its script.
    is_command: bool = False


@dataclass(frozen=True)
class Column:
    name: str
    # Given a trial and a row, gives a result.
    run: Callable


@dataclass(frozen=True)
class Matrix:
    name: str
    corner: str
    rows: list[Row]
    columns: list[Column]

    @property
    def begin(self):
        return f"<!-- {self.name}: written by Tests/EndToEnd/test_kill_matrix.py --write -->"

    @property
    def end(self):
        return f"<!-- end of {self.name} -->"


def cell(by_level):
    """What holds at every level once; where they differ, each kind with its levels."""
    kinds = {}
    for level, text in by_level.items():
        kinds.setdefault(text, []).append(level)
    if len(kinds) == 1:
        return next(iter(kinds))
    return "; ".join(f"{', '.join(levels)}: {text}" for text, levels in kinds.items())


def promised(text, level):
    """What a cell says of a level; `None` if nothing."""
    for part in text.split("; "):
        levels, colon, rest = part.partition(": ")
        if not colon:
            return part
        if level in levels.split(", "):
            return rest
    return None


def lines(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def read(path, matrix):
    """Cells by the names of row and column; none if the document has no table."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    table = text.split(matrix.begin)[1].split(matrix.end)[0].strip().splitlines()
    if not table:
        return {}
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    head = cells[0]
    return {(row[0], column): text for row in cells[2:] for column, text in zip(head[1:], row[1:])}


def write(path, matrix, rows):
    path = pathlib.Path(path)
    before, rest = path.read_text(encoding="utf-8").split(matrix.begin)
    head = [matrix.corner] + [column.name for column in matrix.columns]
    table = "\n".join(lines(head, rows))
    after = rest.split(matrix.end)[1]
    path.write_text(f"{before}{matrix.begin}\n{table}\n{matrix.end}{after}", encoding="utf-8")
