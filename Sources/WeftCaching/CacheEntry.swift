/// The result of a step, with the key it depends on.
package struct CacheEntry: Sendable, Hashable {
  package var key: CacheKey
  /// The step's address in its plan, without element keys.
  package var step: String
  /// The run that produced it.
  package var run: String
  /// Milliseconds since 1970.
  package var storedAt: Int64
  /// The duration of the step in milliseconds.
  package var milliseconds: Int
  /// The paths of the outputs, and everything in them.
  package var outputs: [String]
  package var files: [FileRecord] = []
  /// Files in the outputs that the step is not known to have made. They are not stored, and must be unchanged when
  /// the entry is used.
  package var foreign: [FileRecord] = []
  /// The files of an earlier result among ``files`` that this one did not write; not stored.
  package var earlier: [FileRecord] = []
  package var result: CachedResult
  /// Whether the standard output is stored, even if it has not been loaded.
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

  /// Returns the files in one of the outputs.
  package func files(at output: String) -> [FileRecord] { files.filter { $0.isBelow(output) } }

  func foreign(at output: String) -> [FileRecord] { foreign.filter { $0.isBelow(output) } }
}

/// The outputs of a successful step that expressions can read.
package struct CachedResult: Sendable, Hashable {
  /// The bytes of a stream; `nil` if it was not captured.
  package var stdout: [UInt8]?
  package var stderr: [UInt8]?
  /// The outputs written to the output file.
  package var written: [CachedOutput] = []
  /// `nil` if it is no longer available.
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

/// The beginning of a step's log, with the stream of each byte.
package struct CachedLog: Sendable, Hashable {
  /// The maximum number of bytes.
  package static let limit = 1 << 20

  package private(set) var bytes: [UInt8] = []
  /// The numbers of consecutive bytes from standard output, then from standard error, then from standard output
  /// again.
  package private(set) var stretches: [Int] = []
  /// Whether it is the complete log.
  package var isWhole = true

  package init() {}

  /// - Returns: `nil` if the stretches do not match the bytes.
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

  /// Appends whole lines, as far as they fit.
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

  /// The stretches, in order.
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
