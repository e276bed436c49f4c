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
    var number = 0
    for node in plan.topologicalOrder {
      let node = Int(node)
      var before = CacheChanges(next: number)
      for known in plan.dependencies[node].compactMap({ changes[Int($0)] }) { before.add(known) }
      if case .step(let index) = plan.nodes[node] {
        let step = plan.steps[Int(index)]
        if !plan.isCertainlySkipped(step) { foresee(Int(index), &before) }
      }
      number = before.next
      changes[node] = before
    }
  }

  /// - Parameter changes: The changes before the step; on return, those after it.
  private mutating func foresee(_ index: Int, _ changes: inout CacheChanges) {
    let step = plan.steps[index]
    guard step.isCached else {
      if step.kind.makesAttempts { changes.addUnknown(by: step.address) }
      if let place = resolution.downloads(ofStep: index) {
        changes.addUnknown(at: [place], by: step.address, after: changes.anywhere)
      }
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
    let before = changes.anywhere
    for execution in executions {
      explanations[execution.address] = execution.explanation
      execution.add(to: &changes, cache, after: before)
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
      isDecided: execution.isDecided, subject: subject,
      outputs: subject?.outputs ?? resolution.outputs(ofStep: index, in: execution.instance),
      forecast: forecast,
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
          try WorkspaceReader(workspace, memory: memory).inputs(rule).records, by: rule,
          literal: subject.literalInputs)
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
    let unknown = subject.unknownParts
    // No other entry is nearer to the key than its own.
    let own = unknown.isEmpty ? cache.storedEntry(of: subject.step, key) : nil
    let judge = CacheJudge(
      key: key,
      entries: own.map { [$0] }
        ?? cache.entries(
          of: subject.step, near: key, making: subject.outputPaths, isCurrent: false),
      unknown: unknown,
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
  private let key: CacheKey
  /// The entries, with the parts that are known to differ from the key.
  private let entries: [(entry: CacheEntry, changed: [CachePart])]
  /// Parts that are known only during the run.
  private let unknown: [CachePart]
  private let reads: StepReads
  /// Whether another step reads the step's log.
  private let isLogRead: Bool

  init(
    key: CacheKey, entries: [CacheEntry], unknown: [CachePart], reads: StepReads, isLogRead: Bool
  ) {
    self.key = key
    self.unknown = unknown
    self.reads = reads
    self.isLogRead = isLogRead
    self.entries = entries.map { entry in
      (entry, key.changedParts(from: entry.key).filter { !unknown.contains($0) })
    }
  }

  func explanation(isWhole: (CacheEntry) -> Bool) -> CacheExplanation {
    guard let (nearest, parts) = nearest else {
      return CacheExplanation(verdict: .runs(reasons: [CacheForecast.neverRun]))
    }
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
    return !entries.contains { $0.changed.allSatisfy { $0 == .inputs } }
  }

  /// The entry with the fewest different parts, then with the fewest differences in them; of equals the newest.
  private var nearest: (entry: CacheEntry, changed: [CachePart])? {
    let comparable = entries.filter(isOfSameElement)
    guard let fewest = comparable.map(\.changed.count).min() else { return nil }
    let near = comparable.filter { $0.changed.count == fewest }
    return near.count == 1 || fewest == 0
      ? near.first : near.min { count($0.entry) < count($1.entry) }
  }

  /// Whether a result is of the same element of the loops around the step: by its value, or by the outputs that it
  /// makes. A result of another element differs in everything that the element decides, which explains nothing.
  private func isOfSameElement(_ entry: CacheEntry, changed: [CachePart]) -> Bool {
    !changed.contains(.element) || !entry.outputs.isEmpty && !changed.contains(.outputs)
  }

  private func count(_ entry: CacheEntry) -> Int { key.differences(from: entry.key).count }
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
