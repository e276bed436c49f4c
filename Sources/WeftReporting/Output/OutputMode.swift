import WeftEvents
import WeftPlanning

/// The display of step output that `--output` chooses.
package enum OutputMode: String, Sendable, CaseIterable {
  /// As it suits the device: see ``OutputPolicy``.
  case auto
  /// Every line as it arrives.
  case stream
  /// At the end of each step, in a few lines.
  case group
  /// At the end of each step that fails, in a few lines.
  case failed
  /// Only in the summary, which has the last lines of failed steps.
  case none
}

/// Decides which output of a step is shown when, and with which prefix. It knows neither lines nor devices.
///
/// | | a step alone | among others | at its end |
/// |---|---|---|---|
/// | `stream` | each line | each line, with a prefix | |
/// | `auto` on a screen | each line | | an excerpt of the rest |
/// | `auto` elsewhere | each line, with a prefix | each line, with a prefix | |
/// | `auto` for GitHub | each line, in a group | | the rest, in a group |
/// | `group` | | | an excerpt |
/// | `failed` | | | an excerpt, if it failed |
/// | `none` | | | |
struct OutputPolicy: Sendable, Hashable {
  enum Device: Sendable, Hashable {
    /// A terminal with an area that is redrawn. The only one that needs no prefix: it names the step that runs alone.
    case screen
    /// Lines that follow each other.
    case lines
    /// Lines that GitHub Actions can fold.
    case foldedLines
  }

  /// The steps beside a running step.
  enum Company: Sendable, Hashable {
    case others
    case noneFromTheStart
    /// None since the last other step ended, for this time.
    case none(for: Duration)
  }

  /// A moment at which nothing more can be expected for a while.
  enum Moment: Sendable, Hashable {
    /// An attempt has failed, and there will be another one.
    case retry
    case end(Outcome)
    case cached
  }

  /// The form of the output that was not shown while it arrived.
  enum Form: Sendable, Hashable {
    case nothing
    /// All lines, before the step's own line.
    case lines
    /// All lines in a group, before the step's own line.
    case folded
    /// At most ``OutputExcerpt/lineLimit`` lines, below the step's own line.
    case excerpt
  }

  let mode: OutputMode
  let device: Device

  /// The time after which a step that is left alone is shown line by line: one that ends soon keeps the form in which
  /// the others were shown.
  static let settlingTime = Duration.seconds(1)

  /// Whether every line of every step is shown as it arrives.
  var streamsAll: Bool { mode == .stream || mode == .auto && device == .lines }

  /// Whether a line is shown as it arrives.
  func streams(_ company: Company) -> Bool {
    if streamsAll { return true }
    guard mode == .auto else { return false }
    switch company {
    case .others: return false
    case .noneFromTheStart: return true
    case .none(let time): return device == .screen && time >= OutputPolicy.settlingTime
    }
  }

  /// Whether a line that is shown as it arrives begins with the name of its step.
  func prefixes(_ company: Company) -> Bool { device != .screen || company == .others }

  /// - Parameter isStreaming: Whether the step's lines are being shown as they arrive.
  func form(at moment: Moment, isStreaming: Bool) -> Form {
    if streamsAll { return .lines }
    switch mode {
    case .auto where device == .foldedLines: return .folded
    case .auto where isStreaming: return .lines
    case .auto, .stream, .group: return .excerpt
    case .failed: return moment == .end(.failure) ? .excerpt : .nothing
    case .none: return .nothing
    }
  }
}

/// Tracks whether a step runs alone.
struct Solitude: Sendable {
  /// The step that runs alone.
  private(set) var step: StepAddress?
  private var isFromTheStart = false
  private var since = Duration.zero
  private var count = 0

  /// Records the steps that run after an event.
  ///
  /// - Parameters:
  ///   - count: Their number.
  ///   - started: The step that the event starts.
  ///   - first: One of them.
  mutating func update(
    count: Int, started: StepAddress?, first: @autoclosure () -> StepAddress?, at now: Duration
  ) {
    defer { self.count = count }
    guard count == 1 else {
      step = nil
      return
    }
    if started == nil, self.count == 1, step != nil { return }
    step = first()
    isFromTheStart = started != nil
    since = now
  }

  /// Returns the steps beside `step`, which may also be one that does not run, such as a cached one.
  func company(of step: StepAddress, at now: Duration) -> OutputPolicy.Company {
    if count == 0 { return .noneFromTheStart }
    guard self.step == step else { return .others }
    return isFromTheStart ? .noneFromTheStart : .none(for: now - since)
  }
}
