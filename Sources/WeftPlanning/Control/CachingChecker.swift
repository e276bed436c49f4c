import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftShell

/// Checks the literal inputs and outputs of cached steps: they are in the start directory, no step reads its own
/// outputs, no two steps or elements of a loop have the same output, a step that reads the output of another waits for
/// it, and a script reads no variable that its cache key does not cover.
struct CachingChecker {
  private struct File {
    let names: [String]
    let text: String
    let step: Int
  }

  private let outline: Outline
  private var outputs: [File] = []
  private var inputs: [File] = []
  private var found = FoundProblems()

  /// - Parameter dependencies: `nil` if the order of the steps is not known.
  static func problems(of outline: Outline, _ dependencies: PlanEdges?) -> [PlacedProblem] {
    var checker = CachingChecker(outline: outline)
    for index in outline.steps.indices where outline.steps[index].isCached {
      guard let command = outline.steps[index].command, let caching = command.caching else {
        continue
      }
      checker.check(caching, of: command, step: index)
    }
    checker.checkSharedOutputs()
    if let dependencies { checker.checkOrder(dependencies) }
    return checker.found.problems
  }

  private mutating func check(
    _ caching: Command.Caching, of command: Command, step index: Int
  ) {
    checkVariables(caching, of: command, step: index)
    let directory = workingDirectory(ofStep: index) ?? ""
    guard !directory.hasExpression else { return }
    guard !directory.hasPrefix("/"), let names = Command.Caching.names(directory, in: []) else {
      return report(directory, ofStep: index)
    }
    for path in caching.outputs
    where !path.hasExpression && Command.Caching.names(path, in: names) == nil {
      report(path, ofStep: index)
    }
    for pattern in caching.inputs where !pattern.hasExpression {
      if (try? Command.Caching.pattern(pattern, in: names)) == nil {
        report(pattern, ofStep: index)
      }
    }
    checkInputs(caching, of: command, in: names, step: index)
    for path in caching.outputs where !path.hasExpression {
      guard let place = Command.Caching.names(path, in: names), !place.isEmpty else { continue }
      outputs.append(File(names: place, text: path, step: index))
      if isInLoop(index) {
        report(.outputOfAllElements(fullSubject(index), path: path), ofStep: index)
      }
    }
  }

  /// Whether the step runs for several elements of a loop, as far as their number is known.
  private func isInLoop(_ index: Int) -> Bool {
    var next: TextOwner? = .step(index)
    while let owner = next {
      if let loop = outline.fanOut(of: owner), loop.writtenCount ?? 2 > 1 { return true }
      if case .workflow(let topLevel) = owner {
        next = outline.groups[topLevel].parent.map { outline.owner(ofGroup: $0) }
      } else {
        next = outline.outer(owner)
      }
    }
    return false
  }

  private mutating func checkInputs(
    _ caching: Command.Caching, of command: Command, in directory: [String], step index: Int
  ) {
    var inputs = caching.inputs
    if case .file(let path)? = command.stdin { inputs.append(path) }
    var written = caching
    written.outputs.removeAll(where: \.hasExpression)
    for input in inputs where !input.hasExpression {
      guard let output = written.output(around: input, in: directory) else {
        if !input.hasPrefix("!"), !input.hasPrefix("/"),
          let names = Command.Caching.literalNames(input, in: directory), !names.isEmpty
        {
          self.inputs.append(File(names: names, text: input, step: index))
        }
        continue
      }
      report(.cachedInputInOutput(subject(index), input: input, output: output), ofStep: index)
    }
  }

  private mutating func checkSharedOutputs() {
    let sorted = outputs.sorted { one, other in
      one.names == other.names
        ? one.step < other.step : one.names.lexicographicallyPrecedes(other.names)
    }
    var outer: File?
    // The contents of an output sort after it.
    for output in sorted {
      guard let around = outer, output.names.starts(with: around.names) else {
        outer = output
        continue
      }
      // Overlapping outputs of one step are reported by the decoder.
      guard around.step != output.step else { continue }
      report(
        .sharedOutput(
          fullSubject(output.step), path: output.text, with: fullSubject(around.step),
          at: around.text),
        ofStep: output.step)
    }
  }

  private mutating func checkOrder(_ dependencies: PlanEdges) {
    let makers = Dictionary(outputs.map { ($0.names, $0.step) }) { first, _ in first }
    var search = DependencySearch(dependencies, among: outline.nodes.count)
    for input in makers.isEmpty ? [] : inputs {
      for length in 1...input.names.count {
        guard let maker = makers[Array(input.names.prefix(length))], maker != input.step,
          search.waits(outline.steps[input.step].node, for: outline.steps[maker].node) == false
        else { continue }
        report(
          .unorderedInput(subject(input.step), path: input.text, of: subject(maker)),
          ofStep: input.step)
      }
    }
  }

  private func subject(_ index: Int) -> OutlineMember.Subject {
    outline.member(at: outline.steps[index].node).subject
  }

  /// The step by its address in the whole plan: a file may be used more than once.
  private func fullSubject(_ index: Int) -> OutlineMember.Subject {
    .step(outline.steps[index].address.text)
  }

