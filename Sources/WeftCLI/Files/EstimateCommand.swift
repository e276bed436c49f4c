import Weft
import WeftCaching
import WeftDiagnostics
import WeftJSON
import WeftPlatform
import WeftReporting

/// `weft estimate`: predicts how long a run takes, and what decides that.
struct EstimateCommand: Subcommand {
  private let file: FileOperand
  private let name: String
  private let parallel: [Int]
  private let faster: [String: Double]
  private let choice: StepChoice
  private let readsCache: Bool
  private let format: RunDetailFormat
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) throws(UsageError) {
    file = try FileOperand(parsed)
    name = parsed.operands[0]
    parallel = try parsed.counts(of: .estimatedJobs, in: 1...WorkflowLimits.maxParallel)
    faster = try EstimateCommand.factors(parsed)
    choice = parsed.choice
    readsCache = !parsed.isGiven(.noCache)
    format = try parsed.word(of: .runDetailFormat) ?? .text
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let (plan, inputs) = try file.planned(console, allowsMissing: true)
    var options = Engine.Options()
    options.only = choice.only
    options.skip = choice.skip
    options.from = choice.from
    options.cacheDirectory = StepCache.path(in: place.path)
    options.readsCache = readsCache
    let estimate: Estimate
    do {
      estimate = try Engine(options: options).estimate(
        plan, inputs, .commandLine, parallel: parallel, faster: faster,
        from: FileRunStore(directory: place.path))
    } catch {
      throw failure(error, isNamed: plan.workflow.name != nil)
    }
    switch format {
    case .json: console.output.write(EstimateJSON.rendered(estimate))
    case .text:
      console.output.write(EstimateText(console.output.displaySettings).rendered(estimate))
    }
    return .success
  }

  private func failure(_ error: EstimateError, isNamed: Bool) -> CommandFailure {
    switch error {
    case .workflow(let error): return CommandFailure(.usage, error.diagnostics)
    case .selection(let message, let help):
      return CommandFailure(.usage, message, help: help ?? CommandFailure.helpForSteps)
    case .noDurations:
      return CommandFailure(
        .failure, "no durations of steps of \"\(name)\" are recorded in \"\(place.path)\"",
        help: name == "-" && !isNamed
          ? "durations of a workflow from standard input are recorded by its name: give it a \"name\", or run it from a "
            + "file"
          : "run it first: weft run \(ShellWord.quoted(name)); or find its runs elsewhere with "
            + "--state-dir DIR")
    case .standstill: return CommandFailure(.broken, error.description)
    }
  }

  // MARK: --faster

  private static let largestFactor = 1_000_000.0

  /// Parses the values of `--faster`, such as `build=2x`. A key in an address may contain `=`.
  private static func factors(_ parsed: ParsedArguments) throws(UsageError) -> [String: Double] {
    var factors: [String: Double] = [:]
    for text in parsed.values(of: .faster) {
      guard let sign = text.lastIndex(of: "="), sign > text.startIndex else {
        throw wrong(text, "STEP=2x", "for example: --faster build=2x", parsed)
      }
      let (step, factor) = (String(text[..<sign]), text[text.index(after: sign)...])
      guard let value = number(factor) else {
        let help = number(factor + "x") == nil ? "build=2x" : "\(step)=\(factor)x"
        throw wrong(
          text, "a factor after \"=\", such as 2x or 1.5x", "for example: --faster \(help)", parsed)
      }
      guard value > 0, value <= largestFactor else {
        throw wrong(
          text, "a factor greater than 0, and at most 1000000",
          "2x is half the time, 0.5x is twice the time", parsed)
      }
      guard factors.updateValue(value, forKey: step) == nil else {
        throw wrong(
          text, "each step once", "multiply the factors of \"\(step)\" in one --faster", parsed)
      }
    }
    return factors
  }

  /// A decimal number followed by `x`: digits, and digits after a point.
  private static func number(_ text: Substring) -> Double? {
    guard text.last == "x" else { return nil }
    let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
    let isDecimal = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    return isDecimal && parts.count <= 2 ? Double(text.dropLast()) : nil
  }

  private static func wrong(
    _ found: String, _ wanted: String, _ help: String, _ parsed: ParsedArguments
  ) -> UsageError {
    .wrongValue(
      of: "\"\(Option.faster.name)\"", found: found, wanted: wanted, help: help, parsed.command)
  }
}

