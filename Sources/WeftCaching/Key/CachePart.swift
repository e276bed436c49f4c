/// A part of a step's dependencies. The raw values appear in reports and must not change.
///
/// This module caches the results of steps, and explains why a result is not available. It knows nothing of
/// workflows: ``CacheKey`` is what a result depends on, ``CacheEntry`` is the result, and ``StepCache`` stores it;
/// ``WorkspaceReader`` reads files, and `OutputRestoration` puts them back.
package enum CachePart: String, Sendable, Hashable, CaseIterable {
  /// The operating system and processor.
  case platform
  /// The program and its arguments, or the interpreter and the script.
  case command
  /// The working directory.
  case cwd
  /// The element of a loop.
  case element
  /// The standard input.
  case stdin
  /// The variables that the file sets or lists.
  case env
  /// The input files, by content.
  case inputs
  /// The paths of the outputs.
  case outputs
  /// An arbitrary text by the author of the workflow.
  case key
  /// The version that a tool reports.
  case version
}
