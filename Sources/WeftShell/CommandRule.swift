/// Treatment of a command's arguments that are more than data.
enum CommandRule {
  /// Evaluates its arguments, or may run what they name.
  case evaluates
  /// Takes names of variables, and evaluates subscripts in them.
  case names
  /// Like ``names``, and gives variables attributes that make assignments evaluate.
  case declares
  /// Sets variables to what it reads.
  case reads
  /// Changes how the text after it is read.
  case changesReading
  /// `export` and similar commands: a value is only allowed in `NAME=value`.
  case assigns
  case setsOptions
  case setsShellOptions
  case tests
  case prints
  /// Builtins that only inspect their arguments.
  case data
  case runs(Wrapper)
  case finds
  case interprets(Interpreter)
  /// Joins its arguments and passes them to a shell.
  case joinsIntoScript
  case connects
  /// Runs some of its arguments.
  case hands(RunArguments)

  /// The rule for a command with this name; `nil` for an unknown program.
  static func named(_ name: String, _ dialect: ShellDialect) -> CommandRule? {
    if dialect == .zsh, let rule = zsh[name] { return rule }
    return table[name] ?? Interpreter.named(name).map(CommandRule.interprets)
      ?? RunArguments.named(name).map(CommandRule.hands)
  }

  private static let table: [String: CommandRule] = {
    var table: [String: CommandRule] = [
      "[": .tests, "test": .tests, "printf": .prints, "set": .setsOptions,
      "shopt": .setsShellOptions, "find": .finds, "ssh": .connects,
    ]
    func add(_ names: [String], _ rule: CommandRule) { for name in names { table[name] = rule } }
    add(
      ["alias", "unalias", "emulate", "setopt", "unsetopt", "coproc", "disable"], .changesReading)
    add(
      [
        "eval", "let", "trap", "source", ".", "bind", "complete", "compgen", "compopt", "enable",
        "history", "fc",
      ], .evaluates)
    add(["unset", "getopts", "hash", "jobs", "wait"], .names)
    add(["declare", "typeset", "integer", "float"], .declares)
    add(["read", "mapfile", "readarray"], .reads)
    add(["export", "readonly", "local"], .assigns)
    add(["echo", "true", "false", ":", "exit", "return", "shift", "break", "continue"], .data)
    add(["watch", "parallel", "sem", "rsh", "remsh"], .joinsIntoScript)
    for (name, wrapper) in Wrapper.named { table[name] = .runs(wrapper) }
    return table
  }()

  /// zsh evaluates numbers wherever it takes them, and has more builtins.
  private static let zsh: [String: CommandRule] = {
    var table: [String: CommandRule] = [:]
    for name in [
      "exit", "return", "shift", "break", "continue", "kill", "ulimit", "umask", "print",
      "pushd", "popd", "dirs", "logout", "sched", "vared", "zle", "zstyle", "zparseopts", "zformat",
      "zmodload", "zcompile", "autoload", "functions", "bindkey", "compdef", "limit", "unlimit",
      "noglob", "nocorrect", "-", "where", "which", "whence", "type", "repeat", "zsystem",
      "zselect",
      "sysread", "syswrite", "sysopen", "sysseek", "strftime", "ztcp", "zpty", "zprof", "echoti",
      "echotc", "stat", "zstat",
      "private", "unhash", "rehash", "fg", "bg", "disown", "suspend", "ttyctl", "unfunction",
      "setcap", "getcap", "pcre_match", "pcre_compile", "zregexparse", "comparguments", "compadd",
      "cd", "chdir", "getln", "r", "log",
    ] { table[name] = .evaluates }
    table["cd"] = .data
    return table
  }()
}
