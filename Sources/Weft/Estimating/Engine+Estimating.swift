import WeftCaching
public import WeftDefinition
import WeftEvents
import WeftExecution
public import WeftJSON
import WeftPlanning
import WeftPlatform
public import WeftRecord

extension Engine {
  /// Predicts how long a run takes, from the durations that earlier runs in a store have recorded. Starts and writes
  /// nothing.
  ///
  /// Blocks while the journals of the last ten runs are read and a few dozen runs are rehearsed in virtual time: for
  /// 10,000 steps, some seconds. Of a store other than ``FileRunStore``, only durations are used, not journals: there
  /// is no range, and conditions and loops that depend on results of steps are guessed.
  ///
  /// - Parameters:
  ///   - inputs: As for a run. An input that is not given and has no default has the
  ///     value that it had in the latest run.
  ///   - parallel: The numbers of steps at once to predict for; empty for that of the engine's options.
  ///   - faster: The factors by which steps, or all steps in a group, are faster than they were. Greater than zero.
  public func estimate(
    _ workflow: Workflow, inputs: [String: JSONValue] = [:], arguments: [String] = [],
    parallel: [Int] = [], faster: [String: Double] = [:], from store: any RunStore
  ) throws(EstimateError) -> Estimate {
    let (plan, values): (Plan, InputValues)
    do throws(WorkflowError) {
      plan = try self.plan(workflow)
      values = try self.values(
        of: inputs, arguments: arguments, for: workflow, allowsMissing: true)
    } catch {
      throw .workflow(error)
    }
    return try estimate(plan, values, parallel: parallel, faster: faster, from: store)
  }

  /// Predicts how long a run of a plan takes.
  ///
  /// - Parameters:
  ///   - given: Inputs without a value and without a default may be missing.
  ///   - inputSource: The source of the inputs, for messages.
  package func estimate(
    _ plan: Plan, _ given: InputValues, _ inputSource: InputBinding.InputSource = .program,
    parallel: [Int], faster: [String: Double], from store: any RunStore
  ) throws(EstimateError) -> Estimate {
    do throws(WorkflowError) {
      try checkOptions()
      for maxParallel in parallel { try checkOptions(maxParallel: maxParallel) }
    } catch {
      throw .workflow(error)
    }
    let key = WorkflowKey(plan)
    let state = (store as? FileRunStore).flatMap {
      try? StateDirectory($0.directory, makes: false)
    }
    let samples =
      key.flatMap { key in state.map { RunSample.all(of: key, plan.workflow, in: $0) } } ?? []
    var (inputs, adopted) = try complete(given, inputSource, for: plan.workflow, from: samples)
    do throws(WorkflowError) {
      inputs.state = try presentState(of: plan.workflow, key, in: store)
    } catch {
      throw .workflow(error)
    }
    var ready = try bound(plan, inputs)
    let speeds = try speeds(faster, in: ready)
    let excluded = try excludedSteps(of: ready)
    let history = key.map { store.history(of: $0) } ?? DurationHistory()
    let addresses = PlanAddresses(ready)
    let settled = samples.map { $0.settled(in: ready) }
    let durations = StepDurations(ready, addresses, settled, history)
    guard durations.measuredCount > 0 || !ready.steps.contains(where: \.canBeMeasured) else {
      throw .noDurations
    }
    // As a run would order them.
    ready = ready.excluding(excluded).expecting(history)
    ready.forecast.cached = cachedSteps(of: plan, inputs, excluded, store)
    var basis = Estimate.Basis()
    basis.inputs = adopted
    basis.changed = changes(to: plan, since: samples.first, in: state)
    let estimator = Estimator(
      plan: ready, addresses: addresses, samples: settled, durations: durations,
      configuration: configuration(for: ready, inputs, excluded), speeds: speeds)
    let earlier = EarlierRuns(samples, ready, addresses, inputs, excluded)
    let wanted = parallel.isEmpty ? [options.maxParallel] : parallel.map(Optional.some)
    return try estimator.estimate(wanted, basis) { earlier.latest(with: $0) }
  }

  /// Adds inputs that a run would need, as they were in the latest run.
  private func complete(
    _ given: InputValues, _ inputSource: InputBinding.InputSource, for workflow: Workflow,
    from samples: [RunSample]
  ) throws(EstimateError) -> (InputValues, adopted: [String]) {
    var entries = given.entries
    var adopted: [String] = []
    var missing: [InputDeclaration] = []
    for declaration in workflow.inputs
    where declaration.isRequired && given.entry(named: declaration.name.text) == nil {
      let recorded = samples.first?.opening?.inputs.first { $0.name == declaration.name.text }
      guard let value = recorded?.value, declaration.schema.faults(of: value).isEmpty else {
        missing.append(declaration)
        continue
      }
      entries.append(InputValues.Entry(declaration.name, value))
      adopted.append(declaration.name.text)
    }
    guard missing.isEmpty else {
      do throws(InputsError) {
        _ = try InputBinding.bind(missing, [], inputSource: inputSource)
      } catch {
        throw .workflow(WorkflowError(error))
      }
      preconditionFailure("a missing input is not reported: \(missing[0].name.text)")
    }
    return (InputValues(entries, arguments: given.arguments), adopted)
  }

