import Testing
import WeftPlatform
import WeftShell

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tests the tables of programs that run their arguments with the installed programs themselves.
@Suite struct RunArgumentTests {
  /// Commands that make the file `ran` through the variable V; the script prepares what the program needs.
  static let commands: [(program: String, script: String, value: String)] = [
    ("tar", "touch x; tar cf a.tar x; tar xf a.tar --to-command=\"$V\"", "touch ran"),
    ("tar", "touch x; tar cf a.tar x --checkpoint=1 --checkpoint-action=\"exec=$V\"", "touch ran"),
    ("tar", "touch x; tar cf a.tar -I \"$V\" x || :", "sh -c 'touch ran'"),
    ("split", "echo x > f; split --filter=\"$V\" f", "touch ran"),
    ("find", "find . -maxdepth 0 -exec sh -c \"$V\" \\;", "touch ran"),
    ("git", "git -c alias.x=\"!$V\" x", "touch ran"),
    ("git", "git -c core.sshCommand=\"$V\" ls-remote ssh://h/x || :", "touch ran #"),
    ("awk", "awk \"BEGIN { system(\\\"$V\\\") }\"", "touch ran"),
    ("make", "make --eval=\"$V\" x || :", "x:; touch ran"),
    ("sed", "echo x | sed \"$V\"", "e touch ran"),
    ("xargs", "echo ran | xargs $V", "touch"),
    ("env", "env -S \"$V\"", "touch ran"),
    ("flock", "flock . -c \"$V\"", "touch ran"),
    ("script", "script -qc \"$V\" /dev/null", "touch ran"),
    ("perl", "perl -e \"$V\"", "open(F, '>ran')"),
    ("python3", "python3 -c \"$V\"", "open('ran', 'w')"),
    ("m4", "echo \"$V\" | m4", "syscmd(touch ran)"),
    ("ed", "touch f; ed f <<E\n$V\nE", "!touch ran"),
    ("dc", "dc -e \"$V\"", "!touch ran"),
    ("sqlite3", "sqlite3 :memory: \"$V\"", ".shell touch ran"),
    ("vim", "vim -es -c \"$V\" -c q", "!touch ran"),
    ("gdb", "gdb -nx -batch -ex \"$V\"", "!touch ran"),
    ("rsync", "rsync -e \"$V\" h:x . || :", "sh -c 'touch ran' #"),
    ("zip", "touch f; zip -q f.zip f -T -TT \"$V\" || :", "touch ran #"),
    ("setsid", "setsid -w $V", "touch ran"),
    ("nice", "nice $V", "touch ran"),
  ]

  private static func isInstalled(_ program: String) -> Bool {
    (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").contains {
      access("\($0)/\(program)", X_OK) == 0
    }
  }

  @Test(
    "X23: what the tables say is run, is run by the real programs",
    arguments: commands.indices.filter { isInstalled(commands[$0].program) })
  func isRun(index: Int) throws {
    let (_, script, value) = Self.commands[index]
    let folder = Folder()
    let shell = TestedShell(command: ["sh"], dialect: .posix)
    _ = try shell.run(["-c", script], variables: [("V", value)], in: folder.path)
    #expect(access("\(folder.path)/ran", F_OK) == 0, "\(script)")
    // Therefore no expression is allowed there.
    let text = script.replacing("$V", with: Self.expression)
    let placeholder = text.ranges(of: Self.expression).map {
      text.utf8.distance(from: text.startIndex, to: $0.lowerBound)
    }.map { $0..<$0 + Self.expression.utf8.count }
    #expect(!QuotedScript(text, placeholders: placeholder, dialect: .posix).isSound, "\(text)")
  }

  private static let expression = "${{V}}"
}
