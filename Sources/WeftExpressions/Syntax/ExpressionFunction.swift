/// The functions of the language. Names are case-insensitive.
package enum ExpressionFunction: String, Sendable, Hashable, CaseIterable {
  case contains, startsWith, endsWith, format, join, toJSON, fromJSON, hashFiles, `case`
  case success, failure, always, cancelled
  case length, split, trim, lower, upper, replace, keys

  /// The number of arguments it takes; `case` requires an odd number.
  package var argumentCounts: ClosedRange<Int> {
    switch self {
    case .contains, .startsWith, .endsWith, .split: 2...2
    case .format, .hashFiles: 1...255
    case .join: 1...2
    case .toJSON, .fromJSON, .length, .trim, .lower, .upper, .keys: 1...1
    case .case: 3...255
    case .success, .failure, .always, .cancelled: 0...0
    case .replace: 3...3
    }
  }

  /// `nil` if it is not a status function.
  package var status: StatusFunction? {
    switch self {
    case .success: .success
    case .failure: .failure
    case .always: .always
    case .cancelled: .cancelled
    case .contains, .startsWith, .endsWith, .format, .join, .toJSON, .fromJSON, .hashFiles, .case,
      .length, .split, .trim, .lower, .upper, .replace, .keys:
      nil
    }
  }

  /// The signature as shown in help.
  package var signature: String {
    switch self {
    case .contains: "contains(search, item)"
    case .startsWith: "startsWith(text, start)"
    case .endsWith: "endsWith(text, end)"
    case .format: "format(text, value, …)"
    case .join: "join(array, separator)"
    case .toJSON: "toJSON(value)"
    case .fromJSON: "fromJSON(text)"
    case .hashFiles: "hashFiles(pattern, …)"
    case .case: "case(condition, value, …, default)"
    case .success, .failure, .always, .cancelled: "\(rawValue)()"
    case .length: "length(value)"
    case .split: "split(text, separator)"
    case .trim: "trim(text)"
    case .lower: "lower(text)"
    case .upper: "upper(text)"
    case .replace: "replace(text, old, new)"
    case .keys: "keys(object)"
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
