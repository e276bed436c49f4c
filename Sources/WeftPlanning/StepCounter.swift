import WeftDefinition

/// Counts the steps of a workflow and of the files that it runs, visiting each file once, however often it is run.
///
/// If files run each other several times, the number of steps grows exponentially with their depth: too many to be
/// written out only to be rejected.
struct StepCounter {
  /// The counts by the storage of the steps, which all copies of a file share.
  private var known: [UnsafeRawPointer: Int] = [:]
  private var depth = 0

  /// The maximum depth of files that are counted: deeper ones are rejected elsewhere.
  private static let deepest = 100

  /// - Returns: At most `Int32.max`. The steps of groups are counted, groups are not.
  mutating func steps(in workflow: Workflow) -> Int {
    guard depth < Self.deepest else { return 0 }
    depth += 1
    defer { depth -= 1 }
    return sum(of: workflow.body.members) + sum(of: workflow.finally)
  }

  private mutating func sum(of steps: [Step]) -> Int {
    guard !steps.isEmpty else { return 0 }
    let storage = steps.withUnsafeBytes { UnsafeRawPointer($0.baseAddress!) }
    if let sum = known[storage] { return sum }
    var sum = 0
    // In a workflow built in Swift, groups may be nested without limit.
    var open = [steps]
    while let list = open.popLast() {
      for step in list {
        switch step.action {
        case .group(let group): open.append(group.members)
        case .workflow(let nested): sum += nested.workflow.map { self.steps(in: $0) } ?? 1
        case .run, .use, .http, .compute, .wait, .approve: sum += 1
        }
        if step.hasControl { open.append(step.control.cleanup) }
        if sum >= Int(Int32.max) { break }
      }
    }
    sum = min(sum, Int(Int32.max))
    known[storage] = sum
    return sum
  }
}
