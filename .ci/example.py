#!/usr/bin/env python3
"""Runs the example of a program with Weft inside, compares its output with the tutorial, and checks what is linked.

    example.py BIN_PATH

BIN_PATH is that of `swift build --show-bin-path`, after a build. Also prints the sizes and the time of a start.
"""
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
tutorial = root / "Sources/Weft/Documentation.docc/Tutorial.md"
# What a program that imports Weft alone does not get: modules by their mangled names, and libraries.
UNUSED_MODULES = {name: f"$s{len(name)}{name}" for name in ("WeftCLI", "WeftTelemetry", "WeftTestKit", "WeftBenchmarks")}
UNUSED_LIBRARIES = ("curl", "Foundation", "ssl", "nghttp2", "icu")


def output(*command: str, **options) -> str:
    return subprocess.check_output(command, text=True, stderr=subprocess.STDOUT, timeout=120, **options)


def linked(program: pathlib.Path) -> list[str]:
    """The libraries and symbols that are linked and must not be."""
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", str(program)))
    symbols = subprocess.check_output(["nm", str(program)], text=True).splitlines()
    if not libraries or not any("$s4Weft" in symbol for symbol in symbols):
        sys.exit(f"{program} has no symbols of Weft: is it that of a build?")
    found = [f"library {library}" for library in libraries
             if any(name in library for name in UNUSED_LIBRARIES)]
    for module, mangled in UNUSED_MODULES.items():
        count = sum(mangled in symbol for symbol in symbols)
        found += [f"{count} symbols of {module}"] if count else []
    # libcurl is opened at run time, by the first request.
    found += [symbol.split()[-1] for symbol in symbols if re.search(r" U curl_", symbol)]
    return found


def said(page: str) -> str:
    """The output of the program, as the tutorial has it."""
    match = re.search(r"^```console\n\$ swift run deploy .*\n((?:.*\n)*?)```$", page, re.M)
    return match[1] if match else sys.exit(f"{tutorial.name} does not show the output of the program")


def main() -> int:
    program = pathlib.Path(sys.argv[1], "deploy")
    problems = [f"{program.name} has {found}" for found in linked(program)]
    with tempfile.TemporaryDirectory() as folder:
        printed = output(str(program), str(root / "Tests/Example/deploy.json"), folder, "1.2")
        if pathlib.Path(folder, "image.txt").exists():
            problems.append("the run has not cleaned up its file")
        times = []
        for _ in range(20):
            began = time.perf_counter()
            output(str(program))
            times.append((time.perf_counter() - began) * 1000)
        stripped = pathlib.Path(folder, "stripped")
        subprocess.run(["strip", "-o", str(stripped), str(program)], check=True)
        sizes = [file.stat().st_size / 1e6 for file in (program, stripped)]
    expected = said(tutorial.read_text(encoding="utf-8"))
    if printed != expected:
        problems.append(f"the program does not print what the tutorial says\n--- said\n{expected}--- printed\n{printed}")
    print(f"deploy: {sizes[0]:.1f} MB, stripped {sizes[1]:.1f} MB; from start to end {statistics.median(times):.1f} ms")
    print("\n".join(problems + [f"{len(problems)} problems"]))
    return 1 if problems else 0


sys.exit(main())
