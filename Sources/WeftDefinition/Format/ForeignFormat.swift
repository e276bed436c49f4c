package import WeftDiagnostics
import WeftEncoding
import WeftJSON

/// A format of another program, recognised by what its files look like.
///
/// For `weft run Makefile`, a message that names the format and where its parts belong is of more use than one about the
/// first character that is not JSON.
package struct ForeignFormat: Sendable {
  let name: String
  let help: String

  /// Recognises a text that was read with these problems.
  ///
  /// Looks at the first 64 KiB. A text without errors is JSON, and one that begins with `{` or `"` is JSON with mistakes.
  package static func diagnostic(
    ofText file: SourceFile, problems: [Diagnostic]
  ) -> Diagnostic? {
    guard problems.contains(where: \.isError),
      let (format, range) = ForeignText(file)?.recognised
    else { return nil }
    return format.diagnostic(at: Diagnostic.Place(file: file, range: range))
  }

  /// Recognises an object by its keys, if it has none that make it a workflow.
  static func diagnostic(ofKeys root: JSONNode) -> Diagnostic? {
    guard root.kind == .object, root.member("steps") == nil, root.member("parallel") == nil else {
      return nil
    }
    for signature in signatures {
      guard
        let member = root.members.first(where: { $0.key.isString(equalTo: signature.key) }),
        member.value.kind == signature.kind,
        signature.beside.map({ root.member(named: $0) != nil }) ?? true
      else { continue }
      return signature.format.diagnostic(at: member.key.place, isJSON: true)
    }
    return nil
  }

  private func diagnostic(at place: Diagnostic.Place, isJSON: Bool = false) -> Diagnostic {
    Diagnostic(
      .error, code: DefinitionCode.foreignFormat.rawValue,
      message: "this looks like \(name)\(isJSON ? ", not a workflow" : "; Weft reads JSON")",
      place: place, help: help)
  }
}

extension ForeignFormat {
  /// A key at the top of a file, and the kind of its value where the file is JSON; `nil` if the format is never JSON.
  struct Signature {
    let key: String
    let kind: JSONKind?
    /// A second key that is required.
    var beside: String?
    let format: ForeignFormat
  }

  /// The first that fits counts.
  static let signatures = [
    Signature(key: "jobs", kind: .object, format: .gitHubWorkflow),
    Signature(key: "tasks", kind: .object, format: .taskfile),
    Signature(key: "tasks", kind: .array, beside: "version", format: .editorTasks),
    Signature(key: "services", kind: .object, format: .compose),
    Signature(key: "stages", kind: nil, format: .gitLabPipeline),
    Signature(key: "States", kind: .object, beside: "StartAt", format: .stateMachine),
    Signature(key: "scripts", kind: .object, format: .packageScripts),
  ]

  static let gitHubWorkflow = ForeignFormat(
    name: "a GitHub workflow",
    help:
      "write each job as a group with \"steps\"; \"Coming from GitHub Actions\" in the documentation ports one"
  )
  static let taskfile = ForeignFormat(
    name: "a Taskfile",
    help:
      "write each task as a step with \"id\", \"needs\" and \"run\"; \"Coming from Task\" in the documentation ports one"
  )
  static let makefile = ForeignFormat(
    name: "a Makefile",
    help:
      "run make in a step, or write each target as a step with \"id\", \"needs\" and \"run\"; \"Coming from make\" in the documentation ports one"
  )
  static let justfile = ForeignFormat(
    name: "a justfile",
    help:
      "write each recipe as a step with \"id\", \"needs\" and \"script\"; \"Coming from make\" in the documentation is close to it"
  )
  static let ninja = ForeignFormat(
    name: "a file of ninja",
    help:
      "run ninja in a step, or write each build statement as a step with \"cache\": { \"inputs\": […], \"outputs\": […] }"
  )
  static let snakefile = ForeignFormat(
    name: "a Snakefile",
    help:
      "write each rule as a step with \"run\" and \"cache\": { \"inputs\": […], \"outputs\": […] }")
  static let nextflow = ForeignFormat(
    name: "a script of Nextflow",
    help:
      "write each process as a step with \"id\" and \"run\", and each channel as a loop: \"forEach\""
  )
  static let dockerfile = ForeignFormat(
    name: "a Dockerfile", help: "build it in a step: \"run\": [\"docker\", \"build\", \".\"]")
  static let compose = ForeignFormat(
    name: "a file of docker compose",
    help: "write a program that runs while others use it as a step with \"run\" and \"service\"")
  static let gitLabPipeline = ForeignFormat(
    name: "a GitLab pipeline",
    help: "write each job as a step with \"id\", \"needs\" and \"script\"")
  static let editorTasks = ForeignFormat(
    name: "the tasks of VS Code",
    help: "write each task as a step with \"id\", \"needs\" and \"run\"")
  static let stateMachine = ForeignFormat(
    name: "a state machine of Step Functions",
    help:
      "write each state as a step, \"Next\" by the order in \"steps\", and each choice as \"if\"")
  static let packageScripts = ForeignFormat(
    name: "a package.json",
    help:
      "write each script as a step: { \"id\": \"build\", \"run\": [\"npm\", \"run\", \"build\"] }")
  static let script = ForeignFormat(
    name: "a script", help: "run it from a step: { \"script\": { \"file\": \"FILE\" } }")
  static let yaml = ForeignFormat(name: "YAML", help: "convert it: yq -o=json FILE")
  static let toml = ForeignFormat(name: "TOML", help: "convert it: yq -p=toml -o=json FILE")
  static let xml = ForeignFormat(name: "XML", help: "convert it: yq -p=xml -o=json FILE")
}

