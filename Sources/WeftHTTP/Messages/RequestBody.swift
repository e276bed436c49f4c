/// The body of a request. Files are streamed, never loaded whole.
public enum RequestBody: Sendable, Hashable {
  case none
  case bytes([UInt8], contentType: String?)
  /// A regular file.
  case file(String, contentType: String?)
  /// `application/x-www-form-urlencoded`.
  case form([FormField])
  /// `multipart/form-data` (RFC 7578).
  case multipart([MultipartPart])

  /// JSON text, sent as it is.
  public static func json(_ text: String) -> RequestBody {
    .bytes(Array(text.utf8), contentType: "application/json")
  }

  /// Text in UTF-8.
  public static func text(_ text: String) -> RequestBody {
    .bytes(Array(text.utf8), contentType: "text/plain; charset=utf-8")
  }
}

/// A name and a value of a form or query.
public struct FormField: Sendable, Hashable {
  /// The name, not encoded.
  public var name: String
  /// The value, not encoded.
  public var value: String

  /// Creates a field of an unencoded name and value.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One field of a multipart form.
public struct MultipartPart: Sendable, Hashable {
  /// The source of a part's bytes.
  public enum Content: Sendable, Hashable {
    case bytes([UInt8])
    /// A regular file.
    case file(String)
  }

  /// The name of the field.
  public var name: String
  /// The content of the field.
  public var content: Content
  /// The file name to report to the server; usually that of the file.
  public var fileName: String?
  /// The content type; `nil` means text.
  public var contentType: String?

  /// Creates a part.
  public init(
    _ name: String, _ content: Content, fileName: String? = nil, contentType: String? = nil
  ) {
    self.name = name
    self.content = content
    self.fileName = fileName
    self.contentType = contentType
  }

  /// A plain text part in UTF-8.
  public static func text(_ name: String, _ value: String) -> MultipartPart {
    MultipartPart(name, .bytes(Array(value.utf8)))
  }

  /// A file part, with the file's own name.
  public static func file(
    _ name: String, path: String, contentType: String? = nil
  ) -> MultipartPart {
    let last = path.split(separator: "/").last.map(String.init)
    return MultipartPart(name, .file(path), fileName: last, contentType: contentType)
  }
}

/// A body in its wire form, as a sequence of pieces.
public struct EncodedBody: Sendable, Hashable {
  /// The source of a piece.
  public enum Segment: Sendable, Hashable {
    case bytes([UInt8])
    /// The whole of a regular file, opened when the request is sent.
    case file(String)
  }

  /// The pieces in wire order.
  public let segments: [Segment]
  /// The `Content-Type` of the body; `nil` if it has none.
  public let contentType: String?

  /// The files to open, in order.
  package var files: [String] {
    segments.compactMap { segment in
      if case .file(let path) = segment { path } else { nil }
    }
  }
}

extension RequestBody {
  /// Returns the wire form; `nil` if there is no body.
  ///
  /// - Parameter boundary: The separator between the parts of a multipart form. Unguessable, so that no part contains
  ///   it.
  func encoded(boundary: @autoclosure () -> String) throws(RequestError) -> EncodedBody? {
    switch self {
    case .none: return nil
    case .bytes(let bytes, let type):
      return EncodedBody(segments: [.bytes(bytes)], contentType: type)
    case .file(let path, let type):
      if path.utf8.contains(0) { throw .text(of: "the name of the body's file") }
      return EncodedBody(segments: [.file(path)], contentType: type)
    case .form(let fields):
      return EncodedBody(
        segments: [.bytes(Array(PercentEncoding.form(fields).utf8))],
        contentType: "application/x-www-form-urlencoded")
    case .multipart(let parts): return try MultipartText(boundary: boundary()).encode(parts)
    }
  }
}

/// `multipart/form-data` (RFC 7578), with names escaped as in the WHATWG form encoding.
private struct MultipartText {
  let boundary: String

  func encode(_ parts: [MultipartPart]) throws(RequestError) -> EncodedBody {
    var segments: [EncodedBody.Segment] = []
    for part in parts {
      segments.append(.bytes(Array(try head(of: part).utf8)))
      switch part.content {
      case .bytes(let bytes): segments.append(.bytes(bytes))
      case .file(let path):
        if path.utf8.contains(0) { throw .text(of: "the name of a part's file") }
        segments.append(.file(path))
      }
      segments.append(.bytes(Array("\r\n".utf8)))
    }
    segments.append(.bytes(Array("--\(boundary)--\r\n".utf8)))
    return EncodedBody(
      segments: segments, contentType: "multipart/form-data; boundary=\(boundary)")
  }

  private func head(of part: MultipartPart) throws(RequestError) -> String {
    var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(try quoted(part.name))\""
    if let fileName = part.fileName { head += "; filename=\"\(try quoted(fileName))\"" }
    if let type = part.contentType {
      guard HeaderCheck.isValue(type) else { throw .headerValue(name: "Content-Type") }
      head += "\r\nContent-Type: \(type)"
    }
    return head + "\r\n\r\n"
  }

  private func quoted(_ name: String) throws(RequestError) -> String {
    if name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { throw .multipartName(name) }
    // Compares bytes because a quote with a combining mark is a different Character but still a quote byte.
    let bytes = name.utf8.flatMap { $0 == UInt8(ascii: "\"") ? Array("%22".utf8) : [$0] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
