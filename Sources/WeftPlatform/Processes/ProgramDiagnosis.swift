import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The kind of file at a path, with regard to executing it.
enum FileKind {
  case absent, directory, refused, executable

  static func ofProgram(at path: String) -> FileKind {
    var status = stat()
    guard stat(path, &status) == 0 else { return .absent }
    if status.st_mode & S_IFMT == S_IFDIR { return .directory }
    return access(path, X_OK) == 0 ? .executable : .refused
  }
}

/// Finds the reason for a failed spawn: execve reports ENOENT for a missing program and a missing interpreter alike,
/// and EACCES for a directory.
enum ProgramDiagnosis {
  static func explain(
    _ failure: weft_spawn_failure, program: String, directory: String?
  ) -> SpawnError {
    let error = SystemError(number: failure.error)
    switch weft_spawn_stage(rawValue: UInt32(failure.stage)) {
    case WEFT_SPAWN_DIRECTORY: return .directoryNotEntered(directory ?? ".", error)
    case WEFT_SPAWN_PROCESS: return .resources(error)
    case WEFT_SPAWN_PROGRAM: return explain(error, program: program, directory: directory)
    default: return error.isShortage ? .resources(error) : .refused(path: program, error)
    }
  }

  private static func explain(
    _ error: SystemError, program: String, directory: String?
  ) -> SpawnError {
    if error.isShortage { return .resources(error) }
    let path = located(program, in: directory)
    let kind = FileKind.ofProgram(at: path)
    if kind == .directory { return .programIsDirectory(path: program) }
    if kind == .refused, error == .notPermitted { return notExecutable(path, as: program) }
    if error == .notExecutableFormat { return .programNotRunnable(path: program) }
    if kind == .absent { return .programMissing(path: program, directory: directory, error) }
    if let interpreter = interpreter(of: path) {
      return .interpreterNotStarted(program: program, interpreter: interpreter, error)
    }
    return .refused(path: program, error)
  }

  static func notExecutable(_ path: String, as name: String) -> SpawnError {
    var status = stat()
    // With an execute bit the reason is different: a file of a different owner, a file system mounted noexec.
    guard stat(path, &status) == 0, status.st_mode & 0o111 == 0 else {
      return .refused(path: path, .notPermitted)
    }
    return .programNotExecutable(path: path, mode: UInt32(status.st_mode) & 0o7777)
  }

  private static func located(_ program: String, in directory: String?) -> String {
    guard let directory, !program.hasPrefix("/") else { return program }
    return directory + "/" + program
  }

  /// The first word after `#!`, by the kernel's rules: blanks end it, a carriage return does not (Linux,
  /// fs/binfmt_script.c, which reads 256 bytes).
  private static func interpreter(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var start = [UInt8](repeating: 0, count: 256)
    let count = start.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    guard count > 2, start.starts(with: "#!".utf8) else { return nil }
    let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    let line = start[2..<count].prefix { $0 != UInt8(ascii: "\n") }
    let word = line.drop(while: isBlank).prefix { !isBlank($0) }
    return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
  }
}
