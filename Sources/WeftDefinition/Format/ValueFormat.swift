import WeftDiagnostics
import WeftJSON

/// A type of value of the file format: how it is read, and what it is in the JSON Schema.
struct ValueFormat<Value>: Sendable {
  let type: FormatType
  /// Returns the value, or reports why there is none.
  let read: @Sendable (inout DecodingPass, JSONNode, Field) -> Value?
  /// The problem with a value that was not read, whose path is given.
  private(set) var problem: (@Sendable (Value, String) -> Diagnostic?)?

  init(
    _ type: FormatType = .other,
    _ read: @escaping @Sendable (inout DecodingPass, JSONNode, Field) -> Value?
  ) {
    self.type = type
    self.read = read
  }

  /// A type with a definition in the schema.
  init(
    _ definition: StaticString,
    _ read: @escaping @Sendable (inout DecodingPass, JSONNode, Field) -> Value?
  ) {
    self.init(FormatType(.defined(definition)), read)
  }

  /// The type with a rule for values that were not read.
  func checked(by problem: @escaping @Sendable (Value, String) -> Diagnostic?) -> ValueFormat {
    var format = self
    format.problem = problem
    return format
  }
}

/// The part of a type that the JSON Schema has to repeat.
struct FormatType: Sendable {
  enum Kind: Sendable {
    case integer(ClosedRange<Int>)
    case duration(allowsZero: Bool)
    case size
    case flag
    case words([String])
    /// A type with a definition in the schema.
    case defined(StaticString)
    /// Objects, arrays and alternatives, for which the table has the schema.
    case other
  }

  let kind: Kind
  /// Whether an expression may give the value.
  let isComputable: Bool

  init(_ kind: Kind, as key: ComputedKey? = nil) {
    self.kind = kind
    isComputable = key != nil
  }

  static let other = FormatType(.other)
}

// MARK: Objects

extension ValueFormat where Value: FormatObject & Sendable {
  /// An object that its table describes in full.
  ///
  /// - Parameters:
  ///   - name: The name of its definition in the schema.
  ///   - wanted: A description for messages.
  ///   - empty: The object before any key was read.
  static func object(
    _ name: StaticString, _ wanted: String, from empty: Value,
    help: @escaping @Sendable (JSONNode) -> String?
  ) -> ValueFormat {
    ValueFormat(name) { $0.object($1, $2, from: empty, wanted: wanted, help: help($1)) }
  }
}

// MARK: Numbers, durations, sizes and truths

extension ValueFormat<Int> {
  static func integer(_ range: ClosedRange<Int>, as key: ComputedKey? = nil) -> ValueFormat {
    ValueFormat(FormatType(.integer(range), as: key)) { $0.integer($1, $2, in: range) }
      .checked { ValueRule.problem(with: $0, $1, in: range) }
  }

  static func integer(as key: ComputedKey) -> ValueFormat {
    guard case .count(let range) = key.type else { preconditionFailure("\(key) is no number") }
    return integer(range, as: key)
  }
}

extension ValueFormat<Duration> {
  static func duration(as key: ComputedKey) -> ValueFormat {
    guard case .duration(let allowsZero) = key.type else {
      preconditionFailure("\(key) is no time")
    }
    return ValueFormat(FormatType(.duration(allowsZero: allowsZero), as: key)) {
      $0.duration($1, $2, allowsZero: allowsZero)
    }
    .checked { ValueRule.problem(with: $0, $1, allowsZero: allowsZero) }
  }
}

extension ValueFormat<ByteCount> {
  static func size(as key: ComputedKey? = nil) -> ValueFormat {
    ValueFormat(FormatType(.size, as: key)) { $0.size($1, $2) }
  }
}

extension ValueFormat<Bool> {
  static func flag(as key: ComputedKey? = nil) -> ValueFormat {
    ValueFormat(FormatType(.flag, as: key)) { $0.flag($1, $2) }
  }
}

// MARK: Texts

extension ValueFormat<String> {
  /// A text without expressions; not empty if `wanted` describes it.
  static func plainText(_ wanted: String? = nil) -> ValueFormat {
    ValueFormat(wanted == nil ? "literalText" : "filledLiteralText") {
      pass, node, field in
      guard let wanted else { return pass.text(node, field) }
      return pass.filledText(node, field, wanted: wanted)
    }
  }

  /// A text with expressions.
  static func text(at site: TextSite) -> ValueFormat {
    ValueFormat("text") { $0.text($1, $2, at: site) }
  }

  static func text(_ wanted: String, at site: TextSite) -> ValueFormat {
    ValueFormat("filledText") { $0.filledText($1, $2, at: site, wanted: wanted) }
  }

  /// A text of a request; not empty if `wanted` describes it.
  static func requestText(_ wanted: String? = nil, at site: HTTPSite) -> ValueFormat {
    ValueFormat(wanted == nil ? "text" : "filledText") {
      $0.requestText($1, $2, site, wanted: wanted)
    }
  }
}

extension ValueFormat<Condition> {
  static var condition: ValueFormat {
    ValueFormat("condition") { $0.condition($1, $2) }
  }
}

// MARK: Words

extension ValueFormat where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
  static func word(of type: Value.Type, help: String? = nil) -> ValueFormat {
    ValueFormat(FormatType(.words(type.allCases.map(\.rawValue)))) {
      $0.chosen($1, $2, help: help)
    }
  }
}

extension DecodingPass {
  /// One of the words of a type; `help` is for a word that is none of them, nor close to one.
  mutating func chosen<Choice: RawRepresentable<String> & CaseIterable>(
    _ node: JSONNode, _ field: Field, help: String? = nil
  ) -> Choice? {
    if node.kind == .string, let word = text(node, field) {
      if let known = Choice(rawValue: word) { return known }
      let words = Choice.allCases.map(\.rawValue)
      report(
        .unknownWord(
          path: path(field), word: word, wanted: "\(QuotedList(words))",
          nearest: NearestName(words).nearest(to: word), help: help), at: node)
    } else if node.kind != .string {
      reportType(of: node, field, wanted: "\(QuotedList(Choice.allCases.map(\.rawValue)))")
    }
    return nil
  }
}
