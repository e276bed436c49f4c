package import WeftExecution
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Writes records as lines: each is the event as ``EventJSON`` writes it, with the record's number instead of the
/// event's, followed by the CRC-32C of all bytes before the `crc` member.
///
///     {"n":3,"at":"2026-11-20T23:36:05.123Z","type":"step.started","step":"a","attempt":1,"crc":"5f0c1e42"}
package struct RecordJSON: Sendable {
  /// Written in the first record of each engine.
  package static let format = RecordOpening.currentFormat

  private var json: EventJSON
  /// The size of the last line, including its newline.
  package var lineBytes: Int { json.writer.count }

  /// - Parameter start: The origin of elapsed times.
  package init(version: String, startedAt start: WallTime) {
    json = EventJSON(version: version)
    json.clock.start(at: start)
  }

  /// Passes the bytes of a record's line, including its newline, to `body`.
  package mutating func withLine<Result, Failure: Error>(
    of kind: RunRecord.Kind, _ number: UInt64, after elapsed: Duration,
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    json.writer.removeAll()
    json.begin(kind.wireName, number, after: elapsed)
    json.writeMembers(of: kind)
    let checksum = json.writer.withBytes(Checksum.crc32c)
    json.writer.member("crc", RecordLine.digits(of: checksum))
    json.writer.endObject()
    json.writer.endLine()
    let result = json.writer.withBytes { bytes in
      Swift.Result { () throws(Failure) in try body(bytes) }
    }
    return try result.get()
  }
}

extension RunRecord.Kind {
  /// The record's `type`.
  package var wireName: String {
    switch self {
    case .opened: "record.opened"
    case .event(let event): event.wireName
    case .finished: "step.finished"
    case .cached: "step.cached"
    case .spawned: "step.spawned"
    case .kept: "step.kept"
    case .listed: "group.listed"
    case .groupSkipped: "group.skipped"
    case .outdated: "steps.outdated"
    case .waiting: "step.waiting"
    }
  }
}

extension EventJSON {
  fileprivate mutating func writeMembers(of kind: RunRecord.Kind) {
    switch kind {
    case .event(let event): writeMembers(of: event)
    case .opened(let opening): writeOpening(opening)
    case .finished(let step, let end, let kept), .cached(let step, let end, let kept):
      writeMembers(of: .stepFinished(step, end))
      if end.logBytes != end.outputBytes { writer.member("logBytes", Int(clamping: end.logBytes)) }
      if !kept.isEmpty { writeKept(kept) }
    case .spawned(let step, let attempt, let process):
      writer.member("step", step.text)
      writer.member("attempt", attempt)
      writeIdentity(process)
    case .kept(let step, let attempt):
      writer.member("step", step.text)
      writer.member("attempt", attempt)
    case .listed(let address, let elements):
      writer.member("group", address.text)
      writeElements(elements)
    case .groupSkipped(let group, let reason):
      writer.member("group", group.text)
      writeSkip(reason)
    case .outdated(let steps): writeSteps("steps", steps)
    case .waiting(let step, let moment):
      writer.member("step", step.text)
      writer.member("untilNs", Int(moment.nanoseconds))
    }
  }

  private mutating func writeOpening(_ opening: RecordOpening) {
    writer.member("format", RecordJSON.format)
    writer.member("weft", opening.version)
    writer.member("run", opening.run.text)
    writer.member("resumption", opening.resumption)
    if let workflow = opening.workflow { writer.member("workflow", workflow) }
    if let file = opening.file { writer.member("file", file) }
    if let hash = opening.hash { writer.member("sha256", hash) }
    writeNested(opening.nested)
    if let directory = opening.directory { writer.member("directory", directory) }
    writeInputs(opening.inputs)
    writeSteps("leftOut", opening.leftOut)
    writeSteps("rerun", opening.rerun)
    writeIdentity(opening.engine)
    writer.member("bootId", opening.bootID)
    if let cookie = opening.cookie { writer.member("cookie", cookie.text) }
  }

  private mutating func writeSteps(_ key: StaticString, _ steps: [StepAddress]) {
    guard !steps.isEmpty else { return }
    writer.key(key)
    writer.beginArray()
    for step in steps { writer.string(step.text) }
    writer.endArray()
  }

  private mutating func writeNested(_ files: [RecordedFile]) {
    guard !files.isEmpty else { return }
    writer.key("nested")
    writer.beginArray()
    for file in files {
      writer.beginObject()
      writer.member("file", file.path)
      writer.member("sha256", file.hash)
      writer.endObject()
    }
    writer.endArray()
  }

  private mutating func writeInputs(_ inputs: [HandedOn]) {
    guard !inputs.isEmpty else { return }
    writer.key("inputs")
    writer.beginArray()
    for input in inputs {
      writer.beginObject()
      writer.member("name", input.name)
      if let value = input.value {
        writer.key("value")
        writer.value(value)
      } else {
        writer.member("secret", true)
      }
      writer.endObject()
    }
    writer.endArray()
  }

  private mutating func writeIdentity(_ process: ProcessIdentity) {
    writer.member("pid", Int(process.id))
    writer.member("startTicks", Int(clamping: process.startTicks))
  }

  private mutating func writeElements(_ listed: RecordedElements) {
    if listed.isSecret { writer.member("secret", true) }
    writer.key("elements")
    writer.beginArray()
    for element in listed.elements {
      writer.beginObject()
      writer.member("key", element.key)
      if let value = element.value {
        writer.key("value")
        writer.value(value)
      }
      writer.endObject()
    }
    writer.endArray()
  }

  private mutating func writeKept(_ kept: RecordedValues) {
    writer.key("kept")
    writer.beginObject()
    if let text = kept.stdout { writeText("stdout", text) }
    if let text = kept.stderr { writeText("stderr", text) }
    switch kept.returned {
    case nil: break
    case .value(let value)?:
      writeObject("returned") {
        $0.key("value")
        $0.value(value)
      }
    case .secret?: writeObject("returned") { $0.member("secret", true) }
    }
    if let answer = kept.answer { writeAnswer(answer) }
    if !kept.files.isEmpty { writeFiles(kept.files) }
    writer.endObject()
  }

  private mutating func writeFiles(_ files: [RecordedOutputFile]) {
    writer.key("files")
    writer.beginArray()
    for file in files {
      writer.beginObject()
      writer.member("path", file.path)
      switch file.mark {
      case .digest(let digest): writer.member("sha256", digest)
      case .stamp(let bytes, let modified):
        writer.member("bytes", bytes)
        writer.member("modifiedNs", modified)
      }
      writer.endObject()
    }
    writer.endArray()
  }

  private mutating func writeAnswer(_ answer: RecordedResponse) {
    writer.key("answer")
    writer.beginObject()
    if case .value(let headers) = answer.headers {
      writer.key("headers")
      writer.value(headers)
    } else {
      writer.member("secret", true)
    }
    if let body = answer.body { writeText("body", body) }
    if answer.isJSON { writer.member("isJSON", true) }
    if let collected = answer.collected { writeText("collected", collected) }
    writer.endObject()
  }

  private mutating func writeText(_ key: StaticString, _ text: RecordedText) {
    writeObject(key) { writer in
      switch text {
      case .text(let text): writer.member("text", text)
      case .secret: writer.member("secret", true)
      case .tooLong: writer.member("lacks", "too-long")
      case .notUTF8: writer.member("lacks", "not-utf-8")
      }
    }
  }

  private mutating func writeObject(_ key: StaticString, _ members: (inout JSONWriter) -> Void) {
    writer.key(key)
    writer.beginObject()
    members(&writer)
    writer.endObject()
  }
}
