import WeftDefinition
import WeftTestKit

/// A list that a step outputs: one if it succeeds, another if it does not.
struct RandomList: Hashable {
  /// The step; `nil` for a list that does not depend on one.
  let source: String?
  let otherwise: [String]
  /// The error that the second list may be.
  var error: RandomError?

  static let found = ["p", "q", "r"]
  static let output = OutputDeclaration("list", value: "${{ fromJSON('\(json(found))') }}")
  /// The key of each element, from its value.
  static let key = "format('n{0}', item)"

  static func key(of value: String) -> String { "n\(value)" }

  var text: String {
    let otherwise = RandomError.text(of: RandomList.json(otherwise), error)
    return source.map { "${{ steps.\($0).outputs.list || \(otherwise) }}" }
      ?? "${{ \(otherwise) }}"
  }

  static func json(_ list: [String]) -> String {
    "[\(list.map { "\"\($0)\"" }.joined(separator: ","))]"
  }
}

/// A value that cannot be computed if another step ended in one way.
struct RandomError: Hashable {
  let source: String
  let outcome: String
  /// Whether the step is a member of the group that has the value.
  var isOfMember = false

  /// An expression for a JSON value that is an error instead.
  static func text(of json: String, _ error: RandomError?) -> String {
    text(choosing: "'\(json)'", error)
  }

  /// An expression for the JSON value that a choice gives, and that is an error instead.
  static func text(choosing choice: String, _ error: RandomError?) -> String {
    guard let error else { return "fromJSON(\(choice))" }
    let step = "\(error.isOfMember ? "self." : "")steps.\(error.source)"
    return "fromJSON(\(step).outcome == '\(error.outcome)' && 'oops' || \(choice))"
  }

  /// The variable of a step that cannot be computed, and its value if it can.
  static let (variable, value) = ("wrong", "1")
  /// The output of a step or group that cannot be computed.
  static let output = "wrong"
}

/// A time limit of an attempt that depends on how another step ended.
struct RandomLimit: Hashable {
  let source: String
  let ifSucceeded = Duration.seconds(4)
  let otherwise = Duration.seconds(7)
  /// The error that it may be instead.
  var error: RandomError?

  var text: String {
    guard error != nil else { return "${{ steps.\(source).outcome == 'success' && '4s' || '7s' }}" }
    let choice = #"steps.\#(source).outcome == 'success' && '"4s"' || '"7s"'"#
    return "${{ \(RandomError.text(choosing: choice, error)) }}"
  }
}

/// The condition of a retry policy on a failed attempt.
enum RandomRetryCondition: Hashable {
  case literal(Bool)
  case exitCode(Int, isWanted: Bool)
  case hasFailed
  /// An error after an exit code; `nil` for one after each failure.
  case error(after: Int?)

  static func any(ofGroup isGroup: Bool, _ random: inout SeededGenerator) -> RandomRetryCondition {
    if isGroup {
      return [.literal(true), .literal(false), .hasFailed].randomElement(using: &random)!
    }
    let code = Int.random(in: 1...2, using: &random)
    return [
      .literal(true), .literal(false), .hasFailed, .exitCode(code, isWanted: true),
      .exitCode(code, isWanted: false),
    ].randomElement(using: &random)!
  }

  var text: String {
    switch self {
    case .literal(let value): "\(value)"
    case .exitCode(let code, let isWanted): "self.exitCode \(isWanted ? "==" : "!=") \(code)"
    case .hasFailed: "self.outcome == 'failure'"
    case .error(after: let code?): "fromJSON(self.exitCode == \(code) && 'oops' || 'true')"
    case .error(after: nil): "fromJSON(self.outcome == 'failure' && 'oops' || 'true')"
    }
  }

  func allows(_ classes: [ErrorClass]) -> Bool {
    switch self {
    case .literal(let value): value
    case .exitCode(let code, let isWanted): classes.contains(.exit(code)) == isWanted
    case .hasFailed: true
    // An error counts as false.
    case .error(after: let code): code.map { !classes.contains(.exit($0)) } ?? false
    }
  }
}
