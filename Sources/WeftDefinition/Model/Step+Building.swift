import WeftDiagnostics

/// Initializers for the usual steps. A step without an id is addressed by its position. The id is not
/// optional, because one that `StepID(_:)` rejects would then be dropped silently.
extension Step {
  /// A step that runs a script in its shell.
  public init(
    _ id: StepID = .unnamed, run script: String, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .run(Command(.script(script))), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that runs a program directly, without a shell.
  ///
  /// - Parameter arguments: The program and its arguments.
  public init(
    _ id: StepID = .unnamed, run arguments: [String], needs: [Need]? = nil,
    timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .run(Command(.program(arguments))), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that runs a command.
  public init(
    _ id: StepID = .unnamed, _ command: Command, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .run(command), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A group whose members run one after another.
  public init(
    _ id: StepID = .unnamed, steps members: [Step], needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .group(StepGroup(.steps, members)), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A group whose members run concurrently, until all have ended or `join` is satisfied.
  public init(
    _ id: StepID = .unnamed, parallel members: [Step], needs: [Need]? = nil,
    timeout: Duration? = nil,
    maxParallel: Int? = nil, join: StepGroup.Join = .all, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given,
      action: .group(StepGroup(.parallel, members, maxParallel: maxParallel, join: join)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A group whose members all start; the first to succeed cancels the others. There is at least one member.
  public init(
    _ id: StepID = .unnamed, race members: [Step], needs: [Need]? = nil, timeout: Duration? = nil,
    maxParallel: Int? = nil, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .group(StepGroup(.race, members, maxParallel: maxParallel)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A step that waits without holding a slot.
  public init(_ id: StepID = .unnamed, wait duration: Duration, needs: [Need]? = nil) {
    self.init(id, wait: .duration(duration), needs: needs)
  }

  /// A step that waits for a duration or until a moment, without holding a slot.
  public init(_ id: StepID = .unnamed, wait: Waiting, needs: [Need]? = nil) {
    self.init(id: id.given, action: .wait(wait), needs: needs)
  }

  /// A step that asks for a person's approval, and fails as `rejected` if the answer is no.
  public init(
    _ id: StepID = .unnamed, approve message: String, needs: [Need]? = nil,
    timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .approve(Approval(message: message)), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that runs another workflow as part of the graph.
  ///
  /// - Parameters:
  ///   - workflow: The workflow to run. Messages name it by its file, or else by its name.
  ///   - parameters: Values for its inputs.
  public init(
    _ id: StepID = .unnamed, workflow: Workflow, with parameters: [Parameter] = [],
    needs: [Need]? = nil, timeout: Duration? = nil, allowFailure: FailureTolerance = .none
  ) {
    let path = workflow.source.value?.path ?? workflow.name ?? ""
    self.init(
      id: id.given,
      action: .workflow(NestedWorkflow(path: path, parameters: parameters, workflow: workflow)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A step that runs an action which the embedding program has registered.
  ///
  /// - Parameter parameters: The parameters of the action, by name.
  public init(
    _ id: StepID = .unnamed, use action: ActionName, with parameters: [Parameter] = [],
    needs: [Need]? = nil, timeout: Duration? = nil, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .use(ActionCall(action, with: parameters)), needs: needs,
      timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that sends an HTTP request.
  public init(
    _ id: StepID = .unnamed, http call: HTTPCall, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .http(call), needs: needs, timeout: timeout, allowFailure: allowFailure)
  }
}
