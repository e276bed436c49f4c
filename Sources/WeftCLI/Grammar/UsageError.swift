import Weft
import WeftDefinition
import WeftEncoding

/// The errors in a command line, each with a sentence and a remedy.
enum UsageError: Error, Sendable, Hashable {
  case noCommand
  case unknownCommand(String)
  case unknownTopOption(String)
  case unknownOption(String, of: CommandName)
  case missingValue(of: Option, CommandName)
  case unwantedValue(of: Option, String, CommandName)
  case missingOperand(CommandName)
  /// `after` has the other operands, if they can be looked up here.
  case unwantedOperand(String, after: [String], CommandName)
  case wrongValue(of: String, found: String, wanted: String, help: String?, CommandName)
  case repeatedOption(Option, CommandName)
  case standardInputTwice(String, String, CommandName)
  /// Each run would need it again.
  case standardInputWatched(String, CommandName)
  case contradiction(Option, Option, CommandName)
  /// An option that needs another one.
  case dependent(Option, on: Option, CommandName)
  /// `position` counts from 1.
  case notUTF8(position: Int, visible: String)
  /// The value of an input, which may be secret.
  case inputNotUTF8(name: String, position: Int)

  var message: String {
    switch self {
    case .noCommand: "no command given"
    case .unknownCommand(let name): "\"\(name)\" is not a command of weft"
    case .unknownTopOption(let name): "\"\(name)\" is not an option of weft"
    case .unknownOption(let name, let command):
      "\"\(name)\" is not an option of \"weft \(command.rawValue)\""
    case .missingValue(let option, _):
      "option \"\(option.name)\" needs a value: \(option.value?.name ?? "")"
    case .unwantedValue(let option, let value, _):
      "option \"\(option.name)\" takes no value, found \"\(value)\""
    case .missingOperand(let command):
      "\"weft \(command.rawValue)\" needs \(CommandDescription.named(command).missing)"
    case .unwantedOperand(let text, _, let command):
      CommandDescription.named(command).surplus(text)
    case .wrongValue(let name, let found, let wanted, _, _):
      "\(name) is \"\(found)\", expected \(wanted)"
    case .contradiction(let one, let other, _):
      "\"\(one.name)\" and \"\(other.name)\" contradict each other"
    case .dependent(let option, let other, let command):
      "\"weft \(command.rawValue)\" has \"\(option.name)\" only with \"\(other.name)\""
    case .repeatedOption(let option, _): "\"\(option.name)\" is given twice"
    case .standardInputTwice(let one, let other, _):
      "both \(one) and \(other) read standard input, which can only be read once"
    case .standardInputWatched(let reader, _):
      "\(reader) reads standard input, which cannot be read again for each run of \"--watch\""
    case .notUTF8(let position, let visible):
      "argument \(position) is not UTF-8: \"\(visible)\""
    case .inputNotUTF8(let name, let position):
      "\"-i \(name)\" is not UTF-8 (argument \(position))"
    }
  }

  /// The suggested remedy.
  var help: String {
    switch self {
    case .noCommand: UsageError.seeHelp(nil)
    case .unknownCommand(let name): UsageError.remedy(unknownCommand: name)
    case .unknownTopOption(let name): UsageError.remedy(unknownTopOption: name)
    case .unknownOption(let name, let command):
      UsageError.remedy(unknownOption: name, of: CommandDescription.named(command))
    case .wrongValue(_, _, _, let help?, _): help
    case .missingValue(_, let command), .unwantedValue(_, _, let command),
      .missingOperand(let command),
      .wrongValue(_, _, _, nil, let command):
      UsageError.seeHelp(command)
    case .unwantedOperand(let text, let others, let command):
      UsageError.remedy(unwantedOperand: text, after: others, of: command)
    case .contradiction: "use one of them"
    case .dependent(let option, let other, _): "add \(other.name), or omit \(option.name)"
    case .repeatedOption: "use it once"
    case .standardInputTwice: "pass a file for one of them"
    case .standardInputWatched: "pass a file instead"
    case .inputNotUTF8:
      "inputs are texts in UTF-8: convert the value, or encode its bytes, such as with base64"
    case .notUTF8: "rename the file, or pass its content on standard input, with \"-\" as its name"
    }
  }

  private static func seeHelp(_ command: CommandName?) -> String {
    let words = ["weft help", command?.rawValue].compactMap(\.self).joined(separator: " ")
    return "see \"\(words)\""
  }

