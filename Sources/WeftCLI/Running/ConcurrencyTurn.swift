import WeftDefinition
import WeftDiagnostics
import WeftExecution
import WeftPlatform
import WeftRecord

/// A run's turn among those of the same `concurrency` key.
struct ConcurrencyTurn {
  let concurrency: Concurrency
  let run: RunID
  let state: StateDirectory
  let console: Console
  /// When this engine came.
  private let since = WallTime(nanoseconds: WallClock.now.nanoseconds)

  init(
    _ concurrency: Concurrency, of run: RunID, in state: StateDirectory, _ console: Console
  ) {
    (self.concurrency, self.run, self.state, self.console) = (concurrency, run, state, console)
  }

  enum Result {
    /// The lock is held until the run has ended; `nil` where there is nothing to wait for.
    case begins(ConcurrencyLock?)
    /// A signal has come first.
    case stopped
  }

  /// How long another may have ended before that is seen.
  private static let attention = Duration.milliseconds(50)

  /// Waits until it has come.
  func wait(stop: StopSwitch) throws(Refusal) -> Result {
    let wakeup = Wakeup()
    stop.attach(wakeup)
    defer { stop.detach(wakeup) }
    var told: ConcurrencyLock.Holder?
    while stop.level == .none {
      switch try attempt() {
      case .taken(let lock): return .begins(lock)
      case .held(let holder):
        if concurrency.policy == .refuse { throw refusal(holder?.run) }
        if let holder, holder != told {
          try meet(holder)
          told = holder
        }
        wakeup.wait(atMost: ConcurrencyTurn.attention)
      }
    }
    return .stopped
  }

  private func attempt() throws(Refusal) -> ConcurrencyLock.Attempt {
    do { return try ConcurrencyLock.take(concurrency.key, for: run, since: since, in: state) } catch
    {
      throw Refusal(.broken, error.message, help: error.help)
    }
  }

  private func meet(_ holder: ConcurrencyLock.Holder) throws(Refusal) {
    // Whoever came later is not ended by whoever has waited longer.
    guard concurrency.policy == .cancelPrevious, holder.since.nanoseconds < since.nanoseconds
    else { return say("waits for run \(holder.run), which has the key \(key)") }
    do {
      try RunFolder.leave(
        .cancel, for: holder.run, in: state,
        at: WallTime(nanoseconds: WallClock.now.nanoseconds))
      say("has run \(holder.run) cancelled, which has the key \(key), and waits for its end")
    } catch {
      // One without a record cannot be reached.
      say("waits for run \(holder.run), which has the key \(key)")
    }
  }

  private func say(_ text: String) {
    console.errors.write("weft: \(text)\n")
    console.errors.flush()
  }

  private func refusal(_ holder: RunID?) -> Refusal {
    Refusal(
      .broken,
      "nothing was started: \(holder.map { "run \($0)" } ?? "another run") has the key \(key)",
      help: "\"policy\": \"wait\" waits for its end, \"cancelPrevious\" has it cancelled")
  }

  private var key: String { "\"\(TerminalText.harmless(concurrency.key))\"" }
}
