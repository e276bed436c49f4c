import Testing

struct DryRunTests {
  private static var canTrace: Bool {
    Weft.shell("exec strace -f -o calls true", in: Directory()).status == 0
  }

  /// Whether a system call is forbidden for a dry run: it starts a program, opens a connection, or opens a file for
  /// writing.
  private static func isForbidden(_ call: Substring) -> Bool {
    let acts = [
      "execve(", "execveat(", "fork(", "socket(", "connect(", "unlink", "mkdir", "rename",
      "truncate(",
      "memfd_create(", "kill(", "O_WRONLY", "O_RDWR", "O_CREAT",
    ]
    let startsProcess = call.contains("clone") && !call.contains("CLONE_THREAD")
    return startsProcess || acts.contains { call.contains($0) }
  }

  @Test(
    "G07: a dry run starts no process, opens no socket and writes no file",
    .enabled(if: DryRunTests.canTrace, "needs strace, and the right to use it"),
    arguments: [
      "graph --format tree w.json", "graph --format dot w.json", "graph --format json w.json",
      "graph --format table w.json", "graph --format mermaid w.json",
      "graph --format svg w.json", "graph --format html control.json",
      "run --dry-run --strict w.json", "check w.json", "check --format sarif w.json",
      "check broken.json", "run --dry-run --only up control.json",
      "graph -i deploy=true --skip up --format mermaid control.json",
    ])
  func aDryRunTouchesNothing(command: String) throws {
    let directory = Directory()
    directory.write("w.json", #"{ "steps": ["touch a", { "run": ["touch", "b"] }] }"#)
    directory.write("broken.json", #"{ "steps": ["touch a", { "run": 1 }] }"#)
    directory.write("control.json", DryRunTests.control)
    let result = Weft.shell(
      "mkdir below && mv *.json below && cd below && exec strace -f -o ../calls \"$WEFT\" \(command)",
      in: directory)
    #expect(result.status == (command.contains("broken") ? 3 : 0))
    #expect(
      Files.names(in: directory.path + "/below") == ["broken.json", "control.json", "w.json"])
    let calls = String(decoding: try #require(directory.read("calls")), as: UTF8.self)
      .split(separator: "\n")
    #expect(calls.count > 10)
    // The first call is the program itself.
    let guilty = calls.dropFirst().filter(DryRunTests.isForbidden)
    #expect(guilty == [])
  }

  /// A workflow with everything that could make a program look beyond the file.
  private static let control = """
    { "inputs": { "deploy": { "type": "boolean" } }, "secrets": { "KEY": { "file": "key" } },
      "env": { "KEY": "${{ secrets.KEY }}" },
      "steps": [
        { "id": "list", "run": "ls", "retry": { "max": 3, "delay": "1s" }, "if": "inputs.deploy" },
        { "id": "up", "forEach": { "in": ["a", "b"] }, "run": ["touch", "${{ item }}"],
          "cleanup": ["rm -f a"] },
        { "id": "m", "matrix": { "os": ["x", "y"] }, "steps": ["touch c", { "wait": "1s" }] },
        { "race": ["touch d", "touch e"] },
        { "if": "hashFiles('*.json') != ''", "run": "touch f" } ],
      "finally": ["touch g"] }
    """

  @Test("G07: it prints the order that the run has")
  func aDryRunPrintsTheGraph() {
    let directory = Directory()
    directory.write("w.json", #"{ "steps": ["true", "false"] }"#)
    #expect(
      Weft.run("run", "--dry-run", "w.json", in: directory)
        == Weft.run("graph", "--format", "tree", "w.json", in: directory))
  }
}
