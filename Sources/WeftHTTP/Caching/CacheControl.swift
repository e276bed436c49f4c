/// The directives of `Cache-Control` (RFC 9111 §5.2) in a request or response. The first of several equal directives
/// counts; malformed ones are ignored.
struct CacheControl: Sendable, Hashable {
  /// The values by lower-case name; empty if a directive has none.
  private var directives: [String: String] = [:]
  /// Whether the older `Pragma: no-cache` replaces it in a request (RFC 9111 §5.4). In responses `Pragma` never had a
  /// meaning.
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

  /// Whether the directive is present, with or without a value.
  func has(_ name: String) -> Bool { directives[name] != nil }

  /// Returns the seconds of a directive; `nil` if it is missing. An invalid number counts as 0, the conservative
  /// reading (RFC 9111 §4.2.1).
  func seconds(_ name: String) -> Int64? {
    directives[name].map { DeltaSeconds.parsed($0) ?? 0 }
  }

  /// The number of seconds that a response may be stale (§5.2.1.2); `nil` if it may not be. Unlimited if the
  /// directive has no value.
  var maxStale: Int64? {
    guard let value = directives["max-stale"] else { return nil }
    return value.isEmpty ? .max : DeltaSeconds.parsed(value)
  }
}

/// Delta-seconds (RFC 9111 §1.2.2).
enum DeltaSeconds {
  /// Effectively forever, and small enough that adding to it does not overflow.
  static let longest: Int64 = 1 << 31

  static func parsed(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return min(Int64(text) ?? longest, longest)
  }
}
