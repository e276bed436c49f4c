import WeftDiagnostics
import WeftJSON

/// One walk over one document. The values read are returned to the callers; the problems are collected here.
///
/// An unusable value is reported and dropped, and the walk continues, so that one pass finds all
/// problems of a file. Consequences of a reported problem are not reported.
///
/// It holds a pointer into the text and must not outlive the call of ``run(on:limits:)`` that creates it.
struct DecodingPass {
  struct Limits {
    var steps = WorkflowLimits.steps
    var groupDepth = WorkflowLimits.groupDepth
    var problems = WorkflowLimits.problems
  }

  let limits: Limits
  /// The whole file.
  private let bytes: UnsafeBufferPointer<UInt8>
  private(set) var diagnostics: [Diagnostic] = []
  /// Whether a limit was reached: the rest was not read, and what was read is meaningless.
  private(set) var isCutShort = false
  /// The lists around the value being read, outermost first; of a list with names, the name instead of the index.
  private var lists: [(key: StaticString, index: Int, member: SourceRange?)] = []
  /// Whether the step being read belongs to a cleanup.
  private(set) var isInCleanup = false
  private var stepCount = 0
  /// Whether any step so far runs another file.
  var namesOtherFiles = false
  /// Invalid texts in place of ids; steps that need them are not reported.
  private(set) var rejectedIDs: Set<String> = []
  /// Whether no value may be given by an expression: in a list of policies.
  var computesNothing = false
  /// The locations of the texts with expressions in the object being read.
  var texts: [TextPlace] = []

  /// Reads a workflow. Returns it, or `nil` if too much is missing, with all its problems.
  static func run(on root: JSONNode, limits: Limits) -> DecodedFile {
    reading(root, limits: limits) { pass in
      let workflow = pass.workflow(root)
      return DecodedFile(
        workflow: workflow?.withoutNeeds(on: pass.rejectedIDs), diagnostics: pass.diagnostics,
        namesOtherFiles: pass.namesOtherFiles)
    }
  }

  /// Reads a document of any kind of file.
  static func reading<Result>(
    _ root: JSONNode, limits: Limits = Limits(), _ read: (inout DecodingPass) -> Result
  ) -> Result {
    root.document.file.bytes.withUnsafeBufferPointer { bytes in
      var pass = DecodingPass(limits: limits, bytes: bytes)
      return read(&pass)
    }
  }

  private init(limits: Limits, bytes: UnsafeBufferPointer<UInt8>) {
    self.limits = limits
    self.bytes = bytes
  }

