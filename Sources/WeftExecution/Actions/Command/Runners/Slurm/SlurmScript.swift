import WeftDefinition
import WeftDiagnostics
import WeftPlatform

/// The batch script and the arguments of `sbatch` for jobs with equal requests: one job, or an array of them.
///
/// The script is handed over on standard input. Each job runs one program, whose values are data in a here-document:
/// see ``RemoteProgram``. A directory of its own, which the nodes and this machine share, gets
///
/// - `started`, a directory, made before anything else: a job that cannot make it does nothing, so that no program runs
///   twice, however often it was submitted;
/// - `out` and `err`, the output; `output`, the file for outputs;
/// - `end`, at last: what ``RemoteEnd`` reads.
enum SlurmScript {
  static let started = "started"
  static let outputs = "output"
  static let end = "end"
  static func name(of stream: OutputStream) -> String { stream == .output ? "out" : "err" }

  /// The most jobs of one array: the usual limit of indices (`MaxArraySize`).
  static let mostJobs = 1_000
  /// The most bytes of a script; Slurm allows 4 MiB (`max_script_size`).
  static let mostBytes = 2 << 20

  /// The script for jobs, by their indices.
  ///
  /// - Parameter jobs: The lines of each program.
  static func text(of jobs: [[String]]) -> String {
    var text = "#!/bin/sh\ncase ${SLURM_ARRAY_TASK_ID:-0} in\n"
    for (index, lines) in jobs.enumerated() {
      // No line is the delimiter: each has a colon.
      text += "\(index)) exec 3<<'WEFT'\n"
      for line in lines { text += line + "\n" }
      text += "WEFT\n;;\n"
    }
    return text + "esac\n" + supervisor
  }

  /// The arguments for a batch of jobs.
  ///
  /// - Parameters:
  ///   - name: The name that users see.
  ///   - log: The path of a file for messages of Slurm.
  static func arguments(
    for request: SlurmRequest, name: String, comment: String, count: Int, log: String
  ) -> [String] {
    var arguments = [
      "sbatch", "--parsable", "--no-requeue", "--export=ALL", "--open-mode=append",
      "--job-name=\(plain(name))", "--comment=\(comment)",
      // A percent sign begins a pattern.
      "--output=\(log.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%"))",
    ]
    if count > 1 { arguments.append("--array=0-\(count - 1)") }
    return arguments + request.arguments
  }

  private static func plain(_ name: String) -> String {
    let kept = name.unicodeScalars.map { scalar in
      scalar.properties.isAlphabetic && scalar.isASCII || ("0"..."9").contains(scalar)
        || "._-".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
    }
    return "weft-" + String(kept.prefix(60))
  }

  private static let supervisor = #"""
    exec </dev/null
    \#(RemoteProgram.reading)
    exec 3<&-
    [ "$k" = r ] || exit 1
    if [ ! -d "$d" ]; then
      echo "weft: this node does not see the directory $d"
      exit 1
    fi
    mkdir "$d/started" || exit 1
    \#(RemoteProgram.measuring)
    peak() {
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
    } 2>/dev/null
    size() { if [ -e "$d/$1" ]; then wc -c <"$d/$1"; else echo 0; fi; }
    leave() {
      echo "end $1 $(used) $(peak)" $(size out) $(size err) >"$d/end.new" && mv "$d/end.new" "$d/end"
      case $1 in [0-9]*) exit "$1";; esac
      exit 1
    }
    cd "$c" 2>/dev/null || leave directory
    [ -z "$o" ] || { : >"$d/output"; set -- "WEFT_OUTPUT=$d/output" "$@"; }
    set -- "WEFT_PROGRESS=$d/progress" "$@"
    if [ -n "$t" ]; then
      i=$(umask 077; mktemp "${TMPDIR:-/tmp}/weft.XXXXXXXXXX") || leave directory
      printf '%s' "$t" >"$i"
    fi
    trap : HUP INT TERM PIPE
    \#(RemoteProgram.finding)
    measure
    (
      if [ -n "$i" ]; then
        exec <"$i"
        rm -f "$i"
      fi
      exec >"$d/out"
      if [ -n "$m" ]; then exec 2>&1; else exec 2>"$d/err"; fi
      exec env "WEFT_RUNNER=$n" "$@"
    ) &
    pid=$!
    while :; do
      wait "$pid"
      e=$?
      kill -0 "$pid" 2>/dev/null || break
    done
    measure
    [ -z "$(found)" ] || send KILL
    [ ! -e "$d/missing" ] || e=missing
    leave "$e"

    """#
}

/// The requests of a job to its cluster.
struct SlurmRequest: Hashable {
  /// Arguments of `sbatch`, whose last value of an option counts.
  let arguments: [String]

  /// - Parameter timeout: The time limit of the step, after which the cluster may end the job, if no time is requested.
  init(_ cluster: SlurmCluster, _ resources: Command.Resources?, timeout: Duration?) {
    var arguments = SlurmCluster.Request.allCases.compactMap { request in
      cluster.requests[request].map { "--\(request.rawValue)=\($0)" }
    }
    arguments += cluster.options
    if let cpus = resources?.cpus { arguments.append("--cpus-per-task=\(cpus)") }
    if let memory = resources?.memory { arguments.append("--mem=\((memory.bytes + 1023) / 1024)K") }
    if let gpus = resources?.gpus { arguments.append("--gpus=\(gpus)") }
    // The engine ends the program after its time limit; the cluster does if there is no engine any more.
    let minutes = resources?.time.map { max(1, $0.minutesUp) } ?? timeout.map { $0.minutesUp + 1 }
    if let minutes { arguments.append("--time=\(minutes)") }
    self.arguments = arguments
  }
}

extension Duration {
  fileprivate var minutesUp: Int {
    let seconds = components.seconds + (components.attoseconds > 0 ? 1 : 0)
    return Int((seconds + 59) / 60)
  }
}
