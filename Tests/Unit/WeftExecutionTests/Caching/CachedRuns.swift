import Testing
import WeftCaching
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

/// Successive runs of one workflow, in a directory of their own, with one cache.
final class CachedRuns {
  let path: String
  private let cachePath: String
  var readsCache = true

  init() throws {
    path =
      FileSystem.temporaryDirectory + "/weft-test-"
      + String(UInt64.random(in: 0 ... .max), radix: 36)
    try FileSystem.makeDirectory(path)
    cachePath = path + "/.weft/cache"
  }

  deinit { Directory.removeTree(path) }

  func write(_ name: String, _ text: String) throws {
    Descriptor.remove("\(path)/\(name)")
    try Descriptor.creating("\(path)/\(name)", .orEmptied).writeAll(text)
  }

  func read(_ name: String) -> String? {
    (try? FileReading.bytes(ofRegularFile: "\(path)/\(name)", limit: 1 << 20)).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  func remove(_ name: String) { Descriptor.remove("\(path)/\(name)") }

  /// The programs that have run: each appends a letter to a file.
  var ran: String { read("ran") ?? "" }

  static func plan(_ json: String) throws -> Plan {
    let (workflow, syntax) = WorkflowDecoder.decode(
      SourceFile(path: "w.json", bytes: Array(json.utf8)))
    let (plan, diagnostics) = Planner.plan(try #require(workflow, "\(syntax)"))
    return try #require(plan, "\(diagnostics)")
  }

  func run(
    _ json: String, secrets: RunSecrets = RunSecrets(), recorder: (any RunRecorder)? = nil,
    onEvent: (RunEvent) -> Void = { _ in }
  ) async throws -> RealRun {
    try await run(
      CachedRuns.plan(json), secrets: secrets, recorder: recorder, onEvent: onEvent)
  }

  func run(
    _ plan: Plan, secrets: RunSecrets = RunSecrets(), recorder: (any RunRecorder)? = nil,
    onEvent: (RunEvent) -> Void = { _ in }
  ) async throws -> RealRun {
    var configuration = EngineConfiguration()
    configuration.startDirectory = path
    configuration.secrets = secrets
    configuration.journal.recorder = recorder
    configuration.cache = CacheAccess(
      try StepCache(cachePath), reads: readsCache, stateDirectory: path + "/.weft")
    return try await RealRun(plan, configuration: configuration, onEvent: onEvent)
  }
}

extension RealRun {
  /// The steps restored from the cache.
  var cached: [String] {
    report.steps.compactMap { if case .cached = $0.state { $0.address.text } else { nil } }
  }

  var warnings: [String] { report.warnings.map(\.message) }
}