  /// The bytes of a string or key between its quotes, with their escapes.
  func content(of node: JSONNode) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[node.contentRange])
  }

  /// The number of groups around the value being read, without the top level.
  var groupDepth: Int { max(lists.count - 1, 0) }

  // MARK: Reporting

  mutating func report(
    _ problem: Diagnostic, at node: JSONNode, related: (String, JSONNode)? = nil
  ) {
    report(problem, at: node.place, related: related.map { ($0.0, $0.1.place) })
  }

  mutating func report(
    _ problem: Diagnostic, at place: Diagnostic.Place, related: (String, Diagnostic.Place)? = nil
  ) {
    guard !isCutShort else { return }
    var diagnostic = problem
    if diagnostics.count >= limits.problems {
      isCutShort = true
      diagnostic = .tooManyProblems(limit: limits.problems)
    } else if let related {
      diagnostic.related = [Diagnostic.Related(message: related.0, place: related.1)]
    }
    diagnostic.place = place
    diagnostics.append(diagnostic)
  }

  mutating func reject(id: String) {
    rejectedIDs.insert(id)
  }

  mutating func cutShort(_ problem: Diagnostic, at node: JSONNode) {
    report(problem, at: node)
    isCutShort = true
  }

  // MARK: Position

  mutating func enter(_ key: StaticString) {
    lists.append((key, -1, nil))
  }

  /// Reads an object whose path is that of an element, or of a named member, of the value of `key`; or of that value
  /// itself.
  @discardableResult
  mutating func inside<Result>(
    _ key: StaticString, at index: Int = -1, member: JSONNode? = nil,
    _ read: (inout DecodingPass) -> Result
  ) -> Result {
    let range = member?.contentRange
    lists.append((key, index, range.map { SourceRange(start: $0.lowerBound, end: $0.upperBound) }))
    defer { lists.removeLast() }
    return read(&self)
  }

  /// Moves to the next member of the innermost list; `false` if no more are read.
  mutating func advance(to node: JSONNode) -> Bool {
    guard count(node) else { return false }
    lists[lists.count - 1].index += 1
    return true
  }

  /// Counts a step; `false` if no more are read.
  mutating func count(_ node: JSONNode) -> Bool {
    guard !isCutShort else { return false }
    stepCount += 1
    if stepCount > limits.steps { cutShort(.tooManySteps(limit: limits.steps), at: node) }
    return !isCutShort
  }

  mutating func leave() {
    lists.removeLast()
  }

  /// Reads the steps of a cleanup.
  mutating func inCleanup(_ read: (inout DecodingPass) -> Void) {
    isInCleanup = true
    read(&self)
    isInCleanup = false
  }

  /// The JSON path of a value of the object being read, such as `steps[3].parallel[0].timeout`.
  func path(_ field: Field) -> String {
    var path = ""
    for (list, index, member) in lists {
      if list.utf8CodeUnitCount > 0 { path += path.isEmpty ? list.description : ".\(list)" }
      if let member { path += ".\(name(in: member))" }
      if index >= 0 { path += "[\(index)]" }
    }
    for key in [field.root, field.key] where key.utf8CodeUnitCount > 0 {
      path += path.isEmpty ? key.description : ".\(key)"
    }
    if let position = field.position { path += "[\(position)]" }
    if let member = field.member { path += "." + name(in: member) }
    for part in [field.part, field.subpart] where part.utf8CodeUnitCount > 0 { path += ".\(part)" }
    if let index = field.index { path += "[\(index)]" }
    return DecodingPass.elided(path)
  }

  private func name(in range: SourceRange) -> String {
    String(decoding: bytes[Int(range.start)..<Int(range.end)], as: UTF8.self)
  }
}

extension DecodingPass {
  /// Shortens a long path to its end, which says more than its beginning.
  static func elided(_ path: String) -> String {
    path.utf8.count <= 100 ? path : "…" + path.suffix(60).drop { $0 != "." }
  }
}

/// The path of a value inside a step, or of one at the top level.
///
/// One is made for each value but used only if that value is invalid, so making it neither counts
/// references nor allocates.
struct Field {
  /// The key around ``key``; empty if there is none, like each of the following.
  private(set) var root: StaticString = ""
  private(set) var key: StaticString
  /// The index in the key's array, for an element that has parts of its own.
  private(set) var position: Int32?
  /// The range of a member's name, without its quotes.
  private(set) var member: SourceRange?
  private(set) var part: StaticString = ""
  private(set) var subpart: StaticString = ""
  /// The index of an element at the end of the path.
  private(set) var index: Int?

  init(_ key: StaticString) { self.key = key }

  /// The object itself.
  static let itself = Field("")

  /// The value of a key of the object at this path.
  func inner(_ name: StaticString) -> Field {
    var field = self
    if key.utf8CodeUnitCount == 0 {
      field.key = name
    } else if position != nil || member != nil || root.utf8CodeUnitCount > 0 {
      if part.utf8CodeUnitCount == 0 { field.part = name } else { field.subpart = name }
    } else {
      field.root = key
      field.key = name
    }
    return field
  }

  /// An element that has parts of its own.
  func at(_ position: Int) -> Field {
    var field = self
    field.position = Int32(clamping: position)
    return field
  }

  func element(_ index: Int) -> Field {
    var field = self
    field.index = index
    return field
  }

  /// The value of a name that the file chooses.
  func member(_ name: JSONNode) -> Field {
    var field = self
    let range = name.contentRange
    field.member = SourceRange(start: range.lowerBound, end: range.upperBound)
    return field
  }
}

extension Diagnostic {
  static func tooManySteps(limit: Int) -> Diagnostic {
    Diagnostic(.tooManySteps, "the workflow has more than \(limit) steps, which is the limit")
  }

  static func tooManyProblems(limit: Int) -> Diagnostic {
    Diagnostic(
      .tooManyProblems,
      "the file has more than \(limit) problems; the rest of it was not checked")
  }
}

