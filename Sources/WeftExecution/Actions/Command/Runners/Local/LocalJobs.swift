import Synchronization
import WeftEvents
import WeftPlatform

/// This machine, for programs that outlive the engine: `"onInterrupted": "adopt"`.
///
/// Each is supervised by a shell in a session of its own, which writes its process into the directory of the job, and
/// whose environment has the cookie of the engine, so that `weft reap` finds it.
final class LocalJobs: JobScheduler {
  let traits = JobTraits(
    kind: .local, name: "this machine", place: "this machine", mostJobs: 1, losesJobs: false,
    registration: .seconds(2), explanation: .zero, visibility: .zero, listing: .milliseconds(500),
    setsEnvironment: true)

  private let resolver = Mutex<CommandResolver?>(nil)

  /// Whether this machine has what it takes.
  static let isAvailable =
    FileSystem.isDirectory("/proc/self")
    && (try? EnvironmentBlock.inherited().searchPath.resolve("setsid")) != nil

  func prepare(_ executor: CommandExecutor) throws(EnvironmentError) {
    resolver.withLock { $0 = executor.resolver }
  }

  func request(for attempt: Attempt, timeout: Duration?) -> [String] { [] }

  func submit(_ batch: JobBatch, in folder: JobFolder, of run: RunID) -> JobSubmission {
    guard let resolver = resolver.withLock(\.self) else {
      preconditionFailure("a job is submitted before its scheduler is prepared")
    }
    let (attempt, directory) = (batch.jobs[0].attempt, batch.jobs[0].directory)
    let cookie = resolver.cookie(of: attempt.address, attempt: attempt.number)
    let end: ProgramEnd
    do {
      var launcher = ChildProgram(
        ["/bin/sh", "-c", Self.launcher, directory.path, folder.log(of: batch.word)],
        environment: try resolver.ownEnvironment(cookie))
      launcher.input = .bytes(Array(Self.script.text(of: batch.lines).utf8))
      end = try launcher.run(stop: StopSwitch()) { _, _ in }
    } catch let error as SpawnError {
      return .refused(StepFailure(error))
    } catch {
      return .refused(.notSubmitted("\(error)", isLimit: false))
    }
    guard end.exited(with: 0), let supervisor = supervisor(in: directory.path) else {
      return .refused(
        .notSubmitted("the shell that supervises it did not start", isLimit: false))
    }
    return .submitted(supervisor.text)
  }

  func list(_ run: RunID, _ places: @autoclosure () -> [JobKey: String]) -> JobQueue? {
    var queue = JobQueue()
    for (key, path) in places() {
      guard let supervisor = supervisor(in: path), supervisor.isAlive else { continue }
      let id = supervisor.text
      queue.add(
        JobQueue.Entry(id: id, unfinished: [id], state: "RUNNING", phase: .running, news: nil), key)
    }
    return queue
  }

  func recall(_ ids: [String]) -> [String: JobRecord] { [:] }

  func cancel(_ ids: [String], kills: Bool) -> Bool {
    for id in ids { Supervisor(id)?.signal(kills ? .user1 : .terminate) }
    return true
  }

  func end(of job: String, in state: String, of attempt: Attempt) -> AttemptEnd.Status? { nil }

  func killRemains(of attempt: Attempt) {
    guard let resolver = resolver.withLock(\.self) else { return }
    resolver.cookieOfAllAttempts(of: attempt.address).killAll()
  }

  func hurry() {}

  private func supervisor(in directory: String) -> Supervisor? {
    JobDirectory(path: directory).text("process").flatMap(Supervisor.init)
  }

  /// Starts the supervisor, and ends once that is in its own session: what is not is terminated with the launcher.
  private static let launcher = #"""
    (umask 077 && cat >"$0/script") || exit
    setsid /bin/sh "$0/script" </dev/null >>"$1" 2>&1 &
    until [ -e "$0/process" ]; do
      kill -0 $! && { sleep 0.01 || sleep 1; } || exit
    done 2>/dev/null
    """#

  /// The first field after the name of a process is the third of its `stat`, and its start the 22nd (proc(5)).
  private static let script = JobScript(
    beginning: #"""
      rm -f "$d/script"
      ender=
      trap 'send KILL' USR1
      read -r l </proc/$$/stat
      read -r v </proc/sys/kernel/random/boot_id
      l=$(set -- ${l##*) }; echo "${20}")
      echo "$$ $l $v" >"$d/process.new" && mv "$d/process.new" "$d/process"
      """#,
    atSignal: #"[ -n "$ender" ] || { mkdir "$d/interrupted"; end & ender=$!; }"#,
    clearsEnvironment: true,
    ending: #"""
      while [ -n "$ender" ] && kill -0 "$ender" 2>/dev/null; do wait "$ender"; done
      """#)
}

/// The shell that supervises a program of this machine.
private struct Supervisor {
  let identity: ProcessIdentity
  let bootID: String

  /// - Parameter text: Its process, the start of that in ticks, and the boot of the machine.
  init?(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 3, let id = Int32(words[0]), let start = UInt64(words[1]) else {
      return nil
    }
    identity = ProcessIdentity(id: id, startTicks: start)
    bootID = String(words[2])
  }

  var text: String { "\(identity.id) \(identity.startTicks) \(bootID)" }

  private var status: ProcessStatus? {
    guard bootID == Machine.bootID, let status = ProcessStatus(of: identity.id),
      status.identity == identity, status.isAlive
    else { return nil }
    return status
  }

  var isAlive: Bool { status != nil }

  func signal(_ signal: Signal) {
    status?.send(signal)
  }
}
