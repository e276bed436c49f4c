/// Properties of environment variables by name.
package enum EnvironmentName {
  /// Whether the variable makes unrelated programs run code that its value determines, or read a script
  /// differently than written. A value that is not written in the workflow itself must not be assigned to
  /// such a variable.
  ///
  /// `PATH` and the paths on which interpreters look for modules are not included: steps that install
  /// tools have to set them. Names are case-sensitive.
  package static func runsCode(_ name: String) -> Bool {
    names.contains(name) || prefixes.contains { name.hasPrefix($0) }
  }

  /// Whether programs cannot do without the variable.
  package static func isEssential(_ name: String) -> Bool {
    essential.contains(name) || name.hasPrefix("LC_")
  }

  /// The names, except those that begin with `LC_`.
  package static let essential: Set<String> = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TERM",
  ]

  private static let prefixes = [
    "LD_",  // all of the loader, ld.so(8): LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH …
    "DYLD_",  // dyld(1)
    "BASH_FUNC_",  // functions that bash imports
  ]

  private static let names: Set<String> = [
    // The C library: what it loads, and how it behaves.
    "GLIBC_TUNABLES", "GCONV_PATH",
    // Shells: files that are read before a script, and variables that change how it is read (POSIX sh;
    // bash(1), "Shell Variables"; zshparam(1)).
    "BASH_ENV", "ENV", "IFS", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "PS0", "PS4",
    "PROMPT_COMMAND", "BASH_LOADABLES_PATH", "ZDOTDIR",
    // Interpreters: files and options that they read before those of the program (python(1), perlrun(1),
    // ruby(1), node(1), java(1), lua(1), php(1), R, erl(1), dotnet).
    "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PERL5OPT", "PERL5DB",
    "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "LUA_INIT",
    "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE", "R_PROFILE_USER", "ERL_FLAGS", "ERL_AFLAGS",
    "ERL_ZFLAGS", "DOTNET_STARTUP_HOOKS",
    // Programs that start the commands named here, or read the value as instructions (git(1), ssh(1),
    // less(1), man(1), make(1), sudo(8), rsync(1), tar(1), openssl(1), rustc).
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_ASKPASS", "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
    "SSH_ASKPASS", "SUDO_ASKPASS", "LESSOPEN", "LESSCLOSE", "PAGER", "MANPAGER", "EDITOR", "VISUAL",
    "BROWSER", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "RSYNC_RSH", "TAR_OPTIONS", "OPENSSL_CONF",
    "OPENSSL_MODULES", "OPENSSL_ENGINES", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",
  ]
}

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

  private static let surrounding: Words = """
    PWD OLDPWD HOSTNAME HOSTTYPE OSTYPE MACHTYPE IFS OPTARG REPLY PS4 BASH BASHPID DISPLAY
    EDITOR VISUAL PAGER NO_COLOR CLICOLOR COLORTERM SSH_AUTH_SOCK SUDO_USER MAPFILE _
    """

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