/// The result of reading an object besides its values.
struct ObjectReading {
  /// Whether there was an unknown key, which may be a misspelling of any other.
  var hasUnknownKey = false
  /// Whether a key that it must have was reported as missing.
  var isMissingKey = false
}

/// Objects, read by their tables.
extension DecodingPass {
  /// Finding a suggestion takes longer than all other work, and more of them help no reader.
  private static let mostSuggestions = 1000

  /// Reads the members of an object; reports unknown keys, and missing ones unless an unknown key may be one of them.
  @discardableResult
  mutating func read<Object: FormatObject>(
    _ node: JSONNode, _ field: Field, into object: inout Object
  ) -> ObjectReading {
    let format = Object.format
    var reading = ObjectReading()
    var seen: UInt64 = 0
    for member in node.members {
      let packed = packed(member.key)
      var index = format.index(of: packed)
      if index == nil, !packed.isIgnored {
        index = reportUnknown(member, in: Object.self)
        if index == nil { reading.hasUnknownKey = true }
      }
      guard let index else { continue }
      seen |= 1 << UInt64(index)
      let key = format.keys[index]
      guard object.admits(key.rule, member.key, &self) else { continue }
      key.read(&self, member, field.inner(key.rule.name), &object)
    }
    if format.required & ~seen != 0,
      !reading.hasUnknownKey || Object.reportsAllMissingKeys
    {
      reading.isMissingKey = true
      let path = path(field)
      for (index, key) in format.keys.enumerated() where seen & 1 << UInt64(index) == 0 {
        guard let example = key.rule.example else { continue }
        report(
          .missingKey(
            path: path.isEmpty ? format.noun : path, key: key.rule.name, example: example),
          at: node)
      }
    }
    return reading
  }

  private func packed(_ key: JSONNode) -> PackedKey {
    key.isEscaped ? PackedKey((key.stringValue ?? "").utf8) : PackedKey(content(of: key))
  }

  /// Whether a key needs no report although it is unknown: it begins with `x-`.
  func isIgnored(_ key: JSONNode) -> Bool { packed(key).isIgnored }

  /// Reports an unknown key. Returns the index of the key as which it is read, if there is one.
  private mutating func reportUnknown<Object: FormatObject>(
    _ member: JSONMember, in object: Object.Type
  ) -> Int? {
    let name = member.key.stringValue ?? ""
    if let problem = Object.misplaced(name, member.value) {
      report(problem, at: member.key)
      return nil
    }
    let format = Object.format
    let rules = format.rules
    let nearest =
      diagnostics.count < DecodingPass.mostSuggestions ? KeyRule.nearest(to: name, in: rules) : nil
    report(.unknownKey(name, of: format.noun, rules, nearest: nearest), at: member.key)
    guard let nearest, let index = format.index(of: PackedKey(nearest.utf8)),
      rules[index].traits.reads(member.value.kind)
    else { return nil }
    return index
  }

  /// The member with this key, for a message about an object that was read.
  func member(_ name: String, of node: JSONNode) -> JSONMember? {
    node.members.first { $0.key.isString(equalTo: name) }
  }
}

extension KeyRule {
  /// The key that was probably meant.
  fileprivate static func nearest(to name: String, in rules: [KeyRule]) -> String? {
    for rule in rules where rule.synonyms.description.split(separator: " ").contains(name[...]) {
      return rule.name.description
    }
    // Nearly every two-letter word is one letter away from "id".
    guard name.count > 2 || name.lowercased() == "id" else { return nil }
    return NearestName(rules.map(\.name.description)).nearest(to: name)
  }
}

extension Diagnostic {
  fileprivate static func unknownKey(
    _ key: String, of noun: String, _ known: [KeyRule], nearest: String?
  ) -> Diagnostic {
    let listing = known.map(\.name.description).joined(separator: ", ")
    return Diagnostic(
      .unknownKey, "\(quoted(key)) is not a key of \(noun)",
      help: nearest.asSuggestion ?? "known keys are \(listing), and any that begin with x-")
  }

  static func missingKey(
    path: String, key: StaticString, example: StaticString
  ) -> Diagnostic {
    Diagnostic(
      .missingKey, "\(path) has no \"\(key)\", which is required", help: "write \(example)")
  }
}
