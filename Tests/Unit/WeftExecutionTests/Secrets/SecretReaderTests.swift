import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct SecretReaderTests {
  private static func read(
    _ source: SecretSource, stop: StopSwitch = StopSwitch()
  ) throws -> [UInt8]? {
    let reader = SecretReader([PlannedSecret(declaration: SecretDeclaration("TOKEN", from: source))]
    )
    return try reader.read(stop: stop)["TOKEN"]?.bytes
  }

  /// The diagnostic for a secret that cannot be read.
  private static func complaint(_ source: SecretSource) -> Diagnostic? {
    do {
      _ = try read(source)
      return nil
    } catch {
      return (error as? SecretsReadError)?.diagnostics.first
    }
  }

  private static func file(_ bytes: [UInt8]) throws -> SecretSource {
    let path = "\(FileSystem.temporaryDirectory)/weft-secret-\(UInt64.random(in: 0...UInt64.max))"
    try Descriptor.creating(path, .onlyNew).writeAll(bytes)
    return .file(path)
  }

  /// The reading end of a pipe that holds the bytes and has no writer.
  private static func descriptor(_ bytes: String) -> Int32 {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    _ = Array(bytes.utf8).withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
    close(ends[1])
    return ends[0]
  }

  /// The inode of an open file; `nil` if the descriptor is not open.
  private static func inode(of number: Int32) -> UInt64? {
    var status = stat()
    return fstat(number, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  // MARK: Reading

  // Tests that set variables run in a process of their own: adding one makes glibc move the environment while other
  // threads read it.

  @Test func aVariableIsReadAsItIs() async {
    await #expect(processExitsWith: .success) {
      setenv("WEFT_TEST_SECRET_1", " canary\n", 1)
      let read = try SecretReaderTests.read(.environment("WEFT_TEST_SECRET_1"))
      #expect(read == Array(" canary\n".utf8))
    }
  }

  @Test(arguments: [
    ("canary", "canary"), ("canary\n", "canary"), ("canary\r\n", "canary"),
    ("canary\n\n", "canary\n"), ("line 1\nline 2\n", "line 1\nline 2"),
  ])
  func aFileLosesOneNewline(written: String, read: String) throws {
    let source = try Self.file(Array(written.utf8))
    guard case .file(let path) = source else { return }
    defer { unlink(path) }
    #expect(try Self.read(source) == Array(read.utf8))
  }

  @Test func aFileMustBeText() throws {
    let source = try Self.file([0xFF, 0xFE, 1, 2, 3, 0x80])
    guard case .file(let path) = source else { return }
    defer { unlink(path) }
    let complaint = Self.complaint(source)
    #expect(complaint?.message == "secret \"TOKEN\" (file \"\(path)\") is not UTF-8")
  }

  @Test func aCommandIsStartedWithoutAShell() throws {
    #expect(
      try Self.read(.command(["printf", "%s\n", "$HOME; canary"])) == Array("$HOME; canary".utf8))
  }

  @Test("S10: a command that prints a secret does not see the sources of others")
  func aCommandDoesNotSeeOtherSources() async {
    await #expect(processExitsWith: .success) {
      setenv("WEFT_TEST_SECRET_2", "canary-2", 1)
      let secrets = [
        SecretDeclaration("A", from: .environment("WEFT_TEST_SECRET_2")),
        SecretDeclaration(
          "B", from: .command(["sh", "-c", "echo ${WEFT_TEST_SECRET_2-nothing}"])),
      ]
      let read = try SecretReader(secrets.map { PlannedSecret(declaration: $0) }).read()
      #expect(read["A"]?.bytes == Array("canary-2".utf8))
      #expect(read["B"]?.bytes == Array("nothing".utf8))
    }
  }

  @Test("S11: a descriptor is read once, and closed to all others at once")
  func aDescriptorIsTakenOver() throws {
    let number = Self.descriptor("canary\n")
    let pipe = Self.inode(of: number)
    let reader = SecretReader([
      PlannedSecret(declaration: SecretDeclaration("TOKEN", from: .descriptor(number)))
    ])
    // Another thread may have opened something else under the number that is free now.
    #expect(Self.inode(of: number) != pipe)
    #expect(try reader.read()["TOKEN"]?.bytes == Array("canary".utf8))
  }

  @Test("S11: a program gets no descriptor of a secret")
  func programsGetNoDescriptors() throws {
    let number = Self.descriptor("canary\n")
    let secrets = [
      SecretDeclaration("A", from: .command(["sh", "-c", "ls -x /proc/self/fd; echo end"])),
      SecretDeclaration("B", from: .descriptor(number)),
    ]
    let listed =
      try SecretReader(secrets.map { PlannedSecret(declaration: $0) }).read()["A"]?.bytes ?? []
    // The fourth is the directory that ls reads.
    let numbers = String(decoding: listed, as: UTF8.self).split { $0 == " " || $0 == "\n" }
    #expect(numbers == ["0", "1", "2", "3", "end"])
  }

  // MARK: Rejected secrets

  @Test(
    "S08: a value that cannot be masked is refused, and not told",
    arguments: ["{", "abc", " xyz\n", ""])
  func shortSecretValueIsRefused(value: String) throws {
    let source = try Self.file(Array(value.utf8))
    guard case .file(let path) = source else { return }
    defer { unlink(path) }
    let complaint = try #require(Self.complaint(source))
    #expect(complaint.code == "W0425")
    #expect(complaint.message.hasPrefix("secret \"TOKEN\" "))
    #expect(complaint.message.contains("(file \"\(path)\")"))
    #expect(complaint.help != nil)
    let trimmed = value.split { $0 == " " || $0 == "\n" }.first
    #expect(trimmed.map { !"\(complaint)".contains("\"\($0)\"") } ?? true)
  }

  @Test(arguments: [
    (
      SecretSource.environment("WEFT_TEST_NO_SUCH_VARIABLE"),
      "cannot be read: the variable \"WEFT_TEST_NO_SUCH_VARIABLE\" is not set"
    ),
    (.file("/no/such/file"), "cannot be read: \"/no/such/file\" cannot be read: no such file"),
    (.file("/"), "cannot be read: \"/\" is a directory"),
    (.file("/dev/zero"), "(file \"/dev/zero\") has more than 64 KiB"),
    (
      .command(["/bin/sh", "-c", "echo canary; echo canary >&2; exit 3"]),
      "cannot be read: \"/bin/sh\" exited with code 3"
    ),
    (
      .command(["sh", "-c", "echo canary; kill -KILL $$"]),
      "cannot be read: \"sh\" was ended by signal KILL"
    ),
    (
      .command(["sh", "-c", "echo canary; sleep 1000"], timeout: .milliseconds(30)),
      "cannot be read: \"sh\" took more than 30ms"
    ),
    (
      .command(["weft-test-no-such-program"]),
      "cannot be read: program \"weft-test-no-such-program\" was not found"
    ),
    (.command(["yes", "canary"], timeout: .milliseconds(300)), "took more than 300ms"),
    (.command(["true"]), "(command \"true\") is empty"),
    (.command(["printf", "canary\\0canary"]), "(command \"printf\") contains a NUL byte"),
    (.descriptor(999_999), "cannot be read: descriptor 999999 is not open"),
  ])
  func unreadableSecretIsReported(source: SecretSource, message: String) throws {
    let complaint = try #require(Self.complaint(source))
    #expect(complaint.message.hasPrefix("secret \"TOKEN\" "))
    #expect(complaint.message.contains(message))
    #expect(!complaint.message.contains("canary\n") && complaint.help?.contains("canary") != true)
  }

  @Test func allUnreadableSecretsAreReported() throws {
    let secrets = [
      SecretDeclaration("A", from: .environment("WEFT_TEST_NO_SUCH_1")),
      SecretDeclaration("B", from: .environment("WEFT_TEST_NO_SUCH_2")),
    ]
    let error = #expect(throws: SecretsReadError.self) {
      try SecretReader(secrets.map { PlannedSecret(declaration: $0) }).read()
    }
    #expect(error?.diagnostics.count == 2)
  }

  @Test func readingEndsWhenAStopIsRequested() throws {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    defer { close(ends[1]) }
    let reader = SecretReader([
      PlannedSecret(declaration: SecretDeclaration("TOKEN", from: .descriptor(ends[0])))
    ])
    let stop = StopSwitch()
    stop.request(.graceful)
    let error = #expect(throws: SecretsReadError.self) { try reader.read(stop: stop) }
    #expect(
      error?.diagnostics.first?.message == "secret \"TOKEN\" was not read: interrupted"
    )
  }
}