/// The lines of a text that is not JSON, as far as formats are recognised by them.
private struct ForeignText {
  struct Line {
    let text: Substring
    let start: Int

    var isIndented: Bool { text.first == " " || text.first == "\t" }
    /// The text without white space around it.
    var content: Substring {
      let head = text.drop { $0 == " " || $0 == "\t" }
      return head.lastIndex { !$0.isWhitespace }.map { head[...$0] } ?? ""
    }
    var range: SourceRange {
      let indent = text.prefix { $0 == " " || $0 == "\t" }.utf8.count
      return SourceRange(
        start: start + indent, end: start + indent + content.utf8.count)
    }

    func range(ofFirst count: Int) -> SourceRange { SourceRange(start: start, end: start + count) }

    /// Its key, if it is one of a YAML mapping that begins in the first column.
    var key: Substring? {
      guard !isIndented else { return nil }
      let key = text.prefix { $0.isWord || $0 == "-" || $0 == "." || $0 == "$" || $0 == "/" }
      let rest = text[key.endIndex...]
      guard !key.isEmpty, rest.first == ":" else { return nil }
      return rest.dropFirst().first.map(\.isWhitespace) ?? true ? key : nil
    }

    /// Whether it begins a rule of make or a recipe of just: targets or a name, a colon, and what it depends on.
    var isRule: Bool {
      guard !isIndented, text.first != "-", let colon = text.firstIndex(of: ":"),
        colon != text.startIndex
      else { return false }
      return text[colon...].dropFirst().first != "="
        && !text[..<colon].contains { "\"'=#".contains($0) }
    }

    /// Whether it looks like a line of a YAML mapping or list.
    var isYAML: Bool {
      let content = content
      if content.hasPrefix("- ") || content == "-" { return true }
      guard let colon = content.firstIndex(of: ":") else { return false }
      return content[colon...].dropFirst().first.map(\.isWhitespace) ?? true
        && !content[..<colon].contains(" ")
    }

    func begins(with words: String...) -> Bool { words.contains { text.hasPrefix($0 + " ") } }
  }

  /// Those that are neither blank nor comments; at least one.
  private let lines: [Line]
  private let isScript: Bool

  init?(_ file: SourceFile) {
    var lines: [Line] = []
    var start = file.markLength
    let bytes = file.bytes.prefix(64 << 10)
    isScript = bytes.dropFirst(start).starts(with: "#!".utf8)
    while start < bytes.count, lines.count < 1000 {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      // A repaired text would have other offsets.
      if let text = String(validating: bytes[start..<end], as: UTF8.self) {
        let line = Line(text: text[...], start: start)
        let first = line.content.first
        if isScript || first.map({ $0 != "#" }) ?? false { lines.append(line) }
      }
      start = end + 1
    }
    guard let first = lines.first?.content.first, first != "{", first != "\"" else { return nil }
    self.lines = lines
  }

  /// The format, and the line or key by which it was recognised.
  var recognised: (ForeignFormat, SourceRange)? {
    let first = lines[0]
    if isScript { return (.script, first.range) }
    if first.content.hasPrefix("<") { return (.xml, first.range) }
    if first.begins(with: "FROM") { return (.dockerfile, first.range) }
    if let line = lines.first(where: \.isOfNextflow) { return (.nextflow, line.range) }
    for (line, next) in zip(lines, lines.dropFirst()) where !line.isIndented {
      if line.isRule {
        if line.begins(with: "rule", "checkpoint") { return (.snakefile, line.range) }
        if line.begins(with: "build"), lines.contains(where: { $0.begins(with: "rule") }) {
          return (.ninja, line.range)
        }
        if line.text.hasPrefix(".PHONY:") || next.text.hasPrefix("\t") {
          return (.makefile, line.range)
        }
        if next.isIndented, !next.isYAML, !(line.key != nil && line.content.last != ":") {
          return (.justfile, line.range)
        }
      } else if line.begins(with: "rule"), next.isIndented, next.content.hasPrefix("command") {
        return (.ninja, line.range)
      } else if line.isTable, next.isAssignment {
        return (.toml, line.range)
      }
    }
    if let line = lines.first(where: { !$0.isIndented && $0.text.contains(":=") }) {
      return (line.begins(with: "set", "alias") ? .justfile : .makefile, line.range)
    }
    return recognisedYAML
  }

