import Synchronization
import WeftCurl
import WeftDefinition
package import WeftEvents
package import WeftFutures
package import WeftHTTP
import WeftPlanning
package import WeftPlatform

/// Sends the requests of steps, by one transport that shares its connections among them.
package final class HTTPExecutor: StepExecutor {
  private let run: RunID
  private let time: any TimeSource
  private let grace: Duration
  /// The threads that evaluate responses, because the transport's own thread must not be blocked. Subsequent
  /// work runs there, too, up to the next request, so more threads than processors would only wait for each
  /// other.
  ///
  /// `nil` if responses are evaluated where they arrive.
  private let threads: ThreadPool?
  /// Whether nothing is written: a cache in a folder lasts as long as the run, and downloads do not come from one.
  private let leavesNoFiles: Bool
  private let startDirectory: String?
  private let trace: RunTrace?
  private let state: Mutex<State>

  private struct State {
    /// Created by the first request.
    var transport: (any Transport)?
    /// Keyed by folder; that of the run alone has none. Created by the first request that names it.
    var caches: [String?: HTTPCache] = [:]
  }

  package init(
    run: RunID, configuration: EngineConfiguration, time: any TimeSource
  ) {
    self.run = run
    self.time = time
    grace = configuration.stopPolicy.grace
    startDirectory = configuration.startDirectory
    trace = configuration.trace
    let transport = configuration.resources.transport
    threads =
      transport is any AttemptTransport
      ? nil : ThreadPool(name: "weft-answers", limit: ThisProcess.processorCount)
    leavesNoFiles = (transport as? any AttemptTransport)?.leavesNoFiles ?? false
    state = Mutex(State(transport: transport))
  }

  package func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    guard let call = attempt.resolved.action.request else {
      preconditionFailure("\(attempt.address) is to send a request and has none")
    }
    let builder = RequestBuilder(
      call: call, texts: attempt.resolved.requestTexts,
      directory: attempt.resolved.directory(from: startDirectory),
      derivedKey: run.idempotencyKey(of: attempt.address),
      isSecret: attempt.secrets.areIn)
    do throws(StepFailure) {
      var request = try builder.request()
      request.declaredRepeatability = attempt.step.step.declaredRepeatability
      request.saveTo?.resuming = attempt.task.partial?.file
      if let trace {
        request.headers.addIfMissing(trace.attempt(ofInstance: attempt.instanceNumber).header)
      }
      let progress = request.saveTo.map { _ in
        ProgressReporter(of: attempt, time, after: HTTPExecutor.quickDownload)
      }
      request.saveTo?.watch = { bytes, whole in
        progress?.report(StepProgress(bytes, of: whole, unit: .bytes))
      }
      let pagination = Pagination(
        call, request, asked: (attempt.task.polling?.asked ?? 0) + 1, attempt.questions)
      let transport = try transport(for: call, of: attempt, folder: builder.cacheFolder)
      let client = HTTPClient(transport: transport) { [time] in time.now }
      let run = RequestRun(
        attempt, pagination, client, time: time, grace: grace, threads: threads,
        progress: progress)
      run.begin()
      return run.promise.future
    } catch {
      return Future(value: AttemptEnd(.failed(error)))
    }
  }

  /// The time after which a download reports its bytes.
  private static let quickDownload = Duration.milliseconds(300)

  private func openTransport(for attempt: Attempt) -> any Transport {
    state.withLock { state in
      if let transport = state.transport as? any AttemptTransport {
        return transport.serving(attempt)
      }
      if let transport = state.transport { return transport }
      let opened = CurlTransport()
      state.transport = opened
      return opened
    }
  }

  /// Requests without caching use an open cache as well, because it must forget the responses that they
  /// invalidate.
  private func transport(
    for call: HTTPCall, of attempt: Attempt, folder: String?
  ) throws(StepFailure) -> any Transport {
    let transport = openTransport(for: attempt)
    let secrets = attempt.secrets
    // What the run alone has need not be free of secrets.
    let holdsSecret: @Sendable (String) -> Bool = { folder != nil && secrets.areIn($0) }
    if leavesNoFiles, call.saveTo != nil { return transport }
    if let cache = state.withLock({ $0.caches[folder] }) {
      return CachingTransport(transport, cache: cache, unless: holdsSecret)
    }
    guard call.cache != nil else { return transport }
    let cache = try openCache(in: leavesNoFiles ? nil : folder)
    // If two are opened at once, the first is kept.
    let kept = state.withLock { state in
      state.caches[folder] = state.caches[folder] ?? cache
      return state.caches[folder] ?? cache
    }
    return CachingTransport(transport, cache: kept, unless: holdsSecret)
  }

  private func openCache(in folder: String?) throws(StepFailure) -> HTTPCache {
    guard let folder else { return .inMemory() }
    do throws(CacheFolderError) {
      return try .onDisk(folder)
    } catch {
      throw StepFailure(
        classes: [.output], message: error.message,
        help: "name a writable folder, or \"cache\": true for this run alone")
    }
  }
}

/// A transport that distinguishes the requests of attempts, and whose responses arrive where an evaluation may take its
/// time: for tests.
package protocol AttemptTransport: Transport {
  /// Whether nothing may be written for its requests: neither downloads nor folders with responses.
  var leavesNoFiles: Bool { get }
  /// Returns the transport for the requests of one attempt.
  func serving(_ attempt: Attempt) -> any Transport
}

extension AttemptTransport {
  package var leavesNoFiles: Bool { false }
}

/// The facts about a step's request that decide whether it is retried, polled or resumed.
package struct RequestTrace: Sendable, Hashable {
  package var summary: HTTPSummary
  /// `nil` if there was none.
  var answer: Response?
  /// The least delay that the server asks for.
  var retryAfter: Duration?
  /// The method of a request that the server may have performed already, and that must not be sent again.
  var methodInDoubt: String? { summary.isInDoubt ? summary.method : nil }
  var partial: PartialDownload?
}

/// The saved part of a file whose rest did not arrive.
struct PartialDownload: Sendable, Hashable {
  let file: PartialFile

  /// Removes the part, because no further attempt will complete it.
  func discard() { file.discard() }

  static func == (left: PartialDownload, right: PartialDownload) -> Bool {
    left.file === right.file
  }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(file)) }
}
