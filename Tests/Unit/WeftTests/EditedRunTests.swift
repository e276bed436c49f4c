import Synchronization
import TestSupport
import Testing
import Weft
import WeftTestKit

/// Runs that are resumed several times, each time after random edits of their workflow, against a model of what runs.
@Suite(.hangLimit) struct EditedRunTests {
  /// A step of the model: with an id, or known by its content.
  private struct Member: Hashable {
    var id: String?
    var content: String
    /// The number of the version that added it: one that was removed is another if it is added again.
    var origin: Int

    var json: String {
      let run = #""run": ["\#(content)"]"#
      return "{ " + (id.map { #""id": "\#($0)", "# } ?? "") + run + " }"
    }
  }

  /// Runs the commands of the steps: a name and whether it fails.
  private final class Commands: Sendable {
    private let ran = Mutex<[String]>([])

    var runner: CommandRunner {
      { [self] call in
        ran.withLock { $0.append(call.arguments[0]) }
        return .code(call.arguments[0].hasSuffix("fails") ? 1 : 0)
      }
    }

    /// The commands since the last call, sorted.
    func take() -> [String] {
      ran.withLock { ran in
        defer { ran = [] }
        return ran.sorted()
      }
    }
  }

  @Test(arguments: 0..<60)
  func onlyWhatChangedOrFailedRunsAgain(seed: UInt64) async throws {
    let folder = try Scratch()
    let store = FileRunStore(directory: folder.path + "/.weft")
    var random = SeededGenerator(seed: seed)
    let commands = Commands()
    let engine = Engine(commands: commands.runner)
    func workflow(_ members: [Member]) throws -> Workflow {
      try Workflow(
        json: """
          { "parallel": [\(members.map(\.json).joined(separator: ", "))], "onFailure": "continue" }
          """, path: "w.json")
    }
    var members = [Member(id: "always", content: "always fails", origin: 0)]
    edit(&members, version: 0, with: &random)
    let run = try engine.start(try workflow(members), in: store)
    #expect(await run.report.end?.outcome == .failure)
    #expect(commands.take() == members.map(\.content).sorted())
    var succeeded = Set(members.filter { !$0.content.hasSuffix("fails") })
    for version in 1...6 {
      edit(&members, version: version, with: &random)
      succeeded.formIntersection(members)
      let expected = members.filter { !succeeded.contains($0) }
      var options = Engine.ResumeOptions()
      options.acceptedChanges = .all
      let next = try engine.resume(run.id, try workflow(members), options: options, in: store)
      #expect(await next.report.end?.outcome == .failure)
      #expect(commands.take() == expected.map(\.content).sorted(), "version \(version): \(members)")
      succeeded.formUnion(expected.filter { !$0.content.hasSuffix("fails") })
    }
  }

  /// Adds, removes, moves and changes members; the first one stays.
  private func edit(
    _ members: inout [Member], version: Int, with random: inout SeededGenerator
  ) {
    let before = members
    defer {
      // What was removed and added again between two versions has not changed.
      for index in members.indices {
        let (id, content) = (members[index].id, members[index].content)
        let known = before.first { $0.id == id && $0.content == content }
        members[index].origin = known?.origin ?? members[index].origin
      }
    }
    for number in 0..<Int.random(in: 0..<5, using: &random) {
      let place = Int.random(in: 1...members.count, using: &random)
      // Few ids and contents, so that some return.
      let fails = Bool.random(using: &random) ? " fails" : ""
      let content = "c\(Int.random(in: 0..<12, using: &random))\(fails)"
      let ids: [String] = (0..<4).map { "n\($0)" }.filter { id in !members.contains { $0.id == id }
      }
      guard !members.contains(where: { $0.content == content }) else { continue }
      let origin = version * 10 + number
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let id = ids.randomElement(using: &random)
        members.insert(Member(id: id, content: content, origin: origin), at: place)
      case 1: members.insert(Member(id: nil, content: content, origin: origin), at: place)
      case 2 where place < members.count: members.remove(at: place)
      case 3 where place < members.count:
        members.append(members.remove(at: place))
        if Bool.random(using: &random) {
          let last = members.count - 1
          members[last].content = content
          members[last].origin = origin
        }
      default: break
      }
    }
  }
}
