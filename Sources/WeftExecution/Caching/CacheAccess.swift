package import WeftCaching

/// The step cache as one run uses it.
package struct CacheAccess: Sendable {
  package let cache: StepCache
  /// Whether cached results are used; if not, every step runs, and results are still stored.
  package var reads: Bool
  /// The directory of Weft's own files, which are never inputs.
  package var stateDirectory: String?

  package init(_ cache: StepCache, reads: Bool = true, stateDirectory: String? = nil) {
    self.cache = cache
    self.reads = reads
    self.stateDirectory = stateDirectory
  }
}
