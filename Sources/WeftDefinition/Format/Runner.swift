public import WeftDiagnostics
import WeftJSON

/// A place other than this machine where commands run, as `runners` declares it.
public struct Runner: Sendable, Hashable {
  /// The name of this machine, which needs no declaration.
  public static let local = "local"

  public var name: String
  public var kind: Kind

  /// The way to reach it.
  public enum Kind: Sendable, Hashable {
    /// Hosts that are reached by the user's own `ssh`.
    case ssh(SSHHosts)
    /// A cluster whose jobs are scheduled by Slurm.
    case slurm(SlurmCluster)
  }

  /// The cluster of the machine, which needs no declaration.
  package static let slurm = Runner("slurm", .slurm(SlurmCluster()))

  public init(_ name: String, _ kind: Kind) {
    self.name = name
    self.kind = kind
  }
}

/// Hosts among which commands are distributed: each gets the next command that has the fewest running.
public struct SSHHosts: Sendable, Hashable {
  /// The slots of a host whose declaration gives no number, and the commands that share a connection: an ssh server
  /// allows ten sessions of one (`MaxSessions`), of which the engine has one, and a command that sends input a second.
  public static let usualSlots = 8

  /// Names as `ssh` takes them: of hosts, of entries of its configuration, or `USER@HOST`. Never empty.
  public var names: [String]
  /// The commands that may run at once on each host; at least 1.
  public var slots: Int
  /// The absolute path of the directory where commands run, and to which their `cwd` is relative; `nil` for the path
  /// of the start directory on this machine.
  public var workingDirectory: String?
  /// Further arguments of `ssh`, before the name of the host.
  public var options: [String]

  public init(
    _ names: [String], slots: Int = usualSlots, workingDirectory: String? = nil,
    options: [String] = []
  ) {
    self.names = names
    self.slots = slots
    self.workingDirectory = workingDirectory
    self.options = options
  }
}

/// A cluster as its login nodes reach it, by `sbatch`, `squeue` and `scancel`, and what jobs request of it.
public struct SlurmCluster: Sendable, Hashable {
  /// The jobs that may be submitted at once, if the declaration gives no number.
  public static let usualSlots = 1_000

  /// The jobs that may be submitted at once, waiting ones included; at least 1.
  public var slots: Int
  /// The absolute path of the directory where commands run, and to which their `cwd` is relative; `nil` for the path
  /// of the start directory on this machine.
  public var workingDirectory: String?
  /// The values of the options of `sbatch` that have keys of their own.
  public var requests: [Request: String]
  /// Further arguments of `sbatch`.
  public var options: [String]

  /// An option of `sbatch`, by its name.
  public enum Request: String, Sendable, Hashable, CaseIterable {
    case partition, account, qos, constraint, reservation

    var key: StaticString {
      switch self {
      case .partition: "partition"
      case .account: "account"
      case .qos: "qos"
      case .constraint: "constraint"
      case .reservation: "reservation"
      }
    }
  }

  public init(
    slots: Int = usualSlots, workingDirectory: String? = nil, requests: [Request: String] = [:],
    options: [String] = []
  ) {
    self.slots = slots
    self.workingDirectory = workingDirectory
    self.requests = requests
    self.options = options
  }
}

extension Workflow {
  /// The runner with this name: one that the file declares, or the cluster of the machine.
  package func runner(named name: String) -> Runner? {
    runners.first { $0.name == name } ?? (name == Runner.slurm.name ? .slurm : nil)
  }

  /// The names that steps may give.
  package var runnerNames: [String] {
    let declared = runners.map(\.name)
    return declared + [Runner.slurm.name, Runner.local].filter { !declared.contains($0) }
  }
}

extension Runner {
  /// The name of the pool whose slots its commands take. No pool of a workflow has it: their names have no dots.
  package var pool: String { Runner.poolPrefix + name }

