package import WeftDefinition
import WeftDiagnostics
package import WeftExpressions

/// A text with expressions; a class because it is passed around more often than it is created.
package final class PlannedText: Sendable {
  package let site: TextSite
  package let template: Template
  /// The range of the string in the file, including its quotes; `nil` for a workflow built in Swift.
  let place: SourceRange?
  /// The file that contains it, as an index into ``Plan/files``.
  package let file: Int

  init(site: TextSite, template: Template, place: SourceRange?, file: Int) {
    self.file = file
    self.site = site
    self.template = template
    self.place = place
  }

  /// Visits its expressions, in order.
  func visitExpressions(_ visit: (Expression) -> Void) {
    template.visitExpressions(visit)
  }

  func part(_ range: SourceRange) -> TextPart { TextPart(string: place, part: range) }
}

/// The owner of a text.
enum TextOwner: Sendable, Hashable {
  /// A workflow, by its top level among the groups.
  case workflow(Int)
  case group(Int)
  case step(Int)

  var isWorkflow: Bool {
    if case .workflow = self { true } else { false }
  }
}

extension Step {
  /// Visits every text of the step or group that may contain expressions, without those of members.
  func visitTexts(_ visit: (TextSite, String) -> Void) {
    if let name { visit(.name, name) }
    settings.visitTexts(visit)
    switch action {
    case .run(let command): command.visitTexts(visit)
    case .wait(let waiting): waiting.computedText.map { visit(.waiting, $0) }
    case .approve(let approval): visit(.message, approval.message)
    case .workflow(let nested): nested.parameters.visitTexts(visit)
    case .use(let call): call.parameters.visitTexts(visit)
    case .http(let call): call.visitTexts { visit(.http($0), $1) }
    case .group, .compute: break
    }
    if hasControl { control.visitTexts(visit) }
    guard hasValues else { return }
    for output in outputs { output.value.map { visit(.output(output.name), $0) } }
    for key in ComputedKey.allCases where computed[key] != nil {
      visit(.computed(key), computed[key] ?? "")
    }
  }
}

extension Workflow {
  /// Visits the texts of the workflow itself.
  func visitTexts(_ visit: (TextSite, String) -> Void) {
    settings.visitTexts(visit)
    if let concurrency { visit(.concurrencyKey, concurrency.key) }
    for output in outputs { output.value.map { visit(.output(output.name), $0) } }
    for key in ComputedKey.allCases where computed[key] != nil {
      visit(.computed(key), computed[key] ?? "")
    }
  }
}

extension CommandSettings {
  fileprivate func visitTexts(_ visit: (TextSite, String) -> Void) {
    if let workingDirectory { visit(.workingDirectory, workingDirectory) }
    // In an order that is the same in every run of the planner.
    let names = environment.count < 2 ? Array(environment.keys) : environment.keys.sorted()
    for name in names {
      if case .some(.some(let value)) = environment[name] { visit(.variable(name), value) }
    }
  }
}

extension Command {
  fileprivate func visitTexts(_ visit: (TextSite, String) -> Void) {
    switch invocation {
    case .script(let text): visit(.script, text)
    case .program(let arguments):
      for (index, argument) in arguments.enumerated() { visit(.argument(index), argument) }
    }
    switch stdin {
    case .text(let text): visit(.input, text)
    case .file(let path): visit(.inputFile, path)
    case .log, nil: break
    }
    guard let caching = self.caching else { return }
    for (index, text) in caching.inputs.enumerated() { visit(.cacheInput(index), text) }
    for (index, text) in caching.outputs.enumerated() { visit(.cacheOutput(index), text) }
    caching.key.map { visit(.cacheKey, $0) }
  }
}