  private var recognisedYAML: (ForeignFormat, SourceRange)? {
    let first = lines[0]
    let keys = lines.lazy.compactMap { line in line.key.map { (line, $0) } }
    let isMapping = first.key != nil
    guard isMapping || first.isYAML || first.content == "---" || first.text.hasPrefix("%YAML")
    else { return nil }
    for signature in ForeignFormat.signatures {
      guard let (line, key) = keys.first(where: { $0.1 == signature.key }) else { continue }
      guard signature.beside.map({ other in keys.contains { $0.1 == other } }) ?? true else {
        continue
      }
      return (signature.format, line.range(ofFirst: key.utf8.count))
    }
    return (.yaml, first.key.map { first.range(ofFirst: $0.utf8.count) } ?? first.range)
  }
}

extension ForeignText.Line {
  /// Whether it is the head of a table in TOML, such as `[package]`.
  fileprivate var isTable: Bool {
    let content = content
    guard content.hasPrefix("["), content.hasSuffix("]") else { return false }
    let name = content.drop { $0 == "[" }.prefix { $0 != "]" }
    return !name.isEmpty && name.first?.isNumber == false
      && name.allSatisfy { $0.isWord || "-. ".contains($0) }
  }

  /// Whether it begins a process or a workflow of Nextflow.
  fileprivate var isOfNextflow: Bool {
    guard !isIndented else { return false }
    return text.hasPrefix("nextflow.enable.")
      || (begins(with: "process", "workflow") || content == "workflow{") && content.last == "{"
  }

  /// Whether it gives a key of TOML a value.
  fileprivate var isAssignment: Bool {
    let key = content.prefix { $0.isWord || "-.\"".contains($0) }
    let rest = content[key.endIndex...].drop { $0 == " " }
    return !key.isEmpty && rest.first == "="
  }
}

extension Character {
  fileprivate var isWord: Bool { isLetter || isNumber || self == "_" }
}

/// Keys of other programs that have no counterpart of one key: what takes their place.
extension Diagnostic {
  /// - Parameter noun: The object that has the key.
  static func keyElsewhere(_ key: String, _ value: JSONNode, of noun: String) -> Diagnostic? {
    // Files are texts; an object of that name is a misspelling of a key.
    guard
      let help = value.kind != .object
        ? filesElsewhere[key] ?? helpElsewhere[key] : helpElsewhere[key]
    else { return nil }
    return Diagnostic(.unknownKey, "\(quoted(key)) is not a key of \(noun)", help: help)
  }

  private static let read =
    "list the files that a step reads in its \"cache\": { \"inputs\": [\"src/**\"] }"
  private static let made =
    "list the files that a step makes in its \"cache\": { \"outputs\": [\"build\"] }"

  private static let filesElsewhere = [
    "input": read + "; text for its program is \"stdin\"",
    "output": made + "; values are \"outputs\"",
  ]

  private static let helpElsewhere: [String: String] = {
    let container =
      "Weft starts no containers; run the program that does, for example docker run --rm IMAGE COMMAND"
    let rule =
      "write each rule as a step with \"id\", \"run\" and \"cache\": { \"inputs\": […], \"outputs\": […] }"
    let process =
      "write each process as a step with \"id\" and \"run\"; \"forEach\" runs it for many values"
    let loop =
      "a loop runs a step for each file: \"forEach\": { \"glob\": \"data/*.txt\" }, read as item"
    let partition =
      "declare it in \"runners\": { \"cluster\": { \"kind\": \"slurm\", \"partition\": \"NAME\" } }"
    let start =
      "Weft starts no runs by itself; let cron, a hook or your CI service call weft run"
    return [
      "sources": read, "srcs": read,
      "generates": made, "artifacts": made, "targets": made,
      "container": container, "image": container,
      "on": start, "triggers": start, "schedule": start,
      "runs-on": "all steps run on this machine; remove the key",
      "permissions": "steps have the permissions of the user who runs weft; remove the key",
      "includes": "a step runs another file: { \"workflow\": \"other.json\" }",
      "include": "a step runs another file: { \"workflow\": \"other.json\" }",
      "task":
        "\"needs\" orders steps; steps that several files share are a file: { \"workflow\": \"other.json\" }",
      "silent": "weft run -q shows the output of failed steps only; remove the key",
      "status": "a step with \"cache\" runs only if its inputs have changed",
      "version": "files have no version; remove the key",
      "as": "it belongs to the loop: \"forEach\": { \"in\": [\"a\"], \"as\": \"name\" }",
      "rule": rule, "rules": rule, "process": process, "processes": process,
      "wildcards": loop, "wildcard_constraints": loop,
      "configfile":
        "declare the values as \"inputs\"; weft run --inputs FILE reads them from a file",
      "conda": "Weft makes no environments; run the program in one: conda run -n NAME COMMAND",
      "singularity": container,
      "publishDir": "Weft moves no files; let the command write or copy them to that directory",
      "log":
        "Weft keeps what each step writes: weft logs; a command writes a file of its own with > FILE",
      "benchmark": "Weft measures each step: weft show, weft report --format csv; remove the key",
      "errorStrategy":
        "\"retry\" repeats a step that fails, \"allowFailure\" lets the run continue, \"onFailure\" is for all",
      "maxForks": "write \"maxParallel\" in \"forEach\", or give the step a \"pool\"",
      "queue": partition, "clusterOptions": partition,
    ]
  }()
}
