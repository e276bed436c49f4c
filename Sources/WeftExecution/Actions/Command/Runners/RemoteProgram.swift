import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlatform

/// A program to run elsewhere, and the way it is stopped. Its values are data for the shell script that runs it, never
/// part of a command: see ``lines(word:)``.
struct RemoteProgram: Sendable {
  var arguments: [String]
  /// `NAME=VALUE` each.
  var variables: [String]
  /// An absolute path.
  var directory: String
  /// The path of the file that it reads, which is removed; `nil` for none.
  var input: String?
  /// Whether it gets a file for outputs.
  var hasOutputs = false
  var mergesOutput = false
  /// The name of the signal, without `SIG`.
  var stopSignal = "TERM"
  var graceSeconds = 10

  /// A text that it reads; if there is none, and no ``input``, it reads nothing.
  var inputText: String?
  /// The directory of its files, for a script that does not make one itself.
  var files: String?
}

extension RemoteProgram {
  /// The most bytes of outputs that are kept, and one more, which says that there are too many.
  static let outputLimit = OutputFile.limitBytes + 1

  /// - Parameter program: Its environment has only what the workflow sets.
  init(_ program: ChildProgram, of attempt: Attempt, in directory: String) {
    self.init(
      arguments: program.arguments, variables: Self.variables(of: program.environment),
      directory: directory)
    hasOutputs = attempt.outputFile != nil
    mergesOutput = program.mergesOutput
    stopSignal = program.stopPolicy.signal.name
    let grace = program.stopPolicy.grace.components
    graceSeconds = Int(grace.seconds) + (grace.attoseconds > 0 ? 1 : 0)
  }

  /// The variables that the script does not set itself.
  ///
  /// - Parameter isHere: Whether the processes are to be found as programs of this engine.
  static func variables(of environment: EnvironmentBlock, isHere: Bool = false) -> [String] {
    let ofScript = [RunCookie.progress, RunEngine.outputFileVariable]
    let hidden = isHere ? ofScript : ofScript + [RunCookie.engine, RunCookie.directory]
    return environment.variables.filter { !hidden.contains($0.key) }
      .map { "\($0.key)=\($0.value)" }.sorted()
  }

  /// The program as lines of a letter, a colon and a value in printable ASCII, where a backslash begins an escape of
  /// `printf %b`. ``reading`` is the part of a script that reads them.
  ///
  /// - Parameter word: Letters and digits that cannot be guessed, by which its processes are found.
  func lines(word: String) -> [String] {
    var lines: [String] = []
    func add(_ key: String, _ value: String) { lines.append("\(key):\(Self.escaped(value))") }
    add("n", word)
    if let files { add("d", files) }
    add("c", directory)
    add("s", stopSignal)
    add("g", String(graceSeconds))
    if let input { add("i", input) }
    if let inputText { add("t", inputText) }
    if hasOutputs { add("o", "1") }
    if mergesOutput { add("m", "1") }
    for argument in arguments { add("a", argument) }
    add("p", "")
    for variable in variables { add("a", variable) }
    add("r", "")
    return lines
  }

