import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why a program did not start. Nothing of it has run.
package enum SpawnError: Error, Hashable, Sendable {
  case emptyProgramName
  case programNotFound(name: String, searched: SearchPath)
  case programMissing(path: String, directory: String?, SystemError)
  case programIsDirectory(path: String)
  /// `mode` contains the permission bits.
  case programNotExecutable(path: String, mode: UInt32)
  /// It is not machine code for this system and has no `#!` line.
  case programNotRunnable(path: String)
  case interpreterNotStarted(program: String, interpreter: String, SystemError)
  case directoryNotEntered(String, SystemError)
  /// `index` 0 is the program's name.
  case argumentTooLong(index: Int, size: Int, limit: Int)
  case variableTooLong(name: String, size: Int, limit: Int)
  case argumentsTooBig(arguments: Int, environment: Int, limit: Int)
  case nulInArgument(index: Int)
  case nulInDirectory
  /// `/dev/null`, from which a program without input reads, cannot be opened.
  case nullDevice(SystemError)
  /// Descriptors, processes or memory are exhausted; a later spawn may succeed.
  case resources(SystemError)
  case refused(path: String, SystemError)
  /// The program needs the terminal, which is not available.
  case terminalUnavailable(TerminalError)
  /// A stop was requested before the program was spawned.
  case stopped

  /// The part that is at fault.
  package enum Kind: String, Sendable {
    case program, interpreter, directory, arguments, resources, terminal, stopped
  }

  package var kind: Kind {
    switch self {
    case .emptyProgramName, .programNotFound, .programMissing, .programIsDirectory,
      .programNotExecutable, .programNotRunnable, .refused:
      .program
    case .interpreterNotStarted: .interpreter
    case .directoryNotEntered, .nulInDirectory: .directory
    case .argumentTooLong, .variableTooLong, .argumentsTooBig, .nulInArgument: .arguments
    case .resources, .nullDevice: .resources
    case .terminalUnavailable: .terminal
    case .stopped: .stopped
    }
  }

  /// The system's error, or the one it would have returned; `nil` if the system was not involved.
  package var error: SystemError? {
    switch self {
    case .emptyProgramName, .programNotFound: .notFound
    case .programIsDirectory, .programNotExecutable: .notPermitted
    case .programNotRunnable: .notExecutableFormat
    case .argumentTooLong, .variableTooLong, .argumentsTooBig: .argumentsTooBig
    case .nulInArgument, .nulInDirectory: .invalid
    case .programMissing(_, _, let error), .interpreterNotStarted(_, _, let error),
      .directoryNotEntered(_, let error), .nullDevice(let error), .resources(let error),
      .refused(_, let error):
      error
    case .terminalUnavailable(let reason): reason.error
    case .stopped: nil
    }
  }
}

extension SpawnError: CustomStringConvertible {
  package var description: String {
    guard let help else { return message }
    return "\(message) (\(help))"
  }
}

