/// Something that is wrong with a file, or worth saying about it, and where it stands.
public struct Diagnostic: Sendable, Hashable {
  public enum Severity: String, Sendable, Hashable {
    /// The file is rejected.
    case error
    /// The file is accepted; `--strict` rejects it.
    case warning
    /// Only told.
    case note
  }

  /// Another place that belongs to the same problem, such as the first of two equal keys.
  public struct Related: Sendable, Hashable {
    public var message: String
    public var place: Place?

    public init(message: String, place: Place?) {
      self.message = message
      self.place = place
    }
  }

  /// A range of a file.
  public struct Place: Sendable, Hashable {
    public var file: SourceFile
    public var range: SourceRange

    public init(file: SourceFile, range: SourceRange) {
      self.file = file
      self.range = range
    }
  }

  public var severity: Severity
  /// Stable across releases, such as `W0203`; SPEC: W00xx JSON, W01xx shape, W02xx graph.
  public var code: String
  /// One sentence: lower case, no full stop, what was found and then what was wanted.
  public var message: String
  /// `nil` for a workflow that was built in Swift.
  public var place: Place?
  /// What to do about it.
  public var help: String?
  /// In the order in which they should be read.
  public var related: [Related]

  public init(
    _ severity: Severity, code: String, message: String, place: Place?, help: String? = nil,
    related: [Related] = []
  ) {
    self.severity = severity
    self.code = code
    self.message = message
    self.place = place
    self.help = help
    self.related = related
  }

  public var isError: Bool { severity == .error }
}
