package import WeftCaching

/// What a run does with what steps have made before.
package struct CacheAccess: Sendable {
  package let cache: StepCache
  /// Whether what is there is used; if not, every step is run, and what it makes is kept all the same.
  package var reads: Bool
  /// Where Weft keeps its own files, which are nobody's inputs.
  package var stateDirectory: String?

  package init(_ cache: StepCache, reads: Bool = true, stateDirectory: String? = nil) {
    self.cache = cache
    self.reads = reads
    self.stateDirectory = stateDirectory
  }
}
