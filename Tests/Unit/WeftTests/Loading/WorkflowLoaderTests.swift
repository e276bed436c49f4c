import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlatform

@testable import Weft

/// The files read by the loader, and the resulting workflow.
struct WorkflowLoaderTests {
  private let folder = Folder()

  @Test func aPathIsRelativeToTheFileThatNamesIt() throws {
    try folder.write("main.json", naming: "lib/a.json", "b.json")
    try folder.write("lib/a.json", naming: "b.json", "./../b.json", "sub//c.json")
    for name in ["b.json", "lib/b.json", "lib/sub/c.json"] {
      try folder.write(name, #"{"name": "\#(name)", "steps": ["true"]}"#)
    }
    let loading = try folder.load()
    #expect(loading.reported == [])
    #expect(loading.nested(0, 0)?.workflow?.name == "lib/b.json")
    #expect(loading.nested(0, 1)?.workflow?.name == "b.json")
    #expect(loading.nested(0, 2)?.workflow?.name == "lib/sub/c.json")
    #expect(loading.nested(1)?.workflow?.name == "b.json")
    #expect(loading.nested(0, 2)?.path == "sub//c.json")
  }

  @Test func messagesNameAFileByTheWayThroughTheStartDirectory() throws {
    try folder.write("flows/main.json", naming: "../lib/a.json")
    try folder.write("lib/a.json", "{\"steps\": [5]}")
    let reported = try folder.load("flows/main.json").reported
    #expect(reported.count == 1 && reported[0].hasPrefix("lib/a.json:1 W0104 "))
  }

  @Test func stepsInGroupsAndInFinallyAreReadToo() throws {
    try folder.write(
      "main.json",
      """
      {"steps": [{"parallel": ["true", {"steps": [{"workflow": "a.json"}]}]}],
       "finally": [{"workflow": "a.json"}]}
      """)
    try folder.write("a.json", #"{"name": "a", "steps": ["true"]}"#)
    let loading = try folder.load()
    #expect(loading.reported == [])
    guard case .group(let outer) = loading.workflow?.body.members[0].action,
      case .group(let inner) = outer.members[1].action,
      case .workflow(let grouped) = inner.members[0].action,
      case .workflow(let last) = loading.workflow?.finally[0].action
    else {
      Issue.record("the workflow is another one: \(String(describing: loading.workflow))")
      return
    }
    #expect(grouped.workflow?.name == "a")
    #expect(last.workflow?.name == "a")
  }

  @Test("W17: 10,000 steps that name the same file read it once")
  func aFileIsReadOnce() throws {
    let paths = (0..<5_000).flatMap { _ in ["lib/a.json", "lib/../link.json"] }
    try folder.write("main.json", Folder.workflow(naming: paths))
    try folder.write("lib/a.json", #"{"steps": [5, {"workflow": "b.json"}]}"#)
    try folder.write("lib/b.json", #"{"steps": [6]}"#)
    folder.link("link.json", to: "lib/a.json")
    let loading = try folder.load()
    let sources = (0..<10_000).map { loading.nested($0)?.workflow?.source.value }
    #expect(Set(sources).count == 1)
    #expect(sources[0]?.path == "\(folder.path)/lib/a.json")
    #expect(loading.reported.map { $0.prefix(18) } == ["lib/a.json:1 W0104", "lib/b.json:1 W0104"])
  }

  @Test("W17: files that each name the next twice are read once each")
  func sharedFilesAreReadOnce() throws {
    for depth in 0..<8 {
      let (file, next) = (depth == 0 ? "main.json" : "f\(depth).json", "f\(depth + 1).json")
      try folder.write(file, naming: next, next, "./\(next)")
    }
    try folder.write("f8.json", #"{"name": "last", "steps": [5]}"#)
    let loading = try folder.load()
    #expect(loading.reported.count == 1)
    let sources = [0, 1, 2].map { last in
      loading.nested(0, 1, 2, 0, 1, 2, 0, last)?.workflow?.source.value
    }
    #expect(Set(sources).count == 1 && sources[0] != nil)
  }

  @Test func aFileThatIsWrongByItselfIsRejectedWhereverItIsNamed() throws {
    try folder.write("main.json", naming: "a.json", "b.json", "wrong.json")
    try folder.write("a.json", naming: "wrong.json")
    try folder.write("b.json", naming: "text.json")
    try folder.write("wrong.json", #"{"steps": ["true", 5]}"#)
    try folder.write("text.json", "steps")
    let loading = try folder.load()
    #expect(loading.reported.map { $0.prefix { $0 != " " } } == ["wrong.json:1", "text.json:1"])
    #expect(loading.nested(0)?.isRejected == false)
    #expect(loading.nested(0, 0)?.isRejected == true)
    #expect(loading.nested(2)?.isRejected == true)
    #expect(loading.nested(1, 0)?.isRejected == true)
    #expect(loading.nested(1, 0)?.workflow == nil)
  }

  @Test func warningsOfANestedFileDoNotRejectIt() throws {
    try folder.write("main.json", naming: "a.json")
    try folder.write("a.json", "\u{FEFF}{\"steps\": [\"true\"]}")
    let loading = try folder.load()
    #expect(loading.reported.map { $0.prefix(14) } == ["a.json:1 W0004"])
    #expect(loading.nested(0)?.isRejected == false)
  }

  @Test func aFileWithoutANameIsAsIfInTheStartDirectory() throws {
    try folder.write("lib/a.json", #"{"name": "a", "steps": ["true"]}"#)
    let loading = folder.loadNameless(Folder.workflow(naming: ["lib/a.json", "../a.json"]))
    #expect(loading.nested(0)?.workflow?.name == "a")
    #expect(loading.reported.map { $0.prefix(15) } == ["<stdin>:3 W0602"])
  }

  @Test func aFileThatNamesNoOtherNeedsNoStartDirectory() {
    let file = SourceFile(path: "x/y", bytes: Array(#"{"steps": ["true"]}"#.utf8))
    let (workflow, reported) = WorkflowLoader.load(file, at: "x/y", startDirectory: "/nowhere")
    #expect(workflow != nil && reported == [])
  }

  @Test func generalNamingErrorIsReportedOnce() {
    let text = Folder.workflow(naming: ["a.json", "b.json"])
    let file = SourceFile(path: "x/y", bytes: Array(text.utf8))
    let (workflow, reported) = WorkflowLoader.load(file, at: nil, startDirectory: "/nowhere")
    #expect(reported.map(\.code) == ["W0601"])
    let loading = Loading(workflow: workflow, reported: [])
    #expect(loading.nested(0)?.isRejected == true)
    #expect(loading.nested(1)?.isRejected == true)
  }

  @Test func unreadableFirstFileThrows() {
    #expect(throws: FileReadError.system(.notFound)) { try folder.load("missing.json") }
    #expect(throws: FileReadError.isDirectory) { try folder.load(".") }
  }
}
