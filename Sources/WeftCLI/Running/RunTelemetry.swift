import Synchronization
import Weft
import WeftPlatform
import WeftTelemetry

/// The trace of a run, if `--otlp` or the environment asks for one, and the messages about it. None of them changes an
/// exit code.
struct RunTelemetry {
  /// `nil` if no trace is sent; then nothing knows of traces.
  let tracer: OpenTelemetry?
  private let console: Console
  private let delivered: Delivered

  private final class Delivered: Sendable {
    let messages = Mutex<[String]>([])
  }

  /// - Parameter collector: That of `--otlp`; `nil` leaves the choice to the environment.
  init(_ collector: TelemetrySettings?, _ console: Console) {
    let environment = TelemetryEnvironment(collector: collector) { ThisProcess.variable($0) }
    let delivered = Delivered()
    (self.console, self.delivered) = (console, delivered)
    tracer = environment.settings.map { settings in
      OpenTelemetry(settings) { delivery in
        if let message = delivery.message { delivered.messages.withLock { $0.append(message) } }
      }
    }
    for problem in environment.problems { warn(problem) }
    if collector != nil, environment.settings?.parent?.isSampled == false {
      warn("the trace that TRACEPARENT names is not sampled: nothing is sent")
    }
  }

  /// Waits for the rest of the trace, a second at most, and reports what is lost.
  func finish(masking run: Run) {
    tracer?.waitUntilFlushed()
    let messages = delivered.messages.withLock { $0 }
    for message in messages { warn(run.live.secrets.mask.masked(message)) }
  }

  private func warn(_ message: String) {
    console.errors.write("weft: warning: \(TerminalText.harmless(message))\n")
    console.errors.flush()
  }
}

extension ParsedArguments {
  func collector(of option: Option) throws(UsageError) -> TelemetrySettings? {
    guard let found = value(of: option) else { return nil }
    do { return try TelemetrySettings(collector: found) } catch {
      throw .wrongValue(
        of: "\"\(option.name)\"", found: ParsedArguments.withoutCredentials(found),
        wanted: "the URL of a collector",
        help: error.help ?? "for example: \(option.name) "
          + "http://localhost:4318", command)
    }
  }

  /// A text that may be a URL, without what may be a credential.
  private static func withoutCredentials(_ text: String) -> String {
    let path = text.prefix { $0 != "?" }
    guard let at = path.lastIndex(of: "@") else { return String(path) }
    return "…" + path[at...]
  }
}
