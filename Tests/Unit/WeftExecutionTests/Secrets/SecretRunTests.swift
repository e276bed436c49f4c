import Testing
import WeftDefinition

@testable import WeftEvents
@testable import WeftExecution

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs of real programs that know secrets.
@Suite struct SecretRunTests {
  private static func configuration(_ secrets: String...) throws -> EngineConfiguration {
    var configuration = EngineConfiguration()
    var values: [SecretName: Secret] = [:]
    for (index, secret) in secrets.enumerated() {
      values[SecretName("S\(index)")!] = try Secret(Array(secret.utf8))
    }
    configuration.secrets = RunSecrets(values)
    return configuration
  }

  private static func texts(_ run: RealRun) -> String { "\(run.events) \(run.report)" }

  @Test("S05: output is masked in the log and in events, also when it comes byte by byte")
  func outputIsMasked() async throws {
    let script = """
      for c in s 3 c r 3 t - c a n a r y; do printf %s $c; done; echo ' and more'
      echo s3cr3t-canary >&2
      printf s3cr3t-canary
      """
    let run = try await RealRun(
      Workflow(steps: [step("a", .script(script))]),
      configuration: try Self.configuration("s3cr3t-canary"))
    let lines = run.logs["a"]?.split(separator: "\n").sorted()
    #expect(lines == ["***", "***", "*** and more"])
    #expect(!Self.texts(run).contains("s3cr3t"))
    // Bytes are counted before masking.
    #expect(run.end(of: "a")?.outputBytes == 13 + 10 + 14 + 13)
  }

  @Test("S05: a secret over the border between two reads is masked")
  func aBorderBetweenReads() async throws {
    // A read takes 64 KiB of a pipe, and 1 MiB of one that has been full.
    let script = #"""
      awk 'BEGIN { for (i = 0; i < 40000; i++) printf "0123456789abcde s3cr3t-canary %d\n", i }'
      """#
    let run = try await RealRun(
      Workflow(steps: [step("a", .script(script))]),
      configuration: try Self.configuration("s3cr3t-canary"))
    let log = run.logs["a"] ?? ""
    #expect(!log.contains("canary") && !log.contains("s3c"))
    #expect(log.utf8.count(where: { $0 == UInt8(ascii: "*") }) == 3 * 40_000)
  }

  @Test(
    "S08: a secret output that cannot be masked fails the step, and is not told",
    arguments: [nil, "${{ self.stdout }}"], [true, false])
  func aShortSecretOutputIsRefused(value: String?, isShort: Bool) async throws {
    let text = isShort ? "xyz" : "xyzw"
    var settled = step(
      "a", .script("echo \(text)" + (value == nil ? "; echo v=\(text) >>$WEFT_OUTPUT" : "")))
    settled.outputs = [OutputDeclaration("v", value: value, isSecret: true)]
    let run = try await RealRun(Workflow(steps: [settled]))
    #expect(run.end(of: "a")?.outcome == (isShort ? .failure : .success))
    #expect(run.logs["a"]?.contains("xyz") == false)
    #expect(
      run.end(of: "a")?.failure?.message.contains("at least 4 bytes") == (isShort ? true : nil))
  }

  @Test("S09: what the engine itself says of a failure is masked")
  func failuresAreMasked() async throws {
    var workflow = Workflow(parallel: [
      step("missing", .program(["./s3cr3t-canary"])),
      step(
        "elsewhere", .script("true"),
        settings: CommandSettings(workingDirectory: "/s3cr3t-canary")),
      step("input", .script("true"), stdin: .file("/no/s3cr3t-canary")),
    ])
    workflow.onFailure = .continue
    let run = try await RealRun(
      workflow, configuration: try Self.configuration("s3cr3t-canary"))
    for id in ["missing", "elsewhere", "input"] {
      let failure = try #require(run.end(of: id)?.failure)
      #expect(failure.message.contains("***") && !failure.message.contains("canary"))
    }
    // Only the author's text contains it; the run's own description of the plan does not.
    #expect(!Self.texts(run).contains("canary"))
  }

  @Test("S05: the limit of a log cuts no secret in two")
  func theLimitCutsNoSecret() throws {
    for limit in 1...20 {
      var output = AttemptOutput(limit: ByteCount(limit))
      output.use(SecretMask([try Secret(Array("s3cr3t-canary".utf8))]))
      var bytes: [UInt8] = []
      let text = Array("abc s3cr3t-canary def s3cr3t-canary\n".utf8)
      for byte in text {
        let portion = withUnsafeBytes(of: byte) { output.take($0, .stdout, at: .zero) }
        bytes += portion.blocks.flatMap(\.1.bytes)
      }
      bytes += output.finish().blocks.flatMap(\.1.bytes)
      #expect(bytes == Array("abc *** def ***\n".utf8.prefix(limit)))
      #expect(output.bytes == UInt64(text.count))
    }
  }

  @Test("S10: a step sees neither the source of a secret nor another step's variables")
  func sourcesAreHidden() async {
    // Variables are set in a process of its own, because other tests read them meanwhile.
    await #expect(processExitsWith: .success) {
      setenv("WEFT_TEST_SECRET_SOURCE", "s3cr3t-canary", 1)
      let show = "tr '\\0' '\\n' </proc/self/environ | grep -c -e canary -e SECRET_SOURCE || true"
      var workflow = Workflow(parallel: [
        step("other", .script(show)),
        step(
          "declares", .script("echo ${WEFT_TEST_SECRET_SOURCE}"),
          settings: CommandSettings(environment: ["WEFT_TEST_SECRET_SOURCE": "declared"])),
      ])
      workflow.secrets = [
        SecretDeclaration("TOKEN", from: .environment("WEFT_TEST_SECRET_SOURCE"))
      ]
      let run = try await RealRun(workflow)
      #expect(run.logs["other"] == "0\n")
      #expect(run.logs["declares"] == "declared\n")
    }
  }

  @Test func cleanEnvironmentHasRequiredAndDeclaredVariables() async {
    await #expect(processExitsWith: .success) {
      setenv("WEFT_TEST_INHERITED", "yes", 1)
      setenv("LC_TEST", "yes", 1)
      let show: Command.Invocation = .script("echo ${WEFT_TEST_INHERITED-no} ${LC_TEST-no} ${A-no}")
      var (clean, inherits) = (step("clean", show), step("inherits", show))
      clean.settings.environmentPolicy = .clean
      inherits.settings.environmentPolicy = .inherit
      var group = Step("g", parallel: [step("of-group", show), inherits])
      group.settings.environmentPolicy = .clean
      var workflow = Workflow(parallel: [step("outside", show), clean, group])
      workflow.settings.environment = ["A": "declared"]
      let run = try await RealRun(workflow)
      #expect(run.logs["outside"] == "yes yes declared\n")
      #expect(run.logs["clean"] == "no yes declared\n")
      #expect(run.logs["of-group"] == "no yes declared\n")
      #expect(run.logs["inherits"] == "yes yes declared\n")
    }
  }

  @Test func theVariablesOfACleanEnvironmentAreTheDocumentedOnes() {
    for name in [
      "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "TERM",
    ] {
      #expect(EnvironmentPolicy.isKept(name))
    }
    for name in ["LD_PRELOAD", "TOKEN", "LANGUAGE", "PATHS", "LC", "XTERM", "path"] {
      #expect(!EnvironmentPolicy.isKept(name))
    }
  }
}
