import WeftDefinition
import WeftDiagnostics
package import WeftExpressions
package import WeftJSON

/// The elements of a loop, in order: each has a value and a unique key.
///
/// Values are produced one at a time; those of a matrix are built on demand.
package struct FanOutElements: Sendable {
  private enum Source: Sendable {
    case array([JSONValue])
    case object([JSONObject.Member])
    case matrix(MatrixExpansion)
  }

  private let source: Source
  /// The keys, if an expression defines them.
  private var ownKeys: [String]?

  /// Creates the elements of an array, with their indices from 0 as keys, or the values of an object, with its keys.
  package init(
    of value: JSONValue, limit: Int = WorkflowLimits.elements
  ) throws(FanOutProblem) {
    switch value {
    case .array(let elements): source = .array(elements)
    case .object(let object): source = .object(object.members)
    case .null, .bool, .number, .string:
      throw .notAListing(found: ExpressionValue(value).kindName)
    }
    if count > limit { throw .tooMany(count, limit: limit) }
    guard case .object(let members) = source else { return }
    for (index, member) in members.enumerated() {
      if let fault = ElementKeys.fault(of: member.key) { throw .key(.unfit(fault, index)) }
    }
  }

  package init(_ matrix: MatrixExpansion) { source = .matrix(matrix) }

  package var count: Int {
    switch source {
    case .array(let elements): elements.count
    case .object(let members): members.count
    case .matrix(let matrix): matrix.count
    }
  }

  package func value(at index: Int) -> JSONValue {
    switch source {
    case .array(let elements): elements[index]
    case .object(let members): members[index].value
    case .matrix(let matrix): .object(matrix[index])
    }
  }

  package func key(at index: Int) -> String {
    if let ownKeys { return ownKeys[index] }
    return switch source {
    case .array: String(index)
    case .object(let members): members[index].key
    case .matrix(let matrix): matrix.key(at: index)
    }
  }

  /// Replaces the keys of all elements, in order.
  package mutating func rename(_ keys: ElementKeys) {
    precondition(keys.texts.count == count, "\(count) elements have \(keys.texts.count) keys")
    ownKeys = keys.texts
  }
}

/// The reason why a loop has no elements.
package enum FanOutProblem: Error, Sendable, Hashable {
  /// The kind of `in`, which is neither an array nor an object.
  case notAListing(found: String)
  case tooMany(Int, limit: Int)
  case key(ElementKeyProblem)

  package var message: String {
    switch self {
    case .notAListing(let found): "\"in\" is \(found), expected an array or an object"
    case .tooMany(let count, let limit): "\"in\" has \(count) elements, expected \(limit) at most"
    case .key(let problem): problem.message
    }
  }

  package var help: String? {
    guard case .key(.unfit) = self else { return nil }
    return "give \"key\", an expression that names an element"
  }
}

/// The keys of a loop's elements, in order: each is unique and valid in an address.
package struct ElementKeys: Sendable {
  /// The maximum length of a key, in UTF-8 bytes.
  package static let longestBytes = 200

  private var indices: [ScalarString: Int] = [:]
  package private(set) var texts: [String] = []

  package init() {}

  /// Adds the key of the next element.
  ///
  /// - Parameter value: The value of the key expression: a string or a number.
  package mutating func add(_ value: ExpressionValue) throws(ElementKeyProblem) {
    let index = texts.count
    let text: String
    switch value {
    case .string(let string): text = string
    case .number(let number) where number.isFinite: text = value.primitiveText ?? ""
    case .number, .null, .boolean, .array, .object:
      throw ElementKeyProblem.wrongKind(of: index, found: value.keyKind)
    }
    if let fault = ElementKeys.fault(of: text) { throw .unfit(fault, index) }
    if let first = indices.updateValue(index, forKey: ScalarString(text)) {
      throw .notUnique(text, first: first, second: index)
    }
    texts.append(text)
  }

  /// The reason why a text cannot be a key; `nil` if it can.
  package static func fault(of text: String) -> ElementKeyProblem.Fault? {
    if text.isEmpty { return .empty }
    if text.utf8.count > longestBytes { return .tooLong(text.utf8.count) }
    guard let scalar = unfitScalar(in: text) else { return nil }
    return scalar.properties.generalCategory == .format
      ? .invisibleCharacter(scalar.value) : .controlCharacter(scalar.value)
  }

  /// The first scalar that would end a line, control a terminal, reorder the text around it or be invisible: keys are
  /// shown in lines of the display and in approval prompts.
  package static func unfitScalar(in text: String) -> Unicode.Scalar? {
    text.unicodeScalars.first { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: true
      default: !scalar.isASCII && TerminalText.escape(scalar) != nil
      }
    }
  }
}

/// The reason why the elements of a loop have no valid keys.
package enum ElementKeyProblem: Error, Sendable, Hashable {
  /// The diagnostic code, also used for other reasons why a loop has no elements.
  package static let code = "W0335"

  package enum Fault: Sendable, Hashable {
    case empty
    /// The length in UTF-8 bytes.
    case tooLong(Int)
    /// The scalar value.
    case controlCharacter(UInt32)
    /// The value of a scalar of category `format`, such as a bidirectional override.
    case invisibleCharacter(UInt32)
  }

  /// The index of the element, and the kind of its key.
  case wrongKind(of: Int, found: String)
  case unfit(Fault, Int)
  case notUnique(String, first: Int, second: Int)
  /// The key depends on a secret, but keys are shown.
  case secret(Int)

  /// Describes the problem in a sentence.
  package var message: String {
    switch self {
    case .wrongKind(let index, let found):
      "the key of element \(index) is \(found), expected a string or a number"
    case .unfit(.empty, let index): "the key of element \(index) is empty"
    case .unfit(.tooLong(let bytes), let index):
      "the key of element \(index) has \(bytes) bytes, expected \(ElementKeys.longestBytes) at most"
    case .unfit(.controlCharacter(let scalar), let index):
      "the key of element \(index) has a control character in it, \(ElementKeyProblem.name(scalar))"
    case .unfit(.invisibleCharacter(let scalar), let index):
      "the key of element \(index) has an invisible character in it, \(ElementKeyProblem.name(scalar))"
    case .secret(let index): "the key of element \(index) depends on a secret, and keys are shown"
    case .notUnique(let key, let first, let second):
      "elements \(first) and \(second) have the same key, \"\(key)\""
    }
  }

  package var help: String? {
    guard case .secret = self else { return nil }
    return "without \"key\", elements are named by their indices"
  }

  private static func name(_ scalar: UInt32) -> String {
    let digits = String(scalar, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension ExpressionValue {
  fileprivate var keyKind: String {
    if case .number = self { "no finite number" } else { kindName }
  }
}
