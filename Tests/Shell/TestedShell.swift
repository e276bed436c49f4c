import WeftPlatform
import WeftShell

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A shell of this machine, and the dialect in which its scripts are read.
struct TestedShell: Sendable, CustomStringConvertible {
  var command: [String]
  var dialect: ShellDialect

  var description: String { command.joined(separator: " ") }

  /// The installed shells; without one of them, the others are tested.
  static let installed: [TestedShell] = [
    TestedShell(command: ["sh"], dialect: .posix),
    TestedShell(command: ["dash"], dialect: .posix),
    TestedShell(command: ["bash", "--posix"], dialect: .posix),
    TestedShell(command: ["busybox", "sh"], dialect: .posix),
    TestedShell(command: ["bash"], dialect: .bash),
    TestedShell(command: ["zsh"], dialect: .zsh),
  ].filter { shell in
    path.split(separator: ":").contains { access("\($0)/\(shell.command[0])", X_OK) == 0 }
  }

  static let path = getenv("PATH").map { String(cString: $0) } ?? ""

  struct Ran {
    var status: ProgramEnd.Status
    var errors: String
  }

  /// Runs a script with this shell in that folder.
  func run(
    _ arguments: [String], variables: [(name: String, value: String?)], in folder: String
  ) throws -> Ran {
    let environment = try EnvironmentBlock.inherited().setting(variables)
    let program = ChildProgram(command + arguments, environment: environment, directory: folder)
    var errors: [UInt8] = []
    let end = try program.run(stop: StopSwitch()) { stream, bytes in
      if stream == .errors { errors += Array(bytes) }
    }
    return Ran(status: end.status, errors: String(decoding: errors, as: UTF8.self))
  }
}

/// A temporary folder for one test, removed with everything in it.
final class Folder: Sendable {
  let path: String

  init() {
    var template = Array("\(FileSystem.temporaryDirectory)/weft-test-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil, "no folder: \(errno)")
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit {
    let program = ChildProgram(["/bin/rm", "-rf", path], environment: .inherited())
    _ = try? program.run(stop: StopSwitch()) { _, _ in }
  }

  func write(_ name: String, _ bytes: [UInt8], isProgram: Bool = false) {
    guard let file = fopen("\(path)/\(name)", "w") else { fatalError("\(name): \(errno)") }
    defer { fclose(file) }
    precondition(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    if isProgram { fchmod(fileno(file), 0o700) }
  }

  func read(_ name: String) -> [UInt8] {
    guard let file = fopen("\(path)/\(name)", "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer.prefix(count)
    }
    return bytes
  }

  func makeFolder(_ name: String) { precondition(mkdir("\(path)/\(name)", 0o700) == 0) }

  func has(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }

}
