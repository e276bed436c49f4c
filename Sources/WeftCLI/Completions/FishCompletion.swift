/// Completions for fish: one `complete` for each command, option and operand.
enum FishCompletion {
  static var script: String {
    let commands = CommandDescription.all.map {
      "complete -c weft -n __weft_without_command -a \($0.name.rawValue) -d \(quoted($0.summary))\n"
    }
    let topOptions = [Option.help, .version].map { line(for: $0, when: "__weft_without_command") }
    return """
      # Completions of weft for fish, made by "weft completions fish".
      function __weft_without_command
        test (count (commandline -opc)) -eq 1
      end
      function __weft_command
        set -l words (commandline -opc)
        test (count $words) -gt 1; and test $words[2] = $argv[1]
      end
      function __weft_runs
        set -l place .weft
        set -q WEFT_DIR; and set place $WEFT_DIR
        command ls $place/runs 2>/dev/null
      end
      function __weft_file
        for word in (commandline -opc)[3..]
          if test -f $word
            echo $word
            return
          end
        end
      end
      function __weft_steps
        set -l file (__weft_file)
        \(CompletedNames.steps("\"$file\""))
      end
      function __weft_inputs
        set -l file (__weft_file)
        \(CompletedNames.inputs("\"$file\""))
      end
      complete -c weft -f
      \(commands.joined())\
      \(topOptions.joined())\
      \(CommandDescription.all.map(lines).joined())
      """
  }

  private static func lines(for command: CommandDescription) -> String {
    let condition = quoted("__weft_command \(command.name.rawValue)")
    let options = command.options.map { line(for: $0, when: condition) }
    return options.joined()
      + command.operands.map { "complete -c weft -n \(condition)\(proposals($0.value))\n" }.joined()
  }

  private static func line(for option: Option, when condition: String) -> String {
    let spellings = option.spellings.map {
      $0.hasPrefix("--") ? " -l \($0.dropFirst(2))" : " -s \($0.dropFirst())"
    }
    let value = option.value.map { " -r" + proposals($0) } ?? ""
    return
      "complete -c weft -n \(condition)\(spellings.joined())\(value) -d \(quoted(option.help))\n"
  }

  /// Returns arguments of `complete` that propose values.
  private static func proposals(_ value: ValueDescription) -> String {
    switch value.kind {
    case .text: " -f"
    case .file: " -F"
    case .existingFile(let suffix): " -k -a '(__fish_complete_suffix \(suffix))'"
    case .recordedRun: " -f -a '(__weft_runs)'"
    case .step: " -f -a '(__weft_steps)'"
    case .input: " -f -a '(__weft_inputs)'"
    case .directory: " -f -a '(__fish_complete_directories)'"
    case .choice(let choices):
      " -f -a "
        + quoted(
          choices.map { choice in
            choice.word + (choice.help.map { "\\t" + quoted($0) } ?? "")
          }.joined(separator: " "))
    }
  }

  /// Returns the text in single quotes for fish, where only `\\` and `\'` are special.
  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
