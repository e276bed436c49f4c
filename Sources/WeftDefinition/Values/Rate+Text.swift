extension Rate {
  /// The reason why a text is not a rate.
  enum ParseError: Error, Sendable, Hashable {
    /// Not a number, a slash and something after it.
    case malformed
    case count
    case period(String, DurationText.ParseError)
  }

  /// Reads a rate as written in a workflow: `"30/1m"`.
  init(_ text: String) throws(ParseError) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(\.isDigit) else {
      throw .malformed
    }
    guard let count = Int(parts[0]), (1...WorkflowLimits.poolSlots).contains(count) else {
      throw .count
    }
    let period = String(parts[1])
    do {
      self.init(count: count, per: try DurationText.duration(from: period))
    } catch {
      throw .period(period, error)
    }
  }
}

extension Rate: CustomStringConvertible {
  /// The spelling in a workflow.
  public var description: String { "\(count)/\(DurationText.text(of: period))" }
}
