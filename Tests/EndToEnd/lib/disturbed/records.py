"""The reports of weft about a run: its journal, its events, its report, and the output of `show` and `runs`.

The fold of the journal here is the simplest possible: for each address, the last record counts.
"""

import collections
import json


class Journal:
    def __init__(self, path):
        text = path.read_bytes() if path.exists() else b""
        # A line without its end was being written.
        self.records = [json.loads(line) for line in text[:text.rfind(b"\n") + 1].splitlines()]
        self.steps, self.groups, self.begun = {}, {}, {}
        self.doubts = {}
        self.parts = []
        for record in self.records:
            self.apply(record)

    def apply(self, record):
        kind = record["type"]
        if kind == "record.opened":
            self.parts.append([])
        self.parts[-1].append(record)
        if kind.startswith("step.") and kind not in ("step.spawned", "step.waiting", "step.asking"):
            step = record["step"]
            if kind == "step.started":
                self.doubts[step] = record
            elif kind == "step.asking":
                self.doubts.pop(step, None)
            elif kind in ("step.finished", "step.retrying", "step.cached"):
                if "inDoubt" not in record.get("failure", {}).get("classes", []):
                    self.doubts.pop(step, None)
            self.steps[step] = record
            self.groups.pop(step, None)
        elif kind == "step.asking":
            self.doubts.pop(record["step"], None)
        elif kind.startswith("group.") and kind != "group.listed":
            group = record["group"]
            if kind == "group.retrying":
                self.begun[group] = record["n"]
            if not (kind == "group.started" and record.get("restored")):
                self.groups[group] = record
                self.steps.pop(group, None)

    @property
    def end(self):
        """The end of the last part; `None` if it was killed."""
        last = self.parts[-1] if self.parts else []
        return next((record for record in reversed(last) if record["type"] in ("run.finished", "run.waiting")), None)

    def is_done(self, address, around=()):
        """Whether a success of it is recorded, or a tolerated failure, and no later attempt of an enclosing group
        has invalidated that."""
        record = self.steps.get(address) or self.groups.get(address)
        return bool(
            record and record["type"] in ("step.finished", "group.finished") and record["conclusion"] == "success"
            and all(self.begun.get(group, 0) < record["n"] for group in around))

    def states(self):
        """The state of each step that has ended or never starts, as reports count it."""
        return {step: counted(record) for step, record in self.steps.items() if counted(record)}


def counted(record):
    outcome, conclusion = record.get("outcome"), record.get("conclusion")
    if outcome == "failure" and conclusion == "success":
        return "tolerated"
    return {"success": "succeeded", "failure": "failed", "cancelled": "cancelled", "skipped": "skipped"}.get(outcome)


def is_in_doubt(step):
    return step["state"] == "inDoubt" or "inDoubt" in step.get("failure", {}).get("classes", [])


def counts(states):
    found = collections.Counter(states)
    return {name: found[name] for name in ("succeeded", "failed", "tolerated", "cancelled", "skipped")}


def merged(counts):
    """Merges the states that a step cannot distinguish: it does not know whether an enclosing scope tolerates its
    failure."""
    others = {name: count for name, count in counts.items() if name not in ("failed", "tolerated")}
    return {**others, "failed": counts["failed"] + counts["tolerated"]}


def plain(end):
    """The end of a run without what differs between the views."""
    return {key: value for key, value in end.items() if key not in ("n", "at", "crc", "type")}


def disagreements(journal, events, report, shown, listed, code):
    """The differences between the views of a run that has ended. Each view is given as JSON."""
    found = []
    end = journal.end
    if end is None:
        return ["the journal has no end of the run"]
    if not events or plain(events[-1]) != plain(end) or events[-1]["type"] != end["type"]:
        found.append(f"the last event is {events[-1:]}, the last record {end}")
    if end["type"] == "run.waiting":
        if code != 75:
            found.append(f"the run waits, and the exit code is {code}")
        if shown["state"] != "waiting" or listed["state"] != "waiting":
            found.append(f"the run waits; show says {shown['state']}, runs says {listed['state']}")
        return found
    expected = {"success": 0, "failure": 1, "cancelled": 130}[end["outcome"]]
    cancellation = end.get("cancellation", {})
    if cancellation.get("kind") == "signal":
        expected = {"INT": 130, "TERM": 143}[cancellation["signal"]]
    elif cancellation.get("kind") == "runTimeout":
        expected = 124
    elif cancellation.get("kind") == "requested":
        expected = 130
    if code != expected:
        found.append(f"the exit code is {code} and not {expected}: {end}")
    if plain(report["end"]) != plain(end):
        found.append(f"report.json ends with {report['end']}, the journal with {end}")
    if plain(shown["end"]) != plain(end):
        found.append(f"show ends with {shown['end']}, the journal with {end}")
    for view in (shown, listed):
        if view["state"] != end["outcome"]:
            found.append(f"the state is {view['state']}, and the run's outcome {end['outcome']}")
    told = {name: end["counts"][name] for name in counts([])}
    if listed["durationUs"] != end["durationUs"] or {name: listed["counts"][name] for name in told} != told:
        found.append(f"runs lists {listed}, and the journal ends with {end}")
    reported = {step["step"]: counted(step) for step in report["states"]}
    if open_ones := [step for step, state in reported.items() if not state]:
        found.append(f"report.json has steps that are not over: {open_ones}")
    # Elements that never began are reported by number.
    missing = [state for group in report.get("groupStates", []) if "notStarted" in group
               for state in [counted(group["notStarted"])] * group["notStarted"]["steps"]]
    # A step in doubt remains so in every view, whatever happened to it in this part.
    shown_states = {step["step"]: reported.get(step["step"]) if is_in_doubt(step) else counted(step)
                    for step in shown["steps"]}
    for name, states in (("report.json", reported), ("show", shown_states)):
        known = counts([*filter(None, states.values()), *missing])
        if merged(known) != merged(told):
            found.append(f"counts are {told}, and of the steps in {name} {known}")
    if differing := {step: (state, shown_states.get(step)) for step, state in reported.items()
                     if state != shown_states.get(step)}:
        found.append(f"report.json and show differ: {differing}")
    return found
