import WeftDefinition
import WeftEvents
import WeftHTTP
import WeftPlanning
import WeftPlatform
import WeftRecord
import WeftReporting

/// The steps of a run as comma-separated values: a header, then a line for each step that has any record.
struct CSVReport {
  private static let heads = [
    "step", "state", "reason", "startedAt", "startUs", "endUs", "durationUs", "waitUs",
    "poolWaitUs", "backoffUs", "runUs", "attempts", "exit", "class", "userUs", "systemUs",
    "peakMemoryBytes", "majorFaults", "outputBytes", "bytesSent", "bytesReceived", "critical",
    "rateWaitUs", "groupWaitUs", "clusterWaitUs",
  ]

  private let run: ReportedRun

  init(_ run: ReportedRun) {
    self.run = run
  }

  func rendered() -> [UInt8] {
    let (places, critical) = (run.places, Set(run.chain))
    var text = CSVRow.text(CSVReport.heads)
    for (address, step) in run.detail.steps {
      let place = places[address]
      text += CSVRow.text(
        fields(
          of: step, at: address, place.map { run.timeline.steps[$0] },
          isCritical: place.map(critical.contains) ?? false))
    }
    return Array(text.utf8)
  }

  private func fields(
    of step: RecordedStep, at address: StepAddress, _ times: RunTimeline.Step?, isCritical: Bool
  ) -> [String] {
    let end: StepEnd? = if case .finished(let end, _) = step.state { end } else { nil }
    let first = times?.spans.first { $0.kind.isAttempt }
    var fields = [
      address.text, run.verdict(of: step, at: address).rawValue,
      run.reason(of: step, at: address) ?? "",
      first.flatMap { run.timeline.moment(at: $0.start) }.map(WireClock.text(of:)) ?? "",
      text(first?.start), text(times?.end), text(run.duration(of: step)),
    ]
    fields += [
      text(times?.time(.slot)), text(times?.time(.pool)), text(times?.time(.backoff)),
      text(times?.runningTime), text(times?.attempts), end?.exit.map(CSVReport.text) ?? "",
      end?.failure?.classes.first?.name ?? "",
    ]
    let (usage, figures) = (end?.usage, end?.http?.figures)
    fields += [
      text(usage?.userTime.wholeMicroseconds), text(usage?.systemTime.wholeMicroseconds),
      text(usage?.peakMemoryBytes), text(usage?.majorFaults), text(end.map { Int($0.outputBytes) }),
      text(figures?.bodyBytesSent), text(figures?.bodyBytesReceived), isCritical ? "true" : "false",
      text(times?.time(.rate)), text(times?.time(.group)), text(times?.time(.cluster)),
    ]
    return fields
  }

  private func text(_ number: Int?) -> String { number.map(String.init) ?? "" }

  static func text(_ exit: ProgramExit) -> String {
    switch exit {
    case .code(let code): "\(code)"
    case .signal(let name): "SIG\(name)"
    }
  }
}
