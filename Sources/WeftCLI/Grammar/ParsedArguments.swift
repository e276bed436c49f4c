/// A command line taken apart by the grammar; what the values say is not looked at yet.
struct ParsedArguments: Sendable, Hashable {
  let command: CommandName
  private(set) var operands: [String] = []
  private var options: [Option: [String]] = [:]

  init(command: CommandName) {
    self.command = command
  }

  func isGiven(_ option: Option) -> Bool { options[option] != nil }

  /// The value of an option, the last one where it is repeated; `nil` where it is not given.
  func value(of option: Option) -> String? { options[option]?.last }

  /// All values of an option, in their order.
  func values(of option: Option) -> [String] { options[option] ?? [] }

  mutating func add(_ option: Option, value: String = "") {
    options[option, default: []].append(value)
  }

  mutating func add(operand: String) { operands.append(operand) }
}
