import WeftDiagnostics
import WeftJSON
import WeftPatterns

/// Every problem with a declaration, except values of the wrong type.
enum SchemaProblem: Hashable {
  // Keys
  case unknownKey(String, of: SchemaOwner, nearest: String?)
  case reference(String)
  case keyOfWholeDeclaration(String)
  case keyOfOtherType(SchemaKey, types: [ValueType])
  case requiredFlag(path: String)
  // Names
  case invalidName(String, fault: StepID.Fault)
  case equalNames(String, first: String)
  case unknownType(path: String, word: String, nearest: String?)
  case repeatedType(path: String, word: String)
  // Limits
  case crossedLimits(SchemaKey, String, SchemaKey, String)
  case notPositive(path: String, number: String)
  case longDivisor(path: String, number: String)
  // Values
  case pattern(path: String, fault: PatternError)
  case repeatedValue(path: String, noun: String)
  case unfitValue(message: String, help: String?)
  case unboundValue(path: String)
  case repeatedRequired(path: String, name: String)
  case unknownRequired(path: String, name: String, nearest: String?)
}

extension SchemaProblem {
  var wording: Problem.Wording {
    switch self {
    case .unknownKey(let key, let owner, let nearest):
      Problem.Wording(
        .unknownKey, "\(quoted(key)) is not a key of \(owner.noun)",
        help: nearest.map(didYouMean)
          ?? "known keys are \(owner.keys.map(\.rawValue).joined(separator: ", ")), and any that "
          + "begin with x-")
    case .reference(let key):
      Problem.Wording(
        .unknownKey, "\(quoted(key)) refers to another schema, and declarations here stand alone",
        help: "write what it refers to in its place")
    case .keyOfWholeDeclaration(let key):
      Problem.Wording(
        .misplacedKey, "\"\(key)\" is for an input or output as a whole, not for a part of one",
        help: "put it beside the outermost \"type\"")
    case .keyOfOtherType(let key, let types):
      Problem.Wording(
        .misplacedKey,
        "\"\(key.rawValue)\" says nothing about \(listed(types.map(\.plural), conjunction: "or")), "
          + "only about \(key.types[0].plural)",
        help: SchemaProblem.counterpart(of: key, for: types).map { "here that is \"\($0)\"" })
    case .requiredFlag(let path):
      Problem.Wording(
        .wrongType, "\(path) is true or false, expected the names of an object's properties",
        help:
          "an input must be given unless it has a \"default\"; for one that may be missing write "
          + "\"type\": [\"string\", \"null\"], \"default\": null")

    case .invalidName(let name, let fault):
      Problem.Wording(
        .invalidID, "the name \(quoted(name)) \(fault.complaint)",
        help:
          "a name is letters, digits, \"_\" and \"-\", \(StepID.longest) at most, and begins with "
          + "a letter or \"_\"")
    case .equalNames(let name, let first):
      Problem.Wording(
        .equalNames, "\(quoted(name)) differs from \(quoted(first)) in upper and lower case only",
        help: "expressions do not tell the two apart; give one of them another name")
    case .unknownType(let path, let word, let nearest):
      Problem.Wording(
        .unknownWord, "\(path) is \(quoted(word)), expected a type of JSON Schema",
        help: nearest.map(didYouMean) ?? "the types are \(ValueType.listing)")
    case .repeatedType(let path, let word):
      Problem.Wording(.repeatedValue, "\(path) has \(quoted(word)) twice")

    case .crossedLimits(let low, let least, let high, let most):
      Problem.Wording(
        .emptyRange,
        "\"\(low.rawValue)\" is \(least) and \"\(high.rawValue)\" is \(most), so nothing fits both")
    case .notPositive(let path, let number):
      Problem.Wording(
        .numberOutOfRange, "\(path) is \(shortened(number)), expected a number greater than zero")
    case .longDivisor(let path, let number):
      Problem.Wording(
        .numberOutOfRange,
        "\(path) is \(shortened(number)), expected at most \(JSONNumber.longestDivisor) "
          + "significant digits")

    case .pattern(let path, let fault):
      Problem.Wording(.pattern, "\(path): \(fault.message)", help: fault.help)
    case .repeatedValue(let path, let noun):
      Problem.Wording(.repeatedValue, "\(path) is \(noun), which stands before it already")
    case .unfitValue(let message, let help):
      Problem.Wording(.unfitValue, message, help: help)
    case .unboundValue(let path):
      Problem.Wording(
        .expression,
        "\(path) has \"${{\" in it, and the values of a declaration are taken as written",
        help:
          "leave the default out and give the value by -i, or use an expression where the input "
          + "is used")
    case .repeatedRequired(let path, let name):
      Problem.Wording(.repeatedValue, "\(path) is \(quoted(name)), which stands before it already")
    case .unknownRequired(let path, let name, let nearest):
      Problem.Wording(
        .emptyRange,
        "\(path) is \(quoted(name)), which is not among the \"properties\", and "
          + "\"additionalProperties\" is false: nothing fits",
        help: nearest.map(didYouMean))
    }
  }

  /// The equivalent key for one of the types, such as `minItems` for `minLength`.
  private static func counterpart(of key: SchemaKey, for types: [ValueType]) -> String? {
    let families: [[SchemaKey]] = [
      [.minLength, .minimum, .minItems, .minProperties],
      [.maxLength, .maximum, .maxItems, .maxProperties],
    ]
    let family = families.first { $0.contains(key) } ?? []
    return family.first { !$0.types.allSatisfy { !types.contains($0) } }?.rawValue
  }
}

extension ValueType {
  static let listing = allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")

  var plural: String {
    switch self {
    case .string: "strings"
    case .number: "numbers"
    case .integer: "integers"
    case .boolean: "true and false"
    case .array: "arrays"
    case .object: "objects"
    case .null: "null"
    }
  }

  /// The type meant by a word, including those of other languages and services.
  static func nearest(to word: String) -> String? {
    elsewhere[word.lowercased()]?.rawValue ?? names.nearest(to: word)
  }

  private static let names = NearestName(allCases.map(\.rawValue))
  private static let elsewhere: [String: ValueType] = [
    "str": .string, "text": .string, "choice": .string, "file": .string, "path": .string,
    "environment": .string, "int": .integer, "long": .integer, "float": .number, "double": .number,
    "decimal": .number, "bool": .boolean, "flag": .boolean, "list": .array, "sequence": .array,
    "map": .object, "dict": .object, "json": .object, "none": .null, "nil": .null,
  ]
}
