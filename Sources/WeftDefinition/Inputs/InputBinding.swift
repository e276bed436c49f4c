public import WeftDiagnostics
public import WeftJSON

/// Matches the given values with the declared inputs of a workflow.
package struct InputBinding {
  /// The source of the values, which determines the help in messages.
  package enum InputSource: Sendable {
    case commandLine
    case program
  }

  private let declarations: [InputDeclaration]
  private let declared: [InputName: InputDeclaration]
  /// Whether no part of a document may be shown, because it may contain a secret.
  private let hasSecrets: Bool
  private var given: [InputName: GivenInput] = [:]
  private(set) var faults: [InputFault] = []
  /// Inputs that were probably meant by unknown names or given with a fault; that they are missing
  /// only follows from that.
  private var meant: Set<String> = []

  /// The value of each input: given directly, else in a document, else the default.
  ///
  /// - Parameter allowsMissing: Whether inputs that are not given are omitted rather than reported.
  /// - Throws: All faults.
  package static func bind(
    _ declarations: [InputDeclaration], _ given: [GivenInput], inputSource: InputSource,
    allowsMissing: Bool = false
  ) throws(InputsError) -> InputValues {
    var binding = InputBinding(declarations: declarations)
    binding.sort(given)
    let entries = declarations.compactMap { binding.entry(for: $0) }
    let missing =
      allowsMissing
      ? [] : declarations.filter { binding.isMissed($0) }
    guard binding.faults.isEmpty, missing.isEmpty else {
      throw binding.rejection(missing: missing, inputSource)
    }
    return InputValues(entries)
  }

  private init(declarations: [InputDeclaration]) {
    self.declarations = declarations
    declared = declarations.byName
    hasSecrets = declarations.contains(where: \.isSecret)
  }

  /// Reports a fault at its location in a document. If secrets may be near, the location is only
  /// text in the message.
  private mutating func report(
    _ kind: InputFault.Kind, _ name: String, _ message: String, help: String?,
    at place: Diagnostic.Place?
  ) {
    guard hasSecrets, let place else {
      return faults.append(InputFault(kind, name, message, help: help, place: place))
    }
    let position = place.file.position(of: Int(place.range.start))
    let prefix = "\(place.file.path):\(position.line):\(position.column): "
    faults.append(InputFault(kind, name, prefix + message, help: help))
  }

  private func isMissed(_ declaration: InputDeclaration) -> Bool {
    declaration.isRequired && given[declaration.name] == nil
      && !meant.contains(declaration.name.text)
  }

  // MARK: Names

  private mutating func sort(_ all: [GivenInput]) {
    for one in all where one.isDirect { take(one) }
    let direct = given
    for one in all where !one.isDirect {
      let isOverridden = InputName(one.name).map { direct[$0] != nil } ?? false
      if !isOverridden { take(one) }
    }
  }

  private mutating func take(_ one: GivenInput) {
    guard let name = InputName(one.name), let declaration = declared[name] else {
      return reportUnknown(one)
    }
    guard given.updateValue(one, forKey: declaration.name) == nil else {
      report(
        .repeated, one.name, "input \(quoted(declaration.name.text)) is given twice",
        help: "pass it once", at: one.namePlace)
      return
    }
  }

  private mutating func reportUnknown(_ one: GivenInput) {
    let names = declarations.map(\.name.text)
    let nearest = NearestName(names).nearest(to: one.name)
    if let nearest { meant.insert(nearest) }
    let known =
      names.isEmpty
      ? "the workflow has no inputs"
      : "its inputs are " + QuotedList(names, conjunction: "and").description
    report(
      .unknown, one.name, "\(quoted(one.name)) is not an input of this workflow",
      help: nearest.asSuggestion ?? known, at: one.namePlace)
  }

  // MARK: Values

  private mutating func entry(for declaration: InputDeclaration) -> InputValues.Entry? {
    let value: JSONValue
    if let one = given[declaration.name] {
      guard let read = read(one, declaration) else { return nil }
      value = read
      check(value, declaration, declaration.secretBytes, subject: one.subject) {
        one.place(of: $0)
      }
    } else if let standard = declaration.defaultValue {
      value = standard
      // A default from a file was checked when the file was read.
      let subject = "the default of input \(quoted(declaration.name.text))"
      check(value, declaration, declaration.defaultSecretBytes, subject: subject) { _ in nil }
    } else {
      return nil
    }
    return InputValues.Entry(declaration.name, value, isSecret: declaration.isSecret)
  }

  private mutating func read(_ one: GivenInput, _ declaration: InputDeclaration) -> JSONValue? {
    do {
      switch one.content {
      case .value(let value): return value
      case .json(let text) where text.allSatisfy(\.isWhitespace):
        faults.append(
          InputFault(
            .unfit, declaration.name.text, "\(one.subject) is empty, expected a JSON value",
            help: "write -i '\(one.name):=[]', for example, or -i \(one.name)= for an empty text"))
        return nil
      case .json(let text): return try JSONValue(text: text)
      case .text(let text):
        return try declaration.schema.value(ofText: text, like: declaration.defaultValue)
      case .unread(let reason, let help):
        faults.append(
          InputFault(.unread, declaration.name.text, "\(one.subject) \(reason)", help: help))
        return nil
      }
    } catch {
      let isSecret = declaration.isSecret
      faults.append(
        InputFault(
          .unfit, declaration.name.text, error.message(about: one.subject, isSecret: isSecret),
          help: one.arrayHelp(declaration) ?? error.help(isSecret: isSecret)))
      return nil
    }
  }

  private mutating func check(
    _ value: JSONValue, _ declaration: InputDeclaration, _ secretBytes: ClosedRange<Int>?,
    subject: String, place: (ValueError) -> Diagnostic.Place?
  ) {
    let isSecret = declaration.isSecret
    for fault in declaration.schema.faults(of: value, secretBytes: secretBytes) {
      report(
        .unfit, declaration.name.text, fault.message(about: subject, isSecret: isSecret),
        help: fault.help(isSecret: isSecret), at: place(fault))
    }
  }
}

