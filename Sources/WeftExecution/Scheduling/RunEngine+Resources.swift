import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftPlatform

/// The resources that attempts of commands request: each counts as slots of a pool as large as the machine.
extension RunEngine {
  /// Requests what the next attempt of a step needs of resources.
  ///
  /// - Parameter needs: The slots of pools that the step takes; those of resources are added.
  /// - Returns: The reason why the attempt can never start.
  func requestResources(for task: StepTask, _ needs: inout [PoolRequest]) -> StepFailure? {
    guard task.step.hasResources else { return nil }
    let resources: Command.Resources?
    do throws(StepFailure) {
      resources = try StepResolver(values, in: task.instance)
        .resources(ofStep: task.index, attempt: task.attempt)
    } catch {
      // Nothing runs, so values of other steps may be missing.
      return rehearsal == nil ? error : nil
    }
    let requests = resources?.requests ?? []
    for request in requests {
      guard let resource = CountedResource(pool: request.pool) else { continue }
      let present = resource.amount(in: capacity)
      if request.slots > present {
        return rehearsal == nil ? .tooLarge(request.slots, of: resource, present) : nil
      }
    }
    needs += requests
    slots.setDemand(needs, of: task.instanceNumber)
    return nil
  }
}

extension StepFailure {
  fileprivate static func tooLarge(
    _ amount: Int, of resource: CountedResource, _ present: Int
  ) -> StepFailure {
    let noun = resource == .memory ? " of memory" : ""
    return StepFailure(
      classes: [.limit],
      message: "did not start: it needs \(resource.text(of: amount))\(noun), and there "
        + "\(resource == .cpus && present != 1 ? "are" : "is") only \(resource.text(of: present))",
      help: "request less in \"resources\", or run it on a larger machine; limits of the control "
        + "groups around weft count, too")
  }
}
