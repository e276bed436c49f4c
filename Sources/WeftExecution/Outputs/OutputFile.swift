package import WeftDefinition
import WeftDiagnostics
package import WeftJSON
package import WeftPlatform

/// The file `$WEFT_OUTPUT`, to which a step's program writes its outputs.
///
/// A line is `NAME=VALUE`; or `NAME<<END`, after which all lines up to one that is `END` are the value, without
/// the last line end; or, if it begins with `{`, a JSON object of outputs. Only JSON is safe for arbitrary
/// values: it cannot set another output. In the first form, text after a line end in a value is read as a line
/// of its own. Empty lines are ignored; lines end with LF or CR LF.
package enum OutputFile {
  /// An output that the file is expected to set.
  package struct Declaration: Sendable, Hashable {
    package var name: String
    package var schema: ValueSchema
    /// Whether the value must not appear in messages.
    package var isSecret: Bool

    package init(_ name: String, _ schema: ValueSchema = ValueSchema(), isSecret: Bool = false) {
      self.name = name
      self.schema = schema
      self.isSecret = isSecret
    }
  }

  /// The bytes that the text of a secret output may have; `nil` for an empty one, which has nothing to hide. A long one is
  /// masked in parts.
  static func secretBytes(of value: JSONValue) -> ClosedRange<Int>? {
    WorkflowLimits.secretBytes(ofOptional: value).map { $0.lowerBound...Int.max }
  }

  /// The maximum size of the file.
  package static let limitBytes = 1 << 20

  /// Reading stops after this many faults.
  static let mostFaults = 100

  /// Reads the file at `path`, which the step's program may have replaced by anything.
  ///
  /// - Throws: The reason why it was not read, as a sentence.
  package static func bytes(at path: String) throws(RegularFileError) -> [UInt8] {
    try FileReading.bytes(ofRegularFile: path, limit: limitBytes)
  }

  /// The outputs in a file's text, in the order of their declarations.
  ///
  /// Text values are read by the declared type, as those of `-i` are. Each output must be set exactly once, and
  /// match its schema.
  ///
  /// - Parameter containsSecret: Whether no part of a line may appear in messages.
  /// - Throws: All faults.
  package static func values(
    in bytes: [UInt8], declared: [Declaration], containsSecret: Bool = false
  ) throws(OutputsError) -> [(name: String, value: JSONValue)] {
    var reading = OutputReading(declared, containsSecret: containsSecret)
    reading.read(bytes)
    return try reading.finish()
  }
}

/// One pass over the text of an output file.
private struct OutputReading {
  private enum Content {
    case text(String)
    case value(JSONValue)
  }

  private let declared: [OutputFile.Declaration]
  private let places: [String: Int]
  private let containsSecret: Bool
  private var values: [Int: JSONValue] = [:]
  /// The line where each output was first set, valid or not.
  private var lines: [Int: Int] = [:]
  private var faults: [OutputFailure] = []

  init(_ declared: [OutputFile.Declaration], containsSecret: Bool) {
    self.declared = declared
    self.containsSecret = containsSecret || declared.contains(where: \.isSecret)
    places = Dictionary(declared.enumerated().map { ($1.name, $0) }) { first, _ in first }
  }

  func finish() throws(OutputsError) -> [(name: String, value: JSONValue)] {
    // Faults that only follow from other faults are not reported.
    let missing = declared.indices.filter { output in
      lines[output] == nil && !faults.contains { $0.mayHide(declared[output].name) }
    }
    let all = faults + missing.map { OutputFailure(.missing(declared[$0].name)) }
    guard all.isEmpty else { throw OutputsError(faults: all) }
    return declared.indices.map { (declared[$0].name, values[$0] ?? .null) }
  }

  // MARK: Lines

  mutating func read(_ bytes: [UInt8]) {
    var lines = OutputLines(bytes)
    while faults.count < OutputFile.mostFaults, let line = lines.next() {
      guard let text = line.text else {
        faults.append(OutputFailure(line.fault, line: line.number))
        continue
      }
      if text.isEmpty { continue }
      if text.utf8.first == UInt8(ascii: "{") {
        read(object: text, at: line.number)
      } else {
        read(pair: text, at: line.number, &lines)
      }
    }
  }

