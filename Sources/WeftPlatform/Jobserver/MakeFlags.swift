/// The address of a jobserver, in the form of GNU make (manual, "POSIX Jobserver Interaction").
package enum JobserverAddress: Hashable, Sendable {
  case fifo(String)
  case pipe(reading: Int32, writing: Int32)

  /// Parses an address; `nil` for other text, and for the negative numbers with which make reports that there is none.
  init?(_ text: some StringProtocol) {
    if text.hasPrefix("fifo:") {
      self = .fifo(String(text.dropFirst("fifo:".count)))
      return
    }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int32($0) }
    guard numbers.count == 2, let reading = numbers[0], let writing = numbers[1],
      reading >= 0, writing >= 0
    else { return nil }
    self = .pipe(reading: reading, writing: writing)
  }

  package var text: String {
    switch self {
    case .fifo(let path): "fifo:\(path)"
    case .pipe(let reading, let writing): "\(reading),\(writing)"
    }
  }
}

/// The value of `MAKEFLAGS`: words, of which those after `--` are variable definitions.
package struct MakeFlags: Sendable, Hashable {
  private var options: [Substring]
  private let definitions: ArraySlice<Substring>

  package init(_ text: String) {
    let words = text.split(separator: " ")
    let end = words.firstIndex(of: "--") ?? words.endIndex
    options = Array(words[..<end])
    definitions = words[end...]
  }

  /// The last jobserver that is offered; `nil` if there is none.
  package var jobserver: JobserverAddress? {
    let values = options.compactMap { option in
      Self.addressOptions.first(where: option.hasPrefix).map { option.dropFirst($0.count) }
    }
    return values.last.flatMap { JobserverAddress($0) }
  }

  /// The flags without options about the number of jobs and about jobservers; `nil` if none are left.
  package var withoutJobs: String? {
    let words = options.filter { !Self.saysJobs($0) } + definitions
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  /// The flags with this jobserver in place of any other.
  package func offering(_ address: JobserverAddress, jobs: Int) -> String {
    // The first word may be letters without a hyphen, and must remain the first.
    let kept = options.filter { !Self.saysJobs($0) }.map(String.init)
    let offer = ["-j\(jobs)", "--jobserver-auth=\(address.text)"]
    return (kept + offer + definitions.map(String.init)).joined(separator: " ")
  }

  /// `--jobserver-fds` is the form of make 4.1 and older.
  private static let addressOptions = ["--jobserver-auth=", "--jobserver-fds="]

  private static func saysJobs(_ option: Substring) -> Bool {
    option.hasPrefix("--jobserver") || option.hasPrefix("--jobs")
      || option.hasPrefix("-j") && option.dropFirst(2).allSatisfy(\.isNumber)
  }
}
