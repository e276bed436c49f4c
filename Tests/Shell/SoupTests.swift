import TestSupport
import Testing
import WeftShell
import WeftTestKit

/// The strongest test: whatever the script, if every expression in it is in an allowed place, then no value is run.
@Suite struct SoupTests {
  private static let scriptsInBatch = 200
  private static let batches: UInt64 = isLong ? 100 : 2

  @Test(
    "S01: no script in which values were given a place runs one",
    arguments: TestedShell.installed)
  func noValueIsRun(shell: TestedShell) throws {
    for seed in 0..<Self.batches {
      try SoupBatch(seed: seed, count: Self.scriptsInBatch, shell: shell).check()
    }
  }

  @Test(
    "X23: no script in which proved values were given a place runs one",
    arguments: TestedShell.installed)
  func noProvedValueIsRun(shell: TestedShell) throws {
    for seed in 0..<Self.batches {
      try SoupBatch(seed: seed, count: Self.scriptsInBatch, shell: shell, pool: .proved).check()
    }
  }

  /// Checks that the soup can reveal a proof that is wrong: one that takes any text for an integer, or for a word.
  @Test(arguments: TestedShell.installed, [ValueText.integer, .word])
  func wrongProofsAreFound(shell: TestedShell, proof: ValueText) throws {
    let found = try (0..<4 as Range<UInt64>).contains { seed in
      let batch = SoupBatch(seed: seed, count: 200, shell: shell, pool: .supposed(proof))
      return try !batch.scriptsThatRunAValue().isEmpty
    }
    #expect(found)
  }

  /// Checks that the soup can reveal a fault: in rejected scripts, quoting the variable would not be enough.
  @Test(arguments: TestedShell.installed)
  func quotesAloneWouldNotDo(shell: TestedShell) throws {
    let batch = SoupBatch(seed: 1, count: 200, shell: shell, isControl: true)
    #expect(try !batch.scriptsThatRunAValue().isEmpty)
  }
}

/// The accepted scripts of one seed, and values that leave a trace when they are run.
private struct SoupBatch {
  let shell: TestedShell
  let seed: UInt64
  let values: [String]
  private(set) var scripts: [String] = []
  private(set) var sources: [String] = []

  enum Pool {
    /// Values that leave a trace when they are run, of which nothing is known.
    case code
    /// Those of `code`, and a false claim about them.
    case supposed(ValueText)
    /// Values of every kind that is proved; `canary` is a program that leaves a trace.
    case proved

    var values: [(text: String, known: ValueText)] {
      let code =
        NastyValues.code + [
          "-c", "-v", "eval", "sh", "x", "-i", "a[$(touch canary)]", "-va[$(touch canary)]",
          "x=$(touch canary)",
        ]
      return switch self {
      case .code: code.map { ($0, .any) }
      case .supposed(let known): code.map { ($0, known) }
      case .proved:
        NastyValues.integers.map { ($0, .integer) } + NastyValues.plain.map { ($0, .word) }
          + NastyValues.code.prefix(10).map { ($0, .any) }
      }
    }
  }

  init(
    seed: UInt64, count: Int, shell: TestedShell, isControl: Bool = false, pool: Pool = .code
  ) {
    self.shell = shell
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    let chosen = (0..<30).map { _ in pool.values.randomElement(using: &random)! }
    values = chosen.map(\.text)
    let known: [ValueText] = if case .code = pool { [] } else { chosen.map(\.known) }
    var soup = SoupGenerator(random, values: values.count)
    var templates = ScriptGenerator(soup.random, dialect: shell.dialect, values: values)
    while scripts.count < count {
      let template =
        soup.number(0..<3) == 0 ? soup.mutated(templates.script().line) : soup.script()
      // A loop that lost its break would only end at the time limit.
      guard template.hasHoles, !template.text.contains("while :") else { continue }
      let (script, placeholders) = template.script(shell.dialect, known: known)
      guard isControl ? script.wasRejectedThoughRead : script.isSound else { continue }
      let names = placeholders.map { "WEFT_VALUE_\($0)" }
      scripts.append(isControl ? template.quoted : script.text(referringTo: names))
      sources.append(script.text)
    }
  }

  func check() throws {
    for index in try scriptsThatRunAValue().prefix(3) {
      Issue.record(
        "\(shell), seed \(seed): a value was run\n\(sources[index])\n---\n\(scripts[index])")
    }
  }

  /// Runs the scripts, each in a process and a folder of its own, and returns those that left a trace.
  func scriptsThatRunAValue() throws -> [Int] {
    let folder = Folder()
    var text = ""
    var variables: [(name: String, value: String?)] = values.enumerated().map {
      ("WEFT_VALUE_\($0)", $1)
    }
    for index in scripts.indices {
      folder.makeFolder("\(index)")
      text += "(cd \(index); ulimit -t 2; eval \"$SCRIPT\(index)\") >/dev/null 2>&1 </dev/null\n"
      variables.append(("SCRIPT\(index)", scripts[index]))
    }
    variables.append(("F", "fx"))
    // Some words are the name of a command that leaves a trace.
    folder.write("canary-command", Array("#!/bin/sh\ntouch canary\n".utf8), isProgram: true)
    variables.append(("PATH", "\(TestedShell.path):\(folder.path)"))
    folder.write("script", Array(text.utf8))
    _ = try shell.run(["script"], variables: variables, in: folder.path)
    return scripts.indices.filter { folder.has("\($0)/canary") }
  }
}

extension QuotedScript {
  /// Whether it was rejected but read to its end: it is likely to run, and something in it would have been evaluated.
  fileprivate var wasRejectedThoughRead: Bool {
    !isSound
      && rejections.allSatisfy {
        if case .unfollowable = $0.rejection.reason { false } else { true }
      }
  }
}
