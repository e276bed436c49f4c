public import WeftFutures
public import WeftHTTP

/// Why a call has no result: whatever it was, in one type.
public enum CallFailure: Error, Sendable {
  /// There is no answer.
  case noAnswer(HTTPFailure)
  /// There is one, of a status that was not expected. Of its body only the start was received.
  case unexpectedStatus(HTTPResponse)
  /// What was answered is not what was expected of it.
  case body(BodyFault, of: HTTPResponse)

  /// Whether the same call may well succeed later.
  public var isTransient: Bool {
    switch self {
    case .noAnswer(let failure): failure.isTransient
    case .unexpectedStatus(let response): response.head.isTransient
    case .body: false
    }
  }

  /// What went wrong, as a sentence without a full stop.
  public var message: String {
    switch self {
    case .noAnswer(let failure): failure.message
    case .unexpectedStatus(let response): "\(response.url) answered with status \(response.status)"
    case .body(let fault, let response): "\(response.url) answered, but \(fault.message)"
    }
  }

  /// The cure, where there is one to name.
  public var help: String? {
    if case .noAnswer(let failure) = self { failure.help } else { nil }
  }
}

extension CallFailure: DropRepresentable {
  /// Whoever was to settle the call forgot it.
  public static func promiseDropped(_ dropped: PromiseDropped) -> CallFailure {
    .noAnswer(.promiseDropped(dropped))
  }
}

/// Why a body is not the value that it was expected to be.
public enum BodyFault: Error, Sendable {
  case notText(BodyNotText)
  /// Line and column count from 1.
  case notJSON(line: Int, column: Int, why: String)
  /// It is JSON, but not of the expected type.
  case notOfType(DecodingError)

  /// What was found, as a sentence without a full stop.
  public var message: String {
    switch self {
    case .notText(let fault): fault.message
    case .notJSON(let line, let column, let why):
      "the body is no JSON: line \(line), column \(column): \(why)"
    case .notOfType(let error): "the body is not of the expected type: \(error.sentence)"
    }
  }
}

extension DecodingError {
  /// `items[0].name: expected a string, found a number`
  fileprivate var sentence: String {
    let context: Context
    switch self {
    case .typeMismatch(_, let found), .valueNotFound(_, let found), .keyNotFound(_, let found),
      .dataCorrupted(let found):
      context = found
    @unknown default: return "\(self)"
    }
    let path = context.codingPath.reduce(into: "") { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += (path.isEmpty ? "" : ".") + key.stringValue
      }
    }
    return (path.isEmpty ? "" : path + ": ") + context.debugDescription
  }
}
