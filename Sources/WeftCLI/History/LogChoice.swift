import WeftDiagnostics
import WeftExecution
import WeftPlanning
import WeftRecord

/// Decides whose logs are meant.
struct LogChoice {
  /// As they were named; empty: all.
  private let names: [String]
  /// The steps that the record tells of, in its order.
  private let recorded: [StepAddress]

  /// - Parameter plan: Knows steps that have not begun.
  /// - Throws: When one of the names is nobody's.
  init(_ names: [String], of detail: RunDetail, _ plan: Plan?) throws(Refusal) {
    self.names = names
    recorded = detail.order
    for name in names {
      let isKnown = LogChoice.isThere(name, in: recorded.lazy.map(\.text))
      guard !isKnown else { continue }
      let planned = plan?.addresses ?? []
      guard !LogChoice.isThere(name, in: planned) else { continue }
      let nearest = NearestName(recorded.map(\.text) + planned).nearest(to: name)
      throw Refusal(
        .usage, "\"\(name)\" is not a step of run \(detail.run)",
        help: nearest.map { "did you mean \"\($0)\"?" }
          ?? "\"weft show \(detail.run)\" tells which steps there are")
    }
  }

  private static func isThere(_ name: String, in addresses: some Sequence<String>) -> Bool {
    addresses.contains { StepAddress($0).isInside(name) }
  }

  /// The step whose bytes are wanted as they are; `nil` where lines of several are to be told apart.
  var single: StepAddress? {
    guard names.count == 1 else { return nil }
    let inside = recorded.filter { $0.isInside(names[0]) }
    if inside.isEmpty { return StepAddress(names[0]) }
    return inside == [StepAddress(names[0])] ? inside[0] : nil
  }

  /// Those that are meant of the steps that the record tells of.
  var steps: [StepAddress] { recorded.filter(wants) }

  func wants(_ step: StepAddress) -> Bool {
    names.isEmpty || names.contains { step.isInside($0) }
  }

  /// Whether everything that was named is among these.
  func isAll(_ done: Set<StepAddress>) -> Bool {
    !names.isEmpty && names.allSatisfy { done.contains(StepAddress($0)) }
  }
}

extension Plan {
  /// Of steps and groups.
  fileprivate var addresses: [String] {
    steps.map(\.address.text) + groups.compactMap { $0.address?.text }
  }
}
