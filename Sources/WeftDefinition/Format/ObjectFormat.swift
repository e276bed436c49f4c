import WeftDiagnostics
import WeftJSON

/// An object of the file format whose keys are declared once, in a table.
///
/// ``DecodingPass/read(_:_:into:)`` fills it by that table, which is also what messages about unknown, misplaced and
/// missing keys are made of, and the JSON Schema (``WorkflowSchema``).
protocol FormatObject: SendableMetatype {
  static var format: ObjectFormat<Self> { get }

  /// The part of the JSON Schema of the object besides its keys, as JSON.
  static var schema: StaticString { get }

  /// Whether a missing key is reported even beside an unknown one, which may be a misspelling of it.
  static var reportsAllMissingKeys: Bool { get }

  /// Whether the key may be read; otherwise this reports why not.
  mutating func admits(_ key: KeyRule, _ node: JSONNode, _ pass: inout DecodingPass) -> Bool

  /// The problem with a key that has its place in another object or tool; `nil` if it is just unknown.
  static func misplaced(_ key: String, _ value: JSONNode) -> Diagnostic?
}

extension FormatObject {
  static var schema: StaticString { "" }
  static var reportsAllMissingKeys: Bool { false }

  mutating func admits(_ key: KeyRule, _ node: JSONNode, _ pass: inout DecodingPass) -> Bool {
    true
  }

  static func misplaced(_ key: String, _ value: JSONNode) -> Diagnostic? { nil }
}

/// The keys of one kind of object. A class, so that reading an object counts one reference to its table.
final class ObjectFormat<Object>: Sendable {
  /// The object in messages.
  let noun: String
  let keys: [FormatKey<Object>]
  /// The keys with a rule for values that were not read.
  let ruledKeys: [FormatKey<Object>]
  /// The bits of the keys that the object must have.
  let required: UInt64
  private let packed: [PackedKey]

  init(_ noun: String, @FormatBuilder<Object> _ keys: () -> [FormatKey<Object>]) {
    let keys = keys()
    self.noun = noun
    self.keys = keys
    ruledKeys = keys.filter { $0.problem != nil }
    packed = keys.map { PackedKey($0.rule.name.description.utf8) }
    precondition(packed.count <= 64, "\(noun) has too many keys")
    precondition(packed.allSatisfy(\.isWhole), "a key of \(noun) is too long to be looked up")
    required = keys.indices.reduce(0) { bits, index in
      keys[index].rule.example == nil ? bits : bits | 1 << UInt64(index)
    }
  }

  var rules: [KeyRule] { keys.map(\.rule) }

  /// The index of a key.
  ///
  /// A key is looked up by its raw bytes, at most sixteen in two words, so that reading an object needs neither a
  /// `String` nor a hash for each key.
  func index(of key: PackedKey) -> Int? { packed.firstIndex(of: key) }

  /// The key of this name.
  func rule(named name: String) -> KeyRule? {
    index(of: PackedKey(name.utf8)).map { keys[$0].rule }
  }
}

/// One key of an object: how it is read into an `Object`, and what messages and the schema say about it.
struct FormatKey<Object>: Sendable {
  typealias Read = @Sendable (inout DecodingPass, JSONMember, Field, inout Object) -> Void

  let rule: KeyRule
  let read: Read
  /// The problem with the value that an object has, whose path is given; `nil` if its type has no rule.
  private(set) var problem: (@Sendable (Object, String) -> Diagnostic?)?

  /// A key whose value needs no more than its type; `set` keeps it.
  init<Value>(
    _ name: StaticString, _ value: ValueFormat<Value>, _ title: StaticString = "",
    _ help: StaticString = "", schema: StaticString = "", synonyms: StaticString = "",
    required example: StaticString? = nil, on kinds: [ActionKind]? = nil, traits: KeyTraits = [],
    set: @escaping @Sendable (inout Object, Value) -> Void
  ) {
    rule = KeyRule(
      name, value.type, title, help, schema: schema, synonyms: synonyms, required: example,
      on: kinds, traits: traits)
    read = { pass, member, field, object in
      guard let value = value.read(&pass, member.value, field) else { return }
      set(&object, value)
    }
  }