  private mutating func read(object text: String, at line: Int) {
    do {
      guard case .object(let object) = try JSONValue(text: text) else {
        return faults.append(OutputFailure(.notAnObject, line: line))
      }
      for member in object { set(member.key, .value(member.value), at: line) }
    } catch {
      let isOpen = text.utf8.last != UInt8(ascii: "}")
      faults.append(
        OutputFailure(.notJSON(error, isOpen: isOpen), line: line, isSecret: containsSecret))
    }
  }

  /// The first operator decides: `a=b<<c` and `a<<b=c` are both read by what comes first.
  private mutating func read(pair text: String, at line: Int, _ lines: inout OutputLines) {
    let units = text.utf8
    let equals = units.firstIndex(of: UInt8(ascii: "="))
    let arrows = units.indices.dropLast().first { index in
      units[index] == UInt8(ascii: "<") && units[units.index(after: index)] == UInt8(ascii: "<")
    }
    guard let end = [equals, arrows].compactMap(\.self).min() else {
      return faults.append(OutputFailure(.unreadableLine, line: line))
    }
    let name = String(text[..<end])
    var value: String?
    if end == equals {
      value = String(text[units.index(after: end)...])
    } else {
      value = delimited(name, by: String(text[units.index(end, offsetBy: 2)...]), at: line, &lines)
    }
    guard let value else { return }
    guard !name.isEmpty else { return faults.append(OutputFailure(.emptyName, line: line)) }
    set(name, .text(value), at: line)
  }

  private mutating func delimited(
    _ name: String, by delimiter: String, at line: Int, _ lines: inout OutputLines
  ) -> String? {
    guard !delimiter.isEmpty else {
      return refuse(
        name, OutputFailure(.emptyDelimiter(name: name), line: line, isSecret: containsSecret))
    }
    switch lines.value(until: delimiter) {
    case .value(let text): return text
    case .unclosed:
      return refuse(
        name,
        OutputFailure(
          .unclosed(name: name, delimiter: delimiter), line: line, isSecret: containsSecret)
      )
    case .unreadable(let fault, let number):
      return refuse(name, OutputFailure(fault, line: number))
    }
  }

  /// Counts the output as set: reporting it as missing, too, would not help.
  private mutating func refuse(_ name: String, _ fault: OutputFailure) -> String? {
    if let output = places[name], lines[output] == nil { lines[output] = fault.line }
    faults.append(fault)
    return nil
  }

  // MARK: Values

  private mutating func set(_ name: String, _ content: Content, at line: Int) {
    guard let output = places[name] else {
      let nearest = NearestName(declared.map(\.name)).nearest(to: name)
      return faults.append(
        OutputFailure(.undeclared(name, nearest: nearest), line: line, isSecret: containsSecret))
    }
    if let first = lines[output] {
      return faults.append(OutputFailure(.repeated(name, firstLine: first), line: line))
    }
    lines[output] = line
    let declaration = declared[output]
    let subject = "output \(quoted(name))"
    let isSecret = declaration.isSecret || containsSecret
    do {
      let value = try OutputReading.value(of: content, by: declaration.schema)
      values[output] = value
      let secretBytes = declaration.isSecret ? OutputFile.secretBytes(of: value) : nil
      for fault in declaration.schema.faults(of: value, secretBytes: secretBytes) {
        report(
          fault.message(about: subject, isSecret: isSecret), fault.help(isSecret: isSecret),
          at: line)
      }
    } catch {
      report(
        error.message(about: subject, isSecret: isSecret), error.help(isSecret: isSecret), at: line)
    }
  }

  private static func value(
    of content: Content, by schema: ValueSchema
  ) throws(TextError) -> JSONValue {
    switch content {
    case .text(let text): try schema.value(ofText: text)
    case .value(let value): value
    }
  }

  private mutating func report(_ message: String, _ help: String?, at line: Int) {
    faults.append(OutputFailure(.unfit(message: message, help: help), line: line))
  }
}

