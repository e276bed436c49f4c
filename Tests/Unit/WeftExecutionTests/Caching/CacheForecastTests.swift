import TestSupport
import Testing
import WeftCaching
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Forecasts before a run agree with the run.
struct CacheForecastTests {
  private func forecaster(_ plan: Plan, in runs: CachedRuns) throws -> CacheForecaster {
    try CacheForecaster(
      plan, .none, StepCache.existing(runs.path + "/.weft/cache"),
      stateDirectory: runs.path + "/.weft", startDirectory: runs.path)
  }

  private func remarks(_ json: String, in runs: CachedRuns) throws -> [String: String] {
    let plan = try CachedRuns.plan(json).bound(to: .none, run: nil).plan
    let forecasts = try forecaster(plan, in: runs).forecasts
    return Dictionary(
      uniqueKeysWithValues: plan.steps.compactMap { step in
        forecasts[step.node].map { (step.address.text, $0.remark) }
      })
  }

  // MARK: Random workflows and edits

  /// Steps that read some input files and those of earlier steps, and make one file each.
  private struct RandomSteps {
    let count = 5
    var keys: [Int]
    let reads: [[String]]
    let isCached: [Bool]

    init(using random: inout SeededGenerator) {
      keys = Array(repeating: 0, count: count)
      isCached = (0..<count).map { _ in Int.random(in: 0..<5, using: &random) > 0 }
      reads = (0..<count).map { index in
        let names = ["in0", "in1", "in2"] + (0..<index).map { "out\($0)" }
        return names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      }
    }

    func isRead(_ index: Int) -> Bool { reads.joined().contains("out\(index)") }

    var json: String {
      let steps = (0..<count).map { index in
        let inputs = reads[index].map { "\"\($0)\"" }.joined(separator: ", ")
        let cache =
          isCached[index]
          ? ", \"cache\": { \"inputs\": [\(inputs)], \"outputs\": [\"out\(index)\"], \"key\": \"\(keys[index])\" }"
          : ""
        let files = reads[index].map { "\($0)" }.joined(separator: " ")
        return
          "{ \"id\": \"s\(index)\", \"run\": \"cat /dev/null \(files) | sort -u > new; rm -rf out\(index); mv new out\(index)\"\(cache) }"
      }
      return "{ \"steps\": [\(steps.joined(separator: ", "))] }"
    }
  }

  @Test func forecastMatchesTheRun() async throws {
    var (cached, ran) = (0, 0)
    let seeds: UInt64 = isLong ? 25 : 5
    for seed in 0..<seeds {
      let claims = try await claimsThatHold(seed: seed)
      cached += claims.cached
      ran += claims.ran
    }
    // Otherwise the test would pass because nothing is predicted.
    #expect(cached > 4 * seeds && ran > 4 * seeds, "\(cached) cached, \(ran) run")
  }

  /// The numbers of steps predicted unconditionally to be cached, and to run.
  private func claimsThatHold(seed: UInt64) async throws -> (cached: Int, ran: Int) {
    var claims = (cached: 0, ran: 0)
    var random = SeededGenerator(seed: seed)
    let runs = try CachedRuns()
    var steps = RandomSteps(using: &random)
    for name in ["in0", "in1", "in2"] { try runs.write(name, "0\n") }
    for round in 0..<6 {
      let plan = try CachedRuns.plan(steps.json)
      let forecasts = try forecaster(plan, in: runs).forecasts
      let run = try await runs.run(steps.json)
      #expect(run.report.succeeded, "\(steps.json)")
      let explained = run.events.compactMap { event -> String? in
        guard case .stepFinished(let step, let end) = event.kind else { return nil }
        return end.ranBecause.map { _ in step.text }
      }
      for step in plan.steps {
        guard let forecast = forecasts[step.node], forecast.unless == nil else { continue }
        let isCached = run.cached.contains(step.address.text)
        let note: Comment =
          "seed \(seed), round \(round), \(step.address): \(forecast.remark), \(steps.json)"
        switch forecast.verdict {
        case .cached:
          claims.cached += 1
          #expect(isCached, note)
        case .runs:
          claims.ran += 1
          #expect(!isCached && explained.contains(step.address.text), note)
        case .open: Issue.record(note)
        }
      }
      try edit(&steps, runs, using: &random)
    }
    return claims
  }

