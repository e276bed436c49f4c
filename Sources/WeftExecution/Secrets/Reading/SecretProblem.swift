import WeftDefinition
import WeftPlatform

/// The reason why a secret could not be read. It describes the source, and nothing of the content.
enum SecretProblem: Error {
  case variableMissing(String)
  case file(String, FileReadError)
  case commandNotStarted(SpawnError)
  case command(String, ProgramEnd.Status)
  case commandTimedOut(String, after: Duration)
  case descriptorClosed(Int32)
  case descriptor(Int32, SystemError)
  case descriptorTimedOut(Int32, after: Duration)
  case unfit(Secret.Unfit, SecretSource)
  case stopped

  /// The message, without the name of the secret before it.
  var message: String {
    switch self {
    case .variableMissing(let name): "cannot be read: the variable \"\(name)\" is not set"
    case .file(let path, let error): "cannot be read: \"\(path)\" \(error.message)"
    case .commandNotStarted(let reason): "cannot be read: \(reason.message)"
    case .command(let name, .exited(let code)):
      "cannot be read: \"\(name)\" exited with code \(code)"
    case .command(let name, .lost):
      "cannot be read: the exit status of \"\(name)\" was taken by other code of this process"
    case .command(let name, .killed(let signal)):
      "cannot be read: \"\(name)\" was ended by signal \(signal.name)"
    case .commandTimedOut(let name, let limit):
      "cannot be read: \"\(name)\" took more than \(DurationText.text(of: limit))"
    case .descriptorClosed(let number): "cannot be read: descriptor \(number) is not open"
    case .descriptor(let number, let error): "cannot be read: descriptor \(number): \(error)"
    case .descriptorTimedOut(let number, let limit):
      "cannot be read: descriptor \(number) was not closed within \(DurationText.text(of: limit))"
    case .unfit(let reason, let source): "\(reason.message), from \(source.text)"
    case .stopped: "was not read: that was interrupted"
    }
  }

  var help: String? {
    switch self {
    case .variableMissing(let name):
      "set it where weft is started: \(name)=… weft run …; a step need not, and does not, see it"
    case .file(_, .system(.notFound)): "a relative path begins at the start directory (-C)"
    case .file: nil
    case .commandNotStarted(let reason): reason.help
    case .command:
      "run it by itself to see why; what it prints is not shown here, for it may be the secret"
    case .commandTimedOut:
      "it cannot ask for anything: it has neither input nor terminal; \"timeout\" gives it more time"
    case .descriptorClosed(let number):
      "open it where weft is started: weft run … \(number)<FILE"
    case .descriptor: nil
    case .descriptorTimedOut: "the secret ends where its writer closes the descriptor"
    case .unfit(let reason, _): reason.help
    case .stopped: nil
    }
  }
}

extension Secret.Unfit {
  /// The message, without the name of the secret before it.
  fileprivate var message: String {
    switch self {
    case .empty: "is empty"
    case .tooShort(let count):
      "has \(count == 1 ? "1 byte" : "\(count) bytes"); at least \(Secret.fewestBytes) are needed to mask it"
    case .tooLong: "has more than \(Secret.mostBytes >> 10) KiB"
    case .hasNUL: "has a NUL byte in it"
    case .notUTF8: "is not UTF-8"
    }
  }

  fileprivate var help: String {
    switch self {
    case .empty: "put the value there, or take the secret out of the file"
    case .tooShort:
      "masking it would hide half of all output; what is so short can be guessed, and belongs into "
        + "\"inputs\""
    case .tooLong: "let the step read it from a file of its own"
    case .hasNUL, .notUTF8: "encode it, as base64 does, and let the step decode it"
    }
  }
}

extension SecretSource {
  /// The source of a value, as part of a sentence.
  var text: String {
    switch self {
    case .environment(let name): "the variable \"\(name)\""
    case .file(let path): "the file \"\(path)\""
    case .command(let arguments, _): "the command \"\(arguments[0])\""
    case .descriptor(let number): "descriptor \(number)"
    }
  }
}
