public import WeftDefinition

/// What a command sees around it, after all layers have been put together.
extension Plan {
  /// The groups around a step, innermost first, the top level last.
  public func enclosingGroups(ofGroup group: Int) -> some Sequence<Int> {
    sequence(first: group) { groups[$0].parent }
  }

  /// The settings of a step's enclosing layers and its own, outermost first.
  private func layers(of step: PlannedStep) -> [CommandSettings] {
    var layers = [step.step.settings]
    for group in enclosingGroups(ofGroup: step.group) {
      layers.append(groups[group].step?.settings ?? workflow.settings)
    }
    return layers.reversed()
  }

  /// The variables that the layers set (`nil`: remove), inner layers winning.
  public func environment(of step: PlannedStep) -> [String: String?] {
    layers(of: step).reduce(into: [:]) { merged, layer in
      merged.merge(layer.environment) { _, inner in inner }
    }
  }

  /// As written, relative to the start directory; `nil` is the start directory itself.
  public func workingDirectory(of step: PlannedStep) -> String? {
    layers(of: step).last { $0.workingDirectory != nil }?.workingDirectory
  }

  public func shell(of step: PlannedStep) -> Shell {
    layers(of: step).last { $0.shell != nil }?.shell ?? .sh
  }

  /// The command line that will be started: a script's is its shell with the text appended.
  public func arguments(of step: PlannedStep) -> [String] {
    switch step.command.invocation {
    case .program(let arguments): arguments
    case .script(let text): shell(of: step).prefix + [text]
    }
  }
}
