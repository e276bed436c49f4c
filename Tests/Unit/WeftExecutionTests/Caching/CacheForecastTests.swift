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

  /// Steps that read some input files and those of earlier steps, and make one file each. Some are loops, whose elements
  /// also read an input file and make a file each.
  private struct RandomSteps {
    let count = 5
    var keys: [Int]
    let reads: [[String]]
    let isCached: [Bool]
    /// The elements of loops; empty for other steps.
    var elements: [[String]]

    init(using random: inout SeededGenerator) {
      keys = Array(repeating: 0, count: count)
      isCached = (0..<count).map { _ in Int.random(in: 0..<5, using: &random) > 0 }
      elements = (0..<count).map { _ in
        Int.random(in: 0..<3, using: &random) == 0 ? RandomSteps.list(using: &random) : []
      }
      let loops = elements.map { !$0.isEmpty }
      reads = (0..<count).map { index in
        let outputs = (0..<index).flatMap { loops[$0] ? ["out\($0)a", "out\($0)b"] : ["out\($0)"] }
        return (["in0", "in1", "in2"] + outputs)
          .filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      }
    }

    static func list(using random: inout SeededGenerator) -> [String] {
      let lists = [["a"], ["b"], ["a", "b"], ["b", "a"], ["c", "a", "b"]]
      return lists[Int.random(in: 0..<lists.count, using: &random)]
    }

    func isRead(_ index: Int) -> Bool { reads.joined().contains { $0.hasPrefix("out\(index)") } }

    var json: String {
      let steps = (0..<count).map { index in
        let isLoop = !elements[index].isEmpty
        let element = isLoop ? "${{ item }}" : ""
        let read = reads[index] + (isLoop ? ["in${{ index }}"] : [])
        let inputs = read.map { "\"\($0)\"" }.joined(separator: ", ")
        let output = "out\(index)\(element)"
        let cache =
          isCached[index]
          ? ", \"cache\": { \"inputs\": [\(inputs)], \"outputs\": [\"\(output)\"], \"key\": \"\(keys[index])\" }"
          : ""
        let list = elements[index].map { "\"\($0)\"" }.joined(separator: ", ")
        let loop = isLoop ? ", \"forEach\": { \"in\": [\(list)], \"key\": \"${{ item }}\" }" : ""
        let new = "new\(index)\(element)"
        return
          "{ \"id\": \"s\(index)\"\(loop), \"run\": \"cat /dev/null $(ls \(read.joined(separator: " ")) 2>/dev/null) | sort -u > \(new); rm -rf \(output); mv \(new) \(output)\"\(cache) }"
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
      let foreseen = plan.steps.flatMap { step -> [CacheForecast.Element] in
        guard let forecast = forecasts[step.node] else { return [] }
        return forecast.elements.isEmpty ? [.init(step.address, forecast)] : forecast.elements
      }
      for element in foreseen {
        let (address, forecast) = (element.address.text, element.forecast)
        guard forecast.unless == nil else { continue }
        let isCached = run.cached.contains(address)
        let note: Comment =
          "seed \(seed), round \(round), \(address): \(forecast.remark), \(steps.json)"
        switch forecast.verdict {
        case .cached:
          claims.cached += 1
          #expect(isCached, note)
        case .runs:
          claims.ran += 1
          #expect(!isCached && explained.contains(address), note)
        case .open, .differs: Issue.record(note)
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
      switch Int.random(in: 0..<7, using: &random) {
      case 6 where !steps.elements[index].isEmpty:
        steps.elements[index] = RandomSteps.list(using: &random)
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

  /// The step that makes what another one reads is named, not one before it or after it that may have changed it, too.
  @Test func aStepWithoutFilesOrWithFilesOfALaterStepDoesNotDependOnEarlierChanges() async throws {
    let runs = try CachedRuns()
    let json = #"""
      { "steps": [ { "id": "any", "run": "true" },
        { "id": "none", "run": "true", "cache": { "inputs": [] } },
        { "id": "make", "run": "mkdir -p d; date > d/out",
          "cache": { "inputs": [], "outputs": ["d"], "version": "touch asked" } },
        { "id": "use", "run": "cat d/out", "cache": { "inputs": ["d/out"] } },
        { "id": "both", "run": "true", "cache": { "inputs": ["d/out", "other"] } },
        { "id": "later", "run": "true" },
        { "id": "again", "run": "cat d/out", "cache": { "inputs": ["d/out"] } } ] }
      """#
    _ = try await runs.run(json)
    let found = try remarks(json, in: runs)
    #expect(found["none"] == "cached")
    #expect(found["use"] == "cached, unless \"make\" changes its inputs")
    #expect(found["both"] == "cached, unless \"make\" changes its inputs")
    #expect(found["again"] == "cached, unless \"make\" changes its inputs")
  }

  /// A step that runs beside the one that makes a file may change it afterwards.
  @Test func aStepBesideTheMakerMayChangeItsFile() async throws {
    let runs = try CachedRuns()
    let json = #"""
      { "steps": [
        { "parallel": [ { "id": "beside", "run": "true" },
          { "steps": [ { "id": "before", "run": "true" },
            { "id": "make", "run": "date > out", "cache": { "inputs": [], "outputs": ["out"] } } ] } ] },
        { "id": "use", "run": "cat out", "cache": { "inputs": ["out"] } } ] }
      """#
    _ = try await runs.run(json)
    #expect(
      try remarks(json, in: runs) == [
        "make": "cached", "use": "cached, unless \"beside\" changes its inputs",
      ])
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
      #""run": "true", "forEach": { "in": "${{ fromJSON(steps.first.stdout) }}" }, "cache": { "inputs": [] }"#,
      "the elements of its loop"
    ),
    (
      #""run": "true", "forEach": { "in": [1], "key": "${{ format('{0}', steps.first.stdout) }}" }, "cache": { "inputs": [] }"#,
      "the keys of its elements"
    ),
  ]

  @Test(arguments: open.indices)
  func forecastNamesRunTimeDecisions(_ index: Int) async throws {
    let runs = try CachedRuns()
    let json = """
      { "steps": [ { "id": "first", "run": "echo [1]" }, { "id": "make", \(Self.open[index].0) } ] }
      """
    _ = try await runs.run(json)
    runs.remove("asked")
    let remark = try remarks(json, in: runs)["make"]
    #expect(remark == "cached or not, known at run time: \(Self.open[index].1)")
    #expect(runs.read("asked") == nil, "nothing is started")
  }

  @Test func elementsHaveForecastsOfTheirOwn() async throws {
    let runs = try CachedRuns()
    for name in ["a", "b", "c"] { try runs.write("\(name).in", "1") }
    func json(_ list: String, _ more: String = "") -> String {
      """
      { "steps": [ { "id": "make", "forEach": { "in": \(list), "as": "name", "key": "${{ name }}" }\(more),
        "run": "cat ${{ name }}.in > ${{ item }}.out",
        "cache": { "inputs": ["${{ name }}.in"], "outputs": ["${{ name }}.out"] } },
        { "id": "all", "run": "cat *.out", "cache": { "inputs": ["*.out"] } } ] }
      """
    }
    let three = json(#"["a", "b", "c"]"#)
    #expect(try remarks(three, in: runs)["make"] == "runs: not cached yet")
    _ = try await runs.run(three)
    #expect(try remarks(three, in: runs) == ["make": "cached", "all": "cached"])
    try runs.write("b.in", "2")
    #expect(
      try remarks(three, in: runs) == [
        "make": "2 of 3 cached; make[b] runs: inputs changed",
        "all": "cached, unless \"make[b]\" changes its inputs",
      ])
    try runs.write("c.in", "2")
    #expect(try remarks(three, in: runs)["make"] == "1 of 3 cached; make[b], make[c] run")
    // An element that its condition leaves out, and a list without elements.
    #expect(
      try remarks(json(#"["a", "b", "c"]"#, #", "if": "${{ name == 'a' }}""#), in: runs) == [
        "make": "cached", "all": "cached",
      ])
    #expect(try remarks(json("[]"), in: runs) == ["all": "cached"])
  }

  /// Many changes before a step: those of the files that its pattern matches count, at a path, below and above it.
  @Test func changesCountByTheirPaths() async throws {
    let runs = try CachedRuns()
    for name in ["a", "b", "c"] { try runs.write("\(name).in", "1") }
    let json = #"""
      { "steps": [
        { "id": "make", "forEach": { "in": ["a", "b", "c"], "key": "${{ item }}" },
          "run": "mkdir -p made/${{ item }}; cp ${{ item }}.in made/${{ item }}/x",
          "cache": { "inputs": ["${{ item }}.in"], "outputs": ["made/${{ item }}"] } },
        { "parallel": [
          { "id": "one", "run": "true", "cache": { "inputs": ["made/a/x"] } },
          { "id": "below", "run": "true", "cache": { "inputs": ["made/b"] } },
          { "id": "matching", "run": "true", "cache": { "inputs": ["made/*/x", "!made/b"] } },
          { "id": "no", "run": "true", "cache": { "inputs": ["made/d", "mad", "!made/a"] } } ] } ] }
      """#
    _ = try await runs.run(json)
    let all = ["make", "one", "below", "matching", "no"]
    var expected = Dictionary(uniqueKeysWithValues: all.map { ($0, "cached") })
    #expect(try remarks(json, in: runs) == expected)
    Directory.removeTree("\(runs.path)/made")
    #expect(try remarks(json, in: runs)["one"] == "cached")
    try runs.write("b.in", "2")
    expected = try remarks(json, in: runs)
    #expect(expected["one"] == "cached" && expected["matching"] == "cached")
    #expect(expected["below"]?.hasSuffix("unless \"make[b]\" changes its inputs") == true)
    try runs.write("c.in", "2")
    expected = try remarks(json, in: runs)
    #expect(expected["one"] == "cached" && expected["no"] == "cached")
    #expect(expected["below"]?.hasSuffix("unless \"make[b]\" changes its inputs") == true)
    #expect(expected["matching"]?.hasSuffix("unless \"make[c]\" changes its inputs") == true)
  }

  @Test func restoredLinkMayLeadAnywhere() async throws {
    let runs = try CachedRuns()
    try runs.write("in", "1")
    let json = #"""
      { "steps": [
        { "id": "make", "run": "echo hi > real; mkdir d; ln -s ../real d/l",
          "cache": { "inputs": ["in"], "outputs": ["d", "real"] } },
        { "id": "use", "run": "cat d/l", "cache": { "inputs": ["d/l"] } } ] }
      """#
    _ = try await runs.run(json)
    for name in ["d", "real"] { Directory.removeTree("\(runs.path)/\(name)") }
    let remark = try remarks(json, in: runs)["use"]
    #expect(remark?.hasSuffix("unless \"make\" changes its inputs") == true, "\(remark ?? "")")
    #expect(try await runs.run(json).cached.contains("use"))
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
      try forecaster(plan, in: runs).explanations[plan.steps[0].address])
    #expect(explanation.differences.count == 1)
    let difference = try #require(explanation.differences.first)
    // Both differ in one part, and the newer one is reported.
    #expect(difference.part == .command && difference.name == "run")
    #expect(difference.before == .text(":") && difference.after == .text("true"))
  }
}
