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
      "argument \(index) is \(size) bytes long, and the system passes less than \(limit)"
    case .variableTooLong(let name, let size, let limit):
      "environment variable \"\(escaped(name))\" takes \(size) bytes, and the system passes less than \(limit)"
    case .argumentsTooBig(let arguments, let environment, let limit):
      "arguments \(humanSize(arguments)) + environment \(humanSize(environment)) are more than the"
        + " \(humanSize(limit)) that the system passes to a program"
    case .nulInArgument(let index): "argument \(index) has a NUL character in it"
    case .nulInDirectory: "the working directory has a NUL character in its name"
    case .resources(let error): "the system has no room for another program: \(error)"
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
    case .programMissing: "a relative path is looked for in the step's own working directory"
    case .programIsDirectory: nil
    case .programNotExecutable(let path, _): "chmod +x \(escaped(path))"
    case .programNotRunnable: "begin it with a line such as #!/bin/sh"
    case .interpreterNotStarted(_, let interpreter, _):
      interpreter.hasSuffix("\r")
        ? "the #! line ends in a carriage return; save the file with Unix line ends" : nil
    case .directoryNotEntered(_, .notFound): "create it in an earlier step, or correct its name"
    case .directoryNotEntered: nil
    case .argumentTooLong, .variableTooLong, .argumentsTooBig:
      "hand large values over by stdin or in a file"
    case .nulInArgument, .nulInDirectory: "the system ends a string at its first NUL"
    case .resources(.outOfDescriptors):
      "raise the limit of open files (ulimit -n) or lower the parallelism"
    case .resources(.wouldBlock):
      "raise the limit of processes (ulimit -u) or lower the parallelism"
    case .terminalUnavailable(let reason): reason.help
    case .resources, .refused, .stopped: nil
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
