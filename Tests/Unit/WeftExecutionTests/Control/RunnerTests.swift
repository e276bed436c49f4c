import Synchronization
import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Commands on other machines: the place where each runs, the slots of hosts, and the language of supervisors.
@Suite struct RunnerTests {
  private static func workflow(_ steps: [Step], runner: RunnerName? = "far") -> Workflow {
    var workflow = Workflow(parallel: steps)
    workflow.runners = [
      Runner("far", .ssh(SSHHosts(["a", "b"], slots: 1))), Runner("near", .ssh(SSHHosts(["c"]))),
    ]
    workflow.settings.runner = runner
    return workflow
  }

  private static func step(_ id: String, on runner: RunnerName? = nil) -> Step {
    var step = Step(StepID(id)!, run: "true")
    step.settings.runner = runner
    return step
  }

  @Test func innermostRunnerWinsAndAChosenOneReplacesTheWorkflows() throws {
    var terminal = Self.step("terminal")
    terminal.action.command?.usesTerminal = true
    var group = Step("group", parallel: [Self.step("in"), Self.step("own", on: "local")])
    group.settings.runner = "near"
    let workflow = Self.workflow([
      Self.step("plain"), terminal, group, Self.step("named", on: "near"),
    ])
    var plan = try #require(Planner.plan(workflow).plan)
    let places = { (plan: Plan) in
      plan.steps.map { "\($0.address) \(plan.runner(of: $0)?.name ?? "local")" }
    }
    let inside = ["in near", "own local", "named near"]
    #expect(places(plan) == ["plain far", "terminal local"] + inside)
    #expect(plan.choose(runner: "near") == nil)
    #expect(places(plan) == ["plain near", "terminal local"] + inside)
    #expect(plan.choose(runner: "local") == nil)
    #expect(places(plan) == ["plain local", "terminal local"] + inside)
    #expect(plan.choose(runner: "fra")?.code == "W0234")
  }

