"""Random workflows whose steps note in the file `effects` when they began and how they ended.

A workflow is a tree of nodes; `Node.json` writes it as weft reads it, and the model (model.py) reads the tree. A step
fails when a file in `gates` says so, which the driver makes and removes. The name of an instance of a step is its
node's name, "@", and the values of the enclosing loops: never an address, which weft makes.
"""

import dataclasses
import itertools
import json

# The script of every step: NAME DOOMED.
SCRIPT = r"""
name="$1@$E"
note() { printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$name" "$PART" "$V" "$WEFT_STEP" "$IN" >> effects; }
note B
# Shell builtins only, so that a step takes a few milliseconds.
if [ -e "gates/$name.hang" ]; then sleep 30; fi
if [ -e "gates/$name.slow" ] || [ -e gates/slow ]; then sleep 0.0$((($$ % 3) + 1)); fi
if [ -e "gates/$name.once" ]; then rm "gates/$name.once"; note F; exit 3; fi
if [ -e "gates/$name.fail" ]; then note F; exit 3; fi
case " $2 " in *" ${E:-no} "* | *" all "*) note F; exit 4;; esac
printf 'out-%s\n' "$name"
note E
"""

ORDINARY = ["one", "two", "three", "four", "five"]
HOSTILE = ["x].y[z", "a.b", "[", "]", "q/r", "back\\slash", "\"quoted\"", "two words", "é", "it's", "$HOME", "#1", "-"]


@dataclasses.dataclass(eq=False)
class Loop:
    elements: list  # (key, value) of each
    how: str  # "list", "key", "object", "matrix" or "output"
    tolerate: object = 0
    limit: int = 0
    lister: object = None  # the step that prints the elements

    @property
    def tolerated(self):
        if isinstance(self.tolerate, str):
            return len(self.elements) * int(self.tolerate[:-1]) // 100
        return self.tolerate


