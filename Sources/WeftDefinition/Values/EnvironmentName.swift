/// What is known of environment variables by their names.
package enum EnvironmentName {
  /// Whether the variable makes programs that have nothing to do with it run code of its value's choosing,
  /// or read a script differently than it is written. A value that is not written in the workflow itself
  /// must not become such a variable's.
  ///
  /// `PATH` is none of them, nor are the paths on which interpreters look for modules: steps that install
  /// tools have to set them. Names are compared as they are, in upper and lower case.
  package static func runsCode(_ name: String) -> Bool {
    names.contains(name) || prefixes.contains { name.hasPrefix($0) }
  }

  private static let prefixes = [
    "LD_",  // all of a loader's, ld.so(8): LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH …
    "DYLD_",  // dyld(1)
    "BASH_FUNC_",  // what bash takes for the command of that name
  ]

  private static let names: Set<String> = [
    // The C library: what it loads, and how it behaves.
    "GLIBC_TUNABLES", "GCONV_PATH",
    // Shells: files that are read before a script, and what changes how it is read (POSIX sh; bash(1),
    // "Shell Variables"; zshparam(1)).
    "BASH_ENV", "ENV", "IFS", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "PS0", "PS4",
    "PROMPT_COMMAND", "BASH_LOADABLES_PATH", "ZDOTDIR",
    // Interpreters: files and options that they take before a program's own (python(1), perlrun(1),
    // ruby(1), node(1), java(1), lua(1), php(1), R, erl(1), dotnet).
    "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PERL5OPT", "PERL5DB",
    "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "LUA_INIT",
    "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE", "R_PROFILE_USER", "ERL_FLAGS", "ERL_AFLAGS",
    "ERL_ZFLAGS", "DOTNET_STARTUP_HOOKS",
    // Programs that start what these name, or read it as instructions (git(1), ssh(1), less(1), man(1),
    // make(1), sudo(8), rsync(1), tar(1), openssl(1), rustc).
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_ASKPASS", "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
    "SSH_ASKPASS", "SUDO_ASKPASS", "LESSOPEN", "LESSCLOSE", "PAGER", "MANPAGER", "EDITOR", "VISUAL",
    "BROWSER", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "RSYNC_RSH", "TAR_OPTIONS", "OPENSSL_CONF",
    "OPENSSL_MODULES", "OPENSSL_ENGINES", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",
  ]
}
