import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlatform

@testable import Weft

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The script files that the loader reads for steps.
struct ScriptLoadingTests {
  private let folder = Folder()

  /// A workflow whose steps run the named script files.
  private static func workflow(running paths: [String]) -> String {
    let steps = paths.map { #"{"script": {"file": "\#($0)"}}"# }.joined(separator: ",\n")
    return "{\"steps\": [\n\(steps)\n]}"
  }

  private func load(running paths: String...) throws -> Loading {
    try folder.write("main.json", ScriptLoadingTests.workflow(running: paths))
    return try folder.load()
  }

  @Test func aPathIsRelativeToTheFileThatNamesIt() throws {
    try folder.write("flows/main.json", ScriptLoadingTests.workflow(running: ["a.sh", "../a.sh"]))
    try folder.write("flows/a.sh", "inner\n")
    try folder.write("a.sh", "outer\n")
    try folder.write("main.json", naming: "flows/main.json")
    let own = try folder.load("flows/main.json")
    #expect(own.reported == [])
    #expect(own.scripts == ["inner\n", "outer\n"])
    let nested = Loading(workflow: try folder.load().nested(0)?.workflow, reported: [])
    #expect(nested.scripts == ["inner\n", "outer\n"])
    #expect(
      nested.workflow?.scripts.value.map(\.path)
        == ["\(folder.path)/flows/a.sh", "\(folder.path)/a.sh"])
  }

  @Test func aWorkflowWithoutAPathNamesThemFromTheStartDirectory() throws {
    try folder.write("lib/a.sh", "true")
    let loading = folder.loadNameless(
      ScriptLoadingTests.workflow(running: ["lib/a.sh", "../a.sh"]))
    #expect(loading.scripts == ["true", nil])
    #expect(loading.reported.map { $0.prefix(15) } == ["<stdin>:3 W0602"])
  }

  @Test func stepsEverywhereAreCompleted() throws {
    let step = #"{"script": {"file": "a.sh"}}"#
    try folder.write(
      "main.json",
      """
      {"steps": [{"parallel": ["true", {"steps": [\(step)]}], "cleanup": \(step)},
        {"run": "true", "cleanup": [\(step)]}],
       "finally": [\(step)]}
      """)
    try folder.write("a.sh", "true")
    let loading = try folder.load()
    #expect(loading.reported == [])
    var found: [String?] = []
    func visit(_ steps: [Step]) {
      for step in steps {
        switch step.action {
        case .run(let command):
          if case .file(let file) = command.invocation { found.append(file.text) }
        case .group(let group): visit(group.members)
        default: break
        }
        visit(step.control.cleanup)
      }
    }
    visit((loading.workflow?.body.members ?? []) + (loading.workflow?.finally ?? []))
    #expect(found == ["true", "true", "true", "true"])
  }

  @Test func aFileIsReadOnce() throws {
    folder.link("link.sh", to: "a.sh")
    try folder.write("a.sh", "#!/bin/nosuch\n")
    let loading = try load(running: "a.sh", "./a.sh", "link.sh", "a.sh")
    #expect(loading.reported.map { $0.prefix(12) } == ["a.sh:1 W0607"])
    #expect(loading.workflow?.scripts.value.count == 1)
  }

  @Test(arguments: [
    ("echo a\r\n\u{e9}", "echo a\r\n\u{e9}"), ("\u{FEFF}true", "true"), (" ", " "), ("\n", "\n"),
    ("\u{FEFF}#!/bin/sh\n", "#!/bin/sh\n"),
  ])
  func theTextIsThatOfTheFileWithoutAMark(content: String, text: String) throws {
    try folder.write("a.sh", content)
    let loading = try load(running: "a.sh")
    #expect(loading.reported == [])
    #expect(loading.scripts == [text])
  }

