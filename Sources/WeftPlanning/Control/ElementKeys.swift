import WeftDiagnostics
package import WeftExpressions
import WeftJSON

/// The keys of a fan-out's elements, one after another: each is unique, and can stand in an address.
package struct ElementKeys: Sendable {
  /// In UTF-8.
  package static let longestBytes = 200

  private var indices: [ScalarString: Int] = [:]
  package private(set) var texts: [String] = []

  package init() {}

  /// The key of the next element.
  ///
  /// - Parameter value: What its expression has come to: a text or a number.
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

  /// Why a text cannot be a key; `nil` if it can.
  package static func fault(of text: String) -> ElementKeyProblem.Fault? {
    if text.isEmpty { return .empty }
    if text.utf8.count > longestBytes { return .tooLong(text.utf8.count) }
    guard let scalar = unfitScalar(in: text) else { return nil }
    return scalar.properties.generalCategory == .format
      ? .invisibleCharacter(scalar.value) : .controlCharacter(scalar.value)
  }

  /// A scalar that would end a line, steer a terminal, reorder the text around it or not be seen: keys are shown in
  /// lines of the display and in questions.
  package static func unfitScalar(in text: String) -> Unicode.Scalar? {
    text.unicodeScalars.first { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: true
      default: !scalar.isASCII && TerminalText.escape(scalar) != nil
      }
    }
  }
}

/// Why the elements of a fan-out cannot be told apart.
package enum ElementKeyProblem: Error, Sendable, Hashable {
  package enum Fault: Sendable, Hashable {
    case empty
    /// In UTF-8.
    case tooLong(Int)
    /// The scalar's number.
    case controlCharacter(UInt32)
    /// One of the category `format`, such as a bidirectional override, likewise.
    case invisibleCharacter(UInt32)
  }

  /// The index of the element, and what its key is.
  case wrongKind(of: Int, found: String)
  case unfit(Fault, Int)
  case notUnique(String, first: Int, second: Int)
  /// A secret was looked at, and keys are told.
  case secret(Int)

  /// What is wrong, in a sentence.
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