/// Required inputs that are not given, reported together with a description of each.
extension InputBinding {
  func rejection(missing: [InputDeclaration], _ inputSource: InputSource) -> InputsError {
    let missed = missing.map { declaration in
      InputFault(
        .missing, declaration.name.text, "input \(quoted(declaration.name.text)) is not given",
        help: InputBinding.giving([declaration], inputSource))
    }
    var diagnostics = faults.map(\.diagnostic)
    if let diagnostic = InputBinding.diagnostic(ofMissing: missing, inputSource) {
      diagnostics.append(diagnostic)
    }
    return InputsError(faults + missed, diagnostics: diagnostics)
  }

  private static func diagnostic(
    ofMissing missing: [InputDeclaration], _ inputSource: InputSource
  ) -> Diagnostic? {
    guard let first = missing.first else { return nil }
    let names = listed(missing.map { quoted($0.name.text) }, conjunction: "and")
    return Diagnostic(
      .error, code: InputFault(.missing, first.name.text, "").code,
      message: missing.count == 1
        ? "input \(names) is required but not given"
        : "inputs \(names) are required but not given",
      place: nil, help: giving(missing, inputSource),
      related: missing.prefix(mostNotes).map { declaration in
        Diagnostic.Related(message: note(on: declaration), place: nil)
      })
  }

  private static let mostNotes = 20

  /// The description of an input: its purpose and the values that it takes.
  package static func note(on declaration: InputDeclaration) -> String {
    let about = declaration.schema.description ?? declaration.schema.title
    return "\(declaration.name): "
      + [about, declaration.schema.summary].compactMap(\.self)
      .joined(separator: "; ")
  }

  private static func giving(_ missing: [InputDeclaration], _ inputSource: InputSource) -> String {
    switch inputSource {
    case .commandLine:
      "write " + missing.prefix(mostNotes).map(\.option).joined(separator: " ")
        + (missing.count > 3 ? ", or pass them in a file with --inputs FILE" : "")
    case .program:
      "start it with inputs: ["
        + missing.prefix(mostNotes).map { "\"\($0.name)\": …" }.joined(separator: ", ") + "]"
    }
  }
}

