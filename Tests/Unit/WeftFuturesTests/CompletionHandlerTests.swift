import Testing
import WeftFutures

@Suite struct CompletionHandlerTests {
  init() { DropReports.divert() }

  typealias Handler = @Sendable (Int?, (any Error)?) -> Void

  private func describe(_ outcome: Result<Int, any Error>?) -> String {
    switch outcome {
    case nil: "pending"
    case .success(let value): "\(value)"
    case .failure(let failure): "\(type(of: failure))"
    }
  }

  @Test(arguments: [
    (1, nil, "1"),
    (nil, Oops(), "Oops"),
    (1, Oops(), "Oops"),
    (nil, nil, "NeitherValueNorError"),
  ])
  func takesWhatTheHandlerIsGiven(_ value: Int?, _ error: Oops?, _ expected: String) {
    let handler = Log<Handler>()
    let future = Future<Int, any Error> { handler.write($0) }
    #expect(describe(future.outcome) == "pending")
    handler.entries[0](value, error)
    handler.entries[0](99, nil)
    #expect(describe(future.outcome) == expected)
  }

  @Test func failsIfTheHandlerIsReleasedUncalled() {
    let future = Future<Int, any Error>(line: 5) { _ in }
    guard case .failure(let failure as PromiseDroppedError) = future.outcome else {
      Issue.record("\(describe(future.outcome))")
      return
    }
    #expect(failure.line == 5)
  }
}
