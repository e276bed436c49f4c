package import WeftPlanning

/// The file format of recorded durations: a line for each step, and a checksum.
///
///     1 1250000 1300000 1180000 build
///     40 20000 checks.lint
///     crc32c 9f3a01c7
///
/// A line contains the number of executions, the microseconds of recent ones, the newest last, and the step's
/// address. The file is derived from runs, so a damaged one is treated as missing.
package enum DurationFile {
  package static func bytes(of history: DurationHistory) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(history.entries.count * 48 + 16)
    for entry in history.entries {
      bytes += "\(entry.step.times)".utf8
      for duration in entry.step.recent {
        bytes.append(space)
        bytes += "\(duration)".utf8
      }
      bytes.append(space)
      bytes += entry.address.utf8
      bytes.append(newline)
    }
    SealedText.seal(&bytes)
    return bytes
  }

  /// - Returns: `nil` if the bytes are damaged or in another format.
  package static func history(in bytes: [UInt8]) -> DurationHistory? {
    guard var rest = SealedText.text(in: bytes) else { return nil }
    var entries: [DurationHistory.Entry] = []
    while !rest.isEmpty {
      guard let entry = entry(from: &rest) else { return nil }
      entries.append(entry)
    }
    return DurationHistory(entries)
  }

  /// Parses one line.
  private static func entry(from rest: inout ArraySlice<UInt8>) -> DurationHistory.Entry? {
    guard let times = rest.takeNumber() else { return nil }
    var recent: [Int] = []
    while recent.count < MeasuredStep.recentLimit, let duration = rest.takeNumber() {
      recent.append(duration)
    }
    guard let address = rest.takeLine(), let step = MeasuredStep(recent: recent, times: times)
    else { return nil }
    return DurationHistory.Entry(address, step)
  }

  private static let space = UInt8(ascii: " ")
  private static let newline = UInt8(ascii: "\n")
}

extension ArraySlice<UInt8> {
  /// Consumes digits and the space after them; nothing of a name that begins with digits.
  ///
  /// - Returns: `nil` unless there are 1 to 18 digits and a space.
  fileprivate mutating func takeNumber() -> Int? {
    var value = 0
    var index = startIndex
    while index < endIndex, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[index]) {
      guard index - startIndex < 18 else { return nil }
      value = value * 10 + Int(self[index] - UInt8(ascii: "0"))
      index += 1
    }
    guard index > startIndex, index < endIndex, self[index] == UInt8(ascii: " ") else { return nil }
    self = self[(index + 1)...]
    return value
  }

  /// Consumes a line of UTF-8 with its end.
  fileprivate mutating func takeLine() -> String? {
    guard let end = firstIndex(of: UInt8(ascii: "\n")),
      let line = String(validating: self[..<end], as: UTF8.self)
    else { return nil }
    self = self[(end + 1)...]
    return line
  }
}
