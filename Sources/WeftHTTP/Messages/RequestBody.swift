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