@dataclasses.dataclass(eq=False)
class Node:
    name: str
    kind: str  # leaf, approve, steps, parallel, race, nested
    id: str = None
    parent: object = None
    index: int = 0
    members: list = dataclasses.field(default_factory=list)
    needs: list = None
    reads: list = dataclasses.field(default_factory=list)
    condition: str = None  # yes, no, failure, always
    after: object = None  # the tolerated step whose success is the condition
    allow_failure: bool = False
    retry: int = 0
    cleanup: object = None
    idempotent: bool = False
    doomed: str = ""
    loop: Loop = None
    at_least: int = 0
    limit: int = 0
    on_failure: str = None  # of a nested file
    role: str = "step"  # step, cleanup, finally
    version: int = 1
    lists: object = None  # the elements that it prints

    @property
    def is_group(self):
        return self.kind in ("steps", "parallel", "race", "nested")

    @property
    def is_opaque(self):
        """Whether its members cannot be named from outside."""
        return self.is_group and bool(
            self.loop or self.retry or self.kind in ("race", "nested") or self.at_least)

    @property
    def ancestors(self):
        found, node = [], self.parent
        while node is not None:
            found.append(node)
            node = node.parent
        return found

    def walk(self):
        """The node and everything in it, in file order; cleanup steps follow the step that they belong to."""
        yield self
        for member in self.members:
            yield from member.walk()
        if self.cleanup:
            yield self.cleanup

    @property
    def loops(self):
        """The enclosing loops, the outermost first."""
        around = [self] if self.role != "cleanup" else []
        # Cleanup runs for each element of its step.
        around += self.ancestors
        return [node for node in reversed(around) if node.loop]

    def instances(self):
        """Each element of the enclosing loops as a tuple of (loop, key, value)."""
        return itertools.product(*[[(node, key, value) for key, value in node.loop.elements] for node in self.loops])

    def named(self, frame):
        return f"{self.name}@{'.'.join(value for _, _, value in frame)}"

    # MARK: Addresses, as the documentation describes them

    def address(self, frame):
        """The address of an instance of a step or group; for a loop as a whole, the frame is without its element."""
        keys = {node: key for node, key, _ in frame}
        text = self.plain_address(keys)
        return f"{text}[{escaped(keys[self])}]" if self.loop and self in keys else text

    def plain_address(self, keys):
        around = self.parent
        if self.role == "finally" and around is None and not self.id:
            return f"finally.{self.index}"
        if self.role == "cleanup" and not self.id:
            return f"{around.with_element(keys)}.cleanup"
        # The innermost scope in which ids are unique.
        scope = around
        while scope is not None and not (scope.loop or scope.kind == "nested"):
            scope = scope.parent
        if self.role == "cleanup" and around.loop and not around.is_group:
            scope = around
        prefix = "" if scope is None else scope.with_element(keys) + ("/" if scope.kind == "nested" else ".")
        if self.id:
            return prefix + self.id
        if around is None or around.parent is None or around is scope:
            return f"{prefix}{self.index}"
        return f"{around.plain_address(keys)}.{self.index}"

    def with_element(self, keys):
        text = self.plain_address(keys)
        return f"{text}[{escaped(keys[self])}]" if self.loop else text

    # MARK: JSON

    @property
    def element(self):
        """The expression of the values of the enclosing loops, as the step's own file knows them."""
        parts, chain = [], []
        node = self.parent if self.role == "cleanup" else self
        while node is not None:
            if node.loop:
                chain.append(node)
            node = node.parent
            if node is not None and node.kind == "nested":
                if node.element:
                    chain.append("input")
                break
        for node in reversed(chain):
            if node == "input":
                parts.append("${{ inputs.e }}")
            elif node.loop.how == "matrix":
                parts.append("${{ matrix.a }}-${{ matrix.b }}")
            else:
                parts.append("${{ e_%s.v }}" % node.name)
        return ".".join(parts)

    def json(self, files):
        step = {"id": self.id} if self.id else {}
        if self.needs is not None:
            step["needs"] = [node.id for node in self.needs]
        if self.condition or self.after:
            step["if"] = f"steps.{self.after.id}.outcome == 'success'" if self.after else {
                "yes": "inputs.on", "no": "!inputs.on", "failure": "failure()", "always": "always()"}[self.condition]
        if self.allow_failure:
            step["allowFailure"] = True
        if self.retry:
            step["retry"] = {"max": self.retry, "delay": "1ms", "jitter": "none"}
        if self.cleanup:
            step["cleanup"] = self.cleanup.json(files)
        if self.loop:
            step.update(self.loop_json())
        if self.limit:
            step["maxParallel"] = self.limit
        if self.at_least:
            step["join"] = {"atLeast": self.at_least}
        if self.kind == "leaf":
            step.update(self.leaf_json())
        elif self.kind == "approve":
            step["approve"] = "go on?"
        elif self.kind == "nested":
            file = f"nested-{self.name}.json"
            files[file] = {
                "inputs": {"e": {"type": "string", "default": ""}, "on": {"type": "boolean", "default": True}},
                "steps": [member.json(files) for member in self.members]}
            if self.on_failure:
                files[file]["onFailure"] = self.on_failure
            step["workflow"] = file
            if self.element:
                step["with"] = {"e": self.element}
        else:
            step[self.kind] = [member.json(files) for member in self.members]
        return step

    def leaf_json(self):
        keys = {"env": {"E": self.element, "V": str(self.version)}}
        if self.reads:
            keys["env"]["IN"] = ";".join(read_text(node) for node in self.reads)
        if self.idempotent:
            keys["idempotent"] = True
        if self.lists:
            keys["run"] = ["sh", "act.sh", self.name, self.doomed]
            keys["outputs"] = {"list": "${{ fromJSON('%s') }}" % json.dumps(elements_json(self.lists)).replace("'", "''")}
        else:
            keys["run"] = f"sh act.sh {self.name} '{self.doomed}'"
            keys["outputs"] = {"o": "${{ self.stdout }}"}
        if self.role == "cleanup":
            del keys["outputs"]
        return keys

    def loop_json(self):
        loop = self.loop
        if loop.how == "matrix":
            first = list(dict.fromkeys(value.split("-")[0] for _, value in loop.elements))
            second = list(dict.fromkeys(value.split("-")[1] for _, value in loop.elements))
            return {"matrix": {"a": first, "b": second}}
        keys = {"as": f"e_{self.name}", "in": elements_json(loop)}
        if loop.how == "output":
            keys["in"] = "${{ steps.%s.outputs.list }}" % loop.lister.id
        if loop.how in ("key", "output"):
            keys["key"] = f"e_{self.name}.k"
        if loop.tolerate:
            keys["tolerate"] = loop.tolerate
        if loop.limit:
            keys["maxParallel"] = loop.limit
        return {"forEach": keys}


