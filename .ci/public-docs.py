#!/usr/bin/env python3
"""Counts public symbols without a doc comment in the modules of the library products; there must be none.

    public-docs.py BIN_PATH [MODULE...]

BIN_PATH is that of `swift build --show-bin-path`, after a build. Modules that `Weft` re-exports are counted only if named.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

products = ["Weft", "WeftFutures", "WeftTelemetry", "WeftTestKit"]


def undocumented(module: str, binaries: pathlib.Path) -> list[str]:
    target = json.loads(subprocess.check_output(["swift", "-print-target-info"]))["target"]
    command = ["swift", "symbolgraph-extract", "-module-name", module, "-target",
               target["unversionedTriple"], "-I", str(binaries / "Modules"),
               "-minimum-access-level", "public", "-skip-synthesized-members"]
    for header in pathlib.Path("Sources").glob("*/include"):
        command += ["-Xcc", "-I", "-Xcc", str(header)]
    for module_map in binaries.glob("*.build/module.modulemap"):
        command += ["-Xcc", f"-fmodule-map-file={module_map}"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "-output-dir", folder], check=True)
        graphs = [json.loads(graph.read_text()) for graph in pathlib.Path(folder).glob("*.json")]
    if not any(graph["symbols"] for graph in graphs):
        sys.exit(f"{module} has no public symbols: is {binaries} that of a build?")
    return sorted(
        f"{symbol['location']['uri'].removeprefix('file://')}:"
        f"{symbol['location']['position']['line'] + 1}: {'.'.join(symbol['pathComponents'])}"
        for graph in graphs for symbol in graph["symbols"]
        # What the compiler writes has no location.
        if "docComment" not in symbol and "location" in symbol)


def main() -> int:
    binaries = pathlib.Path(sys.argv[1])
    found = [line for module in sys.argv[2:] or products for line in undocumented(module, binaries)]
    print("\n".join(found + [f"{len(found)} public symbols without a comment"]))
    return 1 if found else 0


sys.exit(main())
