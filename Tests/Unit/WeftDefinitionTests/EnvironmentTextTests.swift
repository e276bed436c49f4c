import Testing
import WeftDiagnostics

@testable import WeftDefinition

/// The rules of env files.
struct EnvironmentTextTests {
  private static let outer = ["HOME": "/home/me", "EMPTY": "", "BOTH": "outer"]

  private func values(_ text: [UInt8], concealed: Bool = false) -> Result<
    [String: String], EnvironmentTextError
  > {
    Result { () throws(EnvironmentTextError) in
      try EnvironmentText(SourceFile(path: ".env", bytes: text)).values(
        after: ["BEFORE": "b"], inheriting: { EnvironmentTextTests.outer[$0] }, concealed: concealed
      )
    }
  }

  /// The problems as `line:column: code message`.
  private func problems(_ text: [UInt8], concealed: Bool = false) -> [String] {
    guard case .failure(let error) = values(text, concealed: concealed) else { return [] }
    return error.diagnostics.map { problem in
      guard let place = problem.place else { return problem.message }
      let position = place.file.position(of: Int(place.range.start))
      return "\(position.line):\(position.column): \(problem.code) \(problem.message)"
    }
  }

  @Test(arguments: [
    ("A=x", "x"), ("A=", ""), ("A= ", ""), ("  A\t=  x y \t", "x y"), ("export A=x", "x"),
    ("export\tA=x", "x"), ("A=1\nA=x", "x"), ("\u{FEFF}A=x", "x"), ("A=x\r\nB=y\r\n", "x"),
    ("A=x\r", "x"), ("# c\n\n  # d\nA=x", "x"), ("A=x # c", "x"), ("A=x\t# c", "x"), ("A= # c", ""),
    ("A=#c", "#c"), ("A=x#c", "x#c"), ("A=it's", "it's"), (#"A=C:\new\t"#, #"C:\new\t"#),
    ("A='x # y'", "x # y"), ("A='$HOME ${HOME}'", "$HOME ${HOME}"),
    (#"A='it\'s \n \\'"#, #"it's \n \\"#),
    ("A='x' # c", "x"), ("A='x\r\ny'\r\nB=1", "x\ny"), ("A=\"x\ny\"", "x\ny"), ("A=\"\"", ""),
    (#"A="\n\r\t\\\"\$HOME" # c"#, "\n\r\t\\\"$HOME"), ("A=\"x # y\"", "x # y"),
    ("A=é\u{1F600}", "é\u{1F600}"), ("A=$HOME/x", "/home/me/x"), ("A=\"${HOME}x\"", "/home/mex"),
    ("A=$$HOME", "$HOME"), ("A=5$", "5$"), ("A=$1 $-", "$1 $-"), ("A=$BEFORE", "b"),
    ("B=1\nA=$B$B", "11"), ("BOTH=own\nA=$BOTH", "own"), ("A=${NO:-x y}", "x y"),
    ("A=${NO-x}", "x"),
    ("A=${EMPTY:-x}", "x"), ("A=${EMPTY-x}", ""), ("A=${HOME:+x}", "x"), ("A=${EMPTY:+x}", ""),
    ("A=${EMPTY+x}", "x"), ("A=${NO+x}", ""), ("A=${HOME:?no}", "/home/me"), ("A=${EMPTY?no}", ""),
    ("A=${NO:-${NO:-${HOME}}/x}", "/home/me/x"), ("A=${NO:-}", ""), ("A=\"${NO:-a\\\"b}\"", "a\"b"),
    ("A={x}", "{x}"), ("export=1\nA=x", "x"), ("export = 1\nA=$export", "1"), ("A=a=b", "a=b"),
    ("A.b-c=1\nA=x", "x"), ("BOTH\nA=$BOTH", "outer"), ("export HOME # c\nA=$HOME", "/home/me"),
    ("A=\(String(repeating: "x", count: 300_000))", String(repeating: "x", count: 300_000)),
  ])
  func aValue(text: String, value: String) throws {
    #expect(try values(Array(text.utf8)).get()["A"] == value)
  }

  @Test func aNameAloneTakesTheOuterValueOrNone() throws {
    let values = try values(Array("HOME\nNO\nBEFORE".utf8)).get()
    #expect(values == ["HOME": "/home/me"])
  }

  @Test func onlyAWantedVariableMustHaveAValue() throws {
    let text = EnvironmentText(SourceFile(path: ".env", bytes: Array("A=1\nB=$NO\nC=$B".utf8)))
    func values(_ wanted: String) throws -> [String: String] {
      try text.values(after: [:], inheriting: { _ in nil }, wanted: wanted, concealed: true)
    }
    #expect(try values("A") == ["A": "1"])
    #expect(throws: EnvironmentTextError.self) { try values("C") }
  }

  @Test func earlierFilesStay() throws {
    #expect(try values(Array("A=1".utf8)).get() == ["A": "1", "BEFORE": "b"])
  }

  @Test(arguments: [
    ("=x", "1:1: W0608 found \"=\" where a variable begins, expected its name"),
    ("A=1\n1A=x", "2:1: W0608 found \"1\" where a variable begins, expected its name"),
    ("my name=x", "1:4: W0608 found \"n\" after the name of a variable, expected \"=\""),
    ("A: x", "1:2: W0608 found \":\" after the name of a variable, expected \"=\""),
    ("é=x", "1:1: W0608 found \"é\" where a variable begins, expected its name"),
    ("A=\"x", "1:3: W0608 the quote is never closed"),
    ("B=1\nA='x\ny\nz", "2:3: W0608 the quote is never closed"),
    ("A='x\\'", "1:3: W0608 the quote is never closed"),
    ("A=\"x\\", "1:3: W0608 the quote is never closed"),
    ("A='x'y", "1:6: W0608 found \"y\" after the closing quote, expected the end of the line"),
    ("A='x'#y", "1:6: W0608 found \"#\" after the closing quote, expected the end of the line"),
    ("A=\"x\\dy\"", "1:5: W0608 found \"\\d\", which is not an escape here"),
    ("A=\"x\\\ny\"", "1:5: W0608 found a backslash, which is not an escape here"),
    ("A=x\\$y", "1:4: W0608 found \"\\$\", which is not an escape here"),
    ("A=x\ry", "1:4: W0608 found a carriage return in the value"),
    ("A=${", "1:3: W0608 \"${\" is never closed"), ("A=${B", "1:3: W0608 \"${\" is never closed"),
    ("A=${B:-x", "1:3: W0608 \"${\" is never closed"),
    ("A=${B/x/y}", "1:3: W0608 found \"${\" without a reference that can be read"),
    ("A=${B:x}", "1:3: W0608 found \"${\" without a reference that can be read"),
    ("A=${}", "1:3: W0608 found \"${\" without a reference that can be read"),
    ("A=x$NO", "1:4: W0609 the variable \"NO\" is not set"),
    ("A=${EMPTY:?}", "1:3: W0609 the variable \"EMPTY\" is not set, or empty"),
    ("A=${NO?}", "1:3: W0609 the variable \"NO\" is not set"),
    ("A=\0", "1:3: W0608 found U+0000, expected the text of an env file"),
  ])
  func aProblemIsReportedWhereItIs(text: String, problem: String) {
    #expect(problems(Array(text.utf8)) == [problem])
  }

  @Test func allMalformedLinesAreReported() {
    let found = problems(Array("=\nA=1\nB=\"\\d\nC=x\"\nD E".utf8))
    #expect(found.map { $0.prefix(4) } == ["1:1:", "3:4:", "5:3:"])
  }

  @Test func bytesThatAreNotUTF8AreRejected() {
    #expect(
      problems(Array("A=caf".utf8) + [0xE9])
        == ["1:6: W0608 found a byte that is not UTF-8, expected the text of an env file"])
  }

  @Test func aFileWithSecretsIsNotShown() {
    let found = problems(Array("A=\"hunter2".utf8), concealed: true)
    #expect(found == [".env:1:3: the quote is never closed"])
    #expect(
      problems(Array("A=hunter2$ecret".utf8), concealed: true)
        == [".env:1:10: the variable after the $ is not set"])
    #expect(
      problems(Array("A=\"\nhunter2 x".utf8), concealed: true).allSatisfy { !$0.contains("hunter") }
    )
    #expect(
      problems(Array("hunter2 x".utf8), concealed: true)
        == [".env:1:9: found \"x\" after the name of a variable, expected \"=\""])
  }

  @Test func referencesAreNotNestedWithoutLimit() {
    let deep = "A=" + String(repeating: "${B:-", count: 100_000)
    #expect(problems(Array(deep.utf8)).count == 1)
  }

  @Test func valuesThatDoubleHaveALimit() {
    let lines =
      ["A0=\(String(repeating: "x", count: 1000))"]
      + (1...60).map { "A\($0)=$A\($0 - 1)$A\($0 - 1)" }
    let found = problems(Array(lines.joined(separator: "\n").utf8))
    #expect(found.count == 1)
    #expect(found.first?.hasSuffix("the values have more than 4 MiB in total") == true)
  }

  @Test func problemsHaveALimit() {
    let found = problems(Array(String(repeating: "=\n", count: 100_000).utf8))
    #expect(found.count == WorkflowLimits.problems)
  }
}
