import WeftDefinition
import WeftPlatform
import WeftTestKit

/// Lets commands of a random workflow request processors and memory of a small machine: amounts that are written, or
/// that depend on the outcomes of other steps. A few requests never fit.
struct ResourceAdder: WorkflowAdder {
  static let salt: UInt64 = 0x3E50
  static let densities = [0, 0, 20, 60]

  var random: SeededGenerator
  var made: RandomWorkflow
  let density: Int

  mutating func prepare() {
    made.machine = RandomMachine(cpus: number(1..<5), mebibytes: number(2..<9))
  }

  mutating func added(to step: Step) -> Step {
    guard let id = step.id?.text else { return step }
    var step = step
    switch step.action {
    case .group(var group):
      group.members = added(to: group.members)
      step.action = .group(group)
    case .run(var command):
      guard chance() else { break }
      let kind = number(0..<3)
      let requests = RandomRequests(
        cpus: kind < 2 ? amount(upTo: made.machine!.cpus, id) : nil,
        mebibytes: kind > 0 ? amount(upTo: made.machine!.mebibytes, id) : nil)
      made.requests[id] = requests
      command.resources = requests.resources
      step.action = .run(command)
    case .compute, .wait, .approve, .workflow, .use, .http: break
    }
    return step
  }

  private mutating func amount(upTo most: Int, _ id: String) -> RandomAmount {
    let amount = RandomAmount(number(1..<most + 1))
    guard number(0..<3) == 0, let source = made.visible[id]?.randomElement(using: &random) else {
      return number(0..<16) == 0 ? RandomAmount(most + number(1..<3)) : amount
    }
    made.readings[id, default: []].insert(source)
    let otherwise = number(0..<8) == 0 ? most + 1 : number(1..<most + 1)
    return RandomAmount(amount.ifSucceeded, source: source, otherwise: otherwise)
  }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
}

/// The machine that a random workflow has for itself.
struct RandomMachine: Hashable {
  let cpus: Int
  let mebibytes: Int

  static let mebibyte = 1 << 20

  var capacity: MachineCapacity {
    MachineCapacity(processors: cpus, memory: mebibytes * RandomMachine.mebibyte)
  }

  /// The resources as the pools that they are for the engine.
  var pools: [Pool] {
    [
      Pool(CountedResource.cpus.pool, slots: cpus),
      Pool(CountedResource.memory.pool, slots: mebibytes * RandomMachine.mebibyte),
    ]
  }
}

/// A number that may depend on how another step ended.
struct RandomAmount: Hashable {
  /// The step; `nil` if the number is written.
  var source: String?
  var ifSucceeded: Int
  var otherwise: Int

  init(_ amount: Int, source: String? = nil, otherwise: Int? = nil) {
    (self.source, ifSucceeded, self.otherwise) = (source, amount, otherwise ?? amount)
  }

  /// - Parameter text: The text of an amount in an expression.
  func expression(_ text: (Int) -> String) -> Condition? {
    source.map {
      let (one, other) = (text(ifSucceeded), text(otherwise))
      return Condition("${{ steps.\($0).outcome == 'success' && \(one) || \(other) }}")
    }
  }
}

/// The processors and the memory that an attempt requests.
struct RandomRequests: Hashable {
  var cpus: RandomAmount?
  var mebibytes: RandomAmount?

  var resources: Command.Resources {
    var resources = Command.Resources(
      cpus: cpus?.ifSucceeded,
      memory: mebibytes.map { ByteCount($0.ifSucceeded * RandomMachine.mebibyte) })
    if let text = cpus?.expression({ "\($0)" }) {
      resources.$cpus = .computed(text, until: nil)
    }
    if let text = mebibytes?.expression({ "'\($0)MiB'" }) {
      resources.$memory = .computed(text, until: nil)
    }
    return resources
  }
}
