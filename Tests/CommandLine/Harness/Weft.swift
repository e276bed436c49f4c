#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The built program, and a way to run it and capture all its output.
enum Weft {
  /// The program's path: it is beside the test bundle.
  static let path: String = {
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    let absolute = bundle.hasPrefix("/") ? bundle : Files.currentDirectory + "/" + bundle
    var components = absolute.split(separator: "/")
    while let last = components.popLast() {
      let candidate = "/" + (components + ["weft"]).joined(separator: "/")
      if last.hasSuffix(".xctest") || access(candidate, X_OK) == 0 { return candidate }
    }
    fatalError("no weft beside \(bundle)")
  }()

  /// Whether to rewrite the recorded texts instead of comparing them.
  static var isRecording: Bool { getenv("UPDATE_GOLDEN") != nil }

  struct Result: Equatable {
    var stdout: [UInt8]
    var stderr: [UInt8]
    /// The exit status, as in a shell's `$?`.
    var status: Int32

    var output: String { String(decoding: stdout, as: UTF8.self) }
    var errors: String { String(decoding: stderr, as: UTF8.self) }
  }

  /// Runs `weft` with these arguments and empty standard input.
  static func run(_ arguments: String..., in directory: Directory) -> Result {
    shell("exec \"$WEFT\" \"$@\"", arguments, in: directory)
  }

  /// Runs a script that finds the program as `$WEFT`, in a fixed environment.
  static func shell(_ script: String, _ arguments: [String] = [], in directory: Directory) -> Result
  {
    let captured = Directory()
    let redirected =
      "cd \"$1\" && out=$2/stdout err=$2/stderr && shift 2\n{ \(script)\n} >\"$out\" 2>\"$err\" </dev/null"
    let words =
      ["/bin/sh", "-c", redirected, "sh", directory.path, captured.path] + arguments
    let environment = [
      "WEFT=" + path, "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + directory.path,
      "LANG=C.UTF-8",
    ]
    let status = spawnAndWait(words, environment)
    return Result(
      stdout: captured.read("stdout") ?? [], stderr: captured.read("stderr") ?? [], status: status)
  }

  private static func spawnAndWait(_ words: [String], _ environment: [String]) -> Int32 {
    var process: pid_t = 0
    let failure = withCStrings(words) { words in
      withCStrings(environment) { environment in
        posix_spawn(&process, words[0]!, nil, nil, words, environment)
      }
    }
    precondition(failure == 0, "cannot start \(words[0]): \(failure)")
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 { precondition(errno == EINTR) }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
  }

  private static func withCStrings<Value>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
  ) -> Value {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
