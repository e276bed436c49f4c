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

  /// Text in UTF-8.
  public static func text(_ text: String) -> RequestBody {
    .bytes(Array(text.utf8), contentType: "text/plain; charset=utf-8")
  }
}

/// A name and a value, of a form or of a query.
public struct FormField: Sendable, Hashable {
  /// Before the equals sign, not encoded.
  public var name: String
  /// Behind it, not encoded.
  public var value: String

  /// Makes a field of a name and a value as they are meant.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One field of a multipart form.
public struct MultipartPart: Sendable, Hashable {
  /// Where the bytes of a part come from.
  public enum Content: Sendable, Hashable {
    case bytes([UInt8])
    /// A regular file.
    case file(String)
  }

  /// Of the field.
  public var name: String
  /// What it consists of.
  public var content: Content
  /// As which the server may keep it; for a file, its own name is usual.
  public var fileName: String?
  /// What it says of itself; `nil`: nothing, which means text.
  public var contentType: String?

  /// Makes a part.
  public init(
    _ name: String, _ content: Content, fileName: String? = nil, contentType: String? = nil
  ) {
    self.name = name
    self.content = content
    self.fileName = fileName
    self.contentType = contentType
  }

  /// A part that is plain text in UTF-8.
  public static func text(_ name: String, _ value: String) -> MultipartPart {
    MultipartPart(name, .bytes(Array(value.utf8)))
  }

  /// A part that is a file, under its own name.
  public static func file(
    _ name: String, path: String, contentType: String? = nil
  ) -> MultipartPart {
    let last = path.split(separator: "/").last.map(String.init)
    return MultipartPart(name, .file(path), fileName: last, contentType: contentType)
  }
}
