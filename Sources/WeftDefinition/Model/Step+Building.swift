extension Step {
  /// A step that runs a script in its shell.
  public init(
    _ id: StepID? = nil, run script: String, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id, action: .run(Command(.script(script))), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that runs a program directly, without a shell.
  ///
  /// - Precondition: `arguments` has at least one element, the program.
  public init(
    _ id: StepID? = nil, run arguments: [String], needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    precondition(!arguments.isEmpty, "a program to run has at least its name")
    self.init(
      id: id, action: .run(Command(.program(arguments))), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that runs a command.
  public init(
    _ id: StepID? = nil, _ command: Command, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id, action: .run(command), needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A group whose members run one after another.
  public init(
    _ id: StepID? = nil, steps members: [Step], needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id, action: .group(StepGroup(.steps, members)), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A group whose members run side by side.
  public init(
    _ id: StepID? = nil, parallel members: [Step], needs: [Need]? = nil, timeout: Duration? = nil,
    maxParallel: Int? = nil, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id, action: .group(StepGroup(.parallel, members, maxParallel: maxParallel)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }
}
