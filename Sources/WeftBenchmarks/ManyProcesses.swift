import Synchronization
import WeftPlatform

/// A thousand concurrent programs that only sleep, and their termination.
enum ManyProcesses {
  private static let size = 1_000

  static func measure(_ report: BenchmarkReport) {
    var (bytes, starts, ends): ([Double], [Double], [Double]) = ([], [], [])
    var threads = 0
    for _ in 0..<report.runs(3) {
      let pool = ThreadPool()
      let before = residentBytes()
      let (stop, started, ended) = (StopSwitch(), Latch(size), Latch(size))
      starts.append(
        milliseconds {
          for _ in 0..<size {
            let job: ThreadPool.Job = {
              let sleeper = ChildProgram(["/bin/sleep", "600"], environment: .inherited())
              _ = try? sleeper.run(stop: stop, started: { _ in started.arrive() }) { _, _ in }
              ended.arrive()
            }
            do { try pool.submit(job) } catch { fatalError("\(error)") }
          }
          started.wait()
        })
      bytes.append(residentBytes() - before)
      threads = pool.threadCount
      ends.append(
        milliseconds {
          stop.request(.graceful)
          ended.wait()
        })
      pool.close()
    }
    for (name, value, unit) in [
      ("started in", starts.median, "ms"),
      ("memory of \(threads) threads", bytes.median / 1e6, "MB"),
      ("from the cancellation to the last one's end", ends.median, "ms"),
    ] {
      report.add(
        BenchmarkRow(
          name: "1,000 at once: \(name)", measured: value, unit: unit, baselineName: "–",
          baseline: .nan))
    }
  }

  private static func milliseconds(_ body: () -> Void) -> Double {
    ContinuousClock().measure(body) / .milliseconds(1)
  }
}

/// A latch on which one thread waits until `count` others have arrived.
final class Latch: Sendable {
  private let missing: Mutex<Int>
  private let wakeup = Wakeup()

  init(_ count: Int) { missing = Mutex(count) }

  func arrive() {
    let isLast = missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast { wakeup.wake() }
  }

  /// Callable by one thread, once.
  func wait() { wakeup.wait() }
}
