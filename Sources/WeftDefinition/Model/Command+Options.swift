extension Command {
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

  /// The request to end it; `nil` for that of the run.
  public var stop: StopRequest? {
    get { options.stop }
    set { options.stop = newValue }
  }

  /// The treatment of processes of the command that are alive after its program has ended by itself.
  public var leftovers: LeftoverPolicy {
    get { options.leftovers }
    set { options.leftovers = newValue }
  }

  /// The longest time without output on either stream, from the start or from the last output on.
  public var stallTimeout: Duration? {
    get { options.stallTimeout }
    set { options.stallTimeout = newValue }
  }

  /// Whether both output streams share one pipe.
  public var mergesOutput: Bool {
    get { hasOptions && options.mergesOutput }
    set { options.mergesOutput = newValue }
  }

  /// The amount of output that the log holds.
  public var logLimit: ByteCount {
    get { hasOptions ? options.logLimit : WorkflowLimits.logLimit }
    set { options.logLimit = newValue }
  }

  /// Whether it has the terminal to itself.
  public var usesTerminal: Bool {
    get { hasOptions && options.usesTerminal }
    set { options.usesTerminal = newValue }
  }

  /// Whether it gets a GNU make jobserver.
  public var usesJobserver: Bool {
    get { hasOptions && options.usesJobserver }
    set { options.usesJobserver = newValue }
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
