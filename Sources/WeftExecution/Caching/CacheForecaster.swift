package import WeftCaching
package import WeftDefinition
package import WeftPlanning
package import WeftPlatform

/// Forecasts before a run which steps will be restored from the cache. It reads files and the cache, and
/// neither starts nor writes anything.
///
/// The outputs of earlier steps are taken into account: those of a cached step will be restored. The changes
/// that a running step makes are unknown, except for a step that declares its outputs.
package struct CacheForecaster {
  private let plan: Plan
  private let cache: StepCache?
  private let workspace: Directory
  private let memory: FileMemory
  private let maker: CacheKeyMaker?
  private let resolution: StaticResolution
  private let state: [String]?
  private var changes: [Int: CacheChanges] = [:]
  package private(set) var forecasts: [Plan.NodeIndex: CacheForecast] = [:]
  /// The explanations by the address in the run: that of a step, or of an element.
  package private(set) var explanations: [StepAddress: CacheExplanation] = [:]

  /// - Parameters:
  ///   - plan: The plan, bound to these inputs.
  ///   - cache: `nil` if there is none yet.
  ///   - stateDirectory: The directory of Weft's own files.
  ///   - startDirectory: `nil` for the current directory of the process.
  package init(
    _ plan: Plan, _ inputs: InputValues, _ cache: StepCache?, stateDirectory: String,
    startDirectory: String? = nil
  ) throws(SystemError) {
    var plan = plan
    // Without them the keys of the steps that have them are not known.
    let environment = EnvironmentFileReader(for: plan, startDirectory: startDirectory)
    plan.fileVariables = (try? environment.variables(for: plan)) ?? FileVariables()
    self.plan = plan
    self.cache = cache
    workspace = try Directory(startDirectory ?? ".")
    memory = cache?.memory ?? FileMemory { WallClock.now.nanoseconds }
    let secrets = RunSecrets()
    maker = cache.map { CacheKeyMaker(cache: $0, secrets: secrets, versions: ToolVersions()) }
    resolution = StaticResolution(plan, inputs, secrets, startDirectory: startDirectory)
    state = CommandCache.place(of: stateDirectory, below: startDirectory ?? ".")
    foresee()
  }

  private mutating func foresee() {
    for node in plan.topologicalOrder {
      let node = Int(node)
      var before = CacheChanges()
      for need in plan.dependencies[node] { before.add(changes[Int(need)] ?? CacheChanges()) }
      if case .step(let index) = plan.nodes[node] {
        let step = plan.steps[Int(index)]
        if !plan.isCertainlySkipped(step) { foresee(Int(index), &before) }
      }
      changes[node] = before
    }
  }

  /// - Parameter changes: The changes before the step; on return, those after it.
  private mutating func foresee(_ index: Int, _ changes: inout CacheChanges) {
    let step = plan.steps[index]
    guard step.isCached else {
      if step.kind.makesAttempts { changes.addUnknown(by: step.address) }
      return
    }
    var executions: [ForeseenExecution] = []
    do throws(StaticResolutionError) {
      for execution in try resolution.executions(ofStep: index) {
        executions.append(foresee(index, execution, after: changes))
      }
    } catch {
      forecasts[step.node] = CacheForecast(.open(because: error.reason))
      return changes.addUnknown(by: step.address)
    }
    if executions.count > 1 { ForeseenExecution.hedge(&executions, besides: state) }
    for execution in executions {
      explanations[execution.address] = execution.explanation
      execution.add(to: &changes, cache)
    }
    if plan.isInLoop(step: index) {
      let elements = executions.map { CacheForecast.Element($0.address, $0.forecast) }
      forecasts[step.node] = CacheForecast(ofElements: elements)
    } else {
      forecasts[step.node] = executions.first?.forecast
    }
  }

  private func foresee(
    _ index: Int, _ execution: StaticResolution.Execution, after changes: CacheChanges
  ) -> ForeseenExecution {
    let (forecast, explanation, subject) = forecast(
      of: index, in: execution.instance, after: changes)
    return ForeseenExecution(
      address: execution.instance.address(of: plan.steps[index].address),
      isDecided: execution.isDecided, subject: subject, forecast: forecast,
      explanation: explanation)
  }

  private func forecast(
    of index: Int, in instance: Instance, after changes: CacheChanges
  ) -> (CacheForecast, CacheExplanation?, CacheSubject?) {
    let subject: CacheSubject
    let rule: FileRule
    let seen: CacheChanges.Seen
    do throws(StaticResolutionError) {
      subject = try resolution.subject(ofStep: index, in: instance)
      do throws(CacheKeyError) { rule = try subject.rule(besides: state) } catch {
        throw StaticResolutionError(reason: error.message)
      }
      do throws(WorkspaceError) {
        seen = changes.seen(
          try WorkspaceReader(workspace, memory: memory).inputs(rule).records, by: rule)
      } catch {
        throw StaticResolutionError(reason: error.message)
      }
    } catch {
      return (CacheForecast(.open(because: error.reason)), nil, nil)
    }
    guard let cache, let maker else {
      return (CacheForecast(.runs(reasons: [CacheForecast.neverRun])), nil, subject)
    }
    var key = maker.keyWithoutFiles(of: subject, log: nil)
    key.set(.inputs, files: seen.files)
    let entries = cache.entries(
      of: subject.step, near: key, making: subject.outputPaths, isCurrent: false)
    let judge = CacheJudge(
      key: key, entries: entries, unknown: subject.unknownParts,
      reads: plan.values.reads(ofNode: plan.steps[index].node),
      isLogRead: plan.logs.isRead(ofStep: index))
    let reader = WorkspaceReader(workspace, memory: memory)
    let explanation = judge.explanation {
      cache.isWhole($0) && cache.canRestore($0, to: reader)
    }
    return (
      CacheForecast(
        explanation.verdict, unless: judge.isCertain(explanation) ? nil : seen.unknownBy),
      explanation, subject
    )
  }
}

