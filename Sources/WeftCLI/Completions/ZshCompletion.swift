/// Completions for zsh, using its `_arguments`; works sourced and as a file `_weft` in `fpath`.
enum ZshCompletion {
  static var script: String {
    let names = CommandDescription.all.map {
      "        " + "\($0.name.rawValue):\($0.summary)".inSingleQuotes + "\n"
    }
    let topOptions = [Option.help, .version].flatMap { specifications(of: $0, exclusions: ["- *"]) }
    return """
      #compdef weft
      # Completions of weft for zsh, made by "weft completions zsh".
      _weft_runs() {
        local -a runs=(${WEFT_DIR:-.weft}/runs/*(N:t))
        compadd -a runs
      }
      _weft_steps() {
        local file=${words[(r)*.json]}
        local -a names=("${(@f)$(\(CompletedNames.steps("\"$file\"")))}")
        compadd -a names
      }
      _weft_inputs() {
        local file=${words[(r)*.json]}
        local -a names=("${(@f)$(\(CompletedNames.inputs("\"$file\"")))}")
        compadd -S '' -a names
      }
      _weft() {
        local curcontext="$curcontext" state line
        typeset -A opt_args
        _arguments -C -s -S \(topOptions.joined(separator: " ")) \\
          '1: :->command' '*:: :->rest' && return
        case $state in
          (command)
            local -a commands=(
      \(names.joined())\
            )
            _describe -t commands command commands
            ;;
          (rest)
            curcontext="${curcontext%:*:*}:weft-$line[1]:"
            case $line[1] in
      \(CommandDescription.all.map(arguments).joined())\
            esac
            ;;
        esac
      }
      if [[ ${funcstack[1]} == _weft ]]; then
        _weft "$@"
      else
        compdef _weft weft
      fi

      """
  }

  private static func arguments(of command: CommandDescription) -> String {
    var specifications = command.options.flatMap { option in
      let others = command.contradictions.filter { $0.contains(option) }.flatMap(\.self)
      let isHelp = option == .help
      return self.specifications(
        of: option, exclusions: isHelp ? ["- *"] : (others + [option]).flatMap(\.spellings))
    }
    for (index, operand) in command.operands.enumerated() {
      let position =
        switch operand.count {
        case .one: "\(index + 1):"
        case .atMostOne: "\(index + 1)::"
        case .oneOrMore, .any: "*:"
        }
      let name = operand.value.choices.isEmpty ? operand.value.name : "word"
      specifications.append("\(position)\(name):\(action(for: operand.value))".inSingleQuotes)
    }
    let lines = specifications.map { " \\\n            " + $0 }.joined()
    return "        (\(command.name.rawValue)) _arguments -s -S\(lines) ;;\n"
  }

  private static func specifications(of option: Option, exclusions: [String]) -> [String] {
    option.spellings.map { spelling in
      var text = "(\(exclusions.joined(separator: " ")))\(spelling)"
      if option.value != nil { text += spelling.hasPrefix("--") ? "=" : "+" }
      text += "[\(escaped(option.help, "\\[]:"))]"
      if let value = option.value {
        let name = value.choices.isEmpty ? value.name : "word"
        text += ":\(escaped(name, "\\[]:")):\(action(for: value))"
      }
      return text.inSingleQuotes
    }
  }

  private static func action(for value: ValueDescription) -> String {
    switch value.kind {
    case .text: " "
    case .file: "_files"
    case .existingFile(let suffix): "_files -g \"*\(suffix)\""
    case .directory: "_files -/"
    case .recordedRun: "_weft_runs"
    case .step: "_weft_steps"
    case .input: "_weft_inputs"
    case .choice(let choices):
      "(("
        + choices.map { choice in
          choice.word + (choice.help.map { "\\:" + escaped($0, " ,.;:()'\"\\") } ?? "")
        }.joined(separator: " ") + "))"
    }
  }

  private static func escaped(_ text: String, _ special: String) -> String {
    text.reduce(into: "") { $0 += special.contains($1) ? "\\\($1)" : String($1) }
  }
}
