import WeftDefinition
import WeftEncoding
import WeftPlanning

/// The address of a step, or a pattern in which `*` is any text, also none. A key that contains a star is written with
/// `\*`.
struct StepPattern: Sendable, Hashable {
  /// A part of a pattern.
  private enum Part: Sendable, Hashable {
    case byte(UInt8)
    case any
  }

  let text: String
  /// Whether it matches one address only.
  let isExact: Bool
  private let parts: [Part]

  init(_ text: String) {
    let parts = StepPattern.parts(of: text)
    isExact = !parts.contains(.any)
    // An address may be typed with more escapes than it is printed with.
    self.text = isExact ? StepAddress(parsing: text)?.text ?? text : text
    self.parts = isExact ? self.text.utf8.map(Part.byte) : parts
  }

  /// The text of the pattern that only matches an address.
  static func text(matching address: StepAddress) -> String {
    address.text.replacing("*", with: #"\*"#)
  }

  private static func parts(of text: String) -> [Part] {
    var parts: [Part] = []
    var isEscaped = false
    for byte in text.utf8 {
      let isStar = byte == UInt8(ascii: "*")
      if isStar, isEscaped { parts.removeLast() }
      parts.append(isStar && !isEscaped ? .any : .byte(byte))
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
    }
    return parts
  }

  func matches(_ address: StepAddress) -> Bool {
    if isExact { return address.text.utf8.elementsEqual(text.utf8) }
    return StepPattern.matches(parts, address.text.utf8.map(Part.byte))
  }

  /// Whether some text matches both patterns.
  func overlaps(_ other: StepPattern) -> Bool {
    if isExact, other.isExact { return parts == other.parts }
    return StepPattern.overlap(parts, other.parts)
  }

  /// Whether it matches whatever the other one matches. It may say no although it does.
  func includes(_ other: StepPattern) -> Bool {
    isExact ? other.isExact && parts == other.parts : StepPattern.matches(parts, other.parts)
  }

  /// Greedy, with one place to come back to: linear in practice, quadratic at worst.
  private static func matches(_ pattern: [Part], _ text: [Part]) -> Bool {
    var (here, at) = (0, 0)
    var back: (here: Int, at: Int)?
    while at < text.count {
      if here < pattern.count, pattern[here] == .any {
        back = (here + 1, at)
        here += 1
      } else if here < pattern.count, pattern[here] == text[at] {
        here += 1
        at += 1
      } else if let last = back {
        (here, at) = (last.here, last.at + 1)
        back = (here, at)
      } else {
        return false
      }
    }
    return pattern[here...].allSatisfy { $0 == .any }
  }

  /// Follows all pairs of places that a common text can lead to.
  private static func overlap(_ one: [Part], _ other: [Part]) -> Bool {
    var reached = [Bool](repeating: false, count: (one.count + 1) * (other.count + 1))
    let width = other.count + 1
    reached[0] = true
    for left in 0...one.count {
      for right in 0...other.count where reached[left * width + right] {
        let (first, second) = (
          left < one.count ? one[left] : nil, right < other.count ? other[right] : nil
        )
        if let first, first == .any || first == second || second == .any {
          if first == .any || second == .any { reached[(left + 1) * width + right] = true }
        }
        if let second, second == .any || first == .any {
          reached[left * width + right + 1] = true
        }
        if let first, let second, first == second {
          reached[(left + 1) * width + right + 1] = true
        }
      }
    }
    return reached[one.count * width + other.count]
  }
}
