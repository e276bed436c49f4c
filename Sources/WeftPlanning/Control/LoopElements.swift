import WeftDefinition
import WeftDiagnostics
package import WeftExpressions
package import WeftJSON

/// The elements of a loop, in order: each has a value and a unique key.
///
/// Values are produced one at a time; those of a matrix are built on demand.
package struct LoopElements: Sendable {
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
  ) throws(LoopProblem) {
    switch value {
    case .array(let elements): source = .array(elements)
    case .object(let object): source = .object(object.members)
    case .null, .bool, .number, .string:
      let found = ExpressionValue(value).kindName
      throw LoopProblem("\"in\" is \(found), expected an array or an object")
    }
    if count > limit {
      throw LoopProblem("\"in\" has \(count) elements, expected at most \(limit)")
    }
    guard case .object(let members) = source else { return }
    for (index, member) in members.enumerated() {
      guard let fault = ElementKeys.fault(of: member.key) else { continue }
      throw .unfitKey(
        fault, of: index, help: "add \"key\", an expression that names an element")
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
  package mutating func add(_ value: ExpressionValue) throws(LoopProblem) {
    let index = texts.count
    let text: String
    switch value {
    case .string(let string): text = string
    case .number(let number) where number.isFinite: text = value.primitiveText ?? ""
    case .number, .null, .boolean, .array, .object:
      throw LoopProblem(
        "the key of element \(index) is \(value.keyKind), expected a string or a number")
    }
    if let fault = ElementKeys.fault(of: text) { throw .unfitKey(fault, of: index) }
    if let first = indices.updateValue(index, forKey: ScalarString(text)) {
      throw LoopProblem("elements \(first) and \(index) have the same key, \"\(text)\"")
    }
    texts.append(text)
  }

  /// The reason why a text cannot be a key, as the end of a sentence; `nil` if it can.
  package static func fault(of text: String) -> String? {
    if text.isEmpty { return "is empty" }
    let length = text.utf8.count
    if length > longestBytes { return "has \(length) bytes, expected at most \(longestBytes)" }
    guard let scalar = unfitScalar(in: text) else { return nil }
    let kind = scalar.properties.generalCategory == .format ? "an invisible" : "a control"
    let digits = String(scalar.value, radix: 16, uppercase: true)
    let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
    return "contains \(kind) character, U+\(zeros)\(digits)"
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

/// The reason why a loop has no elements, or its elements no valid keys.
package struct LoopProblem: Error, Sendable, Hashable {
  /// The diagnostic code.
  package static let code = "W0335"

  /// Describes the problem in a sentence.
  package let message: String
  package let help: String?

  init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  fileprivate static func unfitKey(
    _ fault: String, of index: Int, help: String? = nil
  ) -> LoopProblem {
    LoopProblem("the key of element \(index) \(fault)", help: help)
  }

  /// The key depends on a secret, but keys are shown.
  package static func secretKey(of index: Int) -> LoopProblem {
    LoopProblem(
      "the key of element \(index) depends on a secret, but keys are shown",
      help: "without \"key\", elements are named by their indices")
  }
}

extension ExpressionValue {
  fileprivate var keyKind: String {
    if case .number = self { "not a finite number" } else { kindName }
  }
}
