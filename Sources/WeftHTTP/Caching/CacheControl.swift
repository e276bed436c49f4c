/// The directives of `Cache-Control` (RFC 9111 §5.2), of a request or of an answer. Of equal ones the first
/// counts, and what cannot be understood is left out.
struct CacheControl: Sendable, Hashable {
  /// By names in small letters; empty where there is no value.
  private var directives: [String: String] = [:]
  /// Whether the older `Pragma: no-cache` stands in for it in a request (RFC 9111 §5.4); in answers it never
  /// meant anything.
  let hasPragma: Bool

  init(_ headers: HTTPHeaders) {
    hasPragma =
      !headers.contains("cache-control")
      && headers.list(of: "pragma").contains { ASCII.isSame($0, "no-cache") }
    for line in headers.values(of: "cache-control") {
      for piece in ParameterText.split(line, at: UInt8(ascii: ",")) { add(piece) }
    }
  }

  private mutating func add(_ piece: String) {
    let halves = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = halves.first.map({ ASCII.lowercased($0) }), ASCII.isToken(name),
      directives[name] == nil
    else { return }
    directives[name] = halves.count == 2 ? ParameterText.unquoted(String(halves[1])) : ""
  }

  /// Whether there is a directive of that name, with a value or without.
  func has(_ name: String) -> Bool { directives[name] != nil }

  /// The seconds that a directive names; nil where it is missing. What is no number of seconds is 0, the
  /// careful reading (RFC 9111 §4.2.1).
  func seconds(_ name: String) -> Int64? {
    directives[name].map { DeltaSeconds.parsed($0) ?? 0 }
  }

  /// How far beyond its lifetime an answer may be (§5.2.1.2); nil: not at all. Without a value: as far as it
  /// happens to be.
  var maxStale: Int64? {
    guard let value = directives["max-stale"] else { return nil }
    return value.isEmpty ? .max : DeltaSeconds.parsed(value)
  }
}

/// RFC 9111 §1.2.2.
enum DeltaSeconds {
  /// As good as for ever, and what is added to it still fits.
  static let longest: Int64 = 1 << 31

  static func parsed(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return min(Int64(text) ?? longest, longest)
  }
}
