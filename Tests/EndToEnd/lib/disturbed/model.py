"""The facts that must be true of a run, derived only from the notes of its steps.

It shares no code with weft's own rules for resuming, nor any of their terms: it only knows what a workflow demands,
and checks whether what was done amounts to that.
"""

import collections
import dataclasses


@dataclasses.dataclass
class Note:
    place: int
    kind: str  # B: began, E: succeeded, F: failed
    name: str
    part: int
    version: str
    address: str
    read: str


class Notes:
    """The file `effects`, in the order in which it was written."""

    def __init__(self, text):
        self.all = []
        for place, line in enumerate(text.split("\n")):
            fields = line.split("\t")
            if len(fields) == 6:
                kind, name, part, *others = fields
                self.all.append(Note(place, kind, name, int(part or 0), *others))
        self.of = collections.defaultdict(list)
        for note in self.all:
            self.of[note.name].append(note)

    def last(self, name, kind=None):
        return next((note for note in reversed(self.of.get(name, [])) if kind in (None, note.kind)), None)

    def state(self, name):
        note = self.last(name)
        return note.kind if note else None

    def before(self, name, place):
        """The last note of it before that place."""
        return next((note for note in reversed(self.of.get(name, [])) if note.place < place), None)

    @property
    def succeeded(self):
        return {name for name in self.of if self.state(name) == "E"}


class Model:
    def __init__(self, workflow, notes, rejected=()):
        self.workflow, self.notes = workflow, notes
        # The addresses of approvals whose latest answer was no.
        self.rejected = rejected
        self.left_out = self.nodes_left_out()

    # MARK: Completeness

    def faults(self):
        """The reasons why the run cannot have ended in success; empty if it can."""
        missing = []
        self.judge(self.workflow.root, (), missing)
        for node in self.workflow.finals:
            if self.notes.state(node.named(())) != "E":
                missing.append(f"{node.name} of finally did not run to success")
        return missing + self.owed()

    def judge(self, node, frame, missing):
        """Returns ok, tolerated, failed, missing or skipped; adds what is missing to the list."""
        if not node.loop:
            return self.judge_once(node, frame, missing)
        states, inside = [], []
        if not self.wanted(node, frame):
            return "skipped"
        for key, value in node.loop.elements:
            states.append(self.judge_once(node, (*frame, (node, key, value)), inside))
        failed = states.count("failed")
        if failed > node.loop.tolerated:
            inside.append(f"{failed} elements of {node.name} failed, and {node.loop.tolerated} may")
            missing += inside
            return "failed"
        if "missing" in states:
            missing += inside
            return "missing"
        return "ok"

    def judge_once(self, node, frame, missing):
        if not self.wanted(node, frame):
            return "skipped"
        if node.kind == "approve":
            if node.address(frame) not in self.rejected:
                return "ok"
            if node.allow_failure:
                return "tolerated"
            missing.append(f"{node.address(frame)} was rejected")
            return "failed"
        if node.kind == "leaf":
            return self.judge_leaf(node, frame, missing)
        inside = []
        states = [self.judge(member, frame, inside) for member in node.members]
        good = sum(state in ("ok", "tolerated", "skipped") for state in states)
        if node.kind == "race" and "ok" in states or node.at_least and good >= node.at_least:
            return "ok"
        if "failed" in states:
            if node.allow_failure:
                return "tolerated"
            missing += inside
            return "failed"
        if "missing" in states:
            missing += inside
            return "missing"
        return "ok"

    def judge_leaf(self, node, frame, missing):
        name = node.named(frame)
        state = self.notes.state(name)
        if state == "E":
            return "ok"
        if state == "F" and node.allow_failure:
            return "tolerated"
        # An earlier start of it may have been cut off, and made void by a change.
        if node in self.left_out and state in (None, "B"):
            return "skipped"
        missing.append(f"{name} " + {None: "never ran", "B": "was cut off", "F": "failed"}[state])
        return "failed" if state == "F" else "missing"

    def wanted(self, node, frame):
        if node.after:
            return self.notes.state(node.after.named(shared(frame, node.after))) == "E"
        if node.condition == "failure":
            # It may have run in an earlier part; how it ended then no longer matters.
            return False
        return node.condition != "no"

    def nodes_left_out(self):
        """The nodes that need a step by name whose failure an enclosing scope of that step tolerates: they and their
        dependents are skipped, and the run succeeds."""
        found, grows = set(), True
        while grows:
            grows = False
            for node in self.workflow.nodes():
                if node not in found and node.kind in ("leaf", "approve") and any(
                        other in found or self.is_tolerated(other, node)
                        for other in dependencies(node, roles=("step", "cleanup"))):
                    found.add(node)
                    grows = True
        return found

    def is_tolerated(self, other, node):
        """Whether it failed within a tolerant scope that the node is not in."""
        around = [each for each in other.ancestors if each not in node.ancestors and each is not node]
        return not other.allow_failure and any(each.allow_failure for each in around) and any(
            self.notes.state(other.named(frame)) == "F" for frame in other.instances())

    def owed(self):
        """Pending cleanup."""
        found = []
        for node in self.workflow.nodes():
            if node.role != "cleanup":
                continue
            for frame in node.instances():
                # Cleanup steps have no cleanup of their own.
                began = [note.place for inner in node.parent.walk() if inner.kind == "leaf" and inner.role == "step"
                         for each in inner.instances() if each[:len(frame)] == frame
                         for note in self.notes.of.get(inner.named(each), []) if note.kind == "B"]
                if self.notes.state(node.named(frame)) == "F" and is_ended_early(node):
                    # It failed, and an enclosing scope tolerates that.
                    continue
                cleaned = self.notes.last(node.named(frame), "E")
                if began and (cleaned is None or cleaned.place < max(began)):
                    found.append(f"{node.named(frame)} has not cleaned up after {node.parent.name}")
        return found

    # MARK: Order

    def disorder(self, excused):
        """Steps whose last success is older than that of a dependency. Excused steps were rerun by themselves."""
        found = []
        for node in self.workflow.steps():
            if node.role != "step" or node.condition in ("always", "failure") or any(
                    each.condition in ("always", "failure") for each in node.ancestors):
                continue
            for frame in node.instances():
                if self.notes.state(node.named(frame)) != "E":
                    continue
                began = self.notes.last(node.named(frame), "B")
                for other in dependencies(node):
                    if other.kind != "leaf":
                        continue
                    for each in other.instances():
                        if each[:len(shared(frame, other))] == shared(frame, other):
                            found += self.compare(
                                node.named(frame), began, other, each, excused, is_left=is_ended_early(node))
                found += self.misread(node, frame, began)
        return found

    def compare(self, name, began, other, frame, excused, is_left):
        """`is_left`: whether the step may have been skipped at last, because it had succeeded before."""
        known = other.named(frame)
        before = self.notes.before(known, began.place)
        # A step that handles a failure is skipped if there is none when an interrupted attempt is made again.
        was_skipped = other.condition == "failure" and before and before.part < began.part
        if before and before.kind == "B" and not is_ended_early(other) and not was_skipped:
            return [f"{name} began while {known} was not over"]
        done = self.notes.last(known, "E")
        if done and done.place > began.place and other not in excused and not is_left:
            return [f"{name} was not done again though {known} was"]
        return []

    def misread(self, node, frame, began):
        for text, other in zip(began.read.split(";"), node.reads):
            if other.loop:
                states = [self.notes.before(other.named((*shared(frame, other), (other, key, value))), began.place)
                          for key, value in other.loop.elements]
                if other.after or not all(state and state.kind == "E" for state in states):
                    continue
                expected = ",".join("success" for _ in states)
            else:
                known = other.named(shared(frame, other))
                before = self.notes.before(known, began.place)
                expected = f"out-{known}" if before and before.kind == "E" else "none"
            if text != expected:
                return [f"{node.named(frame)} read {text!r} of {other.name}, not {expected!r}"]
        return []


