import Testing
import WeftDefinition
import WeftDiagnostics
import WeftExpressions

@testable import WeftPlanning

/// Warnings about probable mistakes, and about steps that would fail in every run, each with its remedy.
@Suite struct WarningTests {
  private static func diagnostics(_ json: String) -> [Diagnostic] {
    let (workflow, syntax) = WorkflowDecoder.decode(
      SourceFile(path: "w.json", bytes: Array(json.utf8)))
    return syntax + (workflow.map { Planner.plan($0).diagnostics } ?? [])
  }

  private static func codes(_ json: String) -> [String] { diagnostics(json).map(\.code) }

  @Test(
    "a service that nothing waits for, and one that has ended before it is needed",
    arguments: [
      (#"{"steps":[{"id":"s","run":"x","service":{"ready":{"log":"x"}}},"use"]}"#, []),
      (#"{"steps":["a",{"id":"s","run":"x","service":{"ready":{"log":"x"}}}]}"#, ["W0231"]),
      (
        #"{"parallel":[{"id":"s","run":"x","service":{"ready":{"log":"x"}}},"a"]}"#, ["W0231"]
      ),
      (
        #"{"steps":[{"id":"g","steps":[{"id":"s","run":"x","service":{"ready":{"log":"x"}}},"a"]},{"run":"b","needs":["s"]}]}"#,
        ["W0230"]
      ),
      (
        #"{"steps":[{"id":"s","run":"x","service":{"ready":{"log":"x"}}},{"id":"g","steps":[{"run":"b","needs":["s"]}]}]}"#,
        []
      ),
    ] as [(String, [String])])
  func uselessServicesAreTold(json: String, codes: [String]) {
    #expect(Self.codes(json) == codes)
  }

  @Test(
    "W0503: a cleanup reads without a warning what had to succeed before its step",
    arguments: [
      // In a list, by its needs, and behind a condition.
      (
        #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x","cleanup":"echo ${{ steps.a.stdout }}"}]}"#,
        []
      ),
      (
        #"{"parallel":[{"id":"a","run":"x"},{"id":"b","run":"x","needs":["a"],"cleanup":"echo ${{ steps.a.stdout }}"}]}"#,
        []
      ),
      (
        #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x","if":"steps.a.outcome == 'success'","cleanup":"echo ${{ steps.a.stdout }}"}]}"#,
        []
      ),
      (
        #"{"steps":[{"id":"a","run":"x"},"c",{"id":"g","parallel":[{"id":"b","run":"x","cleanup":"echo ${{ steps.a.stdout }}"}]}]}"#,
        []
      ),
      // Its step runs after a failure, does not wait, or is the one whose outputs may be missing.
      (
        #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x","if":"always()","cleanup":"echo ${{ steps.a.stdout }}"}]}"#,
        ["W0503"]
      ),
      (
        #"{"steps":[{"id":"b","run":"x","cleanup":"echo ${{ steps.a.stdout }}"},{"id":"a","run":"x"}]}"#,
        ["W0503"]
      ),
      (
        #"{"steps":[{"id":"a","run":"x","outputs":{"o":{}},"cleanup":"echo ${{ steps.a.outputs.o }}"}]}"#,
        ["W0503"]
      ),
    ] as [(String, [String])])
  func cleanupsReadWhatTheirStepsNeed(json: String, codes: [String]) {
    #expect(Self.codes(json) == codes)
  }

  // MARK: X26

  private static let mixed = """
    { "steps": [ { "id": "lint", "run": "true" }, { "id": "setup", "run": "true" },
      { "id": "test", "run": "true", "needs": ["lint"] }, { "id": "deploy", "run": "true" } ] }
    """

  @Test("X26: needs that takes the order of a list away is told, where others rely on it")
  func needsLeavesTheOrder() {
    let found = Self.diagnostics(Self.mixed)
    #expect(found.map(\.code) == ["W0515"])
    #expect(
      found.first?.message
        == #"step "test" does not wait for "setup" before it, because it has "needs"; nor do the steps after it"#
    )
    #expect(found.first?.severity == .warning && found.first?.help != nil)
  }

  @Test(
    "X26: it is not told where it is meant, or where the order holds",
    arguments: [
      // The predecessor is among the needs, directly or indirectly.
      #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x"},{"id":"c","run":"x","needs":["b"]},"d"]}"#,
      #"{"steps":[{"id":"a","run":"x"},{"id":"b","steps":[{"id":"i","run":"x"}]},{"id":"c","run":"x","needs":["a","b"]},"d"]}"#,
      // Nothing after it uses the order of the list.
      #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x"},{"id":"c","run":"x","needs":["a"]}]}"#,
      #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x"},{"id":"c","run":"x","needs":["a"]},{"run":"y","needs":["b","c"]}]}"#,
      // A later member waits for it after all: directly, by what it reads, through a member of a group, through others.
      #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x"},{"id":"c","run":"x","needs":["a"]},{"id":"d","run":"x","needs":["c","b"]},"e"]}"#,
      #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x"},{"id":"c","run":"x","needs":["a"]},"echo ${{ steps.b.stdout }}","e"]}"#,
      #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x"},{"id":"c","run":"x","needs":["a"]},"e",{"steps":[{"run":"y","needs":["b"]}]}]}"#,
      #"{"steps":[{"id":"a","run":"x"},{"id":"b","steps":[{"id":"i","run":"x"}]},{"id":"c","run":"x","needs":["a"]},{"id":"d","parallel":[{"run":"y","needs":["b"]}]},"e"]}"#,
      // It declares that it waits for nothing.
      #"{"steps":[{"id":"a","run":"x"},{"id":"b","run":"x","needs":[]},"d"]}"#,
      // Not a list.
      #"{"steps":[{"parallel":[{"id":"a","run":"x"},{"id":"b","run":"x"},{"id":"c","run":"x","needs":["a"]},{"id":"d","run":"x"}]}]}"#,
    ])
  func meantNeedsAreNotTold(json: String) {
    #expect(Self.codes(json) == [])
  }

  @Test("X26: the tree shows who does not wait for whom")
  func treeShowsUnorderedSteps() throws {
    let (workflow, _) = WorkflowDecoder.decode(
      SourceFile(path: "w.json", bytes: Array(Self.mixed.utf8)))
    let written = try #require(workflow)
    let plan = try #require(Planner.plan(written).plan)
    let text = String(decoding: plan.rendered(as: .tree), as: UTF8.self)
    #expect(text.contains("does not wait for setup"))
  }

  // MARK: X70

  @Test(
    "X70: texts that are hardly meant so are told, with the cure",
    arguments: [
      (#"["npm install"]"#, "write \"npm install\" without brackets, or [\"npm\", \"install\"]"),
      (#"["ls", "|", "wc"]"#, "write \"run\" as one string"),
      (#"["make", "&&", "make test"]"#, "write \"run\" as one string"),
      (#""echo {{ inputs.x }}""#, "write ${{ … }}: ${{ inputs.x }}"),
      (#"["echo", "{{steps.a.stdout}}"]"#, "write ${{ … }}: ${{steps.a.stdout}}"),
      (#""echo '{{x}}'""#, "write ${{ inputs.x }}"),
      (#"["echo", "v{{ x }}"]"#, "write ${{ inputs.x }}"),
      (#""echo {{.x}}""#, "write ${{ inputs.x }}"),
      (#""echo {{.s}}""#, "write ${{ secrets.s }}"),
      (#""git tag v{{version}}""#, "declare an input \"version\", and write ${{ inputs.version }}"),
      (
        #""echo 'a' {{ version }}""#,
        "declare an input \"version\", and write ${{ inputs.version }}"
      ),
    ])
  func literalTexts(run: String, help: String) {
    let found = Self.diagnostics(
      #"{"inputs":{"x":{"default":""}},"secrets":{"s":{"env":"S"}},"#
        + #""steps":[{"id":"a","run":"x"},{"run":"# + run + "}]}")
    #expect(found.map(\.code) == ["W0516"])
    #expect(found.first?.help == help && found.first?.severity == .warning)
  }

  @Test(
    "X70: a variable in env is not expanded",
    arguments: ["$HOME/bin", "${HOME}/bin:/usr/bin", "a$PATH"])
  func variablesInEnv(value: String) {
    for owner in [
      #"{"env":{"PATH":"# + "\"\(value)\"" + #"},"steps":["x"]}"#,
      #"{"steps":[{"run":"x","env":{"PATH":"# + "\"\(value)\"" + "}}]}",
    ] {
      #expect(Self.codes(owner) == ["W0516"], "\(owner)")
    }
  }

  @Test(
    "X70: what is meant so is not told",
    arguments: [
      #"{"steps":[{"run":["npm","install"]},{"run":["/opt/my app/run"]},{"run":["grep","a|b"]},{"run":["echo","a && b"]}]}"#,
      #"{"steps":["docker inspect -f '{{ .Name }}' c", "echo '{{ item }}'", "echo $HOME | wc"]}"#,
      #"{"inputs":{"x":{"default":""}},"steps":["echo ${{ inputs.x }} '{{ .inputs.x }}'"]}"#,
      #"{"steps":["docker ps --format={{.Names}}", "sed s/{{x}}/1/ a", "echo \"{{x}}\" '{{y}}'", "cat <<E\n{{x}}\nE"]}"#,
      #"{"steps":[{"run":["mustache","{{name}}"]}, "kubectl get x -o go-template={{end}}", "echo \\'{{a b}}"]}"#,
      #"{"steps":[{"run":"x","env":{"A":"costs 5$","B":"$1 $$ \\$HOME $lower","C":"^a$"}}]}"#,
    ])
  func meantTextsAreNotTold(json: String) {
    #expect(Self.codes(json) == [])
  }

  // MARK: X67

  private static func cached(_ script: String, _ more: String = "") -> String {
    let text = script.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
      "\n", with: "\\n")
    return #"{"inputs":{"x":{"default":""}},"steps":[{"run":""# + text
      + #"","cache":{"inputs":[],"outputs":["o"]}"# + more + "}]}"
  }

  @Test(
    "X67: variables that a cached script reads, and on which its result does not depend, are told",
    arguments: [
      ("echo $MODE > o", ["MODE"]),
      ("echo ${MODE:-x} > o", ["MODE"]),
      ("MODE=${MODE:-debug}; make $MODE", ["MODE"]),
      (": \"${MODE:=debug}\"; make $MODE", ["MODE"]),
      ("if [ -n \"$CI\" ]; then make \"${TARGET}\"; fi; echo $CI", ["CI", "TARGET"]),
      ("for i in $LIST; do echo $i; done", ["LIST"]),
      ("cat <<E > o\n$NAME ${#LEN} $(date +$FORM)\nE", ["NAME", "LEN", "FORM"]),
      ("export MODE; make > o; echo $MODE", ["MODE"]),
      ("echo ${{ inputs.x }} $MODE", ["MODE"]),
      ("echo $((2 * $N))", ["N"]),
    ])
  func variablesOfACachedScript(script: String, names: [String]) throws {
    let found = Self.diagnostics(Self.cached(script))
    #expect(found.map(\.code) == ["W0517"])
    let warning = try #require(found.first)
    #expect(warning.severity == .warning)
    for name in names { #expect(warning.message.contains("\"\(name)\""), "\(warning.message)") }
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    #expect(warning.help?.hasPrefix("write \"env\": [\(list)] in \"cache\"") == true)
    // The location is the first place where it is read.
    let place = try #require(warning.place)
    let bytes = Array(Self.cached(script).utf8)[Int(place.range.start)..<Int(place.range.end)]
    #expect(bytes.first == UInt8(ascii: "$") && bytes.count < names[0].count + 12)
    #expect(String(decoding: bytes, as: UTF8.self).contains(names[0]))
  }

  @Test(
    "X67: what a script sets, what the file sets or counts, and what is around every step is not told",
    arguments: [
      cached("MODE=x; echo $MODE"), cached("f() { echo $MODE; }; MODE=x; f"),
      cached("read a b < f; echo $a $b"), cached("for i in 1 2; do echo $i; done"),
      cached("while read -r l; do echo \"$l\"; done < f"),
      cached("while getopts ab: o; do echo $o $OPTARG $OPTIND; done"),
      cached("echo $HOME $PATH $PWD ${TMPDIR:-/tmp} $LC_ALL $USER $0 $1 $@ $? $$ $WEFT_OUTPUT"),
      cached("echo '$MODE' \\$MODE; awk '{ print $NF }' f"),
      cached(". ./settings; echo $MODE"), cached("eval \"$(cat f)\"; echo $MODE"),
      cached("local MODE; echo $MODE"), cached("total=0; echo $((total + 1)) $total"),
      cached("i=0; while [ $i -lt 3 ]; do i=$((i+1)); done"),
      cached("echo $MODE", #","env":{"MODE":"a"}"#),
      cached("for ((i=0; i<3; i++)); do echo $i; done", #","shell":"bash""#),
      cached("printf -v n %s x; echo $n; declare -a l; echo ${l[@]}", #","shell":"bash""#),
      cached("import os; print('$MODE')", #","shell":"python""#),
      cached("echo $MODE", #","envPolicy":"clean""#),
      #"{"steps":["echo $MODE"]}"#,
      #"{"env":{"MODE":"a"},"steps":[{"run":"echo $MODE","cache":{"inputs":[]}}]}"#,
      #"{"steps":[{"run":"echo $MODE","cache":{"inputs":[],"env":["MODE"]}}]}"#,
    ])
  func variablesThatCountAreNotTold(json: String) {
    #expect(Self.codes(json) == [])
  }

  // MARK: X64, X58

  @Test(
    "X64: equal keys of a list that is written out are an error before the run",
    arguments: [
      (#"{"in":["a","b","a"],"key":"item"}"#, #"elements 0 and 2 have the same key, "a""#),
      (
        #"{"in":[{"n":1},{"n":1}],"as":"e","key":"e.n"}"#,
        #"elements 0 and 1 have the same key, "1""#
      ),
      (
        #"{"in":["a","\u202e"],"key":"item"}"#,
        "the key of element 1 contains an invisible character, U+202E"
      ),
      (#"{"in":["a",""],"key":"item"}"#, "the key of element 1 is empty"),
    ])
  func equalKeys(loop: String, message: String) {
    for step in [#""run":"x""#, #""steps":["x"]"#] {
      let found = Self.diagnostics(#"{"steps":[{"forEach":"# + loop + "," + step + "}]}")
      #expect(found.map(\.code) == ["W0335"] && found.first?.message == message)
      #expect(found.first?.isError == true)
    }
  }

  @Test(
    "X64: keys that are different, or known in the run only, are not",
    arguments: [
      #"{"steps":[{"forEach":{"in":["a","b"],"key":"item"},"run":"x"}]}"#,
      #"{"steps":[{"forEach":{"in":["a","a"],"key":"index"},"run":"x"}]}"#,
      #"{"steps":[{"forEach":{"in":["a","a"]},"run":"x"}]}"#,
      #"{"inputs":{"x":{"default":"1"}},"steps":[{"forEach":{"in":["a","a"],"key":"format('{0}{1}', item, inputs.x)"},"run":"x"}]}"#,
    ])
  func distinctOrLateKeysGiveNoWarning(json: String) {
    #expect(Self.codes(json) == [])
  }

  @Test(
    "an entry of a matrix with which every run fails is an error before the run",
    arguments: [
      (
        #"{"os":["a"],"exclude":[{"oss":"a"}]}"#,
        #"entry 0 of "exclude" has "oss", which is not an axis of the matrix"#
      ),
      (
        #"{"os":"${{ fromJSON('[1]') }}","exclude":[{"os":1},{"so":1}]}"#,
        #"entry 1 of "exclude" has "so", which is not an axis of the matrix"#
      ),
      (#"{"os":["a"],"exclude":[{}]}"#, #"entry 0 of "exclude" is empty"#),
      (#"{"os":["a"],"include":[{}]}"#, #"entry 0 of "include" is empty"#),
    ])
  func impossibleEntries(matrix: String, message: String) {
    for step in [#""run":"x""#, #""steps":["x"]"#] {
      let found = Self.diagnostics(#"{"steps":[{"matrix":"# + matrix + "," + step + "}]}")
      #expect(found.map(\.code) == ["W0335"] && found.first?.message == message)
      #expect(found.first?.isError == true && found.first?.place != nil)
    }
  }

  @Test(
    "an entry of a matrix that is computed, or that names an axis in other case, is not",
    arguments: [
      #"{"OS":["a"],"exclude":[{"os":"b"}]}"#,
      #"{"os":["a"],"exclude":"${{ fromJSON('[{\"oss\":1}]') }}"}"#,
      #"{"os":["a"],"include":[{"oss":"a"}],"exclude":[]}"#,
    ])
  func possibleEntries(matrix: String) {
    #expect(Self.codes(#"{"steps":[{"matrix":"# + matrix + #","run":"x"}]}"#) == [])
  }

  @Test("X58: every expression of a text has its own problems")
  func everyExpressionOfATextIsChecked() {
    let found = Self.codes(
      #"{"steps":[{"id":"build","run":"x"},{"run":["echo","${{ steps.build.outcom }} ${{ legnth(1) }}"]}]}"#
    )
    #expect(Set(found) == ["W0312", "W0303"])
  }

  @Test(
    "X65: a key of GitHub's strategy is no axis, and is told what to write instead",
    arguments: [
      ("max-parallel", "maxParallel"), ("max_parallel", "maxParallel"), ("fail-fast", "onFailure"),
    ])
  func keysOfStrategies(key: String, remedy: String) {
    let value = key == "fail-fast" ? "false" : "1"
    let found = Self.diagnostics(
      #"{"steps":[{"matrix":{"a":[1,2],""# + key + "\": " + value + #"},"run":"x"}]}"#)
    #expect(found.count == 1 && found.first?.help?.contains(remedy) == true)
  }

  // MARK: X54

  @Test("X54: files that run each other exponentially often are counted, not written out")
  func nestedFilesAreCounted() {
    var workflow = Workflow(steps: (0..<10).map { Step(StepID("s\($0)")!) })
    for level in 0..<12 {
      let inner = workflow
      workflow = Workflow(
        steps: (0..<10).map { index in
          Step(
            id: StepID("l\(level)-\(index)"),
            action: .workflow(NestedWorkflow(path: "\(level).json", workflow: inner)))
        })
    }
    var counter = StepCounter()
    #expect(counter.steps(in: workflow) == Int(Int32.max))
    let (plan, diagnostics) = Planner.plan(workflow)
    #expect(plan == nil && diagnostics.contains { $0.code == "W0211" })
    // Next to nothing of such a plan is written.
    #expect(Outline.make(of: workflow).0.steps.count < 100)
  }

  // MARK: X23

  @Test(
    "X23: what may be run, though nobody knows, is told",
    arguments: [
      (#""run":"frob -c ${{ inputs.s }}""#, ["W0506", "W0505"]),
      (#""run":["frob","--eval","${{ inputs.s }}"]"#, ["W0506", "W0505"]),
      (#""env":{"S":"${{ inputs.s }}"},"run":"eval $S""#, ["W0506"]),
      (#""env":{"S":"x${{ inputs.s }}"},"run":"sh -c \"$S\"""#, ["W0506"]),
      (#""env":{"S":"${{ inputs.s }}"},"run":"echo \"$S\"""#, []),
      (#""env":{"S":"${{ inputs.e }}"},"run":"eval $S""#, []),
      (#""env":{"S":"${{ inputs.n }}"},"run":"echo $((S + 1))""#, []),
      (#""run":"frob -c ${{ inputs.n }}""#, []), (#""run":"frob -c ${{ inputs.e }}""#, []),
      (#""run":"frob -c ${{ inputs.p }}""#, []),
      (#""run":"make V=${{ inputs.n }}""#, []), (#""run":"make V=${{ inputs.p }}""#, []),
      (#""run":"make V=${{ inputs.s }}""#, ["W0323"]),
      (#""run":["make","V=${{ inputs.n }}"]"#, []),
      (#""run":["make","V=${{ inputs.s }}"]"#, ["W0323"]),
      (#""run":["tar","--to-command=${{ inputs.s }}"]"#, ["W0323"]),
      (#""run":"ssh host deploy ${{ inputs.e }}""#, []),
      (#""run":"ssh host deploy ${{ inputs.p }}""#, []),
      (#""shell":"bash","run":"[[ ${{ inputs.n }} -gt 3 ]]""#, []),
      (#""shell":"bash","run":"[[ ${{ inputs.p }} -gt 3 ]]""#, ["W0323"]),
      (#""run":"${CC:-cc} -c ${{ inputs.e }}""#, []),
      (#""run":"make V=${{ length(inputs.s) }}""#, []),
      (#""run":"rm ${{ inputs.s }}""#, ["W0505"]), (#""run":"rm -- ${{ inputs.s }}""#, []),
      (#""run":"rm ${{ inputs.p }}""#, []),
      // Command lines without a shell are treated like scripts.
      (#""run":["sh","-c","eval \"$1\"","--","${{ inputs.s }}"]"#, ["W0323"]),
      (#""run":["git","commit","-m","${{ inputs.s }}","${{ inputs.s }}"]"#, ["W0505"]),
      (#""run":["git","commit","--author=${{ inputs.s }}","-m","${{ inputs.s }}"]"#, []),
      (#""run":["git","log","-m","${{ inputs.s }}"]"#, ["W0505"]),
      (#""run":["curl","-o","--","${{ inputs.s }}"]"#, ["W0505"]),
      (#""run":"git commit -m ${{ inputs.s }}; log() { echo $1; }; log ${{ inputs.s }}""#, []),
      (#""run":["bash","-c","(( $1 ))","sh","${{ inputs.s }}"]"#, ["W0323"]),
      (#""run":["env","A=${{ inputs.s }}","sh","-c","eval \"$A\""]"#, ["W0323"]),
      (#""run":["sh","-c","echo \"$1\"","--","${{ inputs.s }}"]"#, []),
      (#""run":["sh","-c","eval \"$S\""],"env":{"S":"${{ inputs.s }}"}"#, ["W0506"]),
      (#""run":["bash","-c","(( S ))"],"env":{"S":"${{ inputs.s }}"}"#, ["W0506"]),
      (#""run":["sh","-c","echo \"$S\""],"env":{"S":"${{ inputs.s }}"}"#, []),
      (#""shell":"bash","run":"echo $[ $S + 1 ]","env":{"S":"${{ inputs.s }}"}"#, ["W0506"]),
      (#""shell":"bash","run":"echo $[ 2 + 1 ] $S","env":{"S":"${{ inputs.s }}"}"#, []),
      (#""shell":"bash","run":"echo $[ ${{ inputs.s }} + 1 ]""#, ["W0323"]),
      (#""shell":"bash","run":"echo $[ ${{ inputs.n }} + 1 ]""#, []),
      // A script that is not understood may evaluate any variable that it mentions.
      (#""run":"echo $[ $S + 1 ]","env":{"S":"${{ inputs.s }}"}"#, ["W0506"]),
      (#""run":"echo \"$S\"; alias a=b\necho","env":{"S":"${{ inputs.s }}"}"#, []),
      (#""run":"alias a=b\n a \"$S\"","env":{"S":"${{ inputs.n }}"}"#, []),
      (#""shell":"python","run":"print(S)","env":{"S":"${{ inputs.s }}"}"#, []),
      (#""run":"make","env":{"S":"${{ inputs.s }}"}"#, ["W0506"]),
      (#""run":["make","-j4"],"env":{"S":"${{ inputs.s }}"}"#, ["W0506"]),
      (#""run":"make","env":{"S":"${{ inputs.p }}"}"#, []),
    ] as [(String, [String])])
  func valuesThatMayBeRun(step: String, codes: [String]) {
    #expect(Self.codes(Self.inputs + "{" + step + "}]}") == codes)
  }

  private static let inputs = #"""
    {"inputs":{"s":{"type":"string"},"n":{"type":"integer"},"e":{"enum":["dev","prod"]},
     "p":{"type":"string","pattern":"^[a-z][a-z0-9.-]*$"}},"steps":[
    """#

  @Test(
    "X23: standard input with a value is no program",
    arguments: [
      (#""run":["sh"]"#, true), (#""run":"sh""#, true), (#""run":["python3"]"#, true),
      (#""run":["bash","/dev/stdin"]"#, true), (#""run":["env","sh"]"#, true),
      (#""run":["xargs","sh","-c"]"#, true), (#""run":["awk","-f","-"]"#, true),
      (#""run":["sed","-f","-"]"#, true), (#""run":["ssh","host"]"#, true),
      (#""run":["ssh","host","sudo","bash"]"#, true), (#""run":"exec bash""#, true),
      (#""run":"cat | sh""#, true), (#""run":"x=$(cat); eval \"$x\"""#, true),
      (#""run":"f() { sh; }; f""#, true), (#""run":"while read -r x; do eval \"$x\"; done""#, true),
      (#""shell":"bash","run":"read -r n; echo $((n))""#, true),
      (#""run":["sh","-c","read x; eval \"$x\""]"#, true),
      (#""run":["cat"]"#, false), (#""run":"cat >f; sh f""#, false),
      (#""run":["python3","x.py"]"#, false), (#""run":"echo ls | sh; cat""#, false),
      (#""run":"sh <f; cat""#, false), (#""run":"read -r x; echo \"$x\"""#, false),
      (#""run":["ssh","host","cat >f"]"#, false), (#""shell":"python","run":"input()""#, false),
    ])
  func inputIsNoProgram(step: String, isRejected: Bool) {
    func codes(_ input: String, before: String = "") -> Set<String> {
      Set(Self.codes(Self.inputs + before + "{" + step + #","stdin":\#(input)}]}"#))
    }
    let rejected: Set<String> = isRejected ? ["W0323"] : []
    #expect(codes(#""echo ${{ inputs.s }}""#) == rejected)
    #expect(
      codes(#"{"log":"a"}"#, before: #"{"id":"a","run":"x -- ${{ inputs.s }}"},"#) == rejected)
    #expect(codes(#"{"log":"a"}"#, before: #"{"id":"a","run":"x"},"#) == [])
    #expect(codes(#""echo ${{ inputs.n }}""#) == [])
    #expect(codes(#""echo""#) == [] && codes(#"{"file":"f"}"#) == [])
  }
}
