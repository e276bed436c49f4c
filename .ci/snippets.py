#!/usr/bin/env python3
"""Type-checks the Swift of README and of the articles, compares quoted files with the articles, and checks that common
mistakes are reported in words that help.

    snippets.py BIN_PATH

BIN_PATH is that of `swift build --show-bin-path`, after a build. A block is the body of a function, in which the names
below are known. A block that begins with ```swift excerpt=PATH, or another language, is an excerpt of that file. The
recipes of Requests.md and Streams.md are compared with tested code by the unit tests.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
articles = root / "Sources/Weft/Documentation.docc"
pages = [root / "README.md"] + [
    articles / f"{name}.md"
    for name in ("Actions", "Embedding", "OtherFiles", "Telemetry", "TestingWorkflows", "Tutorial", "Weft")]
block = re.compile(r"^```(\w+)(?: excerpt=(\S+)| .*)?\n(.*?)^```$", re.M | re.S)

KNOWN = """
import Testing
import Weft
import WeftFutures
import WeftTestKit

struct Chat: Sendable { func asks(_ question: String) async -> Bool { true } }
let chat = Chat()
@Sendable func log(_ message: String) {}
var engine: Engine { Engine() }
var workflow: Workflow { Workflow(steps: []) }
var store: FileRunStore { FileRunStore(directory: "") }
var run: Run { get throws { try engine.start(workflow, in: store) } }
"""

# A mistake, and a part of what the compiler says about it.
MISTAKES = [
    ("E11: a promise of an error of one's own",
     "enum Own: Error { case a }\n_ = Promise<Int, Own>()", "pass ifDropped:, or make the failure type DropRepresentable"),
    ("E11: futures that fail differently are joined",
     "enum Own: Error { case a }\nenum Other: Error { case b }\n"
     "_ = Future.zip(Future<Int, Own>(value: 1), Future<Int, Other>(value: 2))",
     "the futures must have the same failure type; use mapError"),
]


def check(code: dict[str, str], binaries: pathlib.Path) -> str:
    """What the compiler says about the bodies of functions, by name."""
    info = subprocess.check_output(["swiftc", "-print-target-info"], text=True)
    resources = re.search(r'"runtimeResourcePath"\s*:\s*"(.*?)"', info)[1]
    command = ["swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-module-name", "Snippets",
               "-I", str(binaries / "Modules"), "-plugin-path", f"{resources}/host/plugins/testing"]
    for header in root.glob("Sources/*/include"):
        command += ["-Xcc", "-I", "-Xcc", str(header)]
    for module_map in binaries.glob("*.build/module.modulemap"):
        command += ["-Xcc", f"-fmodule-map-file={module_map}"]
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, (name, body) in enumerate(code.items()):
            lines = body.splitlines()
            imports = [line for line in lines if line.startswith("import ")]
            # In its place, so that lines are counted as on the page.
            rest = "\n".join("" if line in imports else line for line in lines)
            files.append(pathlib.Path(folder, f"{number}.swift"))
            files[-1].write_text(
                "".join(f"{line}; " for line in imports + ["import Testing", "import Weft"])
                + f'func snippet{number}() async throws {{\n#sourceLocation(file: "{name}", line: 1)\n{rest}\n'
                "#sourceLocation()\n}\n", encoding="utf-8")
        known = pathlib.Path(folder, "Known.swift")
        known.write_text(KNOWN, encoding="utf-8")
        done = subprocess.run([*command, str(known), *map(str, files)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    return done.stdout


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def contains(whole: list[str], part: list[str]) -> bool:
    return any(whole[start:start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def main() -> int:
    binaries = pathlib.Path(sys.argv[1]).resolve()
    problems, code, quoted = [], {}, 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for match in block.finditer(text):
            language, file, content = match.groups()
            place = f"{page.relative_to(root)}:{text.count(chr(10), 0, match.start(3)) + 1}"
            if file:
                quoted += 1
                if not contains(lines((root / file).read_text(encoding="utf-8")), lines(content)):
                    problems.append(f"{place}: this is no part of {file}")
            elif language == "swift":
                code[place] = content
    said = [line for line in check(code, binaries).splitlines() if " error: " in line]
    problems += said
    for name, body, expected in MISTAKES:
        answer = check({name: body}, binaries)
        if expected not in answer or "error:" not in answer:
            problems.append(f"{name}: expected \"{expected}\", found\n{answer}")
    print("\n".join(problems + [
        f"{len(code)} snippets and {quoted} excerpts of {len(pages)} pages, {len(MISTAKES)} mistakes: "
        f"{len(problems)} problems"]))
    return 1 if problems or not code or not quoted else 0


sys.exit(main())
