public import WeftDiagnostics
import WeftJSON
import WeftShell

/// Settings of a workflow, a group or a step for the commands inside it; the inner setting wins.
public struct CommandSettings: Sendable, Hashable {
  /// Merged by name with the outer layers; `nil` removes a variable.
  public var environment: [String: String?]
  /// Files of variables, which are read when a run starts: the last wins, and ``environment`` over all of them.
  /// Expressions do not read them as `env`.
  public var environmentFiles: [EnvironmentFile]
  /// Relative to the start directory, not to an outer setting.
  public var workingDirectory: String?
  public var shell: Shell?
  /// The part of the engine's own environment that they get.
  public var environmentPolicy: EnvironmentPolicy?
  /// The place where they run: this machine, or a runner of the workflow.
  public var runner: RunnerName?

  public init(
    environment: [String: String?] = [:], workingDirectory: String? = nil, shell: Shell? = nil,
    environmentPolicy: EnvironmentPolicy? = nil, environmentFiles: [EnvironmentFile] = [],
    runner: RunnerName? = nil
  ) {
    self.environment = environment
    self.environmentFiles = environmentFiles
    self.workingDirectory = workingDirectory
    self.shell = shell
    self.environmentPolicy = environmentPolicy
    self.runner = runner
  }
}

/// The part of the engine's environment that programs get, besides the variables that the workflow sets.
public enum EnvironmentPolicy: String, Sendable, Hashable, CaseIterable {
  /// All variables except the sources of secrets. The default.
  case inherit
  /// Only variables that programs cannot do without: see ``isKept(_:)``.
  case clean

  /// Whether `clean` keeps the variable: `PATH HOME USER LOGNAME SHELL LANG TZ TMPDIR TERM` and `LC_…`.
  package static func isKept(_ name: String) -> Bool {
    EnvironmentName.isEssential(name)
  }
}

/// A command line that runs the text of a script, which is appended to it.
public struct Shell: Sendable, Hashable {
  /// Never empty.
  public var prefix: [String]

  /// - Precondition: `prefix` is not empty.
  public init(prefix: [String]) {
    precondition(!prefix.isEmpty, "a shell has at least a program")
    self.prefix = prefix
  }

  /// `/bin/sh -e`: ends at the first command that fails. The default.
  public static let sh = Shell(prefix: ["/bin/sh", "-e", "-c"])
  /// `bash -eo pipefail`: also when a part of a pipeline fails.
  public static let bash = Shell(prefix: ["bash", "-eo", "pipefail", "-c"])
  /// `python3`.
  public static let python = Shell(prefix: ["python3", "-c"])

  /// The shells that a file can select by name.
  public static let named: [(name: String, shell: Shell)] = [
    ("sh", .sh), ("bash", .bash), ("python", .python),
  ]
}

/// An object with settings of commands, which are alike at every level.
protocol HasCommandSettings: FormatObject {
  var settings: CommandSettings { get set }
}