/// A prediction as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Unknown values are
/// omitted. Durations are whole microseconds.
enum EstimateJSON {
  static let format = 1

  /// Returns indented JSON with a line end.
  static func rendered(_ estimate: Estimate) -> [UInt8] {
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.object {
      $0.member("format", format)
      $0.array("predictions") { for one in estimate.predictions { $0.prediction(one) } }
      $0.array("criticalPath") { for link in estimate.criticalPath { $0.link(link) } }
      $0.duration("finalDelayUs", estimate.finalDelay)
      $0.array("limits") { for limit in estimate.limits { $0.limit(limit) } }
      $0.array("speedUps") {
        for speedUp in estimate.speedUps {
          $0.object {
            $0.member("step", speedUp.step.text)
            $0.duration("durationUs", speedUp.duration)
          }
        }
      }
      $0.basis(estimate.basis)
    }
    writer.endLine()
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func duration(_ name: StaticString, _ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    member(name, Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
  }

  fileprivate mutating func prediction(_ prediction: Estimate.Prediction) {
    object {
      $0.member("maxParallel", prediction.maxParallel)
      $0.duration("durationUs", prediction.duration)
      if let range = prediction.range {
        $0.duration("fromUs", range.lowerBound)
        $0.duration("toUs", range.upperBound)
      }
      $0.member("outcome", prediction.outcome.rawValue)
      guard let earlier = prediction.earlier else { return }
      $0.object("earlier") {
        $0.member("run", earlier.run.text)
        $0.duration("durationUs", earlier.duration)
        $0.duration("unforeseeableUs", earlier.unforeseeable)
        $0.member("otherInputs", earlier.hasOtherInputs)
        $0.member("otherFile", earlier.hasOtherFile)
      }
    }
  }

  fileprivate mutating func link(_ link: Estimate.Link) {
    object {
      $0.member("step", link.step.text)
      $0.duration("durationUs", link.duration)
      $0.duration("delayUs", link.delay)
      switch link.start {
      case .immediate: $0.member("start", "immediate")
      case .dependency: $0.member("start", "dependency")
      case .slot: $0.member("start", "slot")
      case .pool(let pool):
        $0.member("start", "pool")
        $0.member("pool", pool)
      case .resources: $0.member("start", "resources")
      case .limit: $0.member("start", "maxParallel")
      case .cleanup: $0.member("start", "cleanup")
      case .stopping: $0.member("start", "stopping")
      }
    }
  }

  fileprivate mutating func limit(_ limit: Estimate.Limit) {
    object {
      switch limit.kind {
      case .slots(let count):
        $0.member("limit", "slots")
        $0.member("slots", count)
      case .pool(let pool):
        $0.member("limit", "pool")
        $0.member("pool", pool)
      case .resources: $0.member("limit", "resources")
      case .maxParallel(let address):
        $0.member("limit", "maxParallel")
        $0.member("of", address.text)
      case .all: $0.member("limit", "all")
      }
      $0.duration("withoutUs", limit.without)
    }
  }

  fileprivate mutating func basis(_ basis: Estimate.Basis) {
    object("basis") {
      $0.array("runs", of: basis.runs.map(\.text))
      $0.duration("assumedUs", basis.assumed)
      $0.array("unmeasured", of: basis.unmeasured.map(\.text))
      $0.array("changed", of: basis.changed.map(\.text))
      $0.array("unforeseeable", of: basis.unforeseeable.map(\.text))
      $0.array("cached", of: basis.cached.map(\.text))
      $0.array("conditions", of: basis.conditions.map(\.text))
      $0.array("openConditions", of: basis.openConditions.map(\.text))
      $0.array("loops", of: basis.loops.map(\.text))
      $0.array("openLoops", of: basis.openLoops.map(\.text))
      $0.array("inputs", of: basis.inputs)
      $0.array("failures") {
        for known in basis.failures {
          $0.object {
            $0.member("step", known.step.text)
            $0.member("message", known.failure.message)
          }
        }
      }
    }
  }
}
