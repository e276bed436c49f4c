import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftShell

/// Checks the literal inputs and outputs of cached steps: they are in the start directory, no step reads its own
/// outputs, no two steps have the same output, and a script reads no variable that its cache key does not cover.
struct CachingChecker {
  private struct Output {
    let names: [String]
    let text: String
    let step: Int
  }

  private let outline: Outline
  private var outputs: [Output] = []
  private var found = FoundProblems()

  static func problems(of outline: Outline) -> [PlacedProblem] {
    var checker = CachingChecker(outline: outline)
    for index in outline.steps.indices where outline.steps[index].isCached {
      guard let command = outline.steps[index].command, let caching = command.caching else {
        continue
      }
      checker.check(caching, of: command, step: index)
    }
    checker.checkSharedOutputs()
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
      outputs.append(Output(names: place, text: path, step: index))
    }
  }

  private mutating func checkInputs(
    _ caching: Command.Caching, of command: Command, in directory: [String], step index: Int
  ) {
    var inputs = caching.inputs
    if case .file(let path)? = command.stdin { inputs.append(path) }
    var written = caching
    written.outputs.removeAll(where: \.hasExpression)
    for input in inputs where !input.hasExpression {
      guard let output = written.output(around: input, in: directory) else { continue }
      report(.cachedInputInOutput(subject(index), input: input, output: output), ofStep: index)
    }
  }

  private mutating func checkSharedOutputs() {
    let sorted = outputs.sorted { one, other in
      one.names == other.names
        ? one.step < other.step : one.names.lexicographicallyPrecedes(other.names)
    }
    var outer: Output?
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
          subject(output.step), path: output.text, with: subject(around.step), at: around.text),
        ofStep: output.step)
    }
  }

  private func subject(_ index: Int) -> OutlineMember.Subject {
    outline.member(at: outline.steps[index].node).subject
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