  private func edit(
    _ steps: inout RandomSteps, _ runs: CachedRuns, using random: inout SeededGenerator
  ) throws {
    for _ in 0..<Int.random(in: 0..<3, using: &random) {
      let index = Int.random(in: 0..<steps.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        // One of few values, so that earlier states come back.
        try runs.write("in\(index % 3)", "\(Int.random(in: 0..<3, using: &random))\n")
      case 2: runs.remove("out\(index)")
      case 3: try runs.write("out\(index)", "edited\n")
      // Something else in its place.
      case 4 where steps.isCached[index] && !steps.isRead(index):
        runs.remove("out\(index)")
        try? FileSystem.makeDirectory("\(runs.path)/out\(index)")
      default: steps.keys[index] = Int.random(in: 0..<2, using: &random)
      }
    }
  }

  // MARK: Wording

  private static let chain = #"""
    { "steps": [
      { "id": "one", "run": "cat in > mid", "cache": { "inputs": ["in"], "outputs": ["mid"] } },
      { "id": "two", "run": "cat mid > end", "cache": { "inputs": ["mid"], "outputs": ["end"] } } ] }
    """#

  @Test func restoredFilesAffectLaterForecasts() async throws {
    let runs = try CachedRuns()
    try runs.write("in", "1")
    #expect(
      try remarks(Self.chain, in: runs) == [
        "one": "runs: not cached yet", "two": "runs: not cached yet",
      ])
    _ = try await runs.run(Self.chain)
    runs.remove("mid")
    #expect(try remarks(Self.chain, in: runs) == ["one": "cached", "two": "cached"])
    #expect(runs.read("mid") == nil, "nothing is put back before the run")
    try runs.write("in", "2")
    #expect(
      try remarks(Self.chain, in: runs) == [
        "one": "runs: inputs changed",
        "two": "runs: inputs changed, unless \"one\" changes its inputs",
      ])
  }

  @Test func aStepThatMayChangeAnythingIsNamed() async throws {
    let runs = try CachedRuns()
    let json = #"""
      { "steps": [ { "id": "any", "run": "true" },
        { "id": "make", "run": "true", "cache": { "inputs": ["in"] } } ] }
      """#
    _ = try await runs.run(json)
    #expect(try remarks(json, in: runs) == ["make": "cached, unless \"any\" changes its inputs"])
  }

  /// Inputs of the key that are not known yet.
  static let open: [(String, String)] = [
    (
      #""run": "true", "cache": { "inputs": [], "version": "touch asked" }"#,
      "the version of its tools"
    ),
    (
      #""run": "true", "stdin": { "log": "first" }, "cache": { "inputs": [] }"#,
      "the log that it reads"
    ),
    (
      #""run": "echo ${{ steps.first.stdout }}", "cache": { "inputs": [] }"#,
      "run reads the result of a step"
    ),
    (
      #""run": "true", "forEach": { "in": [1] }, "cache": { "inputs": [] }"#, "it has a loop"
    ),
  ]

  @Test(arguments: open.indices)
  func forecastNamesRunTimeDecisions(_ index: Int) async throws {
    let runs = try CachedRuns()
    let json = """
      { "steps": [ { "id": "first", "run": "echo 1" }, { "id": "make", \(Self.open[index].0) } ] }
      """
    _ = try await runs.run(json)
    runs.remove("asked")
    let remark = try remarks(json, in: runs)["make"]
    #expect(remark == "cached or not, known at run time: \(Self.open[index].1)")
    #expect(runs.read("asked") == nil, "nothing is started")
  }

  @Test func explanationShowsTheNearestEntryAndBothValues() async throws {
    let runs = try CachedRuns()
    try runs.write("in", "1")
    func json(_ mode: String, _ script: String) -> String {
      """
      { "env": { "MODE": "\(mode)" }, "steps": [
        { "id": "make", "run": "\(script)", "cache": { "inputs": ["in"], "key": "k" } } ] }
      """
    }
    _ = try await runs.run(json("a", "true"))
    _ = try await runs.run(json("b", ":"))
    let plan = try CachedRuns.plan(json("b", "true"))
    let explanation = try #require(
      try forecaster(plan, in: runs).explanations[plan.steps[0].node])
    #expect(explanation.differences.count == 1)
    let difference = try #require(explanation.differences.first)
    // Both differ in one part, and the newer one is reported.
    #expect(difference.part == .command && difference.name == "run")
    #expect(difference.before == .text(":") && difference.after == .text("true"))
  }
}
