package import WeftPlanning
import WeftPlatform

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
    let checksum = bytes.withUnsafeBytes { Checksum.crc32c($0) }
    bytes += seal(checksum)
    return bytes
  }

  /// - Returns: `nil` if the bytes are damaged or in another format.
  package static func history(in bytes: [UInt8]) -> DurationHistory? {
    let end = bytes.count - sealLength
    guard end >= 0 else { return nil }
    let checksum = bytes.withUnsafeBytes {
      Checksum.crc32c(UnsafeRawBufferPointer(rebasing: $0[..<end]))
    }
    guard bytes[end...].elementsEqual(seal(checksum)) else { return nil }
    var entries: [DurationHistory.Entry] = []
    var rest = bytes[..<end]
    while !rest.isEmpty {
      guard let entry = entry(from: &rest) else { return nil }
      entries.append(entry)
    }
    return DurationHistory(entries)
  }

  /// Parses one line.
  private static func entry(from rest: inout ArraySlice<UInt8>) -> DurationHistory.Entry? {
    guard let times = number(from: &rest) else { return nil }
    var recent: [Int] = []
    while recent.count < MeasuredStep.recentLimit, let duration = number(from: &rest) {
      recent.append(duration)
    }
    guard let end = rest.firstIndex(of: newline),
      let address = String(validating: rest[..<end], as: UTF8.self),
      let step = MeasuredStep(recent: recent, times: times)
    else { return nil }
    rest = rest[(end + 1)...]
    return DurationHistory.Entry(address, step)
  }

  /// Parses digits and the space after them; consumes nothing of a name that begins with digits.
  private static func number(from rest: inout ArraySlice<UInt8>) -> Int? {
    var value = 0
    var index = rest.startIndex
    while index < rest.endIndex, digits.contains(rest[index]) {
      guard index - rest.startIndex < digitLimit else { return nil }
      value = value * 10 + Int(rest[index] - digits.lowerBound)
      index += 1
    }
    guard index > rest.startIndex, index < rest.endIndex, rest[index] == space else { return nil }
    rest = rest[(index + 1)...]
    return value
  }

  /// Returns `crc32c 9f3a01c7` and a newline.
  private static func seal(_ checksum: UInt32) -> [UInt8] {
    let digits = String(checksum, radix: 16)
    return Array("crc32c \(String(repeating: "0", count: 8 - digits.count))\(digits)\n".utf8)
  }

  private static let sealLength = 16
  private static let digitLimit = 18
  private static let space = UInt8(ascii: " ")
  private static let newline = UInt8(ascii: "\n")
  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}
