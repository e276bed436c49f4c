/// One target of a `Link` header (RFC 8288).
public struct WebLink: Sendable, Hashable {
  /// The target as written; usually relative to the response's URL.
  public let target: String
  /// The relations, such as "next" or "last", in lower case; only the first `rel` counts.
  public let relations: [String]
  /// All parameters, including `rel`, by lower-case name.
  public let parameters: [String: String]

  /// Returns the links in the `Link` headers, in order. Malformed links are ignored, and so are those with an
  /// `anchor`, which describe another resource.
  public static func all(in headers: HTTPHeaders) -> [WebLink] {
    headers.values(of: "link").flatMap { value in
      pieces(of: value).compactMap(WebLink.init(piece:))
    }
    .filter { $0.parameters["anchor"] == nil }
  }

  /// Splits at commas outside quotes and angle brackets.
  private static func pieces(of value: String) -> [String] {
    var pieces: [[UInt8]] = [[]]
    var (isQuoted, isEscaped, isTarget) = (false, false, false)
    for byte in value.utf8 {
      if byte == UInt8(ascii: ","), !isQuoted, !isTarget {
        pieces.append([])
        continue
      }
      pieces[pieces.count - 1].append(byte)
      switch byte {
      case UInt8(ascii: "<") where !isQuoted: isTarget = true
      case UInt8(ascii: ">") where !isQuoted: isTarget = false
      case UInt8(ascii: "\"") where !isEscaped && !isTarget: isQuoted.toggle()
      default: break
      }
      isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
    }
    return pieces.map { ASCII.trimmed(String(decoding: $0, as: UTF8.self)) }
  }

  private init?(piece: String) {
    guard piece.hasPrefix("<"), let end = piece.firstIndex(of: ">") else { return nil }
    target = String(piece[piece.index(after: piece.startIndex)..<end])
    parameters = ParameterText.parameters(
      of: ParameterText.split(piece[piece.index(after: end)...]))
    relations = (parameters["rel"] ?? "").split(separator: " ").map { ASCII.lowercased($0) }
  }
}

extension HTTPResponse {
  /// The URL of the next page; `nil` if the response names none, or an invalid one.
  public var nextPage: HTTPURL? {
    let link = WebLink.all(in: headers).first { $0.relations.contains("next") }
    return link.flatMap { try? url.resolving($0.target) }
  }
}
