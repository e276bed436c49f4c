import WeftDefinition
import WeftTestKit

/// A list that a step outputs: one if it succeeds, another if it does not.
struct RandomList: Hashable {
  let source: String
  let otherwise: [String]

  static let found = ["p", "q", "r"]
  static let output = OutputDeclaration("list", value: "${{ fromJSON('\(json(found))') }}")
  /// The key of each element, from its value.
  static let key = "format('n{0}', item)"

  static func key(of value: String) -> String { "n\(value)" }

  var text: String {
    "${{ steps.\(source).outputs.list || fromJSON('\(RandomList.json(otherwise))') }}"
  }

  private static func json(_ list: [String]) -> String {
    "[\(list.map { "\"\($0)\"" }.joined(separator: ","))]"
  }
}

/// A time limit of an attempt that depends on how another step ended.
struct RandomLimit: Hashable {
  let source: String
  let ifSucceeded = Duration.seconds(4)
  let otherwise = Duration.seconds(7)

  var text: String { "${{ steps.\(source).outcome == 'success' && '4s' || '7s' }}" }
}

/// The condition of a retry policy on a failed attempt.
enum RandomRetryCondition: Hashable {
  case literal(Bool)
  case exitCode(Int, isWanted: Bool)
  case hasFailed

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
    }
  }

  func allows(_ classes: [ErrorClass]) -> Bool {
    switch self {
    case .literal(let value): value
    case .exitCode(let code, let isWanted): classes.contains(.exit(code)) == isWanted
    case .hasFailed: true
    }
  }
}
