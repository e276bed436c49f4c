import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

/// The facts that a recorded run shows about steps that were asked to end: the losers of races and joins, and services.
struct StopTimes {
  /// The times from the request until the step had ended; without those that only show how long a signal takes.
  private(set) var times: [StepAddress: Duration] = [:]
  /// The times in which losers would not have ended: those of what won.
  private(set) var leastTimes: [StepAddress: Duration] = [:]

  /// The decision of a race or join.
  private struct Decision {
    var moment: WallTime
    /// The time that the winner took, or the last of several.
    var duration: Duration
  }

  private static let shortest = Duration.milliseconds(10)

  private let sample: RunSample
  private let plan: Plan
  private let addresses: PlanAddresses
  private var joins: [StepAddress: Decision] = [:]

  init(_ sample: RunSample, _ plan: Plan) {
    (self.sample, self.plan) = (sample, plan)
    addresses = PlanAddresses(plan)
    for (loser, reason) in sample.decided {
      guard let decision = decision(of: reason) else { continue }
      leastTimes[loser] = decision.duration
      note(loser, since: decision.moment)
    }
    for service in sample.readiness.keys where sample.decided[service] == nil {
      if let moment = lastUse(of: service) { note(service, since: moment) }
    }
  }

  private mutating func note(_ step: StepAddress, since request: WallTime) {
    guard let end = sample.moments[step] else { return }
    let time = end.since(request)
    if time >= StopTimes.shortest { times[step] = time }
  }

  private mutating func decision(of reason: CancelReason) -> Decision? {
    switch reason {
    case .raceWon(_, let winner): return success(of: winner)
    case .joined(let group):
      if let known = joins[group] { return known }
      var last: Decision?
      for member in sample.moments.keys where member != group {
        guard addresses.isInside(member, group), let end = success(of: member) else { continue }
        last = Decision(
          moment: last.map { $0.moment.since(end.moment) > .zero ? $0.moment : end.moment }
            ?? end.moment,
          duration: max(last?.duration ?? .zero, end.duration))
      }
      joins[group] = last
      return last
    case .requested, .filesChanged, .signal, .runTimeout, .groupTimeout, .failure, .recordLost:
      return nil
    }
  }

  private func success(of address: StepAddress) -> Decision? {
    guard let moment = sample.moments[address] else { return nil }
    if let execution = sample.executions[address], execution.ending != .cutShort {
      return Decision(moment: moment, duration: .microseconds(execution.total))
    }
    guard let group = sample.groups[address], group.conclusion == .success else { return nil }
    return Decision(moment: moment, duration: group.duration)
  }

  /// The end of the last other step in the group of a service, after which the service is stopped.
  private func lastUse(of service: StepAddress) -> WallTime? {
    guard let end = sample.moments[service], let step = addresses.step(at: service) else {
      return nil
    }
    let planned = plan.groups[plan.steps[step].group].address
    let group = planned.flatMap { addresses.instances(of: $0, around: service).first }
    return sample.moments.lazy.filter { other, moment in
      other != service && end.since(moment) >= .zero
        && (group.map { other != $0 && addresses.isInside(other, $0) } ?? true)
    }.map(\.value).max { $1.since($0) > .zero }
  }
}
