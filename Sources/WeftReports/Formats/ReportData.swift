import WeftDefinition
import WeftEvents
import WeftHTTP
import WeftJSON
import WeftPlanning
import WeftRecord
import WeftReporting

/// The data of the HTML report: everything that its script shows, in columns, because there may be very many steps.
///
/// What grows with logs and files is limited, so that a report of 10,000 steps has at most 3 MB.
struct ReportData {
  private static let logBytes = 400 << 10
  private static let sourceBytes = 300 << 10
  private static let definitionBytes = 150 << 10
  private static let reasonBytes = 200 << 10
  private static let longestText = 2000
  private static let intervals = 240
  private static let poolLimit = 20
  private static let groupLimit = 1000

  private let run: ReportedRun
  private var json = JSONWriter(capacity: 1 << 16)
  /// The steps in the order of the page, and the place of each in the timeline.
  private var steps: [(address: StepAddress, step: RecordedStep?)] = []
  private var rows: [StepAddress: Int] = [:]
  /// The steps of the plan that the page describes, by their indices in the plan.
  private var plans: [Int: Int] = [:]
  private var planned: [Int] = []

  init(_ run: ReportedRun) {
    self.run = run
    steps = run.detail.steps.map { ($0.address, $0.step) }
    let known = Set(steps.map(\.address))
    // Steps that a later attempt made void have no state, but were there.
    steps += run.timeline.steps.filter { !known.contains($0.address) && !$0.spans.isEmpty }
      .map { ($0.address, nil) }
    steps += run.notReached.map { ($0, nil) }
    for (row, step) in steps.enumerated() { rows[step.address] = row }
  }

  func rendered() -> [UInt8] {
    var data = self
    data.write()
    return data.json.bytes
  }

  private mutating func write() {
    json.beginObject()
    json.member("title", run.masked(run.title))
    json.member("verdict", Verdict(run.detail.state).rawValue)
    json.member("headline", run.verdictText)
    json.member("logCommand", "weft logs \(run.words)")
    json.array("gaps", of: run.gaps.map(run.shown))
    json.array("verdicts", of: Verdict.allCases.map(\.rawValue))
    json.array("kinds", of: TimelineSpan.Kind.allCases.map(\.rawValue))
    json.member("duration", run.timeline.duration)
    json.member("lanes", run.timeline.laneCount)
    writeCounts()
    writeFacts()
    writeParts()
    writeSteps()
    writePlans()
    writeSpans()
    writeTexts()
    writePaths()
    writeUse()
    writeGroups()
    writeFailure()
    writeDefinition()
    json.endObject()
  }

  // MARK: The run

  private mutating func writeCounts() {
    let counts = run.recorded.end?.counts ?? run.recorded.counts
    json.key("counts")
    json.beginArray()
    for (name, count) in [
      ("succeeded", counts.succeeded), ("failed", counts.failed), ("tolerated", counts.tolerated),
      ("cancelled", counts.cancelled), ("skipped", counts.skipped), ("cached", counts.cached),
      ("restored", counts.restored),
    ] where count > 0 {
      json.beginArray()
      json.string(name)
      json.int(count)
      json.endArray()
    }
    json.endArray()
  }

  private mutating func writeFacts() {
    let recorded = run.recorded
    json.key("facts")
    json.beginArray()
    fact("Run", run.detail.run.text)
    fact("Workflow", recorded.opening?.workflow.map(run.masked))
    fact("File", recorded.opening?.file.map(run.shown))
    fact("Directory", recorded.lastOpening?.directory.map(run.shown))
    fact("Weft", recorded.lastOpening?.version)
    fact("Started", recorded.startedAt.map { ShownMoment.text($0) + " UTC" })
    fact("Duration", ShownDuration.precise(recorded.duration))
    fact("Steps at once", recorded.start.map { "\($0.maxParallel)" })
    for part in run.timeline.parts where run.timeline.parts.count > 1 {
      fact(
        part.resumption == 0 ? "First part" : "Resumption \(part.resumption)",
        "\(ShownDuration.precise(.microseconds(part.length))) from \(ShownMoment.text(part.startedAt)) UTC"
      )
    }
    fact("Cancelled", recorded.end?.cancellation.map { run.shown($0.sentence) })
    for input in recorded.opening?.inputs ?? [] {
      fact("Input \(run.shown(input.name))", shown(input.value) ?? "secret")
    }
    for output in recorded.end?.outputs ?? [] {
      fact("Output \(run.shown(output.name))", shown(output.value) ?? "secret")
    }
    for warning in recorded.warnings { fact("Warning", run.shown(warning.message)) }
    fact("Record", run.shown(run.detail.folder))
    json.endArray()
  }

