import WeftDiagnostics
import WeftJSON

extension Command {
  /// The resources that one attempt of a command needs.
  ///
  /// Processors and memory are counted: attempts that run at the same time never request more of them than there is.
  /// Nothing is enforced. A `nil` property requests nothing.
  public struct Resources: Sendable, Hashable {
    /// Whole processors; at least 1.
    @Computable public var cpus: Int?
    @Computable public var memory: ByteCount?
    /// Without effect on this machine.
    @Computable public var gpus: Int?
    /// The longest time it may take. Without effect on this machine: `timeout` is the limit.
    @Computable public var time: Duration?

    public init(
      cpus: Int? = nil, memory: ByteCount? = nil, gpus: Int? = nil, time: Duration? = nil
    ) {
      self.cpus = cpus
      self.memory = memory
      self.gpus = gpus
      self.time = time
    }
  }

  /// The resources that one attempt needs; `nil` if nothing is requested.
  public var resources: Resources? {
    get { hasOptions ? options.resources : nil }
    set { options.resources = newValue }
  }
}

/// The resources that are counted on this machine, as if there were a pool of each.
package enum CountedResource: String, CaseIterable, Sendable {
  case cpus
  case memory

  /// The noun for messages.
  package var noun: String {
    switch self {
    case .cpus: "processors"
    case .memory: "memory"
    }
  }

  /// The name of its pool. No pool of a workflow has it: their names have no dots.
  package var pool: String { "resources.\(rawValue)" }

  /// The pool of a name in messages, where resources and runners are pools too.
  package static func noun(ofPool name: String) -> String {
    if let runner = Runner.name(ofPool: name) { return "runner \(quoted(runner))" }
    return CountedResource(pool: name)?.noun ?? "pool \(quoted(name))"
  }

  package init?(pool: String) {
    guard let found = CountedResource.allCases.first(where: { $0.pool == pool }) else { return nil }
    self = found
  }

  /// An amount of it, such as `3 processors` or `2GiB`.
  package func text(of amount: Int) -> String {
    switch self {
    case .cpus: "\(amount) processor\(amount == 1 ? "" : "s")"
    case .memory: ByteCount(amount).description
    }
  }
}

extension Command.Resources {
  /// Processors, or bytes; `nil` if none are requested.
  package func amount(of resource: CountedResource) -> Int? {
    switch resource {
    case .cpus: cpus
    case .memory: memory?.bytes
    }
  }

  /// A few words for the plan.
  var remark: String? {
    let parts = [
      cpus.map { CountedResource.cpus.text(of: $0) }, memory?.description,
      gpus.map { "\($0) GPU\($0 == 1 ? "" : "s")" },
      time.map { "at most \(DurationText.text(of: $0))" },
    ].compactMap(\.self)
    return parts.isEmpty ? nil : "needs " + parts.joined(separator: ", ")
  }

  func write(to writer: inout JSONWriter) {
    writer.object("resources") {
      $0.member("cpus", cpus)
      $0.member("memory", memory?.description)
      $0.member("gpus", gpus)
      $0.member("time", time.map { DurationText.text(of: $0) })
    }
  }
}

// MARK: The file format

extension Command.Resources: FormatObject {
  static let schema: StaticString = #"{"minProperties": 1}"#

  static let format = ObjectFormat<Command.Resources>("\"resources\"") {
    FormatKey(
      "cpus", .integer(as: .cpus), "Processors", "Whole processors.",
      schema: #"{"examples": [4]}"#, synonyms: "cpu cores core threads ncpus",
      at: \.$cpus)
    FormatKey(
      "memory", .size(as: .memory), "Memory", "The most memory that it uses at any time.",
      schema: #"{"examples": ["2GiB", "${{ case(run.attempt > 1, '8GiB', '2GiB') }}"]}"#,
      synonyms: "mem ram mem_mb mem_gb", at: \.$memory)
    FormatKey(
      "gpus", .integer(as: .gpus), "GPUs",
      "GPUs of a cluster; on this machine it has no effect.",
      schema: #"{"examples": [1]}"#, synonyms: "gpu gres", at: \.$gpus)
    FormatKey(
      "time", .duration(as: .resourceTime), "Time",
      """
      The longest time that it takes on a cluster, which ends it then. On this machine it has no effect; timeout limits \
      a step.
      """,
      schema: #"{"examples": ["2h"]}"#, synonyms: "walltime runtime timeout duration",
      at: \.$time)
  }
}

extension DecodingPass {
  mutating func resources(_ node: JSONNode, _ field: Field) -> Command.Resources? {
    let help = "write { \"cpus\": 4, \"memory\": \"2GiB\" }"
    let resources = object(
      node, field, from: Command.Resources(), wanted: "an object with \"cpus\" or \"memory\"",
      help: help)
    if resources != nil, node.members.isEmpty {
      report(.empty(path: path(field), wanted: "\"cpus\" or \"memory\""), at: node)
    }
    return resources
  }
}
