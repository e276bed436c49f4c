import WeftDefinition
import WeftExecution
import WeftJSON
import WeftPlanning

/// Parts of a step's end that are stored beside it.
struct StepEndDraft {
  var kept = RecordedValues()
}

/// Records of the ends of steps, and their reasons.
extension RecordScanner {
  mutating func stepEnd(_ draft: inout StepEndDraft) throws(RecordFormatError) -> StepEnd {
    let outcome: Outcome = try named("outcome")
    let conclusion: Outcome = try named("conclusion")
    let attempts = try count("attempts")
    let exit = has("exit") ? try programExit() : nil
    let failure = has("failure") ? try failure() : nil
    let cancellation = has("cancellation") ? try cancelReason() : nil
    let duration = try duration("durationUs")
    let usage = has("usage") ? try usage() : nil
    let http = has("http") ? try httpSummary() : nil
    let notRetried = try optionalText("notRetried")
    let approvedBy = try optionalText("approvedBy")
    try expect("outputBytes")
    let outputBytes = UInt64(try amount())
    let isTruncated = has("outputTruncated") ? try bool() : false
    let outputs = try outputs()
    let leftovers = has("leftovers") ? try processes() : []
    let unkillable = has("unkillable") ? try processes() : []
    let logBytes = has("logBytes") ? UInt64(try amount()) : nil
    if has("kept") { draft.kept = try keptValues() }
    var end = StepEnd(
      outcome: outcome, conclusion: conclusion, attempts: attempts, exit: exit, failure: failure,
      cancellation: cancellation, duration: duration, usage: usage, outputBytes: outputBytes,
      outputTruncated: isTruncated, logBytes: logBytes, outputs: outputs, leftovers: leftovers,
      unkillable: unkillable
    ).having(http)
    if let notRetried { end.noteNotRetried(notRetried) }
    if let approvedBy { end.noteApproved(by: approvedBy) }
    return end
  }

  mutating func retry() throws(RecordFormatError) -> Retry {
    let attempt = try count("attempt")
    let limit = try count("attemptLimit")
    let exit = has("exit") ? try programExit() : nil
    try expect("failure")
    let failure = try failure()
    let duration = try duration("durationUs")
    let delay = try self.duration("delayUs")
    let usage = has("usage") ? try usage() : nil
    return Retry(
      attempt: attempt, of: limit, failure: failure, exit: exit, duration: duration, delay: delay,
      usage: usage)
  }

  private mutating func programExit() throws(RecordFormatError) -> ProgramExit {
    try begin("{")
    let exit: ProgramExit =
      if has("code") { .code(try int()) } else { .signal(try text("signal")) }
    try endObject()
    return exit
  }

  mutating func failure() throws(RecordFormatError) -> StepFailure {
    try begin("{")
    var classes: [ErrorClass] = []
    try expect("classes")
    try elements { scanner throws(RecordFormatError) in
      classes.append(ErrorClass(unchecked: try scanner.string()))
    }
    let failure = StepFailure(
      classes: classes, message: try text("message"), help: try optionalText("help"))
    try endObject()
    return failure
  }

  private mutating func usage() throws(RecordFormatError) -> ResourceUsage {
    try begin("{")
    let (user, system) = (try duration("userUs"), try duration("systemUs"))
    var numbers: [4 of Int] = [0, 0, 0, 0]
    let keys: [4 of StaticString] = [
      "minorFaults", "majorFaults", "voluntarySwitches", "involuntarySwitches",
    ]
    for index in keys.indices {
      try expect(keys[index])
      numbers[index] = try amount()
    }
    let peak = has("peakMemoryBytes") ? try amount() : nil
    try endObject()
    return ResourceUsage(
      userTime: user, systemTime: system, minorFaults: numbers[0], majorFaults: numbers[1],
      voluntarySwitches: numbers[2], involuntarySwitches: numbers[3], peakMemoryBytes: peak)
  }

  /// Reads outputs: values by name, then the names of secret ones.
  mutating func outputs() throws(RecordFormatError) -> [HandedOn] {
    guard has("outputs") else { return [] }
    var outputs: [HandedOn] = []
    try members { scanner, name throws(RecordFormatError) in
      outputs.append(HandedOn(name: name, value: try scanner.value()))
    }
    guard has("secretOutputs") else { return outputs }
    try elements { scanner throws(RecordFormatError) in
      outputs.append(HandedOn(name: try scanner.string(), value: .none))
    }
    return outputs
  }