def is_ended_early(node):
    """Whether it may be ended before it is over, like the losers of a race."""
    return any(each.kind == "race" or each.at_least or each.allow_failure or each.loop and each.loop.tolerated
               for each in [node, *node.ancestors])


def shared(frame, other):
    """The elements of the frame that the other is in, too."""
    around = set(other.loops)
    return tuple(each for each in frame if each[0] in around)


def dependencies(node, roles=("step",)):
    """The direct dependencies of a step, including those in groups, and those of its enclosing groups."""
    found = []
    for each in [node, *node.ancestors]:
        if each.parent is None:
            continue
        direct = list(each.reads) + ([each.after] if each.after else [])
        if each.loop and each.loop.lister:
            direct.append(each.loop.lister)
        if each.needs is not None:
            direct += each.needs
        elif each.parent.kind in ("steps", "nested") and each.index > 1:
            direct.append(each.parent.members[each.index - 2])
        for other in direct:
            found += [inner for inner in other.walk() if inner.kind == "leaf" and inner.role in roles]
    return found


def dependents(workflow, named):
    """The given nodes, and all their direct and indirect dependents."""
    chosen = set()
    for node in named:
        chosen.update(node.walk())
    grows = True
    while grows:
        grows = False
        for node in workflow.nodes():
            if node not in chosen and node.kind in ("leaf", "approve") and (
                    node.role != "step" or any(other in chosen for other in dependencies(node))):
                chosen.add(node)
                grows = True
    return chosen
