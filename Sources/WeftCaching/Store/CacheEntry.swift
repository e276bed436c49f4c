/// What a step has made, by what it depended on.
package struct CacheEntry: Sendable, Hashable {
  package var key: CacheKey
  /// The step's address in its plan; without what an element is called.
  package var step: String
  /// The run that made it.
  package var run: String
  /// Milliseconds since 1970.
  package var storedAt: Int64
  /// How long the step took, in milliseconds.
  package var milliseconds: Int
  /// The paths that it makes, and all that is at them.
  package var outputs: [String]
  package var files: [FileRecord] = []
  /// What was at the outputs and is not known to be made by the step: it is not kept, and has to be as it was.
  package var foreign: [FileRecord] = []
  package var result: CachedResult
  /// Whether what it wrote is kept, be it that it has been read back or not.
  package var keepsStdout = false
  package var keepsStderr = false
  package var keepsWholeLog = false

  package init(
    key: CacheKey, step: String, run: String, storedAt: Int64, milliseconds: Int,
    outputs: [String], result: CachedResult
  ) {
    self.key = key
    self.step = step
    self.run = run
    self.storedAt = storedAt
    self.milliseconds = milliseconds
    self.outputs = outputs
    self.result = result
    keepsStdout = result.stdout != nil
    keepsStderr = result.stderr != nil
    keepsWholeLog = result.log?.isWhole ?? false
  }

  /// What is at one of its outputs.
  package func files(at output: String) -> [FileRecord] { files.filter { $0.isBelow(output) } }

  func foreign(at output: String) -> [FileRecord] { foreign.filter { $0.isBelow(output) } }
}

/// What others can read of a step that has succeeded.
package struct CachedResult: Sendable, Hashable {
  /// The bytes of a stream; `nil` where nobody read it then.
  package var stdout: [UInt8]?
  package var stderr: [UInt8]?
  /// What it wrote into the file for outputs.
  package var written: [CachedOutput] = []
  /// `nil` where it is not known any more.
  package var log: CachedLog?

  package init(
    stdout: [UInt8]? = nil, stderr: [UInt8]? = nil, written: [CachedOutput] = [],
    log: CachedLog? = nil
  ) {
    self.stdout = stdout
    self.stderr = stderr
    self.written = written
    self.log = log
  }
}

/// The beginning of a step's log, with what came from which stream.
package struct CachedLog: Sendable, Hashable {
  /// How much of a log is kept.
  package static let limit = 1 << 20

  package private(set) var bytes: [UInt8] = []
  /// How many bytes came from standard output, then from standard error, then from standard output again.
  package private(set) var stretches: [Int] = []
  /// Whether it is all that the step wrote.
  package var isWhole = true

  package init() {}

  /// - Returns: `nil` if the stretches are not those of the bytes.
  init?(_ bytes: [UInt8], stretches: [Int], isWhole: Bool) {
    var rest = bytes.count
    for stretch in stretches {
      guard stretch >= 0, stretch <= rest else { return nil }
      rest -= stretch
    }
    guard rest == 0 else { return nil }
    self.bytes = bytes
    self.stretches = stretches
    self.isWhole = isWhole
  }

  /// Appends whole lines, as far as there is room.
  package mutating func append(_ lines: [UInt8], isError: Bool) {
    guard isWhole else { return }
    var part = lines[...]
    if bytes.count + lines.count > CachedLog.limit {
      isWhole = false
      part = part.prefix(CachedLog.limit - bytes.count)
      part = part[..<(part.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? part.startIndex)]
    }
    guard !part.isEmpty else { return }
    let isErrorNow = stretches.count.isMultiple(of: 2)
    if stretches.isEmpty || isErrorNow != isError {
      if stretches.isEmpty, isError { stretches.append(0) }
      stretches.append(0)
    }
    stretches[stretches.count - 1] += part.count
    bytes += part
  }

  /// The stretches, in their order.
  package var parts: [(bytes: ArraySlice<UInt8>, isError: Bool)] {
    var start = 0
    return stretches.enumerated().map { index, count in
      defer { start += count }
      return (bytes[start..<(start + count)], !index.isMultiple(of: 2))
    }
  }
}

/// An output that a program wrote: its name, and its value as JSON.
package struct CachedOutput: Sendable, Hashable {
  package var name: String
  package var json: String

  package init(name: String, json: String) {
    self.name = name
    self.json = json
  }
}
