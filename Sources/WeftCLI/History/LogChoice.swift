import WeftDiagnostics
import WeftExecution
import WeftPlanning
import WeftRecord

/// Decides whose logs are meant.
struct LogChoice {
  /// As they were named; empty: all.
  private let names: [StepAddress]
  /// The names, and what is in a group that is called so: its members have names of their own.
  private let wanted: Set<StepAddress>
  /// The steps that the record tells of, in its order.
  private let recorded: [StepAddress]

  /// - Parameter plan: Knows steps that have not begun, and what is in groups.
  /// - Throws: When one of the names is nobody's.
  init(_ names: [String], of detail: RunDetail, _ plan: Plan?) throws(Refusal) {
    recorded = detail.order
    var named: [StepAddress] = []
    var wanted: Set<StepAddress> = []
    for name in names {
      let members = plan?.members(of: name) ?? []
      guard let address = StepAddress(parsing: name),
        !members.isEmpty || recorded.contains(where: { $0.isInside(address) })
      else { throw LogChoice.unknown(name, of: detail, plan) }
      named.append(address)
      wanted.insert(address)
      wanted.formUnion(members)
    }
    self.names = named
    self.wanted = wanted
  }

  private static func unknown(_ name: String, of detail: RunDetail, _ plan: Plan?) -> Refusal {
    let known = detail.order.map(\.text) + (plan?.addresses ?? [])
    return Refusal(
      .usage, "\"\(name)\" is not a step of run \(detail.run)",
      help: NearestName(known).nearest(to: name).map { "did you mean \"\($0)\"?" }
        ?? "\"weft show \(detail.run)\" tells which steps there are")
  }

  /// The step whose bytes are wanted as they are; `nil` where lines of several are to be told apart.
  var single: StepAddress? {
    guard names.count == 1, wanted.count == 1 else { return nil }
    return steps.allSatisfy { $0 == names[0] } ? names[0] : nil
  }

  /// Those that are meant of the steps that the record tells of.
  var steps: [StepAddress] { recorded.filter(wants) }

  func wants(_ step: StepAddress) -> Bool {
    names.isEmpty || wanted.contains(step) || wanted.contains { step.isInside($0) }
  }

  /// Whether everything that was named is among these.
  func isAll(_ done: Set<StepAddress>) -> Bool {
    !names.isEmpty && names.allSatisfy(done.contains)
  }
}

extension Plan {
  /// The steps that a name stands for: itself, or all in the group.
  fileprivate func members(of name: String) -> [StepAddress] {
    let members = try? stepsLeftOut(by: StepChoice(skip: [name]))
    return members?.map { steps[$0].address } ?? []
  }

  /// Of steps and groups.
  fileprivate var addresses: [String] {
    steps.map(\.address.text) + groups.compactMap { $0.address?.text }
  }
}
