public import WeftDiagnostics
import WeftJSON

/// A place other than this machine where commands run, as `runners` declares it.
public struct Runner: Sendable, Hashable {
  /// The name of this machine, which needs no declaration.
  public static let local = "local"

  public var name: String
  public var kind: Kind
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  /// The way to reach it.
  public enum Kind: Sendable, Hashable {
    /// Hosts that are reached by the user's own `ssh`.
    case ssh(SSHHosts)
  }

  public init(_ name: String, _ kind: Kind, place: SourceRange? = nil) {
    self.name = name
    self.kind = kind
    self.place = Written(place)
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

extension Runner {
  /// The name of the pool whose slots its commands take. No pool of a workflow has it: their names have no dots.
  package var pool: String { Runner.poolPrefix + name }

  /// The name of the runner whose pool has this name; `nil` if it is another pool.
  package static func name(ofPool pool: String) -> String? {
    pool.hasPrefix(poolPrefix) ? String(pool.dropFirst(poolPrefix.count)) : nil
  }

  private static let poolPrefix = "runners."

  /// The commands that may run there at once.
  package var slots: Int {
    switch kind {
    case .ssh(let hosts): hosts.names.count * hosts.slots
    }
  }
}

// MARK: The file format

struct RunnerDraft: FormatObject {
  enum Kind: String, CaseIterable {
    case ssh
  }

  var kind: Kind?
  var hosts: [String] = []
  var slots: Int?
  var workingDirectory: String?
  var options: [String] = []

  static let format = ObjectFormat<RunnerDraft>("a runner") {
    FormatKey(
      "kind", .word(of: Kind.self), "Kind", "The way to reach it.",
      schema: #"{"enumDescriptions": ["By the user's own ssh."]}"#, synonyms: "type",
      required: "{ \"kind\": \"ssh\", \"hosts\": [\"build1\"] }"
    ) { $0.kind = $1 }
    FormatKey(
      "hosts", ValueFormat { $0.hosts($1, $2) }, "Hosts",
      "Hosts as ssh takes them; commands are distributed among them.",
      schema: #"""
        {"type": "array", "minItems": 1, "items": {"type": "string",
        "pattern": "^[^-\\s\\u0000-\\u001f][^\\s\\u0000-\\u001f]*$"},
        "examples": [["build1", "me@build2"]]}
        """#, synonyms: "host servers machines nodes",
      required: "{ \"kind\": \"ssh\", \"hosts\": [\"build1\"] }"
    ) { $0.hosts = $1 }
    FormatKey(
      "slots", .integer(ValueRule.slots), "Slots of each host",
      "The commands that may run at once on each host. Default: 8.",
      schema: #"{"default": 8}"#, synonyms: "maxParallel parallelism jobs"
    ) { $0.slots = $1 }
    FormatKey(
      "cwd", ValueFormat { $0.directoryOfHost($1, $2) }, "Directory on the host",
      """
      The absolute path of the directory where commands run, to which their cwd is relative. \
      Default: the path of the start directory on this machine.
      """,
      schema: #"{"type": "string", "pattern": "^/[^\\u0000]*$", "examples": ["/srv/build"]}"#,
      synonyms: "directory dir workdir workingDirectory"
    ) { $0.workingDirectory = $1 }
    FormatKey(
      "options", ValueFormat { $0.sshOptions($1, $2) }, "Options of ssh",
      "Further arguments of ssh.",
      schema: #"{"type": "array", "items": {"type": "string"}, "examples": [["-p", "2222"]]}"#,
      synonyms: "args arguments sshOptions flags"
    ) { $0.options = $1 }
  }

  /// `nil` if a key is missing, which was reported.
  func runner(_ name: JSONNode) -> Runner? {
    guard let text = name.stringValue, kind != nil, !hosts.isEmpty else { return nil }
    return Runner(
      text,
      .ssh(
        SSHHosts(
          hosts, slots: slots ?? SSHHosts.usualSlots, workingDirectory: workingDirectory,
          options: options)), place: name.range)
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
      guard isObject(member.value, field, wanted: "an object with \"kind\" and \"hosts\"") else {
        continue
      }
      var draft = RunnerDraft()
      read(member.value, field, into: &draft)
      guard let runner = draft.runner(member.key), !runners.contains(where: { $0.name == name })
      else { continue }
      runners.append(runner)
    }
    return runners
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

  fileprivate mutating func sshOptions(_ node: JSONNode, _ field: Field) -> [String]? {
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
