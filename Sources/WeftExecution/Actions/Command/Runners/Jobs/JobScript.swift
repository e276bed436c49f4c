/// The script that supervises the programs of a batch: one job, or an array of them.
///
/// Each job runs one program, whose values are data in a here-document: see ``RemoteProgram``. Its ``JobDirectory`` gets
///
/// - `started`, a directory, made before anything else;
/// - `out` and `err`, the output; `output`, the file for outputs;
/// - `end`, at last: what ``RemoteEnd`` reads.
struct JobScript {
  /// Commands before the job makes `started`.
  var beginning = ""
  /// The action for signals that end jobs.
  var atSignal = ":"
  /// Whether the program gets no other variables than its lines name.
  var clearsEnvironment = false
  /// Commands that print the peak memory of the program in bytes.
  var peak = "echo -"
  /// Commands after the program has ended.
  var ending = ""

  /// The most bytes of a script; Slurm allows 4 MiB (`max_script_size`).
  static let mostBytes = 2 << 20

  /// The script for jobs, by their indices.
  ///
  /// - Parameter jobs: The lines of each program.
  func text(of jobs: [[String]]) -> String {
    var text = "#!/bin/sh\ncase ${SLURM_ARRAY_TASK_ID:-0} in\n"
    for (index, lines) in jobs.enumerated() {
      // No line is the delimiter: each has a colon.
      text += "\(index)) exec 3<<'WEFT'\n"
      for line in lines { text += line + "\n" }
      text += "WEFT\n;;\n"
    }
    return text + "esac\n" + supervisor
  }

  /// Braces keep the shell from running a part of a script that is not whole.
  private var supervisor: String {
    #"""
    {
    exec </dev/null
    \#(RemoteProgram.reading)
    exec 3<&-
    [ "$k" = r ] || exit 1
    if [ ! -d "$d" ]; then
      echo "weft: this node does not see the directory $d"
      exit 1
    fi
    \#(beginning)
    mkdir "$d/started" || exit 1
    \#(RemoteProgram.measuring)
    size() { if [ -e "$d/$1" ]; then wc -c <"$d/$1"; else echo 0; fi; }
    peak() {
      \#(peak)
    } 2>/dev/null
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
    \#(RemoteProgram.finding)
    trap '\#(atSignal)' HUP INT TERM PIPE
    measure
    (
      if [ -n "$i" ]; then
        exec <"$i"
        rm -f "$i"
      fi
      exec >"$d/out"
      if [ -n "$m" ]; then exec 2>&1; else exec 2>"$d/err"; fi
      exec env \#(clearsEnvironment ? "-i" : "") $b "WEFT_RUNNER=$n" "$@"
    ) &
    pid=$!
    \#(RemoteProgram.waiting)
    \#(ending)
    kill_all
    [ ! -e "$d/missing" ] || e=missing
    leave "$e"
    }

    """#
  }
}
