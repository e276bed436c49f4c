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
  }

  /// What is at one of its outputs.
  package func files(at output: String) -> [FileRecord] { files.filter { $0.isBelow(output) } }

  func foreign(at output: String) -> [FileRecord] { foreign.filter { $0.isBelow(output) } }
}

/// What expressions can read of a step that has succeeded.
package struct CachedResult: Sendable, Hashable {
  /// The bytes of a stream; `nil` where nobody read it then.
  package var stdout: [UInt8]?
  package var stderr: [UInt8]?
  /// What it wrote into the file for outputs.
  package var written: [CachedOutput] = []

  package init(stdout: [UInt8]? = nil, stderr: [UInt8]? = nil, written: [CachedOutput] = []) {
    self.stdout = stdout
    self.stderr = stderr
    self.written = written
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