/// A diagnostic about the content of a step's file `$WEFT_OUTPUT`.
package struct OutputFailure: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case notUTF8
    case nul
    case unreadableLine
    case emptyName
    case emptyDelimiter(name: String)
    case unclosed(name: String, delimiter: String)
    case notJSON(TextError, isOpen: Bool)
    case notAnObject
    case undeclared(String, nearest: String?)
    case repeated(String, firstLine: Int)
    case missing(String)
    case unfit(message: String, help: String?)
  }

  let kind: Kind
  /// Counts from 1; `nil` if it is not about a line.
  package let line: Int?
  /// Whether the content of the line may be part of a secret.
  let isSecret: Bool

  init(_ kind: Kind, line: Int? = nil, isSecret: Bool = false) {
    self.kind = kind
    self.line = line
    self.isSecret = isSecret
  }

  /// The error and its location: lower case, no full stop.
  package var message: String {
    let subject = line.map { "line \($0) of $WEFT_OUTPUT" } ?? "$WEFT_OUTPUT"
    if case .notJSON(let fault, _) = kind {
      return fault.message(about: subject, isSecret: isSecret)
    }
    return subject + " " + complaint
  }

  private var complaint: String {
    switch kind {
    case .notJSON: "is not JSON"
    case .undeclared where isSecret: "sets an output that is not declared in the step's \"outputs\""
    case .unclosed where isSecret: "starts a value that has no end line"
    case .emptyDelimiter where isSecret: "has no end word for the value"
    case .notUTF8: "is not UTF-8"
    case .nul: "contains a NUL character"
    case .unreadableLine: "is neither NAME=VALUE nor NAME<<END nor a JSON object"
    case .emptyName: "has no name"
    case .emptyDelimiter(let name): "has no end word for the value of \(quoted(name))"
    case .unclosed(let name, let delimiter):
      "starts the value of \(quoted(name)), but no line \(quoted(delimiter)) ends it"
    case .notAnObject: "is JSON, but not an object"
    case .undeclared(let name, _):
      "sets \(quoted(name)), which is not declared in the step's \"outputs\""
    case .repeated(let name, let first):
      first == line
        ? "sets the output \(quoted(name)) twice"
        : "sets the output \(quoted(name)), which line \(first) already sets"
    case .missing(let name): "does not set the output \(quoted(name))"
    case .unfit(let message, _): "sets an invalid value: \(message)"
    }
  }

  /// Whether the missing output `name` may be explained by this fault.
  func mayHide(_ name: String) -> Bool {
    switch kind {
    case .notUTF8, .nul, .unreadableLine, .notJSON, .notAnObject: true
    case .undeclared(_, let nearest): nearest == name
    case .emptyName, .emptyDelimiter, .unclosed, .repeated, .missing, .unfit: false
    }
  }

  /// The suggested remedy.
  package var help: String? {
    switch kind {
    case .undeclared where isSecret: "write multi-line values as JSON"
    case .notJSON(_, isOpen: true): "write the object on one line, as jq -c does"
    case .notJSON(let fault, isOpen: false): fault.help(isSecret: isSecret)
    case .notAnObject: "write { \"NAME\": value } on one line"
    case .unreadableLine, .emptyName, .emptyDelimiter:
      "write a multi-line value as NAME<<END, its lines, END; or as JSON"
    case .unclosed:
      "end the value with a line that has only that word; JSON is safe for any value: jq -cn --arg "
        + "NAME \"$VALUE\" '{$NAME}' >> \"$WEFT_OUTPUT\""
    case .undeclared(let name, let nearest):
      nearest.map { "did you mean \"\($0)\"?" }
        ?? "declare it: \"outputs\": { \(quoted(name)): { \"type\": \"string\" } }"
    case .missing(let name):
      "write it: echo \"\(name)=…\" >> \"$WEFT_OUTPUT\""
    case .unfit(_, let help): help
    case .notUTF8, .nul, .repeated: nil
    }
  }
}

/// The content of a step's output file cannot be used; never empty.
package struct OutputsError: Error, Sendable, Hashable {
  /// Ordered by line; those of missing outputs last.
  package let faults: [OutputFailure]

  /// All faults in a sentence; only the first three if there are more.
  package var message: String {
    let reported = faults.prefix(3).map(\.message).joined(separator: "; ")
    return faults.count > 3 ? reported + "; and \(faults.count - 3) more" : reported
  }

  /// The remedy of the first fault that has one.
  package var help: String? { faults.lazy.compactMap(\.help).first }
}
