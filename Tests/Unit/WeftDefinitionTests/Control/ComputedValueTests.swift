import Testing
import WeftDefinition
import WeftExpressions

/// Values of expressions in place of a duration or a time.
@Suite struct ComputedValueTests {
  @Test(arguments: [ComputedKey.retryDelay, .retryMaxDelay, .grace])
  func someDurationsMayBeZero(key: ComputedKey) throws {
    #expect(try key.duration(.string("0s")) == .zero)
    #expect(try key.duration(.string("1m")) == .seconds(60))
  }

  @Test(arguments: [ComputedKey.timeout, .retryWithin, .stallTimeout])
  func otherDurationsMayNotBeZero(key: ComputedKey) throws {
    #expect(throws: EvaluationError.self) { try key.duration(.string("0s")) }
    #expect(try key.duration(.string("1m")) == .seconds(60))
  }

  @Test func aStepWaitsForATimeOrAMoment() throws {
    #expect(try Waiting.duration(.string("0s")) == .zero)
    #expect(try Waiting.duration(.string("90s")) == .seconds(90))
    #expect(try Waiting.moment(.string("1970-01-01T00:00:01Z")).nanoseconds == 1_000_000_000)
  }

  @Test(
    arguments: [
      (.string("90"), "it evaluates to \"90\", expected a duration like \"90s\""),
      (.string("-1s"), "it evaluates to \"-1s\", expected a duration, or \"0s\" for none"),
      (.number(90), "it evaluates to \"90\", expected a duration like \"30s\""),
      (.null, "it evaluates to null, expected a duration like \"30s\""),
    ] as [(ExpressionValue, String)])
  func invalidDurationIsReported(value: ExpressionValue, message: String) {
    expect(message) { () throws(EvaluationError) in _ = try Waiting.duration(value) }
  }

  @Test(
    arguments: [
      (
        .string("2026-02-30T00:00:00Z"),
        "it evaluates to \"2026-02-30T00:00:00Z\", but that month has 28 days, not 30"
      ),
      (.string("now"), "it evaluates to \"now\", expected a time like \"2026-11-21T09:00:00Z\""),
      (.boolean(true), "it evaluates to \"true\", expected a time like \"2026-11-21T09:00:00Z\""),
    ] as [(ExpressionValue, String)])
  func invalidMomentIsReported(value: ExpressionValue, message: String) {
    expect(message) { () throws(EvaluationError) in _ = try Waiting.moment(value) }
  }

  private func expect(_ message: String, of body: () throws(EvaluationError) -> Void) {
    do {
      try body()
      Issue.record("it is none")
    } catch {
      #expect(error.message == message)
    }
  }
}
