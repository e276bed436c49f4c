import TestSupport
import Testing
import WeftPlatform
import WeftShell
import WeftTestKit

/// Whatever the value and its place, the program receives it byte for byte.
@Suite struct PropertyTests {
  /// The number of cases that one shell process runs one after another.
  private static let casesInBatch = 250
  private static let batches: UInt64 = isLong ? 400 : 2

  @Test(
    "S01: a value reaches the program byte for byte, and never as code",
    arguments: TestedShell.installed)
  func valuesArriveUnchanged(shell: TestedShell) throws {
    for seed in 0..<Self.batches {
      let batch = Batch(seed: seed, count: Self.casesInBatch, shell: shell)
      if try batch.fails() { try batch.report() }
    }
  }
}

/// The cases of one seed, and the output they must have.
private struct Batch {
  let shell: TestedShell
  let seed: UInt64
  var cases: [Case] = []

  struct Case {
    var seed: UInt64
    var script: QuotedScript
    var values: [Int]
    var printed: [[[UInt8]]]
  }

  let values: [String]

  init(seed: UInt64, count: Int, shell: TestedShell) {
    self.shell = shell
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    values = (0..<40).map { _ in NastyValues.value(using: &random) }
    var generator = ScriptGenerator(random, dialect: shell.dialect, values: values)
    while cases.count < count {
      let statement = generator.script()
      let (script, values) = statement.line.script(shell.dialect)
      guard script.isSound else {
        // For zsh, less is proved than is true.
        if shell.dialect != .zsh {
          Issue.record(
            "\(shell), seed \(seed): \(script.rejections[0].rejection.message)\n\(script.text)")
          return
        }
        continue
      }
      cases.append(Case(seed: seed, script: script, values: values, printed: statement.printed))
    }
  }

  private static let prologue = """
    exec 3>>out
    p() { printf '%s\\0' "$#" "$@" >&3; }
    pin() { { printf '1\\0'; cat; printf '\\0'; } >&3; }

    """

  func fails() throws -> Bool { try difference(cases) != nil }

  /// Finds the case that fails alone.
  func report() throws {
    for one in cases {
      guard let difference = try difference([one]) else { continue }
      Issue.record(
        "\(shell), seed \(seed): \(difference)\n\(one.script.text)\n---\n\(rewritten(one))")
      return
    }
    Issue.record("\(shell), seed \(seed): \(try difference(cases) ?? "passes now")")
  }

  private func rewritten(_ one: Case) -> String {
    one.script.text(referringTo: one.values.map { "WEFT_VALUE_\($0)" })
  }

  /// The difference between the expected and actual output of these cases, all run in one process; `nil` if there is
  /// none.
  private func difference(_ cases: [Case]) throws -> String? {
    let folder = Folder()
    var text = Self.prologue
    var expected: [UInt8] = []
    for (index, one) in cases.enumerated() {
      text += "p 'case \(index)'\n" + rewritten(one)
      for arguments in [[Array("case \(index)".utf8)]] + one.printed {
        expected += Array("\(arguments.count)\0".utf8)
        for argument in arguments { expected += argument + [0] }
      }
    }
    folder.write("script", Array(text.utf8))
    var variables: [(name: String, value: String?)] = values.enumerated().map {
      ("WEFT_VALUE_\($0)", $1)
    }
    variables += [("F", "fx"), ("LC_ALL", seed.isMultiple(of: 2) ? "C.UTF-8" : "C")]
    let ran = try shell.run(["-e", "script"], variables: variables, in: folder.path)
    if folder.has("canary") { return "a value was run" }
    let printed = folder.read("out")
    if printed != expected {
      let common = zip(printed, expected).prefix { $0 == $1 }.count
      let from = max(0, common - 60)
      return
        "printed \(String(decoding: printed[from...].prefix(160), as: UTF8.self).debugDescription) where \(String(decoding: expected[from...].prefix(160), as: UTF8.self).debugDescription) was expected; \(ran.errors.prefix(300))"
    }
    if ran.status != .exited(code: 0) { return "\(ran.status): \(ran.errors)" }
    return ran.errors.isEmpty ? nil : ran.errors
  }
}
