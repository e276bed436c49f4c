import Dispatch
import Synchronization
import WeftFutures

/// Streams beside bare closures and an `AsyncSequence`, each with the same three operators.
///
/// A sample is the time for a value through `map`, `filter`, `scan` and a sink that adds, on one thread. Every second value
/// passes the filter.
enum StreamBenchmarks {
  static let valueCount = 1_000_000

  static var all: [Benchmark] { [Benchmark("streams/operators", measure)] }

  private static func measure(_ report: BenchmarkReport) {
    var (closures, asynchronous): ([Double], [Double]) = ([], [])
    var (sequence, subject): ([Double], [Double]) = ([], [])
    for _ in 0..<report.runs(5) {
      closures.append(measure(ofClosures))
      asynchronous.append(measure(ofAsyncSequence))
      sequence.append(measure(ofSequence))
      subject.append(measure(ofSubject))
    }
    for (source, measured, peer, baseline) in [
      ("sequence", sequence, "bare closures", closures),
      ("sequence", sequence, "AsyncSequence", asynchronous),
      ("subject", subject, "bare closures", closures),
      ("subject", subject, "AsyncSequence", asynchronous),
    ] {
      report.add(
        BenchmarkRow(
          name: "\(source), map.filter.scan.sink of \(valueCount)", measured: measured.median,
          unit: "ns/value", baselineName: peer, baseline: baseline.median))
    }
  }

  /// The time for each value, for a `run` that returns the sum of what it received.
  private static func measure(_ run: () -> Int) -> Double {
    let clock = ContinuousClock()
    var sum = 0
    let time = clock.measure { sum = run() }
    precondition(sum == expectedSum, "a stream has lost values: \(sum)")
    return time / .nanoseconds(1) / Double(valueCount)
  }

  private static let expectedSum: Int = {
    var scanned = 0
    var sum = 0
    for value in 0..<valueCount where (value &+ 1) & 1 == 0 {
      scanned &+= value &+ 1
      sum &+= scanned
    }
    return sum
  }()

  private final class Sum: Sendable {
    private let sum = Atomic<Int>(0)

    var value: Int { sum.load(ordering: .relaxed) }

    /// A plain addition: values of a stream do not overlap.
    func add(_ value: Int) { sum.store(sum.load(ordering: .relaxed) &+ value, ordering: .relaxed) }
  }

  private static func pipeline(
    _ source: Publisher<Int, Never>, into sum: Sum
  ) -> AnyCancellable {
    source.map { $0 &+ 1 }.filter { $0 & 1 == 0 }.scan(0) { $0 &+ $1 }.sink { sum.add($0) }
  }

  private static func ofSequence() -> Int {
    let sum = Sum()
    let subscription = pipeline(Publisher(0..<valueCount), into: sum)
    withExtendedLifetime(subscription) {}
    return sum.value
  }

  private static func ofSubject() -> Int {
    let sum = Sum()
    let subject = PassthroughSubject<Int, Never>()
    let subscription = pipeline(subject.publisher(), into: sum)
    for value in 0..<valueCount { subject.send(value) }
    withExtendedLifetime(subscription) {}
    return sum.value
  }

  /// A chain of closures that call each other, through references that the optimizer cannot see through.
  private static func ofClosures() -> Int {
    let sum = Sum()
    let chain = ClosureChain { sum.add($0) }
    for value in 0..<valueCount { chain.send(value) }
    return sum.value
  }

  private final class ClosureChain {
    private(set) var send: (Int) -> Void

    @inline(never)
    init(_ sink: @escaping (Int) -> Void) {
      var scanned = 0
      let scan: (Int) -> Void = {
        scanned &+= $0
        sink(scanned)
      }
      let filter: (Int) -> Void = { if $0 & 1 == 0 { scan($0) } }
      send = { filter($0 &+ 1) }
    }
  }

  private static func ofAsyncSequence() -> Int {
    let sum = Sum()
    let ended = DispatchSemaphore(value: 0)
    Task {
      var scanned = 0
      for await value in Numbers().map({ $0 &+ 1 }).filter({ $0 & 1 == 0 }) {
        scanned &+= value
        sum.add(scanned)
      }
      ended.signal()
    }
    ended.wait()
    return sum.value
  }

  private struct Numbers: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private var next = 0

    func makeAsyncIterator() -> Numbers { self }

    mutating func next() async -> Int? {
      guard next < StreamBenchmarks.valueCount else { return nil }
      defer { next += 1 }
      return next
    }
  }
}
