import WeftDefinition
import WeftExpressions
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
