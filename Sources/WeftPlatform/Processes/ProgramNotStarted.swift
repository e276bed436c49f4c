/// Why a program did not start. Nothing of it has run.
package enum ProgramNotStarted: Error, Hashable, Sendable {
  case emptyProgramName
  case programNotFound(name: String, searched: SearchPath)
  case programMissing(path: String, directory: String?, SystemError)
  case programIsDirectory(path: String)
  /// `mode` are the permission bits.
  case programNotExecutable(path: String, mode: UInt32)
  /// No machine code that this system knows, and no `#!` line.
  case programNotRunnable(path: String)
  case interpreterNotStarted(program: String, interpreter: String, SystemError)
  case directoryNotEntered(String, SystemError)
  /// `index` 0 is the program's name.
  case argumentTooLong(index: Int, size: Int, limit: Int)
  case variableTooLong(name: String, size: Int, limit: Int)
  case argumentsTooBig(arguments: Int, environment: Int, limit: Int)
  case nulInArgument(index: Int)
  case nulInDirectory
  /// Descriptors, processes or memory have run out; the same start may succeed later.
  case resources(SystemError)
  case refused(path: String, SystemError)
  /// It was to have the terminal.
  case terminalUnavailable(TerminalUnavailable)
  /// A stop was requested before there was anything to stop.
  case stopped

  /// What is to blame.
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
    case .resources: .resources
    case .terminalUnavailable: .terminal
    case .stopped: .stopped
    }
  }

  /// The system's answer, or the one it would have given; `nil` when it was not asked.
  package var error: SystemError? {
    switch self {
    case .emptyProgramName, .programNotFound: .notFound
    case .programIsDirectory, .programNotExecutable: .notPermitted
    case .programNotRunnable: .notExecutableFormat
    case .argumentTooLong, .variableTooLong, .argumentsTooBig: .argumentsTooBig
    case .nulInArgument, .nulInDirectory: .invalid
    case .programMissing(_, _, let error), .interpreterNotStarted(_, _, let error),
      .directoryNotEntered(_, let error), .resources(let error), .refused(_, let error):
      error
    case .terminalUnavailable(let reason): reason.error
    case .stopped: nil
    }
  }
}

extension ProgramNotStarted: CustomStringConvertible {
  package var description: String {
    guard let help else { return message }
    return "\(message) (\(help))"
  }
}
