/// The functions of the language. Names are case-insensitive.
///
/// The parameters, which are all that a caller may get wrong, are declared in one table: from it follow the number of
/// arguments, the signature in help, what the type checker rejects, and what a call rejects.
package enum ExpressionFunction: String, Sendable, Hashable, CaseIterable {
  case contains, startsWith, endsWith, format, join, toJSON, fromJSON, hashFiles, `case`
  case success, failure, always, cancelled
  case length, split, trim, lower, upper, replace, keys, glob
  case lines, basename, dirname, stem, `extension`, base64, fromBase64, sha256
  case filter, map, sort, unique, first, last, slice, flatten, range
  case entries, fromEntries, merge
  case sum, min, max, add, sub, mul, div, mod
  case formatTime, parseTime

  /// The parameters, in order.
  package var parameters: [FunctionParameter] { ExpressionFunction.declared[self] ?? [] }

  private static let declared = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0, $0.declaration) })

  private var declaration: [FunctionParameter] {
    switch self {
    case .contains: [.init("search", .any), .init("item", .any)]
    case .startsWith: [.init("text", .any), .init("start", .any)]
    case .endsWith: [.init("text", .any), .init("end", .any)]
    case .format: [.init("text", .any), .init("value", .any, .repeated)]
    case .join: [.init("array", .any), .init("separator", .any, .optional)]
    case .toJSON: [.init("value", .any)]
    case .fromJSON: [.init("text", .any)]
    case .case:
      [
        .init("condition", .any), .init("value", .any), .init("…", .any, .repeated),
        .init("default", .any),
      ]
    case .success, .failure, .always, .cancelled: []
    case .length: [.init("value", .countable)]
    case .split: [.init("text", .text), .init("separator", .text)]
    case .replace: [.init("text", .text), .init("old", .text), .init("new", .text)]
    case .keys: [.init("object", .objectOrNull)]
    case .hashFiles, .glob: [.init("pattern", .text), .init("…", .text, .repeated)]
    case .trim, .lower, .upper, .lines, .base64, .fromBase64, .sha256, .parseTime:
      [.init("text", .text)]
    case .basename, .dirname, .stem, .extension: [.init("path", .text)]
    case .filter: [.init("list", .list), .init("'condition'", .body)]
    case .map: [.init("list", .list), .init("'expression'", .body)]
    case .sort: [.init("list", .list), .init("'key'", .body, .optional)]
    case .unique, .first, .last, .flatten, .sum, .fromEntries: [.init("list", .list)]
    case .slice:
      [
        .init("list", .listOrText), .init("start", .number), .init("end", .number, .optional),
      ]
    case .range:
      [
        .init("start", .number), .init("end", .number, .optional),
        .init("step", .number, .optional),
      ]
    case .entries: [.init("object", .object)]
    case .merge: [.init("object", .object), .init("…", .object, .repeated)]
    // A list, or else numbers: see ``kind(ofArgument:of:)``.
    case .min, .max: [.init("list", .number), .init("…", .number, .repeated)]
    case .add, .sub, .mul, .div, .mod: [.init("a", .number), .init("b", .number)]
    case .formatTime: [.init("seconds", .number), .init("format", .text, .optional)]
    }
  }

  /// The number of arguments it takes; `case` requires an odd number.
  package var argumentCounts: ClosedRange<Int> {
    let parameters = parameters
    let least = parameters.count { $0.presence == .required }
    return least...(parameters.contains { $0.presence == .repeated } ? 255 : parameters.count)
  }

  /// The kind that the argument at an index must have, given the number of arguments.
  func kind(ofArgument index: Int, of count: Int) -> FunctionParameter.Kind {
    if (self == .min || self == .max) && count == 1 { return .list }
    let parameters = parameters
    return parameters[Swift.min(index, parameters.count - 1)].kind
  }

  /// `nil` if it is not a status function.
  package var status: StatusFunction? { StatusFunction(rawValue: rawValue) }

  /// Whether its value depends on files.
  package var readsFiles: Bool { self == .hashFiles || self == .glob }

  /// Whether its second argument is an expression for each element of its first.
  var hasBody: Bool { self == .filter || self == .map || self == .sort }

  /// The signature as shown in help.
  package var signature: String {
    switch self {
    case .format: "format(text, value, …)"
    case .case: "case(condition, value, …, default)"
    case .range: "range(end), range(start, end) or range(start, end, step)"
    case .min, .max: "\(rawValue)(list) or \(rawValue)(a, b, …)"
    default: "\(rawValue)(\(parameters.map(\.name).joined(separator: ", ")))"
    }
  }

  private static let byLowerName = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

  /// `nil` if no function has this name.
  package init?(named name: String) {
    guard
      let function = ExpressionFunction(rawValue: name)
        ?? ExpressionFunction.byLowerName[name.lowercased()]
    else { return nil }
    self = function
  }
}

