import Glibc
import Testing
import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftPlatform

/// Programs that the engine runs on behalf of steps.
@Suite struct ProbeTests {
  /// A file that a program and all its descendants keep locked while they live.
  private final class Life: Sendable {
    let path = "\(FileSystem.temporaryDirectory)/weft-probe-\(UInt64.random(in: 0 ... .max))"
    var script: String { "exec 9>>'\(path)'; flock -s 9; " }

    /// Waits until all of them are dead.
    func isOver() -> Bool {
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(file) }
      for _ in 0..<5000 {
        if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
        usleep(1000)
      }
      return false
    }

    deinit { unlink(path) }
  }

  private static let leaving = "setsid sleep 1000 >&- 2>&- & "

  @Test("X83: a probe that fails leaves nothing alive, wherever that went")
  func probesAreHeld() throws {
    let life = Life()
    let cookie = EngineCookie()
    let entry = "\(RunCookie.engine)=\(RunCookie.thisEngine(cookie))"
    let containment = try Containments.make(
      .automatic, run: "20000101-000000-abcdef", cookie: cookie, entries: [entry])
    defer { containment.close() }
    let program = ChildProgram(
      ["/bin/sh", "-c", life.script + Self.leaving + "exit 3"],
      environment: try EnvironmentBlock.inherited().setting([
        (RunCookie.engine, RunCookie.thisEngine(cookie))
      ]))
    let end = try program.run(in: containment, stop: StopSwitch()) { _, _ in }
    #expect(end.exited(with: 3) && end.leftovers.count == 1)
    #expect(life.isOver())
  }

  @Test(
    "X83: a command for a secret that fails leaves nothing alive; one that succeeds may leave an agent"
  )
  func secretCommandsAreHeld() throws {
    let life = Life()
    func read(_ script: String) throws -> RunSecrets {
      let source = SecretSource.command(["/bin/sh", "-c", life.script + script], timeout: nil)
      return try SecretReader([PlannedSecret(declaration: SecretDeclaration("S", from: source))])
        .read()
    }
    #expect(throws: SecretsReadError.self) { try read(Self.leaving + "exit 3") }
    #expect(life.isOver())
    _ = try read("setsid sleep 1000 >&- 2>&- & echo $! >>'\(life.path)'; echo canary")
    let text = String(decoding: try FileReading.bytes(of: life.path, limit: 100), as: UTF8.self)
    let agent = try #require(Int32(text.prefix { $0 != "\n" }))
    #expect(kill(agent, SIGKILL) == 0, "the agent was ended")
    #expect(life.isOver())
  }

  @Test("X83: of what make says of its version no more is kept than its first lines")
  func longVersions() throws {
    let directory = "\(FileSystem.temporaryDirectory)/weft-make-\(UInt64.random(in: 0 ... .max))"
    #expect(mkdir(directory, 0o700) == 0)
    defer { Directory.removeTree(directory) }
    let script = "#!/bin/sh\necho GNU Make 4.3\nhead -c 3000000 /dev/zero\n"
    let make = open(directory + "/make", O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
    try Descriptor(owning: make).writeAll(script)
    let program = ChildProgram(
      ["make"],
      environment: try EnvironmentBlock.inherited().setting([("PATH", "\(directory):/usr/bin:/bin")]
      ))
    let text = try #require(
      try JobserverForms.version(for: program, in: nil, stop: StopSwitch()))
    #expect(text.utf8.count == JobserverForms.mostBytes)
    #expect(JobserverForm(makeVersion: text) == .pipe)
  }
}
