import WeftPlatform

/// A program that does nothing, without the dynamic loader that takes most of `/bin/true`'s time. Compiled by
/// the system's C compiler.
final class NoopProgram {
  let path: String
  private let folder: String

  /// `nil` if there is no compiler, or no static C library.
  init?() {
    folder = FileSystem.temporaryDirectory + "/weft-benchmark-noop-\(ThisProcess.id)"
    path = folder + "/noop"
    let script = "echo 'int main(void) { return 0; }' | cc -O2 -static -x c - -o noop"
    guard (try? FileSystem.makeDirectories(folder)) != nil,
      Self.run(["sh", "-c", script], in: folder), Self.run([path], in: folder)
    else { return nil }
  }

  deinit { _ = Self.run(["rm", "-rf", folder], in: "/") }

  private static func run(_ arguments: [String], in folder: String) -> Bool {
    let program = ChildProgram(arguments, environment: .inherited(), directory: folder)
    let end = try? program.run(stop: StopSwitch(), output: { _, _ in })
    return end?.exited(with: 0) == true
  }
}
