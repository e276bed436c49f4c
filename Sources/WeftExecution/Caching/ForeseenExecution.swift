import WeftCaching
import WeftPlanning

/// The forecast for one execution of a step.
struct ForeseenExecution {
  let address: StepAddress
  let isDecided: Bool
  /// `nil` if it is known only during the run.
  let subject: CacheSubject?
  /// The paths of its outputs; `nil` if they are known only during the run.
  let outputs: [[String]]?
  var forecast: CacheForecast
  let explanation: CacheExplanation?

  /// Adds the changes that the execution makes.
  ///
  /// - Parameter after: The changes to files anywhere that come before the step.
  func add(to changes: inout CacheChanges, _ cache: StepCache?, after: NumberSet) {
    guard let outputs else { return changes.addUnknown(by: address) }
    if let subject, case .cached = forecast.verdict, let entry = explanation?.nearest,
      forecast.unless == nil,
      isDecided
    {
      let made = KnownOutputs {
        cache?.entries(
          of: subject.step, near: entry.key, making: entry.outputs, isCurrent: false) ?? []
      }
      changes.add(entry, at: outputs, made: made, by: address, after: after)
    } else {
      changes.addUnknown(at: outputs, by: address, after: after)
    }
  }

  /// Elements run beside and after one another: what is said of one whose inputs others make is uncertain.
  static func hedge(
    _ executions: inout [ForeseenExecution], besides state: [String]?
  ) {
    let places = OutputPlaces(executions.flatMap { $0.outputs ?? [] })
    guard !places.outputs.isEmpty else { return }
    for index in executions.indices where executions[index].forecast.unless == nil {
      guard let subject = executions[index].subject, places.affect(subject, besides: state) else {
        continue
      }
      executions[index].forecast.unless = executions[index].address
    }
  }
}

/// The outputs of all elements of a step.
private struct OutputPlaces {
  let outputs: Set<[String]>
  /// The number of outputs that are at a path or below it.
  private var counts: [ArraySlice<String>: Int] = [:]

  init(_ outputs: [[String]]) {
    self.outputs = Set(outputs)
    for output in self.outputs {
      for length in 1...output.count { counts[output[..<length], default: 0] += 1 }
    }
  }

  /// Whether an element may read an output of another one.
  func affect(_ subject: CacheSubject, besides state: [String]?) -> Bool {
    if let inputs = subject.literalInputs {
      return inputs.contains { input in
        let own = subject.outputs.count { $0.starts(with: input) }
        return (1..<input.count).contains { outputs.contains(Array(input[..<$0])) }
          || counts[input[...], default: 0] > own
      }
    }
    // The rule leaves out the outputs of the element itself.
    guard let rule = try? subject.rule(besides: state) else { return true }
    return outputs.contains { rule.includes($0) || rule.canInclude(below: $0) }
  }
}
