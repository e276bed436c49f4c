import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftDefinition

/// Steps with control options are the same values whether built in Swift or read from JSON.
@Suite struct ControlAndJSONTests {
  static let steps: [(json: String, step: Step)] = [
    (#"{ "run": "a", "if": "!inputs.draft" }"#, Step(run: "a").if("!inputs.draft")),
    (#"{ "run": "a", "if": true }"#, Step(run: "a").if("true")),
    (#"{ "run": "a", "if": false }"#, Step(run: "a").if("false")),
    (#"{ "run": "a", "retry": 3 }"#, Step(run: "a").retry(3)),
    (#"{ "run": "a", "retry": 0 }"#, Step(run: "a").retry(0)),
    (#"{ "steps": ["a"], "retry": 0 }"#, Step(steps: [Step(run: "a")])),
    (#"{ "steps": ["a"], "retry": { "max": 2 } }"#, Step(steps: [Step(run: "a")]).retry(2)),
    (
      """
      { "run": "a", "retry": { "max": 5, "delay": "2s", "factor": 1.5, "maxDelay": "5m",
        "jitter": "none", "within": "1h", "on": ["exit:3", "rejected"], "when": "self.exitCode != 2" } }
      """,
      Step(run: "a").retry(
        RetryPolicy(
          max: 5, delay: .seconds(2), factor: 1.5, maxDelay: .seconds(300), jitter: .none,
          within: .seconds(3600), classes: [.exit(3), .rejected], condition: "self.exitCode != 2"))
    ),
    (
      #"{ "run": "a", "retry": [{ "max": 2, "on": ["timeout"] }, { "max": 1, "delay": "0s" }] }"#,
      Step(run: "a").retry(
        RetryPolicy(max: 2, classes: [.timeout]), RetryPolicy(max: 1, delay: .zero))
    ),
    (
      #"{ "run": "a", "retry": { "max": 1, "delay": "10m" } }"#,
      Step(run: "a").retry(RetryPolicy(max: 1, delay: .seconds(600), maxDelay: .seconds(600)))
    ),
    (
      #"{ "run": "a", "matrix": { "os": ["x", "y"], "maxParallel": 1, "tolerate": "10%" } }"#,
      Step(run: "a").matrix(
        Matrix(
          axes: [Matrix.Axis("os", .values(["x", "y"]))], maxParallel: 1, tolerating: .percent(10)))
    ),
    (
      #"{ "run": "a", "forEach": { "in": ["x", "y"], "as": "os", "maxParallel": 2, "tolerate": 1 } }"#,
      Step(run: "a").forEach(["x", "y"], as: "os", maxParallel: 2, tolerating: .count(1))
    ),
    (
      #"{ "run": "a", "forEach": { "in": "${{ steps.l.json }}", "key": "item.n", "tolerate": "10%" } }"#,
      Step(run: "a").forEach("${{ steps.l.json }}", key: "item.n", tolerating: .percent(10))
    ),
    (
      #"{ "run": "a", "forEach": { "in": { "b": 1, "a": [true, null] } } }"#,
      Step(run: "a").forEach(
        ForEach(
          in: .values(
            .object(["b": .number(1), "a": .array([.bool(true), .null])]))))
    ),
    (
      #"{ "run": "a", "matrix": { "os": ["x", "y"], "v": ["1"] } }"#,
      Step(run: "a").matrix(["os": ["x", "y"], "v": ["1"]])
    ),
    (
      """
      { "run": "a", "matrix": { "os": "${{ steps.l.json }}", "include": [{ "os": "z" }],
        "exclude": "${{ steps.l.outputs.no }}" } }
      """,
      Step(run: "a").matrix(
        Matrix(
          axes: [Matrix.Axis("os", .computed("${{ steps.l.json }}"))],
          include: .values(.array([.object(["os": .string("z")])])),
          exclude: .computed("${{ steps.l.outputs.no }}")))
    ),
    (#"{ "run": "a", "pool": "db" }"#, Step(run: "a").pool("db")),
    (
      #"{ "run": "a", "pool": { "db": 1, "cpu": 2 } }"#,
      Step(run: "a").pool("db").pool("cpu", slots: 2)
    ),
    (#"{ "run": "a", "cleanup": "b" }"#, Step(run: "a").cleanup(Step(run: "b"))),
    (
      #"{ "run": "a", "cleanup": ["b", { "id": "c", "run": ["c"] }] }"#,
      Step(run: "a").cleanup(Step(run: "b"), Step("c", run: ["c"]))
    ),
    (#"{ "id": "w", "wait": "30s" }"#, Step("w", wait: .seconds(30))),
    (#"{ "wait": "0s", "needs": [] }"#, Step(wait: .zero, needs: [])),
    (#"{ "wait": "${{ inputs.t }}" }"#, Step(wait: .computedDuration("${{ inputs.t }}"))),
    (
      #"{ "wait": { "until": "1970-01-01T00:00:01Z" } }"#,
      Step(wait: .until(WallMoment(nanoseconds: 1_000_000_000, text: "1970-01-01T00:00:01Z")))
    ),
    (
      #"{ "wait": { "until": "${{ inputs.t }}" } }"#,
      Step(wait: .computedMoment("${{ inputs.t }}"))
    ),
    (#"{ "approve": "Go?", "timeout": "1m" }"#, Step(approve: "Go?", timeout: .seconds(60))),
    (
      #"{ "id": "ok", "approve": { "message": "Go?" }, "allowFailure": ["rejected"] }"#,
      Step("ok", approve: "Go?", allowFailure: .classes([.rejected]))
    ),
    (
      #"{ "race": ["a", "b"], "maxParallel": 1 }"#,
      Step(race: [Step(run: "a"), Step(run: "b")], maxParallel: 1)
    ),
    (#"{ "parallel": ["a"], "join": "all" }"#, Step(parallel: [Step(run: "a")])),
    (
      #"{ "join": { "atLeast": 1 }, "parallel": ["a", "b"] }"#,
      Step(parallel: [Step(run: "a"), Step(run: "b")], join: .atLeast(1))
    ),
    (
      """
      { "with": { "t": "v${{ inputs.v }}", "s": "a", "n": 1, "l": [1, { "a": null }] },
        "workflow": "sub/other.json" }
      """,
      Step(
        action: .workflow(
          NestedWorkflow(
            path: "sub/other.json",
            parameters: [
              Parameter("t", .text("v${{ inputs.v }}")), Parameter("s", .value(.string("a"))),
              Parameter("n", .value(.number(1))),
              Parameter("l", .value(.array([.number(1), .object(["a": .null])]))),
            ])))
    ),
    (
      #"{ "with": { "t": "v${{ inputs.v }}", "n": 1 }, "use": "images.resize", "retry": 0 }"#,
      Step(
        use: "images.resize",
        with: [
          Parameter("t", .text("v${{ inputs.v }}")), Parameter("n", .value(.number(1))),
        ]
      ).retry(0)
    ),
  ]

  @Test(arguments: steps.indices)
  func aStepIsTheSameValue(index: Int) throws {
    let (json, step) = ControlAndJSONTests.steps[index]
    let decoded = try decodedWithoutErrors("{ \"steps\": [\(json)] }")
    #expect(decoded.body.members == [step])
  }

  @Test func keysThatExpressionsComputeAreKept() throws {
    let decoded = try decodedWithoutErrors(
      """
      { "steps": [
        { "run": "a", "retry": "${{ inputs.n }}" },
        { "run": "b", "retry": { "max": "${{ inputs.n }}", "delay": "${{ inputs.t }}",
            "maxDelay": "${{ inputs.t }}", "within": "${{ inputs.w }}" },
          "forEach": { "in": [], "maxParallel": "${{ inputs.p }}" } }
      ] }
      """)
    var policy = RetryPolicy(max: 0)
    policy.$max.expression = "${{ inputs.n }}"
    let first = Step(run: "a").retry(policy)
    policy.$delay.expression = "${{ inputs.t }}"
    policy.$maxDelay.expression = "${{ inputs.t }}"
    policy.$within.expression = "${{ inputs.w }}"
    var loop = ForEach(in: .values([]))
    loop.$maxParallel.expression = "${{ inputs.p }}"
    let second = Step(run: "b").retry(policy).forEach(loop)
    #expect(decoded.body.members == [first, second])
  }

  @Test func keysOfTheWorkflow() throws {
    let decoded = try decodedWithoutErrors(
      """
      { "pools": { "db": 4, "api": { "slots": 2, "rate": "30/1m" } },
        "defaults": { "timeout": "10m", "retry": 2, "shell": "bash" },
        "steps": ["a"], "finally": ["b", { "parallel": ["c"] }] }
      """)
    var built = Workflow(steps: [Step(run: "a")])
    built.pools = [
      Pool("db", slots: 4), Pool("api", slots: 2, rate: Rate(count: 30, per: .seconds(60))),
    ]
    built.defaults = StepDefaults(
      timeout: .seconds(600), retry: [RetryPolicy(max: 2)], shell: .bash)
    built.finally = [Step(run: "b"), Step(parallel: [Step(run: "c")])]
    #expect(decoded == built)
  }

  @Test func placesSayWhereExpressionsStand() throws {
    let text = """
      { "steps": [{ "run": "x", "if": "a", "matrix": { "os": "${{ b }}" },
        "retry": [{ "max": 1, "when": "c" }, { "max": 1, "when": "d" }],
        "cleanup": { "run": "x", "if": "e" } }, { "wait": "${{ f }}" }, { "approve": "${{ g }}" },
        { "run": "x", "forEach": { "in": "${{ h }}", "key": "i" } },
        { "workflow": "w", "with": { "p": "${{ j }}" } }] }
      """
    let members = try #require(decode(text).workflow?.body.members)
    let sites: [TextSite: String] = [
      .condition: "\"a\"", .axis("os"): "\"${{ b }}\"", .retryCondition(0): "\"c\"",
      .retryCondition(1): "\"d\"",
    ]
    #expect(written(members[0], in: text) == sites)
    #expect(written(members[0].control.cleanup[0], in: text) == [.condition: "\"e\""])
    #expect(written(members[1], in: text) == [.waiting: "\"${{ f }}\""])
    #expect(written(members[2], in: text) == [.message: "\"${{ g }}\""])
    #expect(
      written(members[3], in: text) == [.elements: "\"${{ h }}\"", .elementKey: "\"i\""])
    #expect(written(members[4], in: text) == [.parameter("p"): "\"${{ j }}\""])
  }

  /// The texts of a step with a location: of its own, or among those of the step.
  private func written(_ step: Step, in text: String) -> [TextSite: String] {
    var places = step.place.value?.texts ?? []
    func add(_ site: TextSite, _ expression: Condition?) {
      if let range = expression?.place.value { places.append(TextPlace(site, at: range)) }
    }
    func add(_ site: TextSite, _ listing: Listing) {
      if case .computed(let expression) = listing { add(site, expression) }
    }
    add(.condition, step.control.condition)
    for (index, policy) in step.control.retry.enumerated() {
      add(.retryCondition(index), policy.condition)
    }
    switch step.control.fanOut {
    case .forEach(let loop):
      add(.elements, loop.elements)
      add(.elementKey, loop.key)
    case .matrix(let matrix): for axis in matrix.axes { add(.axis(axis.name), axis.values) }
    case nil: break
    }
    if case .wait(.computedDuration(let expression)) = step.action { add(.waiting, expression) }
    var result: [TextSite: String] = [:]
    for place in places {
      let (start, end) = (Int(place.range.start), Int(place.range.end))
      result[place.site] = String(
        decoding: text.utf8.dropFirst(start).prefix(end - start), as: UTF8.self)
    }
    return result
  }

  @Test func needsOfARejectedIdAreForgottenEverywhere() throws {
    let (workflow, diagnostics) = decode(
      """
      { "steps": [{ "id": "a b", "run": "x" }],
        "finally": [{ "parallel": ["y", { "run": "z", "needs": ["a b"] }] }] }
      """)
    #expect(diagnostics.filter(\.isError).map(\.code) == ["W0402"])
    let last = try #require(workflow?.finally.first)
    guard case .group(let group) = last.action else { return #expect(Bool(false), "no group") }
    #expect(group.members.last?.needs == [])
  }

  @Test func stepsOfACleanUpAndOfFinallyCount() {
    let text = #"{ "steps": [{ "run": "a", "cleanup": ["b", "c"] }], "finally": ["d"] }"#
    for (steps, isRejected) in [(3, true), (4, false)] {
      let (_, diagnostics) = WorkflowDecoder.decode(
        SourceFile(path: "w.json", bytes: Array(text.utf8)),
        limits: DecodingPass.Limits(steps: steps))
      #expect(diagnostics.map(\.code) == (isRejected ? ["W0110"] : []))
    }
  }
}
