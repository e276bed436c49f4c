extension Command {
  /// How a command is watched and ended, and where its output goes.
  public struct Options: Sendable, Hashable {
    /// How it is asked to end; `nil`, as every command of the run is.
    public var stop: StopRequest?
    /// What happens to processes of the command that are alive after its program has ended by itself.
    public var leftovers: LeftoverPolicy
    /// How long neither output stream may carry anything, from the start or from the last output on.
    public var stallTimeout: Duration?
    /// Both output streams into one pipe: their order is exact, and all counts as standard output.
    public var mergesOutput: Bool
    /// How much of its output the log holds. What is more is neither kept nor told, only counted.
    public var logLimit: ByteCount
    /// It has the terminal to itself: it reads from it, and its output goes there instead of into a log.
    public var usesTerminal: Bool
    /// It gets a GNU make jobserver whose tokens are the free slots of the run.
    public var usesJobserver: Bool
    /// What it reads and makes, so that what it made once may stand in for running it; `nil`: nothing does.
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

  /// How it is asked to end; `nil`, as every command of the run is.
  public var stop: StopRequest? {
    get { options.stop }
    set { options.stop = newValue }
  }

  /// What happens to processes of the command that are alive after its program has ended by itself.
  public var leftovers: LeftoverPolicy {
    get { options.leftovers }
    set { options.leftovers = newValue }
  }

  /// How long neither output stream may carry anything, from the start or from the last output on.
  public var stallTimeout: Duration? {
    get { options.stallTimeout }
    set { options.stallTimeout = newValue }
  }

  /// Whether both output streams go into one pipe.
  public var mergesOutput: Bool {
    get { hasOptions && options.mergesOutput }
    set { options.mergesOutput = newValue }
  }

  /// How much of its output the log holds.
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

/// How a command is asked to end before it is made to; what is `nil` is as for every command of the run.
public struct StopRequest: Sendable, Hashable {
  /// The signal that its processes get first, named without `SIG`: one of ``SignalName/ofStopping``.
  public let signal: String?
  /// From that signal to KILL; zero sends KILL at once.
  public let grace: Duration?

  /// - Precondition: `signal` is one of ``SignalName/ofStopping``.
  public init(signal: String? = nil, grace: Duration? = nil) {
    if let signal {
      precondition(
        SignalName.ofStopping.contains(signal), "no program is asked to end by \(signal)")
    }
    self.signal = signal
    self.grace = grace
  }
}

/// What happens to processes that outlive the program that started them.
public enum LeftoverPolicy: String, Sendable, Hashable, CaseIterable {
  /// They are ended, and told.
  case end
  /// After a success they are left alone, also when the run ends.
  case keep
}