def elements_json(loop):
    if loop.how == "object":
        return {key: {"v": value} for key, value in loop.elements}
    return [{"k": key, "v": value} for key, value in loop.elements]


def read_text(node):
    if node.loop:
        return "${{ join(steps.%s.results.*.outcome, ',') }}" % node.id
    return "${{ steps.%s.outputs.o || 'none' }}" % node.id


def escaped(key):
    """The key as written in an address."""
    last = len(key) - 1
    return "".join("\\" + character if character in "[]\\" or character.isspace() and place in (0, last) else character
                   for place, character in enumerate(key))


class Workflow:
    """A tree of nodes, and the files that it is written as."""

    def __init__(self, random, size, hostile=True):
        self.random = random
        self.hostile = hostile
        self.count = 0
        self.budget = size
        self.has_approvals = False
        self.on_failure = random.choice([None, None, "continue", "cancel", "stop"])
        self.root = Node("root", random.choice(["steps", "steps", "parallel"]))
        self.fill(self.root, depth=0, least=2)
        self.finals = []
        for index in range(random.choice([0, 0, 1, 2])):
            node = self.leaf(None)
            node.role, node.index, node.id = "finally", index + 1, random.choice([node.id, None])
            self.finals.append(node)
        self.link()

    def chance(self, part):
        return self.random.random() < part

    def name(self):
        self.count += 1
        return f"s{self.count}"

    def leaf(self, parent):
        self.budget -= 1
        name = self.name()
        return Node(name, "leaf", name, parent, idempotent=self.chance(0.5))

    def fill(self, group, depth, least=1):
        for index in range(1, self.random.randint(least, 4 if depth else 7) + 1):
            if self.budget <= 0 and index > least:
                break
            node = self.node(group, depth)
            node.index = index
            group.members.append(node)

    def node(self, parent, depth):
        random = self.random
        if depth >= 3 or self.budget < 2 or self.chance(0.5):
            node = self.leaf(parent)
            if self.chance(0.07) and parent.kind != "race":
                node.kind, self.has_approvals = "approve", True
                return node
            if self.chance(0.15):
                node.retry = random.randint(1, 2)
        else:
            kind = random.choice(["steps", "steps", "parallel", "parallel", "race", "nested"])
            name = self.name()
            node = Node(name, kind, name, parent)
            if self.chance(0.3) and kind in ("steps", "parallel"):
                node.retry = 1
            self.fill(node, depth + 1, least=2 if kind == "race" else 1)
            if kind == "parallel" and self.chance(0.25) and len(node.members) > 1:
                node.at_least = random.randint(1, len(node.members) - 1)
            if kind == "nested":
                node.on_failure = random.choice([None, "continue", "cancel"])
            if kind in ("steps", "parallel") and self.chance(0.15):
                node.limit = 1
        if self.chance(0.3):
            self.make_loop(node)
        if self.chance(0.12):
            node.allow_failure = True
        if self.chance(0.18):
            name = self.name()
            node.cleanup = Node(name, "leaf", random.choice([name, None]), node, idempotent=True, role="cleanup")
        if self.chance(0.15):
            node.condition = random.choice(["yes", "no", "failure", "always"])
        return node

    def make_loop(self, node):
        random = self.random
        how = random.choice(["list", "key", "key", "object", "matrix"])
        if how == "matrix" and any(inner.loop and inner.loop.how == "matrix" for inner in node.walk()):
            # In the inner one, `matrix` would hide the element of this one, from which the names of steps are made.
            how = "key"
        if how == "matrix":
            pairs = itertools.product(random.sample(["p", "q", "r"], 2), ["1", "2"])
            node.loop = Loop([(f"{a}, {b}", f"{a}-{b}") for a, b in pairs], how)
            return
        keys = list(ORDINARY)
        if self.hostile and self.chance(0.3):
            keys = random.sample(HOSTILE, 4) + keys[:1]
        count = random.randint(1, 5)
        keys = [str(index) for index in range(count)] if how == "list" else random.sample(keys, count)
        node.loop = Loop([(key, f"u{index}") for index, key in enumerate(keys)], how)
        if self.chance(0.4):
            node.loop.tolerate = random.choice([1, 2, "50%"])
        if self.chance(0.3):
            node.loop.limit = random.randint(1, 2)

    def link(self):
        """Links nodes to their dependencies, reads and dooms; dependencies lead only backwards in the file."""
        random = self.random
        order = [node for node in self.root.walk() if node is not self.root and node.role == "step"]
        for place, node in enumerate(order):
            if node.parent.kind == "race" or node.parent.at_least:
                node.condition, node.cleanup, node.allow_failure = None, None, False
            visible = [other for other in order[:place] if self.sees(node, other)]
            if visible and self.chance(0.25):
                node.needs = random.sample(visible, min(len(visible), random.randint(1, 2)))
            elif self.chance(0.05):
                node.needs = []
            if node.kind == "leaf":
                readable = [other for other in visible if other.kind == "leaf" and not other.condition and not other.after
                            and not other.lists]
                if readable and self.chance(0.4):
                    node.reads = random.sample(readable, min(len(readable), random.randint(1, 2)))
            tolerated = [other for other in visible if other.kind == "leaf" and other.allow_failure and not other.loop
                         and not other.condition and not other.after]
            if tolerated and not node.condition and node.parent.kind != "race" and self.chance(0.3):
                node.after = random.choice(tolerated)
            listers = [other for other in visible if other.kind == "leaf" and not other.loop and not other.condition
                       and not other.after and not other.lists and not other.allow_failure and other.id
                       and other.parent.kind != "race" and not other.parent.at_least]
            if node.loop and node.loop.how in ("list", "key") and listers and self.chance(0.4):
                lister = random.choice(listers)
                if not any(lister in other.reads for other in order):
                    node.loop.how, node.loop.lister, lister.lists = "output", lister, node.loop
                    if node.loop.elements and node.loop.elements[0][0] == "0":
                        node.loop.elements = [(f"k{key}", value) for key, value in node.loop.elements]
            self.doom(node)
        for node in order:
            named = any(node in other.needs or [] if other.needs else False for other in order) or any(
                node in other.reads or other.after is node for other in order)
            if node.kind == "leaf" and not named and not node.lists and not node.cleanup and self.chance(0.2):
                node.id = None

    def sees(self, node, other):
        """Whether the node may name the other without a cycle of dependencies."""
        around = set(node.ancestors)
        if other in around or other.id is None:
            return False
        inside = [each for each in other.ancestors if each not in around]
        if any(each.is_opaque for each in inside):
            return False
        if nested_around(node) is not nested_around(other):
            return False
        # Members of a race must not wait for each other.
        races = [each for each in node.ancestors if each.kind == "race"]
        return not any(race in other.ancestors and member_of(race, node) is not member_of(race, other) for race in races)

    def doom(self, node):
        """Makes it fail whenever it runs, where that is tolerated."""
        if node.kind != "leaf" or node.lists:
            return
        if node.loop and node.loop.tolerated and not node.allow_failure and self.chance(0.4):
            values = [value for _, value in node.loop.elements]
            # The value of the innermost loop is the last part.
            if len(node.loops) == 1:
                node.doomed = " ".join(self.random.sample(values, min(node.loop.tolerated, len(values) - 1)))
        elif node.allow_failure and self.chance(0.3):
            node.doomed = "all"
        elif node.parent.kind == "race" and self.chance(0.3):
            if any(not other.doomed and other is not node and other.kind == "leaf" for other in node.parent.members):
                node.doomed = "all"

    def steps(self):
        return [node for node in self.nodes() if node.kind == "leaf"]

    def nodes(self):
        yield from (node for node in self.root.walk() if node is not self.root)
        yield from self.finals

    def files(self, approving=False):
        files = {}
        whole = {"inputs": {"on": {"type": "boolean", "default": True}}, "maxParallel": 3}
        if self.on_failure:
            whole["onFailure"] = self.on_failure
        whole[self.root.kind] = [member.json(files) for member in self.root.members]
        if self.finals:
            whole["finally"] = [node.json(files) for node in self.finals]
        files["w.json"] = whole
        if approving:
            files = {name: without_approvals(file) for name, file in files.items()}
        return {name: json.dumps(file, indent=1, ensure_ascii=False) for name, file in files.items()}


def member_of(group, node):
    return next(each for each in [node, *node.ancestors] if each.parent is group)


def nested_around(node):
    return next((each for each in node.ancestors if each.kind == "nested"), None)


def without_approvals(value):
    """A copy with steps that run instead of those that ask."""
    if isinstance(value, dict):
        value = {key: without_approvals(member) for key, member in value.items()}
        if "approve" in value:
            del value["approve"]
            value["run"] = ["true"]
        return value
    return [without_approvals(member) for member in value] if isinstance(value, list) else value
