import Testing
import WeftTestKit

/// One run of the program whose whole output is compared: a folder `Golden/TOPIC/CASE` with
/// * `args.txt`: the arguments, one a line;
/// * `stdin.txt`, optional: its standard input;
/// * any other files, which the program finds in the directory where it starts;
/// * `stdout.txt`, `stderr.txt`, `exit.txt`: the expected output; `UPDATE_GOLDEN=1` rewrites them.
struct GoldenCase: Sendable, CustomTestStringConvertible {
  let topic: String
  let name: String

  static let all: [GoldenCase] = Files.names(in: root).flatMap { topic in
    Files.names(in: root + "/" + topic).map { GoldenCase(topic: topic, name: $0) }
  }

  private static let root: String = {
    "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/") + "/Golden"
  }()

  private static let expectations: Set = ["stdout.txt", "stderr.txt", "exit.txt"]

  var testDescription: String { topic + "/" + name }

  /// The differences between the program's output and the recorded one.
  func mismatches() -> [String] {
    let result = run()
    let rule = topic == "run" ? Normalised.run : { $0 }
    let said = [
      ("stdout.txt", rule(result.output)), ("stderr.txt", rule(result.errors)),
      ("exit.txt", "\(result.status)\n"),
    ]
    return said.compactMap { name, text in
      Golden("Golden/\(topic)/\(self.name)/\(name)").mismatch(with: text)
    }
  }

  private func run() -> Weft.Result {
    let folder = GoldenCase.root + "/" + topic + "/" + name
    let directory = Directory()
    for name in Files.names(in: folder) where !GoldenCase.expectations.contains(name) {
      directory.write(name, Files.read(folder + "/" + name)!)
    }
    let arguments = String(decoding: directory.read("args.txt") ?? [], as: UTF8.self)
      .split(separator: "\n").map(String.init)
    Files.remove(directory.path + "/args.txt")
    let input = directory.read("stdin.txt") == nil ? "" : " <stdin.txt"
    return Weft.shell("exec \"$WEFT\" \"$@\"" + input, arguments, in: directory)
  }
}

/// Replaces what differs from run to run by fixed names; nothing else is changed.
enum Normalised {
  /// For the topic `run`, replaces run ids, durations and times; in events also process ids, the kernel's counters,
  /// and the containment that this machine offers.
  static func run(_ text: String) -> String {
    text
      .replacing(#/\b\d{8}-\d{6}-[0-9a-f]{6}\b/#, with: "RUN")
      .replacing(#/\b\d+(\.\d+)? m?s\b/#, with: "TIME")
      .replacing(#/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"/#, with: "\"MOMENT\"")
      .replacing(#/"containment":"[a-z+]+"/#, with: "\"containment\":\"LEVEL\"")
      .replacing(#/"(pid|\w+Us|\w+Faults|\w+Switches)":\d+/#) { "\"\($0.1)\":N" }
  }
}
