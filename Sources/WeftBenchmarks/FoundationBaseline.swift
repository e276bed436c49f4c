import Foundation

/// The usual way for Swift programs to start others. Only the benchmarks link Foundation.
enum FoundationBaseline {
  /// Runs a program `times` times, its output captured, on as many threads as Weft.
  static func run(_ path: String, times: Int) {
    let finished = Latch(ProgramBenchmarks.threads)
    for _ in 0..<ProgramBenchmarks.threads {
      Thread.detachNewThread {
        for _ in 0..<(times / ProgramBenchmarks.threads) { runOnce(path) }
        finished.arrive()
      }
    }
    finished.wait()
  }

  private static func runOnce(_ path: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    let (output, errors) = (Pipe(), Pipe())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    do { try process.run() } catch { fatalError("\(path): \(error)") }
    _ = try? output.fileHandleForReading.readToEnd()
    _ = try? errors.fileHandleForReading.readToEnd()
    process.waitUntilExit()
  }
}
