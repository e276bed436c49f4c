#!/usr/bin/env python3
"""Checks the drawings of weft by their geometry, and compares them with those of Graphviz.

usage: test_drawing.py PATH_TO_WEFT          (needs dot, chromium, and the package playwright)
       UPDATE_GOLDEN=1 test_drawing.py …     draws the picture in the documentation again
       SHOW_CROSSINGS=1 test_drawing.py …    shows the crossings of each graph, and those of Graphviz

The workflows have many shapes. Boxes, labels and lines are read from the SVG, and measured by a browser.
"""

import base64
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from lib import cases
from lib.browser import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
STEPS_OF_CURVES = 8


# Workflows

def graph(count, edges):
    """A workflow of steps with edges between them."""
    needs = {node: sorted({f"s{tail}" for tail, head in edges if head == node}) for node in range(count)}
    return {"parallel": [{"id": f"s{node}", "run": f"make part-{node}", "needs": needs[node]} for node in range(count)]}


def random_graph(seed, count, reach, most):
    numbers = random.Random(seed)
    return graph(count, [(max(0, head - numbers.randint(1, reach)), head) for head in range(1, count)
                         for _ in range(numbers.randint(1, most))])


def layered_graph(seed, layers, width, edges):
    numbers = random.Random(seed)
    return graph(layers * width, [
        ((layer - 1) * width + numbers.randrange(width), layer * width + node)
        for layer in range(1, layers) for node in range(width) for _ in range(numbers.randint(1, edges))])


def nested_graph(seed, groups, members):
    """Groups of each kind in groups, and steps that need earlier ones anywhere."""
    numbers = random.Random(seed)
    names = []

    def step():
        names.append(f"s{len(names)}")
        needs = sorted(set(numbers.choices(names[:-1], k=numbers.randint(0, 2)))) if len(names) > 1 else []
        return {"id": names[-1], "run": "true", **({"needs": needs} if needs else {})}

    def group(depth):
        kind = numbers.choice(["steps", "parallel", "parallel", "race"])
        if kind == "race":
            contents = [{"run": f"try {number}"} for number in range(numbers.randint(2, 5))]
        else:
            contents = [group(depth + 1) if depth < 3 and numbers.random() < 0.2 else step()
                        for _ in range(numbers.randint(1, members))]
        loop = {"forEach": {"in": [1, 2, 3]}} if kind == "race" and numbers.random() < 0.4 else {}
        return {kind: contents, **loop}

    return {"parallel": [group(0) for _ in range(groups)]}