  /// A key whose value is kept at a path.
  init<Value>(
    _ name: StaticString, _ value: ValueFormat<Value>, _ title: StaticString = "",
    _ help: StaticString = "", schema: StaticString = "", synonyms: StaticString = "",
    required example: StaticString? = nil, on kinds: [ActionKind]? = nil, traits: KeyTraits = [],
    at path: any WritableKeyPath<Object, Value> & Sendable
  ) {
    self.init(
      name, value, title, help, schema: schema, synonyms: synonyms, required: example, on: kinds,
      traits: traits
    ) { $0[keyPath: path] = $1 }
  }

  /// A key whose value is kept at a path, where ``BuiltValues`` checks it too.
  init<Value>(
    _ name: StaticString, _ value: ValueFormat<Value>, _ title: StaticString = "",
    _ help: StaticString = "", schema: StaticString = "", synonyms: StaticString = "",
    required example: StaticString? = nil, on kinds: [ActionKind]? = nil, traits: KeyTraits = [],
    at path: any WritableKeyPath<Object, Value?> & Sendable
  ) {
    self.init(
      name, value, title, help, schema: schema, synonyms: synonyms, required: example, on: kinds,
      traits: traits
    ) { $0[keyPath: path] = $1 }
    guard let rule = value.problem else { return }
    problem = { object, key in object[keyPath: path].flatMap { rule($0, key) } }
  }

  /// A key whose value an expression may give.
  init<Value>(
    _ name: StaticString, _ value: ValueFormat<Value>, _ title: StaticString = "",
    _ help: StaticString = "", schema: StaticString = "", synonyms: StaticString = "",
    required example: StaticString? = nil, on kinds: [ActionKind]? = nil, traits: KeyTraits = [],
    at path: any WritableKeyPath<Object, Computable<Value>> & Sendable
  ) {
    self.init(
      name, title, help, type: value.type, schema: schema, synonyms: synonyms, required: example,
      on: kinds, traits: traits
    ) { pass, member, field, object in
      if pass.computes(member.value, field, { object[keyPath: path].expression = $0 }) { return }
      guard let value = value.read(&pass, member.value, field) else { return }
      object[keyPath: path] = .literal(value)
    }
    guard let rule = value.problem else { return }
    problem = { object, key in
      if case .literal(let value) = object[keyPath: path] { rule(value, key) } else { nil }
    }
  }

  /// A key that an expression may give, and that may be absent.
  init<Value>(
    _ name: StaticString, _ value: ValueFormat<Value>, _ title: StaticString = "",
    _ help: StaticString = "", schema: StaticString = "", synonyms: StaticString = "",
    required example: StaticString? = nil, on kinds: [ActionKind]? = nil, traits: KeyTraits = [],
    at path: any WritableKeyPath<Object, Computable<Value?>> & Sendable
  ) {
    self.init(
      name, title, help, type: value.type, schema: schema, synonyms: synonyms, required: example,
      on: kinds, traits: traits
    ) { pass, member, field, object in
      let isComputed = pass.computes(member.value, field) {
        object[keyPath: path] = .computed($0, until: nil)
      }
      if isComputed { return }
      guard let value = value.read(&pass, member.value, field) else { return }
      object[keyPath: path] = .literal(value)
    }
    guard let rule = value.problem else { return }
    problem = { object, key in object[keyPath: path].wrappedValue.flatMap { rule($0, key) } }
  }

