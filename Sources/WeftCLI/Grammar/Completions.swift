import WeftEncoding

/// The shells with completions, which are generated from the grammar.
enum CompletionShell: String, CaseIterable {
  case bash, zsh, fish

  var script: String {
    switch self {
    case .bash: BashCompletion.script
    case .zsh: ZshCompletion.script
    case .fish: FishCompletion.script
    }
  }
}

extension String {
  /// The text as one word of a Bourne shell.
  var inSingleQuotes: String { "'" + replacing("'", with: "'\\''") + "'" }
}

/// Completions for bash 3.2 and later, without a completion package.
///
/// `=` breaks words in bash: `--format=js` arrives as three words, so both forms are handled.
enum BashCompletion {
  static var script: String {
    let names = CommandDescription.all.map(\.name.rawValue).joined(separator: " ")
    let topOptions = [Option.help, .version].flatMap(\.spellings).joined(separator: " ")
    return """
      # Completions of weft for bash, made by "weft completions bash".
      _weft_words() {
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$current")
      }
      _weft_paths() {
        compopt -o filenames 2>/dev/null
        are_files=1
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$@" -- "$current")
      }
      _weft_files_first() {
        local suffix
        for suffix; do _weft_paths -f -X "!*$suffix"; done
        _weft_paths -d
        if ((${#COMPREPLY[@]} == 0)); then _weft_paths -f; fi
      }
      _weft_names() {
        local name
        while IFS= read -r name; do
          name=${name#"${3-}"}
          if [[ $name == *= ]]; then compopt -o nospace 2>/dev/null; fi
          if [[ $name == "$current"* ]]; then COMPREPLY+=("$name"); fi
        done < <(command weft \(ProposedNames.call) "$1" "$2" "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
      }
      _weft() {
        local are_files='' index
        _weft_propose
        # bash itself quotes what it takes for files.
        if [[ $are_files ]]; then return; fi
        for index in "${!COMPREPLY[@]}"; do printf -v 'COMPREPLY[index]' '%q' "${COMPREPLY[index]}"; done
      }
      _weft_propose() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
        local command=${COMP_WORDS[1]} operands_only='' index word equals=0
        COMPREPLY=()
        if ((COMP_CWORD == 1)); then
          case $current in
            -*) _weft_words '\(topOptions)' ;;
            *) _weft_words '\(names)' ;;
          esac
          return
        fi
        for ((index = 2; index < COMP_CWORD; index++)); do
          if [[ ${COMP_WORDS[index]} == -- ]]; then operands_only=1; fi
        done
        if [[ $current == '=' ]]; then
          current='' equals=$COMP_CWORD
        elif [[ $previous == '=' ]]; then
          previous=${COMP_WORDS[COMP_CWORD - 2]} equals=$((COMP_CWORD - 1))
        fi
        if [[ ! $operands_only ]]; then
          if ((equals > 3)); then
            case $command:${COMP_WORDS[equals - 2]} in
      \(CommandDescription.all.flatMap(pairs).joined())\
            esac
          fi
          case $command:$previous in
      \(CommandDescription.all.flatMap(values).joined())\
          esac
          if [[ $current == -* ]]; then
            case $command in
      \(CommandDescription.all.map(options).joined())\
            esac
            return
          fi
        fi
        case $command in
      \(CommandDescription.all.compactMap(operand).joined())\
        esac
      }
      complete -F _weft weft

      """
  }

  private static func values(of command: CommandDescription) -> [String] {
    command.options.compactMap { option in
      guard let value = option.value else { return nil }
      let patterns = option.spellings.map { "\(command.name.rawValue):\($0)" }
      return "      \(patterns.joined(separator: "|"))) \(proposing(value)) return ;;\n"
    }
  }

  /// The proposals for the second part of `NAME=VALUE`.
  private static func pairs(of command: CommandDescription) -> [String] {
    command.options.compactMap { option in
      guard case .names(let kind)? = option.value?.kind, kind.isPair else { return nil }
      let patterns = option.spellings.map { "\(command.name.rawValue):\($0)" }
      return "        \(patterns.joined(separator: "|"))) "
        + "_weft_names \(kind.rawValue) \"$previous=\" \"$previous=\"; return ;;\n"
    }
  }

  private static func options(of command: CommandDescription) -> String {
    let spellings = command.options.flatMap(\.spellings).joined(separator: " ")
    return "        \(command.name.rawValue)) _weft_words '\(spellings)' ;;\n"
  }

  private static func operand(of command: CommandDescription) -> String? {
    guard let operand = command.operands.first else { return nil }
    // The second operand is a step: of the file once there is one; with runs, either may come first.
    let first = proposing(operand.value)
    let other = command.operands.dropFirst().first.map { proposing($0.value) } ?? ""
    let second = other == first ? "" : other
    let all =
      switch (second.isEmpty, operand.count) {
      case (true, _): first
      case (false, _): "\(first) \(second)"
      }
    return "    \(command.name.rawValue)) \(all) ;;\n"
  }

  /// Returns bash commands that propose values; each ends with a semicolon or is empty.
  private static func proposing(_ value: ValueDescription) -> String {
    switch value.kind {
    case .text: ""
    case .file: "_weft_paths -f;"
    case .existingFile(let suffixes):
      (value == .workflowFile ? "_weft_names workflow ''; " : "")
        + "_weft_files_first \(suffixes.map(\.inSingleQuotes).joined(separator: " "));"
    case .directory: "_weft_paths -d;"
    case .names(let kind): "_weft_names \(kind.rawValue) \(kind.isPair ? "\"$current\"" : "''");"
    case .choice(let choices):
      "_weft_words '\(choices.map(\.word).joined(separator: " "))';"
    }
  }
}

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
      _weft_names() {
        local -a names=("${(@f)$(command weft \(ProposedNames.call) $argv[-1] "$PREFIX" "${(@)words[1,CURRENT-1]}" 2>/dev/null)}")
        names=(${names:#})
        if [[ ${names[1]} == *= ]]; then compadd -S '' -a names; else compadd -a names; fi
      }
      _weft_workflows() {
        _weft_names workflow
        _files -g "*.(json|jsonc)"
      }
      _weft_workflows_and_steps() {
        _weft_names step
        _weft_workflows
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
      // The workflow of the project need not be named before a step.
      let isBeforeStep = command.operands.dropFirst(index + 1).first?.value.kind == .names(.step)
      let action =
        operand.value == .workflowFile && isBeforeStep
        ? "_weft_workflows_and_steps" : action(for: operand.value)
      specifications.append("\(position)\(name):\(action)".inSingleQuotes)
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
    case .existingFile where value == .workflowFile: "_weft_workflows"
    case .existingFile(let suffixes): "_files -g \"*(\(suffixes.joined(separator: "|")))\""
    case .directory: "_files -/"
    case .names(let kind): "_weft_names \(kind.rawValue)"
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
      function __weft_names
        set -l current (commandline -ct)
        command weft \(ProposedNames.call) $argv[1] "$current" (commandline -opc)[2..] 2>/dev/null
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
    case .existingFile(let suffixes):
      " -k -a '("
        + ((value == .workflowFile ? ["__weft_names workflow"] : [])
        + suffixes.map { "__fish_complete_suffix \($0)" }).joined(separator: "; ") + ")'"
    case .names(let kind): " -f -a '(__weft_names \(kind.rawValue))'"
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
