import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Arguments, environment and directory that have been checked for use with a program.
struct ProgramArguments: ~Copyable {
  private let arguments: CStrings
  private let environment: EnvironmentBlock
  private let directory: String?

  /// Linux's MAX_ARG_STRLEN, 32 pages including the terminator; macOS only limits the sum.
  static let stringLimit = 128 * 1024

  init(
    _ strings: [String], environment: EnvironmentBlock, directory: String?
  ) throws(SpawnError) {
    let arguments = try Self.laidOut(strings)
    try Self.check(arguments, environment, directory)
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
  }

  private static func laidOut(_ strings: [String]) throws(SpawnError) -> CStrings {
    guard let name = strings.first, !name.isEmpty else { throw .emptyProgramName }
    var arguments = CStrings()
    for (index, string) in strings.enumerated() {
      guard arguments.append(string) else { throw .nulInArgument(index: index) }
      let size = arguments.length(of: index)
      if size >= stringLimit {
        throw .argumentTooLong(index: index, size: size, limit: stringLimit)
      }
    }
    return arguments
  }

  private static func check(
    _ arguments: CStrings, _ environment: EnvironmentBlock, _ directory: String?
  ) throws(SpawnError) {
    if let directory, directory.utf8.contains(0) { throw .nulInDirectory }
    if let variable = environment.variable(longerThan: stringLimit - 1) {
      throw .variableTooLong(name: variable.name, size: variable.size, limit: stringLimit)
    }
    let (own, inherited) = (arguments.kernelBytes, environment.kernelBytes)
    // Any system passes at least this much (Linux: 128 KiB), so that no query is needed.
    guard own + inherited > 100_000 else { return }
    // Linux passes at most 6 MiB, however large the stack may grow (fs/exec.c).
    let limit = min(max(sysconf(Int32(_SC_ARG_MAX)), stringLimit), 6 * 1024 * 1024)
    if own + inherited > limit {
      throw .argumentsTooBig(arguments: own, environment: inherited, limit: limit)
    }
  }

  /// Spawns `program` with the program's ends of `streams` as its descriptors; returns its process id.
  func start(
    _ program: String, streams: borrowing ProgramStreams, further: [Descriptor] = [],
    cgroup: Int32 = -1
  ) throws(SpawnError) -> Int32 {
    var failure = weft_spawn_failure()
    var pause = Self.firstBusyPause
    while true {
      let leader = spawn(
        program, streams: streams, further: further.map(\.number), cgroup: cgroup,
        failure: &failure)
      if leader > 0 { return leader }
      guard SystemError(number: failure.error) == .textFileBusy, pause <= Self.lastBusyPause else {
        throw explained(failure, of: program)
      }
      weft_sleep(pause)
      pause *= 2
    }
  }

  /// The delays between attempts to execute a file that is open for writing (ETXTBSY). The process that wrote it may
  /// have closed it, but a child that a different thread is spawning may still hold it open until its execve.
  private static let firstBusyPause: Int64 = 1_000_000
  private static let lastBusyPause: Int64 = 64_000_000

  private func spawn(
    _ program: String, streams: borrowing ProgramStreams, further: [Int32], cgroup: Int32,
    failure: inout weft_spawn_failure
  ) -> Int32 {
    let (input, output, errors, terminal) = (
      streams.programInput, streams.programOutput, streams.programErrors, streams.terminal
    )
    return program.withCString { program in
      withOptionalCString(directory) { directory in
        arguments.withPointers { arguments in
          environment.withPointers { environment in
            further.withUnsafeBufferPointer { further in
              var request = weft_spawn_request(
                program: program, arguments: arguments, environment: environment,
                directory: directory, input: input, output: output, errors: errors,
                further: further.baseAddress, further_count: Int32(further.count),
                terminal: terminal, cgroup: cgroup)
              return weft_spawn(&request, &failure)
            }
          }
        }
      }
    }
  }

  private func explained(_ failure: weft_spawn_failure, of program: String) -> SpawnError {
    if SystemError(number: failure.error) == .argumentsTooBig {
      return .argumentsTooBig(
        arguments: arguments.kernelBytes, environment: environment.kernelBytes,
        limit: sysconf(Int32(_SC_ARG_MAX)))
    }
    return ProgramDiagnosis.explain(failure, program: program, directory: directory)
  }
}

private func withOptionalCString<Result>(
  _ string: String?, _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
  guard let string else { return body(nil) }
  return string.withCString(body)
}
