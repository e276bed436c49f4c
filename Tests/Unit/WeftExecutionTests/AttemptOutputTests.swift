import Testing
import WeftDefinition

@testable import WeftEvents
@testable import WeftExecution

@Suite struct AttemptOutputTests {
  private func taken(
    _ chunks: [(StepOutput.Stream, String)], limit: Int
  ) -> (output: AttemptOutput, texts: [String], cuts: Int) {
    var output = AttemptOutput(limit: ByteCount(limit))
    var texts: [String] = []
    var cuts = 0
    func add(_ portion: AttemptOutput.Portion) {
      if portion.isCut { cuts += 1 }
      for (stream, block) in portion.blocks {
        texts.append("\(stream): \(String(decoding: block.bytes, as: UTF8.self))")
      }
    }
    for (stream, text) in chunks {
      Array(text.utf8).withUnsafeBytes { add(output.take($0, stream, at: .zero)) }
    }
    add(output.finish())
    return (output, texts, cuts)
  }

  @Test("O04: what is written up to the limit is passed on, and no more")
  func outputLimitIsExact() {
    let (output, texts, cuts) = taken(
      [(.stdout, "12345\n"), (.stdout, "78\n9"), (.stdout, "0")], limit: 9)
    #expect(texts == ["stdout: 12345\n", "stdout: 78\n"])
    #expect(cuts == 1 && output.isCut && output.bytes == 11)
  }

  @Test func outputWithinTheLimitIsNotCut() {
    let (output, texts, cuts) = taken([(.stdout, "12345\n"), (.stderr, "7890")], limit: 10)
    #expect(texts == ["stdout: 12345\n", "stderr: 7890"])
    #expect(cuts == 0 && !output.isCut && output.bytes == 10)
  }

  @Test func unfinishedLineAtTheLimitIsPassedOn() {
    let (output, texts, cuts) = taken(
      [(.stderr, "err"), (.stdout, "out and more\n"), (.stderr, "or\n"), (.stdout, "x\n")], limit: 6
    )
    #expect(texts == ["stdout: out", "stderr: err"])
    #expect(cuts == 1 && output.bytes == 21)
  }

  @Test func beyondTheLimitNothingIsShownOfALineThatIsWrittenOver() {
    var output = AttemptOutput(limit: ByteCount(4))
    Array("10%\r20%\r".utf8).withUnsafeBytes { _ = output.take($0, .stdout, at: .zero) }
    #expect(output.alarm == nil && output.states(at: .seconds(1)).isEmpty)
  }

  @Test func theEarlierAlarmOfBothStreamsCounts() {
    var output = AttemptOutput(limit: ByteCount(1000))
    let (first, second) = (Array("1%\r".utf8), Array("2%\r".utf8))
    first.withUnsafeBytes { _ = output.take($0, .stderr, at: .milliseconds(3)) }
    second.withUnsafeBytes { _ = output.take($0, .stdout, at: .milliseconds(7)) }
    #expect(output.alarm == .milliseconds(3))
    #expect(output.states(at: .milliseconds(5)).map(\.0) == [.stderr])
    #expect(output.alarm == .milliseconds(7))
  }

  @Test("a line that does not end is in the log after a second, but for what may be a secret")
  func unfinishedLineGoesToTheLog() throws {
    var output = AttemptOutput(limit: ByteCount(1000))
    output.use(SecretMask([try Secret(Array("s3cr3t".utf8))]))
    func take(_ text: String, at now: Duration) -> [String] {
      Array(text.utf8).withUnsafeBytes { output.take($0, .stdout, at: now) }.blocks.map {
        String(decoding: $1.bytes.dropFirst($1.passed), as: UTF8.self)
      }
    }
    func begun(at now: Duration) -> String {
      String(decoding: output.openBytes(at: now), as: UTF8.self)
    }
    #expect(take("token: s3cr3t, s3", at: .zero) == [])
    #expect(begun(at: .milliseconds(999)).isEmpty && output.alarm == .seconds(1))
    #expect(begun(at: .seconds(1)) == "token: ***, " && output.alarm == nil)
    #expect(take("cr3", at: .seconds(2)) == [] && output.alarm == nil)
    #expect(take("t.", at: .seconds(3)) == [] && output.alarm == .seconds(4))
    #expect(begun(at: .seconds(4)) == "***.")
    #expect(take("\nnext\nName: ", at: .seconds(5)) == ["\nnext\n"])
    #expect(output.alarm == .seconds(6))
    #expect(
      output.finish().blocks.map { String(decoding: $1.bytes, as: UTF8.self) } == ["Name: "])
    #expect(output.alarm == nil)
  }

  @Test(
    "the line that has not ended is known, unless it is a progress line",
    arguments: [
      ([(.stdout, "a\nName: ")], "Name: "), ([(.stdout, "a\n")], nil), ([], nil),
      ([(.stdout, "a\nNa"), (.stdout, "me"), (.stderr, "other")], "Name"),
      ([(.stderr, "other"), (.stdout, "x\n")], "other"), ([(.stdout, "10%\r20%")], nil),
      ([(.stdout, "token: s3cr3t, s3")], "token: ***, "),
    ] as [([(StepOutput.Stream, String)], String?)])
  func openLineIsKnown(chunks: [(StepOutput.Stream, String)], line: String?) throws {
    var output = AttemptOutput(limit: ByteCount(1000))
    output.use(SecretMask([try Secret(Array("s3cr3t".utf8))]))
    for (stream, text) in chunks {
      Array(text.utf8).withUnsafeBytes { _ = output.take($0, stream, at: .zero) }
    }
    let open = output.openLine.map { String(decoding: $0, as: UTF8.self) }
    #expect(open == line)
  }
}