extension SpawnError {
  /// The error, as one sentence without a full stop.
  package var message: String {
    switch self {
    case .emptyProgramName: "the program's name is empty"
    case .programNotFound(let name, let searchPath):
      "program \"\(escaped(name))\" was not found: \(searchPath.searched)"
    case .programMissing(let path, let directory, let error):
      "program \"\(escaped(path))\"\(Self.from(directory, path)) was not found: \(error)"
    case .programIsDirectory(let path): "program \"\(escaped(path))\" is a directory"
    case .programNotExecutable(let path, let mode):
      "program \"\(escaped(path))\" is not executable: its mode is \(Self.octal(mode))"
    case .programNotRunnable(let path):
      "program \"\(escaped(path))\" has no #! line and is not machine code for this system (ENOEXEC)"
    case .interpreterNotStarted(let program, let interpreter, let error):
      "the interpreter \"\(escaped(interpreter))\" of program \"\(escaped(program))\" did not start: \(error)"
    case .directoryNotEntered(let path, let error):
      "the working directory \"\(escaped(path))\" cannot be entered: \(error)"
    case .argumentTooLong(let index, let size, let limit):
      "argument \(index) is \(size) bytes long, but the system accepts less than \(limit)"
    case .variableTooLong(let name, let size, let limit):
      "environment variable \"\(escaped(name))\" takes \(size) bytes, but the system "
        + "accepts less than \(limit)"
    case .argumentsTooBig(let arguments, let environment, let limit):
      "arguments \(humanSize(arguments)) + environment \(humanSize(environment)) exceed the "
        + "\(humanSize(limit)) that the system accepts for a program"
    case .nulInArgument(let index): "argument \(index) contains a NUL character"
    case .nulInDirectory: "the working directory has a NUL character in its name"
    case .nullDevice(let error):
      "\"/dev/null\", from which a program without input reads, cannot be opened: \(error)"
    case .resources(.notFound): "the control group of the run has gone"
    case .resources(let error): "the system cannot start another program: \(error)"
    case .refused(let path, let error): "program \"\(escaped(path))\" did not start: \(error)"
    case .terminalUnavailable(let reason): reason.message
    case .stopped: "stopped before it started"
    }
  }

  /// The suggested remedy, if any.
  package var help: String? {
    switch self {
    case .emptyProgramName: "the first element of an argument list names the program"
    case .programNotFound: "install it, correct its name, or add its directory to PATH"
    case .programMissing: "a relative path is relative to the step's working directory"
    case .programIsDirectory: nil
    case .programNotExecutable(let path, _): "chmod +x \(escaped(path))"
    case .programNotRunnable: "begin it with a line such as #!/bin/sh"
    case .interpreterNotStarted(_, let interpreter, _):
      interpreter.hasSuffix("\r")
        ? "the #! line ends in a carriage return; save the file with Unix line endings" : nil
    case .directoryNotEntered(_, .notFound): "create it in an earlier step, or correct its name"
    case .directoryNotEntered: nil
    case .argumentTooLong, .variableTooLong, .argumentsTooBig:
      "pass large values on stdin or in a file"
    case .nulInArgument, .nulInDirectory: "the system ends a string at its first NUL"
    case .resources(.outOfDescriptors):
      "raise the limit of open files (ulimit -n) or lower the parallelism"
    case .resources(.wouldBlock):
      "raise the limit of processes (ulimit -u) or lower the parallelism"
    case .terminalUnavailable(let reason): reason.help
    case .nullDevice(.notFound): "mount /dev, or create it: mknod -m 666 /dev/null c 1 3"
    case .nullDevice, .resources, .refused, .stopped: nil
    }
  }

  private static func from(_ directory: String?, _ path: String) -> String {
    guard let directory, !path.hasPrefix("/") else { return "" }
    return " in \"\(escaped(directory))\""
  }

  private static func octal(_ mode: UInt32) -> String {
    let digits = String(mode & 0o7777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

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

/// `text` for a message, with control characters escaped, so that a carriage return is visible.
func escaped(_ text: some StringProtocol) -> String {
  var shown = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\r": shown += "\\r"
    case "\n": shown += "\\n"
    case "\t": shown += "\\t"
    case "\"": shown += "\\\""
    case "\\": shown += "\\\\"
    case _
    where scalar.properties.generalCategory == .control
      || scalar.properties.generalCategory == .format:
      shown += "\\u{\(String(scalar.value, radix: 16))}"
    default: shown.unicodeScalars.append(scalar)
    }
  }
  return shown
}

/// "1.2 MB", for people; messages that compare a size with a limit also give it in bytes.
func humanSize(_ bytes: Int) -> String {
  guard bytes >= 1000 else { return "\(bytes) bytes" }
  var (amount, unit) = (Double(bytes) / 1000, "kB")
  if amount >= 1000 { (amount, unit) = (amount / 1000, "MB") }
  let tenths = Int((amount * 10).rounded())
  return "\(tenths / 10).\(tenths % 10) \(unit)"
}