  @Test func theFileNamesTheShellUnlessTheStepDoes() throws {
    try folder.write("a.sh", "\u{FEFF}#!/usr/bin/env bash\n")
    try folder.write("b.sh", "true")
    try folder.write(
      "main.json",
      """
      {"shell": "sh", "steps": [{"script": {"file": "a.sh"}},
        {"script": {"file": "a.sh"}, "shell": "python"}, {"script": {"file": "b.sh"}}]}
      """)
    let loading = try folder.load()
    #expect(loading.reported == [])
    #expect(loading.workflow?.body.members.map(\.settings.shell) == [.bash, .python, nil])
    // What the file itself says is not printed.
    let printed = try #require(loading.workflow?.json)
    #expect(
      printed["steps"] == [
        ["script": ["file": "a.sh"]], ["script": ["file": "a.sh"], "shell": "python"],
        ["script": ["file": "b.sh"]],
      ])
  }

  @Test(arguments: [
    ("missing.sh", #"main.json:2 W0601 "missing.sh" cannot be read: no such file or directory"#),
    (".", #"main.json:2 W0601 "." is a directory; name a file in it"#),
    ("../a.sh", #"main.json:2 W0602 "../a.sh" is outside the start directory; "#),
    ("out.sh", #"main.json:2 W0602 "out.sh" is outside the start directory, through the "#),
    ("loop.sh", #"main.json:2 W0601 "loop.sh" goes through too many symbolic links"#),
    ("fifo.sh", #"main.json:2 W0601 "fifo.sh" is a FIFO, expected a file"#),
    ("closed.sh/x", #"main.json:2 W0601 "closed.sh/x" "#),
    ("empty.sh", #"empty.sh:1 W0606 the script is empty"#),
    ("mark.sh", #"mark.sh:1 W0606 the script is empty"#),
    ("nul.sh", #"nul.sh:2 W0606 found U+0000, expected the text of a script"#),
    (
      "large.sh",
      #"main.json:2 W0605 with "large.sh", the files of the workflow have more than 16 MiB"#
    ),
  ])
  func aFileThatIsNoScript(path: String, message: String) throws {
    folder.link("out.sh", to: "/etc/hostname")
    folder.link("loop.sh", to: "loop.sh")
    #expect(mkfifo(folder.path + "/fifo.sh", 0o600) == 0)
    try folder.write("closed.sh", "true")
    try folder.write("empty.sh", "")
    try folder.write("mark.sh", "\u{FEFF}")
    try folder.write("nul.sh", "true\n\0")
    try folder.write("large.sh", "")
    #expect(truncate(folder.path + "/large.sh", 100 << 20) == 0)
    let loading = try load(running: path, path)
    #expect(!loading.reported.isEmpty && loading.reported[0].hasPrefix(message))
    #expect(loading.scripts == [nil, nil])
    #expect(loading.isRejected == [true, true])
  }

  @Test(
    "the first byte that is no UTF-8 is the location",
    arguments: [
      ([0xFF], 0), ([0x61, 0xC3], 1), ([0xC3, 0xA9, 0xE9, 0x0A], 2), ([0xED, 0xA0, 0x80], 0),
      ([0xEF, 0xBF, 0xBD, 0x80], 3), ([0x0A, 0xC0, 0x80], 1),
    ] as [([UInt8], Int)])
  func bytesThatAreNoText(bytes: [UInt8], offset: Int) {
    let script = LoadedScript(SourceFile(path: "a.sh", bytes: bytes))
    #expect(script.text == nil)
    #expect(script.problem?.code == "W0606")
    #expect(script.problem?.place?.range == SourceRange(start: offset, end: offset + 1))
  }
}

extension Loading {
  private var scriptFiles: [ScriptFile] {
    (workflow?.body.members ?? []).compactMap { step in
      guard case .run(let command) = step.action, case .file(let file) = command.invocation else {
        return nil
      }
      return file
    }
  }

  /// The texts of the script files of the workflow's steps.
  fileprivate var scripts: [String?] { scriptFiles.map(\.text) }
  fileprivate var isRejected: [Bool] { scriptFiles.map(\.isRejected) }
}
