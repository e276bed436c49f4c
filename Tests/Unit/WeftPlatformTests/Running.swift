@testable import WeftPlatform

/// The output of a test's program, and its end.
struct Ran {
  var end: ProgramEnd
  var output: [UInt8] = []
  var errors: [UInt8] = []

  var text: String { String(decoding: output, as: UTF8.self) }
}

/// Runs a program with this process's environment and collects its output.
func run(
  _ arguments: [String], stop: StopSwitch = StopSwitch(),
  environment: EnvironmentBlock = .inherited(),
  configure: (inout ChildProgram) -> Void = { _ in },
  started: (StartedProgram) -> Void = { _ in },
  onChunk: @escaping (OutputStream, [UInt8]) -> Void = { _, _ in }
) throws(SpawnError) -> Ran {
  var program = ChildProgram(arguments, environment: environment)
  configure(&program)
  var output: [UInt8] = []
  var errors: [UInt8] = []
  let end = try program.run(stop: stop, started: started) { stream, bytes in
    onChunk(stream, Array(bytes))
    if stream == .output { output += bytes } else { errors += bytes }
  }
  return Ran(end: end, output: output, errors: errors)
}

func run(
  sh script: String, stop: StopSwitch = StopSwitch(), environment: EnvironmentBlock = .inherited(),
  configure: (inout ChildProgram) -> Void = { _ in },
  onChunk: @escaping (OutputStream, [UInt8]) -> Void = { _, _ in }
) throws(SpawnError) -> Ran {
  try run(
    ["/bin/sh", "-c", script], stop: stop, environment: environment, configure: configure,
    onChunk: onChunk)
}

/// The reason why a program did not start; `nil` if it did.
func refusal(
  _ arguments: [String], environment: EnvironmentBlock = .inherited(),
  configure: (inout ChildProgram) -> Void = { _ in }
) -> SpawnError? {
  do { _ = try run(arguments, environment: environment, configure: configure) } catch {
    return error
  }
  return nil
}
