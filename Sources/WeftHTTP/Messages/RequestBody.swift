/// What is sent with a request. Files are read while they are sent and never whole.
public enum RequestBody: Sendable, Hashable {
  case none
  case bytes([UInt8], contentType: String?)
  /// A regular file.
  case file(String, contentType: String?)
  /// `application/x-www-form-urlencoded`.
  case form([FormField])
  /// `multipart/form-data` (RFC 7578).
  case multipart([MultipartPart])

  /// JSON as it was written.
  public static func json(_ text: String) -> RequestBody {
    .bytes(Array(text.utf8), contentType: "application/json")
  }

  public static func text(_ text: String) -> RequestBody {
    .bytes(Array(text.utf8), contentType: "text/plain; charset=utf-8")
  }
}

/// A name and a value, of a form or of a query.
public struct FormField: Sendable, Hashable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One field of a multipart form.
public struct MultipartPart: Sendable, Hashable {
  public enum Content: Sendable, Hashable {
    case bytes([UInt8])
    /// A regular file.
    case file(String)
  }

  public var name: String
  public var content: Content
  /// As which the server may keep it; for a file, its own name is usual.
  public var fileName: String?
  public var contentType: String?

  public init(
    _ name: String, _ content: Content, fileName: String? = nil, contentType: String? = nil
  ) {
    self.name = name
    self.content = content
    self.fileName = fileName
    self.contentType = contentType
  }

  public static func text(_ name: String, _ value: String) -> MultipartPart {
    MultipartPart(name, .bytes(Array(value.utf8)))
  }

  public static func file(
    _ name: String, path: String, contentType: String? = nil
  ) -> MultipartPart {
    let last = path.split(separator: "/").last.map(String.init)
    return MultipartPart(name, .file(path), fileName: last, contentType: contentType)
  }
}
