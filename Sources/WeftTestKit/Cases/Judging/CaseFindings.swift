import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftJSON
import WeftPlanning

/// The record of a run, and the differences found in it. Each difference is a diagnostic at the line of an expectation.
struct CaseFindings {
  let file: TestFile
  let plan: Plan
  let record: CaseRecord
  private let addresses: PlanAddresses
  /// The attempts of each step, as indices.
  private let attempts: [StepAddress: [Int]]
  private(set) var mismatches: [Diagnostic] = []

  init(of record: CaseRecord, in file: TestFile, _ plan: Plan, _ addresses: PlanAddresses) {
    (self.file, self.plan, self.record, self.addresses) = (file, plan, record, addresses)
    attempts = Dictionary(grouping: record.attempts.indices) { record.attempts[$0].address }
  }

  mutating func report(
    _ message: String, at range: SourceRange, help: String? = nil,
    code: String = CaseCode.notMet
  ) {
    mismatches.append(
      Diagnostic(.error, code: code, message: message, place: file.place(range), help: help))
  }

  mutating func compare(
    _ expected: [Named<JSONValue>], with outputs: [ReportedOutput], of subject: String,
    noun: String = "output"
  ) {
    for output in expected {
      guard let found = outputs.first(where: { $0.name == output.name }) else {
        report(
          "\(subject) has no \(noun) \"\(output.name)\", expected \(shown(output.value))",
          at: output.range,
          help: NearestName(outputs.map(\.name)).nearest(to: output.name).asSuggestion)
        continue
      }
      guard let value = found.value else {
        report(
          "\(noun) \"\(output.name)\" of \(subject) is secret, so it cannot be compared",
          at: output.range)
        continue
      }
      if !value.isSame(as: output.value) {
        report(
          "\(noun) \"\(output.name)\" of \(subject) is \(shown(value)), expected "
            + shown(output.value), at: output.range)
      }
    }
  }

  /// The innermost loop or group around a step or group that accepts its failure; `nil` if none does.
  func toleration(around address: StepAddress) -> StepAddress? {
    // The failure of a cleanup is one of the run, whatever the group around it accepts.
    if let step = addresses.step(at: address), plan.bodies.cleanupSteps.contains(step) {
      return nil
    }
    let group = addresses.group(at: address)
    guard
      let inner = group.map({ plan.groups[$0].parent ?? 0 })
        ?? addresses.innermostGroup(at: address)
    else { return nil }
    var around = address.loop.map { [$0] } ?? []
    for planned in plan.allEnclosingGroups(ofGroup: inner).compactMap({ plan.groups[$0].address }) {
      around += addresses.instances(of: planned, around: address)
    }
    return around.first { record.groups[$0]?.end?.conclusion == .success }
  }

  /// A step or group in a message.
  func subject(_ address: StepAddress) -> String {
    "\(record.groups[address] == nil ? "step" : "group") \"\(address)\""
  }

  /// The elements that a loop had, as help for one that it did not have.
  func neighbours(_ pattern: String) -> String? {
    guard let element = StepAddress(StepPattern(pattern).text).innermostElement,
      let loop = element.loop
    else { return nil }
    let others = record.addresses.filter { $0.isInElement(of: loop) }.map { "\"\($0)\"" }
    return others.isEmpty ? nil : "the loop has \(shortList(others))"
  }

  /// The loop or group around an address that was skipped without any mention of its members, and its end as a verb
  /// phrase.
  func skippedWhole(around address: StepAddress) -> (group: StepAddress, end: String)? {
    let inner = addresses.innermostGroup(at: address)
    let groups = inner.map { Array(plan.allEnclosingGroups(ofGroup: $0)) } ?? []
    let around = groups.compactMap { plan.groups[$0].address } + [addresses.planned(address)]
    let places = around.flatMap { addresses.instances(of: $0, around: address) }
    for place in places where place != address {
      if case .skipped? = record.steps[place]?.state, let end = record.end(of: place) {
        return (place, end.text)
      }
    }
    return nil
  }

  func matching(_ text: String) -> [StepAddress] {
    let pattern = StepPattern(text)
    if pattern.isExact {
      let address = StepAddress(pattern.text)
      return record.steps[address] != nil || record.groups[address] != nil ? [address] : []
    }
    return record.addresses.filter { pattern.matches($0) }
  }

  /// The attempts of a step, in their order.
  func attempts(of address: StepAddress) -> [CaseRecord.Attempt] {
    attempts[address]?.map { record.attempts[$0] } ?? []
  }

  /// Whether a step counts for `maxParallel`: neither a group or a loop, nor one that only waits, asks or computes.
  func holdsSlot(_ address: StepAddress) -> Bool {
    guard record.groups[address] == nil, let step = addresses.step(at: address) else {
      return false
    }
    return CaseChecker.kindsWithSlots.contains(plan.steps[step].kind)
  }

  /// Reports the address of a single element that its loop did not have although it ended.
  mutating func checkElement(_ name: Placed<String>) {
    let pattern = StepPattern(name.value)
    guard pattern.isExact, let element = StepAddress(pattern.text).innermostElement,
      let loop = element.loop, let end = record.groups[loop]?.end, end.notStarted == nil,
      record.steps[element] == nil, record.groups[element] == nil,
      !record.addresses.contains(where: { $0.isInside(element) })
    else { return }
    let others = record.addresses.filter { $0.isInElement(of: loop) }
    report(
      "the loop \"\(loop)\" has no element \"\(element)\"", at: name.range,
      help: NearestName(others.map(\.text)).nearest(to: element.text).asSuggestion,
      code: CaseCode.unused)
  }
}
