import WeftDefinition
import WeftEvents

/// The end of a program elsewhere, as the script that runs it reports it: `end`, and words.
struct RemoteEnd: Hashable {
  enum Status: Hashable {
    /// As `$?` reports it.
    case ended(Int)
    case noProgram
    case noDirectory
  }

  let status: Status
  /// Without what its step requests.
  private(set) var usage: ResourceUsage?
  /// The lengths of its output, if it is in files.
  private(set) var outputBytes: Int?
  private(set) var errorBytes: Int?

  /// - Parameter report: `end`; the exit status, `missing` or `directory`; the times of children before and after the
  ///   program (`user system user system`, as `times` prints them); its peak memory in bytes; the lengths of its output
  ///   and its errors. `-` is a number that is not known; the last three may be absent. `nil` if it is no such report.
  init?(_ report: String) {
    let words = report.split(whereSeparator: \.isWhitespace).map(String.init)
    guard words.count == 6 || words.count == 9, words[0] == "end" else { return nil }
    switch words[1] {
    case "missing": status = .noProgram
    case "directory": status = .noDirectory
    default:
      guard let code = Int(words[1]) else { return nil }
      status = .ended(code)
    }
    let times = words[2..<6].map(Self.time)
    if let user = times[0], let system = times[1], let userAtEnd = times[2],
      let systemAtEnd = times[3]
    {
      usage = ResourceUsage(userTime: userAtEnd - user, systemTime: systemAtEnd - system)
    }
    guard words.count == 9 else { return }
    usage?.peakMemoryBytes = Int(words[6])
    guard let output = Int(words[7]), let errors = Int(words[8]) else { return nil }
    (outputBytes, errorBytes) = (output, errors)
  }

  /// - Parameter text: As the shell's `times` prints it: `1m2.34s`; the decimal point is that of the host's locale.
  private static func time(_ text: String) -> Duration? {
    let parts = text.split { "ms.,".contains($0) }
    guard parts.count == 2 || parts.count == 3, let minutes = Int(parts[0]),
      let seconds = Int(parts[1]), text.hasSuffix("s")
    else { return nil }
    let digits = parts.count == 3 ? (parts[2] + "000000").prefix(6) : "0"
    return Int(digits).map { .seconds(minutes * 60 + seconds) + .microseconds($0) }
  }
}

extension ResourceUsage {
  /// The usage beside the requests of the step.
  func beside(_ resources: Command.Resources?) -> ResourceUsage {
    var usage = self
    usage.requestedProcessors = resources?.cpus
    usage.requestedMemoryBytes = resources?.memory?.bytes
    return usage
  }
}
