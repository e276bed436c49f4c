import Testing
import WeftFutures

/// A failure type with a case for dropped promises.
private struct Lost: DropRepresentable, Equatable {
  var line: UInt
  static func promiseDropped(_ dropped: PromiseDroppedError) -> Lost { Lost(line: dropped.line) }
}

@Suite struct DroppedPromiseTests {
  init() { DropReports.divert() }

  @Test func failsWithThePlaceThatMadeIt() {
    let line: UInt = #line + 1
    let future = Promise<Int, any Error>().future
    guard case .failure(let failure as PromiseDroppedError) = future.outcome else {
      Issue.record("\(String(describing: future.outcome))")
      return
    }
    #expect(failure.line == line)
    #expect(failure.file == "WeftFuturesTests/DroppedPromiseTests.swift")
    #expect("\(failure)" == "promise made at \(failure.file):\(line) was dropped unsettled")
  }

  @Test func failsWithTheWordThatTheFailureTypeHasForIt() {
    let future = Promise<Int, Lost>(line: 7).future
    #expect(future.outcome == .failure(Lost(line: 7)))
  }

  @Test func settlesWithTheOutcomeItWasGiven() {
    #expect(Promise<Int, Never>(ifDropped: .success(3)).future.outcome == .success(3))
    #expect(Promise<Int, Oops>(ifDropped: .failure(Oops())).future.outcome == .failure(Oops()))
  }

  @Test func asksForTheOutcomeWhenItIsDroppedAndOnlyThen() {
    let asked = Log<UInt>()
    let make = {
      Promise<Int, Never>(line: 5) { dropped in
        asked.write(dropped.line)
        return .success(4)
      }
    }
    make().succeed(1)
    #expect(asked.entries.isEmpty)
    #expect(make().future.outcome == .success(4))
    #expect(asked.entries == [5])
  }

  @Test func tellsThoseWhoWait() {
    var promise: Promise<Int, Lost>? = Promise(line: 1)
    let log = Log<Result<Int, Lost>>()
    promise?.future.map { $0 + 1 }.whenSettled { log.write($0) }
    #expect(log.entries.isEmpty)
    promise = nil
    #expect(log.entries == [.failure(Lost(line: 1))])
  }

  #if DEBUG
    @Test func isReportedWithThePlaceThatMadeIt() {
      _ = Promise<Int, any Error>(line: 1001).future
      _ = Promise<Int, Never>(ifDropped: .success(0), line: 1002).future
      let lines = DropReports.kept.entries.map(\.line)
      #expect(lines.filter { [1001, 1002].contains($0) } == [1001, 1002])
    }
  #endif

  @Test func aSettledOneIsNotReported() {
    Promise<Int, any Error>(line: 2001).succeed(1)
    #expect(!DropReports.kept.entries.contains { $0.line == 2001 })
  }

  @Test func aHandlerThatTakesThePromiseAsArgumentDoesNotKeepIt() {
    var promise: Promise<Int, Lost>? = Promise(line: 2)
    let future = promise!.future
    promise!.onCancel { $0.succeed(1) }
    promise = nil
    #expect(future.outcome == .failure(Lost(line: 2)))
  }
}
