import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftPlatform

/// A cluster of Slurm.
struct SlurmScheduler: JobScheduler {
  private let cluster: SlurmCluster
  private let commands = SlurmCommands()

  init(_ cluster: SlurmCluster) { self.cluster = cluster }

  /// An array has at most the usual limit of indices (`MaxArraySize`).
  let traits = JobTraits(
    kind: .slurm, name: "Slurm", place: "the node", mostJobs: 1_000, losesJobs: true,
    registration: .seconds(20), explanation: .seconds(20), visibility: .seconds(60),
    listing: .seconds(2), setsEnvironment: false)

  func prepare(_ executor: CommandExecutor) throws(EnvironmentError) {
    if commands.isReady { return }
    commands.prepare(try executor.resolver.ownEnvironment([]), in: executor.enclosing)
  }

  func request(for attempt: Attempt, timeout: Duration?) -> [String] {
    SlurmRequest(cluster, attempt.command.resources, timeout: timeout).arguments
  }

  func submit(_ batch: JobBatch, in folder: JobFolder, of run: RunID) -> JobSubmission {
    let arguments = Self.arguments(
      batch.request, name: batch.jobs[0].attempt.step.address.text,
      comment: SlurmQueue.comment(run: run, word: batch.word), count: batch.jobs.count,
      log: folder.log(of: batch.word))
    return commands.submit(arguments, script: Self.script.text(of: batch.lines))
  }

  func list(_ run: RunID, _ places: @autoclosure () -> [JobKey: String]) -> JobQueue? {
    commands.isReady ? commands.list(run) : nil
  }

  func recall(_ ids: [String]) -> [String: JobRecord] { commands.recall(ids) }

  func cancel(_ ids: [String], kills: Bool) -> Bool {
    commands.cancel(ids, signal: kills ? "KILL" : nil)
  }

  func end(of job: String, in state: String, of attempt: Attempt) -> AttemptEnd.Status? {
    let resources = attempt.command.resources
    return SlurmState(state).end(of: job, limit: resources?.time, asked: resources?.memory)
  }

  func killRemains(of attempt: Attempt) {}

  func hurry() { commands.hurry() }

  /// A job has a control group of its own where the cluster confines memory.
  private static let script = JobScript(
    peak: #"""
      while IFS=: read -r _ q v; do
        case $q:$v in
        :*/job_*) q=/sys/fs/cgroup$v/memory.peak;;
        memory:*/job_*) q=/sys/fs/cgroup/memory$v/memory.max_usage_in_bytes;;
        *) continue;;
        esac
        if [ -r "$q" ] && read -r q <"$q"; then
          echo "$q"
          return
        fi
      done </proc/self/cgroup
      echo -
      """#)

  /// The arguments for a batch of jobs. The script is handed over on standard input.
  ///
  /// - Parameters:
  ///   - name: The name that users see.
  ///   - log: The path of a file for messages of Slurm.
  static func arguments(
    _ request: [String], name: String, comment: String, count: Int, log: String
  ) -> [String] {
    var arguments = [
      "sbatch", "--parsable", "--no-requeue", "--export=ALL", "--open-mode=append",
      "--job-name=\(plain(name))", "--comment=\(comment)",
      // A percent sign begins a pattern.
      "--output=\(log.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%"))",
    ]
    if count > 1 { arguments.append("--array=0-\(count - 1)") }
    return arguments + request
  }

  private static func plain(_ name: String) -> String {
    let kept = name.unicodeScalars.map { scalar in
      scalar.properties.isAlphabetic && scalar.isASCII || ("0"..."9").contains(scalar)
        || "._-".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
    }
    return "weft-" + String(kept.prefix(60))
  }
}
