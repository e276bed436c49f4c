extension ScriptReading {
  /// Judges a complete simple command, and keeps what later ones need to know of it.
  mutating func judge(_ command: SimpleCommand) throws(Unfollowable) {
    for assignment in command.assignments { judge(assignment: assignment) }
    guard let first = command.words.first, let last = command.words.last else { return }
    if let name = first.literal, !first.isPlain || command.start < first.range.lowerBound,
      ReservedWord(Array(name.utf8)[...]) != nil
    {
      throw unfollowable(name, at: first.range.lowerBound)
    }
    var judge = CommandJudge(dialect: dialect)
    judge.judge(command.words[...])
    for (holes, reason) in judge.rejections { reject(holes, reason) }
    for word in judge.options { markOption(word) }
    flow.evaluated += judge.evaluated
    if let names = judge.readNames { flow.read(names, at: command.start) }
    flow.hasAttributes = flow.hasAttributes || judge.givesAttributes
    for (name, value) in judge.assignments { flow.assign(name, value) }
    flow.call(first.range, first.range.upperBound..<last.range.upperBound)
    for redirection in command.redirections {
      flow.pipe(redirection.word.range, into: command.start..<position)
    }
    if judge.readsProgram {
      programReaders += 1
      for redirection in command.redirections { rejectInput(redirection) }
    }
    if let name = judge.changesReading {
      throw Unfollowable(construct: .changesReading(command: name), offset: position)
    }
  }

  private mutating func rejectInput(_ redirection: Redirection) {
    switch redirection.kind {
    case .file, .hereString:
      reject(redirection.word.holes, .programInput)
      flow.evaluated.append(redirection.word.range)
    case .hereDocument: rejectAsProgram(redirection.offset..<redirection.word.range.upperBound)
    case .descriptor: break
    }
  }

  private mutating func judge(assignment word: ShellWord) {
    let nameEnd = word.range.lowerBound + word.assignedName!
    let name = script.text(word.range.lowerBound..<nameEnd)
    if SpecialVariables.isSpecial(name) {
      reject(word.holes, .specialVariable(name))
      flow.evaluated.append(nameEnd..<word.range.upperBound)
    }
    flow.assign(name, nameEnd..<word.range.upperBound)
  }

  private mutating func markOption(_ word: ShellWord) {
    guard case .quoted(let quoting, _)? = places[word.holes.lowerBound] else { return }
    places[word.holes.lowerBound] = .quoted(quoting, mayBeOption: true)
  }
}

/// Variables to which a shell or the loader of programs gives a meaning of their own.
enum SpecialVariables {
  /// Whether a value in that variable may run something, or is evaluated when it is assigned.
  static func isSpecial(_ name: String) -> Bool {
    names.contains(name) || prefixes.contains { name.hasPrefix($0) }
  }

  private static let prefixes = ["LD_", "DYLD_", "BASH_"]

  private static let names: Set<String> = [
    // They are run, or say what is.
    "ENV", "BASHOPTS", "SHELLOPTS", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT",
    "PROMPT2", "PROMPT3", "PROMPT4", "RPROMPT", "RPS1", "RPS2", "SPROMPT", "NULLCMD", "READNULLCMD",
    "FCEDIT", "EDITOR", "VISUAL",
    "PAGER", "GLIBC_TUNABLES", "PERL5OPT", "PERL5LIB", "PERL5DB", "PYTHONSTARTUP", "PYTHONPATH",
    "PYTHONHOME", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "GIT_SSH", "GIT_SSH_COMMAND",
    "GIT_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "MAKEFLAGS", "GNUMAKEFLAGS", "SHELL", "ZDOTDIR", "FPATH", "fpath", "functions", "aliases",
    "galiases", "saliases", "commands", "options", "path", "module_path", "MODULE_PATH",
    // They divide what the shell reads.
    "IFS", "GLOBIGNORE", "OPTIND", "OPTERR", "POSIXLY_CORRECT", "ARGV0",
    // They are numbers that some shell evaluates on assignment.
    "RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "HISTCMD", "HISTSIZE",
    "HISTFILESIZE", "SAVEHIST", "LINENO", "COLUMNS", "LINES", "MAILCHECK", "FUNCNEST", "TMOUT",
    "KEYTIMEOUT", "LISTMAX", "SHLVL", "UID", "EUID", "GID", "EGID", "PPID", "USERNAME", "TTYIDLE",
    "LOGCHECK",
    "BAUD", "DIRSTACKSIZE", "ERRNO", "TRY_BLOCK_ERROR", "TRY_BLOCK_INTERRUPT", "argv", "status",
    "ARGC", "WATCHFMT", "TIMEFMT", "POSTEDIT", "histchars", "HISTCHARS", "CHILD_MAX", "DIRSTACK",
    "FUNCNAME", "GROUPS", "PIPESTATUS", "COMP_WORDBREAKS", "EXECIGNORE",
  ]
}
