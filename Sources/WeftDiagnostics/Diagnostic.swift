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

/// The diagnostics to show: sorted by location, without repetition, at most a limit.
///
/// If there are more than the limit, errors are chosen before warnings and warnings before notes, so that a rejected
/// file always shows why. Those chosen are then sorted by location.
package struct DiagnosticCollection: Sendable, Hashable {
  /// Sorted by file in the order given, then by location; diagnostics without a location come first.
  package let shown: [Diagnostic]
  /// The number of diagnostics beyond the limit.
  package let hiddenCount: Int
  package let errorCount: Int
  package let warningCount: Int

  package static let defaultLimit = 20

  package init(_ diagnostics: [Diagnostic], limit: Int = DiagnosticCollection.defaultLimit) {
    let sorted = diagnostics.sortedByLocation().withoutRepetition()
    errorCount = sorted.count { $0.severity == .error }
    warningCount = sorted.count { $0.severity == .warning }
    shown = sorted.mostSevere(max(limit, 0))
    hiddenCount = sorted.count - shown.count
  }

  /// `… and 3 more`; `nil` if everything is shown.
  package var remark: String? { hiddenCount > 0 ? "… and \(hiddenCount) more" : nil }
}

extension [Diagnostic] {
  /// Sorts diagnostics without a location first, then by file in order of first mention, then by range; stable.
  package func sortedByLocation() -> [Diagnostic] {
    var fileOrder: [SourceFile: Int] = [:]
    let keys = map { diagnostic in
      guard let place = diagnostic.place else { return (-1, UInt32(0), UInt32(0)) }
      let order = fileOrder[place.file] ?? fileOrder.count
      fileOrder[place.file] = order
      return (order, place.range.start, place.range.end)
    }
    return indices.sorted { (keys[$0], $0) < (keys[$1], $1) }.map { self[$0] }
  }

  /// Keeps the first of several diagnostics with the same text and location.
  fileprivate func withoutRepetition() -> [Diagnostic] {
    var reported: Set<DiagnosticKey> = []
    return filter {
      reported.insert(
        DiagnosticKey(code: $0.code, message: $0.message, place: $0.place, subject: $0.subject)
      ).inserted
    }
  }

  fileprivate func mostSevere(_ limit: Int) -> [Diagnostic] {
    guard count > limit else { return self }
    let ranks: [Diagnostic.Severity] = [.error, .warning, .note]
    let chosen = ranks.lazy.flatMap { rank in self.indices.filter { self[$0].severity == rank } }
    return chosen.prefix(limit).sorted().map { self[$0] }
  }
}

/// The properties that make two diagnostics equal to a reader.
private struct DiagnosticKey: Hashable {
  var code: String
  var message: String
  var place: Diagnostic.Place?
  var subject: String?
}

private func < (
  left: ((Int, UInt32, UInt32), Int), right: ((Int, UInt32, UInt32), Int)
) -> Bool {
  left.0 == right.0 ? left.1 < right.1 : left.0 < right.0
}

/// The diagnostics reported so far, for a file that is reached in several ways: the same message at the same location
/// is one problem, whatever names lead to it.
package struct DiagnosticDeduplicator {
  private struct Key: Hashable {
    let code: String
    let path: String?
    let range: SourceRange?
    let message: String
  }

  private var keys: Set<Key> = []

  package init() {}

  /// - Returns: Whether it has not been reported before.
  package mutating func insert(_ diagnostic: Diagnostic) -> Bool {
    let place = diagnostic.place
    let key = Key(
      code: diagnostic.code, path: place?.file.path, range: place?.range,
      message: diagnostic.message)
    return keys.insert(key).inserted
  }
}