  @Test func commandsWaitForTheSlotsOfAllHosts() throws {
    let steps = ["a", "b", "c"].map { Self.step($0) } + [Self.step("d", on: "local")]
    let run = try RunHarness(Self.workflow(steps), onFailure: .continue)
    #expect(run.running == ["a", "b", "d"])
    let holders = [StepAddress("a"), StepAddress("b")]
    #expect(
      run.run.waitingSteps(atMost: 1).first
        == [WaitingStep(StepAddress("c"), .pool("runners.far", holders: holders))])
  }

  @Test func programsAreDistributedAmongHostsAndConnections() {
    var seats = HostSeats(hosts: 2)
    let taken = (0..<18).map { _ in seats.take { _ in true } }
    #expect(taken.prefix(4).map(\.host) == [0, 1, 0, 1])
    #expect(Set(taken.map(\.connection)).count == 4, "eight programs share a connection")
    #expect(taken.last?.connection == 4)
    seats.giveBack(taken[1])
    #expect(seats.take { _ in true } == taken[1])
    seats.giveBack(taken[0])
    let other = seats.take(on: 0) { $0 != taken[0].connection }
    #expect(other.host == 0 && other.connection != taken[0].connection)
  }

  // MARK: The language of supervisors

  private final class Sink: ProgramOutput {
    var taken: [OutputStream: [UInt8]] = [:]
    var alarm: Duration? { nil }
    func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration) {
      taken[stream, default: []] += bytes
    }
    func timePassed(until now: Duration) {}
  }

  /// Passes bytes on in pieces.
  private static func read(_ bytes: [UInt8], pieces size: Int) -> RemoteOutput<Sink> {
    let output = RemoteOutput(Sink(), word: "word")
    for start in stride(from: 0, to: bytes.count, by: size) {
      bytes[start..<min(start + size, bytes.count)].withUnsafeBytes {
        output.take($0, from: .output, at: .zero)
      }
    }
    return output
  }

  @Test func reportsAreFoundHoweverTheStreamIsCut() {
    let data = "a\0WEFTworx \0\0WEFTword\0WEFTwor\nb"
    let text = "noise\0\n\0WEFTword run\n\(data)\0WEFTword end 139 - - - -\nx=1\n\0WEFTword end 0\n"
    for size in 1...text.utf8.count {
      let sink = Sink()
      let output = RemoteOutput(sink, word: "word")
      let bytes = Array(text.utf8)
      for start in stride(from: 0, to: bytes.count, by: size) {
        bytes[start..<min(start + size, bytes.count)].withUnsafeBytes {
          output.take($0, from: .output, at: .zero)
        }
      }
      #expect(output.phase.end?.status == .ended(139))
      #expect(String(decoding: sink.taken[.output] ?? [], as: UTF8.self) == data)
      #expect(String(decoding: output.outputs, as: UTF8.self) == "x=1\n\0WEFTword end 0\n")
      #expect(String(decoding: output.preamble, as: UTF8.self) == "noise\0\n")
    }
  }

  @Test func errorsBeforeTheReportAreNotTheProgramsOwn() {
    let text = "more noise\n\0WEFTwork\0WEFTword run\nits\0own\0WEFTword run\n"
    for size in 1...text.utf8.count {
      let sink = Sink()
      let output = RemoteOutput(sink, word: "word")
      let bytes = Array(text.utf8)
      for start in stride(from: 0, to: bytes.count, by: size) {
        bytes[start..<min(start + size, bytes.count)].withUnsafeBytes {
          output.take($0, from: .errors, at: .zero)
        }
      }
      #expect(
        String(decoding: sink.taken[.errors] ?? [], as: UTF8.self) == "its\0own\0WEFTword run\n")
      #expect(String(decoding: output.preamble, as: UTF8.self) == "more noise\n\0WEFTwork")
    }
  }

  @Test(arguments: [
    ("", RemoteOutput<Sink>.Phase.silent), ("Permission denied\n", .silent),
    ("\0WEFTword run\nabc", .running), ("\0WEFTword run\n\0WEFTword end", .running),
    ("\0WEFTother end 0 - - - -\n", .silent),
  ])
  private func phaseFollowsTheReports(_ text: String, _ phase: RemoteOutput<Sink>.Phase) {
    #expect(Self.read(Array(text.utf8), pieces: 7).phase == phase)
  }

  @Test(arguments: [
    ("end directory - - - -", RemoteEnd.Status.noDirectory), ("end missing - - - -", .noProgram),
    ("end 0 0m0.01s 0m0.02s 0m0.03s 0m0.02s", .ended(0)),
  ])
  private func endsAreReportsToo(_ report: String, _ status: RemoteEnd.Status) {
    let output = Self.read(Array("\0WEFTword run\n\0WEFTword \(report)\n".utf8), pieces: 5)
    #expect(output.phase.end?.status == status)
  }

  @Test(arguments: [
    ("0m0.01s 0m0.02s 1m2.345678s 0m0.02s", 62_335_678),
    ("0m0,010s 0m0,020s 0m1,5s 0m2s", 1_490_000),
    ("0m0s 0m0s 2m0s 0m0s", 120_000_000),
  ])
  func timesAreThoseBetween(_ times: String, userMicroseconds: Int) {
    let usage = RemoteEnd("end 0 \(times)")?.usage
    #expect(usage?.userTime == .microseconds(userMicroseconds))
    #expect(usage?.peakMemoryBytes == nil && usage?.minorFaults == nil)
  }

  @Test(arguments: ["- - - -", "0m0.01s 0m0.02s - -", "0.01 0.02 0.03 0.04", "m m m m"])
  func timesThatAreNotKnownAreNoUsage(_ times: String) throws {
    let end = try #require(RemoteEnd("end 0 \(times)"))
    #expect(end.status == .ended(0) && end.usage == nil)
  }

  @Test func usageIsComparedWithWhatWasRequested() {
    let resources = Command.Resources(cpus: 2, memory: ByteCount(1_500))
    let end = RemoteEnd("end 0 0m0s 0m0s 0m1s 0m0s 4096 0 0")
    let usage = end?.usage?.beside(resources)
    #expect(usage?.peakMemoryBytes == 4096)
    #expect(usage?.requestedProcessors == 2 && usage?.requestedMemoryBytes == 1_500)
  }

  @Test func shellStatusIsACodeOrASignal() {
    for isScript in [true, false] {
      #expect(ProgramExit(shellStatus: 0, isScript: isScript) == .code(0))
      #expect(ProgramExit(shellStatus: 128, isScript: isScript) == .code(128))
      #expect(ProgramExit(shellStatus: 255, isScript: isScript) == .code(255))
    }
    #expect(ProgramExit(shellStatus: 137, isScript: false) == .signal("KILL"))
    #expect(ProgramExit(shellStatus: 137, isScript: true) == .code(137))
  }

  @Test func valuesAreNeverLinesOfTheirOwn() {
    let hostile = "x\nr:\na:--evil\r\\n\\0101\u{85}é\"'$(id)"
    var program = RemoteProgram(
      arguments: [hostile], variables: ["A=\(hostile)"], directory: hostile)
    program.hasOutputs = true
    let input = RemoteSupervisor.input(for: program, word: "word")
    #expect(input.allSatisfy { (0x20...0x7e).contains($0) || $0 == 0x0a })
    let keys = input.split(separator: 0x0a).dropFirst().map { $0.prefix { $0 != 0x3a } }
    #expect(keys.map { String(decoding: $0, as: UTF8.self) }.joined() == "ncsgoapar")
  }

  @Test(arguments: ["sh", "bash", "busybox"])
  func valuesAreReadByteForByte(_ shell: String) throws {
    let words = shell == "busybox" ? ["busybox", "sh"] : [shell]
    let text =
      String(decoding: (1...255).map { UInt8($0) }, as: Unicode.ASCII.self)
      + String((1...0x2ff).compactMap { Unicode.Scalar($0).map(Character.init) }) + "\n\n"
    var program = ChildProgram(
      words + [
        "-c", #"IFS= read -r v; v=$(printf '%b.' "$v"); v=${v%.}; printf %s "$v""#,
      ], environment: .inherited())
    program.input = .bytes(Array("\(RemoteProgram.escaped(text))\n".utf8))
    let read = Mutex<[UInt8]>([])
    do throws(SpawnError) {
      _ = try program.run(stop: StopSwitch()) { _, bytes in read.withLock { $0 += bytes } }
    } catch {
      guard case .programNotFound = error else { throw error }
      return
    }
    #expect(read.withLock { $0 } == Array(text.utf8))
  }
}
