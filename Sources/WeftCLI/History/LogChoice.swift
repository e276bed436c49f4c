import WeftDiagnostics
import WeftEvents
import WeftPlanning
import WeftRecord

/// Selects the steps whose logs are printed.
struct LogChoice {
  /// The addresses as given; empty for all.
  private let names: [StepAddress]
  /// The named steps, and the members of named groups, which have addresses of their own.
  private let wanted: Set<StepAddress>
  /// The steps in the journal, in its order.
  private let recorded: [StepAddress]

  /// - Parameter plan: Provides steps that have not begun, and the members of groups.
  /// - Throws: If a name does not exist.
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

  /// The step whose log is printed unchanged; `nil` if lines of several steps are mixed.
  var single: StepAddress? {
    guard names.count == 1, wanted.count == 1 else { return nil }
    return steps.allSatisfy { $0 == names[0] } ? names[0] : nil
  }

  /// The selected steps in the journal.
  var steps: [StepAddress] { recorded.filter(wants) }

  func wants(_ step: StepAddress) -> Bool {
    names.isEmpty || wanted.contains(step) || wanted.contains { step.isInside($0) }
  }

  /// Returns whether all named steps are among these.
  func isAll(_ done: Set<StepAddress>) -> Bool {
    !names.isEmpty && names.allSatisfy(done.contains)
  }
}

extension Plan {
  /// Returns the steps that a name refers to: the step itself, or all in the group.
  fileprivate func members(of name: String) -> [StepAddress] {
    let members = try? stepsLeftOut(by: StepChoice(skip: [name]))
    return members?.map { steps[$0].address } ?? []
  }

  /// The addresses of steps and groups.
  fileprivate var addresses: [String] {
    steps.map(\.address.text) + groups.compactMap { $0.address?.text }
  }
}
