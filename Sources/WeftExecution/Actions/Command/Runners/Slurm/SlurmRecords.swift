import WeftEvents

/// The output of `sacct`: what the database of a cluster, if it has one, knows of jobs that are over.
enum SlurmRecords {
  static func arguments(_ ids: [String]) -> [String] {
    [
      "sacct", "--noheader", "--parsable2", "--noconvert", "--jobs=" + ids.joined(separator: ","),
      "--format=JobID,State,UserCPU,SystemCPU,MaxRSS",
    ]
  }

  /// The records by the numbers of their jobs.
  static func records(in output: [UInt8]) -> [String: JobRecord] {
    var records: [String: JobRecord] = [:]
    for line in String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 5 else { continue }
      // A job is followed by its steps, of which the script is one. The cluster measures the memory of steps.
      if fields[0].hasSuffix(".batch") {
        records[String(fields[0].dropLast(6))]?.usage?.peakMemoryBytes = bytes(fields[4])
        continue
      }
      // As in "CANCELLED by 1000".
      guard !fields[0].contains("."),
        let state = fields[1].split(separator: " ").first.map(String.init),
        SlurmState(state).isOver
      else { continue }
      var record = JobRecord(state: state)
      if let user = time(fields[2]), let system = time(fields[3]) {
        record.usage = ResourceUsage(userTime: user, systemTime: system)
      }
      records[fields[0]] = record
    }
    return records
  }

  /// - Parameter text: `[DAYS-[HOURS:]]MINUTES:SECONDS[.MILLISECONDS]`.
  private static func time(_ text: String) -> Duration? {
    let parts = text.split(separator: ".", maxSplits: 1)
    let days = (parts.first ?? "").split(separator: "-", maxSplits: 1)
    guard let clock = days.last else { return nil }
    var seconds = 0
    for part in clock.split(separator: ":") {
      guard let number = Int(part) else { return nil }
      seconds = seconds * 60 + number
    }
    if days.count == 2 { seconds += (Int(days[0]) ?? 0) * 86_400 }
    let fraction = parts.count == 2 ? Int((parts[1] + "000").prefix(3)) ?? 0 : 0
    return .seconds(seconds) + .milliseconds(fraction)
  }

  /// - Parameter text: A number and perhaps a unit, as in `219652K`.
  private static func bytes(_ text: String) -> Int? {
    let digits = text.prefix { $0.isNumber }
    let unit = text.dropFirst(digits.count)
    guard let number = Int(digits), number > 0,
      let power = ["": 0, "K": 10, "M": 20, "G": 30, "T": 40][unit]
    else { return nil }
    return number << power
  }
}
