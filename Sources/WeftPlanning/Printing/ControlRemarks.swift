import WeftDefinition
import WeftJSON

/// Short remarks on the control options of a step or group: whether, how often and concurrently with what it runs.
struct ControlRemarks {
  private let usesASCII: Bool

  init(_ style: PlanStyle) { usesASCII = style.usesASCII }

  func remarks(on step: Step, _ forecast: NodeForecast) -> [String] {
    let skips = skips(forecast)
    guard step.hasControl else { return skips }
    let control = step.control
    let times = step.computed[.retryMax]
    let condition = control.condition.map { text(of: $0, forecast) }
    let fanOut = control.fanOut.map { text(of: $0, forecast.elements) }
    let attempts = control.retry.map { text(of: $0, times: times) }
    let pools = control.pools.map { $0.slots == 1 ? $0.pool : "\($0.slots) of \($0.pool)" }
    return skips + [condition, fanOut].compactMap(\.self) + attempts
      + (pools.isEmpty ? [] : ["takes " + pools.joined(separator: ", ")])
  }

  /// The reason why it does not run, if that is not its own condition.
  private func skips(_ forecast: NodeForecast) -> [String] {
    if forecast.isLeftOut { return ["left out"] }
    guard case .failsAround(let group) = forecast.condition else { return [] }
    return ["skipped with \(group)"]
  }

  private func text(of condition: Condition, _ forecast: NodeForecast) -> String {
    let bare = ControlRemarks.bare(condition)
    let text = "if \(bare)"
    switch forecast.condition {
    case .holds: return bare == "true" ? text : "\(text) (true)"
    case .fails: return bare == "false" ? "\(text): skipped" : "\(text) (false): skipped"
    case .open: return "\(text) (decided at run time)"
    case .failsAround, nil: return text
    }
  }

  /// An expression without `${{` and `}}` around it.
  static func bare(_ condition: Condition) -> String {
    var text = condition.text[...]
    if text.hasPrefix("${{"), text.hasSuffix("}}") { text = text.dropFirst(3).dropLast(2) }
    let spaces: (Character) -> Bool = { $0.isWhitespace }
    while text.last.map(spaces) == true { text.removeLast() }
    return String(text.drop(while: spaces))
  }

  // MARK: Retries

  /// - Parameter times: The expression for the number of retries.
  private func text(of policy: RetryPolicy, times: String?) -> String {
    guard policy.max > 0 || times != nil else { return "is not tried again" }
    let count = times.map { ControlRemarks.bare(Condition($0)) } ?? "\(policy.max)"
    return [
      count == "1" ? "tries once more" : "tries \(count) more times",
      policy.classes.map { "after " + $0.map(\.name).joined(separator: ", ") },
      policy.condition.map { "if \(ControlRemarks.bare($0))" },
      policy.within.map { "within \(DurationText.text(of: $0))" },
    ].compactMap(\.self).joined(separator: " ")
  }

  // MARK: Loops

  /// - Parameter count: The number of elements, if it is known.
  private func text(of fanOut: FanOut, _ count: Int?) -> String {
    switch fanOut {
    case .forEach(let loop): text(of: loop, count)
    case .matrix(let matrix): text(of: matrix, count)
    }
  }

  private func text(of loop: ForEach, _ count: Int?) -> String {
    let name = loop.name.map { " \($0)" } ?? ""
    let limit = loop.maxParallel.map { "at most \($0) at once" }
    let tolerance: String? =
      switch loop.tolerance {
      case .count(0): nil
      case .count(let count): "\(count) may fail"
      case .percent(let percent): "\(percent)% may fail"
      }
    return ["for each\(name) of \(text(of: loop.elements, count))", limit, tolerance]
      .compactMap(\.self).joined(separator: ", ")
  }

  private func text(of listing: Listing, _ count: Int?) -> String {
    switch listing {
    case .computed(let condition):
      ControlRemarks.bare(condition) + (count.map { " (\($0))" } ?? "")
    case .values: "\(count ?? 0)"
    }
  }

  private func text(of matrix: Matrix, _ count: Int?) -> String {
    let axes = matrix.axes.map(\.name).joined(separator: usesASCII ? " x " : " × ")
    let changes = [
      matrix.exclude.map { _ in "exclude" }, matrix.include.map { _ in "include" },
    ].compactMap(\.self)
    let name = axes.isEmpty ? "matrix" : "matrix \(axes)"
    let number = count.map { " (\($0))" } ?? ""
    return changes.isEmpty
      ? name + number : "\(name) with \(changes.joined(separator: " and "))\(number)"
  }
}

extension PlannedGroup {
  /// The file that it runs; or else the order of the members, and the join unless it waits for all.
  var orderText: String {
    if case .workflow(let nested)? = step?.action { return nested.path }
    guard case .group(let group)? = step?.action, case .atLeast(let count) = group.join else {
      return order.rawValue
    }
    return "\(order.rawValue), at least \(count)"
  }
}