  private static func remedy(unknownCommand name: String) -> String {
    if WorkflowFileName.endings.contains(where: name.hasSuffix)
      || WorkflowLookup().workflow(named: name) != nil
    {
      return "to run it, write \"weft run \(name)\""
    }
    if let choice = MissingFile.choice(of: [name], for: .run) {
      return "to run that step or group of \(choice.file), write \"weft run \(choice.options)\""
    }
    if let meant = command(called: name) { return "use \"weft \(meant.name.rawValue)\"" }
    if let absence = absent[name] { return absence }
    return NearestName(CommandName.allCases.map(\.rawValue)).nearest(to: name).asSuggestion
      ?? seeHelp(nil)
  }

  private static func remedy(unknownTopOption name: String) -> String {
    if Option.version.elsewhere.contains(name) { return "use \"\(Option.version.name)\"" }
    let owners = CommandDescription.all.filter { command in
      command.ownOptions.contains { $0.spellings.contains(name) }
    }
    guard let owner = owners.first else {
      let known = [Option.help, .version].flatMap(\.spellings)
      if let remedy = NearestName(known).nearest(to: name).asSuggestion { return remedy }
      if let meant = command(called: name) { return "use \"weft \(meant.name.rawValue)\"" }
      return "put the command first: weft COMMAND [OPTION]..."
    }
    let value = owner.ownOptions.first { $0.spellings.contains(name) }?.value
    let words = [name, value?.name].compactMap(\.self).joined(separator: " ")
    return "put the command first: \"weft \(owner.name.rawValue) \(words)\""
  }

  private static func remedy(unknownOption name: String, of command: CommandDescription) -> String {
    if let meant = command.options.first(where: { $0.elsewhere.contains(name) }) {
      return "use \"\(meant.synopsis)\""
    }
    if let operand = command.operand, operand.elsewhere.contains(name) {
      return "write it without an option: \"weft \(command.name.rawValue) \(operand.value.name)\""
    }
    if let absence = absent[name] { return absence }
    let long = command.options.flatMap(\.spellings).filter { $0.hasPrefix("--") }
    if name.hasPrefix("--"), let remedy = NearestName(long).nearest(to: name).asSuggestion {
      return remedy
    }
    if command.name == .run, let meant = self.command(called: name) {
      return "use \"weft \(meant.name.rawValue)\""
    }
    return seeHelp(command.name)
  }

  private static func remedy(
    unwantedOperand text: String, after others: [String], of command: CommandName
  ) -> String {
    let words = "weft \(command.rawValue)"
    if CommandDescription.named(command).ownOptions.contains(.input),
      let option = MissingFile.input(text)
    {
      return "to set an input: \(words) \((others + [option]).joined(separator: " "))"
    }
    if !others.isEmpty, let choice = MissingFile.choice(of: others + [text], for: command) {
      return "they are steps or groups of \(choice.file): \(words) \(choice.options)"
    }
    if command == .run, let file = others.first {
      return "inputs are given by -i NAME=VALUE, and what is \"run.args\" after --: "
        + "\(words) \(ShellWord.quoted(file)) -- \(ShellWord.quoted(text))"
    }
    return seeHelp(command)
  }

  /// The command that has this name, or is asked for by this option, in other programs.
  private static func command(called name: String) -> CommandDescription? {
    CommandDescription.all.first { $0.elsewhere.contains(name) }
  }

  /// The remedies for what other programs have, and weft does not.
  private static let absent: [String: String] = {
    let watching = "only \"weft run\" watches files: weft run --watch"
    return Dictionary(uniqueKeysWithValues: ["watch", "--watch", "-w"].map { ($0, watching) })
  }()
}

extension CommandDescription {
  /// A noun for the missing operand.
  fileprivate var missing: String {
    guard let operand = operands.last(where: { $0.count.range.lowerBound > 0 }) else {
      return "nothing"
    }
    switch operand.value.kind {
    case .choice(let choices): return "one of " + choices.map(\.word).joined(separator: ", ")
    case .text, .file, .existingFile, .directory, .names:
      let name = operand.value.name
      return "AEIOU".contains(name.prefix(1)) ? "an \(name)" : "a \(name)"
    }
  }

  fileprivate func surplus(_ text: String) -> String {
    guard let operand else {
      return "\"weft \(name.rawValue)\" takes no operand, found \"\(text)\""
    }
    if operands.count > 1 {
      let names = operands.map(\.value.name).joined(separator: " and ")
      return "\"weft \(name.rawValue)\" takes \(names), found \"\(text)\" as well"
    }
    return "\"weft \(name.rawValue)\" takes one \(operand.value.name), found \"\(text)\" as well"
  }
}
