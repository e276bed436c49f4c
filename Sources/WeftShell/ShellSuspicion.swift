/// A value that a program may run: the program is not known, but its name or that of its option suggests so.
package struct ShellSuspicion: Sendable, Hashable {
  /// The index of the expression.
  package let placeholder: Int
  package let program: String
  package let option: String
}

extension CommandAnalyzer {
  /// Notes values after options that often take text to run.
  mutating func suspect(_ arguments: ArraySlice<ShellWord>, of program: String) {
    guard !Self.harmless.contains(program) else { return }
    var option: String?
    for word in arguments {
      if word.literal == "--" { return }
      let start = String(decoding: word.literalStart, as: UTF8.self)
      if word.hasValue {
        let own = start.firstIndex(of: "=").map { String(start[..<$0]) }
        if let option = option ?? own.flatMap({ Self.runsText($0) ? $0 : nil }) {
          for placeholder in word.placeholders {
            suspicions.append(
              ShellSuspicion(placeholder: placeholder, program: program, option: option))
          }
        }
      }
      option = word.literal.flatMap { Self.runsText($0) ? $0 : nil }
    }
  }

  private static func runsText(_ option: String) -> Bool {
    guard option.first == "-" else { return false }
    return ["-c", "-e", "--eval", "-eval", "--command"].contains(option)
      || option.lowercased().contains("exec")
  }

  /// Programs whose `-c` or `-e` takes data.
  private static let harmless: Set<String> = [
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "cut", "head", "tail", "wc", "ping",
    "ping6",
    "uniq", "curl", "gzip", "bzip2", "xz", "zstd", "stat", "cmp", "comm", "tr", "od", "xxd",
    "hexdump",
    "cp", "mv", "ln", "ls", "cat", "nl", "chmod", "chown", "sha1sum", "sha256sum", "sha512sum",
    "md5sum",
    "cksum", "file", "patch", "diff", "openssl", "gpg", "ssh-keygen", "ab", "wrk", "dig", "host",
  ]
}
