package import WeftDiagnostics
import WeftJSON

/// Checks the values of a workflow by the rules that the decoder applies to files (``ValueRule``).
///
/// A `Workflow` built or changed in Swift may hold any number and any text. A plan guarantees valid values, so the
/// planner checks each of its workflows, steps and groups. Unresolved names and cycles are the planner's own checks.
package struct BuiltValues {
  /// Without places; the key of each is that of the file format.
  private var found: [Diagnostic] = []

  /// The unfit values of the workflow itself, without those of its steps.
  package static func unfit(in workflow: Workflow) -> [Diagnostic] {
    var values = BuiltValues()
    values.check(workflow)
    return values.found
  }

  /// The unfit values of a step or group, without those of its members or cleanup steps.
  ///
  /// - Parameter isCleanup: Whether it is a cleanup step, and so must not be a group or loop.
  package static func unfit(in step: Step, isCleanup: Bool = false) -> [Diagnostic] {
    var values = BuiltValues()
    values.check(step)
    if isCleanup { values.checkCleanup(step) }
    return values.found
  }

  /// The unfit values among an engine's own settings, which stand in for keys of the workflow.
  package static func unfitOptions(
    maxParallel: Int?, timeout: Duration?, grace: Duration, retryBudgetPercent: Int,
    startDirectory: String?, cacheDirectory: String?, environment: [String: String]? = nil
  ) -> [Diagnostic] {
    var values = BuiltValues()
    values.checkNumber("options.maxParallel", maxParallel, in: ValueRule.maxParallel)
    values.checkTime("options.timeout", timeout)
    values.checkTime("options.grace", grace, allowsZero: true)
    values.checkNumber(
      "options.retryBudgetPercent", retryBudgetPercent, in: ValueRule.retryBudgetPercent)
    if let startDirectory { values.checkPath(startDirectory, "options.startDirectory") }
    if let cacheDirectory { values.checkPath(cacheDirectory, "options.cacheDirectory") }
    for (name, value) in (environment ?? [:]).sorted(by: { $0.key < $1.key }) {
      if let problem = ValueRule.problem(withVariable: name) {
        values.note("options.environment", problem)
      }
      values.checkText(name, "options.environment")
      values.checkText(value, "options.environment.\(name)")
    }
    return values.found
  }

  // MARK: Workflow

  private mutating func check(_ workflow: Workflow) {
    checkKeys(of: WorkflowDraft(workflow: workflow))
    check(workflow.settings)
    checkRepetitions("inputs", workflow.inputs.map { ($0.name, $0.name.text) })
    for input in workflow.inputs { check(input) }
    checkRepetitions("secrets", workflow.secrets.map { ($0.name, $0.name.text) })
    for secret in workflow.secrets { check(secret) }
    checkDescriptors(of: workflow.secrets)
    checkRepetitions("pools", workflow.pools.map { ($0.name, $0.name) })
    for pool in workflow.pools { check(pool) }
    checkRepetitions("runners", workflow.runners.map { ($0.name, $0.name) })
    for runner in workflow.runners { check(runner) }
    check(workflow.outputs)
    checkRepetitions("state", workflow.state.map { ($0.name, $0.name.text) })
    for state in workflow.state {
      check(state.initialValue, "state.\(state.name).default", by: state.schema)
    }
    checkKeys(of: workflow.defaults, in: "defaults")
    check(workflow.defaults.retry ?? [], "defaults.retry")
    if let shell = workflow.defaults.shell { checkProgram(shell.prefix, "defaults.shell") }
    if let key = workflow.concurrency?.key, key.isEmpty {
      note("concurrency.key", .empty(path: "concurrency.key", wanted: "a key that runs share"))
    }
  }

  private mutating func check(_ input: InputDeclaration) {
    guard let value = input.defaultValue else { return }
    check(
      value, "inputs.\(input.name).default", by: input.schema,
      secretBytes: input.defaultSecretBytes)
  }

  private mutating func check(
    _ value: JSONValue, _ key: String, by schema: ValueSchema,
    secretBytes: ClosedRange<Int>? = nil
  ) {
    let isSecret = secretBytes != nil
    for fault in schema.faults(of: value, secretBytes: secretBytes) {
      note(
        key,
        .unfitValue(
          message: fault.message(about: key, isSecret: isSecret),
          help: fault.help(isSecret: isSecret)))
    }
  }

  private mutating func check(_ secret: SecretDeclaration) {
    let key = "secrets.\(secret.name)"
    switch secret.source {
    case .environment(let name):
      if let problem = ValueRule.problem(withVariable: name) { note(key, problem) }
    case .file(let path): checkPath(path, "\(key).file")
    case .command(let arguments, let timeout):
      checkProgram(arguments, "\(key).command")
      checkTime("\(key).timeout", timeout)
    case .environmentFile(let path, let name):
      checkPath(path, "\(key).envFile")
      if let problem = ValueRule.problem(withVariable: name) { note("\(key).name", problem) }
    case .descriptor(let number):
      let part = "\(key).descriptor"
      checkNumber(part, Int(number), in: ValueRule.descriptors)
    }
  }

  private mutating func checkDescriptors(of secrets: [SecretDeclaration]) {
    var numbers: Set<Int32> = []
    for secret in secrets {
      guard case .descriptor(let number) = secret.source, !numbers.insert(number).inserted else {
        continue
      }
      note("secrets.\(secret.name).descriptor", .sharedDescriptor(number))
    }
  }

  private mutating func check(_ pool: Pool) {
    let key = "pools.\(pool.name)"
    checkName("pools", pool.name)
    checkNumber(key, pool.slots, in: ValueRule.slots)
    guard let rate = pool.rate else { return }
    checkNumber("\(key).rate", rate.count, in: ValueRule.slots)
    checkTime("\(key).rate", rate.period)
  }

  private mutating func check(_ runner: Runner) {
    let key = "runners.\(runner.name)"
    checkName("runners", runner.name)
    if runner.name == Runner.local { note(key, .runnerNamedLocal) }
    switch runner.kind {
    case .ssh(let hosts):
      checkNumber("\(key).slots", hosts.slots, in: ValueRule.slots)
      for host in hosts.names {
        if let problem = ValueRule.problem(withHost: host) { note("\(key).hosts", problem) }
      }
      if let path = hosts.workingDirectory { checkPath(path, "\(key).cwd") }
    case .slurm(let cluster):
      checkNumber("\(key).slots", cluster.slots, in: ValueRule.slots)
      if let path = cluster.workingDirectory { checkPath(path, "\(key).cwd") }
    }
  }

  private mutating func check(_ outputs: [OutputDeclaration]) {
    guard !outputs.isEmpty else { return }
    for output in outputs { checkName("outputs", output.name) }
    checkRepetitions("outputs", outputs.map { ($0.name, $0.name) })
  }

  // MARK: Steps and groups

  private mutating func check(_ step: Step) {
    // Most steps of large workflows have none of these values, and a draft is a copy.
    if step.timeout != nil || step.action.hasCheckedKeys { checkKeys(of: StepDraft(step)) }
    check(step.settings)
    check(step.outputs)
    if step.hasControl { check(step.control) }
    step.action.check(&self)
  }

  private mutating func check(_ control: StepControl) {
    check(control.retry, "retry")
    checkRepetitions("pool", control.pools.map { ($0.pool, $0.pool) })
    for request in control.pools {
      checkName("pool", request.pool)
      let key = "pool.\(request.pool)"
      checkNumber(key, request.slots, in: ValueRule.slots)
    }
    switch control.fanOut {
    case .forEach(let loop)?: check(loop)
    case .matrix(let matrix)?: check(matrix)
    case nil: break
    }
  }

  private mutating func check(_ policies: [RetryPolicy], _ key: String) {
    if policies.count > WorkflowLimits.retryPolicies {
      note(
        key,
        .wrongType(
          path: key, found: "an array of \(policies.count)",
          wanted: "at most \(WorkflowLimits.retryPolicies) policies", help: nil))
    }
    for (index, policy) in policies.enumerated() {
      check(policy, policies.count == 1 ? key : "\(key)[\(index)]")
    }
  }

  private mutating func check(_ policy: RetryPolicy, _ key: String) {
    checkKeys(of: RetryDraft(policy), in: key)
    let factor = "\(key).factor"
    if let problem = ValueRule.problem(
      withFactor: policy.factor, factor, written: "\(policy.factor)")
    {
      note(factor, problem)
    }
    if policy.delay > policy.maxDelay, policy.delay <= WorkflowLimits.longestDuration,
      policy.maxDelay >= .zero
    {
      note(
        "\(key).delay",
        .delayBeyondLimit(
          path: "\(key).delay", delay: policy.delay, limit: policy.maxDelay))
    }
    if policy.classes?.isEmpty == true {
      note("\(key).on", .empty(path: "\(key).on", wanted: "at least one error class"))
    }
  }

  private mutating func check(_ loop: ForEach) {
    checkKeys(of: ForEachDraft(loop: loop), in: "forEach")
    if let name = loop.name, let problem = ValueRule.problem(withElementName: name) {
      note("forEach.as", problem)
    }
    check(loop.tolerance, "forEach.tolerate")
    check(loop.elements, "forEach.in")
  }

  private mutating func check(_ tolerance: FanOutTolerance, _ key: String) {
    switch tolerance {
    case .count(let count):
      checkNumber(key, count, in: ValueRule.toleratedElements)
    case .percent(let percent):
      checkNumber(key, percent, in: 0...100)
    }
  }

  private mutating func check(_ matrix: Matrix) {
    for axis in matrix.axes {
      checkName("matrix", axis.name)
      check(axis.values, "matrix.\(axis.name)")
    }
    checkRepetitions("matrix", matrix.axes.map { ($0.name, $0.name) })
    if matrix.axes.isEmpty, matrix.include == nil {
      note("matrix", .emptyMatrix(path: "matrix"))
    }
    check(matrix.tolerance, "matrix.tolerate")
    if let limit = matrix.maxParallel {
      checkNumber("matrix.maxParallel", limit, in: ValueRule.maxParallel)
    }
  }

  private mutating func check(_ listing: Listing, _ key: String) {
    guard case .values(let value) = listing else { return }
    let count: Int
    switch value {
    case .array(let elements): count = elements.count
    case .object(let members): count = members.count
    default:
      return note(
        key,
        .wrongType(
          path: key, found: value.noun, wanted: "an array, an object, or one expression", help: nil)
      )
    }
    if count > WorkflowLimits.elements {
      note(key, .tooManyElements(path: key, count: "\(count)"))
    }
  }

  private mutating func checkCleanup(_ step: Step) {
    let key: String
    if step.action.kind.containsSteps {
      key = step.action.kind.rules.key.description
    } else if step.needs != nil {
      key = "needs"
    } else if step.hasControl, !step.control.cleanup.isEmpty {
      key = "cleanup"
    } else if step.hasControl, let fanOut = step.control.fanOut {
      if case .forEach = fanOut { key = "forEach" } else { key = "matrix" }
    } else if step.action.command?.caching != nil {
      key = "cache"
    } else {
      return
    }
    note(key, .keyInCleanup(key))
  }

  // MARK: Values that actions and settings have in common

  mutating func checkProgram(_ arguments: [String], _ key: String) {
    if arguments.isEmpty {
      note(key, .empty(path: key, wanted: "a program and its arguments"))
    } else if arguments[0].isEmpty {
      note("\(key)[0]", .empty(path: "\(key)[0]", wanted: "the name of a program"))
    }
    for (index, argument) in arguments.enumerated() { checkText(argument, "\(key)[\(index)]") }
  }

  private mutating func check(_ settings: CommandSettings) {
    for (name, value) in settings.environment.sorted(by: { $0.key < $1.key }) {
      if let problem = ValueRule.problem(withVariable: name) { note("env", problem) }
      checkText(name, "env")
      if let value { checkText(value, "env.\(name)") }
    }
    for file in settings.environmentFiles { checkPath(file.path, "envFile") }
    if let directory = settings.workingDirectory { checkPath(directory, "cwd") }
    if let shell = settings.shell { checkProgram(shell.prefix, "shell") }
  }

  mutating func checkPath(_ path: String, _ key: String) {
    if path.isEmpty { note(key, .empty(path: key, wanted: "a path")) }
    checkText(path, key)
  }

  /// The system cannot pass a text with a NUL to a program.
  mutating func checkText(_ text: String, _ key: @autoclosure () -> String) {
    var text = text
    if text.withUTF8({ $0.contains(0) }) { note(key(), .nul(path: key())) }
  }

  // MARK: Noting

  mutating func note(_ key: String, _ problem: Diagnostic) {
    var problem = problem
    problem.key = key
    found.append(problem)
  }

  /// Checks the values for which the table of their object has a rule.
  mutating func checkKeys<Object: FormatObject>(of object: Object, in path: String = "") {
    for key in Object.format.ruledKeys {
      // Nearly all values are fine, so the path is only made for the others.
      guard let problem = key.problem, problem(object, "") != nil else { continue }
      let path = path.isEmpty ? "\(key.rule.name)" : "\(path).\(key.rule.name)"
      if let problem = problem(object, path) { note(path, problem) }
    }
  }

  mutating func checkNumber(
    _ key: @autoclosure () -> String, _ number: Int?, in range: ClosedRange<Int>
  ) {
    guard let number, !range.contains(number),
      let problem = ValueRule.problem(with: number, key(), in: range)
    else { return }
    note(key(), problem)
  }

  mutating func checkTime(_ key: String, _ time: Duration?, allowsZero: Bool = false) {
    guard let time, let problem = ValueRule.problem(with: time, key, allowsZero: allowsZero) else {
      return
    }
    note(key, problem)
  }

  private mutating func checkName(_ key: String, _ name: String) {
    if let problem = ValueRule.problem(withName: name) { note(key, problem) }
  }

  /// Reports names that occur twice, or that differ only in case where case is ignored.
  mutating func checkRepetitions<Name: Hashable>(
    _ key: String, _ names: [(name: Name, text: String)]
  ) {
    guard names.count > 1 else { return }
    var first: [Name: String] = [:]
    for (name, text) in names {
      guard let earlier = first.updateValue(text, forKey: name) else { continue }
      first[name] = earlier
      note(
        "\(key).\(text)",
        earlier == text ? .repeatedName(text, in: key) : .equalNames(text, first: earlier))
    }
  }
}