def shapes():
    """Workflows by their names."""
    yield "one step", graph(1, [])
    yield "single steps", graph(40, [])
    yield "a chain", graph(40, [(n, n + 1) for n in range(39)])
    yield "a fan", graph(31, [(0, n) for n in range(1, 31)])
    yield "a spindle", graph(32, [(0, n) for n in range(1, 31)] + [(n, 31) for n in range(1, 31)])
    yield "a diamond", graph(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    yield "a tree", graph(31, [((n - 1) // 2, n) for n in range(1, 31)])
    yield "a tree upwards", graph(31, [(n, (n - 1) // 2) for n in range(1, 31)])
    yield "a grid", graph(36, [(n, n + 1) for n in range(36) if n % 6 < 5] + [(n, n + 6) for n in range(30)])
    yield "a butterfly", graph(32, [(n, 8 + n) for n in range(24)]
                               + [(n, (n // 8 + 1) * 8 + (n % 8 ^ 1 << n // 8)) for n in range(24)])
    yield "complete layers", graph(12, [(a, b) for a in range(6) for b in range(6, 12)])
    yield "a tournament", graph(9, [(a, b) for a in range(9) for b in range(a + 1, 9)])
    yield "long edges", graph(30, [(n, n + 1) for n in range(29)] + [(0, 29), (2, 20), (5, 9), (7, 28), (1, 15)])
    yield "all know the first", graph(25, [(n, n + 1) for n in range(24)] + [(0, n) for n in range(2, 25)])
    yield "the last knows all", graph(25, [(n, n + 1) for n in range(24)] + [(n, 24) for n in range(23)])
    yield "two chains with rungs", graph(20, [(n, n + 1) for n in range(19) if n != 9]
                                         + [(n, n + 10) for n in range(10)])
    yield "many parts", graph(40, [(n, n + 1) for n in range(40) if n % 4 != 3])
    for seed in range(10):
        yield f"a random graph {seed}", random_graph(seed, 10 + 5 * seed, 8, 2)
    for seed in range(6):
        yield f"a random graph with long edges {seed}", random_graph(seed, 30, 30, 2)
    for seed in range(8):
        yield f"random layers {seed}", layered_graph(seed, 4 + seed % 3, 6 + seed, 2)
    for seed in range(14):
        yield f"random groups {seed}", nested_graph(seed, 2 + seed % 4, 3 + seed // 2)
    yield "long and strange names", {"steps": [
        {"id": f"s{number}", "name": name, "run": name.replace("\0", "") or "true"}
        for number, name in enumerate(STRANGE)]}


STRANGE = [
    "</script><script>alert(1)</script>", "]]>", "<!--", "--></svg>", "&#0; &amp;", "\" onload=\"x", "a\tb\rc",
    "\x1b[31mred", "\u202eright to left\u2066", "\ufffe\uffff", "\u2028\u2029", "שלום עולם", "日本語の名前" * 30,
    "W" * 300, "i" * 300, "🏁" * 60, "e" + "\u0301" * 50]


# Drawings

class Drawing:
    """The boxes, labels and lines of an SVG."""

    def __init__(self, text):
        root = ElementTree.fromstring(text)
        self.root = root
        self.boxes, self.parents, self.labels, self.titles, self.edges = {}, {}, [], {}, []
        number = 0
        for element in root.iter(f"{SVG}g"):
            if "data-node" in element.attrib or "data-group" in element.attrib:
                name = f"n{element.get('data-node')}" if "data-node" in element.attrib else f"g{element.get('data-group')}"
                shapes = [box for child in element if (box := shape_of(child))]
                self.boxes[name] = (min(b[0] for b in shapes), min(b[1] for b in shapes),
                                    max(b[2] for b in shapes), max(b[3] for b in shapes))
                parent = element.get("data-parent")
                self.parents[name] = f"g{parent}" if parent is not None else None
            if "label" in element.get("class", "").split():
                self.titles[f"g{number}"] = [label_of(text) for text in element.iter(f"{SVG}text")]
                number += 1
            if "data-from" in element.attrib:
                line = next(child for child in element if child.get("class") == "line")
                self.edges.append((element.get("data-from"), element.get("data-to"), points_of(line)))
        for element in root.iter(f"{SVG}g"):
            if "data-node" in element.attrib:
                self.labels += [(f"n{element.get('data-node')}", label_of(text)) for text in element.iter(f"{SVG}text")]
        self.labels += [(name, label) for name, labels in self.titles.items() for label in labels]

    def around(self, name):
        """The groups around a box."""
        while (name := self.parents[name]) is not None:
            yield name


def measured(element):
    """The numbers that the browser has measured."""
    text = element.get("data-measured")
    return [float(number) for number in text.split()] if text else None


def shape_of(element):
    if box := measured(element):
        return tuple(box)
    if element.tag == f"{SVG}rect":
        x, y, width, height = (float(element.get(key)) for key in ("x", "y", "width", "height"))
        return x, y, x + width, y + height
    if element.tag == f"{SVG}polygon":
        numbers = [float(number) for number in element.get("points").split()]
        return min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2])
    return None


def label_of(text):
    """The box of a label, which its length fixes in every font."""
    if box := measured(text):
        return tuple(box)
    x, y, width = (float(text.get(key)) for key in ("x", "y", "textLength"))
    size = 13 if text.get("class") == "name" else 11
    return x, y - size * 0.8, x + width, y + size * 0.22


def curve(points):
    """Points of a cubic Bézier curve."""
    for step in range(1, STEPS_OF_CURVES + 1):
        t = step / STEPS_OF_CURVES
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3)
        yield tuple(sum(weight * point[axis] for weight, point in zip(weights, points)) for axis in (0, 1))


def points_of(path):
    if numbers := measured(path):
        return list(zip(numbers[::2], numbers[1::2]))
    points = []
    for letter, numbers in re.findall("([MVC])([^MVC]*)", path.get("d")):
        values = [float(number) for number in numbers.split()]
        if letter == "M":
            points.append(tuple(values))
        elif letter == "V":
            points.append((points[-1][0], values[0]))
        else:
            controls = list(zip(values[::2], values[1::2]))
            points += curve([points[-1], *controls])
    return points


def dot_edges(text):
    """The visible edges as Graphviz draws them."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["edge"] and words[-2] != "invis":
            count = int(words[3])
            numbers = [float(word) for word in words[4:4 + 2 * count]]
            controls = list(zip(numbers[::2], numbers[1::2]))
            points = [controls[0]]
            for start in range(0, count - 1, 3):
                points += curve(controls[start:start + 4])
            yield words[1], words[2], points


# Geometry

def overlap(left, right, slack=0.01):
    return (left[0] + slack < right[2] and right[0] + slack < left[2]
            and left[1] + slack < right[3] and right[1] + slack < left[3])


def contains(outer, inner):
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def bounds(points):
    return (min(p[0] for p in points), min(p[1] for p in points), max(p[0] for p in points), max(p[1] for p in points))


def passes(points, box):
    """Whether a line has a point inside a box; segments are cut finely."""
    if not overlap(bounds(points), box, -1):
        return False
    for (ax, ay), (bx, by) in zip(points, points[1:]):
        pieces = int(max(abs(ax - bx), abs(ay - by)) / 4) + 1
        for piece in range(pieces + 1):
            x, y = ax + (bx - ax) * piece / pieces, ay + (by - ay) * piece / pieces
            if box[0] + 0.01 < x < box[2] - 0.01 and box[1] + 0.01 < y < box[3] - 0.01:
                return True
    return False


def side(a, b, c):
    value = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (value > 1e-9) - (value < -1e-9)


def crosses(a, b, c, d):
    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def crossings(edges):
    """The number of crossings of edges without a common end."""
    lines = [(tail, head, points, bounds(points)) for tail, head, points in edges]
    count = 0
    for (tail, head, line, box), (other_tail, other_head, other, other_box) in itertools.combinations(lines, 2):
        if {tail, head} & {other_tail, other_head} or not overlap(box, other_box, -1):
            continue
        parts = [(c, d) for c, d in zip(other, other[1:]) if overlap(bounds((c, d)), box, -1)]
        for a, b in zip(line, line[1:]):
            count += sum(crosses(a, b, c, d) for c, d in parts if overlap(bounds((a, b)), bounds((c, d)), -1))
    return count


# Programs

def drawn(weft, workflow, form, *arguments):
    with tempfile.TemporaryDirectory(prefix="weft-drawing-") as folder:
        path = pathlib.Path(folder, "workflow.json")
        path.write_text(json.dumps(workflow), encoding="utf-8")
        done = subprocess.run([weft, "graph", "--format", form, *arguments, path.name], cwd=folder,
                              capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()


def faults(drawing):
    """Everything that is wrong with a drawing."""
    boxes = drawing.boxes
    for left, right in itertools.combinations(boxes, 2):
        inside = right in drawing.around(left), left in drawing.around(right)
        if not any(inside) and overlap(boxes[left], boxes[right]):
            yield f"{left} overlaps {right}"
        if inside[0] and not contains(boxes[right], boxes[left]) or inside[1] and not contains(boxes[left], boxes[right]):
            yield f"{left} and {right} are not nested"
    for (owner, label), (other_owner, other) in itertools.combinations(drawing.labels, 2):
        if overlap(label, other):
            yield f"a label of {owner} overlaps one of {other_owner}"
    for owner, label in drawing.labels:
        if not contains(boxes[owner], label):
            yield f"a label of {owner} is too long for it"
        for name, box in boxes.items():
            if name != owner and name not in drawing.around(owner) and overlap(label, box):
                yield f"{name} covers a label of {owner}"
    for tail, head, points in drawing.edges:
        allowed = {*drawing.around(tail), *drawing.around(head)}
        for name, box in boxes.items():
            if name not in allowed and passes(points, box):
                yield f"the edge from {tail} to {head} passes through {name}"
        for name, labels in drawing.titles.items():
            if any(passes(points, label) for label in labels):
                yield f"the edge from {tail} to {head} crosses the title of {name}"


# Cases

def geometry(weft):
    """no box or label overlaps another, and no line passes through a box"""
    count = 0
    for name, workflow in shapes():
        found = list(faults(Drawing(drawn(weft, workflow, "svg"))))
        assert not found, (name, found[:5])
        count += 1
    assert count >= 50
    return f"{count} graphs"


MEASURED = """() => {
  const note = (element, numbers) => element.setAttribute('data-measured', numbers.join(' '));
  for (const element of document.querySelectorAll('rect, polygon, text')) {
    const box = element.getBBox();
    note(element, [box.x, box.y, box.x + box.width, box.y + box.height]); }
  for (const line of document.querySelectorAll('path.line')) {
    const length = line.getTotalLength(), pieces = Math.ceil(length / 4), numbers = [];
    for (let i = 0; i <= pieces; i += 1) {
      const point = line.getPointAtLength(length * i / pieces);
      numbers.push(point.x, point.y); }
    note(line, numbers); }
  return new XMLSerializer().serializeToString(document); }"""


def in_a_browser(weft):
    """so it is where a browser draws boxes, labels in its own fonts, and lines"""
    page, count = browser().new_page(), 0
    with tempfile.TemporaryDirectory(prefix="weft-drawing-") as folder:
        path = pathlib.Path(folder, "graph.svg")
        for name, workflow in shapes():
            path.write_text(drawn(weft, workflow, "svg"), encoding="utf-8")
            page.goto(path.as_uri())
            drawing = Drawing(page.evaluate(MEASURED))
            assert drawing.labels and all(measured(text) for text in drawing.root.iter(f"{SVG}text"))
            found = list(faults(drawing))
            assert not found, (name, found[:5])
            count += 1
    page.close()
    assert count >= 50
    return f"{count} graphs"


def few_crossings(weft):
    """at most 1.5 times as many crossings as Graphviz"""
    if not shutil.which("dot"):
        raise cases.Skipped("dot is not installed")
    total = [0, 0]
    for name, workflow in shapes():
        ours = crossings(Drawing(drawn(weft, workflow, "svg")).edges)
        plain = subprocess.run(["dot", "-Tplain"], input=drawn(weft, workflow, "dot"), text=True,
                               capture_output=True, check=True, timeout=120).stdout
        theirs = crossings(list(dot_edges(plain)))
        if os.environ.get("SHOW_CROSSINGS"):
            print(f"{ours:6} {theirs:6}  {name}", flush=True)
        # The routes of a few edges are a matter of luck.
        assert ours <= 1.5 * theirs + 3, (name, ours, theirs)
        total = [total[0] + ours, total[1] + theirs]
    assert total[0] <= 1.5 * total[1], total
    return f"{total[0]} beside {total[1]}"


def repeated(weft):
    """the same workflow is drawn as the same bytes"""
    for name, workflow in itertools.islice(shapes(), 0, None, 5):
        for form in ("svg", "html"):
            assert drawn(weft, workflow, form) == drawn(weft, workflow, form), (name, form)


def examples(weft):
    """every example is drawn"""
    count = 0
    for path in sorted((ROOT / "workflows").glob("*.json")):
        if path.name.endswith(".test.json"):
            continue
        done = subprocess.run([weft, "graph", "--format", "svg", path], cwd=ROOT, capture_output=True, timeout=60)
        assert done.returncode == 0, (path, done.stderr)
        found = list(faults(Drawing(done.stdout.decode())))
        assert not found, (path, found[:5])
        count += 1
    assert count > 10
    return f"{count} workflows"


def documented(weft):
    """the picture in the documentation is up to date"""
    done = subprocess.run([weft, "graph", "--format", "svg", "--state-dir", "/nonexistent", "workflows/c-project.json"],
                          cwd=ROOT, capture_output=True, check=True, timeout=60)
    picture = ROOT / "Sources/Weft/Documentation.docc/graph.svg"
    if os.environ.get("UPDATE_GOLDEN"):
        picture.write_bytes(done.stdout)
    assert picture.read_bytes() == done.stdout


ELEMENTS = {"svg", "title", "desc", "style", "g", "rect", "polygon", "path", "text"}


def nothing_executes(weft):
    """names with markup and control characters yield well-formed XML of the known elements alone"""
    steps = [{"id": f"s{number}", "name": name, "if": f"'{name.replace(chr(39), '')}' != ''",
              "run": name, "env": {"A": name}} for number, name in enumerate(STRANGE)]
    workflow = {"name": "".join(STRANGE), "steps": [{"id": "g", "name": STRANGE[0] + STRANGE[3], "steps": steps}]}
    text = drawn(weft, workflow, "svg")
    root = ElementTree.fromstring(text)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS, element.tag
        for key, value in element.attrib.items():
            assert not key.startswith("on") and "href" not in key and "script:" not in value, (key, value)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]", text)
    page = drawn(weft, workflow, "html")
    assert page.count("<script") == page.count("</script") == page.count("<svg") == 1
    assert text.partition("\n")[2] in page


def self_contained(weft):
    """the page refers to nothing outside, and its policy allows its own script alone"""
    page = drawn(weft, graph(3, [(0, 1)]), "html")
    assert "src=" not in page and "href=" not in page and "url(" not in page and "@import" not in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    script = re.search("<script>(.*?)</script>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page, digest


def told_apart(weft):
    """loops, races, conditions, pools, other files, cleanup and skipped steps differ in shape"""
    text = drawn(weft, {
        "pools": {"db": 1}, "inputs": {"deploy": {"type": "boolean", "default": False}}, "steps": [
            {"id": "loop", "forEach": {"in": [1, 2]}, "run": "true"},
            {"id": "race", "race": ["true", "false"]}, {"id": "both", "parallel": ["true", "true"]},
            {"id": "maybe", "if": "inputs.deploy", "run": "true"},
            {"id": "held", "pool": "db", "run": "true", "retry": 2, "cleanup": ["true"]},
            {"id": "left-out", "run": "true"}]}, "svg", "--skip", "left-out")
    classes = [element.get("class") for element in ElementTree.fromstring(text).iter(f"{SVG}g")]
    for wanted in ("node many", "group race", "group parallel", "node skipped", "node cleanup", "edge weak"):
        assert wanted in classes, (wanted, classes)
    assert classes.count("node skipped") == 2
    words = "".join(ElementTree.fromstring(text).itertext())
    for word in ("for each of 2", "race", "takes db", "retries 2 times", "not selected", "if inputs.deploy"):
        assert word in words, word


def large(weft):
    """100,000 steps are drawn as counted boxes"""
    loose = drawn(weft, {"parallel": ["true"] * 100_000}, "svg")
    assert "100,000 steps" in loose and len(loose) < 100_000
    chain = drawn(weft, {"steps": [{"id": f"g{group}", "steps": ["true"] * 1000} for group in range(100)]}, "svg")
    assert "1,000 steps" in chain
    assert not list(itertools.islice(faults(Drawing(drawn(weft, random_graph(1, 5000, 400, 2), "svg"))), 3))


TESTS = [geometry, in_a_browser, few_crossings, repeated, examples, documented, nothing_executes, self_contained, told_apart, large]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, TESTS))
