import Testing
import WeftDefinition
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

/// Secrets are part of the key, and are not written to the cache.
struct CachedSecretTests {
  private let runs: CachedRuns
  private static let workflow = #"""
    { "secrets": { "TOKEN": { "env": "WEFT_TEST_NO_SUCH" } },
      "steps": [ { "id": "make", "run": "printf x >> ran; touch out", "env": { "T": "${{ secrets.TOKEN }}" },
        "stdin": "${{ secrets.TOKEN }}", "cache": { "inputs": [], "outputs": ["out"] } } ] }
    """#

  init() throws { runs = try CachedRuns() }

  private func secrets(_ value: String) throws -> RunSecrets {
    RunSecrets(["TOKEN": try Secret(Array(value.utf8))])
  }

  @Test func anotherSecretIsAnotherKeyAndNeitherIsWrittenDown() async throws {
    let value = "correct horse battery staple"
    _ = try await runs.run(Self.workflow, secrets: secrets(value))
    #expect(try await runs.run(Self.workflow, secrets: secrets(value)).cached == ["make"])
    #expect(try await runs.run(Self.workflow, secrets: secrets("another one")).cached == [])
    var all: [[UInt8]] = []
    try Directory(runs.path).walk(Directory.Choice()) { (found) throws(WorkspaceError) in
      guard case .file = found.stamp.kind else { return }
      let file = try found.opened()
      all.append(
        try placing(found.path) { () throws(SystemError) in
          try file.piece(at: 0, atMost: file.byteCount())
        })
    }
    #expect(all.count > 3)
    let text = Array(value.utf8)
    #expect(!all.contains { bytes in bytes.indices.contains { bytes[$0...].starts(with: text) } })
  }

  @Test func resultWithASecretIsNotCached() async throws {
    let workflow = #"""
      { "secrets": { "TOKEN": { "env": "WEFT_TEST_NO_SUCH" } },
        "steps": [
          { "id": "make", "run": "echo \"$T\"", "env": { "T": "${{ secrets.TOKEN }}" },
            "cache": { "inputs": [] } },
          { "run": "cat >/dev/null", "stdin": "${{ steps.make.stdout }}" } ] }
      """#
    for _ in 1...2 {
      let run = try await runs.run(workflow, secrets: secrets("correct horse"))
      #expect(run.cached == [])
      #expect(
        run.warnings == [#"step "make" is not cached: its stdout contains a secret"#])
    }
  }

  /// The secret begins in one piece that is read and ends in the next.
  @Test(arguments: [0, (256 << 10) - 4])
  func fileWithASecretIsNotCached(offset: Int) async throws {
    let workflow = #"""
      { "secrets": { "TOKEN": { "env": "WEFT_TEST_NO_SUCH" } },
        "steps": [ { "id": "make", "env": { "T": "${{ secrets.TOKEN }}" },
            "run": "mkdir -p out; { head -c \#(offset) /dev/zero; printf '%s' \"$T\"; } > out/file",
            "cache": { "inputs": [], "outputs": ["out"] } } ] }
      """#
    for _ in 1...2 {
      let run = try await runs.run(workflow, secrets: secrets("correct horse"))
      #expect(run.cached == [])
      #expect(
        run.warnings == [
          #"step "make" is not cached: its output "out/file" contains a secret"#
        ])
    }
    var objects: [String] = []
    try Directory(runs.path + "/.weft/cache/objects-1").walk(Directory.Choice()) {
      objects.append($0.path.joined())
    }
    #expect(objects == [])
  }
}
