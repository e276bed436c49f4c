/// The script that supervises one program on a host: it runs it in a session of its own, ends everything that it has
/// started, and reports how it ended. It needs a POSIX shell, `mktemp`, `env`, `grep` and, for programs that change
/// their group or session, `/proc`; `setsid` is used where there is one.
///
/// The script is a constant, and its standard input carries the program: lines of a letter, a colon and a value in
/// printable ASCII, where a backslash begins an escape of `printf %b`. So no value is ever part of a command, for the
/// shell of the server's user (which gets only ``command`` and ``uploadCommand``) or for any other. The input stays open until the program
/// shall be stopped; its end, also by a lost connection, does that.
///
/// Reports are lines that begin with a NUL and a word that only this supervisor knows: see ``RemoteOutput``. The first one
/// is also written to the error stream.
enum RemoteSupervisor {
  /// The command for the server: reads the script, which is the first line, and runs it. It has no character that
  /// any login shell would treat differently between quotes, also not those of csh and fish.
  static let command = #"exec /bin/sh -c 'IFS= read -r s; eval "$(printf %b "$s")"'"#

  /// Writes its standard input to a new file, which only its user can read, and prints the path.
  static let uploadCommand =
    #"exec /bin/sh -c 'umask 077; f=$(mktemp "${TMPDIR:-/tmp}/weft.XXXXXXXXXX") && cat >"$f" && echo "$f"'"#

  /// The word that ``waitingInput(run:engine:)`` prints when the host is ready for programs.
  static let readyWord = "connected"

  /// The standard input for a program.
  ///
  /// - Parameter word: Letters and digits that cannot be guessed.
  static func input(for program: RemoteProgram, word: String) -> [UInt8] {
    let lines = [RemoteProgram.escaped(script)] + program.lines(word: word)
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// The standard input for ``command`` to wait until the end of its input, after it has ended what programs of earlier
  /// engines of the run have left on the host: a program must not run twice at the same time.
  ///
  /// - Parameter engine: The beginning of the words of this engine's programs.
  static func waitingInput(run: String, engine: String) -> [UInt8] {
    Array("\(RemoteProgram.escaped(waitingScript))\n\(run)\n\(engine)\n".utf8)
  }

  private static let waitingScript = #"""
    IFS= read -r r
    IFS= read -r e
    for f in $(grep -ls "WEFT_RUN_ID=$r" /proc/[0-9]*/environ); do
      grep -qs WEFT_RUNNER= "$f" || continue
      grep -qs "WEFT_RUNNER=$e" "$f" && continue
      f=${f#/proc/}
      kill -s KILL "${f%/environ}"
    done >/dev/null 2>&1
    echo connected
    exec cat >/dev/null
    """#

  /// `d` is a private directory, `n` the word, `k` and `v` the key and value of a line. Arguments come first, then
  /// variables are put before them, for `env`.
  private static let script = #"""
    exec 3<&0 0</dev/null
    d=$(umask 077; mktemp -d "${TMPDIR:-/tmp}/weft.XXXXXXXXXX") || exit 255
    \#(RemoteProgram.reading)
    report() { printf '\000WEFT%s %s\n' "$n" "$1"; }
    leave() { report "end $1 - - - -"; rm -rf "$d"; [ -z "$i" ] || rm -f "$i"; exit; }
    [ "$k" = r ] || leave cut
    # Otherwise a bash takes itself for a login by ssh, and reads .bashrc.
    [ "${SHLVL:-0}" -gt 0 ] || export SHLVL=1
    cd "$c" 2>/dev/null || leave directory
    [ -z "$o" ] || { (umask 077; : >"$d/output"); set -- "WEFT_OUTPUT=$d/output" "$@"; }
    set -- "WEFT_PROGRESS=$d/progress" "$@"
    trap : HUP INT TERM PIPE
    \#(RemoteProgram.finding)
    \#(RemoteProgram.measuring)
    watch() {
      while IFS= read -r l <&3; do :; done
      : >"$d/stopped"
      end
    }
    report run >&2
    report run
    measure
    (
      if [ -n "$i" ]; then exec <"$i"; rm -f "$i"; fi
      [ -z "$m" ] || exec 2>&1
      exec 3<&-
      if command -v setsid >/dev/null 2>&1; then exec setsid env $b "WEFT_RUNNER=$n" "$@"; fi
      exec env $b "WEFT_RUNNER=$n" "$@"
    ) &
    pid=$!
    watch >/dev/null 2>&1 &
    watcher=$!
    \#(RemoteProgram.waiting)
    if [ -e "$d/stopped" ]; then
      wait "$watcher"
    else
      kill -s KILL "$watcher" 2>/dev/null
    fi
    kill_all
    [ ! -e "$d/missing" ] || e=missing
    report "end $e $(used)"
    [ -z "$o" ] || head -c 1048577 "$d/output"
    rm -rf "$d"
    """#
}
