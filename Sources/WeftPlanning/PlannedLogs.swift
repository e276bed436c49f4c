/// The dependencies on logs, as declared by `stdin`; by indices into ``Plan/steps``.
package struct PlannedLogs: Sendable {
  private var sources: [Int: Int] = [:]
  private var read: Set<Int> = []

  mutating func note(_ reader: Int, reads source: Int) {
    sources[reader] = source
    read.insert(source)
  }

  /// The step whose log a step reads.
  package func source(ofStep reader: Int) -> Int? { sources[reader] }

  /// Whether any step reads the log of this step.
  package func isRead(ofStep source: Int) -> Bool { read.contains(source) }
}
