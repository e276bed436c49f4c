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
    for address in try addresses(in: preview) {
      guard let prediction = preview.cachePrediction(of: address) else {
        console.output.write(
          "\"\(address)\" would not run: it is not selected, its condition is false, or its loop has no elements\n"
        )
        continue
      }
      for line in prediction.explanation(of: address) {
        console.output.write(TerminalText.harmless(line) + "\n")
      }
    }
    return .success
  }

  /// The address of the step; if the elements of its loop are known, that of the element, or those of all elements in
  /// one of a loop around it.
  private func addresses(in preview: PlanPreview) throws(CommandFailure) -> [StepAddress] {
    let planned = try cachedStep(of: preview.plan).address
    guard let address = StepAddress(parsing: step), address != planned,
      let elements = preview.cachePrediction(of: planned)?.elements, !elements.isEmpty
    else { return [planned] }
    let known = elements.map(\.address.text)
    let named = elements.map(\.address).filter { $0.isInside(address) }
    guard !named.isEmpty else {
      throw CommandFailure(
        .usage, "\"\(step)\" is not an element of its loop",
        help: NearestName.step(step, among: known).asSuggestion
          ?? "the elements are \(known.prefix(5).joined(separator: ", "))"
          + (known.count > 5 ? " and \(known.count - 5) more" : ""))
    }
    return named
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