  private mutating func fact(_ name: String, _ value: String?) {
    guard let value else { return }
    json.beginArray()
    json.string(name)
    json.string(value)
    json.endArray()
  }

  private func shown(_ value: JSONValue?) -> String? {
    value.map { run.shown(String($0.shownText.prefix(ReportData.longestText))) }
  }

  private mutating func writeParts() {
    let run = run
    json.array("parts") {
      for part in run.timeline.parts { $0.numbers([part.offset, part.length, part.resumption]) }
    }
  }

  // MARK: Steps

  private mutating func writeSteps() {
    let (run, steps) = (run, steps)
    let addresses = run.plan.map(PlanAddresses.init)
    let plannedRows = steps.map { step -> Int in
      guard let index = addresses?.step(at: step.address) else { return -1 }
      if let known = plans[index] { return known }
      plans[index] = planned.count
      planned.append(index)
      return planned.count - 1
    }
    let ends = steps.map { step -> StepEnd? in
      if case .finished(let end, _)? = step.step?.state { end } else { nil }
    }
    json.object("steps") { json in
      json.array("name", of: steps.map { run.shown($0.address.text) })
      json.key("verdict")
      json.numbers(
        steps.map { step in
          (step.step.map { run.verdict(of: $0, at: step.address) } ?? .notStarted).number
        })
      json.column(
        "cpu", ends.map { $0?.usage.map { ($0.userTime + $0.systemTime).wholeMicroseconds } })
      json.column("memory", ends.map { $0?.usage?.peakMemoryBytes })
      json.column("output", ends.map { $0.map { Int($0.outputBytes) } })
      json.column(
        "net",
        ends.map { $0?.http.map { $0.figures.bodyBytesSent + $0.figures.bodyBytesReceived } })
      json.key("plan")
      json.numbers(plannedRows)
    }
  }

  private mutating func writePlans() {
    let run = run
    let recent = run.plan.map { run.history.steps(of: $0) }
    var room = ReportData.sourceBytes
    json.key("plans")
    json.beginArray()
    for index in planned {
      let known = recent?[index]
      let source = room > 0 ? run.source(ofStep: index, atMost: ReportData.longestText) : nil
      room -= source?.utf8.count ?? 0
      json.object {
        $0.member("name", run.plan.flatMap { $0.name(of: $0.steps[index]) }.map(run.masked))
        $0.member("place", run.location(ofStep: index))
        $0.member("source", source)
        $0.key("recent")
        $0.numbers(known?.recent ?? [])
        $0.key("usual")
        if let typical = known?.typical { $0.int(typical) } else { $0.null() }
      }
    }
    json.endArray()
  }

  // MARK: Spans

  private mutating func writeSpans() {
    var failures: [(span: Int, message: String)] = []
    var numbers: [Int] = []
    var room = ReportData.reasonBytes
    let places = run.places
    for (row, step) in steps.enumerated() {
      guard let place = places[step.address] else { continue }
      for span in run.timeline.steps[place].spans {
        if let failure = span.failure, room > 0 {
          let message = run.shown(String(failure.message.prefix(ReportData.longestText)))
          failures.append((numbers.count / 7, message))
          room -= message.utf8.count
        }
        numbers += [
          row, span.kind.number, span.start, span.duration, span.lane ?? -1, span.attempt,
          span.verdict?.number ?? -1,
        ]
      }
    }
    json.key("spans")
    json.numbers(numbers)
    json.object("failures") { for failure in failures { $0.member(failure.span, failure.message) } }
  }

