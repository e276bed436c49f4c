import Weft
import WeftPlatform

/// A question for an input that is required and was not given.
struct InputQuestion {
  private let declaration: InputDeclaration

  /// The allowed values, if there is a list of them.
  private let choices: [String]

  init(_ declaration: InputDeclaration) {
    self.declaration = declaration
    choices = declaration.schema.allowed.isEmpty ? [] : declaration.schema.answers
  }

  /// The description of the input and its numbered choices.
  var introduction: String {
    let choices = choices.enumerated().map { "  \($0 + 1)) \($1)" }
    return ([InputBinding.note(on: declaration)] + choices)
      .map { TerminalText.harmless($0) + "\n" }.joined()
  }

  var prompt: String {
    let count = choices.count
    let hint = declaration.isSecret ? " (hidden)" : count > 1 ? " [1-\(count)]" : ""
    return "\(declaration.name)\(hint): "
  }

  /// Reads an answer: a choice or its number, else a value as after `-i NAME=`.
  ///
  /// - Returns: The value, or what is wrong with it.
  func answer(_ line: String) -> Result<GivenInput, InputsError> {
    let position =
      choices.firstIndex(of: line)
      ?? Int(line).flatMap { $0 >= 1 && $0 <= choices.count ? $0 - 1 : nil }
    let content: GivenInput.Content =
      position.map { .value(declaration.schema.allowed[$0]) } ?? .text(line)
    let given = GivenInput(declaration.name.text, content, .program)
    do {
      _ = try InputBinding.bind([declaration], [given], inputSource: .commandLine)
      return .success(given)
    } catch {
      return .failure(error)
    }
  }

  /// Asks until an answer fits.
  ///
  /// - Returns: `nil` at the end of input.
  /// - Throws: If the user interrupts a hidden answer.
  func ask(at terminal: ControllingTerminal) throws(CommandFailure) -> GivenInput? {
    var prompt = introduction + prompt
    while true {
      switch terminal.reply(to: prompt, isHidden: declaration.isSecret) {
      case .end: return nil
      case .interrupt: throw CommandFailure(.signal(Signal.interrupt.rawValue))
      case .line(""): prompt = "write a value, or press ^D to stop\n" + self.prompt
      case .line(let line):
        switch answer(line) {
        case .success(let given): return given
        case .failure(let error):
          let messages = error.diagnostics.map { TerminalText.harmless($0.message) + "\n" }
          prompt = messages.joined() + self.prompt
        }
      }
    }
  }
}

extension ValueSchema {
  /// The allowed values as they are typed; empty if it has no list of them.
  var answers: [String] {
    if allowed.isEmpty, types == [.boolean] { return ["true", "false"] }
    return allowed.map { if case .string(let text) = $0 { text } else { $0.description } }
  }
}

extension ControllingTerminal {
  /// The terminal at which a user can answer: standard input and standard error both lead to it.
  static var ofUser: ControllingTerminal? {
    guard Descriptor.standardInput.isTerminal, Descriptor.standardError.isTerminal else {
      return nil
    }
    return try? ControllingTerminal()
  }
}