  /// The name of the runner whose pool has this name; `nil` if it is another pool.
  package static func name(ofPool pool: String) -> String? {
    pool.hasPrefix(poolPrefix) ? String(pool.dropFirst(poolPrefix.count)) : nil
  }

  private static let poolPrefix = "runners."

  /// Whether commands outlive the engine there, and a resumed run can tell how far they got.
  package var remembersCommands: Bool {
    switch kind {
    case .ssh: false
    case .slurm: true
    }
  }

  /// The commands that may run there at once.
  package var slots: Int {
    switch kind {
    case .ssh(let hosts): hosts.names.count * hosts.slots
    case .slurm(let cluster): cluster.slots
    }
  }
}

// MARK: The file format

struct RunnerDraft: FormatObject {
  enum Kind: String, CaseIterable {
    case ssh, slurm
  }

  var kind: Kind?
  var hosts: [String] = []
  var slots: Int?
  var workingDirectory: String?
  var options: [String] = []
  var requests: [SlurmCluster.Request: String] = [:]

  static let schema: StaticString = #"""
    {"if": {"properties": {"kind": {"const": "ssh"}}},
    "then": {"required": ["hosts"], "properties": {"partition": false, "account": false,
    "qos": false, "constraint": false, "reservation": false}},
    "else": {"properties": {"hosts": false}}}
    """#

  static let format = ObjectFormat<RunnerDraft>("a runner") {
    FormatKey(
      "kind", .word(of: Kind.self), "Kind", "The way to reach it.",
      schema: #"{"enumDescriptions": ["By the user's own ssh.", "Jobs of Slurm."]}"#,
      synonyms: "type",
      required: "{ \"kind\": \"ssh\", \"hosts\": [\"build1\"] }", at: \.kind)
    FormatKey(
      "hosts", ValueFormat { $0.hosts($1, $2) }, "Hosts",
      "Hosts as ssh takes them; commands are distributed among them.",
      schema: #"""
        {"type": "array", "minItems": 1, "items": {"type": "string",
        "pattern": "^[^-\\s\\u0000-\\u001f][^\\s\\u0000-\\u001f]*$"},
        "examples": [["build1", "me@build2"]]}
        """#, synonyms: "host servers machines nodes", at: \.hosts)
    FormatKey(
      "slots", .integer(ValueRule.slots), "Slots",
      "The commands that may run at once: on each host, by default 8; or as jobs of Slurm, by default 1000.",
      schema: #"{"examples": [8]}"#, synonyms: "maxParallel parallelism jobs"
    ) { $0.slots = $1 }
    FormatKey(
      "partition", .plainText("the name of a partition"), "Partition", "The partition of Slurm.",
      schema: #"{"examples": ["short"]}"#, synonyms: "queue", at: \.requests[.partition])
    FormatKey(
      "account", .plainText("the name of an account"), "Account", "The account that Slurm charges.",
      schema: #"{"examples": ["lab"]}"#, synonyms: "project", at: \.requests[.account])
    FormatKey(
      "qos", .plainText("the name of a quality of service"), "Quality of service",
      "The quality of service of Slurm.", schema: #"{"examples": ["normal"]}"#,
      synonyms: "quality", at: \.requests[.qos])
    FormatKey(
      "constraint", .plainText("features of nodes"), "Constraint",
      "The features that nodes must have, as sbatch takes them.",
      schema: #"{"examples": ["avx512"]}"#, synonyms: "constraints features",
      at: \.requests[.constraint])
    FormatKey(
      "reservation", .plainText("the name of a reservation"), "Reservation",
      "The reservation of Slurm.", schema: #"{"examples": ["course"]}"#, synonyms: "reserved",
      at: \.requests[.reservation])
    FormatKey(
      "cwd", ValueFormat { $0.directoryOfHost($1, $2) }, "Directory on the host",
      """
      The absolute path of the directory where commands run, to which their cwd is relative. \
      Default: the path of the start directory on this machine.
      """,
      schema: #"{"type": "string", "pattern": "^/[^\\u0000]*$", "examples": ["/srv/build"]}"#,
      synonyms: "directory dir workdir workingDirectory", at: \.workingDirectory)
    FormatKey(
      "options", ValueFormat { $0.runnerOptions($1, $2) }, "Options of ssh or sbatch",
      "Further arguments of ssh or sbatch.",
      schema: #"{"type": "array", "items": "@literalText", "examples": [["-p", "2222"]]}"#,
      synonyms: "args arguments extra sshOptions flags", at: \.options)
  }

  /// `nil` if a key is missing, which was reported.
  func runner(_ name: JSONNode) -> Runner? {
    guard let text = name.stringValue, let kind = kind(text) else { return nil }
    return Runner(text, kind)
  }

  private func kind(_ name: String) -> Runner.Kind? {
    switch kind {
    case nil: return nil
    case .ssh:
      guard !hosts.isEmpty else { return nil }
      return .ssh(
        SSHHosts(
          hosts, slots: slots ?? SSHHosts.usualSlots, workingDirectory: workingDirectory,
          options: options))
    case .slurm:
      return .slurm(
        SlurmCluster(
          slots: slots ?? SlurmCluster.usualSlots, workingDirectory: workingDirectory,
          requests: requests, options: options))
    }
  }

  /// The keys that only one kind has.
  fileprivate static func keys(of kind: Kind) -> [String] {
    switch kind {
    case .ssh: ["hosts"]
    case .slurm: SlurmCluster.Request.allCases.map(\.rawValue)
    }
  }
}

extension DecodingPass {
  mutating func runners(_ node: JSONNode, _ field: Field) -> [Runner]? {
    let help = "write { \"far\": { \"kind\": \"ssh\", \"hosts\": [\"build1\"] } }"
    guard isObject(node, field, wanted: "an object of names and runners", help: help) else {
      return nil
    }
    var runners: [Runner] = []
    for member in node.members {
      guard let name = declaredName(member.key) else { continue }
      let field = field.member(member.key)
      if name == Runner.local {
        report(.runnerNamedLocal, at: member.key)
        continue
      }
      let known = diagnostics.count
      guard
        let draft = object(
          member.value, field, from: RunnerDraft(), wanted: "an object with \"kind\"")
      else { continue }
      // A key that was misspelled is not also missing.
      if diagnostics.count == known { check(draft.kind, of: member.value, field) }
      guard let runner = draft.runner(member.key), !runners.contains(where: { $0.name == name })
      else { continue }
      runners.append(runner)
    }
    return runners
  }

  /// Reports keys of another kind, and missing ones.
  private mutating func check(_ kind: RunnerDraft.Kind?, of node: JSONNode, _ field: Field) {
    guard let kind else { return }
    for other in RunnerDraft.Kind.allCases where other != kind {
      for key in RunnerDraft.keys(of: other) {
        guard let member = member(key, of: node) else { continue }
        report(.runnerKey(key, onlyFor: other, of: kind), at: member.key)
      }
    }
    if kind == .ssh, member("hosts", of: node) == nil {
      report(.missingKey(path: path(field), key: "hosts", example: Self.runnerExample), at: node)
    }
  }

  private static var runnerExample: StaticString {
    "{ \"kind\": \"ssh\", \"hosts\": [\"build1\"] }"
  }

  /// The name of a runner, as `runner` gives it.
  mutating func runnerName(_ node: JSONNode, _ field: Field) -> RunnerName? {
    guard let name = filledText(node, field, wanted: "the name of a runner"),
      declaredName(node) != nil
    else { return nil }
    return RunnerName(name, place: node.range)
  }

  fileprivate mutating func hosts(_ node: JSONNode, _ field: Field) -> [String]? {
    elements(
      of: node, field, wanted: "an array of hosts",
      help: node.stringValue.map { "write [\(quoted($0))]" } ?? "write [\"build1\"]",
      atLeast: "at least one host"
    ) { pass, node, field in
      guard let name = pass.filledText(node, field, wanted: "the name of a host") else {
        return nil
      }
      if let problem = ValueRule.problem(withHost: name) {
        pass.report(problem, at: node)
        return nil
      }
      return name
    }
  }

  fileprivate mutating func runnerOptions(_ node: JSONNode, _ field: Field) -> [String]? {
    elements(of: node, field, wanted: "an array of arguments", help: "write [\"-p\", \"2222\"]") {
      $0.filledText($1, $2, wanted: "an argument")
    }
  }

  fileprivate mutating func directoryOfHost(_ node: JSONNode, _ field: Field) -> String? {
    guard let path = filledText(node, field, wanted: "the absolute path of a directory") else {
      return nil
    }
    if path.hasPrefix("/") { return path }
    report(.directoryOfHost(path), at: node)
    return nil
  }
}

/// The runner that a workflow, a group or a step names.
public struct RunnerName: Sendable, Hashable, ExpressibleByStringLiteral {
  public var name: String
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  public init(_ name: String, place: SourceRange? = nil) {
    self.name = name
    self.place = Written(place)
  }

  public init(stringLiteral name: String) { self.init(name) }
}

extension Runner {
  var json: JSONValue {
    PrintedObject(of: RunnerDraft.self) { object in
      switch kind {
      case .ssh(let hosts):
        object["kind"] = .string(RunnerDraft.Kind.ssh.rawValue)
        object["hosts"] = .texts(hosts.names)
        object["slots"] = hosts.slots == SSHHosts.usualSlots ? nil : .int(hosts.slots)
        object["cwd"] = .text(hosts.workingDirectory)
        object["options"] = hosts.options.isEmpty ? nil : .texts(hosts.options)
      case .slurm(let cluster):
        object["kind"] = .string(RunnerDraft.Kind.slurm.rawValue)
        object["slots"] = cluster.slots == SlurmCluster.usualSlots ? nil : .int(cluster.slots)
        for request in SlurmCluster.Request.allCases {
          object[request.key] = .text(cluster.requests[request])
        }
        object["cwd"] = .text(cluster.workingDirectory)
        object["options"] = cluster.options.isEmpty ? nil : .texts(cluster.options)
      }
    }.json
  }
}

extension ValueRule {
  /// The problem with the name of a host: `ssh` would take it as an option, or the server's shell as several words.
  static func problem(withHost name: String) -> Diagnostic? {
    let isPlain = name.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x1f }
    return !name.isEmpty && isPlain && !name.hasPrefix("-") ? nil : .invalidHost(name)
  }
}

extension Diagnostic {
  static var runnerNamedLocal: Diagnostic {
    Diagnostic(
      .invalidID, "the runner \"local\" is this machine, and cannot be declared",
      help: "give it another name")
  }

  fileprivate static func runnerKey(
    _ key: String, onlyFor kind: RunnerDraft.Kind, of other: RunnerDraft.Kind
  ) -> Diagnostic {
    Diagnostic(
      .misplacedKey,
      "\"\(key)\" is only for runners of kind \"\(kind.rawValue)\", and this one is of kind "
        + "\"\(other.rawValue)\"",
      help: "remove it")
  }

  static func invalidHost(_ name: String) -> Diagnostic {
    Diagnostic(
      .invalidHost, "\(quoted(name)) is no name of a host",
      help: "write a name without spaces that does not begin with \"-\"; options of ssh are in "
        + "\"options\"")
  }

  static func directoryOfHost(_ path: String) -> Diagnostic {
    Diagnostic(
      .relativePath, "the directory \(quoted(path)) of a runner is not absolute",
      help: "begin it with \"/\": there is no other directory to start from on a host")
  }
}