  /// A key that is read together with others, or whose place matters.
  init(
    _ name: StaticString, _ title: StaticString = "", _ help: StaticString = "",
    type: FormatType = .other, schema: StaticString = "", synonyms: StaticString = "",
    required example: StaticString? = nil, on kinds: [ActionKind]? = nil, traits: KeyTraits = [],
    read: @escaping Read
  ) {
    rule = KeyRule(
      name, type, title, help, schema: schema, synonyms: synonyms, required: example, on: kinds,
      traits: traits)
    self.read = read
  }
}

/// The parts of a key's declaration that do not depend on the object.
final class KeyRule: Sendable {
  let name: StaticString
  let type: FormatType
  /// Its title and description in the schema; empty where the key is described at another object.
  let title: StaticString
  let help: StaticString
  /// The part of its JSON Schema besides its type, as JSON.
  let schema: StaticString
  /// Names that make-like tools, CI services and workflow engines use for it, separated by spaces.
  let synonyms: StaticString
  /// An example for the message that the key is missing; `nil` if it may be left out.
  let example: StaticString?
  /// The steps that may have the key; `nil` for all.
  let kinds: [ActionKind]?
  let traits: KeyTraits

  init(
    _ name: StaticString, _ type: FormatType, _ title: StaticString, _ help: StaticString,
    schema: StaticString, synonyms: StaticString,
    required example: StaticString?, on kinds: [ActionKind]?, traits: KeyTraits
  ) {
    self.name = name
    self.type = type
    self.title = title
    self.help = help
    self.schema = schema
    self.synonyms = synonyms
    self.example = example
    self.kinds = kinds
    self.traits = traits
  }

  /// Whether a step of this kind may have the key.
  func allows(_ kind: ActionKind) -> Bool {
    if traits.contains(.setting), let settings = kind.rules.settings {
      return settings.contains(name.description)
    }
    return kinds?.contains(kind) ?? true
  }
}

struct KeyTraits: OptionSet {
  let rawValue: UInt8

  /// A setting of commands, which neither another file's steps nor a registered action get.
  static let setting = KeyTraits(rawValue: 1)
  /// A key about pipes, which a step that has the terminal lacks.
  static let aboutPipes = KeyTraits(rawValue: 2)
  /// Not on a cleanup step.
  static let notInCleanup = KeyTraits(rawValue: 4)
  /// Gives the step its action.
  static let action = KeyTraits(rawValue: 8)
  /// Steps and ids depend on it. A clear misspelling is read as this key: its steps and ids are then known, and
  /// steps that need them are not reported.
  static let graphText = KeyTraits(rawValue: 16)
  static let graphList = KeyTraits(rawValue: 32)
}

extension KeyTraits {
  /// Whether a value of this kind is read although its key is misspelled.
  func reads(_ kind: JSONKind) -> Bool {
    switch kind {
    case .string: contains(.graphText)
    case .array: contains(.graphList)
    default: false
    }
  }
}

@resultBuilder enum FormatBuilder<Object> {
  static func buildExpression(_ key: FormatKey<Object>) -> [FormatKey<Object>] { [key] }
  static func buildExpression(_ keys: [FormatKey<Object>]) -> [FormatKey<Object>] { keys }
  static func buildBlock(_ keys: [FormatKey<Object>]...) -> [FormatKey<Object>] {
    keys.flatMap(\.self)
  }
}

/// The first sixteen bytes of a key, and its length.
struct PackedKey: Sendable, Hashable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0
  private let count: Int

  init(_ bytes: some Collection<UInt8>) {
    count = bytes.count
    for (index, byte) in bytes.prefix(16).enumerated() {
      if index < 8 {
        low |= UInt64(byte) << UInt64(index * 8)
      } else {
        high |= UInt64(byte) << UInt64((index - 8) * 8)
      }
    }
  }

  var isWhole: Bool { count <= 16 }

  /// Whether the key begins with `x-` and is ignored.
  var isIgnored: Bool {
    low & 0xFFFF == UInt64(UInt8(ascii: "x")) | UInt64(UInt8(ascii: "-")) << 8
  }
}
