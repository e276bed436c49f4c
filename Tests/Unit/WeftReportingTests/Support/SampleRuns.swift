import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

/// The runs that the displays are compared on.
enum SampleRuns {
  static let all: [(name: String, run: ScriptedRun)] = [
    ("success", success), ("failure", failure), ("tolerated", tolerated),
    ("interrupted", interrupted), ("group-timeout", groupTimeout), ("hostile", hostile),
    ("warned", warned), ("progress", progress), ("attempts", attempts), ("elements", elements),
    ("race", race), ("cut-short", cutShort), ("held-back", heldBack),
  ]

  static var success: ScriptedRun {
    var run = ScriptedRun("hello", steps: 3, maxParallel: 2)
    run.start("greet", "2")
    run.at(40)
    run.write("greet", "hello")
    run.write("2", "a warning", to: .stderr)
    run.at(85)
    run.succeed("greet")
    run.at(1250)
    run.write("2", "last words", ending: .endOfStream)
    run.succeed("2")
    run.start("bye")
    run.at(66_000)
    run.succeed("bye")
    run.finish()
    return run
  }

  /// A failure with more output than is shown, and steps that never start because of it.
  static var failure: ScriptedRun {
    var run = ScriptedRun(steps: 8)
    run.start("lint", "build")
    for line in 1...30 { run.write("build", "compiling file \(line).c") }
    run.write("lint", "fine")
    run.at(2100)
    run.succeed("lint")
    run.fail("build", code: 2, help: "is the compiler installed?")
    run.skip(
      "test", "package", "sign", "upload", "announce",
      because: .dependencyFailed(StepAddress("build")))
    run.skip("docs", because: .heldBack(by: StepAddress("build")))
    run.at(2150)
    run.finish()
    return run
  }

  /// Lines that overwrite themselves, one with an end and one without.
  static var progress: ScriptedRun {
    var run = ScriptedRun(steps: 2)
    run.start("fetch", "unpack")
    for percent in stride(from: 0, through: 90, by: 10) {
      run.at(percent * 20)
      run.show("fetch", "fetching \(percent)%")
      run.show("unpack", "\(percent) files")
    }
    run.write("fetch", "fetched")
    run.at(1900)
    run.succeed("fetch")
    run.write("unpack", "100 files\r", ending: .endOfStream)
    run.fail("unpack")
    run.finish()
    return run
  }

  static var tolerated: ScriptedRun {
    var run = ScriptedRun(steps: 2)
    run.start("lint", "build")
    run.write("lint", "style: 3 findings")
    run.at(300)
    run.fail("lint", code: 3, isTolerated: true)
    run.at(400)
    run.succeed("build")
    run.finish()
    return run
  }

  static var interrupted: ScriptedRun {
    var run = ScriptedRun(steps: 3)
    run.start("build")
    run.at(12_000)
    run.write("build", "halfway")
    run.cancel(.signal("INT"))
    run.skip("test", "deploy", because: .cancelled(.signal("INT")))
    run.at(13_400)
    run.cancel("build", .signal("INT"))
    run.finish()
    return run
  }

  /// Two warnings, the second of which quotes a terminal's escape sequence.
  static var warned: ScriptedRun {
    var run = ScriptedRun(steps: 1, maxParallel: 3)
    run.add(
      .runWarning(
        RunWarning(
          kind: .fewDescriptors, message: "at most 3 steps run at once instead of 200",
          help: "raise the limit: ulimit -n 1024")))
    run.start("build")
    run.add(.runWarning(RunWarning(kind: .scarceResources, message: "no room \u{1B}[2J for it")))
    run.at(1000)
    run.succeed("build")
    run.finish()
    return run
  }

  static var groupTimeout: ScriptedRun {
    let checks = StepAddress("checks")
    let reason = CancelReason.groupTimeout(checks, .seconds(300))
    var run = ScriptedRun(steps: 3, groups: 1)
    run.add(.groupStarted(checks, GroupStart()))
    run.start("unit")
    run.at(300_000)
    run.cancel("unit", reason)
    run.skip("slow", because: .cancelled(reason))
    run.timeOut(group: checks, after: .seconds(300))
    run.skip("deploy", because: .dependencyFailed(checks))
    run.finish()
    return run
  }

  /// Names and output that try to command the terminal, the log's reader, or Weft.
  static var hostile: ScriptedRun {
    var run = ScriptedRun("re\u{1B}[2Jlease\nweft: 0 steps", steps: 1)
    run.start("evil")
    for line in SampleRuns.hostileLines { run.write("evil", bytes: line) }
    run.write("evil", "no newline, then", ending: .partial)
    run.write("evil", " the rest of the line")
    run.at(900)
    run.fail("evil")
    run.finish()
    return run
  }

  static let hostileLines: [[UInt8]] = [
    Array("\u{1B}[31mred\u{1B}[0m and \u{1B}[2Jcleared".utf8),
    Array("\u{1B}]52;c;ZXZpbA==\u{7} clipboard".utf8),
    Array("user\u{202E}gnp.exe".utf8),
    Array("weft: [evil] succeeded in 1 ms".utf8),
    Array("::error title=forged::by a step".utf8),
    Array("##[add-mask]secret ##\u{200B}[add-mask]other".utf8),
    Array("10 %\r20 %\r::error::forged\r30 %\r".utf8),
    Array("tab\there \u{8}\u{8}back \u{9B}2J".utf8),
    [0xFF, 0xFE, 0x00] + Array(" not UTF-8".utf8),
    Array("漢字 👩‍👩‍👧 e\u{301}".utf8),
  ]
}
