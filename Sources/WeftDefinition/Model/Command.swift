/// A program or a script, what it reads, which of its exit codes are good, and how it is treated.
public struct Command: Sendable, Hashable {
  public enum Invocation: Sendable, Hashable {
    /// Text for the step's shell.
    case script(String)
    /// A program and its arguments, passed as they are; never empty.
    case program([String])
  }

  public var invocation: Invocation
  /// `nil` is `/dev/null`.
  public var stdin: StandardInput?
  /// Exit codes that count as success, 0 to 255.
  public var successCodes: [Int]
  /// Few commands have any, and there may be very many commands.
  @usableFromInline var boxedOptions: Boxed<Options>?

  public init(
    _ invocation: Invocation, stdin: StandardInput? = nil, successCodes: [Int] = [0],
    options: Options = Options()
  ) {
    self.invocation = invocation
    self.stdin = stdin
    self.successCodes = successCodes
    self.options = options
  }

  /// Whether anything of ``options`` is set.
  @inlinable package var hasOptions: Bool { boxedOptions != nil }

  /// What most commands leave as it is.
  public var options: Options {
    get { boxedOptions?.value ?? Options() }
    set { boxedOptions = newValue == Options() ? nil : .holding(newValue) }
  }
}

/// What a command reads on its standard input.
public enum StandardInput: Sendable, Hashable {
  case text(String)
  /// A file, relative to the step's working directory.
  case file(String)
  /// Everything that another step wrote, both streams; it adds the edge to that step.
  case log(Need)
}