  mutating func processes() throws(RecordFormatError) -> [LeftoverProcess] {
    var processes: [LeftoverProcess] = []
    try elements { scanner throws(RecordFormatError) in
      try scanner.begin("{")
      try scanner.expect("pid")
      guard let id = Int32(exactly: try scanner.int()) else { throw .unfit("a process id") }
      processes.append(LeftoverProcess(process: id, command: try scanner.text("command")))
      try scanner.endObject()
    }
    return processes
  }

  // MARK: Values that expressions read

  private mutating func keptValues() throws(RecordFormatError) -> RecordedValues {
    try begin("{")
    var kept = RecordedValues()
    if has("stdout") { kept.stdout = try keptText() }
    if has("stderr") { kept.stderr = try keptText() }
    if has("returned") {
      try begin("{")
      kept.returned = has("value") ? .value(try value()) : .secret
      try endObject()
    }
    if has("answer") { kept.answer = try keptAnswer() }
    if has("files") { kept.files = try keptFiles() }
    try endObject()
    return kept
  }

  private mutating func keptFiles() throws(RecordFormatError) -> [RecordedOutputFile] {
    var files: [RecordedOutputFile] = []
    try elements { scanner throws(RecordFormatError) in
      try scanner.begin("{")
      let path = try scanner.text("path")
      if scanner.has("sha256") {
        files.append(RecordedOutputFile(path: path, .digest(try scanner.string())))
      } else {
        try scanner.expect("bytes")
        let bytes = try scanner.int()
        try scanner.expect("modifiedNs")
        files.append(
          RecordedOutputFile(path: path, .stamp(bytes: bytes, modified: try scanner.int())))
      }
      try scanner.endObject()
    }
    return files
  }

  private mutating func keptAnswer() throws(RecordFormatError) -> RecordedResponse {
    try begin("{")
    var answer = RecordedResponse(headers: .secret)
    if has("headers") {
      answer.headers = .value(try value())
    } else {
      try expect("secret")
      _ = try bool()
    }
    if has("body") { answer.body = try keptText() }
    if has("isJSON") { answer.isJSON = try bool() }
    if has("collected") { answer.collected = try keptText() }
    try endObject()
    return answer
  }

  private mutating func keptText() throws(RecordFormatError) -> RecordedText {
    try begin("{")
    let kept: RecordedText
    if has("text") {
      kept = .text(try string())
    } else if has("secret") {
      _ = try bool()
      kept = .secret
    } else {
      switch try text("lacks") {
      case "too-long": kept = .tooLong
      case "not-utf-8": kept = .notUTF8
      case let reason: throw .unfit("\"\(reason)\"")
      }
    }
    try endObject()
    return kept
  }

  // MARK: Reasons

  mutating func skipReason() throws(RecordFormatError) -> SkipReason {
    _ = try named("outcome", Outcome.self)
    try expect("reason")
    try begin("{")
    let reason: SkipReason
    switch try text("kind") {
    case "dependencyFailed": reason = .dependencyFailed(try address("of"))
    case "heldBack": reason = .heldBack(by: try address("of"))
    case "condition": reason = .condition(of: try address("of"))
    case "notSelected": reason = .notSelected
    case "cancelled": reason = .cancelled(try cancelReason("cancellation"))
    case let kind: throw .unfit("\"\(kind)\"")
    }
    try endObject()
    return reason
  }

  mutating func cancelReason(_ key: StaticString) throws(RecordFormatError) -> CancelReason {
    try expect(key)
    return try cancelReason()
  }

  mutating func cancelReason() throws(RecordFormatError) -> CancelReason {
    try begin("{")
    let reason: CancelReason
    switch try text("kind") {
    case "requested": reason = .requested
    case "signal": reason = .signal(try text("signal"))
    case "runTimeout": reason = .runTimeout(try duration("limitUs"))
    case "groupTimeout": reason = .groupTimeout(try address("of"), try duration("limitUs"))
    case "failure": reason = .failure(of: try address("of"))
    case "raceWon": reason = .raceWon(try address("of"), by: try address("by"))
    case "recordLost": reason = .recordLost
    case "joined": reason = .joined(try address("of"))
    case let kind: throw .unfit("\"\(kind)\"")
    }
    try endObject()
    return reason
  }
}
