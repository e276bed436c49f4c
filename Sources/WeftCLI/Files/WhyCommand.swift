import Weft
import WeftCaching
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

/// `weft why`: whether a step would run, and what has changed since its most similar result.
struct WhyCommand: Subcommand {
  private let file: FileOperand
  private let step: String

  init(_ parsed: ParsedArguments) throws(UsageError) {
    file = try FileOperand(parsed)
    step = parsed.operands[1]
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let preview = try file.preview(console)
    let step = try cachedStep(of: preview.plan)
    guard let prediction = preview.cachePrediction(of: step.address) else {
      console.output.write("\"\(step.address)\" would not run: it is not selected\n")
      return .success
    }
    for line in prediction.explanation(of: step.address) {
      console.output.write(TerminalText.harmless(line) + "\n")
    }
    return .success
  }

  private func cachedStep(of plan: Plan) throws(CommandFailure) -> PlannedStep {
    let known = Set(plan.steps.map(\.address))
    // The plan contains the steps of a loop only once.
    let named = StepAddress(parsing: step)?.planned(isKnown: known.contains)
    guard let found = plan.steps.first(where: { $0.address == named }) else {
      let groups = plan.groups.filter { !$0.isTopLevel }.compactMap(\.address)
      if let named, groups.contains(named) {
        throw CommandFailure(
          .usage, "\"\(step)\" is a group, and only steps have results",
          help: "name a step in it; \"weft graph FILE\" shows their names")
      }
      let nearest = NearestName.step(step, among: plan.steps.map(\.address.text))
      throw CommandFailure(
        .usage, "\"\(step)\" is not a step of this workflow",
        help: nearest.asSuggestion
          ?? "\"weft graph FILE\" shows the names of the steps")
    }
    guard found.isCached else {
      throw CommandFailure(
        .usage, "step \"\(found.address)\" has no \"cache\", so it always runs",
        help: "declare what it reads and writes: \"cache\": { \"inputs\": […], \"outputs\": […] }")
    }
    return found
  }
}
