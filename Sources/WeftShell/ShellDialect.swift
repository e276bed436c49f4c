/// The language of a script, as far as the safe positions of values in it are known.
package enum ShellDialect: Sendable, Hashable {
  /// The common subset of dash, bash called as `sh`, and busybox; where they differ, nothing is assumed.
  case posix
  case bash
  case zsh
  /// Any other language, by the name of its program: its scripts cannot contain values.
  case unknown(String)

  /// The dialect of a shell's scripts.
  ///
  /// A command line is known only if its program is, and if it ends in `-c` after options that do not
  /// change how text is read; the script follows `-c`.
  ///
  /// - Precondition: `commandLine` is not empty.
  package init(commandLine: [String]) {
    var words = commandLine[...]
    let program = Self.basename(words.removeFirst())
    let applet = program == "busybox" ? words.popFirst() ?? program : program
    guard let dialect = Self.named[applet], Self.endsInScript(words) else {
      self = .unknown(program)
      return
    }
    self = dialect
  }

  /// The dialect of the shell with this name.
  init(program: String) { self = Self.named[program] ?? .unknown(program) }

  /// The dialects by the name of the program, without its folder.
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

/// Shell options that do not change how text is read.
enum OptionNames {
  static let harmless: Set<String> = [
    "allexport", "errexit", "errtrace", "functrace", "monitor", "noclobber", "noglob", "notify",
    "nounset", "pipefail", "verbose", "xtrace", "err_exit", "no_unset", "pipe_fail",
  ]
}
