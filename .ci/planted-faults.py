#!/usr/bin/env python3
"""Plants faults in a copy of the engine's decisions, and checks that the simulation finds each of them. Faults in
process termination are planted in a copy of the program, and Tests/EndToEnd/test_reaping.py must find them.

The copy is built once, with all faults in it; the variable WEFT_FAULT selects one. Each is at a place where the engine
itself decides or acts: text that must occur exactly once is replaced by code that is wrong with that fault and
unchanged otherwise. The sources of this package are not touched.

    python3 .ci/planted-faults.py [SEEDS]        how many seeds a fault has until it is found; 1000
    python3 .ci/planted-faults.py --sweeps       only those in process termination
    python3 .ci/planted-faults.py --places       only whether each fault still has its place
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
engine = "Sources/WeftExecution/"
events = "Sources/WeftEvents/"
platform = "Sources/WeftPlatform/"

# Name, original text, replacement. FAULT is true if the fault is selected. The text occurs once in the module.
faults = [
    ("a slot is not returned",
     "position = .serving\n    free += 1",
     "position = .serving\n    if !(FAULT && step % 5 == 1) { free += 1 }"),
    ("what was held of a pool is not returned",
     "    if record.line >= 0 { pools.giveBack(",
     "    if record.line >= 0, !FAULT { pools.giveBack("),
    ("a group's limit is not kept",
     "      if limits[index].free == 0 { return index }",
     "      if limits[index].free == 0, !FAULT { return index }"),
    ("who comes later is served first",
     "    let weight = UInt64(UInt32.max - UInt32(bitPattern: parameters.weight))",
     "    let weight = FAULT ? UInt64(parameters.weight) : UInt64(UInt32.max - UInt32(bitPattern: parameters.weight))"),
    ("a large request of a pool is passed",
     "      pools[share.pool].blockedIn = pass\n      if let time",
     "      if !FAULT { pools[share.pool].blockedIn = pass }\n      if let time"),
    ("half of what a step requests of a resource is counted",
     "      resources.amount(of: resource).map { PoolRequest(resource.pool, slots: $0) }",
     "      resources.amount(of: resource).map { PoolRequest(resource.pool, slots: FAULT ? ($0 + 1) / 2 : $0) }"),
    ("a request that never fits gets all that there is",
     "    if let excess = resources.excess(over: capacity) { throw .tooLarge(excess) }",
     "    if !FAULT, let excess = resources.excess(over: capacity) { throw .tooLarge(excess) }"),
    ("a pool's rate is three times what it should be",
     "filling + passed * Parts(count))",
     "filling + passed * Parts(count) * (FAULT ? 3 : 1))"),
    ("a skip has another's reason",
     "    return .dependencyFailed(causingStep)",
     "    return FAULT ? .heldBack(by: causingStep) : .dependencyFailed(causingStep)"),
    ("a failed dependency holds nobody back",
     "    self.blocksDependents = blocksDependents ?? (conclusion != .success)",
     "    self.blocksDependents = blocksDependents ?? (conclusion != .success && !(FAULT && conclusion == .failure))"),
    ("a failure does not hold back the rest",
     "    guard case .open = scopes[index].state else { return .nothing }\n    switch scopes",
     "    guard case .open = scopes[index].state, !FAULT else { return .nothing }\n    switch scopes"),
    ("a tolerated failure is not told",
     "        events.publish(recorded: event, step: task.place)",
     "        if !(FAULT && end.outcome != end.conclusion) "
     "{ events.publish(recorded: event, step: task.place) }"),
    ("a race goes on when it is won",
     "        return cancels ? state.scopes.cancel(task.scope, reason) : .nothing",
     "        return cancels && !(FAULT && group.order == .race) "
     "? state.scopes.cancel(task.scope, reason) : .nothing"),
    ("a group's time limit ends nothing",
     "    guard let address = scopes[scope].address else { return .nothing }",
     "    guard let address = scopes[scope].address, !FAULT else { return .nothing }"),
    ("a race that was won starts its other members when it goes on",
     "    if !toleratesAll { decideAsRecorded(task) }",
     "    if !toleratesAll, !FAULT { decideAsRecorded(task) }"),
    ("a step that was added to a group that is done changes nothing of that",
     "    let new = added.compactMap { known.step(at: $0) }",
     "    let new = FAULT ? [] : added.compactMap { known.step(at: $0) }"),
    ("finally of a file that could not start runs when the run goes on",
     "      plan.groups[$0].isTopLevel ? nil : plan.groups[$0].address\n",
     "      plan.groups[$0].isTopLevel && !FAULT ? nil : plan.groups[$0].address\n"),
    ("one attempt more than the retry policy allows",
     "    if used(by: index) >= policy.max {",
     "    if used(by: index) >= policy.max + (FAULT ? 1 : 0) {"),
    ("the keys of retries are not computed",
     "      ledger = RetryLedger(policies: resolved.retry,",
     "      ledger = RetryLedger(policies: FAULT ? task.step.retry : resolved.retry,"),
    ("a service with a computed number of restarts is not started again",
     "    restarts == 0 && $restarts.expression == nil\n",
     "    restarts == 0 && (FAULT || $restarts.expression == nil)\n"),
    ("the computed keys of an approval are ignored",
     "    let (timeout, tolerance) = (resolved.timeout, resolved.allowFailure)\n",
     "    let (timeout, tolerance) = FAULT ? (task.step.timeout, task.step.allowFailure) "
     ": (resolved.timeout, resolved.allowFailure)\n"),
    ("a group succeeds without outputs if they cannot be computed",
     "    if case .failure(let failure) = outputs {\n      (verdict, response)",
     "    if !FAULT, case .failure(let failure) = outputs {\n      (verdict, response)"),
    ("a step succeeds without outputs if they cannot be computed",
     "      end.status.fail(error)",
     "      if !FAULT { end.status.fail(error) }"),
    ("the next attempt does not wait",
     "    let pause = pause(next.instanceNumber, in: task.scope, for: delay, immunity: task.immunity)",
     "    let pause = pause(next.instanceNumber, in: task.scope, for: FAULT ? .zero : delay, "
     "immunity: task.immunity)"),
    ("a loop survives one failure more than it tolerates",
     "  var hasFailed: Bool { failures > tolerated }",
     "  var hasFailed: Bool { failures > tolerated + (FAULT ? 1 : 0) }"),
    ("more elements are under way than may be",
     "started < elements, active < maxParallel,",
     "started < elements, active < (FAULT ? .max : maxParallel),"),
    ("clean-up goes in the order of starting",
     "        order.insert(pending, at: 0)",
     "        order.insert(pending, at: FAULT ? order.count : 0)"),
    ("a service ends before the cleanup of a group that needs it",
     "      let last = order.lastIndex { needs($0, node) }",
     "      let last = FAULT ? nil : order.lastIndex { needs($0, node) }"),
    ("the failure of a service does not reach what needs it",
     "      return failed[address] != nil ? (step.node, address) : nil",
     "      return failed[address] != nil && !FAULT ? (step.node, address) : nil"),
    ("the failure of a service counts in the next attempt of its group",
     "        state.failedServices = state.failedServices.filter { $0.value != scope }",
     "        if !FAULT { state.failedServices = state.failedServices.filter { $0.value != scope } }"),
    ("what is done finally does not wait for clean-up",
     "    let cleaned = cleanUp(in: 0, after: members) ?? Future(value: ())\n    return cleaned",
     "    let cleaned = cleanUp(in: 0, after: members) ?? Future(value: ())\n"
     "    return (FAULT ? Future(value: ()) : cleaned)"),
    ("a cancelled run lets the next step start",
     "    if let reason = cancellation(of: scope) { return .cancelled(reason) }\n    return obstacle(",
     "    if !FAULT, let reason = cancellation(of: scope) { return .cancelled(reason) }\n    return obstacle("),
    ("a stale success",
     "!resumePolicy.isReusable(task)\n    {\n      events.record(",
     "!resumePolicy.isReusable(task), !FAULT\n    {\n      events.record("),
    ("a rerun in another file leaves the groups around it as they were",
     "in steps {\n      for group in plan.allEnclosingGroups(ofGroup: plan.steps[step].group) {",
     "in steps {\n      for group in FAULT ? plan.enclosingGroups(ofGroup: plan.steps[step].group) "
     ": plan.allEnclosingGroups(ofGroup: plan.steps[step].group) {"),
    ("what a part leaves out counts as it ended before",
     "        outdated.insert(address)",
     "        if !FAULT { outdated.insert(address) }"),
    ("a cleanup that failed is not tried again",
     "        ? end.isPendingCleanup || hasBegun(",
     "        ? !FAULT && end.isPendingCleanup || hasBegun("),
    ("a loop of groups succeeds if its condition cannot be computed",
     "ending = Future(value: failWhole(task, failure, failedBefore: failedBefore))",
     "if FAULT { return Future(value: skipAll(task, .condition(of: task.address), after: before)) }\n"
     "      ending = Future(value: failWhole(task, failure, failedBefore: failedBefore))"),
    ("the members of a group run after a resume although it failed at its start, and that was tolerated",
     "    guard let end = end(of: group), end.cause == nil, let failure = end.failure else { return nil }",
     "    guard !FAULT, let end = end(of: group), end.cause == nil, let failure = end.failure else { return nil }"),
    ("a group that fails at its start is not cleaned up",
     "  private func announceFailure(of task: GroupTask) {\n    scheduleOwnCleanup(of: task)",
     "  private func announceFailure(of task: GroupTask) {\n    if !FAULT { scheduleOwnCleanup(of: task) }"),
    ("a step in doubt is forgotten if its condition cannot be computed",
     "guard let doubt = resumePolicy?.doubtFailure(about: task) else {",
     "guard !FAULT, let doubt = resumePolicy?.doubtFailure(about: task) else {"),
    ("a step in doubt fails although it counts as done",
     "{ accepted.contains(task.address) }",
     "{ accepted.contains(task.address) && !FAULT }"),
    ("a step that must fail if it was interrupted runs again",
     "!step.kind.makesAttempts || step.step.isMadeAgain ||",
     "!step.kind.makesAttempts || step.step.isMadeAgain || FAULT && step.step.control.onInterrupted == .fail ||"),
    ("a loop tolerates steps in doubt",
     "isTolerable: fault?.isDoubt != true)",
     "isTolerable: FAULT || fault?.isDoubt != true)"),
]

folds = [
    ("a stale skip",
     "    if steps[group] != nil {",
     "    if !FAULT, steps[group] != nil {"),
    ("a rerun is forgotten by the next engine",
     "    for step in steps { rerunSince[step] = number }",
     "    for step in steps where !FAULT { rerunSince[step] = number }"),
]

# Faults that few seeds reach, and the number of seeds for them.
rare = {"a loop tolerates steps in doubt": "3000"}

sweeps = [
    ("a sweep ends one process too many, which another engine has started",
     "      member.cookie == engine.cookie && member.engine == engine.process\n",
     "      member.cookie == engine.cookie && (FAULT || member.engine == engine.process)\n"),
]


def places(folder: pathlib.Path, right: str) -> list[pathlib.Path]:
    """The files that contain a text, each as often as it does."""
    return [path for path in sorted(folder.rglob("*.swift")) for _ in range(path.read_text().count(right))]


def misplaced() -> list[str]:
    """The faults whose text does not occur exactly once."""
    counts = [(name, right, len(places(root / module, right)))
              for module, planted in ((engine, faults), (events, folds), (platform, sweeps))
              for name, right, _ in planted]
    return [f"{name}: found in {count} places: {right.strip()}" for name, right, count in counts if count != 1]


def plant(copy: pathlib.Path, module: str, planted: list) -> None:
    for name, right, wrong in planted:
        [path] = places(copy / module, right)
        path.write_text(path.read_text().replace(right, wrong.replace("FAULT", f'(plantedFault == "{name}")')))
    (copy / module / "PlantedFault.swift").write_text(
        "#if canImport(Glibc)\n  import Glibc\n#else\n  import Darwin\n#endif\n\n"
        'let plantedFault = getenv("WEFT_FAULT").map { String(cString: $0) } ?? ""\n')


def copy_of_the_package(folder: pathlib.Path) -> pathlib.Path:
    """The package with the simulation as its only tests."""
    copy = folder / "weft"
    shutil.copytree(root / "Sources", copy / "Sources", ignore=shutil.ignore_patterns("*.docc"))
    shutil.copytree(root / "Tests/Simulation", copy / "Tests/Simulation")
    package = (root / "Package.swift").read_text()
    modules, rest = package.split("/// Files that tests read", 1)
    simulation = rest[rest.index('  .testTarget(\n    name: "SimulationTests"'):]
    simulation = simulation[:simulation.index("swiftSettings: settings),") + 25]
    (copy / "Package.swift").write_text(
        modules + 'let package = Package(\n  name: "weft", platforms: [.macOS(.v15)],\n'
        '  targets: [.target(name: "CWeftPlatform"), .target(name: "CWeftCurl"),\n'
        '    .target(name: "CWeftReports", exclude: ["page"])] + libraries + [\n'
        + simulation + "\n])\n")
    return copy


def simulate(copy: pathlib.Path, fault: str, seeds: str) -> tuple[int, list[str]]:
    tests = (
        "everyRunKeepsItsPromises|everySequenceGetsThere|decisionsStay|editedRuns|filesEnd"
        "|interruptedStepsEnd")
    command = ["swift", "test", "--skip-build", "--filter", tests]
    done = subprocess.run(
        command, cwd=copy, capture_output=True, text=True, timeout=900,
        env={**os.environ, "WEFT_FAULT": fault, "WEFT_SEEDS": seeds})
    output = done.stdout + done.stderr
    lines = [line.removeprefix("↳ ") for line in output.splitlines() if line.startswith("↳ seed")]
    if done.returncode != 0 and not lines:
        # The engine itself may have found an impossible state.
        lines = [line for line in output.splitlines() if "Fatal error" in line or "Precondition failed" in line][:1]
    return done.returncode, lines


def find_sweeps(copy: pathlib.Path) -> int:
    """The number of faults in process termination that are missed, or are misplaced."""
    copy.mkdir(exist_ok=True)
    for name in ("Sources", "Tests", "schemas"):
        shutil.copytree(root / name, copy / name)
    shutil.copy(root / "Package.swift", copy)
    plant(copy, platform, sweeps)
    build = ["swift", "build", "--product", "weft"]
    built = subprocess.run(build, cwd=copy, capture_output=True, text=True)
    if built.returncode != 0:
        print("the copy of the program does not build", built.stdout[-3000:], built.stderr[-1000:], sep="\n")
        return 1
    folder = subprocess.run([*build, "--show-bin-path"], cwd=copy, capture_output=True, text=True, check=True)
    command = [sys.executable, "Tests/EndToEnd/test_reaping.py", folder.stdout.strip() + "/weft"]
    missed = 0
    for name in ("", *(name for name, *_ in sweeps)):
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=900,
                              env={**os.environ, "WEFT_FAULT": name})
        found = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
        if not name and done.returncode != 0:
            print("without a fault:", done.stdout[-1000:], done.stderr[-1000:], sep="\n")
            return 1
        if name:
            missed += not found
            print(f"{name}: {'by ' + found[0][6:150] if found else 'NOT FOUND'}", flush=True)
    print(f"{len(sweeps) - missed} of {len(sweeps)} planted faults in what ends processes found")
    return missed


def main() -> int:
    if lost := misplaced():
        print(*lost, sep="\n")
        return 1
    if "--places" in sys.argv[1:]:
        print(f"{len(faults) + len(folds) + len(sweeps)} faults can be planted")
        return 0
    if "--sweeps" in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            return 1 if find_sweeps(pathlib.Path(folder)) else 0
    seeds = sys.argv[1] if len(sys.argv) > 1 else "1000"
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of_the_package(pathlib.Path(folder))
        plant(copy, engine, faults)
        plant(copy, events, folds)
        built = subprocess.run(
            ["swift", "build", "--build-tests", "-q"], cwd=copy, capture_output=True, text=True)
        if built.returncode != 0:
            print("the copy does not build", built.stdout[-3000:], built.stderr[-1000:], sep="\n")
            return 1
        code, found = simulate(copy, "", seeds)
        if code != 0:
            print("without a fault:", *found[:3], sep="\n  ")
            return 1
        missed = 0
        for name, *_ in faults + folds:
            _, found = simulate(copy, name, max(seeds, rare.get(name, seeds), key=int))
            missed += not found
            print(f"{name}: {f'in {len(found)} runs: ' + found[0][:150] if found else 'NOT FOUND'}", flush=True)
        print(f"{len(faults + folds) - missed} of {len(faults + folds)} planted faults found in {seeds} seeds or more")
        missed += find_sweeps(pathlib.Path(folder) / "program")
        return 1 if missed else 0


sys.exit(main())
