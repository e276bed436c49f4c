import Testing
import Weft
import WeftDefinition
import WeftPlatform

/// Results of steps are cached where the engine is configured to, and nowhere else.
struct CacheTests {
  private static let path =
    FileSystem.temporaryDirectory + "/weft-test-" + String(UInt64.random(in: 0 ... .max), radix: 36)

  private static var workflow: Workflow {
    var command = Command(.script("printf x >> ran"))
    command.caching = Command.Caching(inputs: [])
    return Workflow(steps: [Step(id: "make", action: .run(command))])
  }

  private func cached(_ directory: String?) async throws -> Int? {
    var options = Engine.Options()
    options.startDirectory = CacheTests.path
    options.cacheDirectory = directory
    let run = try Engine(options: options).start(CacheTests.workflow)
    return await run.report.end?.counts.cached
  }

  @Test func aStepIsRunAgainOnlyWithoutADirectory() async throws {
    try FileSystem.makeDirectory(CacheTests.path)
    defer { Directory.removeTree(CacheTests.path) }
    #expect(try await cached(nil) == 0)
    #expect(try await cached(nil) == 0)
    #expect(try await cached(CacheTests.path + "/kept") == 0)
    #expect(try await cached(CacheTests.path + "/kept") == 1)
  }

  @Test func theContentOfAScriptFileCounts() async throws {
    let path = CacheTests.path + "-script"
    try FileSystem.makeDirectory(path)
    defer { Directory.removeTree(path) }
    try Descriptor.creating(path + "/w.json", .onlyNew).writeAll(
      #"{ "steps": [{ "script": { "file": "a.sh" }, "cache": { "inputs": [] } }] }"#)
    var options = Engine.Options()
    options.startDirectory = path
    options.cacheDirectory = path + "/kept"
    var counts: [Int?] = []
    // The `#!` line counts as text and as the shell.
    for script in ["true", "true", "true # comment", "true", "#!/bin/bash\ntrue"] {
      try Descriptor.creating(path + "/a.sh", .orEmptied).writeAll(script)
      let workflow = try Workflow(contentsOf: path + "/w.json", startDirectory: path)
      let run = try Engine(options: options).start(workflow)
      counts.append(await run.report.end?.counts.cached)
    }
    #expect(counts == [0, 1, 0, 1, 0])
  }
}
