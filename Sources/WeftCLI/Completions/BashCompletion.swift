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
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$@" -- "$current")
      }
      _weft_files_first() {
        _weft_paths -f -X "!*$1"
        _weft_paths -d
        if ((${#COMPREPLY[@]} == 0)); then _weft_paths -f; fi
      }
      _weft_runs() {
        _weft_words "$(command ls "${WEFT_DIR:-.weft}/runs" 2>/dev/null)"
      }
      _weft_file() {
        local word
        for word in "${COMP_WORDS[@]:2}"; do
          if [[ $word != -* && -f $word ]]; then printf '%s' "$word"; return; fi
        done
      }
      _weft_steps() {
        local file=$(_weft_file)
        _weft_words "$(\(CompletedNames.steps("\"$file\"")))"
      }
      _weft_inputs() {
        local file=$(_weft_file)
        compopt -o nospace 2>/dev/null
        _weft_words "$(\(CompletedNames.inputs("\"$file\"")))"
      }
      _weft() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
        local command=${COMP_WORDS[1]} operands_only='' index word
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
          current=''
        elif [[ $previous == '=' ]]; then
          previous=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        if [[ ! $operands_only ]]; then
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

  private static func options(of command: CommandDescription) -> String {
    let spellings = command.options.flatMap(\.spellings).joined(separator: " ")
    return "        \(command.name.rawValue)) _weft_words '\(spellings)' ;;\n"
  }

  private static func operand(of command: CommandDescription) -> String? {
    guard let operand = command.operands.first else { return nil }
    // The second operand is a step: of the file once there is one; with runs, either may come first.
    let second = command.operands.dropFirst().first.map { proposing($0.value) } ?? ""
    let first = proposing(operand.value)
    let all =
      switch (second.isEmpty, operand.count) {
      case (true, _): first
      case (false, .one): "if [[ $(_weft_file) ]]; then \(second) else \(first) fi"
      case (false, _): "\(first) \(second)"
      }
    return "    \(command.name.rawValue)) \(all) ;;\n"
  }

  /// Returns bash commands that propose values; each ends with a semicolon or is empty.
  private static func proposing(_ value: ValueDescription) -> String {
    switch value.kind {
    case .text: ""
    case .file: "_weft_paths -f;"
    case .existingFile(let suffix): "_weft_files_first \(suffix.inSingleQuotes);"
    case .directory: "_weft_paths -d;"
    case .recordedRun: "_weft_runs;"
    case .step: "_weft_steps;"
    case .input: "_weft_inputs;"
    case .choice(let choices):
      "_weft_words '\(choices.map(\.word).joined(separator: " "))';"
    }
  }
}
