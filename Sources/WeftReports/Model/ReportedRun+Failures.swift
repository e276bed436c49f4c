import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftRecord
import WeftReporting

/// The verdict on a run, and the failures that it is about.
extension ReportedRun {
  /// `success in 1.2 s`, `failure after 3 s`, `interrupted after 2 s`.
  var verdictText: String {
    let duration = ShownDuration.precise(recorded.duration)
    let verdict =
      switch detail.state {
      case .success: "success in \(duration)"
      case .running: "running"
      case .waiting: "waiting for approval"
      case .damaged: "damaged record"
      case .failure, .cancelled, .interrupted: "\(detail.state.rawValue) after \(duration)"
      }
    let reason = recorded.end?.cancellation.map { ": \(shown($0.sentence))" }
    return verdict + (reason ?? "")
  }

  /// The steps that failed, untolerated, or were interrupted; the one that failed the run first.
  var failures: [(address: StepAddress, step: RecordedStep)] {
    let failed = detail.steps.filter { verdict(of: $0.step, at: $0.address).isFailure }
    guard let first = recorded.end?.firstFailure,
      let place = failed.firstIndex(where: { $0.address == first })
    else { return failed }
    return [failed[place]] + failed[..<place] + failed[(place + 1)...]
  }

  /// A failure of a group, of a loop, or of the run, which no step has caused.
  struct OwnFailure {
    /// `nil` for the run.
    let address: StepAddress?
    /// A clause: `timed out after 5 s`.
    let message: String
    let type: String
    let help: String?

    init(of address: StepAddress?, _ failure: StepFailure) {
      self.init(
        of: address, failure.message, type: failure.classes.first?.name ?? "failure",
        help: failure.help)
    }

    init(of address: StepAddress?, _ message: String, type: String, help: String? = nil) {
      (self.address, self.message, self.type, self.help) = (address, message, type, help)
    }
  }

  /// The untolerated failures without a step; the one that failed the run first.
  var ownFailures: [OwnFailure] {
    var found = recorded.groups.compactMap { address, group -> OwnFailure? in
      guard let end = group.end, let failure = end.failure, end.cause == nil,
        verdict(of: end, at: address).isFailure
      else { return nil }
      return OwnFailure(of: address, failure)
    }
    let first = recorded.end?.firstFailure
    found.sort {
      ($0.address != first ? 1 : 0, $0.address!.text) < (
        $1.address != first ? 1 : 0, $1.address!.text
      )
    }
    if let failure = recorded.end?.failure { found.append(OwnFailure(of: nil, failure)) }
    if let damage = detail.damage {
      found.append(
        OwnFailure(of: nil, "the journal is damaged: \(damage.message)", type: "damaged"))
    }
    return found
  }

  /// The end of a run that did not succeed, for a report that otherwise shows no failure.
  var endFailure: OwnFailure? {
    switch detail.state {
    case .failure, .cancelled, .interrupted, .damaged:
      OwnFailure(of: nil, verdictText, type: detail.state.rawValue)
    case .success, .running, .waiting: nil
    }
  }

  /// The failure that comes first in a report.
  enum FirstFailure {
    case step(address: StepAddress, step: RecordedStep)
    case own(OwnFailure)
  }

  /// `nil` for a run that has not failed.
  var firstFailure: FirstFailure? {
    let (steps, own) = (failures, ownFailures)
    if let failure = own.first, failure.address != nil,
      failure.address == recorded.end?.firstFailure
    {
      return .own(failure)
    }
    return steps.first.map { .step(address: $0.address, step: $0.step) }
      ?? own.first.map { .own($0) }
  }

  /// The place of a step, group or loop in its workflow file; `nil` if it is not known.
  func place(of address: StepAddress) -> Diagnostic.Place? {
    guard let plan else { return nil }
    let addresses = PlanAddresses(plan)
    if let index = addresses.step(at: address) { return plan.place(ofStep: index) }
    guard let group = addresses.group(at: address), let step = plan.groups[group].step else {
      return nil
    }
    return plan.place(of: step, inGroup: plan.groups[group].parent ?? group)
  }

  /// `build.json:12:5`.
  func location(of address: StepAddress) -> String? {
    place(of: address).map { place in
      let position = place.file.position(of: Int(place.range.start))
      return "\(shown(place.file.path)):\(position.line):\(position.column)"
    }
  }

  /// The failure of a step as a diagnostic about the workflow file: location, message, source line and help.
  func diagnostic(of step: RecordedStep, at address: StepAddress) -> String? {
    guard let reason = reason(of: step, at: address) else { return nil }
    var help: String?
    if case .finished(let end, _) = step.state { help = end.failure?.help }
    return diagnostic(of: address, reason, help: help)
  }

  /// - Parameter reason: A clause that follows the name.
  func diagnostic(of address: StepAddress, _ reason: String, help: String?) -> String? {
    guard let place = place(of: address) else { return nil }
    return mask.masked(
      DiagnosticText().rendered(
        outcome: "\"\(address)\" \(reason)", at: place, help: help))
  }
}

extension Plan {
  /// The place of a step in its file: its id, if it has one.
  func place(ofStep index: Int) -> Diagnostic.Place? {
    place(of: steps[index].step, inGroup: steps[index].group)
  }

  fileprivate func place(of step: Step, inGroup group: Int) -> Diagnostic.Place? {
    guard let known = step.place.value,
      let file = files[groups[group].file].workflow.source.value
    else { return nil }
    return Diagnostic.Place(file: file, range: known.id ?? known.step)
  }
}
