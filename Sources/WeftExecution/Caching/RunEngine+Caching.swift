import Synchronization
import WeftCaching
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftFutures
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Restores steps from the cache instead of running them, and stores the results of those that run.
extension RunEngine {
  /// Looks up the step's result. The step waits for no slot and no pool until the lookup has ended.
  func lookUp(
    _ task: StepTask, in cache: CommandCache
  ) -> MaybeReady<NodeResult, Never> {
    guard let subject = cacheSubject(of: task, cache) else { return queue(task) }
    let stop = StopSwitch()
    let reads = plan.values.reads(ofNode: task.step.node)
    let found = cache.find(
      subject, reads: reads, isLogRead: plan.logs.isRead(ofStep: task.index), logs: logs,
      stop: stop)
    let finding = whileRunning(task, immunity: task.immunity, stop, found)
    return .of(finding, with: (self, task)) { context, finding in
      context.0.goOn(context.1, finding)
    }
  }

  private func goOn(
    _ task: StepTask, _ finding: CacheFinding
  ) -> MaybeReady<NodeResult, Never> {
    if let reason = obstacle(to: task) { return .now(leave(task, reason)) }
    switch finding {
    case .hit(let entry, let notes):
      report(notes, of: task)
      return takeOver(entry, task, notes).map { .later($0) } ?? queue(task)
    case .miss(let ticket, let notes):
      report(notes, of: task)
      return queue(task.holding(ticket))
    case .unknown(let obstacle):
      warnings.report(.notCached(task.address, because: obstacle.message))
      return queue(task)
    case .stopped: return queue(task)
    }
  }

  private func report(_ notes: CacheNotes, of task: StepTask) {
    for pattern in notes.unmatchedInputs {
      warnings.reportUnmatchedInput(pattern, of: task.step.address)
    }
    reportForeignFiles(notes.foreign, of: task)
  }

  private func reportForeignFiles(_ files: [FileRecord], of task: StepTask) {
    let paths = files.filter { $0.content != .directory }.map(\.path).sorted()
    if !paths.isEmpty { warnings.report(.foreignOutput(of: task.address, paths: paths)) }
  }

  /// - Returns: `nil` if the step is to run. A step whose expressions cannot be evaluated fails when it runs.
  private func cacheSubject(of task: StepTask, _ cache: CommandCache) -> CacheSubject? {
    var resolved = ResolvedStep(
      asWritten: task.step, directory: plan.workingDirectory(of: task.step))
    let failure = StepResolver(values, in: task.instance).resolve(
      task.index, attempt: task.attempt, &resolved)
    guard failure == nil, let command = resolved.command, let caching = command.caching,
      !command.usesTerminal
    else { return nil }
    do throws(CacheKeyError) {
      let subject = try cache.subject(resolved, caching, of: task)
      configuration.resources.cachedFiles?(
        CachedFiles(caching, ofStep: task.index, in: subject.directory))
      return subject
    } catch {
      warnings.report(.notCached(task.address, because: error.message))
      return nil
    }
  }

  /// Ties a job on another thread to a step: the job is stopped when the step would be. The step still waits
  /// for the job's end, since it may be writing files.
  private func whileRunning<Value: Sendable>(
    _ task: StepTask, immunity: Immunity, _ stop: StopSwitch, _ job: Future<Value, Never>
  ) -> Future<Value, Never> {
    pause(task.instanceNumber, in: task.scope, for: nil, immunity: immunity).whenSettled { end in
      if end.get() == .cutShort { stop.request(.now) }
    }
    return job.map { [self] value in
      endPause(task.instanceNumber)
      return value
    }
  }

