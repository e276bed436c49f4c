/// A problem with a file, or a remark about it, and its location.
public struct Diagnostic: Sendable, Hashable {
  public enum Severity: String, Sendable, Hashable {
    /// The file is rejected.
    case error
    /// The file is accepted; `--strict` rejects it.
    case warning
    /// Information only.
    case note
  }

  /// A second location that belongs to the same problem, such as the first of two equal keys.
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
  /// One sentence: lower case, no full stop, first what was found and then what was expected.
  public var message: String
  /// `nil` for a workflow that was built in Swift.
  public var place: Place?
  /// The address of the step or group at fault; `nil` if that is the workflow itself or is not known.
  public var step: String?
  /// The key at fault, as the file format names it, also for a workflow that was built in Swift: `retry.factor`.
  public var key: String?
  /// The suggested remedy.
  public var help: String?
  /// Related locations, in reading order.
  public var related: [Related]

  public init(
    _ severity: Severity, code: String, message: String, place: Place?, help: String? = nil,
    related: [Related] = [], step: String? = nil, key: String? = nil
  ) {
    self.severity = severity
    self.code = code
    self.message = message
    self.place = place
    self.help = help
    self.related = related
    self.step = step
    self.key = key
  }

  /// The text that replaces a missing location: `step "build", run[1]`.
  package var subject: String? {
    guard place == nil else { return nil }
    let parts = [step.map { "step \"\($0)\"" }, key].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  public var isError: Bool { severity == .error }
}