/// The reason why a step would run or not, with the nearest cached result.
package struct CacheExplanation: Sendable {
  package var verdict: CacheForecast.Verdict
  /// The matching result, or that with the fewest differences; `nil` if the step has none.
  package var nearest: CacheEntry?
  package var differences: [CacheDifference] = []
}

extension CacheExplanation {
  /// The reason why the step runs, as a clause: `inputs changed: a.c, b.c; env changed: CC`.
  package var reason: String {
    if nearest == nil { return "no result is cached" }
    if differences.isEmpty { return "its cached result is incomplete" }
    return CachePart.allCases.compactMap { part in
      let names = differences.filter { $0.part == part }.map(\.name)
      guard !names.isEmpty else { return nil }
      let named = names.prefix(CacheExplanation.namedLimit).filter { !$0.isEmpty }
      let rest =
        names.count > named.count && !named.isEmpty
        ? " and \(names.count - named.count) more" : ""
      let list = named.isEmpty ? "" : ": " + named.joined(separator: ", ") + rest
      return "\(part.rawValue) changed\(list)"
    }.joined(separator: "; ")
  }

  private static let namedLimit = 5
}

/// Compares the present cache key of a step with its cached results.
struct CacheJudge {
  let key: CacheKey
  let entries: [CacheEntry]
  /// Parts that are known only during the run.
  let unknown: [CachePart]
  let reads: StepReads
  /// Whether another step reads the step's log.
  let isLogRead: Bool

  func explanation(isWhole: (CacheEntry) -> Bool) -> CacheExplanation {
    guard let nearest else {
      return CacheExplanation(verdict: .runs(reasons: [CacheForecast.neverRun]))
    }
    let parts = changedParts(nearest)
    guard parts.isEmpty else {
      return CacheExplanation(
        verdict: .runs(reasons: parts.map(\.rawValue)), nearest: nearest,
        differences: key.differences(from: nearest.key).filter { parts.contains($0.part) })
    }
    if let part = unknown.first {
      return CacheExplanation(verdict: .open(because: part.reasonForLater), nearest: nearest)
    }
    guard isWhole(nearest), nearest.answers(reads), !isLogRead || nearest.keepsWholeLog else {
      return CacheExplanation(verdict: .runs(reasons: ["result"]), nearest: nearest)
    }
    return CacheExplanation(verdict: .cached, nearest: nearest)
  }

  /// Whether no change to files can alter the verdict.
  func isCertain(_ explanation: CacheExplanation) -> Bool {
    guard case .runs = explanation.verdict else { return false }
    return !entries.contains { changedParts($0).allSatisfy { $0 == .inputs } }
  }

  /// The entry with the fewest different parts, then with the fewest differences in them; of equals the newest.
  private var nearest: CacheEntry? {
    let ranked = entries.filter(isOfSameElement).map { ($0, changedParts($0).count) }
    guard let fewest = ranked.map(\.1).min() else { return nil }
    let near = ranked.filter { $0.1 == fewest }.map(\.0)
    return near.count == 1 || fewest == 0
      ? near.first : near.min { count($0) < count($1) }
  }

