/// The language of a script, as far as it is known where values may stand in it.
package enum ShellDialect: Sendable, Hashable {
  /// What dash, bash called `sh` and busybox all read alike; where they do not, nothing is proved.
  case posix
  case bash
  case zsh
  /// Something else, by the name of its program: no value has a place in its scripts.
  case unknown(String)

  /// The dialect of the scripts that a shell is given.
  ///
  /// A command line is known only if its program is, and if it ends in `-c` after options that do not
  /// change how text is read; what follows `-c` is the script.
  package init(_ shell: Shell) {
    var words = shell.prefix[...]
    let program = Self.basename(words.removeFirst())
    let applet = program == "busybox" ? words.popFirst() ?? program : program
    guard let dialect = Self.named[applet], Self.endsInScript(words) else {
      self = .unknown(program)
      return
    }
    self = dialect
  }

  /// The dialect of the shell of that name.
  init(program: String) { self = Self.named[program] ?? .unknown(program) }

  /// By the name of the program, without its folder.
  private static let named: [String: ShellDialect] = [
    "sh": .posix, "dash": .posix, "ash": .posix, "bash": .bash, "zsh": .zsh,
  ]

  static func basename(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  private static func endsInScript(_ words: ArraySlice<String>) -> Bool {
    var words = words
    var hasCommand = false
    while let word = words.popFirst() {
      if ["--norc", "--noprofile", "--no-rcs"].contains(word) { continue }
      guard word.first == "-", !word.dropFirst().isEmpty,
        word.dropFirst().allSatisfy({ "ceufxlo".contains($0) })
      else { return false }
      hasCommand = hasCommand || word.contains("c")
      if word.contains("o") {
        guard let name = words.popFirst(), OptionNames.harmless.contains(name) else { return false }
      }
    }
    return hasCommand
  }
}

/// Options of shells that change nothing about how text is read.
enum OptionNames {
  static let harmless: Set<String> = [
    "allexport", "errexit", "errtrace", "functrace", "monitor", "noclobber", "noglob", "notify",
    "nounset", "pipefail", "verbose", "xtrace", "err_exit", "no_unset", "pipe_fail",
  ]
}
