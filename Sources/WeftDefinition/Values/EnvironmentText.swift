package import WeftDiagnostics

/// The content of an env file: variables and their values, by the rules that docker compose documents for such files.
///
/// Text alone: nothing is read or looked up before ``values(after:inheriting:)``. Where programs disagree about the
/// meaning of a text, it is a problem instead of a guess.
package struct EnvironmentText: Sendable {
  struct Assignment: Sendable {
    let name: String
    /// `nil` for a name alone, which passes on the variable of the engine's own environment.
    let value: [Part]?
    let range: SourceRange
  }

  enum Part: Sendable {
    case literal([UInt8])
    indirect case variable(Reference)
  }

  /// A `$NAME` or `${NAME…}` in a value.
  struct Reference: Sendable {
    enum Rule: Sendable { case standard, required, alternative }

    let name: String
    var rule: Rule?
    /// Whether an empty value counts as none: `:-`, `:?` and `:+`.
    var treatsEmptyAsUnset = false
    /// The text after the operator.
    var operand: [Part] = []
    var range: SourceRange
  }

  struct Problem: Error {
    var code = "W0608"
    let message: String
    /// The message about a file with secrets: a `$` may be part of one, and what looks like a name with it.
    var concealed: String?
    var help: String?
    let range: SourceRange
  }

  fileprivate static let unset = "W0609"

  let file: SourceFile
  let assignments: [Assignment]
  private let problems: [Problem]

  /// The maximum size of a file.
  package static let mostBytes = 1 << 20
  /// The maximum size of all values together: more than the system passes to a program.
  fileprivate static let mostValueBytes = 1 << 22

  package init(_ file: SourceFile) {
    self.file = file
    if let fault = file.textFault {
      assignments = []
      problems = [
        Problem(
          message: "found \(fault.found), expected the text of an env file",
          help: "save it as UTF-8 text, with lines NAME=VALUE",
          range: SourceRange(start: fault.offset, end: fault.offset + 1))
      ]
      return
    }
    var reader = EnvironmentTextReader(file)
    reader.read()
    (assignments, problems) = (reader.assignments, reader.problems)
  }

  /// The problems that need no values to be found.
  ///
  /// - Parameter isConcealed: Whether the file holds secrets, so that no line of it may be shown.
  package func diagnostics(concealed isConcealed: Bool) -> [Diagnostic] {
    problems.map { $0.diagnostic(in: file, concealed: isConcealed) }
  }

  /// The values of the variables; of several with one name, the last counts.
  ///
  /// - Parameters:
  ///   - known: The variables of the files before this one, which references may read and which stay.
  ///   - outer: The engine's own environment, for names that no file has set.
  ///   - wanted: The only variable that must have a value: those that cannot be computed are then left out.
  /// - Throws: The first problem, also one of ``diagnostics(concealed:)``.
  package func values(
    after known: [String: String], inheriting outer: (String) -> String?,
    wanted: String? = nil, concealed isConcealed: Bool
  ) throws(EnvironmentTextError) -> [String: String] {
    do throws(Problem) {
      if let problem = problems.first { throw problem }
      return try values(after: known, inheriting: outer, wanted: wanted)
    } catch {
      let first = error.diagnostic(in: file, concealed: isConcealed)
      throw EnvironmentTextError(
        diagnostics: problems.isEmpty ? [first] : diagnostics(concealed: isConcealed))
    }
  }

  private func values(
    after known: [String: String], inheriting outer: (String) -> String?, wanted: String?
  ) throws(Problem) -> [String: String] {
    var values = known
    var size = 0
    for assignment in assignments {
      guard let parts = assignment.value else {
        values[assignment.name] = outer(assignment.name)
        continue
      }
      var text: [UInt8] = []
      do throws(Problem) {
        try append(parts, to: &text, limit: EnvironmentText.mostValueBytes - size, assignment) {
          values[$0] ?? outer($0)
        }
      } catch {
        if wanted == nil || wanted == assignment.name { throw error }
        values[assignment.name] = nil
        continue
      }
      size += text.count
      values[assignment.name] = String(decoding: text, as: UTF8.self)
    }
    return values
  }

  /// Recursive: ``EnvironmentTextReader`` limits the depth.
  private func append(
    _ parts: [Part], to text: inout [UInt8], limit: Int, _ assignment: Assignment,
    _ value: (String) -> String?
  ) throws(Problem) {
    for part in parts {
      switch part {
      case .literal(let bytes): text += bytes
      case .variable(let reference):
        let found = value(reference.name)
        let isSet = found.map { !(reference.treatsEmptyAsUnset && $0.isEmpty) } ?? false
        switch reference.rule {
        case nil:
          guard let found else { throw .unset(reference) }
          text += Array(found.utf8)
        case .standard:
          if isSet {
            text += Array((found ?? "").utf8)
          } else {
            try append(reference.operand, to: &text, limit: limit, assignment, value)
          }
        case .alternative:
          if isSet { try append(reference.operand, to: &text, limit: limit, assignment, value) }
        case .required:
          guard isSet else { throw .required(reference) }
          text += Array((found ?? "").utf8)
        }
      }
      guard text.count <= limit else { throw .tooLarge(assignment) }
    }
  }
}

/// The reasons why an env file has no values: a diagnostic for each.
package struct EnvironmentTextError: Error, Sendable {
  package let diagnostics: [Diagnostic]

  package init(diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }
}

extension EnvironmentText.Problem {
  fileprivate func diagnostic(in file: SourceFile, concealed isConcealed: Bool) -> Diagnostic {
    guard isConcealed else {
      return Diagnostic(
        .error, code: code, message: message, place: Diagnostic.Place(file: file, range: range),
        help: help)
    }
    let position = file.position(of: Int(range.start))
    return Diagnostic(
      .error, code: code,
      message: "\(file.path):\(position.line):\(position.column): \(concealed ?? message)",
      place: nil,
      help: concealed == nil
        ? help : "set it in a line above, or where weft is started; $$ is a literal $")
  }

  fileprivate static func unset(_ reference: EnvironmentText.Reference) -> Self {
    let name = reference.name
    return Self(
      code: EnvironmentText.unset, message: "the variable \"\(name)\" is not set",
      concealed: "the variable after the $ is not set",
      help: "set it in a line above, or where weft is started; "
        + "${\(name):-} is empty without it, and $$ is a literal $",
      range: reference.range)
  }

  /// Without the message of the file, which may hold anything; the excerpt shows it.
  fileprivate static func required(_ reference: EnvironmentText.Reference) -> Self {
    let problem = reference.treatsEmptyAsUnset ? "is not set, or empty" : "is not set"
    return Self(
      code: EnvironmentText.unset,
      message: "the variable \"\(reference.name)\" \(problem)",
      concealed: "the variable after the $ \(problem)",
      help: "set it in a line above, or where weft is started", range: reference.range)
  }

  fileprivate static func tooLarge(_ assignment: EnvironmentText.Assignment) -> Self {
    Self(
      message: "with \"\(assignment.name)\", the values have more than "
        + "\(EnvironmentText.mostValueBytes >> 20) MiB in total",
      help: "pass large texts in files", range: assignment.range)
  }
}
