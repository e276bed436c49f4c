package import WeftEvents
import WeftExecution
package import WeftJSON
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
    json.object { $0.write(detail) }
    json.writer.endLine()
    return json.writer.bytes
  }
}

extension EventJSON {
  fileprivate mutating func object(_ body: (inout EventJSON) -> Void) {
    writer.beginObject()
    body(&self)
    writer.endObject()
  }

  fileprivate mutating func write(_ detail: RunDetail) {
    let recorded = detail.recorded
    writer.member("format", RunDetailJSON.format)
    writer.member("run", detail.run.text)
    writer.member("state", detail.state.rawValue)
    writer.member("workflow", recorded.opening?.workflow)
    writer.member("file", recorded.opening?.file)
    writer.member("directory", recorded.lastOpening?.directory)
    writer.member("user", recorded.opening?.user)
    writer.member("startedAt", recorded.startedAt.map(WireClock.text(of:)))
    writer.member("lastRecordAt", recorded.lastAt.map(WireClock.text(of:)))
    writer.member("durationUs", recorded.duration.wholeMicroseconds)
    writer.member("resumptions", recorded.resumptions)
    writer.parts(recorded.parts)
    writer.usage(recorded.usage)
    writer.values("inputs", recorded.opening?.inputs ?? [])
    writer.values("state", recorded.opening?.state ?? [])
    writer.member("folder", detail.folder)
    writer.member("damage", detail.damage?.message)
    writer.key("steps")
    writer.beginArray()
    for (address, step) in detail.steps { object { $0.write(step, at: address, detail) } }
    writer.endArray()
    writer.loops(detail.recorded.loops)
    writer.advice(ResumeAdvice(detail))
    if let end = recorded.end {
      writer.key("end")
      object { $0.write(end) }
    }
  }

  private mutating func write(
    _ step: RecordedStep, at address: StepAddress, _ detail: RunDetail
  ) {
    writer.member("step", address.text)
    writer.member("startedAt", step.startedAt.map(WireClock.text(of:)))
    switch step.state {
    case .queued:
      writer.member("state", "queued")
      var reason = step.waitReason
      code(&reason)
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
  }
}

extension JSONWriter {
  /// Writes the inputs or the state of a run, if there are any; only the names of secret ones.
  package mutating func values(_ key: StaticString, _ values: [ReportedOutput]) {
    if values.isEmpty { return }
    array(key) {
      for named in values {
        $0.object {
          $0.member("name", named.name)
          guard let value = named.value else { return }
          $0.key("value")
          $0.value(value)
        }
      }
    }
  }

  /// Writes the parts of a resumed run under each engine.
  fileprivate mutating func parts(_ parts: [RecordedPart]) {
    if parts.count < 2 { return }
    array("parts") {
      for part in parts {
        $0.object {
          $0.member("startedAt", WireClock.text(of: part.startedAt))
          $0.member("durationUs", part.duration.wholeMicroseconds)
        }
      }
    }
  }

  fileprivate mutating func usage(_ usage: RunUsage) {
    object("totals") {
      $0.member("attempts", usage.attempts)
      $0.member("processorUs", usage.processorTime.wholeMicroseconds)
      $0.member("peakMemoryBytes", usage.peakMemoryBytes)
      $0.member("outputBytes", Int(clamping: usage.outputBytes))
    }
  }

  /// Writes the number of elements of each loop, and how many of them have not begun.
  fileprivate mutating func loops(_ loops: [RecordedLoop]) {
    if loops.isEmpty { return }
    array("loops") {
      for loop in loops {
        $0.object {
          $0.member("group", loop.address.text)
          $0.member("elements", loop.elements)
          $0.member("notStarted", loop.notStarted > 0 ? loop.notStarted : nil)
        }
      }
    }
  }

  fileprivate mutating func advice(_ advice: ResumeAdvice) {
    object("resume") {
      $0.array("again", of: advice.again.map(\.text))
      $0.array("inDoubt", of: advice.inDoubt.map(\.text))
      $0.member("unmentioned", advice.unlisted)
    }
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

  /// Whether it has a log, unless something removed it.
  package var hasWritten: Bool {
    if case .finished(let end, _) = state { end.logBytes > 0 && !isCached } else { false }
  }
}