  private func configuration(
    for plan: Plan, _ inputs: InputValues, _ excluded: [Int]
  ) -> EngineConfiguration {
    var configuration = EngineConfiguration()
    configuration.inputs = inputs
    configuration.selection = Selection(excluding: excluded, of: plan)
    configuration.onFailure = options.onFailure
    configuration.timeout = options.timeout
    configuration.retryBudgetPercent = options.retryBudgetPercent
    configuration.startDirectory = options.startDirectory
    configuration.environment = options.environmentBlock
    configuration.actions = actions
    return configuration
  }

  private func bound(
    _ plan: Plan, _ inputs: InputValues
  ) throws(EstimateError) -> Plan {
    let (bound, problems) = plan.bound(to: inputs, run: RunID.make(at: WallClock.now))
    guard problems.isEmpty else { throw .workflow(WorkflowError(diagnostics: problems)) }
    return bound
  }

  private func excludedSteps(of plan: Plan) throws(EstimateError) -> [Int] {
    do { return try plan.stepsSkipped(by: options.choice) } catch {
      throw EstimateError(error)
    }
  }

  /// The factor of each step.
  private func speeds(
    _ faster: [String: Double], in plan: Plan
  ) throws(EstimateError) -> [Double] {
    var speeds = [Double](repeating: 1, count: plan.steps.count)
    for (name, factor) in faster.sorted(by: { $0.key < $1.key }) {
      precondition(factor > 0, "a step cannot be \(factor) times as fast")
      let named: [Int]
      do { named = try plan.steps(named: name) } catch {
        throw EstimateError(error)
      }
      for step in named { speeds[step] *= factor }
    }
    return speeds
  }

  /// The forecasts for cached steps, as far as they are known.
  private func cachedSteps(
    of plan: Plan, _ inputs: InputValues, _ excluded: [Int], _ store: any RunStore
  ) -> [Plan.NodeIndex: CacheForecast] {
    guard commands == nil, options.readsCache, let path = options.cacheDirectory,
      plan.steps.contains(where: \.isCached)
    else { return [:] }
    let directory = (store as? FileRunStore)?.directory
    let own = directory.map { StepCache.path(in: $0) == path } == true ? directory! : path
    let preview = plan.bound(to: inputs, run: nil).plan.excluding(excluded)
    let forecaster = try? CacheForecaster(
      preview, inputs, StepCache.existing(path), stateDirectory: own,
      startDirectory: options.startDirectory)
    return forecaster?.forecasts ?? [:]
  }

  /// The steps that have changed since a run.
  private func changes(
    to plan: Plan, since sample: RunSample?, in state: StateDirectory?
  ) -> [StepAddress] {
    guard let sample, let state, let opening = sample.opening,
      let source = plan.workflow.source.value,
      opening.hash != RecordedFile.hash(of: source.bytes)
    else { return [] }
    let recorded = RecordedPlan(sample.run, opening, in: state)
    return (recorded.definition ?? recorded.plan).map {
      PlanDifference(from: $0, to: plan).changed
    } ?? []
  }
}

/// The earlier runs beside which predictions can be judged.
private struct EarlierRuns {
  private let samples: [RunSample]
  private let plan: Plan
  private let inputs: InputValues
  private let addresses: PlanAddresses

  init(
    _ samples: [RunSample], _ plan: Plan, _ addresses: PlanAddresses, _ inputs: InputValues,
    _ excluded: [Int]
  ) {
    (self.plan, self.addresses, self.inputs) = (plan, addresses, inputs)
    let isCached = !plan.foreseenRestorals.isEmpty
    let left = Set(excluded.map { plan.steps[$0].address })
    // A run in which steps are restored cannot be compared with one in which all ran.
    self.samples = samples.filter {
      !isCached && $0.isWhole && Set($0.opening?.excluded ?? []) == left
    }
  }

  /// - Parameter maxParallel: `nil` for any.
  func latest(with maxParallel: Int?) -> (maxParallel: Int, Estimate.EarlierRun)? {
    let found = samples.first {
      $0.maxParallel != nil && (maxParallel == nil || $0.maxParallel == maxParallel)
    }
    guard let sample = found, let parallel = sample.maxParallel, let end = sample.end,
      let opening = sample.opening
    else { return nil }
    let earlier = Estimate.EarlierRun(
      run: sample.run, duration: end.duration, unforeseeable: unforeseeable(in: sample),
      hasOtherInputs: opening.inputs.contains { input in
        guard let own = inputs.entry(named: input.name) else { return true }
        return !own.isSecret && own.value != input.value
      },
      hasOtherFile: opening.hash
        != plan.workflow.source.value.map {
          RecordedFile.hash(of: $0.bytes)
        })
    return (parallel, earlier)
  }

  private func unforeseeable(in sample: RunSample) -> Duration {
    sample.ends.reduce(.zero) { sum, end in
      guard let step = addresses.step(at: end.key).map({ plan.steps[$0] }),
        step.action.forecast == .unforeseeable || step.command?.usesTerminal == true
      else { return sum }
      return sum + end.value.end.duration
    }
  }
}