  private mutating func report(_ path: String, ofStep index: Int) {
    report(.cachedOutside(subject(index), path: path), ofStep: index)
  }

  private mutating func report(_ problem: Diagnostic, ofStep index: Int) {
    let step = outline.steps[index]
    found.file = outline.groups[step.group].file
    found.node = step.node
    found.append(problem, step.step.place.value?.step)
  }

  private func workingDirectory(ofStep index: Int) -> String? {
    outline.layers(ofStep: index).lazy.compactMap(\.workingDirectory).first
  }

  // MARK: Variables

  /// Reports variables that the script reads, but that neither the file sets nor `cache.env` names.
  private mutating func checkVariables(
    _ caching: Command.Caching, of command: Command, step index: Int
  ) {
    guard let text = command.invocation.script, text.utf8.contains(UInt8(ascii: "$")) else {
      return
    }
    let layers = outline.layers(ofStep: index)
    guard layers.lazy.compactMap(\.environmentPolicy).first != .clean,
      // Their variables are part of the key, but not known before a run.
      layers.allSatisfy(\.environmentFiles.isEmpty)
    else { return }
    let reads = QuotedScript.readsFromOutside(
      by: text, placeholders: Template.parse(text).expressionRanges,
      dialect: ShellDialect(commandLine: (layers.lazy.compactMap(\.shell).first ?? .sh).prefix))
    let unknown = (reads ?? []).filter { read in
      !SpecialVariables.isSurrounding(read.name) && !caching.environment.contains(read.name)
        && !layers.contains { $0.environment[read.name] != nil }
    }
    guard let first = unknown.first else { return }
    let step = outline.steps[index]
    let place = step.step.place.value
    let string = place?.texts.first { $0.site == .script }
    let part = TextPart(
      string: string?.range, source: string?.source,
      part: SourceRange(start: first.range.lowerBound, end: first.range.upperBound))
    let file = outline.groups[step.group].file
    found.file = file
    found.node = step.node
    found.append(
      .cachedWithoutVariables(unknown.map(\.name), counted: caching.environment),
      at: part.place(in: outline.files[file].workflow.source.value)
        ?? outline.place(place?.step, inFile: file))
  }
}

// MARK: Wording

extension Diagnostic {
  /// A cached step has an input, an output or a working directory outside of the start directory.
  fileprivate static func cachedOutside(
    _ subject: OutlineMember.Subject, path: String
  ) -> Diagnostic {
    problem(
      "W0225", of: subject,
      "has \"cache\" and a path outside the start directory: \"\(shortName(path))\"",
      key: "cache",
      help: "cached files must be inside the directory where weft starts; see -C")
  }

  fileprivate static func cachedInputInOutput(
    _ subject: OutlineMember.Subject, input: String, output: String
  ) -> Diagnostic {
    problem(
      "W0227", of: subject,
      "reads \"\(shortName(input))\", which is in its cached output \"\(shortName(output))\"",
      key: "cache", help: "let the step write its outputs to a separate directory")
  }

  /// Two cached steps have the same output, or the output of one contains that of the other.
  fileprivate static func sharedOutput(
    _ subject: OutlineMember.Subject, path: String, with other: OutlineMember.Subject,
    at otherPath: String
  ) -> Diagnostic {
    problem(
      "W0228", of: subject,
      "has the cached output \"\(shortName(path))\", which is the same as or inside "
        + "\"\(shortName(otherPath))\" of \(other)",
      key: "cache",
      help:
        "give each step its own output directory"
    )
  }

  /// The elements of a loop have the same cached output.
  fileprivate static func outputOfAllElements(
    _ subject: OutlineMember.Subject, path: String
  ) -> Diagnostic {
    problem(
      "W0228", of: subject,
      "has the cached output \"\(shortName(path))\", which is the same for all elements of its loop",
      key: "cache", help: "let the path depend on the element, such as \"out/${{ item }}\"")
  }

  fileprivate static func unorderedInput(
    _ subject: OutlineMember.Subject, path: String, of maker: OutlineMember.Subject
  ) -> Diagnostic {
    Diagnostic(
      "W0518",
      "\(subject) reads \"\(shortName(path))\", which \(maker) makes, but does not wait for it",
      key: "cache",
      help: "put it after that step in \"steps\", or name that step in its \"needs\"",
      severity: .warning)
  }

  /// - Parameter counted: The variables that the cache key covers.
  fileprivate static func cachedWithoutVariables(
    _ names: [String], counted: [String]
  ) -> Diagnostic {
    let list = list(names)
    return Diagnostic(
      "W0517",
      "the script reads \(list) from the environment, but the cached result does not depend"
        + " on \(names.count == 1 ? "it" : "them")", key: "cache",
      help: "write \"env\": [\((counted + names).map { "\"\($0)\"" }.joined(separator: ", "))] in"
        + " \"cache\", or set \(list) in the \"env\" of the step", severity: .warning)
  }

  private static func list(_ names: [String]) -> String {
    let quoted = names.map { "\"\(shortName($0))\"" }
    guard quoted.count > 1, let last = quoted.last else { return quoted.joined() }
    return "\(quoted.dropLast().joined(separator: ", ")) and \(last)"
  }
}
