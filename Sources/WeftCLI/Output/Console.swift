import WeftPlatform

/// The two output streams of the program.
struct Console {
  let output = OutputPort(.standardOutput)
  let errors = OutputPort(.standardError)

  /// Reports an error.
  func complain(_ complaint: CommandError) { errors.write(complaint.text) }

  /// Writes pending output, and reports write errors.
  ///
  /// - Returns: `code`, or ``ExitCode/broken`` if standard output is incomplete, unless a signal ended the program,
  ///   since a lost terminal is then only a consequence.
  func close(_ code: ExitCode) -> ExitCode {
    output.flush()
    if let fault = output.fault {
      complain(CommandError("cannot write to standard output: \(fault.message)"))
    }
    errors.flush()
    if case .signal = code { return code }
    return output.fault == nil ? code : .broken
  }
}
