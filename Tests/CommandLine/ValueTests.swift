import Testing

/// Values in the real program: given on the command line, passed from step to step.
struct ValueTests {
  private static let workflow = #"""
    { "inputs": { "v": { "type": "string" } },
      "env": { "V": "${{ inputs.v }}" },
      "steps": [
        { "id": "make", "run": "printf 'v<<END\n%s\nEND\n' \"$V\" >>$WEFT_OUTPUT", "outputs": { "v": { "type": "string" } } },
        { "run": "printf '%s|' ${{ inputs.v }} \"${{ steps.make.outputs.v }}\" >script" },
        { "run": ["sh", "-c", "printf '%s|' \"$@\" >program", "sh", "--", "${{ inputs.v }}", "${{ steps.make.outputs.v }}"] }
      ] }
    """#

  @Test(
    "S01: what is given and handed on is never read as code",
    arguments: [
      #""; touch canary #"#, "'; touch canary; '", "$(touch canary)", "-rf", "a\n; touch canary\nb",
    ])
  func valuesAreNoCode(value: String) {
    let directory = Directory()
    directory.write("workflow.json", ValueTests.workflow)
    let result = Weft.run("run", "workflow.json", "-i", "v=" + value, in: directory)
    #expect(result.status == 0, "\(result.errors)")
    #expect(directory.read("script") == Array("\(value)|\(value)|".utf8))
    #expect(directory.read("program") == Array("--|\(value)|\(value)|".utf8))
    #expect(directory.read("canary") == nil)
  }

  @Test(
    "S01: the elements of an array in a script are arguments, and never code",
    arguments: [
      [], ["a b"], ["", "'; touch canary; '", "$(touch canary)", "*", "-rf", "a\nb", "a\"b\\"],
    ])
  func elementsAreNoCode(values: [String]) {
    let directory = Directory()
    directory.write(
      "workflow.json",
      #"""
      { "inputs": { "v": { "type": "array", "items": { "type": "string" } } },
        "steps": [
          { "id": "make", "run": "true", "outputs": { "v": "${{ inputs.v }}" } },
          { "run": "set -- ${{ inputs.v }}; printf '%s|' $# \"$@\" >arguments" },
          { "run": "for x in begin ${{ steps.make.outputs.v }}; do printf '%s|' \"$x\"; done >loop" },
          { "shell": "bash", "run": "x=( ${{ run.args }} ); printf '%s|' ${#x[@]} \"${x[@]}\" >array" }
        ] }
      """#)
    let text = "[\(values.map { "\"\(escaped($0))\"" }.joined(separator: ","))]"
    let result = Weft.shell(
      "exec \"$WEFT\" \"$@\"", ["run", "workflow.json", "-i", "v:=" + text, "--"] + values,
      in: directory)
    #expect(result.status == 0, "\(result.errors)")
    let counted = ([String(values.count)] + values).map { "\($0)|" }.joined()
    #expect(directory.read("arguments") == Array(counted.utf8))
    #expect(directory.read("array") == Array(counted.utf8))
    #expect(directory.read("loop") == Array((["begin"] + values).map { "\($0)|" }.joined().utf8))
    #expect(directory.read("canary") == nil)
  }

  private func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  @Test("S03: a line end in a value cannot set what is not declared")
  func lineEndsSetNothing() {
    let directory = Directory()
    directory.write(
      "workflow.json",
      Array(
        #"""
        { "inputs": { "v": { "type": "string" } },
          "steps": [
            { "id": "make", "env": { "V": "${{ inputs.v }}" }, "run": "echo \"v=$V\" >>$WEFT_OUTPUT", "outputs": { "v": { "type": "string" } } },
            { "run": "echo $PATH >path" }
          ] }
        """#.utf8))
    let result = Weft.run("run", "workflow.json", "-i", "v=x\nPATH=/evil", in: directory)
    #expect(result.status == 1)
    #expect(result.output.contains(#"line 2 of $WEFT_OUTPUT sets "PATH", which is not declared"#))
    #expect(directory.read("path") == nil)
  }

  @Test func interruptedRunLeavesNoProcesses() {
    let directory = Directory()
    directory.write(
      "workflow.json",
      Array(
        #"""
        { "steps": [{ "run": "touch $WEFT_OUTPUT.beside; ls -A $TMPDIR | wc -l; kill -INT $PPID; while :; do sleep 100; done", "outputs": { "v": {} } }] }
        """#.utf8))
    let script = #"""
      mkdir tmp; export TMPDIR=$PWD/tmp
      "$WEFT" run workflow.json >said 2>&1; echo "exit $?"
      ls -A tmp
      """#
    let result = Weft.shell(script, in: directory)
    #expect(result.output == "exit 130\n")
    #expect(String(decoding: directory.read("said") ?? [], as: UTF8.self).contains("[1] 1\n"))
  }
}
