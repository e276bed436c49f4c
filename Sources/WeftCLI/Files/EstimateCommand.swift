import Weft
import WeftCaching
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
      throw failure(error)
    }
    switch format {
    case .json: console.output.write(EstimateJSON.rendered(estimate))
    case .text:
      console.output.write(EstimateText(console.output.displaySettings).rendered(estimate))
    }
    return .success
  }

  private func failure(_ error: EstimateError) -> CommandFailure {
    switch error {
    case .workflow(let error): return CommandFailure(.usage, error.diagnostics)
    case .unknownStep(let name, let nearest):
      return CommandFailure(StepChoice.UnknownStep(name: name, nearest: nearest))
    case .noDurations:
      return CommandFailure(
        .failure, "no durations of steps of \"\(name)\" are recorded in \"\(place.path)\"",
        help: name == "-"
          ? "durations are recorded for files only: run the file by its name"
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
