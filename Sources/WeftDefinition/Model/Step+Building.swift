import WeftDiagnostics

/// Initializers for the usual steps. A step without an id is addressed by its position; none of them takes an
/// optional id, because one that `StepID(_:)` refuses would then be lost without a word.
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
  /// - Parameter arguments: The program, and what it is given.
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

  /// A group whose members run side by side, until all have ended or `join` is satisfied.
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

  /// A group whose members all start; the first that succeeds ends the others. There is at least one.
  public init(
    _ id: StepID = .unnamed, race members: [Step], needs: [Need]? = nil, timeout: Duration? = nil,
    maxParallel: Int? = nil, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .group(StepGroup(.race, members, maxParallel: maxParallel)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A step that waits, without a slot.
  public init(_ id: StepID = .unnamed, wait duration: Duration, needs: [Need]? = nil) {
    self.init(id, wait: .duration(duration), needs: needs)
  }

  /// A step that waits for a time or a moment, without a slot.
  public init(_ id: StepID = .unnamed, wait: Waiting, needs: [Need]? = nil) {
    self.init(id: id.given, action: .wait(wait), needs: needs)
  }

  /// A step that asks a person, and fails as `rejected` if the answer is no.
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
  ///   - workflow: Has a name of its own for messages: its file, or else its name.
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
  /// - Parameter parameters: What the action is given, by name.
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
