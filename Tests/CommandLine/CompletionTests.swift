import Testing
import WeftEncoding

@testable import WeftCLI

/// Tests that each shell completes every option of the table, and its value.
struct CompletionTests {
  /// The names of values that nothing can propose: numbers, durations, sizes, dates and addresses.
  private static let open: Set<String> = ["N", "D", "D|DATE", "S", "SIZE", "PERCENT", "URL"]

  private static let options = CommandDescription.all.flatMap { command in
    command.options.map { (command, $0) }
  }

  @Test func everyValueHasProposals() {
    for (command, option) in Self.options {
      guard let value = option.value, value.kind == .text else { continue }
      #expect(Self.open.contains(value.name), "weft \(command.name) \(option.synopsis)")
    }
  }

  @Test func bashCompletesEveryOption() {
    let lines = BashCompletion.script.split(separator: "\n").map { $0.drop { $0 == " " } }
    for (command, option) in Self.options {
      let start = "\(command.name.rawValue)) _weft_words '"
      let words = lines.filter { $0.hasPrefix(start) }.flatMap { line in
        line.dropFirst(start.count).prefix { $0 != "'" }.split(separator: " ").map(String.init)
      }
      #expect(Set(option.spellings).isSubset(of: words), "weft \(command.name) \(option.synopsis)")
      guard let value = option.value else { continue }
      let pattern = option.spellings.map { "\(command.name.rawValue):\($0)" }.joined(separator: "|")
      let proposals = lines.filter { $0.hasPrefix(pattern + ") ") }
        .map { $0.dropFirst(pattern.count + 2) }
      let hasProposals = proposals.contains { $0.hasPrefix("_weft_") }
      let areWhole = !proposals.isEmpty && proposals.allSatisfy { $0.hasSuffix("return ;;") }
      #expect(
        hasProposals == (value.kind != .text) && areWhole,
        "weft \(command.name) \(option.synopsis): \(proposals)")
    }
  }

  @Test func zshCompletesEveryOption() {
    var lines: [String: [Substring]] = [:]
    var command = ""
    for line in ZshCompletion.script.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
      let parts = line.split(separator: " ")
      if parts.count > 1, parts[1] == "_arguments", line.hasPrefix("(") {
        command = String(parts[0].dropFirst().dropLast())
      }
      lines[command, default: []].append(line)
    }
    for (command, option) in Self.options {
      for spelling in option.spellings {
        let mark = option.value == nil ? "" : spelling.hasPrefix("--") ? "=" : "+"
        let line = lines[command.name.rawValue]?.first { $0.contains(")\(spelling)\(mark)[") }
        #expect(line != nil, "weft \(command.name) \(spelling)")
        guard let value = option.value, value.kind != .text, let line else { continue }
        let actions = [":_weft_names ", ":_weft_workflows", ":_files", ":(("]
        let hasAction = actions.contains { line.contains($0) }
        #expect(hasAction, "weft \(command.name) \(spelling): \(line)")
      }
    }
  }

  @Test func fishCompletesEveryOption() {
    let lines = FishCompletion.script.split(separator: "\n").map(String.init)
    for (command, option) in Self.options {
      let start = "complete -c weft -n '__weft_command \(command.name.rawValue)'"
      let spellings = option.spellings.map {
        $0.hasPrefix("--") ? " -l \($0.dropFirst(2))" : " -s \($0.dropFirst())"
      }.joined()
      let value = option.value.map { $0.kind == .text ? " -r -f" : " -r" } ?? ""
      let line = lines.first { $0.hasPrefix(start + spellings + value + " ") }
      #expect(line != nil, "weft \(command.name) \(option.synopsis)")
      guard let value = option.value, value.kind != .text, let line else { continue }
      let hasProposals = [" -F", " -a "].contains { line.contains($0) }
      #expect(hasProposals, "weft \(command.name) \(option.synopsis)")
    }
  }
}
