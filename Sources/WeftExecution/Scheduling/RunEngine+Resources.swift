import WeftDefinition
import WeftEvents
import WeftPlanning

/// The resources that attempts of commands request: each counts as slots of a pool as large as the machine. A runner is a
/// pool of its own.
extension RunEngine {
  /// The slots of pools that the event of a step which is queued announces. A request that cannot be met is left out:
  /// the step fails only if it is to run, and is not restored from the cache.
  func announcedNeeds(of task: StepTask) -> [PoolRequest] {
    guard task.step.hasResources || plan.mayUseRunners else { return task.step.pools }
    return (try? requestResources(for: task)) ?? task.step.pools
  }

  /// Requests what the next attempt of a step needs of resources.
  ///
  /// - Returns: All slots of pools that it takes.
  /// - Throws: The reason why the attempt can never start.
  func requestResources(for task: StepTask) throws(StepFailure) -> [PoolRequest] {
    var needs = task.step.pools
    do throws(StepFailure) {
      needs += try resourceRequests(for: task)
    } catch {
      guard let rehearsal else { throw error }
      // Nothing runs, so values of other steps may be missing.
      if error.classes.contains(.limit) {
        rehearsal.fails(task.address, error)
        throw error
      }
    }
    slots.setDemand(needs, of: task.instanceNumber)
    return needs
  }

  private func resourceRequests(for task: StepTask) throws(StepFailure) -> [PoolRequest] {
    // What another machine has is not counted here.
    if let runner = plan.runner(of: task.step) { return [PoolRequest(runner.pool)] }
    guard task.step.hasResources else { return [] }
    let resources = try StepResolver(values, in: task.instance)
      .resources(ofStep: task.index, attempt: task.attempt)
    guard let resources, let capacity else { return [] }
    if let excess = resources.excess(over: capacity) { throw .tooLarge(excess) }
    return CountedResource.allCases.compactMap { resource in
      resources.amount(of: resource).map { PoolRequest(resource.pool, slots: $0) }
    }
  }
}

extension StepFailure {
  /// - Parameter excess: A clause.
  fileprivate static func tooLarge(_ excess: String) -> StepFailure {
    StepFailure(
      classes: [.limit], message: "did not start: \(excess)",
      help: "request less in \"resources\", or run it on a larger machine; limits of the control "
        + "groups around weft count, too")
  }
}