  /// Ends the step with its cached result.
  ///
  /// - Returns: `nil` if an output cannot be evaluated from the cached result: the step then runs, and fails.
  private func takeOver(
    _ entry: CacheEntry, _ task: StepTask, _ notes: CacheNotes
  ) -> Future<NodeResult, Never>? {
    let duration = Duration.milliseconds(entry.milliseconds)
    var own = NodeValues(
      outcome: .success, conclusion: .success, attempts: 1, duration: duration, exit: .code(0),
      stdout: entry.result.stdout.map(captured), stderr: entry.result.stderr.map(captured))
    let collector = OutputCollector(values, in: task.instance)
    do throws(StepFailure) {
      own.outputs = try collector.outputs(
        ofStep: task.index, own: own, written: try entry.result.written.map(OutputValue.init),
        attempt: 1)
    } catch {
      return nil
    }
    entry.result.log.map { replay($0, of: task) }
    let end = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: .code(0), duration: duration,
      logBytes: UInt64(logs.size(of: task.instanceNumber)),
      outputs: own.outputs.map(ReportedOutput.init))
    return Future(
      value: conclude(
        task, end, own, as: .cached,
        making: RecordedOutputFile.outputs(of: entry, beside: notes.foreign)))
  }

  /// Writes the cached log to the log of this run, and reports it as events.
  private func replay(_ log: CachedLog, of task: StepTask) {
    guard !log.bytes.isEmpty || !log.isWhole else { return }
    logOwners.begin(task)
    let output = StepOutputSink(
      step: task.instanceNumber, address: task.address, limit: ByteCount(.max), of: self,
      capture: nil)
    for part in log.parts {
      part.bytes.withUnsafeBytes { output.write($0, to: part.isError ? .stderr : .stdout) }
    }
    if !log.isWhole {
      var record = "weft: the rest of this log is not cached\n"
      record.withUTF8 { output.write(UnsafeRawBufferPointer($0), to: .stderr) }
    }
    output.finish()
    logs.endAttempt(of: task.instanceNumber)
  }

  private func captured(_ bytes: [UInt8]) -> CapturedText {
    CapturedText(OutputCapture.Stream(bytes), isSecret: false, spool: values.spool)
  }

  // MARK: Storing

  /// Stores the result of an attempt if it is a clean success: exit code 0, with no process left behind.
  ///
  /// - Returns: The stored files. Settles when other steps may change the step's files; `nil` if nothing is
  ///   stored.
  func storeResult(
    of attempt: Attempt, _ end: StepEnd, _ own: NodeValues?
  ) -> Future<[RecordedOutputFile], Never>? {
    guard let cache, let ticket = attempt.task.ticket, end.outcome == .success else { return nil }
    let task = attempt.task
    if let reason = end.reasonNotToKeep {
      warnings.report(.notCached(task.address, because: reason))
      return nil
    }
    do throws(CacheKeyError) {
      let result = try result(of: attempt, own)
      let stop = StopSwitch()
      let repeated = end.attempts == 1 ? nil : cacheSubject(of: task, cache)
      let kept = cache.keep(ticket, result, repeated, lasting: end.duration, stop: stop)
      return whileRunning(task, immunity: max(task.immunity, .fromFailures), stop, kept).map {
        [self] keeping in
        switch keeping {
        case .kept(let entry):
          reportForeignFiles(entry.foreign, of: task)
          if !entry.earlier.isEmpty {
            warnings.report(.earlierOutput(of: task.address, paths: entry.earlier.map(\.path)))
          }
          return RecordedOutputFile.outputs(of: entry)
        case .refused(let reason):
          warnings.report(.notCached(task.address, because: reason))
          return []
        case .stopped: return []
        }
      }
    } catch {
      warnings.report(.notCached(task.address, because: error.message))
      return nil
    }
  }

  private func result(
    of attempt: Attempt, _ own: NodeValues?
  ) throws(CacheKeyError) -> CachedResult {
    if own?.outputs.contains(where: \.isSecret) == true { throw .workspace("an output is secret") }
    return CachedResult(
      stdout: try bytes(attempt.output.capture?.stdout, "stdout"),
      stderr: try bytes(attempt.output.capture?.stderr, "stderr"),
      written: (own?.written ?? []).map {
        CachedOutput(name: $0.name, json: $0.value.json.description)
      }, log: attempt.output.log)
  }

  private func bytes(
    _ stream: OutputCapture.Stream?, _ name: String
  ) throws(CacheKeyError) -> [UInt8]? {
    guard let stream else { return nil }
    if stream.isCut { throw .workspace("its \(name) is too long") }
    if secrets.hidesAnything, secrets.mask.contains(stream.bytes) {
      throw .workspace("its \(name) contains a secret")
    }
    return stream.bytes
  }
}

extension StepEnd {
  /// The reason why the result of a successful step is not stored.
  fileprivate var reasonNotToKeep: String? {
    switch exit {
    case .code(0): break
    case .code(let code)?: return "its exit code is \(code), not 0"
    case .signal(let name)?: return "it was ended by signal \(name)"
    case nil: return "it has no exit code"
    }
    return leftovers.isEmpty && unkillable.isEmpty ? nil : "it left processes running"
  }
}

extension OutputValue {
  /// - Throws: Never for a value from the cache.
  fileprivate init(_ kept: CachedOutput) throws(StepFailure) {
    do {
      self.init(
        name: kept.name, value: try ExpressionValue.json(kept.json, from: kept.name),
        isSecret: false)
    } catch {
      throw StepFailure(classes: [.output], message: "output \"\(kept.name)\" was not cached")
    }
  }
}
