import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftPlanning

/// The secret outputs of a step: they only become known after the step has written its log.
extension RunEngine {
  /// Masks the secret outputs of an attempt whose log is buffered, even if it has failed. If one of them cannot
  /// be evaluated, the text that it is evaluated from is withheld, because the secret may be in it.
  func learnSecrets(of attempt: Attempt, _ end: AttemptEnd) {
    let own = nodeValues(of: attempt, end)
    let collector = OutputCollector(values, in: attempt.instance)
    guard !collector.hideSecretOutputs(of: attempt, own) else { return }
    let reads = plan.values.reads(ofNode: attempt.step.node)
    let readsStderr = reads.contains(.stderr)
    attempt.output.withhold(standardErrorToo: readsStderr || !reads.contains(.stdout))
  }
}

extension OutputCollector {
  /// Masks from now on the outputs that a step declares to be secret.
  ///
  /// - Returns: Whether all of them are known.
  fileprivate func hideSecretOutputs(of attempt: Attempt, _ own: NodeValues) -> Bool {
    let secret = attempt.step.step.outputs.filter(\.isSecret)
    var isKnown = true
    if secret.contains(where: { $0.value == nil }) {
      // The file is read for its values, which masks them.
      isKnown =
        isEmpty(attempt.outputFile)
        || (try? written(in: attempt.outputFile, by: attempt.step)) != nil
    }
    guard
      let variables = try? StepResolver(values, in: instance).variables(ofStep: attempt.index)
    else { return false }
    var scope = StepScope(
      values: values, instance: instance, group: attempt.step.group, attempt: attempt.number)
    scope.own = (own, attempt.step.address)
    scope.variables = variables
    let texts = values.plan.values.texts(ofStep: attempt.index)
    for declaration in secret {
      guard let text = declaration.value else { continue }
      var value = ExpressionValue.string(text)
      if let planned = texts.first(where: { $0.site == .output(declaration.name) }) {
        guard let evaluation = try? planned.template.evaluate(in: scope) else {
          isKnown = false
          continue
        }
        value = evaluation.value
      }
      values.secrets.add(everyTextIn: value)
    }
    return isKnown
  }

  private func isEmpty(_ path: String?) -> Bool {
    guard let path else { return true }
    return (try? OutputFile.bytes(at: path))?.isEmpty == true
  }
}
