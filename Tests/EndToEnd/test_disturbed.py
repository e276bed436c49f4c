#!/usr/bin/env python3
"""Disturbs runs of random workflows, part after part, and compares their results with undisturbed runs.

usage: test_disturbed.py PATH_TO_WEFT [--seed N] [--count N] [--workers N] [--parts N] [--keep]

A run of a random workflow is ended and resumed repeatedly, each time in a different way: steps fail, it is
cancelled, it times out, it is killed, it waits for an approval, its file is edited, steps are named to be rerun.
Then nothing disturbs it any more, and everything that an undisturbed run of the same workflow has done must have
been done, in order, and only once where that is promised. The exit code, the events, the journal, report.json, show
and runs must agree throughout. The folder of a seed that fails is kept.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib.disturbed import records, workflows
from lib.disturbed.model import Model, Notes, dependents, is_ended_early

LIMIT = 60  # seconds, against hanging only


class Broken(Exception):
    """A promise that a run has broken."""


class FailsByItself(Exception):
    """A workflow that fails, however often it is resumed and even if nothing disturbs it."""


class Disturbed:
    def __init__(self, weft, seed, folder, options):
        self.weft, self.seed, self.path = weft, seed, folder
        self.random = random.Random(seed)
        self.workflow = workflows.Workflow(self.random, size=self.random.randint(3, 22), hostile=options.hostile)
        self.parts = options.parts or self.random.randint(3, 6)
        self.part = 0
        self.log = []
        # The nodes that were named to be rerun, with the number of the last record before; they count until they have
        # run again.
        self.named = {}
        # Approvals whose latest answer was no. The answer waits in the run's folder until a part asks for it.
        self.rejected = set()
        # Steps that were rerun by name, so that their dependents may be older.
        self.excused = set()
        self.known = options.known
        # Nodes that were edited since a part began.
        self.edited = set()

    # MARK: The program

    def prepare(self, path, files):
        (path / "gates").mkdir(parents=True)
        (path / "act.sh").write_text(workflows.SCRIPT)
        for name, text in files.items():
            (path / name).write_text(text)

    def start(self, *words, path=None):
        environment = {**os.environ, "PART": str(self.part), "V": "", "IN": "", "E": ""}
        self.log.append(" ".join(["weft", *words]))
        output = open((path or self.path) / f"output-{self.part}", "ab")
        with output:
            return subprocess.Popen(
                [self.weft, *words], cwd=path or self.path, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, start_new_session=True)

    def call(self, *words, path=None):
        process = self.start(*words, path=path)
        return process.wait(timeout=LIMIT)

    def read(self, *words):
        result = subprocess.run(
            [self.weft, *words, "--format", "json"], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=LIMIT)
        if result.returncode != 0:
            raise Broken(f"{' '.join(words)} exits {result.returncode}: {result.stderr}")
        return json.loads(result.stdout)

    @property
    def folder(self):
        runs = self.path / ".weft/runs"
        return next((each for each in runs.iterdir() if each.name[0] == "2"), None) if runs.exists() else None

    def journal(self):
        return records.Journal(self.folder / "journal.jsonl" if self.folder else self.path / "none")

    def notes(self, path=None):
        effects = (path or self.path) / "effects"
        return Notes(effects.read_text() if effects.exists() else "")

    # MARK: An undisturbed run

    def undisturbed(self):
        """The effects of an undisturbed run, and its last event.

        Nothing is said of a workflow that fails by itself: a step may need an output of one that fails as planned.
        """
        path = self.path / "undisturbed"
        self.prepare(path, self.workflow.files(approving=True))
        code = self.call("run", "w.json", "--events", "events", path=path)
        notes = self.notes(path)
        end = [json.loads(line) for line in (path / "events").read_text().splitlines()][-1]
        if code == 1 and end.get("firstFailure") == (self.journal().end or {}).get("firstFailure"):
            raise FailsByItself
        if code != 0 or (faults := Model(self.workflow, notes).faults()):
            raise Broken(f"the undisturbed run exits {code}: {code == 0 and faults or (path / f'output-{self.part}').read_text()[-600:]}")
        return notes, end

    # MARK: Parts

    def instances(self):
        for node in self.workflow.steps():
            for frame in node.instances():
                yield node, frame

    def close_gates(self, last):
        shutil.rmtree(self.path / "gates")
        (self.path / "gates").mkdir()
        if last:
            return
        choices = list(self.instances())
        how = self.random.choice(["fail", "fail", "fail", "once", "hang", "none"])
        if self.random.random() < 0.7:
            (self.path / "gates/slow").touch()
        for node, frame in self.random.sample(choices, min(len(choices), self.random.randint(1, 3))):
            # Only a kill ends a step that hangs and starts in spite of a cancellation.
            is_immune = any(each.condition == "always" for each in [node, *node.ancestors])
            if how != "none" and not (how == "hang" and (node.role != "step" or is_immune)):
                (self.path / f"gates/{node.named(frame)}.{how}").touch()
                self.log.append(f"  gate {node.named(frame)}.{how} (step {node.address(frame)})")
        return how

    def options(self, last):
        """More arguments for a resume, and the nodes that they cause to run again."""
        words, again = [], set()
        journal = self.journal()
        known = [node for node in self.workflow.nodes() if node.role == "step" and node.kind != "approve"]
        if not last and self.random.random() < 0.35 and known:
            node = self.random.choice(known)
            # One element, or all of them.
            frame = self.random.choice(list(node.instances()) or [()])
            whole = self.random.random() < 0.6 or not frame
            if whole and not [each for each in node.ancestors if each.loop]:
                option = self.random.choice(["--rerun", "--from"])
                words += [option, node.address(())]
            elif frame and self.path and journal.steps.get(node.address(frame)):
                option = "--rerun"
                words += [option, node.address(frame)]
            if words:
                again |= dependents(self.workflow, [node]) if words[0] == "--from" else set(node.walk())
                # The other members of a race take part in it again, and elements whose failure a loop has tolerated.
                outermost = next((each for each in reversed([node, *node.ancestors])
                                  if each.kind == "race" or each.loop and each.loop.tolerated), node)
                self.excused |= set(outermost.walk())
        editable = [node for node in self.workflow.steps() if node.role == "step"]
        if not last and self.random.random() < 0.15 and editable:
            node = self.random.choice(editable)
            node.version += 1
            for name, text in self.workflow.files().items():
                (self.path / name).write_text(text)
            # A changed file changes the step that runs it.
            self.edited.add(next((each for each in reversed(node.ancestors) if each.kind == "nested"), node))
            self.log.append(f"  edited {node.name} (step {node.id})")
        if self.edited:
            words.append("--accept-changes")
            again |= dependents(self.workflow, self.edited)
        self.naming = {node: journal.records[-1]["n"] for node in again}
        return words, again | set(self.named)

    def disturb(self, process, how, ends):
        """Ends the part at a random moment, in the chosen way; returns when it is over."""
        if how in ("kill", "TERM", "INT", "cancel"):
            if self.random.random() < 0.3:
                time.sleep(self.random.random() * 0.08)
            else:
                wanted = (self.path / "effects").stat().st_size if (self.path / "effects").exists() else 0
                wanted += 20 * self.random.randint(1, 2 * ends)
                limit = time.monotonic() + 2
                while process.poll() is None and time.monotonic() < limit:
                    if (self.path / "effects").exists() and (self.path / "effects").stat().st_size >= wanted:
                        break
                    time.sleep(0.0005)
            if how == "cancel":
                # Until the process has resumed it, the run still counts as ended.
                while process.poll() is None:
                    subprocess.run([self.weft, "cancel"], cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True,
                                   timeout=LIMIT)
            else:
                process.send_signal(getattr(signal, f"SIG{how}", signal.SIGKILL))
        return process.wait(timeout=LIMIT)

    def answer(self, last):
        """Answers what the run waits for; the last time with yes."""
        end = self.journal().end
        if not end or end["type"] != "run.waiting":
            return
        if self.read("show")["resume"].get("cancels"):
            # It was suspended just before it was to be cancelled, and takes no more answers.
            return
        for request in end["requests"]:
            answer = "yes" if last else self.random.choice(["yes", "no", "none"])
            if answer != "none":
                (self.rejected.add if answer == "no" else self.rejected.discard)(request["step"])
                words = ["approve", *(["--reject"] if answer == "no" else []), request["step"]]
                if (code := self.call(*words)) != 0:
                    raise Broken(f"{' '.join(words)} exits {code}")

    def run_part(self, last, ends):
        self.part += 1
        self.log.append(f"part {self.part}")
        before, known = self.journal(), self.notes()
        self.answer(last)
        gates = self.close_gates(last)
        how = "none" if last else self.random.choice(["none", "kill", "kill", "TERM", "INT", "cancel", "time"])
        if gates == "hang" and how == "none":
            how = self.random.choice(["kill", "TERM", "time"])
        self.naming = {}
        words, again = (["run", "w.json"], set()) if self.folder is None else (["resume"], set())
        if self.folder is not None:
            options, again = self.options(last)
            words += options
            doubts = self.doubts(before)
            if doubts and (last or self.random.random() < 0.4):
                words += [word for address in sorted(doubts) for word in ("--rerun", address)]
                again |= {node for address, node in doubts.items()}
                doubts = {}
        else:
            doubts = {}
        if not last and self.random.random() < 0.2:
            words.append(self.random.choice(["-k", "--fail-fast"]))
        if how == "time":
            words += ["--timeout", f"{self.random.randint(10, 150)}ms"]
        words += ["--events", f"events-{self.part}"]
        self.log.append(f"  ended by {how}")
        code = self.disturb(self.start(*words), how, ends)
        self.log.append(f"  exit {code}")
        self.check_part(code, before, again, doubts, last)
        return code

    def doubts(self, journal):
        """Steps that began and have no recorded end, by address."""
        found = {}
        for node, frame in self.instances():
            if node.role == "step" and not node.idempotent and node not in self.naming:
                address = node.address(frame)
                # A step that has begun since it was named is in doubt like any other.
                if address in journal.doubts and journal.doubts[address]["n"] > self.named.get(node, 0):
                    around = [each.address(tuple(f for f in frame if f[0] in set(each.loops) and f[0] is not each))
                              for each in node.ancestors]
                    if all(journal.begun.get(group, 0) < journal.doubts[address]["n"] for group in around):
                        found[address] = node
        return found

    # MARK: Checks

    def check_part(self, code, before, again, doubts, last):
        journal, notes = self.journal(), self.notes()
        if self.folder is None:
            return
        if code == -signal.SIGKILL:
            # A program that weft was about to start holds the run's lock until it has started.
            limit, states = time.monotonic() + 5, None
            while journal.end is None and states != ("interrupted", "interrupted"):
                if states and time.monotonic() > limit:
                    raise Broken(f"killed; runs and show say {states}")
                states = self.read("runs")["runs"][0]["state"], self.read("show")["state"]
        elif code in (130, 143) and self.is_over_without_signal(journal, len(before.parts)):
            # A signal that comes after the end terminates the program at once, perhaps without a report.
            pass
        elif len(journal.parts) == len(before.parts):
            # Nothing was begun.
            if code not in (0, 130, 143, -signal.SIGTERM, -signal.SIGINT):
                raise Broken(f"nothing was begun, and the exit code is {code}: {self.said()}")
        else:
            self.agree(journal, code)
        if len(journal.parts) > len(before.parts):
            # A part that is killed early need not have kept the changed files.
            if code != -signal.SIGKILL or self.has_kept_files():
                self.edited = set()
            self.named.update(self.naming)
        self.once(before, again, journal, notes)
        for address, node in doubts.items():
            if any(note.address == address and note.part == self.part for note in notes.all):
                raise Broken(f"{address} was in doubt, and was started again")
            now = journal.steps.get(address)
            if now and now.get("conclusion") == "success":
                raise Broken(f"{address} was in doubt, and is told as {now['outcome']} and {now['conclusion']}")
            if code == 0 and not is_ended_early(node):
                raise Broken(f"the run ends in success, and {address} is in doubt")
        if code == 0:
            if faults := Model(self.workflow, notes, self.rejected).faults():
                raise Broken(f"the run ends in success, and is not done: {'; '.join(faults)}")

    def has_kept_files(self):
        """Whether the record holds the files of the workflow as they are now."""
        kept = {path.read_bytes() for path in [self.folder / "workflow.json", *self.folder.glob("nested/*")]}
        return all(text.encode() in kept for text in self.workflow.files().values())

    @staticmethod
    def is_over_without_signal(journal, parts):
        return len(journal.parts) > parts and journal.end is not None and journal.end["type"] == "run.finished" and (
            journal.end.get("cancellation", {}).get("kind") not in ("signal", "requested"))

    def agree(self, journal, code):
        events = [json.loads(line) for line in (self.path / f"events-{self.part}").read_text().splitlines()]
        report = self.folder / "report.json"
        is_ended = journal.end and journal.end["type"] == "run.finished"
        if is_ended and not report.exists():
            raise Broken("the run has ended, and there is no report.json")
        faults = records.disagreements(
            journal, events, json.loads(report.read_text()) if is_ended else {}, self.read("show"),
            self.read("runs")["runs"][0], code)
        faults = [fault for fault in faults if not re.search(self.known, fault)]
        if faults:
            raise Broken("; ".join(faults) + f": {self.said()}")

    def once(self, before, again, journal, notes):
        """Checks that what was recorded as done was not done again without a reason."""
        began = {note.address for note in notes.all if note.part == self.part and note.kind == "B"}
        retried = {record["group"] for record in (journal.parts or [[]])[-1] if record["type"] == "group.retrying"}
        for node, frame in self.instances():
            address = node.address(frame)
            if node.role != "step" or address not in began or node in again:
                continue
            around = []
            for each in [node, *node.ancestors]:
                if each.cleanup:
                    around = None
                    break
                if each is not node or each.loop:
                    outer = tuple(f for f in frame if f[0] in set(each.loops))
                    if each.is_group and each.address(outer) != address:
                        around.append((each.address(outer), each))
                    if each.loop:
                        around.append((each.address(tuple(f for f in outer if f[0] is not each)), each))
            if around is None or retried & {group for group, _ in around}:
                continue
            if before.is_done(address, [group for group, _ in around]):
                raise Broken(f"{address} is recorded as done, and was done again")
            for index, (group, inner) in enumerate(around):
                # A group that tolerates a failure is resumed where it was interrupted; its steps are checked above.
                if any(each.allow_failure or each.loop and each.loop.tolerated for each in inner.walk()):
                    continue
                if before.is_done(group, [each for each, _ in around[index + 1:]]) and not again & set(inner.walk()):
                    raise Broken(f"{group} is recorded as done, and {address} in it was done again")

    def said(self):
        return (self.path / f"output-{self.part}").read_text(errors="replace")[-1500:]

    # MARK: The whole

    def check(self):
        self.prepare(self.path, self.workflow.files())
        shutil.copytree(self.path, self.path / "template")
        ends = max(1, sum(1 for _ in self.instances()))
        for _ in range(self.parts - 1):
            self.run_part(last=False, ends=ends)
        for _ in range(8):
            code = self.run_part(last=True, ends=ends)
            if code == 0:
                break
            # An earlier no counts once a part has asked.
            failed = (self.journal().end or {}).get("firstFailure")
            if code == 1 and failed in self.rejected:
                self.rejected.discard(failed)
                continue
            # A suspended run has still been asked to end.
            is_cancelled = (self.journal().end or {}).get("cancellation", {}).get("kind") == "requested"
            if code != 75 and not is_cancelled:
                self.part += 1
                self.undisturbed()
                self.part -= 1
                raise Broken(f"nothing disturbs it any more, and it exits {code}: {self.said()}")
        else:
            raise Broken("it waits again and again")
        self.part += 1
        expected, end = self.undisturbed()
        notes = self.notes()
        model = Model(self.workflow, notes)
        if faults := model.disorder(self.excused | {
                node for node in self.workflow.steps() if any(each.cleanup for each in [node, *node.ancestors])}):
            raise Broken("; ".join(faults))
        for node, frame in self.instances():
            last = notes.last(node.named(frame), "E")
            if (node.role == "step" and not is_ended_early(node) and last and last.version != str(node.version)
                    and expected.last(node.named(frame), "E")):
                raise Broken(f"{last.name} was changed, and not done again")
        self.compare_counts(end)

    def compare_counts(self, end):
        if any(is_ended_early(node) or node.condition == "failure" or node.doomed or node.kind == "race"
               for node in self.workflow.nodes()):
            return
        told = self.journal().end["counts"]
        told = {name: told[name] for name in records.counts([])}
        expected = {name: end["counts"][name] for name in told}
        if told != expected:
            raise Broken(f"an undisturbed run counts {expected}, this one {told}")


def one(weft, seed, options):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"weft-disturbed-{seed}-"))
    trial = Disturbed(weft, seed, folder, options)
    try:
        trial.check()
        fault = None
    except FailsByItself:
        fault = None
    except Broken as broken:
        fault = str(broken)
    except subprocess.TimeoutExpired as late:
        fault = f"does not end: {late}"
    if fault is None and not options.keep:
        shutil.rmtree(folder)
    else:
        (folder / "what-was-done").write_text("\n".join([*trial.log, fault or "nothing is wrong", ""]))
    return fault, folder, trial


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int)
    parser.add_argument("--known", default="^$", help="a pattern of faults that are not told")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--hostile", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    weft = os.path.abspath(options.weft)
    seeds = range(options.seed, options.seed + options.count)
    failures = parts = steps = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.workers) as pool:
        futures = [(seed, pool.submit(one, weft, seed, options)) for seed in seeds]
        for seed, future in futures:
            fault, folder, trial = future.result()
            parts += trial.part
            steps += len(trial.notes().all) if folder.exists() else 0
            if fault:
                failures += 1
                print(f"FAIL  seed {seed} ({folder}): {fault}", flush=True)
    print(f"{len(seeds)} workflows in {parts} parts, {failures} failed")
    return 1 if failures or not seeds else 0


if __name__ == "__main__":
    sys.exit(main())
