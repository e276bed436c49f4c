import WeftDefinition
import WeftExpressions

/// Checks that what a step reads and makes, as far as it is written out, is in the start directory.
struct CachingChecker {
  private let outline: Outline
  private var found = FoundProblems()

  static func problems(of outline: Outline) -> [PlacedProblem] {
    var checker = CachingChecker(outline)
    for (index, step) in outline.steps.enumerated() {
      if let caching = step.command?.caching { checker.check(caching, ofStep: index) }
    }
    return checker.found.problems
  }

  private init(_ outline: Outline) {
    self.outline = outline
  }

  private mutating func check(_ caching: Command.Caching, ofStep index: Int) {
    let directory = workingDirectory(ofStep: index) ?? ""
    guard !directory.hasExpression else { return }
    guard !directory.hasPrefix("/"), let names = Command.Caching.names(directory, in: []) else {
      return tell(directory, ofStep: index)
    }
    for path in caching.outputs
    where !path.hasExpression && Command.Caching.names(path, in: names) == nil {
      tell(path, ofStep: index)
    }
    for pattern in caching.inputs where !pattern.hasExpression {
      if (try? Command.Caching.pattern(pattern, in: names)) == nil { tell(pattern, ofStep: index) }
    }
  }

  private mutating func tell(_ path: String, ofStep index: Int) {
    let step = outline.steps[index]
    found.file = outline.groups[step.group].file
    found.node = step.node
    found.append(
      .cachedOutside(outline.member(at: step.node).subject, path: path), step.step.place.value?.step
    )
  }

  private func workingDirectory(ofStep index: Int) -> String? {
    let step = outline.steps[index]
    if let own = step.settings.workingDirectory { return own }
    var next: Int? = step.group
    while let group = next {
      let planned = outline.groups[group]
      let settings = planned.step?.settings ?? outline.files[planned.file].workflow.settings
      if let directory = settings.workingDirectory { return directory }
      next = planned.isTopLevel ? nil : planned.parent
    }
    return nil
  }
}
