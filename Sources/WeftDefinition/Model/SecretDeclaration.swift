public import WeftDiagnostics

/// A secret that a workflow uses: its name in expressions, and the source of its value.
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

/// The source of a secret's value. It is read when a run starts and never before: not to check a file, nor
/// to print its graph.
public enum SecretSource: Sendable, Hashable {
  /// A variable of the engine's environment. Programs of a run do not inherit it.
  case environment(String)
  /// A file, relative to the start directory.
  case file(String)
  /// The output of a program: never an empty command, started directly without a shell, in the start
  /// directory. Without a timeout it may take ``WorkflowLimits/secretCommandTimeout``.
  case command([String], timeout: Duration? = nil)
  /// An open descriptor of the engine, above 2. It is read to its end and closed.
  case descriptor(Int32)
}

/// The name of a secret in expressions: `[A-Za-z_][A-Za-z0-9_-]{0,254}`, not beginning with `WEFT_`.
///
/// Names are case-insensitive, as they are in expressions.
public struct SecretName: Sendable {
  /// The original spelling.
  public let text: String

  /// `nil` if `text` is not a valid name.
  public init?(_ text: String) {
    guard StepID.isValid(text.utf8), !SecretName.isReserved(text) else { return nil }
    self.text = text
  }

  /// Whether Weft reserves the name, as it does for variables with this prefix.
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
  /// - Precondition: The literal is a valid name.
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
