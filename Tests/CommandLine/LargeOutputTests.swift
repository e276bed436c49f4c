import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A step's output uses disk up to its limit, and no memory.
struct LargeOutputTests {
  /// 10 GB is the full row of the matrix, which takes too long for every day.
  private static let bytes = isLong ? "10000000000" : "32000000"
  /// The amount of output that is kept.
  private static let limit = "8MB"

  /// Prints the engine's peak memory in KiB, at the start and the end of the step.
  private static let peak = "awk '/VmHWM/ { print $2 }' /proc/$PPID/status"

  #if os(Linux)
    @Test(
      "O04: output without end costs no memory, ends the log at its limit, and does not end the step",
      arguments: [
        "cat /dev/zero", "yes 'one line like any other, of some forty bytes'", "yes",
        "yes 'a state that is written over' | tr '\\n' '\\r'",
      ])
    func outputCostsNoMemory(producer: String) throws {
      let directory = Directory()
      directory.write(
        "workflow.json",
        """
        { "steps": [{ "id": "a", "logLimit": "\(LargeOutputTests.limit)", "run":
          "\(LargeOutputTests.peak) >before; \(producer.replacing("\\", with: "\\\\")) | head -c \(LargeOutputTests.bytes); \(LargeOutputTests.peak) >after"
        }] }
        """)
      #expect(Weft.shell("exec \"$WEFT\" run workflow.json >/dev/null", in: directory).status == 0)
      let (before, after) = (
        try number(in: directory, "before"), try number(in: directory, "after")
      )
      #expect(after - before <= 8 << 10, "KiB")
      let result = Weft.shell(
        "\"$WEFT\" run --events - workflow.json 2>/dev/null | grep -v step.output", in: directory)
      let finished = try #require(
        result.output.split(separator: "\n").first { $0.contains("step.finished") })
      #expect(
        finished.contains("\"outputBytes\":\(LargeOutputTests.bytes),\"outputTruncated\":true"))
      #expect(result.output.split(separator: "\n").count { $0.contains("output-truncated") } == 1)
    }

    private func number(in directory: Directory, _ name: String) throws -> Int {
      let text = String(decoding: try #require(directory.read(name)), as: UTF8.self)
      return try #require(Int(text.filter(\.isNumber)))
    }
  #endif
}