  /// Whether a result is of the same element of the loops around the step: by its value, or by the outputs that it
  /// makes. A result of another element differs in everything that the element decides, which explains nothing.
  private func isOfSameElement(_ entry: CacheEntry) -> Bool {
    let changed = key.changedParts(from: entry.key)
    return !changed.contains(.element) || !entry.outputs.isEmpty && !changed.contains(.outputs)
  }

  private func count(_ entry: CacheEntry) -> Int { key.differences(from: entry.key).count }

  private func changedParts(_ entry: CacheEntry) -> [CachePart] {
    key.changedParts(from: entry.key).filter { !unknown.contains($0) }
  }
}

extension CachePart {
  fileprivate var reasonForLater: String {
    switch self {
    case .version: "the version of its tools"
    case .stdin: "the log that it reads"
    default: rawValue
    }
  }
}

extension CacheSubject {
  /// The parts that cannot be known before something has run.
  var unknownParts: [CachePart] {
    var parts: [CachePart] = []
    if version != nil { parts.append(.version) }
    if case .log = input { parts.append(.stdin) }
    return parts
  }
}

extension CacheEntry {
  fileprivate func answers(_ reads: StepReads) -> Bool {
    (keepsStdout || !reads.contains(.stdout)) && (keepsStderr || !reads.contains(.stderr))
  }
}

/// The changes that earlier steps make to the files that a step reads.
struct CacheChanges {
  private struct Restored {
    var root: String
    var files: [FileRecord]
    /// The files that the step is known to have made: of these, only the listed ones exist afterwards.
    var made: EarlierOutputs
    private let paths: Set<String>

    init(_ entry: CacheEntry, at root: String, made: EarlierOutputs) {
      self.root = root
      self.made = made
      files = entry.files(at: root)
      paths = Set(files.map(\.path))
    }

    func replaces(_ file: FileRecord) -> Bool {
      file.isBelow(root) && (paths.contains(file.path) || made.contains(file))
    }
  }

  /// Files that will exist, whatever exists now.
  private var restored: [Restored] = []
  /// Paths whose future content is not known yet; without a path: anywhere.
  private var unknown: [(root: String?, by: StepAddress)] = []

  /// Files as a step will find them, and the step that may have changed them.
  struct Seen {
    var files: [FileRecord]
    var unknownBy: StepAddress?
  }

  mutating func add(_ other: CacheChanges) {
    for one in other.restored where !restored.contains(where: { $0.root == one.root }) {
      restored.append(one)
    }
    for one in other.unknown where !unknown.contains(where: { $0.root == one.root }) {
      unknown.append(one)
    }
  }

  /// Adds a step that runs and does not declare its outputs.
  mutating func addUnknown(by step: StepAddress) { unknown.append((nil, step)) }

  mutating func addUnknown(at outputs: [[String]], by step: StepAddress) {
    for output in outputs {
      let root = output.joined(separator: "/")
      restored.removeAll { $0.root == root }
      unknown.append((root, step))
    }
  }

  /// Adds a step that is restored from the cache, with its outputs.
  mutating func add(_ entry: CacheEntry, at outputs: [[String]], made: EarlierOutputs) {
    for output in outputs {
      let root = output.joined(separator: "/")
      unknown.removeAll { $0.root == root }
      restored.removeAll { $0.root == root }
      restored.append(Restored(entry, at: root, made: made))
    }
  }

  /// - Parameter files: The files that exist now.
  func seen(_ files: [FileRecord], by rule: FileRule) -> Seen {
    var seen = Seen(
      files: files.filter { file in !restored.contains { $0.replaces(file) } })
    for one in restored {
      for file in one.files where rule.includes(file.names) {
        switch file.content {
        case .file: seen.files.append(file)
        // The target of the link is only known once it exists.
        case .link: seen.unknownBy = seen.unknownBy ?? unknown.first?.by
        case .directory, .text, .long, .secret, .unset: break
        }
      }
    }
    for (root, step) in unknown where seen.unknownBy == nil {
      guard let root else {
        seen.unknownBy = step
        continue
      }
      let names = FileRecord(path: root, .directory).names
      if rule.includes(names) || rule.canInclude(below: names)
        || seen.files.contains(where: { $0.isBelow(root) })
      {
        seen.unknownBy = step
      }
    }
    return seen
  }
}
