public import WeftDiagnostics

/// A secret that a workflow uses: what expressions call it, and where its value is when a run starts.
public struct SecretDeclaration: Sendable, Hashable {
  public var name: SecretName
  public var source: SecretSource
  public var description: String?
  /// Its name in the file, with quotes.
  public var place: Written<SourceRange?>

  public init(
    _ name: SecretName, from source: SecretSource, description: String? = nil,
    place: SourceRange? = nil
  ) {
    self.name = name
    self.source = source
    self.description = description
    self.place = Written(place)
  }
}

/// Where the value of a secret is. It is read when a run starts, and never before: not to check a file, nor
/// to print its graph.
public enum SecretSource: Sendable, Hashable {
  /// A variable of the engine's environment. No program of a run gets it from there.
  case environment(String)
  /// A file, relative to the start directory.
  case file(String)
  /// What a program prints: never empty, started directly and not by a shell, in the start directory. With
  /// no timeout it may take ``WorkflowLimits/secretCommandTimeout``.
  case command([String], timeout: Duration? = nil)
  /// An open descriptor of the engine's, above 2. It is read to its end, and closed.
  case descriptor(Int32)
}

/// What expressions call a secret: `[A-Za-z_][A-Za-z0-9_-]{0,254}`, not beginning with `WEFT_`.
///
/// Two names that differ only in upper and lower case are the same name, as they are in expressions.
public struct SecretName: Sendable {
  /// As it was written.
  public let text: String

  /// `nil` if `text` is no such name.
  public init?(_ text: String) {
    guard StepID.isValid(text.utf8), !SecretName.isReserved(text) else { return nil }
    self.text = text
  }

  /// Whether Weft keeps the name to itself, as it does variables of that beginning.
  static func isReserved(_ text: String) -> Bool { folded(text).hasPrefix("WEFT_") }

  private static func folded(_ text: String) -> String { text.uppercased() }
}

extension SecretName: Hashable {
  public static func == (left: SecretName, right: SecretName) -> Bool {
    folded(left.text) == folded(right.text)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(SecretName.folded(text)) }
}

extension SecretName: ExpressibleByStringLiteral {
  /// - Precondition: The literal is such a name.
  public init(stringLiteral text: String) {
    guard let name = SecretName(text) else {
      preconditionFailure("\"\(text)\" is not the name of a secret: [A-Za-z_][A-Za-z0-9_-]{0,254}")
    }
    self = name
  }
}

extension SecretName: CustomStringConvertible {
  public var description: String { text }
}
