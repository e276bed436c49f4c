import Testing
import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

/// The file `$WEFT_OUTPUT` as real programs use it.
@Suite struct OutputFolderTests {
  /// A run of a step `a` that declares outputs `x` and `y`, and of a dependent step.
  private static func run(_ script: String, outputs: String = #""x": {}, "y": {}"#) async throws
    -> RealRun
  {
    let lines = script.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n")
    return try await RealRun(
      try boundPlan(
        #"""
        { "steps": [
          { "id": "a", "run": "\#(lines)", "outputs": { \#(outputs) } },
          { "id": "b", "run": "if [ -e $(dirname $F) ]; then ls -A $(dirname $F); else echo gone; fi", "env": { "F": "${{ steps.a.stdout }}" } }
        ] }
        """#
      ).plan)
  }

  @Test func writtenOutputsAreRead() async throws {
    let run = try await Self.run(
      #"""
      test ! -s "$WEFT_OUTPUT"
      test "$(stat -c %a "$(dirname "$WEFT_OUTPUT")")" = 700
      echo x=1 >>"$WEFT_OUTPUT"
      printf 'y<<END\ntwo\nlines\nEND\n' >>"$WEFT_OUTPUT"
      echo "$WEFT_OUTPUT"
      """#)
    #expect(run.end(of: "a").map { shown($0.outputs) } == ["x": #""1""#, "y": #""two\nlines""#])
    // The file is removed with its step, and the directory, which also has the files for progress, with the run.
    #expect(run.logs["b"] == "progress\n")
    let file = run.logs["a"]?.split(separator: "\n").first.map(String.init) ?? ""
    #expect(!file.isEmpty && !exists(file) && !exists(parent(of: file)))
  }

  /// Misuses of the output file, and the expected messages.
  static let misdeeds: [(script: String, says: String?)] = [
    (":", #"does not set the output "x""#),
    ("rm \"$WEFT_OUTPUT\"", "no longer exists"),
    ("rm \"$WEFT_OUTPUT\"; mkfifo \"$WEFT_OUTPUT\"", "was replaced by a FIFO"),
    ("rm \"$WEFT_OUTPUT\"; mkdir -p \"$WEFT_OUTPUT/in/side\"", "was replaced by a directory"),
    ("ln -sf /etc/passwd \"$WEFT_OUTPUT\"", "was replaced by a symbolic link"),
    ("ln -sf /dev/zero \"$WEFT_OUTPUT\"", "was replaced by a symbolic link"),
    ("head -c 1048577 /dev/zero | tr '\\0' a >\"$WEFT_OUTPUT\"", "has more than 1 MiB"),
    (
      "echo 'x=1' >\"$WEFT_OUTPUT\"; echo '{\"y\": 2, \"z\": 3}' >>\"$WEFT_OUTPUT\"",
      #"line 2 of $WEFT_OUTPUT sets "z""#
    ),
    (
      "echo '{\"x\": 1, \"y\": 2}' >\"$WEFT_OUTPUT.new\"; mv \"$WEFT_OUTPUT.new\" \"$WEFT_OUTPUT\"",
      nil
    ),
    (
      "echo '{\"x\": 1, \"y\": 2}' >\"$WEFT_OUTPUT\"; mkdir -p \"$WEFT_OUTPUT.d/e\"; touch \"$WEFT_OUTPUT.d/e/f\"; ln -s / \"$WEFT_OUTPUT.d/root\"",
      nil
    ),
  ]

  @Test("whatever a step does to its file is told, and leaves nothing behind", arguments: misdeeds)
  func misusedOutputFileIsReportedAndRemoved(script: String, says: String?) async throws {
    let run = try await Self.run("echo \"$WEFT_OUTPUT\"\n" + script)
    let failure = run.end(of: "a")?.failure
    if let says {
      #expect(failure?.classes == [.output])
      #expect(failure?.message.contains(says) == true, "\(failure?.message ?? "")")
      if says.contains("1 MiB") { #expect(failure?.help?.contains("output its name") == true) }
      #expect(run.report.end?.outcome == .failure)
    } else {
      #expect(failure == nil && run.report.succeeded)
    }
    let file = run.logs["a"]?.split(separator: "\n").first.map(String.init) ?? ""
    #expect(!file.isEmpty && !exists(parent(of: file)))
    #expect(exists("/etc/passwd") && exists("/dev/zero"))
  }

  @Test("S03: a value with a newline adds no output, and none to the environment")
  func newlinesAddNothing() async throws {
    let value = "x\\nPATH=/evil\\ny=2"
    let forged = try await Self.run(#"V=$(printf '\#(value)'); echo "x=$V" >>"$WEFT_OUTPUT""#)
    #expect(
      forged.end(of: "a")?.failure?.message.contains("line 2 of $WEFT_OUTPUT sets \"PATH\"") == true
    )
    #expect(forged.end(of: "a")?.outputs == [])
    // The safe forms preserve it.
    let safe = try await Self.run(
      #"""
      python3 -c 'import json, os; print(json.dumps({"x": os.environ["V"], "y": 1}), file=open(os.environ["WEFT_OUTPUT"], "a"))'
      """#.replacing("os.environ[\"V\"]", with: #""x\nPATH=/evil\ny=2""#))
    #expect(
      safe.end(of: "a").map { shown($0.outputs) } == ["x": #""x\nPATH=/evil\ny=2""#, "y": "1"])
  }

  @Test func eachAttemptAndStepHasAnEmptyFileOfItsOwn() async throws {
    let run = try await RealRun(
      try boundPlan(
        #"""
        { "maxParallel": 2, "parallel": [
          { "id": "a", "run": "test ! -s $WEFT_OUTPUT; echo x=a >>$WEFT_OUTPUT", "outputs": { "x": {} } },
          { "id": "b", "run": "test ! -s $WEFT_OUTPUT; echo x=b >>$WEFT_OUTPUT", "outputs": { "x": {} } },
          { "id": "c", "run": "echo ${WEFT_OUTPUT-none}", "outputs": { "x": "${{ self.stdout }}" } }
        ] }
        """#
      ).plan)
    #expect(run.report.succeeded)
    #expect(
      ["a", "b", "c"].map { run.end(of: $0).map { shown($0.outputs) } ?? [:] }
        == [["x": #""a""#], ["x": #""b""#], ["x": #""none""#]])
  }

  @Test func noFileCanSetTheVariable() async throws {
    let run = try await RealRun(
      try boundPlan(
        #"""
        { "env": { "WEFT_OUTPUT": "/dev/null" }, "steps": [
          { "id": "a", "env": { "WEFT_OUTPUT": "/dev/null" }, "run": "echo x=1 >>$WEFT_OUTPUT", "outputs": { "x": {} } }] }
        """#
      ).plan)
    #expect(run.end(of: "a").map { shown($0.outputs) } == ["x": #""1""#])
  }

  @Test func cancelledRunLeavesNoOutputFiles() async throws {
    let (plan, _, _) = try boundPlan(
      #"""
      { "steps": [{ "id": "a", "outputs": { "x": {} },
        "run": "touch $WEFT_OUTPUT.beside; echo $WEFT_OUTPUT; while :; do sleep 100; done" }] }
      """#)
    var run: RunEngine?
    var subscription: EventSubscription?
    run = try RunEngine.start(plan) { subscription = $0.subscribe() }
    var file = ""
    for await event in subscription! {
      guard case .stepOutput(_, let output) = event.kind else { continue }
      file = output.text
      #expect(exists(file + ".beside"))
      run?.killNow()
    }
    #expect(run?.report.end?.outcome == .cancelled)
    #expect(!file.isEmpty && !exists(parent(of: file)))
  }

  private func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? path
  }
}