/// The functions that test the status of the run.
package enum StatusFunction: String, Sendable, Hashable, CaseIterable {
  case success, failure, always, cancelled
}

/// A parameter of a function: what an argument must be.
package struct FunctionParameter: Sendable, Hashable {
  package enum Presence: Sendable, Hashable {
    case required, optional
    /// Any number of times, also not at all.
    case repeated
  }

  package enum Kind: Sendable, Hashable {
    /// Any value; the function says itself what it does with it.
    case any
    /// Anything but an array or object.
    case text
    /// A number, or a text that is one.
    case number
    case list
    case listOrText
    case object
    case objectOrNull
    /// Whatever has a length.
    case countable
    /// An expression in quotes, which is evaluated for each element.
    case body
  }

  /// The name in the signature.
  package let name: String
  package let kind: Kind
  package let presence: Presence

  init(_ name: String, _ kind: Kind, _ presence: Presence = .required) {
    self.name = name
    self.kind = kind
    self.presence = presence
  }
}

extension FunctionParameter.Kind {
  /// Whether some value of the type is accepted.
  func mayAccept(_ type: ExpressionType) -> Bool { type.alternatives.contains(where: accepts) }

  /// - Parameter type: Not a union.
  private func accepts(_ type: ExpressionType) -> Bool {
    switch (self, type) {
    case (_, .any), (_, .either), (.any, _), (.body, _): true
    case (.text, .array), (.text, .object): false
    case (.text, _), (.number, .number), (.list, .array), (.object, .object): true
    case (.number, .string(let values)):
      values.map { $0.contains { NumberReading.strictNumber(from: $0) != nil } } ?? true
    case (.listOrText, .array), (.listOrText, .string): true
    case (.objectOrNull, .object), (.objectOrNull, .null): true
    case (.countable, .boolean), (.countable, .number): false
    case (.countable, _): true
    case (.number, _), (.list, _), (.listOrText, _), (.object, _), (.objectOrNull, _): false
    }
  }

  /// The words for it in messages.
  var expectation: String {
    switch self {
    case .any, .body: "a value"
    case .text: "a string"
    case .number: "a number"
    case .list: "an array"
    case .listOrText: "an array or a string"
    case .object, .objectOrNull: "an object"
    case .countable: "a string, an array or an object"
    }
  }

  /// The remedy if there is a value of another kind.
  func help(for function: ExpressionFunction, found: String) -> String? {
    switch self {
    case .text: "write \(function.rawValue)(toJSON(…)) for its JSON text"
    case _ where found == "null":
      switch self {
      case .list, .listOrText: "write … || fromJSON('[]') for an empty array"
      case .object: "write … || fromJSON('{}') for an empty object"
      case .number: "write … || 0 for a default"
      default: nil
      }
    case .list where found == "a string": "write lines(…) for its lines, or fromJSON(…) for JSON"
    case .list where found == "an object": "write entries(…) for its members as an array"
    case .listOrText where found == "an object": "write entries(…) for its members as an array"
    case .object where found == "a string": "write fromJSON(…) if it is JSON"
    case .object where found == "an array": "write fromEntries(…) for an array of { key, value }"
    default: nil
    }
  }
}