extension FormatKey where Object: HasCommandSettings {
  @FormatBuilder<Object> static var commandSettings: [FormatKey] {
    FormatKey(
      "env", ValueFormat { $0.environment($1, $2) }, "Environment",
      """
      Environment variables by name, merged with those of outer levels: the inner value \
      wins, null removes a variable. Numbers and booleans are passed as they are written.
      """,
      schema: #"""
        {"type": "object", "propertyNames": "@variableName",
        "additionalProperties": {"type": ["string", "number", "boolean", "null"],
        "pattern": "^[^\\u0000]*$"}, "examples": [{"LANG": "C.UTF-8", "RETRIES": 3,
        "DISPLAY": null}]}
        """#,
      synonyms: "environment variables variable vars", traits: .setting
    ) { $0.settings.environment = $1 }
    FormatKey(
      "envFile", ValueFormat { $0.environmentFiles($1, $2) }, "Env files",
      """
      Files with lines NAME=VALUE, as docker compose reads them; relative to the start \
      directory. The last file wins, and env over all of them. They are read when a run \
      starts, and expressions do not see them as env.
      """,
      schema: #"""
        {"anyOf": ["@environmentFile", {"type": "array", "minItems": 1,
        "items": "@environmentFile"}], "examples": [".env", [".env",
        {"path": ".env.local", "required": false}]]}
        """#, synonyms: "env_file env-file envFiles dotenv", traits: .setting
    ) { $0.settings.environmentFiles = $1 }
    FormatKey(
      "cwd", .text("the path of a directory", at: .workingDirectory), "Working directory",
      """
      The directory where commands run, relative to the directory where weft was started \
      (or -C), never to an outer cwd. The inner one wins.
      """, schema: #"{"examples": ["web", "/tmp"]}"#,
      synonyms: "working-directory workingDirectory working_dir workdir dir directory",
      traits: .setting
    ) { $0.settings.workingDirectory = $1 }
    FormatKey(
      "shell", ValueFormat { $0.shell($1, $2) }, "Shell",
      """
      The shell of scripts: one of the named shells, or a command line to which the script \
      is appended as the last argument. The inner one wins.
      """,
      schema: #"""
        {"anyOf": [{"enum": ["sh", "bash", "python"],
        "enumDescriptions": ["/bin/sh -e: ends at the first command that fails.",
        "bash -eo pipefail: also when a part of a pipeline fails.", "python3."]},
        "@commandLine"], "default": "sh", "examples": ["bash", ["zsh", "-e", "-c"]]}
        """#, traits: .setting
    ) { $0.settings.shell = $1 }
    FormatKey(
      "runner", ValueFormat { $0.runnerName($1, $2) }, "Runner",
      """
      Where commands run: local, which is this machine, or a name in runners. The inner one \
      wins. Commands that need this machine stay here: services, and those with tty, \
      jobserver or leftovers.
      """,
      schema: #"{"$ref": "runnerName", "default": "local", "examples": ["build"]}"#,
      synonyms: "runs-on runsOn executor agent", traits: .setting
    ) { $0.settings.runner = $1 }
  }

  static var environmentPolicy: FormatKey {
    FormatKey(
      "envPolicy",
      .word(
        of: EnvironmentPolicy.self,
        help: "\"clean\" passes only essential variables to steps"),
      "Inherited environment",
      """
      The part of weft's own environment that steps get, besides the variables in env. The \
      inner one wins.
      """,
      schema: #"""
        {"enumDescriptions": ["All of it but the sources of secrets.",
        "Only PATH, HOME, USER, LOGNAME, SHELL, LANG, TZ, TMPDIR, TERM and LC_*."],
        "default": "inherit"}
        """#, synonyms: "inheritEnv cleanEnv", traits: .setting
    ) { $0.settings.environmentPolicy = $1 }
  }
}

extension DecodingPass {
  mutating func environment(_ node: JSONNode, _ field: Field) -> [String: String?]? {
    guard
      isObject(
        node, field, wanted: "an object of names and values", help: "write { \"NAME\": \"value\" }")
    else { return nil }
    var variables: [String: String?] = [:]
    for member in node.members {
      guard let name = variableName(member.key, field),
        let value = variable(name, member.value, field.member(member.key))
      else { continue }
      variables.updateValue(value, forKey: name)
    }
    return variables
  }

  private mutating func variableName(_ key: JSONNode, _ field: Field) -> String? {
    let name = key.stringValue ?? ""
    if name.hasExpression {
      report(.expression(path: path(field)), at: key)
      return nil
    }
    guard let problem = ValueRule.problem(withVariable: name) else { return name }
    report(problem, at: key)
    return nil
  }

  /// A variable's value, or an inner `nil` to remove it; the outer `nil` means that the value is invalid.
  private mutating func variable(_ name: String, _ node: JSONNode, _ field: Field) -> String?? {
    switch node.kind {
    case .null: return .some(nil)
    case .number, .bool: return node.sourceText
    case .string: return text(node, field, at: .variable(name)).map { $0 }
    case .array, .object, .unreadable:
      reportType(
        of: node, field, wanted: "a string, a number, true, false, or null to remove the variable")
      return nil
    }
  }

  mutating func shell(_ node: JSONNode, _ field: Field) -> Shell? {
    switch node.kind {
    case .array: return arguments(node, field).map(Shell.init(prefix:))
    case .string:
      guard let word = text(node, field) else { return nil }
      if let known = Shell.named.first(where: { $0.name == word }) { return known.shell }
      let names = Shell.named.map(\.name)
      report(
        .unknownWord(
          path: path(field), word: word, wanted: "\(QuotedList(names))",
          nearest: word.isShell ? nil : NearestName(names).nearest(to: word),
          help: word.isCommand
            ? "write a command in \"run\"; the shell runs it"
            : "write any other shell as a command line, such as "
              + (word.isShell ? "[\(quoted(word)), \"-c\"]" : "[\"zsh\", \"-e\", \"-c\"]")),
        at: node)
    default:
      reportType(
        of: node, field, wanted: "\"sh\", \"bash\", \"python\" or a command line",
        help: "a command line is an array, such as [\"zsh\", \"-e\", \"-c\"]")
    }
    return nil
  }
}

extension String {
  /// Whether it is the name of a shell, and not a misspelling of one that has a name in the format.
  fileprivate var isShell: Bool { ["zsh", "dash", "ash", "ksh", "mksh", "fish"].contains(self) }

  /// Whether it is more than one word, the first of which is not the name of a shell.
  fileprivate var isCommand: Bool {
    let words = split(whereSeparator: \.isWhitespace)
    return words.count > 1 && !words[0].hasSuffix("sh")
  }
}

extension Diagnostic {
  static func invalidVariableName(_ name: String) -> Diagnostic {
    if name.isEmpty {
      return Diagnostic(.invalidVariableName, "the name of an environment variable is empty")
    }
    return Diagnostic(
      .invalidVariableName,
      "the name of an environment variable contains \"=\": \(quoted(name))",
      help: "write the name before the colon and the value after it")
  }
}

/// A file of environment variables, which is read when a run starts.
public struct EnvironmentFile: Sendable, Hashable {
  /// The path as written: relative to the start directory.
  public var path: String
  /// Whether a run needs the file. If not, it may be missing, but not malformed.
  public var isRequired: Bool
  /// The path, with its quotes.
  public var place: Written<SourceRange?>

  public init(path: String, isRequired: Bool = true, place: SourceRange? = nil) {
    self.path = path
    self.isRequired = isRequired
    self.place = Written(place)
  }
}

// MARK: Format

/// An env file while its keys are read.
struct EnvironmentFileDraft: FormatObject {
  var path: String?
  var place: SourceRange?
  var isRequired = true

  static let format = ObjectFormat<EnvironmentFileDraft>("an env file") {
    FormatKey(
      "path", "Path", "Relative to the start directory.",
      type: FormatType(.defined("filledLiteralText")), synonyms: "file src",
      required: #""path": ".env""#
    ) { pass, member, field, draft in
      draft.path = pass.filledText(member.value, field, wanted: "the path of an env file")
      draft.place = member.value.range
    }
    FormatKey(
      "required", .flag(), "Required", "Whether a run needs the file; if not, it may be missing.",
      schema: #"{"default": true}"#, at: \.isRequired)
  }
}

extension DecodingPass {
  /// One env file, or several, of which the last one wins.
  mutating func environmentFiles(_ node: JSONNode, _ field: Field) -> [EnvironmentFile]? {
    guard node.kind == .array else { return environmentFile(node, field).map { [$0] } }
    return elements(
      of: node, field, wanted: "an array of paths", atLeast: "at least one path"
    ) { $0.environmentFile($1, $2) }
  }

  private mutating func environmentFile(_ node: JSONNode, _ field: Field) -> EnvironmentFile? {
    switch node.kind {
    case .string:
      return filledText(node, field, wanted: "the path of an env file").map {
        EnvironmentFile(path: $0, place: node.range)
      }
    case .object:
      var draft = EnvironmentFileDraft()
      read(node, field, into: &draft)
      return draft.path.map {
        EnvironmentFile(path: $0, isRequired: draft.isRequired, place: draft.place)
      }
    default:
      reportType(
        of: node, field, wanted: "a path, { \"path\": …, \"required\": … }, or an array of them",
        help: "write \".env\"")
      return nil
    }
  }
}
