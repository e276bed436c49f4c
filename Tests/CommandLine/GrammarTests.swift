import Testing
import Weft
import WeftEvents
import WeftPlanning

@testable import WeftCLI

/// Tests that the table of commands and options agrees with the types and rules.
struct GrammarTests {
  @Test func everyCommandIsDescribedOnce() {
    #expect(CommandDescription.all.map(\.name) == CommandName.allCases)
  }

  @Test func theWordsOfTheTableAreThoseThatAreUnderstood() {
    #expect(words(Option.diagnosticFormat.value) == DiagnosticFormat.allCases.map(\.rawValue))
    #expect(words(Option.graphFormat.value) == PlanFormat.allCases.map(\.rawValue))
    #expect(words(Option.runState.value) == RecordedState.allCases.map(\.rawValue))
    #expect(words(Option.runListFormat.value) == RunListFormat.allCases.map(\.rawValue))
    #expect(words(Option.runDetailFormat.value) == RunDetailFormat.allCases.map(\.rawValue))
    #expect(words(operand(.schema)) == SchemaName.allCases.map(\.rawValue))
    #expect(words(operand(.completions)) == CompletionShell.allCases.map(\.rawValue))
    #expect(words(operand(.help)) == CommandName.allCases.map(\.rawValue))
  }

  @Test(arguments: CommandName.allCases)
  func noSpellingMeansTwoThings(command: CommandName) {
    let spellings = CommandDescription.named(command).options.flatMap(\.spellings)
    #expect(Set(spellings).count == spellings.count)
    let elsewhere = CommandDescription.named(command).options.flatMap(\.elsewhere)
    #expect(Set(spellings).isDisjoint(with: elsewhere))
  }

  @Test func theManualPageHasEveryCommandAndOption() {
    let lines = ManualPage.text.split(separator: "\n")
    let known = [".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".RS", ".RE", ".nf", ".fi"]
    for line in lines {
      let word = line.prefix { $0 != " " }
      // A line that begins with another request would be lost.
      #expect(
        known.contains(String(word)) || !(line.hasPrefix(".") || line.hasPrefix("'")), "\(line)")
      #expect(line.utf8.allSatisfy { $0 < 0x80 }, "\(line)")
    }
    let terms = Set(lines.filter { $0.hasPrefix(".B ") || $0.hasPrefix(".SS ") }.map(String.init))
    for command in CommandDescription.all {
      let usage = command.usage.replacing("-", with: "\\-")
      #expect(terms.contains(".SS \"\(usage)\""), "\(usage)")
      for option in command.ownOptions {
        #expect(terms.contains(".B \"\(option.synopsis.replacing("-", with: "\\-"))\""))
      }
    }
  }

  @Test func helpFitsATerminalAndAnyLocale() {
    let texts = CommandDescription.all.map(HelpText.text) + [HelpText.overview]
    for line in texts.joined(separator: "\n").split(separator: "\n") {
      #expect(line.utf8.allSatisfy { $0 < 0x80 })
      #expect(line.count <= 80, "\(line)")
      #expect(line.last != " ", "\(line)")
    }
  }

  private func operand(_ command: CommandName) -> ValueDescription? {
    CommandDescription.named(command).operand?.value
  }

  private func words(_ value: ValueDescription?) -> [String]? { value?.choices.map(\.word) }
}
