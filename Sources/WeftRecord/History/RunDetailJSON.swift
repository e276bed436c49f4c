import WeftEvents
import WeftExecution
import WeftJSON
import WeftPlanning

/// The complete recorded state of a run as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Members have the same
/// names as in events; unknown values are omitted.
package enum RunDetailJSON {
  package static let format = 1

  /// Returns indented JSON with a line end.
  package static func rendered(_ detail: RunDetail) -> [UInt8] {
    var json = EventJSON(version: WeftVersion.current, style: .pretty)
    json.write(detail)
    return json.writer.bytes
  }
}

extension EventJSON {
  fileprivate mutating func write(_ detail: RunDetail) {
    let recorded = detail.recorded
    writer.beginObject()
    writer.member("format", RunDetailJSON.format)
    writer.member("run", detail.run.text)
    writer.member("state", detail.state.rawValue)
    if let name = recorded.opening?.workflow { writer.member("workflow", name) }
    if let file = recorded.opening?.file { writer.member("file", file) }
    if let directory = recorded.lastOpening?.directory { writer.member("directory", directory) }
    if let time = recorded.startedAt { writer.member("startedAt", WireClock.text(of: time)) }
    if let time = recorded.lastAt { writer.member("lastRecordAt", WireClock.text(of: time)) }
    writer.member("durationUs", recorded.duration.wholeMicroseconds)
    writer.member("resumptions", recorded.resumptions)
    if let inputs = recorded.opening?.inputs, !inputs.isEmpty { writeInputs(inputs) }
    writer.member("folder", detail.folder)
    if let damage = detail.damage { writer.member("damage", damage.message) }
    writer.key("steps")
    writer.beginArray()
    for (address, step) in detail.steps { write(step, at: address, detail) }
    writer.endArray()
    writeLoops(detail)
    writeAdvice(ResumeAdvice(detail))
    if let end = recorded.end {
      writer.key("end")
      writer.beginObject()
      write(end)
      writer.endObject()
    }
    writer.endObject()
    writer.endLine()
  }

  /// Writes the inputs; only the names of secret ones.
  private mutating func writeInputs(_ inputs: [ReportedOutput]) {
    writer.key("inputs")
    writer.beginArray()
    for input in inputs {
      writer.beginObject()
      writer.member("name", input.name)
      if let value = input.value {
        writer.key("value")
        writer.value(value)
      }
      writer.endObject()
    }
    writer.endArray()
  }

  /// Writes the number of elements of each loop, and how many of them have not begun.
  private mutating func writeLoops(_ detail: RunDetail) {
    let loops = detail.loops
    guard !loops.isEmpty else { return }
    writer.key("loops")
    writer.beginArray()
    for loop in loops {
      writer.beginObject()
      writer.member("group", loop.address.text)
      writer.member("elements", loop.elements)
      if loop.notStarted > 0 { writer.member("notStarted", loop.notStarted) }
      writer.endObject()
    }
    writer.endArray()
  }

  private mutating func write(
    _ step: RecordedStep, at address: StepAddress, _ detail: RunDetail
  ) {
    writer.beginObject()
    writer.member("step", address.text)
    if let time = step.startedAt { writer.member("startedAt", WireClock.text(of: time)) }
    switch step.state {
    case .queued: writer.member("state", "queued")
    case .started where step.isAsking:
      writer.member("state", "asking")
      writer.member("message", step.question ?? "")
    case .started(let attempt):
      writer.member("state", detail.state == .running ? "running" : "inDoubt")
      writer.member("attempt", attempt)
    case .retrying(let retry):
      writer.member("state", "retrying")
      write(retry)
    case .skipped(let reason):
      writer.member("state", "skipped")
      write(reason)
    case .finished(let end, _):
      writer.member("state", step.isCached ? "cached" : "finished")
      write(end)
    }
    if step.mayHaveWritten { writer.member("log", detail.logPath(of: address)) }
    writer.endObject()
  }

  private mutating func writeAdvice(_ advice: ResumeAdvice) {
    writer.key("resume")
    writer.beginObject()
    writer.key("again")
    writer.beginArray()
    for step in advice.again { writer.string(step.text) }
    writer.endArray()
    writer.key("inDoubt")
    writer.beginArray()
    for step in advice.inDoubt { writer.string(step.text) }
    writer.endArray()
    writer.member("unmentioned", advice.unlisted)
    writer.endObject()
  }
}

extension RecordedStep {
  /// Whether it may have a log.
  package var mayHaveWritten: Bool {
    switch state {
    case .finished(let end, _): end.logBytes > 0
    case .started, .retrying: !isAsking
    case .queued, .skipped: false
    }
  }
}
