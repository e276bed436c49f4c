import WeftEvents
import WeftExecution

/// Masking secrets in the output of steps: 64 MiB of a build log, in chunks as read from a pipe.
enum SecretBenchmarks {
  private static let bytes = 64 << 20
  private static let chunkBytes = 64 << 10

  static var all: [Benchmark] { [Benchmark("secrets/mask", masking)] }

  private static func masking(_ report: BenchmarkReport) {
    let log = repeated(lines)
    let digits = repeated(hexadecimal)
    let sum = report.seconds(runs: 5) { keep(byteSum(log)) }
    func add(_ name: String, _ text: [UInt8], _ count: Int) {
      let mask = SecretMask(secrets(count))
      let time = report.seconds(runs: 5) { keep(masked(text, mask)) }
      report.add(
        BenchmarkRow(
          name: "\(name), \(count) secrets", measured: nanosecondsPerByte(time), unit: "ns/B",
          baselineName: "sum of its bytes", baseline: nanosecondsPerByte(sum)))
    }
    add("64 MiB of log", log, 0)
    add("64 MiB of log", log, 1)
    add("64 MiB of log", log, 10)
    add("64 MiB of digits", digits, 10)
    let made = report.seconds(runs: 5) { keep(SecretMask(secrets(10)).isEmpty) }
    report.add(
      BenchmarkRow(
        name: "a mask of 10 is made", measured: made * 1e3, unit: "ms",
        baselineName: "64 MiB are summed", baseline: sum * 1e3))
  }

  private static func nanosecondsPerByte(_ seconds: Double) -> Double {
    seconds * 1e9 / Double(bytes)
  }

  private static func masked(_ text: [UInt8], _ mask: SecretMask) -> Int {
    var filter = SecretFilter(mask)
    var count = 0
    text.withUnsafeBytes { text in
      for start in stride(from: 0, to: text.count, by: chunkBytes) {
        let chunk = text[start..<min(start + chunkBytes, text.count)]
        filter.take(UnsafeRawBufferPointer(rebasing: chunk)) { count += $0.count }
      }
    }
    filter.finish { count += $0.count }
    return count
  }

  /// The bare loop: the cost of reading every byte once, one at a time.
  @inline(never)
  private static func byteSum(_ bytes: [UInt8]) -> Int {
    var sum = 0
    for byte in bytes { sum = (sum &* 31) &+ Int(byte) }
    return sum
  }

  // MARK: Samples

  /// Tokens of 40 letters and digits, such as services issue.
  private static func secrets(_ count: Int) -> [Secret] {
    (0..<count).map { number in
      let token = "ghp_" + digits(40, from: UInt64(number) + 7, base: 36)
      guard let secret = try? Secret(Array(token.utf8)) else { preconditionFailure() }
      return secret
    }
  }

  private static let lines: [UInt8] = {
    var text = ""
    for number in 0..<4_000 {
      let file =
        "Sources/Module\(number % 37)/File\(digits(4, from: UInt64(number), base: 16)).swift"
      text += "[\(number)/4000] Compiling \(file) (\(number * 7 % 1000) ms)\n"
      text += "2026-11-21T06:\(number % 60):07Z info: request \(number) took "
      text += "\(number * 13 % 977) ms, status=200 path=/api/v1/items/\(number)\n"
    }
    return Array(text.utf8)
  }()

  private static let hexadecimal = Array(
    (0..<4_000).map { digits(64, from: $0, base: 16) + "\n" }.joined().utf8)

  /// Digits without a pattern (Lehmer's generator by Park and Miller 1988).
  private static func digits(_ count: Int, from seed: UInt64, base: UInt64) -> String {
    var state = seed % 2_147_483_646 + 1
    return (0..<count).map { _ in
      state = state * 48_271 % 2_147_483_647
      return String(state / 97 % base, radix: Int(base))
    }.joined()
  }

  private static func repeated(_ sample: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes + sample.count)
    while text.count < bytes { text += sample }
    return Array(text[..<bytes])
  }
}
