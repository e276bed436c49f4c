import WeftDiagnostics
package import WeftExpressions

/// Values of keys from the results of expressions, in the syntax of the file.
extension ComputedKey {
  package func duration(_ value: ExpressionValue) throws(EvaluationError) -> Duration {
    guard case .duration(let allowsZero) = type else { preconditionFailure("\(self) is no time") }
    return try ComputedKey.duration(value, allowsZero: allowsZero)
  }

  static func duration(
    _ value: ExpressionValue, allowsZero: Bool
  ) throws(EvaluationError) -> Duration {
    guard case .string(let text) = value else { throw mismatch(value, "a duration like \"30s\"") }
    do {
      return try DurationText.duration(from: text, allowsZero: allowsZero)
    } catch {
      throw .scope(
        code: DefinitionCode.invalidDuration.rawValue,
        message: "it evaluates to \(quoted(text)), \(error.expectation(allowsZero: allowsZero))",
        help: error.help(allowsZero: allowsZero))
    }
  }

  package func size(_ value: ExpressionValue) throws(EvaluationError) -> ByteCount {
    guard case .string(let text) = value else {
      throw ComputedKey.mismatch(value, "a size like \"10MB\"")
    }
    do {
      return try SizeText.size(from: text)
    } catch {
      throw .scope(
        code: DefinitionCode.invalidSize.rawValue,
        message: "it evaluates to \(quoted(text)), \(error.expectation)", help: error.help)
    }
  }

  package func flag(_ value: ExpressionValue) throws(EvaluationError) -> Bool {
    guard case .boolean(let flag) = value else {
      throw ComputedKey.mismatch(value, "true or false")
    }
    return flag
  }

  package func count(_ value: ExpressionValue) throws(EvaluationError) -> Int {
    guard case .count(let range) = type else { preconditionFailure("\(self) is no number") }
    let wanted = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .number(let number) = value, let count = Int(exactly: number), range.contains(count)
    else { throw ComputedKey.mismatch(value, wanted) }
    return count
  }

  package func tolerance(_ value: ExpressionValue) throws(EvaluationError) -> FailureTolerance {
    let wanted = "true, false or an array of error classes"
    switch value {
    case .boolean(let all): return all ? .all : .none
    case .array(let array):
      var classes: [ErrorClass] = []
      for element in array.elements {
        guard case .string(let name) = element, let known = ErrorClass(name) else {
          throw ComputedKey.mismatch(element, "an error class")
        }
        classes.append(known)
      }
      return .classes(classes)
    case .null, .number, .string, .object: throw ComputedKey.mismatch(value, wanted)
    }
  }

  static func mismatch(_ value: ExpressionValue, _ wanted: String) -> EvaluationError {
    let found =
      value.primitiveText.map { $0.isEmpty ? value.kindName : quoted($0) } ?? value.kindName
    return .scope(
      code: DefinitionCode.wrongType.rawValue,
      message: "it evaluates to "
        + "\(found), expected \(wanted)",
      help: nil)
  }
}

extension Step {
  /// Sets a key to the value that its expression evaluated to.
  package mutating func set(
    _ key: ComputedKey, to value: ExpressionValue
  ) throws(EvaluationError) {
    switch key {
    case .timeout: timeout = try key.duration(value)
    case .stallTimeout: action.command?.stallTimeout = try key.duration(value)
    case .grace:
      let signal = action.command?.stop?.signal
      action.command?.stop = StopRequest(signal: signal, grace: try key.duration(value))
    case .logLimit: action.command?.logLimit = try key.size(value)
    case .mergeOutput: action.command?.mergesOutput = try key.flag(value)
    case .tty: action.command?.usesTerminal = try key.flag(value)
    case .jobserver: action.command?.usesJobserver = try key.flag(value)
    case .allowFailure: allowFailure = try key.tolerance(value)
    case .retryMax: control.retry[0].max = try key.count(value)
    case .retryDelay: control.retry[0].delay = try key.duration(value)
    case .retryMaxDelay: control.retry[0].maxDelay = try key.duration(value)
    case .retryWithin: control.retry[0].within = try key.duration(value)
    case .connectTimeout: action.request?.timeouts.connect = try key.duration(value)
    case .idleTimeout: action.request?.timeouts.idle = try key.duration(value)
    case .totalTimeout: action.request?.timeouts.total = try key.duration(value)
    case .maxBytes: action.request?.maxBytes = try key.size(value)
    case .redirects: action.request?.redirects = try key.count(value)
    case .pollEvery: action.request?.polling?.every = try key.duration(value)
    case .pollMax: action.request?.polling?.max = try key.count(value)
    case .pagesMax: action.request?.paging?.max = try key.count(value)
    // The limits of groups and loops are not those of a step.
    case .maxParallel, .elementParallel: break
    }
  }
}
