import WeftDefinition
import WeftExecution
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Output, results and skip reasons of steps.
extension EventJSON {
  mutating func writeOutput(_ output: StepOutput) {
    writer.member("stream", output.stream.rawValue)
    if let text = String(validating: output.bytes, as: UTF8.self) {
      writer.member("text", text)
    } else {
      writer.member("text", output.text)
      writer.member("raw", Base64.text(of: output.bytes))
    }
    switch output.ending {
    case .newline: break
    case .partial: writer.member("partial", true)
    case .endOfStream: writer.member("unterminated", true)
    case .transient: writer.member("transient", true)
    }
    writer.member("offset", Int(output.logOffset))
  }

  mutating func writeStepEnd(_ end: StepEnd) {
    writer.member("outcome", end.outcome.rawValue)
    writer.member("conclusion", end.conclusion.rawValue)
    writer.member("attempts", end.attempts)
    if let exit = end.exit { writeExit(exit) }
    if let failure = end.failure { writeFailure(failure) }
    if let reason = end.cancellation { writeReason("cancellation", reason) }
    writer.member("durationUs", end.duration.wholeMicroseconds)
    if let usage = end.usage { writeUsage(usage) }
    if let http = end.http { writeHTTP(http) }
    if let reason = end.notRetried { writer.member("notRetried", reason) }
    if let name = end.approvedBy { writer.member("approvedBy", name) }
    writer.member("outputBytes", Int(end.outputBytes))
    if end.outputTruncated { writer.member("outputTruncated", true) }
    writeOutputs(end.outputs)
    writeProcesses("leftovers", end.leftovers)
    writeProcesses("unkillable", end.unkillable)
  }

  /// Writes a failed attempt and the delay before the next one.
  mutating func writeRetry(_ retry: Retry) {
    writer.member("attempt", retry.attempt)
    writer.member("attemptLimit", retry.attemptLimit)
    if let exit = retry.exit { writeExit(exit) }
    writeFailure(retry.failure)
    writer.member("durationUs", retry.duration.wholeMicroseconds)
    writer.member("delayUs", retry.delay.wholeMicroseconds)
    if let usage = retry.usage { writeUsage(usage) }
  }

  private mutating func writeExit(_ exit: ProgramExit) {
    writer.key("exit")
    writer.beginObject()
    switch exit {
    case .code(let code): writer.member("code", code)
    case .signal(let name): writer.member("signal", name)
    }
    writer.endObject()
  }

  mutating func writeFailure(_ failure: StepFailure) {
    writer.key("failure")
    writer.beginObject()
    writer.key("classes")
    writer.beginArray()
    for name in failure.classes { writer.string(name.name) }
    writer.endArray()
    writer.member("message", failure.message)
    if let help = failure.help { writer.member("help", help) }
    writer.endObject()
  }

  private mutating func writeUsage(_ usage: ResourceUsage) {
    writer.key("usage")
    writer.beginObject()
    writer.member("userUs", usage.userTime.wholeMicroseconds)
    writer.member("systemUs", usage.systemTime.wholeMicroseconds)
    writer.member("minorFaults", usage.minorFaults)
    writer.member("majorFaults", usage.majorFaults)
    writer.member("voluntarySwitches", usage.voluntarySwitches)
    writer.member("involuntarySwitches", usage.involuntarySwitches)
    if let peak = usage.peakMemoryBytes { writer.member("peakMemoryBytes", peak) }
    writer.endObject()
  }

  /// Writes the outputs, and only the names of secret ones. Writes nothing if there are none.
  mutating func writeOutputs(_ outputs: [HandedOn]) {
    guard !outputs.isEmpty else { return }
    writer.key("outputs")
    writer.beginObject()
    for output in outputs {
      guard let value = output.value else { continue }
      writer.key(output.name)
      writer.value(value)
    }
    writer.endObject()
    guard outputs.contains(where: { $0.value == nil }) else { return }
    writer.key("secretOutputs")
    writer.beginArray()
    for output in outputs where output.value == nil { writer.string(output.name) }
    writer.endArray()
  }

  /// Writes nothing if there are none.
  mutating func writeProcesses(_ key: StaticString, _ processes: [LeftoverProcess]) {
    guard !processes.isEmpty else { return }
    writer.key(key)
    writer.beginArray()
    for process in processes {
      writer.beginObject()
      writer.member("pid", Int(process.process))
      writer.member("command", process.command)
      writer.endObject()
    }
    writer.endArray()
  }

  mutating func writeSkip(_ reason: SkipReason) {
    writer.member("outcome", reason.outcome.rawValue)
    switch reason {
    case .dependencyFailed(let step): writeReason("dependencyFailed", of: step)
    case .heldBack(let step): writeReason("heldBack", of: step)
    case .condition(let step): writeReason("condition", of: step)
    case .notSelected:
      writer.key("reason")
      writer.beginObject()
      writer.member("kind", "notSelected")
      writer.endObject()
    case .cancelled(let reason):
      writer.key("reason")
      writer.beginObject()
      writer.member("kind", "cancelled")
      writeReason("cancellation", reason)
      writer.endObject()
    }
  }

  private mutating func writeReason(_ kind: String, of step: StepAddress) {
    writer.key("reason")
    writer.beginObject()
    writer.member("kind", kind)
    writer.member("of", step.text)
    writer.endObject()
  }

  mutating func writeReason(_ key: StaticString, _ reason: CancelReason) {
    writer.key(key)
    writer.beginObject()
    switch reason {
    case .requested: writer.member("kind", "requested")
    case .signal(let name):
      writer.member("kind", "signal")
      writer.member("signal", name)
    case .runTimeout(let limit):
      writer.member("kind", "runTimeout")
      writer.member("limitUs", limit.wholeMicroseconds)
    case .groupTimeout(let group, let limit):
      writer.member("kind", "groupTimeout")
      writer.member("of", group.text)
      writer.member("limitUs", limit.wholeMicroseconds)
    case .failure(let step):
      writer.member("kind", "failure")
      writer.member("of", step.text)
    case .raceWon(let group, let winner):
      writer.member("kind", "raceWon")
      writer.member("of", group.text)
      writer.member("by", winner.text)
    case .recordLost: writer.member("kind", "recordLost")
    case .joined(let group):
      writer.member("kind", "joined")
      writer.member("of", group.text)
    }
    writer.endObject()
  }
}

extension Duration {
  /// The whole microseconds, truncated; clamped to the representable range.
  var wholeMicroseconds: Int {
    let (seconds, attoseconds) = components
    let limit = Int64.max / 1_000_000 - 1
    return Int(
      min(max(seconds, -limit), limit) * 1_000_000 + attoseconds / 1_000_000_000_000)
  }
}
