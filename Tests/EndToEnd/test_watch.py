#!/usr/bin/env python3
"""Changes files under `weft run --watch` as editors, git and steps do, and counts the runs that follow.

usage: test_watch.py PATH_TO_WEFT          (needs git)
"""

import json
import os
import select
import signal
import subprocess
import sys
import time

from lib import cases
from lib.workplace import LIMIT, Workplace, step, wait_until

SOURCES = {"src/a.c": "a\n", "src/b.c": "b\n"}


def cached(run, inputs=("src/**",), outputs=("all",), **keys):
    return {"id": "build", "run": run, "cache": {"inputs": list(inputs), "outputs": list(outputs)}, **keys}


BUILD = {"steps": [cached("cat src/*.c > all")]}


class Watch(Workplace):
    """A directory in which `weft run --watch` runs, once it is started."""

    def __init__(self, weft, workflow=BUILD, files=SOURCES):
        super().__init__(workflow)
        self.weft, self.process, self.waits = weft, None, 0
        for name, text in files.items():
            self.write(name, text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.process:
            self.process.stdout.close()
        self.directory.cleanup()

    def start(self, *arguments):
        self.process = subprocess.Popen(
            [self.weft, "run", "--watch", "workflow.json", *arguments], cwd=self.path, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        return self

    def write(self, name, text):
        os.makedirs(os.path.dirname(f"{self.path}/{name}"), exist_ok=True)
        with open(f"{self.path}/{name}", "w") as file:
            file.write(text)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=w", "-c", "user.email=w@localhost", *arguments], cwd=self.path,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def take(self, deadline):
        output = self.process.stdout.fileno()
        if not select.select([output], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        part = os.read(output, 65536)
        self.output += part
        return bool(part)

    def read_until(self, holds, what):
        deadline = time.monotonic() + LIMIT
        while not holds():
            if not self.take(deadline):
                raise AssertionError(f"never came: {what}; said: {self.output.decode()}")

    def wait(self):
        """Reads until weft waits for changes once more; returns what it said since it last did."""
        self.waits += 1
        self.read_until(lambda: self.output.count(b"waiting for changes") >= self.waits, f"wait {self.waits}")
        return self.output.decode().split("waiting for changes")[self.waits - 1]

    def states(self):
        """The states of all recorded runs, the first one first."""
        listed = subprocess.run([self.weft, "runs", "--format", "json"], cwd=self.path, check=True,
                                stdout=subprocess.PIPE).stdout
        return [run["state"] for run in reversed(json.loads(listed)["runs"])]

    def interrupt(self):
        """Presses ^C; returns the exit code as a shell has it."""
        os.kill(self.process.pid, signal.SIGINT)
        while self.take(time.monotonic() + LIMIT):
            pass
        code = self.process.wait(LIMIT)
        return code if code >= 0 else 128 - code


def a_change_of_content(weft):
    """a file with other content starts a run, which has a record of its own; one with the same does not"""
    with Watch(weft) as watch:
        watch.start().wait()
        watch.write("src/a.c", "other\n")
        assert "src/a.c changed; running again" in watch.wait()
        os.utime(f"{watch.path}/src/a.c")
        watch.write("src/b.c", "b\n")
        watch.write("elsewhere.c", "")
        watch.write("src/new/c.c", "c\n")
        said = watch.wait()
        assert "src/new/c.c changed; running again" in said, said
        os.remove(f"{watch.path}/src/b.c")
        assert "src/b.c changed; running again" in watch.wait()
        assert watch.states() == ["success"] * 4, watch.states()
        assert watch.interrupt() == 130


def saved_by_editors(weft):
    """a file saved as vim, emacs, VS Code and others do starts one run, which names that file alone"""
    def path(name):
        return f"{watch.path}/src/{name}"

    def vim(text):
        watch.write("src/4913", "")
        os.remove(path("4913"))
        watch.write("src/.a.c.swp", "x")
        os.rename(path("a.c"), path("a.c~"))
        watch.write("src/a.c", text)
        os.remove(path("a.c~"))

    def emacs(text):
        os.symlink("user@host.1:1", path(".#a.c"))
        watch.write("src/#a.c#", text)
        os.rename(path("a.c"), path("a.c~"))
        watch.write("src/a.c", text)
        os.remove(path(".#a.c"))
        os.remove(path("#a.c#"))

    def in_place(text):
        with open(path("a.c"), "r+") as file:
            file.truncate(0)
            file.write(text)

    def renamed(text):
        watch.write("src/.goutputstream-ABC", text)
        os.rename(path(".goutputstream-ABC"), path("a.c"))

    with Watch(weft) as watch:
        watch.start().wait()
        for number, save in enumerate((vim, emacs, in_place, renamed)):
            save(f"text {number}\n")
            said = watch.wait()
            assert "weft: src/a.c changed; running again" in said, (save.__name__, said)
            assert watch.file("all") == f"text {number}\nb\n", save.__name__
        assert watch.states() == ["success"] * 5, watch.states()


def a_checkout(weft):
    """a checkout of 1,000 files starts one run, when git is done"""
    with Watch(weft, files={f"src/{n}.c": "one\n" for n in range(1000)}) as watch:
        watch.git("init", "-q", "-b", "one")
        watch.git("add", "src")
        watch.git("commit", "-qm", "one")
        watch.git("checkout", "-qb", "two")
        for n in range(1000):
            watch.write(f"src/{n}.c", "two\n")
        watch.git("commit", "-qam", "two")
        watch.start().wait()
        watch.git("checkout", "-q", "one")
        said = watch.wait()
        assert "and 997 more changed; running again" in said, said
        assert watch.file("all") == "one\n" * 1000
        assert watch.states() == ["success"] * 2, watch.states()


def restarted(weft):
    """a change cancels the run under way, and another one starts"""
    workflow = {"steps": [cached(step("echo > began.fifo; cat go.fifo; cat src/*.c > all")["run"])]}
    with Watch(weft, workflow) as watch:
        watch.start().wait_for("began.fifo")
        watch.write("src/a.c", "other\n")
        watch.wait_for("began.fifo")
        watch.release("go.fifo")
        assert "the run was cancelled because src/a.c changed" in watch.wait()
        assert "1 step succeeded" in watch.wait()
        assert watch.file("all") == "other\nb\n"
        assert watch.states() == ["cancelled", "success"], watch.states()
        assert watch.interrupt() == 130 and watch.nothing_is_alive()
        listed = subprocess.run([weft, "runs", "--format", "json"], cwd=watch.path, check=True, stdout=subprocess.PIPE).stdout
        (cancelled,) = [run["run"] for run in json.loads(listed)["runs"] if run["state"] == "cancelled"]
        shown = subprocess.run([weft, "show", cancelled], cwd=watch.path, check=True, stdout=subprocess.PIPE, text=True).stdout
        assert "files changed" in shown and "on request" not in shown, shown
        with open(f"{watch.path}/.weft/runs/{cancelled}/journal.jsonl") as journal:
            reasons = [record["reason"] for record in map(json.loads, journal) if record["type"] == "run.cancelling"]
        assert reasons == [{"kind": "filesChanged"}], reasons


def the_cause(weft):
    """the cause of a cancelled run is a file that a step reads, not what steps make meanwhile"""
    workflow = {"steps": [
        {"id": "css", "forEach": {"glob": "src/*.c", "as": "f", "key": "stem(f)"},
         "run": "mkdir -p public; cp ${{ f }} public/${{ basename(f) }}",
         "cache": {"inputs": ["${{ f }}"], "outputs": ["public/${{ basename(f) }}"]}},
        step("echo > began.fifo; sleep 100")]}
    with Watch(weft, workflow) as watch:
        watch.start().wait_for("began.fifo")
        for number in range(2):
            watch.write("src/a.c", f"other {number}\n")
            watch.wait_for("began.fifo")
        assert watch.interrupt() == 130
        said = watch.output.decode()
        assert said.count("the run was cancelled because src/a.c changed;") == 2, said


def finished(weft):
    """with --on-change finish, the run under way ends first"""
    workflow = {"steps": [cached(step("cat src/*.c > all; echo > began.fifo; cat go.fifo")["run"])]}
    with Watch(weft, workflow) as watch:
        watch.start("--on-change", "finish").wait_for("began.fifo")
        watch.write("src/a.c", "other\n")
        watch.release("go.fifo")
        watch.wait_for("began.fifo")
        watch.release("go.fifo")
        watch.wait()
        watch.wait()
        assert watch.file("all") == "other\nb\n"
        assert watch.states() == ["success"] * 2, watch.states()


def own_files(weft):
    """outputs start no run; a formatter ends after the run that changes nothing; a file that grows is found out"""
    workflow = {"steps": [cached("cat src/*.c > src/all", ["src/*"], ["src/all"])]}
    with Watch(weft, workflow) as watch:
        watch.start().wait()
        watch.write("src/a.c", "other\n")
        watch.wait()
        assert watch.states() == ["success"] * 2, watch.states()
    with Watch(weft, {"steps": [cached("tr a-z A-Z < src/a.c > up; cat up > src/a.c", outputs=["up"])]}) as watch:
        watch.start().wait()
        watch.wait()
        watch.write("src/b.c", "other\n")
        watch.wait()
        assert watch.states() == ["success"] * 3, watch.states()
    with Watch(weft, {"steps": [cached("echo x >> src/a.c", outputs=["none"])]}) as watch:
        watch.start("--no-cache", "--on-change", "finish")
        watch.read_until(lambda: b"changes during runs no longer count" in watch.output, "the end of the streak")
        assert b"src/a.c changed in each of the last 5 runs" in watch.output
        watch.read_until(lambda: b"waiting for changes" in watch.output.split(b"no longer count")[1], "a wait")
        assert len(watch.states()) == 5, watch.states()


def computed_patterns(weft):
    """patterns that are computed select what they select in the run; new files of a loop count; computed outputs do not"""
    compile = {"id": "compile", "forEach": {"glob": "src/*.c", "as": "file"}, "env": {"F": "${{ file }}"},
               "run": "cat \"$F\" > \"$F.o\"; echo made > noise.txt",
               "cache": {"inputs": ["${{ file }}"], "outputs": ["${{ file }}.o"]}}
    below = {"id": "below", "forEach": ["one", "two"], "cwd": "src/${{ item }}", "run": "cat in.txt > out.txt; echo made > noise.txt",
             "cache": {"inputs": ["in.txt"], "outputs": ["out.txt"]}}
    steps = ["echo first > src/first.txt", compile, cached("cat src/*.o > all", ["src/*.o"]), below]
    with Watch(weft, {"steps": steps}, {**SOURCES, "src/one/in.txt": "1", "src/two/in.txt": "2"}) as watch:
        watch.start().wait()
        for runs, name in enumerate(("src/a.c", "src/new.c", "src/new.c", "src/b.c", "src/two/in.txt"), 2):
            watch.write("other.txt", name)
            watch.write(name, f"{runs}\n")
            said = watch.wait()
            assert f"weft: {name} changed; running again" in said, (name, said)
            assert watch.states() == ["success"] * runs, watch.states()


def own_reports(weft):
    """what Weft itself writes starts no run: its output in a file, reports, events; also if no pattern could be computed"""
    workflow = {"steps": ["false", {"forEach": ["src/a.c"], "run": "true", "cache": {"inputs": ["${{ item }}"]}}]}
    with Watch(weft, workflow) as watch:
        with open(f"{watch.path}/said.txt", "w") as said:
            watch.process = subprocess.Popen(
                [weft, "run", "--watch", "workflow.json", "--report", "csv=times.csv", "--events", "events.jsonl"],
                cwd=watch.path, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        watch.process.stdout = open("/dev/null", "rb")
        for runs in (1, 2):
            wait_until(lambda: watch.file("said.txt").count("waiting for changes") >= runs, f"wait {runs}")
            time.sleep(0.5)
            assert watch.states() == ["failure"] * runs, watch.file("said.txt")
            watch.write("src/a.c", f"{runs}\n")


def other_files(weft):
    """the workflow, nested files, scripts, env files and --watch-path count; what git ignores does not"""
    workflow = {"envFile": {"path": ".env", "required": False},
                "steps": [{"workflow": "inner.json"}, {"script": {"file": "script.sh"}}]}
    files = {"inner.json": '{"steps": ["true"]}', "script.sh": "true\n", ".gitignore": "*.log\n", "docs/x.md": "x"}
    with Watch(weft, workflow, files) as watch:
        watch.git("init", "-q")
        watch.start("--watch-path", "docs").wait()
        for name, text in (("inner.json", '{"steps": ["echo inner"]}'), ("script.sh", "echo changed\n"),
                           (".env", "A=1\n"), ("docs/x.md", "y"), ("docs/deep/er/z.md", "z")):
            watch.write("docs/noise.log", text)
            watch.write(name, text)
            said = watch.wait()
            assert f"weft: {name} changed; running again" in said, (name, said)
        watch.write("workflow.json", '{"steps": [')
        said = watch.wait()
        assert "workflow.json changed" in said and "[W0009]" in said, said
        watch.write("workflow.json", '{"steps": ["echo mended"]}')
        said = watch.wait()
        assert "[1] mended" in said or "mended" in said, said
        assert len(watch.states()) == 7, watch.states()


def behind_links(weft):
    """a change of the file that a link leads to starts a run"""
    with Watch(weft, {"steps": [cached("cat src/*.c named > all", ("src/*.c", "named"))]}) as watch:
        for link, target in (("src/l.c", "../outside/one"), ("named", "outside/two")):
            watch.write(os.path.join("outside", os.path.basename(target)), "old\n")
            os.symlink(target, f"{watch.path}/{link}")
        watch.start().wait()
        for name, link in (("one", "src/l.c"), ("two", "named")):
            watch.write(f"outside/{name}", "other\n")
            said = watch.wait()
            assert link in said and "running again" in said, said
        assert len(watch.states()) == 3, watch.states()


def ignored_but_named(weft):
    """a file that git ignores counts if a computed pattern names it, and starts no run by itself"""
    cat = {"id": "l", "forEach": {"glob": "src/*.c", "as": "f"}, "run": ["cat", "--", "${{ f }}"],
           "cache": {"inputs": ["${{ f }}"]}}
    with Watch(weft, {"steps": [cat]}, {".gitignore": "gen.c\n", "src/gen.c": "1", "src/a.c": "1"}) as watch:
        watch.git("init")
        watch.start().wait()
        time.sleep(0.5)
        for runs, name in enumerate(("src/gen.c", "src/a.c", "src/gen.c"), 2):
            watch.write(name, f"{runs}\n")
            said = watch.wait()
            assert f"weft: {name} changed; running again" in said, (name, said)
            assert watch.states() == ["success"] * runs, watch.output.decode()


def swapped_link(weft):
    """--watch-path LINK: another target of the link starts a run, and then its files count"""
    with Watch(weft, {"steps": ["true"]}, {"one/x": "1", "two/x": "2"}) as watch:
        os.symlink("one", f"{watch.path}/link")
        watch.start("--watch-path", "link").wait()
        watch.write("one/x", "other")
        assert "one/x changed" in watch.wait()
        os.symlink("two", f"{watch.path}/new")
        os.rename(f"{watch.path}/new", f"{watch.path}/link")
        assert "link" in watch.wait()
        watch.write("two/x", "other")
        assert "two/x changed" in watch.wait()
        assert len(watch.states()) == 4, watch.states()


def events_of_all_runs(weft):
    """--events FILE has the events of all runs of a watch, and none of an earlier one"""
    with Watch(weft, {"steps": [cached("cat src/a.c > all", ["src/a.c"])]}) as watch:
        watch.write("events.jsonl", "of before\n")
        watch.start("--events", "events.jsonl").wait()
        watch.write("src/a.c", "other")
        watch.wait()
        kinds = [json.loads(line)["type"] for line in watch.file("events.jsonl").splitlines()]
        assert kinds.count("run.started") == 2 == kinds.count("run.finished"), kinds


def changed_while_it_waits(weft):
    """a change while a run waits for its key: the old workflow does not run at all"""
    def workflow(name):
        return {"concurrency": {"key": "one"}, "steps": [f"echo {name} >> ran"], "finally": [f"echo finally {name} >> ran"]}
    with Watch(weft, workflow("old")) as watch:
        holder = {"concurrency": {"key": "one"}, "steps": [step("echo > began.fifo; read line <go.fifo")]}
        watch.write("holder.json", json.dumps(holder))
        for name in ("began.fifo", "go.fifo"):
            os.mkfifo(f"{watch.path}/{name}")
        holding = subprocess.Popen([weft, "run", "holder.json"], cwd=watch.path, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            watch.wait_for("began.fifo")
            watch.start().read_until(lambda: b"waiting for run" in watch.output, "the wait for the key")
            watch.write("workflow.json", json.dumps(workflow("new")))
            watch.read_until(lambda: watch.output.count(b"waiting for run") == 2, "the next wait")
            watch.release("go.fifo")
            assert holding.wait(LIMIT) == 0
            watch.read_until(lambda: watch.output.count(b"waiting for changes") == 2, "the end of the run")
        finally:
            holding.kill()
            holding.wait()
        assert watch.file("ran") == "new\nfinally new\n", watch.file("ran")


def interrupted(weft):
    """^C ends a run under way and the watch"""
    workflow = {"steps": [step("echo > began.fifo; sleep 1000")]}
    with Watch(weft, workflow) as watch:
        watch.start().wait_for("began.fifo")
        assert watch.interrupt() == 130
        assert watch.nothing_is_alive()
        assert watch.states() == ["cancelled"], watch.states()


def a_failure(weft):
    """a run that fails is waited after like any other"""
    with Watch(weft, {"steps": [cached("! grep -q bad src/a.c")]}) as watch:
        watch.write("src/a.c", "bad\n")
        watch.start().wait()
        watch.write("src/a.c", "good\n")
        watch.wait()
        assert watch.states() == ["failure", "success"], watch.states()


def refused(weft):
    """what cannot be watched is refused at once"""
    with Watch(weft) as watch:
        for arguments, message in (
                (["--watch", "-"], "standard input"), (["--on-change", "finish", "workflow.json"], "--watch"),
                (["--watch-path", "src", "workflow.json"], "--watch"),
                (["--watch", "--watch-path", "absent", "workflow.json"], 'cannot watch "absent"'),
                (["--watch", "--dry-run", "workflow.json"], "--dry-run"),
                (["--watch", "--on-change", "later", "workflow.json"], "later"),
                (["--watch", "absent.json"], "absent.json")):
            done = subprocess.run([weft, "run", *arguments], cwd=watch.path, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=LIMIT)
            assert done.returncode == 2 and message in done.stderr, (arguments, done)
            assert not os.path.exists(f"{watch.path}/.weft"), arguments


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        a_change_of_content, saved_by_editors, a_checkout, restarted, the_cause, finished, own_files, computed_patterns, own_reports,
        other_files, behind_links, ignored_but_named, swapped_link, events_of_all_runs, changed_while_it_waits,
        interrupted, a_failure, refused]))