extension StepAction {
  /// Whether it may have values for which the table of a step's keys has a rule.
  fileprivate var hasCheckedKeys: Bool {
    switch self {
    case .run(let command): command.hasOptions
    case .group(let group): group.maxParallel != nil
    case .compute, .wait, .approve, .workflow, .use, .http: false
    }
  }
}

extension UnsafePointer<Step> {
  /// Whether ``BuiltValues`` must check the step: a plain command from a file was checked when it was read. Of a pointer,
  /// because it is asked for every step, and other modules would have to copy a step to ask it.
  package var mayHaveUnfitValues: Bool {
    if pointee.place.value == nil || pointee.timeout != nil || !pointee.outputs.isEmpty
      || pointee.hasControl
    {
      return true
    }
    guard case .run(let command) = pointee.action else { return true }
    // A workflow that is not read from a file does not read the script.
    if case .file = command.invocation { return true }
    return command.hasOptions
  }
}

extension Diagnostic {
  static func repeatedName(_ name: String, in list: String) -> Diagnostic {
    Diagnostic(
      .equalNames, "\(list) has the name \(quoted(name)) twice, expected each name once",
      help: "rename one of the two")
  }

  static func nul(path: String) -> Diagnostic {
    Diagnostic(
      .nul, "\(path) contains a NUL character, which cannot be passed to a program",
      help: "remove it, or let the program read it from a file")
  }
}