/// A value given for an input, before it is checked against the declaration.
package struct GivenInput: Sendable {
  package enum Content: Sendable {
    /// Text to be read as the declared type.
    case text(String)
    /// JSON, whatever the declared type.
    case json(String)
    case value(JSONValue)
    /// A value that could not be read; carries a verb and what was found.
    case unread(String, help: String? = nil)
  }

  package enum Origin: Sendable {
    /// An option, as named in messages: `-i version`.
    case option(String)
    /// A member of a document with all inputs.
    case document(JSONMember)
    /// Code of the embedding program.
    case program
  }

  package var name: String
  package var content: Content
  package var origin: Origin

  package init(_ name: String, _ content: Content, _ origin: Origin) {
    self.name = name
    self.content = content
    self.origin = origin
  }

  /// The members of a document that is an object.
  package static func all(in document: JSONNode) -> [GivenInput] {
    document.members.map { member in
      GivenInput(
        member.key.stringValue ?? "", .value(JSONValue(member.value)), .document(member))
    }
  }

  /// The remedy for a bare word in place of an array, on the command line.
  fileprivate func arrayHelp(_ declaration: InputDeclaration) -> String? {
    guard case .option = origin, case .text(let text) = content, !declaration.isSecret,
      declaration.schema.types == [.array], !text.contains(where: "[]\"'\\".contains),
      !text.contains(where: \.isNewline)
    else { return nil }
    // A list with commas, as many programs take it.
    let words = text.split(separator: ",").map { shortened(String($0.drop(while: \.isWhitespace))) }
    let list = (words.isEmpty ? [shortened(text)] : words).prefix(8).map { "\"\($0)\"" }
    let rest = words.count > list.count ? ", …" : ""
    return "write an array: -i '\(name)=[\(list.joined(separator: ","))\(rest)]'"
  }

  /// The name of the value in messages.
  var subject: String {
    switch origin {
    case .option(let text): quoted(text)
    case .document, .program: "input \(quoted(name))"
    }
  }

  /// Whether it takes precedence over a document.
  var isDirect: Bool {
    if case .document = origin { false } else { true }
  }

  var namePlace: Diagnostic.Place? {
    guard case .document(let member) = origin else { return nil }
    return member.key.place
  }

  func place(of fault: ValueError) -> Diagnostic.Place? {
    guard case .document(let member) = origin else { return nil }
    return member.value.node(at: fault.path, ofName: fault.isAboutName).place
  }
}

/// An error about given inputs that do not fit their declarations; nothing was started.
package struct InputsError: Error, Sendable, Hashable {
  /// All faults, not only the first.
  package let faults: [InputFault]
  /// The faults as reported: missing inputs are combined.
  package let diagnostics: [Diagnostic]

  package init(_ faults: [InputFault], diagnostics: [Diagnostic]) {
    self.faults = faults
    self.diagnostics = diagnostics
  }
}

/// One fault of the given inputs.
public struct InputFault: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The workflow has no such input.
    case unknown
    /// An input without a default was not given.
    case missing
    /// One input was given more than once by the same source.
    case repeated
    /// The given value does not fit the declaration.
    case unfit
    /// A file with the value could not be read.
    case unread
  }

  public let kind: Kind
  /// The name of the input: as given, or as declared if it is missing.
  public let name: String
  /// A sentence that names the input and contains no part of a secret.
  public let message: String
  /// The suggested remedy.
  public let help: String?
  /// The location in a document of inputs.
  public let place: Diagnostic.Place?

  init(
    _ kind: Kind, _ name: String, _ message: String, help: String? = nil,
    place: Diagnostic.Place? = nil
  ) {
    self.kind = kind
    self.name = name
    self.message = message
    self.help = help
    self.place = place
  }

  /// Stable across releases.
  public var code: String {
    switch kind {
    case .unknown: "W0420"
    case .missing: "W0421"
    case .repeated: "W0422"
    case .unfit: "W0423"
    case .unread: "W0424"
    }
  }

  var diagnostic: Diagnostic {
    Diagnostic(.error, code: code, message: message, place: place, help: help)
  }
}

/// The values that a run is given: of its inputs, in the order of their declarations, each fitting its declaration; and
/// its arguments.
public struct InputValues: Sendable, Hashable {
  /// The value of an input in a run.
  public struct Entry: Sendable, Hashable {
    public let name: InputName
    public let value: JSONValue
    /// Whether the value must not be shown.
    public let isSecret: Bool

    package init(_ name: InputName, _ value: JSONValue, isSecret: Bool = false) {
      self.name = name
      self.value = value
      self.isSecret = isSecret
    }
  }

  public let entries: [Entry]
  /// The value of `run.args`: on a command line, all after `--`.
  public package(set) var arguments: [String]
  /// The values of the workflow's state when the run began, by name.
  public package(set) var state: [Entry] = []
  private let places: [InputName: Int]

  /// The values for a workflow without inputs.
  public static let none = InputValues([])

  /// - Parameter entries: No name occurs twice.
  package init(_ entries: [Entry], arguments: [String] = []) {
    self.entries = entries
    self.arguments = arguments
    places = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.name, $0) })
  }

  /// The input with this name, in any case; `nil` if there is none.
  public func entry(named name: String) -> Entry? {
    InputName(name).flatMap { places[$0] }.map { entries[$0] }
  }

  /// The value of the input with this name, in any case.
  public subscript(name: String) -> JSONValue? { entry(named: name)?.value }
}

extension InputValues.Entry: CustomStringConvertible, CustomReflectable {
  /// Hides a secret, however the entry is printed.
  public var description: String { "\(name): \(isSecret ? "***" : value.description)" }

  public var customMirror: Mirror {
    Mirror(self, children: ["name": name.text, "value": isSecret ? "***" : value.description])
  }
}
