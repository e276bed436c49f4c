import WeftDiagnostics
import WeftJSON
import WeftPatterns

extension ValueSchema {
  /// The allowed values in a clause: `a whole number, at least 1, at most 10`.
  package var summary: String {
    var parts = [subject]
    if let pattern = text.pattern { parts.append("matching \(quoted(pattern.text))") }
    parts += limits(text.length, "character", "characters")
    if let least = number.minimum { parts.append("at least \(least)") }
    if let limit = number.exclusiveMinimum { parts.append("more than \(limit)") }
    if let most = number.maximum { parts.append("at most \(most)") }
    if let limit = number.exclusiveMaximum { parts.append("less than \(limit)") }
    if let divisor = number.divisor { parts.append("a multiple of \(divisor)") }
    parts += limits(array.count, "element", "elements")
    if array.isUnique { parts.append("unique elements") }
    if case .matching(let schema) = array.elements { parts.append("each \(schema.subject)") }
    parts += limits(object.count, "property", "properties")
    if !object.required.isEmpty {
      parts.append("with \(QuotedList(object.required, conjunction: "and"))")
    }
    return parts.joined(separator: ", ")
  }

  private var subject: String {
    if let constant { return constant.noun }
    if !allowed.isEmpty { return listed(allowed.map(\.noun), conjunction: "or") }
    if types.isEmpty { return "any value" }
    return listed(types.map(\.expectation), conjunction: "or")
  }

  private func limits(_ limits: CountLimits, _ one: String, _ many: String) -> [String] {
    switch (limits.least, limits.most) {
    case (0, nil): []
    case (let least, nil): ["at least \(least) \(least == 1 ? one : many)"]
    case (0, let most?): ["at most \(most) \(most == 1 ? one : many)"]
    case (let least, let most?) where least == most: ["\(most) \(most == 1 ? one : many)"]
    case (let least, let most?): ["\(least) to \(most) \(many)"]
    }
  }

  /// The symbol for a value in a synopsis: `TEXT`, `a|b`.
  package var placeholder: String {
    let words = allowed.compactMap { value -> String? in
      switch value {
      case .string(let text) where StepID.isValid(text.utf8): text
      case .number, .bool: value.description
      case .null, .string, .array, .object: nil
      }
    }
    if !words.isEmpty, words.count == allowed.count, words.count <= 5 {
      return words.joined(separator: "|")
    }
    if types.isEmpty || types.contains(.string) { return "TEXT" }
    if types.contains(.integer) || types.contains(.number) { return "N" }
    if types.contains(.boolean) { return "true|false" }
    return "JSON"
  }
}

extension InputDeclaration {
  /// The option that gives it on a command line; a secret comes from a file, because others can see
  /// the arguments of a program.
  package var option: String { "-i \(name)=\(isSecret ? "@FILE" : schema.placeholder)" }
}
