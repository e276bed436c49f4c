/// A command line parsed by the grammar, with values not yet interpreted.
struct ParsedArguments: Sendable, Hashable {
  let command: CommandName
  private(set) var operands: [String] = []
  private var options: [Option: [String]] = [:]

  init(command: CommandName) {
    self.command = command
  }

  func isGiven(_ option: Option) -> Bool { options[option] != nil }

  /// Returns the value of an option, the last one if it is repeated; `nil` if it is not given.
  func value(of option: Option) -> String? { options[option]?.last }

  /// Returns all values of an option, in order.
  func values(of option: Option) -> [String] { options[option] ?? [] }

  mutating func add(_ option: Option, value: String = "") {
    options[option, default: []].append(value)
  }

  mutating func add(operand: String) { operands.append(operand) }
}
