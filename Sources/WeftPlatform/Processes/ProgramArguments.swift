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

/// The directories of a PATH, in which programs named without a slash are searched for.
///
/// Nothing is cached between searches: a step may install a program that the next one runs, in a directory that
/// precedes earlier results. A search takes about a microsecond per directory.
package struct SearchPath: Hashable, Sendable {
  /// Absolute directories, in order.
  package private(set) var directories: [String] = []
  /// Elements that name no fixed directory (empty, `.`, relative): their programs would depend on where a step runs.
  /// They are not searched, and commands that show the plan should say so.
  package private(set) var skipped: [String] = []
  /// Whether there is no PATH, so that the system's default is used (POSIX `confstr(_CS_PATH)`, as `execvp` does).
  package let isDefault: Bool

  package init(_ value: String?) {
    self.init(value.map { Array($0.utf8)[...] })
  }

  init(_ value: ArraySlice<UInt8>?) {
    isDefault = value == nil
    guard let value else {
      directories = ["/bin", "/usr/bin"]
      return
    }
    let colon = UInt8(ascii: ":")
    for element in value.split(separator: colon, omittingEmptySubsequences: false) {
      let text = String(decoding: element, as: UTF8.self)
      if element.first == UInt8(ascii: "/") {
        directories.append(text)
      } else {
        skipped.append(text)
      }
    }
  }

  /// A description of the search for messages.
  var searched: String {
    let list = directories.map { escaped($0) }.joined(separator: ":")
    let base = isDefault ? "PATH is not set, searched \(list)" : "searched PATH \"\(list)\""
    guard !skipped.isEmpty else { return base }
    let names = skipped.map { "\"\(escaped($0))\"" }.joined(separator: ", ")
    return base + ", skipped its relative element\(skipped.count == 1 ? "" : "s") \(names)"
  }

  /// The path to execute for `name`. A name with a slash is returned unchanged: the child resolves it after it has
  /// entered its directory. Among candidates, the first executable one is chosen.
  package func resolve(_ name: String) throws(SpawnError) -> String {
    if name.utf8.contains(UInt8(ascii: "/")) { return name }
    if name.isEmpty { throw .emptyProgramName }
    var refused: String?
    for directory in directories {
      let candidate = directory + "/" + name
      switch FileKind.ofProgram(at: candidate) {
      case .executable: return candidate
      case .refused: refused = refused ?? candidate
      case .absent, .directory: continue
      }
    }
    if let refused { throw ProgramDiagnosis.notExecutable(refused, as: name) }
    throw .programNotFound(name: name, searched: self)
  }
}

/// Strings in the layout that execve takes: NUL-terminated, in sequence.
struct CStrings: Sendable {
  private(set) var bytes: [UInt8] = []
  private(set) var starts: [Int] = []
  private var longest = 0

  var count: Int { starts.count }

  /// Appends a string, which must not contain a NUL.
  mutating func append(_ string: some Sequence<UInt8>) {
    starts.append(bytes.count)
    bytes.append(contentsOf: string)
    bytes.append(0)
    longest = max(longest, length(of: count - 1))
  }

  /// Appends `name`, `separator` and `value` as one string, unless the value contains a NUL.
  ///
  /// - Returns: Whether it was appended.
  mutating func append(_ name: [UInt8], _ separator: UInt8, _ value: String) -> Bool {
    let start = bytes.count
    bytes += name
    bytes.append(separator)
    guard append(value) else {
      bytes.removeSubrange(start...)
      return false
    }
    starts[count - 1] = start
    longest = max(longest, length(of: count - 1))
    return true
  }

  /// Removes a string; later ones move up.
  mutating func remove(at index: Int) {
    let size = length(of: index) + 1
    bytes.removeSubrange(starts[index]..<starts[index] + size)
    starts.remove(at: index)
    for later in starts.indices[index...] { starts[later] -= size }
  }

  /// String `index`, without its terminator.
  subscript(index: Int) -> ArraySlice<UInt8> {
    bytes[starts[index]..<starts[index] + length(of: index)]
  }

  /// Appends a string, unless it contains a NUL.
  ///
  /// - Returns: Whether it was appended.
  mutating func append(_ string: String) -> Bool {
    var string = string
    return string.withUTF8 { buffer in
      guard buffer.isEmpty || memchr(buffer.baseAddress!, 0, buffer.count) == nil else {
        return false
      }
      starts.append(bytes.count)
      bytes.append(contentsOf: buffer)
      bytes.append(0)
      longest = max(longest, buffer.count)
      return true
    }
  }

  /// The number of bytes in string `index`, without its terminator.
  func length(of index: Int) -> Int {
    let end = index + 1 < starts.count ? starts[index + 1] : bytes.count
    return end - starts[index] - 1
  }

  /// The size that the kernel counts against its limit: the bytes, and a pointer to each string.
  var kernelBytes: Int { bytes.count + count * MemoryLayout<UnsafeRawPointer>.size }

  /// The first string that is longer than `limit`, identified by the name before its `=`.
  func variable(longerThan limit: Int) -> (name: String, size: Int)? {
    guard longest > limit, let index = (0..<count).first(where: { length(of: $0) > limit }) else {
      return nil
    }
    let name = self[index].prefix { $0 != UInt8(ascii: "=") }
    return (String(decoding: name, as: UTF8.self), length(of: index))
  }

  func kernelBytes(of index: Int) -> Int {
    length(of: index) + 1 + MemoryLayout<UnsafeRawPointer>.size
  }

  /// Passes the address of the first byte; string `n` begins at offset `starts[n]`.
  func withBase<Result>(_ body: (UnsafeMutablePointer<CChar>?) -> Result) -> Result {
    bytes.withUnsafeBytes { buffer in
      // execve's prototype is not const-correct for historical reasons (POSIX, Rationale): the strings are not
      // modified.
      body(
        UnsafeMutableRawPointer(mutating: buffer.baseAddress)?.assumingMemoryBound(to: CChar.self))
    }
  }

  /// Writes a pointer to each string into `array`, from `index` on; returns the index after the last.
  func point(
    into array: UnsafeMutableBufferPointer<CStringArray.Pointee>, at index: Int,
    from base: UnsafeMutablePointer<CChar>?
  ) -> Int {
    var next = index
    for start in starts {
      array.initializeElement(at: next, to: base.map { $0 + start })
      next += 1
    }
    return next
  }

  /// Passes all strings as execve's array, terminated by a null pointer.
  func withPointers<Result>(_ body: (CStringArray) -> Result) -> Result {
    withBase { base in
      withUnsafeTemporaryAllocation(of: CStringArray.Pointee.self, capacity: count + 1) { array in
        array.initializeElement(at: point(into: array, at: 0, from: base), to: nil)
        return body(CStringArray(array.baseAddress!))
      }
    }
  }
}

/// `char *const []`
typealias CStringArray = UnsafePointer<UnsafeMutablePointer<CChar>?>
