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
  /// Joins its arguments, from the first that is no option, and passes them to a shell.
  case watches
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
      "shopt": .setsShellOptions, "find": .finds, "ssh": .connects, "watch": .watches,
    ]
    func add(_ names: Words, _ rule: CommandRule) { for name in names.all { table[name] = rule } }
    add(
      "alias unalias emulate setopt unsetopt coproc disable", .changesReading)
    add(
      """
      eval let trap source . bind complete compgen compopt enable history fc
      """, .evaluates)
    add(
      "unset getopts hash jobs wait", .names)
    add(
      "declare typeset integer float", .declares)
    add(
      "read mapfile readarray", .reads)
    add(
      "export readonly local", .assigns)
    add(
      "echo true false : exit return shift break continue", .data)
    add(
      "parallel sem rsh remsh", .joinsIntoScript)
    for (name, wrapper) in Wrapper.named { table[name] = .runs(wrapper) }
    return table
  }()

  /// zsh evaluates numbers wherever it takes them, and has more builtins.
  private static let zsh: [String: CommandRule] = {
    let evaluating: Words = """
      exit return shift break continue kill ulimit umask print pushd popd dirs logout sched
      vared zle zstyle zparseopts zformat zmodload zcompile autoload functions bindkey
      compdef limit unlimit noglob nocorrect - where which whence type repeat zsystem
      zselect sysread syswrite sysopen sysseek strftime ztcp zpty zprof echoti echotc stat
      zstat private unhash rehash fg bg disown suspend ttyctl unfunction setcap getcap
      pcre_match pcre_compile zregexparse comparguments compadd cd chdir getln r log
      """
    var table = Dictionary(
      uniqueKeysWithValues: evaluating.all.map { ($0, CommandRule.evaluates) })
    table["cd"] = .data
    return table
  }()
}

/// A command that runs the command given by its arguments.
struct Wrapper {
  /// One-letter options that take an argument.
  var letters = ""
  /// Long options that take the next word as an argument, unless it is given after `=`.
  var words: Words = ""
  /// The number of arguments before the command.
  var operands = 0
  /// Whether `NAME=value` may precede the command.
  var assigns = false
  /// Options whose argument is text for a shell, or is split into words.
  var scripts: Words = ""

  /// `runuser` with a user as an option; else, it is like `su`.
  static let runuser = Wrapper(letters: "ugG", words: "--user --group --supp-group")

  static let named: [String: Wrapper] = [
    "builtin": Wrapper(), "busybox": Wrapper(), "nohup": Wrapper(), "setsid": Wrapper(),
    "command": Wrapper(), "exec": Wrapper(letters: "a"),
    "env": Wrapper(
      letters: "uC", words: "--unset --chdir", assigns: true,
      scripts: "-S --split-string"),
    "sudo": Wrapper(
      letters: "ugCDhprRtTU",
      words: """
        --user --group --chdir --host --prompt --role --type --close-from --chroot
        --other-user --command-timeout
        """,
      assigns: true),
    "doas": Wrapper(letters: "uC"), "nice": Wrapper(letters: "n", words: "--adjustment"),
    "timeout": Wrapper(letters: "ks", words: "--kill-after --signal", operands: 1),
    "time": Wrapper(letters: "fo", words: "--format --output"),
    "stdbuf": Wrapper(letters: "ioe", words: "--input --output --error"),
    "ionice": Wrapper(letters: "cnpPu", words: "--class --classdata"),
    "chroot": Wrapper(operands: 1), "sshpass": Wrapper(letters: "pfdP"),
    "flock": Wrapper(
      letters: "wE", words: "--timeout --wait --conflict-exit-code", operands: 1,
      scripts: "-c --command"),
    "xargs": Wrapper(
      letters: "aEdILnPs",
      words: """
        --arg-file --delimiter --max-lines --max-args --max-procs --max-chars --replace
        """),
    "strace": Wrapper(letters: "abeEIoOpPsSuUX"), "ltrace": Wrapper(letters: "aAeFlnopsuwxX"),
    // Each starts the command after its options, in a different environment or with a different priority.
    "aa-exec": Wrapper(letters: "pni"), "aoss": Wrapper(),
    "choom": Wrapper(letters: "np"), "chrt": Wrapper(letters: "pTPD", operands: 1),
    "cpulimit": Wrapper(letters: "lpePc"), "firejail": Wrapper(), "grc": Wrapper(letters: "cf"),
    "logsave": Wrapper(operands: 1), "multitime": Wrapper(letters: "nirq"),
    "nsenter": Wrapper(letters: "tSGrw", words: "--target"), "openvt": Wrapper(letters: "c"),
    "pexec": Wrapper(letters: "npieou"), "pkexec": Wrapper(words: "--user"),
    "rlwrap": Wrapper(letters: "bcCDfHOpPqsSwxz"), "setarch": Wrapper(operands: 1),
    "linux32": Wrapper(), "linux64": Wrapper(), "arch": Wrapper(), "setlock": Wrapper(operands: 1),
    "softlimit": Wrapper(letters: "adcfloprstm"), "ssh-agent": Wrapper(letters: "aEtOP"),
    "systemd-run": Wrapper(letters: "pHMuE", words: "--unit --property --setenv"),
    "systemd-inhibit": Wrapper(), "systemd-cat": Wrapper(letters: "tp"),
    "run0": Wrapper(letters: "ugD"),
    "taskset": Wrapper(operands: 1), "torify": Wrapper(), "torsocks": Wrapper(letters: "uaP"),
    "proxychains": Wrapper(letters: "f"), "proxychains4": Wrapper(letters: "f"),
    "unshare": Wrapper(letters: "SGRw"), "valgrind": Wrapper(), "runcon": Wrapper(letters: "trul"),
    "prlimit": Wrapper(letters: "po"), "fakeroot": Wrapper(letters: "lsifb"),
    "faketime": Wrapper(operands: 1), "dbus-run-session": Wrapper(),
    "xvfb-run": Wrapper(letters: "efnpsw"), "unbuffer": Wrapper(), "gosu": Wrapper(operands: 1),
    "su-exec": Wrapper(operands: 1), "setuidgid": Wrapper(operands: 1),
    "envdir": Wrapper(operands: 1), "chpst": Wrapper(letters: "uUbenmdofcrt/"),
    "tini": Wrapper(letters: "pe"),
    "dumb-init": Wrapper(letters: "r"), "catchsegv": Wrapper(), "chronic": Wrapper(),
    "ifne": Wrapper(),
    "distcc": Wrapper(), "ccache": Wrapper(), "sccache": Wrapper(), "icecc": Wrapper(),
    "caffeinate": Wrapper(letters: "tw"), "numactl": Wrapper(letters: "imNCpP"),
    "cgexec": Wrapper(letters: "g"), "ld.so": Wrapper(), "mosh-server": Wrapper(letters: "sipcl"),
    "entr": Wrapper(scripts: "-s"),
    "sg": Wrapper(operands: 1, scripts: "-c"),
    "pidstat": Wrapper(letters: "CGpT", scripts: "-e"),
  ]
}
