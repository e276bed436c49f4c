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
    case .resources: .resources
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
      .directoryNotEntered(_, let error), .resources(let error), .refused(_, let error):
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