  // MARK: Texts of steps

  private mutating func writeTexts() {
    let (run, steps) = (run, steps)
    var room = ReportData.reasonBytes
    json.object("reasons") { json in
      for (row, step) in steps.enumerated() where room > 0 {
        guard let text = step.step.flatMap({ run.reason(of: $0, at: step.address) }) else {
          continue
        }
        let shown = run.shown(String(text.prefix(ReportData.longestText)))
        room -= shown.utf8.count
        json.member(row, shown)
      }
    }
    writeElements()
    writeOutputs()
    writeLogs()
  }

  /// Writes the values of the elements that steps are in, unless a loop's list is secret.
  private mutating func writeElements() {
    let (run, steps) = (run, steps)
    var values: [StepAddress: [String: JSONValue]] = [:]
    for (address, group) in run.recorded.groups {
      for element in group.allElements {
        values[address, default: [:]][element.key] = element.value
      }
    }
    var room = ReportData.reasonBytes
    json.object("elements") { json in
      for (row, step) in steps.enumerated() where room > 0 {
        guard let element = step.address.innermostElement, let loop = element.loop,
          case .element(let key)? = element.parts?.last, let value = values[loop]?[key]
        else { continue }
        let text = run.shown(String(value.shownText.prefix(ReportData.longestText)))
        room -= text.utf8.count
        json.member(row, text)
      }
    }
  }

  private mutating func writeOutputs() {
    let (run, steps) = (run, steps)
    var room = ReportData.reasonBytes
    json.object("outputs") { json in
      for (row, step) in steps.enumerated() where room > 0 {
        guard case .finished(let end, _)? = step.step?.state, !end.outputs.isEmpty else { continue }
        json.key(String(row))
        json.beginArray()
        for output in end.outputs {
          let value = output.value.map {
            run.shown(String($0.shownText.prefix(ReportData.longestText)))
          }
          room -= output.name.utf8.count + (value?.utf8.count ?? 0)
          json.beginArray()
          json.string(run.shown(output.name))
          if let value { json.string(value) } else { json.null() }
          json.endArray()
        }
        json.endArray()
      }
    }
  }

  /// Writes the last lines of failed steps first, and of others as far as there is room.
  private mutating func writeLogs() {
    let (run, steps) = (run, steps)
    var room = ReportData.logBytes
    let written = steps.enumerated().filter { step in
      // The record of a step in doubt does not say whether it wrote anything.
      step.element.step.map { $0.mayHaveWritten || $0.isInDoubt } ?? false
    }
    let isFailure = { (step: (address: StepAddress, step: RecordedStep?)) in
      step.step.map { run.verdict(of: $0, at: step.address).isFailure } ?? false
    }
    let failed = written.filter { isFailure($0.element) }
    let others = written.filter { !isFailure($0.element) }
    json.object("logs") { json in
      for (row, step) in failed + others where room > 0 {
        let isFailed = isFailure(step)
        // A failed step may have the whole room, another only a small part of it.
        var lines = run.lastLines(
          of: step.address, atMost: isFailed ? 40 : 10, bytes: isFailed ? 16 << 10 : 2 << 10)
        var left = min(room, isFailed ? 16 << 10 : 2 << 10)
        let kept = lines.reversed().prefix { line in
          left -= line.utf8.count
          return left > 0
        }
        lines = kept.reversed()
        guard !lines.isEmpty else { continue }
        room -= lines.reduce(0) { $0 + $1.utf8.count + 3 }
        json.key(String(row))
        json.beginArray()
        for line in lines { json.string(line) }
        json.endArray()
      }
    }
  }

  // MARK: Sections

