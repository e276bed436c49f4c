/// One target of a `Link` header (RFC 8288).
public struct WebLink: Sendable, Hashable {
  /// As it stands in the header; usually relative to the answer's URL.
  public let target: String
  /// "next", "last" …, in small letters; of several `rel` only the first counts.
  public let relations: [String]
  /// All of them, `rel` too, by names in small letters.
  public let parameters: [String: String]

  /// What the `Link` headers of an answer name, in their order. A link that cannot be read is left out, and
  /// so is one with an `anchor`, for it is about something else.
  public static func all(in headers: HTTPHeaders) -> [WebLink] {
    headers.values(of: "link").flatMap { value in
      pieces(of: value).compactMap(WebLink.init(piece:))
    }
    .filter { $0.parameters["anchor"] == nil }
  }

  /// Cuts at commas that are neither in quotes nor between angle brackets.
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
  /// Where the answer says that the next page is; `nil` where it says nothing, or nothing that is a URL.
  public var nextPage: HTTPURL? {
    let link = WebLink.all(in: headers).first { $0.relations.contains("next") }
    return link.flatMap { try? url.resolving($0.target) }
  }
}
