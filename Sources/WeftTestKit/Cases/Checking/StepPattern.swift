import WeftDefinition
import WeftPlanning

/// The address of a step, or a pattern in which `*` is any text, also none.
struct StepPattern: Sendable, Hashable {
  let text: String
  /// Whether it matches one address only.
  let isExact: Bool
  private let bytes: [UInt8]

  init(_ text: String) {
    isExact = !text.utf8.contains(StepPattern.star)
    // An address may be typed with more escapes than it is printed with.
    self.text = isExact ? StepAddress(parsing: text)?.text ?? text : text
    bytes = Array(self.text.utf8)
  }

  fileprivate static let star = UInt8(ascii: "*")

  func matches(_ address: StepAddress) -> Bool {
    if isExact { return address.text.utf8.elementsEqual(bytes) }
    return StepPattern.matches(bytes, Array(address.text.utf8))
  }

  /// Whether some text matches both patterns.
  func overlaps(_ other: StepPattern) -> Bool {
    if isExact, other.isExact { return bytes == other.bytes }
    return StepPattern.overlap(bytes, other.bytes)
  }

  /// Whether it matches whatever the other one matches. It may say no although it does.
  func includes(_ other: StepPattern) -> Bool {
    isExact ? other.isExact && bytes == other.bytes : StepPattern.matches(bytes, other.bytes)
  }

  /// Greedy, with one place to come back to: linear in practice, quadratic at worst.
  private static func matches(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
    var (here, at) = (0, 0)
    var back: (here: Int, at: Int)?
    while at < text.count {
      if here < pattern.count, pattern[here] == star {
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
    return pattern[here...].allSatisfy { $0 == star }
  }

  /// Follows all pairs of places that a common text can lead to.
  private static func overlap(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    var reached = [Bool](repeating: false, count: (one.count + 1) * (other.count + 1))
    let width = other.count + 1
    reached[0] = true
    for left in 0...one.count {
      for right in 0...other.count where reached[left * width + right] {
        let (first, second) = (
          left < one.count ? one[left] : nil, right < other.count ? other[right] : nil
        )
        if let first, first == star || first == second || second == star {
          if first == star || second == star { reached[(left + 1) * width + right] = true }
        }
        if let second, second == star || first == star {
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
