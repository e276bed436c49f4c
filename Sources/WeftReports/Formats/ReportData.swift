import WeftDefinition
import WeftEvents
import WeftHTTP
import WeftJSON
import WeftPlanning
import WeftRecord
import WeftReporting

/// The data of the HTML report: everything that its script shows, in columns, because there may be very many steps.
///
/// Logs, files and reasons are cut at the limits below, so that a report of 10,000 steps has at most 3 MB.
struct ReportData {
  private static let sourceBytes = 300 << 10
  private static let definitionBytes = 150 << 10
  static let reasonBytes = 200 << 10
  static let longestText = 2000
  private static let intervals = 240
  private static let poolLimit = 20
  private static let groupLimit = 1000

  typealias Row = (address: StepAddress, step: RecordedStep?)

  private let run: ReportedRun
  private var json = JSONWriter(capacity: 1 << 16)
  /// The steps in the order of the page, and the place of each in the timeline.
  private var steps: [Row] = []
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
    ReportTexts(run, steps).write(to: &json)
    writePaths()
    writeUse()
    writeGroups()
    writeFailure()
    writeDefinition()
    json.endObject()
  }

  // MARK: The run

  private mutating func writeCounts() {
    let run = run
    json.array("counts") { json in
      for (name, count) in run.counts {
        json.beginArray()
        json.string(name)
        json.int(count)
        json.endArray()
      }
    }
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
        "cpu", ends.map { $0?.usage?.processorTime.wholeMicroseconds })
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
    let earlier = run.earlierDurations
    var room = ReportData.sourceBytes
    json.key("plans")
    json.beginArray()
    for index in planned {
      let known = earlier?[index]
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
        guard let end = group.end else { continue }
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

  mutating func member(_ key: Int, _ value: String) {
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
