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
    return switch detail.state {
    case .success: "success in \(duration)"
    case .running: "running"
    case .waiting: "waiting for approval"
    case .damaged: "damaged record"
    case .failure, .cancelled, .interrupted: "\(detail.state.rawValue) after \(duration)"
    }
  }

  /// The steps that failed, untolerated, or were interrupted; the one that failed the run first.
  var failures: [(address: StepAddress, step: RecordedStep)] {
    let failed = detail.steps.filter { verdict(of: $0.step).isFailure }
    guard let first = recorded.end?.firstFailure,
      let place = failed.firstIndex(where: { $0.address == first })
    else { return failed }
    return [failed[place]] + failed[..<place] + failed[(place + 1)...]
  }

  /// The place of a step in its workflow file; `nil` if it is not known.
  func place(of address: StepAddress) -> Diagnostic.Place? {
    guard let plan, let index = PlanAddresses(plan).step(at: address) else { return nil }
    return plan.place(ofStep: index)
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
    guard let place = place(of: address), let reason = reason(of: step, at: address) else {
      return nil
    }
    var help: String?
    if case .finished(let end, _) = step.state { help = end.failure?.help }
    return mask.masked(
      DiagnosticText().rendered(
        outcome: "\"\(address)\" \(reason)", at: place, help: help))
  }
}

extension Plan {
  /// The place of a step in its file: its id, if it has one.
  func place(ofStep index: Int) -> Diagnostic.Place? {
    let step = steps[index]
    guard let known = step.step.place.value,
      let file = files[groups[step.group].file].workflow.source.value
    else { return nil }
    return Diagnostic.Place(file: file, range: known.id ?? known.step)
  }
}
