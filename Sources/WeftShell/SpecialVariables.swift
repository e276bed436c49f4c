/// Variables with a meaning to the shell itself, besides those by which programs choose what they run.
package enum SpecialVariables {
  /// Whether a value in that variable may be run, or is evaluated on assignment.
  static func isSpecial(_ name: String) -> Bool {
    EnvironmentName.runsCode(name) || names.contains(name) || name.hasPrefix("BASH_")
  }

  /// Whether shells, terminals and logins set it, so that no result should depend on it.
  package static func isSurrounding(_ name: String) -> Bool {
    EnvironmentName.isEssential(name) || names.contains(name) || surrounding.contains(name)
      || name.hasPrefix("BASH_") || name.hasPrefix("XDG_") || name.hasPrefix("WEFT_")
  }

  private static let surrounding: Set<String> = [
    "PWD", "OLDPWD", "HOSTNAME", "HOSTTYPE", "OSTYPE", "MACHTYPE", "IFS", "OPTARG", "REPLY", "PS4",
    "BASH", "BASHPID", "DISPLAY", "EDITOR", "VISUAL", "PAGER", "NO_COLOR", "CLICOLOR", "COLORTERM",
    "SSH_AUTH_SOCK", "SUDO_USER", "MAPFILE", "_",
  ]

  private static let names: Set<String> = [
    // A prompt is expanded, and commands in it are run (bash(1), "PROMPTING"; zshparam(1)).
    "PS1", "PS2", "PS3", "PROMPT", "PROMPT2", "PROMPT3", "PROMPT4", "RPROMPT", "RPROMPT2", "RPS1",
    "RPS2", "SPROMPT", "POSTEDIT", "TIMEFMT", "WATCHFMT", "FCEDIT",
    // zsh: commands that run in place of an empty one, the locations of functions, and the tables of the shell itself.
    "NULLCMD", "READNULLCMD", "FPATH", "fpath", "MODULE_PATH", "module_path", "path", "functions",
    "dis_functions", "aliases", "galiases", "saliases", "commands", "nameddirs", "options", "argv",
    "status", "pipestatus", "histchars", "HISTCHARS", "ARGV0", "USERNAME",
    // Variables that split or select what the shell reads.
    "GLOBIGNORE", "EXECIGNORE", "COMP_WORDBREAKS", "SHELL", "FUNCNAME", "GROUPS", "DIRSTACK",
    "PIPESTATUS",
    // Numbers, which some shell evaluates on assignment.
    "OPTIND", "OPTERR", "RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "HISTCMD",
    "HISTSIZE", "HISTFILESIZE", "SAVEHIST", "LINENO", "COLUMNS", "LINES", "MAILCHECK", "FUNCNEST",
    "TMOUT", "KEYTIMEOUT", "LISTMAX", "SHLVL", "UID", "EUID", "GID", "EGID", "PPID", "TTYIDLE",
    "LOGCHECK", "BAUD", "DIRSTACKSIZE", "ERRNO", "TRY_BLOCK_ERROR", "TRY_BLOCK_INTERRUPT", "ARGC",
    "CHILD_MAX", "COMP_CWORD", "COMP_POINT",
  ]
}
