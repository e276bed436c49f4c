import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftRecord

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Durations of steps on disk.
struct StoredDurationsTests {
  private let scratch: ScratchFolder
  private let store: FileRunStore
  private let key = WorkflowKey(file: "w.json", name: nil, below: "/srv")!
  private let plan: Plan

  init() throws {
    scratch = try ScratchFolder()
    store = FileRunStore(directory: "\(scratch.path)/.weft")
    _ = try scratch.state()
    plan = try #require(
      Planner.plan(Workflow(steps: [Step("a", run: "true"), Step("b", run: "true")])).plan)
  }

  private func measures(_ milliseconds: Int) -> RunMeasures {
    var measures = RunMeasures(stepCount: 2)
    measures.ended(0, after: .milliseconds(milliseconds))
    return measures
  }

  private func add(_ milliseconds: Int, to key: WorkflowKey? = nil) {
    store.add(measures(milliseconds), of: plan, succeeded: true, to: key ?? self.key)
  }

  private func known(_ key: WorkflowKey? = nil) -> [[Int]] {
    store.history(of: key ?? self.key).entries.map(\.step.recent)
  }

  private var folder: PrivateDirectory {
    get throws { try PrivateDirectory.at("\(scratch.path)/.weft/durations/1", makes: false) }
  }

  private var file: String { get throws { try #require(try folder.names().first) } }

  @Test func eachRunAddsItsDurations() throws {
    #expect(known() == [])
    add(5)
    add(7)
    #expect(known() == [[5_000, 7_000]])
    #expect(try folder.names().count == 1)
    var status = stat()
    #expect(lstat("\(try folder.path)/\(try file)", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }

  @Test func workflowsHaveDistinctKeys() {
    add(5)
    let other = WorkflowKey(file: "/srv/sub/w.json", name: nil, below: nil)
    add(9, to: other)
    #expect(known() == [[5_000]] && known(other) == [[9_000]])
  }

  @Test func damagedDurationsAreReplaced() throws {
    add(5)
    let name = try file
    try folder.remove(name)
    try folder.write(Array("1 5000 a\ncrc32c 00000000\n".utf8), to: name, surviving: false)
    #expect(known() == [])
    add(7)
    #expect(known() == [[7_000]])
  }

  @Test func aLinkIsNotFollowedAndMakesRoom() throws {
    add(5)
    let name = try file
    try folder.rename(name, to: "elsewhere")
    #expect(symlink("elsewhere", "\(try folder.path)/\(name)") == 0)
    #expect(known() == [])
    add(7)
    #expect(known() == [[7_000]])
    // The target of the link was not written to.
    let kept = try folder.bytes(of: "elsewhere", limit: 1024)
    #expect(DurationFile.history(in: kept)?.entries.map(\.step.recent) == [[5_000]])
  }

  @Test func aFolderThatIsALinkIsNotUsed() throws {
    try FileSystem.makeDirectory("\(scratch.path)/elsewhere", mode: 0o700)
    #expect(symlink("../elsewhere", "\(scratch.path)/.weft/durations") == 0)
    add(5)
    #expect(known() == [])
    #expect(try PrivateDirectory.at("\(scratch.path)/elsewhere", makes: false).names() == [])
  }

  @Test func unwritableDirectoryStoresNoDurations() throws {
    FileRunStore(directory: "\(scratch.path)/missing/.weft")
      .keep(durations: [1], of: key)
    #expect(!FileSystem.isDirectory("\(scratch.path)/missing"))
  }

  @Test func theWorkflowsThatWereRunLongestAgoGo() throws {
    for number in 0..<StateDirectory.workflowLimit + 3 {
      add(number, to: WorkflowKey(file: "/w\(number).json", name: nil, below: nil))
    }
    #expect(try folder.names().count == StateDirectory.workflowLimit)
  }

  @Test func manyWritersLeaveAWholeFile() async throws {
    let (store, plan, key) = (store, plan, key)
    await withTaskGroup(of: Void.self) { group in
      for measures in (1...8).map(measures) {
        group.addTask {
          for _ in 1...20 { store.add(measures, of: plan, succeeded: true, to: key) }
        }
      }
    }
    let recent = try #require(known().first)
    #expect(recent.count == MeasuredStep.recentLimit)
    #expect(recent.allSatisfy { (1_000...8_000).contains($0) })
    #expect(try folder.names().count == 1)
  }

  @Test func inMemoryItIsKeptAsLongAsTheStore() {
    let store = MemoryRunStore()
    store.add(measures(3), of: plan, succeeded: true, to: key)
    #expect(store.history(of: key).entries.map(\.step.recent) == [[3_000]])
  }
}

struct WorkflowKeyTests {
  @Test(
    arguments: [
      ("w.json", nil, "/srv/app", "file /srv/app/w.json"),
      ("./w.json", "n", "/srv/app", "file /srv/app/w.json"),
      ("../x//w.json", nil, "/srv/app", "file /srv/x/w.json"),
      ("/a/./b/../w.json", nil, nil, "file /a/w.json"),
      ("/../../w.json", nil, "/srv", "file /w.json"),
      ("w.json", "n", nil, "name n"), ("w.json", nil, nil, nil),
      ("<stdin>", "n", "/srv", "name n"), ("<stdin>", nil, "/srv", nil),
      ("/dev/fd/63", "n", "/srv", "name n"), ("/proc/self/fd/5", nil, "/srv", nil),
      (nil, "release", "/srv", "name release"), (nil, nil, "/srv", nil),
    ] as [(String?, String?, String?, String?)])
  func aFileIsKnownByItsPathAndOthersByTheirName(
    file: String?, name: String?, directory: String?, text: String?
  ) {
    #expect(WorkflowKey(file: file, name: name, below: directory)?.description == text)
  }

  @Test(
    "a project may move with its records",
    arguments: [
      ("/srv/app/ci/w.json", "/srv/app/.weft", "below ci/w.json"),
      ("/srv/app/ci/w.json", "/srv/app/state/.weft", "file /srv/app/ci/w.json"),
      ("/srv/app/w.json", "/.weft", "below srv/app/w.json"),
      ("/srv/application/w.json", "/srv/app/.weft", "file /srv/application/w.json"),
    ])
  func nearbyWorkflowHasARelativeKey(
    file: String, directory: String, text: String
  ) throws {
    let key = try #require(WorkflowKey(file: file, name: nil, below: nil))
    #expect(key.text(storedIn: directory) == text)
  }
}
