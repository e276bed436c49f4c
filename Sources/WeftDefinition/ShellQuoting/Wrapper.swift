/// A command that runs the command which its arguments are.
struct Wrapper {
  /// Options of one letter that take an argument.
  var letters = ""
  /// Options in words that take the next word as an argument, unless it is given after `=`.
  var words: Set<String> = []
  /// How many arguments stand before the command.
  var operands = 0
  /// Whether `NAME=value` may stand before the command.
  var assigns = false
  /// Options whose argument is text for a shell, or is split into words.
  var scripts: Set<String> = []

  static let named: [String: Wrapper] = [
    "builtin": Wrapper(), "busybox": Wrapper(), "nohup": Wrapper(), "setsid": Wrapper(),
    "command": Wrapper(), "exec": Wrapper(letters: "a"),
    "env": Wrapper(
      letters: "uC", words: ["--unset", "--chdir"], assigns: true,
      scripts: ["-S", "--split-string"]),
    "sudo": Wrapper(
      letters: "ugCDhprRtTU",
      words: [
        "--user", "--group", "--chdir", "--host", "--prompt", "--role", "--type", "--close-from",
        "--chroot", "--other-user", "--command-timeout",
      ],
      assigns: true),
    "doas": Wrapper(letters: "uC"), "nice": Wrapper(letters: "n", words: ["--adjustment"]),
    "timeout": Wrapper(letters: "ks", words: ["--kill-after", "--signal"], operands: 1),
    "time": Wrapper(letters: "fo", words: ["--format", "--output"]),
    "stdbuf": Wrapper(letters: "ioe", words: ["--input", "--output", "--error"]),
    "ionice": Wrapper(letters: "cnpPu", words: ["--class", "--classdata"]),
    "chroot": Wrapper(operands: 1), "sshpass": Wrapper(letters: "pfdP"),
    "flock": Wrapper(
      letters: "wE", words: ["--timeout", "--wait", "--conflict-exit-code"], operands: 1,
      scripts: ["-c", "--command"]),
    "xargs": Wrapper(
      letters: "aEdILnPs",
      words: [
        "--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars",
        "--replace",
      ]),
    "strace": Wrapper(letters: "abeEIoOpPsSuUX"),
  ]
}
