import WeftPlatform

/// The program's two streams, for commands to write to.
struct Console {
  let output = OutputPort(.standardOutput)
  let errors = OutputPort(.standardError)

  /// Tells what went wrong.
  func complain(_ complaint: Complaint) { errors.write(complaint.text) }

  /// Writes the rest, and tells what could not be written.
  ///
  /// - Returns: `code`, or ``ExitCode/broken`` where standard output is not whole; unless a signal
  ///   ended the program, of which a lost terminal is only a consequence.
  func close(_ code: ExitCode) -> ExitCode {
    output.flush()
    if let fault = output.fault {
      complain(Complaint("cannot write to standard output: \(fault.message)"))
    }
    errors.flush()
    if case .signal = code { return code }
    return output.fault == nil ? code : .broken
  }
}
