/// A program or a script, its standard input, its success codes and its options, whose properties it has too.
@dynamicMemberLookup public struct Command: Sendable, Hashable {
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

  private static let defaults = Options()

  public subscript<Value>(dynamicMember option: WritableKeyPath<Options, Value>) -> Value {
    get { (boxedOptions?.value ?? Command.defaults)[keyPath: option] }
    set { options[keyPath: option] = newValue }
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

extension Command {
  /// The inputs and outputs of a command, by which an earlier result can replace running it.
  public struct Caching: Sendable, Hashable {
    /// Patterns of files, relative to the step's directory; a pattern that begins with `!` excludes its matches.
    public var inputs: [String]
    /// Paths of files and directories, relative to the step's directory.
    public var outputs: [String]
    /// Environment variables that the result depends on, besides those that the workflow sets.
    public var environment: [String]
    /// A text that the result depends on; the command runs again if it changes.
    public var key: String?
    /// A command whose output the result depends on, such as the version of a compiler.
    public var version: Invocation?

    public init(
      inputs: [String], outputs: [String] = [], environment: [String] = [], key: String? = nil,
      version: Invocation? = nil
    ) {
      self.inputs = inputs
      self.outputs = outputs
      self.environment = environment
      self.key = key
      self.version = version
    }
  }

  /// Settings that control how a command is watched and terminated, and where its output goes.
  public struct Options: Sendable, Hashable {
    /// The request to end it; `nil` for that of the run.
    public var stop: StopRequest?
    /// The treatment of processes of the command that are alive after its program has ended by itself.
    public var leftovers: LeftoverPolicy
    /// The longest time without output on either stream, from the start or from the last output on.
    public var stallTimeout: Duration?
    /// Whether both output streams share one pipe: their order is then exact, and all counts as standard output.
    public var mergesOutput: Bool
    /// The amount of output that the log holds. Further output is neither kept nor reported, only counted.
    public var logLimit: ByteCount
    /// Whether it has the terminal to itself: it reads from it, and its output goes there instead of into a log.
    public var usesTerminal: Bool
    /// Whether it gets a GNU make jobserver whose tokens are the free slots of the run.
    public var usesJobserver: Bool
    /// The conditions under which an earlier result replaces running it; `nil` if none does.
    public var caching: Caching?

    public init(
      stop: StopRequest? = nil, leftovers: LeftoverPolicy = .end, stallTimeout: Duration? = nil,
      mergesOutput: Bool = false, logLimit: ByteCount = WorkflowLimits.logLimit,
      usesTerminal: Bool = false, usesJobserver: Bool = false, caching: Caching? = nil
    ) {
      self.stop = stop
      self.leftovers = leftovers
      self.stallTimeout = stallTimeout
      self.mergesOutput = mergesOutput
      self.logLimit = logLimit
      self.usesTerminal = usesTerminal
      self.usesJobserver = usesJobserver
      self.caching = caching
    }
  }
}

/// A request to end a command before it is killed; a `nil` property has the value for the whole run.
public struct StopRequest: Sendable, Hashable {
  /// The first signal for its processes, named without `SIG`: one of ``SignalName/ofStopping``.
  public let signal: String?
  /// The time from that signal to KILL; zero sends KILL at once.
  public let grace: Duration?

  /// - Precondition: `signal` is one of ``SignalName/ofStopping``.
  public init(signal: String? = nil, grace: Duration? = nil) {
    if let signal {
      precondition(
        SignalName.ofStopping.contains(signal), "\(signal) does not ask a program to end")
    }
    self.signal = signal
    self.grace = grace
  }
}

/// The treatment of processes that outlive the program that started them.
public enum LeftoverPolicy: String, Sendable, Hashable, CaseIterable {
  /// They are terminated and reported.
  case end
  /// They are left running after a success, even when the run ends.
  case keep
}