  private mutating func writePaths() {
    let (run, rows) = (run, rows)
    json.array("chain") { json in
      for link in run.links {
        guard let row = rows[run.timeline.steps[link.step].address] else { continue }
        json.numbers([row, link.ran, link.waited])
      }
    }
    json.array("slow") { json in
      for slow in run.slowestSteps(20) {
        guard let row = rows[run.timeline.steps[slow.step].address] else { continue }
        json.beginArray()
        json.int(row)
        json.string(slow.cause ?? "")
        json.endArray()
      }
    }
  }

  private mutating func writeUse() {
    let run = run
    let series = [run.timeline.slots] + run.timeline.pools.prefix(ReportData.poolLimit)
    json.array("use") { json in
      for (index, one) in series.enumerated() {
        json.beginArray()
        json.string(index == 0 ? "Slots of the run" : "Pool \(run.masked(one.name))")
        if let capacity = one.capacity { json.int(capacity) } else { json.null() }
        json.int(one.peak)
        json.beginArray()
        for mean in one.means(ReportData.intervals, until: run.timeline.duration) {
          json.double((mean * 1000).rounded() / 1000)
        }
        json.endArray()
        json.endArray()
      }
    }
  }

  private mutating func writeGroups() {
    let run = run
    let groups = run.recorded.groups.sorted { $0.key.text < $1.key.text }
    json.array("groups") { json in
      for (address, group) in groups.prefix(ReportData.groupLimit) {
        guard case .finished(let end) = group.state else { continue }
        json.beginArray()
        json.string(run.shown(address.text))
        json.string(run.verdict(of: end, at: address).rawValue)
        json.int(end.duration.wholeMicroseconds)
        json.int(end.attempts)
        for number in [group.elements?.elements.count, end.notStarted?.elements] {
          if let number { json.int(number) } else { json.null() }
        }
        if let winner = end.winner { json.string(run.shown(winner.text)) } else { json.null() }
        json.endArray()
      }
    }
  }

  private mutating func writeFailure() {
    let (run, rows) = (run, rows)
    json.key("failure")
    switch run.firstFailure {
    case .step(let address, let step):
      json.object {
        $0.member("step", rows[address] ?? -1)
        $0.member("message", run.shown(run.reason(of: step, at: address) ?? "failed"))
        $0.member("diagnostic", run.diagnostic(of: step, at: address))
      }
    case .own(let failure):
      let name = failure.address.map { "\"\(run.shown($0.text))\" " } ?? ""
      json.object {
        $0.member("step", -1)
        $0.member("message", name + run.shown(failure.message))
        $0.member(
          "diagnostic",
          failure.address.flatMap {
            run.diagnostic(of: $0, failure.message, help: failure.help)
          })
      }
    case nil: json.null()
    }
  }

  private mutating func writeDefinition() {
    let (text, isCut) = run.definition(atMost: ReportData.definitionBytes)
    let file = run.recorded.opening?.file.map(run.shown) ?? "a workflow built in Swift"
    json.object("definition") {
      $0.member(
        "name",
        "\(file), as the run read it"
          + (isCut ? "; only its beginning, the whole is in the record of the run" : ""))
      $0.member("text", text)
    }
  }
}

extension JSONWriter {
  fileprivate mutating func numbers(_ numbers: [Int]) {
    beginArray()
    for number in numbers { int(number) }
    endArray()
  }

  fileprivate mutating func column(_ key: StaticString, _ values: [Int?]) {
    self.key(key)
    beginArray()
    for value in values { if let value { int(value) } else { null() } }
    endArray()
  }

  fileprivate mutating func member(_ key: Int, _ value: String) {
    self.key(String(key))
    string(value)
  }
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
  /// The position among all cases.
  fileprivate var number: Int { Self.allCases.firstIndex(of: self)! }
}

extension Verdict {
  /// The verdict on a run as a whole.
  init(_ state: RecordedState) {
    self =
      switch state {
      case .success: .succeeded
      case .failure: .failed
      case .cancelled: .cancelled
      case .waiting: .waiting
      case .interrupted, .damaged: .interrupted
      case .running: .running
      }
  }
}
