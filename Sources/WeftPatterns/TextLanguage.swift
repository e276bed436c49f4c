/// A set of texts, as a finite automaton.
package struct TextLanguage: Sendable {
  /// The scalars of its texts.
  let alphabet: Set<Unicode.Scalar>
  /// The state after a scalar of the alphabet; `nil` if no text of the language continues so. The first is 0.
  let next: @Sendable (_ state: Int, _ scalar: Unicode.Scalar) -> Int?
  /// The states in which a text may end.
  let ends: Set<Int>

  package init(
    alphabet: Set<Unicode.Scalar>, ends: Set<Int>,
    next: @escaping @Sendable (_ state: Int, _ scalar: Unicode.Scalar) -> Int?
  ) {
    self.alphabet = alphabet
    self.next = next
    self.ends = ends
  }

  package func contains(_ text: String) -> Bool {
    var state = 0
    for scalar in text.unicodeScalars {
      guard alphabet.contains(scalar), let following = next(state, scalar) else { return false }
      state = following
    }
    return ends.contains(state)
  }
}

extension PatternProgram {
  /// A way of matching: the next instruction, and the text before it.
  private struct Position: Hashable {
    var instruction: Int
    var text: Text
  }

  private enum Text: Hashable {
    /// The pattern is matched from the middle of a text on, so that anything may be before it.
    case any
    case read(state: Int)
    /// Nothing has been read yet; the only one at which `^` holds.
    case none
    /// `$` has been passed in this state.
    case ended(state: Int)
  }

  /// Whether every text in which it matches belongs to the language.
  func isConfined(to language: TextLanguage) -> Bool {
    var seen: Set<Position> = []
    var waiting = [Position(instruction: 0, text: .none), Position(instruction: 0, text: .any)]
    func add(_ instruction: Int, _ text: Text) {
      waiting.append(Position(instruction: instruction, text: text))
    }
    while let position = waiting.popLast() {
      guard seen.insert(position).inserted else { continue }
      let next = position.instruction + 1
      switch (instructions[position.instruction], position.text) {
      case (.jump(let target), let text): add(Int(target), text)
      case (.split(let first, let second), let text):
        add(Int(first), text)
        add(Int(second), text)
      case (.assertion(.wordBoundary), let text), (.assertion(.noWordBoundary), let text):
        add(next, text)
      case (.assertion(.start), .none): add(next, .none)
      case (.assertion(.start), .ended(let state)) where state == 0: add(next, .ended(state: 0))
      case (.assertion(.start), _): break
      case (.assertion(.end), .none): add(next, .ended(state: 0))
      case (.assertion(.end), .read(let state)): add(next, .ended(state: state))
      case (.assertion(.end), let text): add(next, text)
      case (.scalars, .ended): break
      case (.scalars, .any): add(next, .any)
      case (.scalars(let set), let text):
        let state = if case .read(let state) = text { state } else { 0 }
        guard sets[Int(set)].isMade(of: language.alphabet) else { return false }
        for scalar in language.alphabet where sets[Int(set)].contains(scalar) {
          guard let state = language.next(state, scalar) else { return false }
          add(next, .read(state: state))
        }
      case (.match, .ended(let state)): guard language.ends.contains(state) else { return false }
      // More text may follow.
      case (.match, _): return false
      }
    }
    return true
  }
}
