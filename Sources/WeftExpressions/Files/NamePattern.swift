/// A pattern for one name of a path.
struct NamePattern: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case scalar(Unicode.Scalar)
    /// `?`
    case anyScalar
    /// `*`
    case anyScalars
    /// `[a-z]`, `[!a-z]`
    case oneOf([ClosedRange<Unicode.Scalar>], isNegated: Bool)

    func matches(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .scalar(let own): own == scalar
      case .anyScalar: true
      case .anyScalars: false
      case .oneOf(let ranges, let isNegated):
        ranges.contains { $0.contains(scalar) } != isNegated
      }
    }
  }

  private let parts: [Part]

  init(_ text: String) {
    var parts: [Part] = []
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": if parts.last != .anyScalars { parts.append(.anyScalars) }
      case "?": parts.append(.anyScalar)
      case "[": parts.append(NamePattern.takeClass(from: &rest) ?? .scalar("["))
      case "\\": parts.append(.scalar(rest.popFirst() ?? "\\"))
      default: parts.append(.scalar(scalar))
      }
    }
    self.parts = parts
  }

  /// Parses the character class after a `[`; returns `nil` and consumes nothing if no `]` closes it.
  private static func takeClass(from rest: inout Substring.UnicodeScalarView) -> Part? {
    var tail = rest
    let isNegated = tail.first == "!" || tail.first == "^"
    if isNegated { tail.removeFirst() }
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    var isFirst = true
    while var scalar = tail.popFirst() {
      if scalar == "]", !isFirst {
        rest = tail
        return .oneOf(ranges, isNegated: isNegated)
      }
      isFirst = false
      if scalar == "\\" { scalar = tail.popFirst() ?? scalar }
      var ahead = tail
      if ahead.popFirst() == "-", let last = ahead.popFirst(), last != "]" {
        tail = ahead
        if scalar <= last { ranges.append(scalar...last) }
      } else {
        ranges.append(scalar...scalar)
      }
    }
    return nil
  }

  /// Matches greedily, backtracking to the last `*` only.
  func matches(_ name: [Unicode.Scalar]) -> Bool {
    var (part, index) = (0, 0)
    var retry: (part: Int, index: Int)?
    while index < name.count {
      if part < parts.count {
        if parts[part] == .anyScalars {
          retry = (part + 1, index)
          part += 1
          continue
        }
        if parts[part].matches(name[index]) {
          part += 1
          index += 1
          continue
        }
      }
      guard let from = retry else { return false }
      (part, index) = (from.part, from.index + 1)
      retry = (from.part, from.index + 1)
    }
    return parts[part...].allSatisfy { $0 == .anyScalars }
  }
}
