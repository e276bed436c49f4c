import Synchronization
import TestSupport
import Testing
import Weft
import WeftPlatform

/// Runs of one `concurrency` key, started by engines that do not know each other.
@Suite(.hangLimit) struct ConcurrencyTests {
  /// The events of two runs, in order.
  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func write(_ line: String) { lines.withLock { $0.append(line) } }
  }

  enum Place: CaseIterable, CustomTestStringConvertible {
    case nowhere, memory, directory
    var testDescription: String { "\(self)" }
  }

  private struct Stores {
    let place: Place
    let memory = MemoryRunStore()
    let folder: Scratch

    init(_ place: Place) throws {
      self.place = place
      folder = try Scratch()
    }

    func start(_ workflow: Workflow, by engine: Engine) throws -> Run {
      switch place {
      case .nowhere: try engine.start(workflow)
      case .memory: try engine.start(workflow, in: memory)
      case .directory:
        try engine.start(workflow, in: FileRunStore(directory: "\(folder.path)/.weft"))
      }
    }
  }

  private func workflow(_ place: Place, _ policy: Concurrency.Policy, _ name: String) -> Workflow {
    var workflow = Workflow(
      name: name, steps: [Step("a", use: "work", with: [Parameter("name", .value(.string(name)))])])
    // Runs of other tests in this process have different keys.
    workflow.concurrency = Concurrency(key: "\(place)-\(policy)", policy: policy)
    return workflow
  }

  /// An engine whose action logs its start and end, and ends when `gate` is open or it is cancelled.
  private func engine(_ log: Log, _ gate: Gate) -> Engine {
    Engine(actions: [
      Action("work") { context in
        guard case .string(let name)? = context["name"] else { return .null }
        log.write("\(name) begins")
        await gate.wait()
        log.write("\(name) ends")
        return .null
      }
    ])
  }

  /// A gate that is opened once, for everything that waits now or later.
  private final class Gate: Sendable {
    private let state = Mutex<
      (isOpen: Bool, waiting: [Int: CheckedContinuation<Void, Never>], next: Int)
    >((false, [:], 0))

    func wait() async {
      let number = state.withLock { state in
        state.next += 1
        return state.next
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let goesOn = state.withLock { state in
            if !state.isOpen, !Task.isCancelled { state.waiting[number] = continuation }
            return state.waiting[number] == nil
          }
          if goesOn { continuation.resume() }
        }
      } onCancel: {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
      }
    }

    func open() {
      let waiting = state.withLock { state in
        defer { state.waiting = [:] }
        state.isOpen = true
        return state.waiting
      }
      for one in waiting.values { one.resume() }
    }
  }

  @Test("X27: two engines run one key one after another", arguments: Place.allCases)
  func runsWithOneKeyExecuteInTurn(_ place: Place) async throws {
    let (stores, log, gate) = (try Stores(place), Log(), Gate())
    let first = try stores.start(workflow(place, .wait, "first"), by: engine(log, gate))
    // Runs on a thread of its own, since it blocks until the first has ended.
    async let second = Task.detached {
      try stores.start(self.workflow(place, .wait, "second"), by: self.engine(log, gate))
    }.value
    gate.open()
    #expect(await first.report.succeeded)
    #expect(try await second.report.succeeded)
    #expect(log.all == ["first begins", "first ends", "second begins", "second ends"])
  }

  @Test("X27: a run that refuses to wait is not started", arguments: Place.allCases)
  func refusingRunDoesNotStart(_ place: Place) async throws {
    let (stores, log, gate) = (try Stores(place), Log(), Gate())
    let first = try stores.start(workflow(place, .refuse, "first"), by: engine(log, gate))
    let error = #expect(throws: (any Error).self) {
      try stores.start(workflow(place, .refuse, "second"), by: engine(log, gate))
    }
    #expect("\(try #require(error))".contains("run \(first.id) holds the key \"\(place)-refuse\""))
    gate.open()
    #expect(await first.report.succeeded)
    // Its key is free again.
    let third = try stores.start(workflow(place, .refuse, "third"), by: engine(log, gate))
    #expect(await third.report.succeeded)
    #expect(log.all.filter { $0.hasPrefix("second") }.isEmpty)
  }

  @Test("X27: a run that replaces another has it cancelled", arguments: Place.allCases)
  func replacingRunCancelsTheOther(_ place: Place) async throws {
    let (stores, log, gate) = (try Stores(place), Log(), Gate())
    let first = try stores.start(workflow(place, .cancelPrevious, "first"), by: engine(log, gate))
    let second = try await Task.detached {
      try stores.start(self.workflow(place, .cancelPrevious, "second"), by: self.engine(log, gate))
    }.value
    #expect(await first.report.end?.outcome == .cancelled)
    gate.open()
    #expect(await second.report.succeeded)
  }

  @Test("of several runs that wait to replace another, one begins", arguments: Place.allCases)
  func onlyOneOfSeveralBegins(_ place: Place) async throws {
    let (stores, log, gate) = (try Stores(place), Log(), Gate())
    let holding = Engine(actions: [
      // Cancelled, but not ended, until the others have met.
      Action("work") { _ in
        await Task { await gate.wait() }.value
        return .null
      }
    ])
    var first = workflow(place, .wait, "first")
    first.concurrency?.key += "-of-several"
    let held = try stores.start(first, by: holding)
    let others = await withTaskGroup { group in
      for number in 1...6 {
        var own = workflow(place, .cancelPrevious, "\(number)")
        own.concurrency?.key = first.concurrency!.key
        group.addTask { [own] in
          await self.onThread { try stores.start(own, by: self.engine(log, gate)) }
        }
      }
      var ended: [Result<Run, any Error>] = []
      for await result in group {
        ended.append(result)
        if ended.count == 5 { gate.open() }
      }
      return ended
    }
    _ = await held.report
    for other in others.dropLast() {
      let error = #expect(throws: (any Error).self) { try other.get() }
      #expect("\(try #require(error))".contains("which came later"))
    }
    #expect(try await others.last!.get().report.succeeded)
    #expect(log.all.count == 2)
  }

  /// Calls `body`, which blocks, on a thread of its own.
  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async -> Result<Value, any Error> {
    await withCheckedContinuation { continuation in
      try! Thread.start(name: "waiting", stackBytes: 1 << 20) {
        continuation.resume(returning: Result { try body() })
      }
    }
  }

  @Test("X27: a cancelled task does not go on waiting for its turn")
  func givesUp() async throws {
    let (stores, log, gate) = (try Stores(.memory), Log(), Gate())
    var own = workflow(.memory, .wait, "first")
    own.concurrency?.key = "given-up"
    let first = try stores.start(own, by: engine(log, gate))
    let task = Task.detached { [own] in _ = try stores.start(own, by: self.engine(log, gate)) }
    task.cancel()
    await #expect(throws: RunStoreError.self) { try await task.value }
    gate.open()
    #expect(await first.report.succeeded)
  }
}
