import WeftPlatform

/// A temporary folder for running whole programs, the built `weft` among them.
///
/// `weft` is the one beside this program: `swift build -c release` builds both.
struct Scratch {
  /// The usual reason why there is none.
  static let reason = "there is no `weft` beside this program; build it with swift build -c release"

  let weft: String
  let folder: String
  private let environment = EnvironmentBlock.inherited()

  /// `nil` if no `weft` runs.
  init?(_ name: String) {
    guard let own = try? FileSystem.executablePath(), let slash = own.lastIndex(of: "/") else {
      return nil
    }
    weft = own[..<slash] + "/weft"
    folder = FileSystem.temporaryDirectory + "/weft-benchmark-\(name)-\(ThisProcess.id)"
    guard (try? FileSystem.makeDirectories(folder)) != nil, seconds([weft, "version"]) != nil else {
      return nil
    }
  }

  /// The end of a command in the folder, its output discarded; `nil` if it cannot be run or fails.
  func end(of arguments: [String]) -> ProgramEnd? {
    let program = ChildProgram(arguments, environment: environment, directory: folder)
    guard let end = try? program.run(stop: StopSwitch(), output: { _, _ in }),
      end.exited(with: 0)
    else { return nil }
    return end
  }

  /// The elapsed seconds of a command.
  func seconds(_ arguments: [String]) -> Double? {
    let start = MonotonicClock.now
    guard end(of: arguments) != nil else { return nil }
    return (MonotonicClock.now - start) / .seconds(1)
  }

  func write(_ text: String, to name: String) {
    let script = "cat >\"$1\""
    var program = ChildProgram(
      ["sh", "-c", script, "sh", name], environment: environment, directory: folder)
    program.input = .bytes(Array(text.utf8))
    _ = try? program.run(stop: StopSwitch(), output: { _, _ in })
  }

  func remove() { _ = end(of: ["rm", "-rf", folder]) }
}
