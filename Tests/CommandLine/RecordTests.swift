import Testing

/// The files that `weft run` leaves behind.
struct RecordTests {
  private static let workflow =
    #"{ "steps": ["echo one; echo two >&2", { "id": "b", "run": "exit 3" }] }"#

  @Test func aRunLeavesItsRecordItsLogsAndItsReport() {
    let directory = Directory()
    directory.write("w.json", RecordTests.workflow)
    let result = Weft.shell(
      """
      "$WEFT" run w.json >said
      cd .weft/runs/* || exit 9
      ls; cmp workflow.json ../../../w.json && cat logs/1.log
      tail -n 1 journal.jsonl | cut -d , -f 3,4
      """, in: directory)
    #expect(
      result.output == """
        control
        journal.jsonl
        lock
        logs
        report.json
        reserve
        workflow.json
        one
        two
        "type":"run.finished","outcome":"failure"

        """)
    #expect(result.status == 0)
  }

  @Test func runWithoutARecordLeavesNoFiles() {
    let directory = Directory()
    directory.write("w.json", RecordTests.workflow)
    let result = Weft.shell("\"$WEFT\" run --record none w.json; ls -A", in: directory)
    #expect(result.output.hasSuffix("\nw.json\n"))
  }

  @Test func theRecordIsKeptWhereItIsWanted() {
    let directory = Directory()
    directory.write("w.json", #"{ "steps": ["true"] }"#)
    let result = Weft.shell(
      """
      "$WEFT" run --state-dir one --record power w.json >said
      WEFT_DIR=two "$WEFT" run w.json >said
      WEFT_DIR=two "$WEFT" run --state-dir one w.json >said
      ls one/runs | wc -l; ls two/runs | wc -l; ls -A
      """, in: directory)
    #expect(result.output == "2\n1\none\nsaid\ntwo\nw.json\n")
  }

  @Test(
    "J25: where no record can be made, nothing is started, and the reason and the ways out are told"
  )
  func placesWithoutRoomForARecord() {
    let directory = Directory()
    directory.write("w.json", #"{ "steps": ["touch started"] }"#)
    let result = Weft.shell(
      "echo >file; \"$WEFT\" run --state-dir file w.json; echo $?; ls", in: directory)
    #expect(result.output == "4\nfile\nw.json\n")
    #expect(
      result.errors == """
        weft: error: cannot create the journal of the run: "file" is not a directory
           = help: use a different directory: --state-dir DIR

        """)
  }

  @Test("J09: a record that grows too large ends the run, and the engine says so by 4")
  func tooLargeARecord() {
    let directory = Directory()
    let steps = (1...200).map { #"{ "id": "s\#($0)", "run": "true" }"# }
    directory.write("w.json", "{ \"steps\": [" + steps.joined(separator: ",") + "] }")
    // The unit is 512 bytes.
    let result = Weft.shell(
      "ulimit -f 40; \"$WEFT\" run w.json >/dev/null; echo $?; tail -c 1 .weft/runs/*/journal.jsonl | od -c",
      in: directory)
    #expect(result.output.hasPrefix("4\n0000000  \\n\n"))
    #expect(
      result.errors.contains("the journal of the run cannot be written: file too large (EFBIG)"))
  }

  @Test("S12: what is recorded is for its owner alone, whatever the umask is")
  func permissionsOfRecords() {
    let directory = Directory()
    directory.write("w.json", #"{ "steps": ["echo x"] }"#)
    let result = Weft.shell(
      """
      umask 000; "$WEFT" run w.json >said
      find .weft -type d ! -perm 700; find .weft -type f ! -perm 600; find .weft -type f | wc -l
      """, in: directory)
    #expect(result.output == "8\n")
  }

  @Test("S09: no secret and no secret input is in the record")
  func secretsInRecords() {
    let directory = Directory()
    directory.write(
      "w.json",
      #"""
      { "inputs": { "pin": { "secret": true } }, "secrets": { "KEY": { "env": "KEY" } },
        "steps": [
          { "id": "a", "run": "echo $KEY $PIN", "env": { "KEY": "${{ secrets.KEY }}", "PIN": "${{ inputs.pin }}" },
            "outputs": { "k": "${{ self.stdout }}" } },
          { "id": "b", "run": "cat", "stdin": "${{ steps.a.stdout }}" }
        ] }
      """#)
    let result = Weft.shell(
      """
      KEY=canary-one "$WEFT" run -i pin=canary-two w.json >said || exit 9
      grep -rlE 'canary|Y2FuYXJ5' .weft; grep -c '"secret":true' .weft/runs/*/journal.jsonl
      """, in: directory)
    #expect(result.output == "2\n")
  }
}
