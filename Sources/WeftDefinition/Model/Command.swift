/// A program or a script, its standard input, its success codes and its options.
public struct Command: Sendable, Hashable {
  public enum Invocation: Sendable, Hashable {
    /// Text for the step's shell.
    case script(String)
    /// A program and its arguments, passed as they are; never empty.
    case program([String])
  }

  public var invocation: Invocation
  /// `nil` for `/dev/null`.
  public var stdin: StandardInput?
  /// Exit codes that count as success, 0 to 255.
  public var successCodes: [Int]
  /// Boxed because few commands have options, and there may be very many commands.
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

  /// Settings that most commands leave at their defaults.
  public var options: Options {
    get { boxedOptions?.value ?? Options() }
    set { boxedOptions = newValue == Options() ? nil : .holding(newValue) }
  }
}

/// The source of a command's standard input.
public enum StandardInput: Sendable, Hashable {
  case text(String)
  /// A file, relative to the step's working directory.
  case file(String)
  /// The log of another step, with both streams; it adds a dependency on that step.
  case log(Need)
}