  /// Letters and digits that cannot be guessed.
  static func word() -> String {
    (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
  }

  /// The text as `printf %b` reads it, in printable ASCII.
  static func escaped(_ text: String) -> String {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): escaped += [byte, byte]
      case 0x20...0x7e: escaped.append(byte)
      default:
        let digits = String(byte, radix: 8)
        escaped += Array("\\0\(String(repeating: "0", count: 3 - digits.count))\(digits)".utf8)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  /// Reads the lines from descriptor 3 into variables named like their keys, and the arguments of the script: those of
  /// `env`, as arguments come first, and variables are put before them. `k` is `r` if no line is missing. The variable
  /// `d` is the directory of the program's files; a file `missing` in it says that there is no such program. `b` is an
  /// option of `env`, if it has it, for the signals that a shell ignores in commands that it does not wait for.
  static let reading = #"""
    n= c= s=TERM g=10 i= t= o= m= k= p=
    set --
    while IFS= read -r l <&3; do
      k=${l%%:*}
      v=${l#*:}
      case $v in *\\*) v=$(printf '%b.' "$v"); v=${v%.};; esac
      case $k in
      n) n=$v;;
      d) d=$v;;
      c) c=$v;;
      s) s=$v;;
      g) g=$v;;
      i) i=$v;;
      t) t=$v;;
      o) o=$v;;
      m) m=$v;;
      a) if [ -z "$p" ]; then set -- "$@" "$v"; else set -- "$v" "$@"; fi;;
      p) p=1; set -- /bin/sh -c 'command -v "$1" >/dev/null 2>&1 || { : >"$0"; exit 127; }
          exec "$@"' "$d/missing" "$@";;
      r) break;;
      esac
    done
    b=
    ! env --default-signal=INT true 2>/dev/null || b=--default-signal=INT,QUIT
    """#

  /// The functions that find the processes with the word in their environment, send them and the group of the program a
  /// signal, end them with a grace period, and kill them. The last returns when they are dead, unless they cannot be
  /// killed: a killed process lives until the system has taken it down.
  static let finding = #"""
    found() {
      grep -ls "WEFT_RUNNER=$n" /proc/[0-9]*/environ 2>/dev/null |
        while IFS=/ read -r _ _ q _; do echo "$q"; done
    }
    send() {
      kill -s "$1" -- "-$pid"
      for q in $(found); do kill -s "$1" "$q"; done
    } >/dev/null 2>&1
    moment() { sleep 0.1 || sleep 1; } >/dev/null 2>&1
    end() {
      send "$s"
      send CONT
      t=$(($(date +%s) + g))
      while [ -n "$(found)" ] && [ "$(date +%s)" -lt "$t" ]; do moment; done
      send KILL
    }
    kill_all() {
      k=50
      while [ -n "$(found)" ] && [ "$k" -gt 0 ]; do send KILL; k=$((k - 1)); moment; done
    }
    """#

  /// Waits for the program, also if signals interrupt that, and sets `e` to its exit status. What the shell says of a
  /// signal that ended it is not part of its log.
  static let waiting = #"""
    while :; do
      wait "$pid" 2>/dev/null
      e=$?
      kill -0 "$pid" 2>/dev/null || break
    done
    measure
    """#

  /// The functions that measure the program: `measure` before it starts, and after it has ended; `used` prints what
  /// ``RemoteEnd`` reads.
  static let measuring = #"""
    measure() { times >>"$d/times"; }
    used() {
      u=- x=- v=- y=-
      { read -r q; read -r u x; read -r q; read -r v y; } 2>/dev/null <"$d/times"
      echo "$u $x $v $y"
    }
    """#
}

extension Attempt {
  /// The directory of its program elsewhere.
  ///
  /// - Parameter base: The directory to which its own is relative; `nil` for that of this process.
  func directory(in base: String?) -> String {
    let base = base ?? (try? FileSystem.currentDirectory()) ?? "/"
    return resolved.workingDirectory.map { $0.resolved(from: base) } ?? base
  }

  /// Writes what a program left in its file for outputs elsewhere into that of this machine.
  func keep(outputs: [UInt8], from place: String) -> StepFailure? {
    guard let outputFile, !outputs.isEmpty else { return nil }
    do {
      try Descriptor.creating(outputFile, .orEmptied).writeAll(outputs)
      return nil
    } catch {
      return StepFailure(
        classes: [.output], message: "its outputs from \(place) cannot be written: \(error)")
    }
  }
}

extension StepFailure {
  static func noDirectory(on host: String, _ path: String) -> StepFailure {
    StepFailure(
      classes: [.spawn],
      message: "did not start: the directory \(quoted(path)) cannot be entered on \(host)",
      help: "create it there, or choose another one with \"cwd\"")
  }

  static func noProgram(_ name: String, on host: String) -> StepFailure {
    StepFailure(
      classes: [.spawn],
      message: "did not start: there is no program \(quoted(name)) on \(host)",
      help: "install it there, or set PATH in \"env\"")
  }
}

/// The end of a program elsewhere, as the script that runs it reports it: `end`, and words.
struct RemoteEnd: Hashable {
  enum Status: Hashable {
    /// As `$?` reports it.
    case ended(Int)
    case noProgram
    case noDirectory
  }

  let status: Status
  /// Without what its step requests.
  private(set) var usage: ResourceUsage?
  /// The lengths of its output, if it is in files.
  private(set) var outputBytes: Int?
  private(set) var errorBytes: Int?

  /// - Parameter report: `end`; the exit status, `missing` or `directory`; the times of children before and after the
  ///   program (`user system user system`, as `times` prints them); its peak memory in bytes; the lengths of its output
  ///   and its errors. `-` is a number that is not known; the last three may be absent. `nil` if it is no such report.
  init?(_ report: String) {
    let words = report.split(whereSeparator: \.isWhitespace).map(String.init)
    guard words.count == 6 || words.count == 9, words[0] == "end" else { return nil }
    switch words[1] {
    case "missing": status = .noProgram
    case "directory": status = .noDirectory
    default:
      guard let code = Int(words[1]) else { return nil }
      status = .ended(code)
    }
    let times = words[2..<6].map(Self.time)
    if let user = times[0], let system = times[1], let userAtEnd = times[2],
      let systemAtEnd = times[3]
    {
      usage = ResourceUsage(userTime: userAtEnd - user, systemTime: systemAtEnd - system)
    }
    guard words.count == 9 else { return }
    usage?.peakMemoryBytes = Int(words[6])
    guard let output = Int(words[7]), let errors = Int(words[8]) else { return nil }
    (outputBytes, errorBytes) = (output, errors)
  }

  /// - Parameter text: As the shell's `times` prints it: `1m2.34s`; the decimal point is that of the host's locale.
  private static func time(_ text: String) -> Duration? {
    let parts = text.split { "ms.,".contains($0) }
    guard parts.count == 2 || parts.count == 3, let minutes = Int(parts[0]),
      let seconds = Int(parts[1]), text.hasSuffix("s")
    else { return nil }
    let digits = parts.count == 3 ? (parts[2] + "000000").prefix(6) : "0"
    return Int(digits).map { .seconds(minutes * 60 + seconds) + .microseconds($0) }
  }
}

extension ResourceUsage {
  /// The usage beside the requests of the step.
  func beside(_ resources: Command.Resources?) -> ResourceUsage {
    var usage = self
    usage.requestedProcessors = resources?.cpus
    usage.requestedMemoryBytes = resources?.memory?.bytes
    return usage
  }
}
