/// A part of what a step's result depends on. The words are told to people and to programs, and stay what they are.
///
/// This module keeps what steps have made, and says why something is not to be had from there. It knows nothing of
/// workflows: ``CacheKey`` is what a result depends on, ``CacheEntry`` what is kept of it, ``StepCache`` where;
/// ``WorkspaceReader`` looks at files, and ``OutputRestorer`` puts them back.
package enum CachePart: String, Sendable, Hashable, CaseIterable {
  /// The machine's system and processor.
  case platform
  /// The program and its arguments, or the interpreter and the script.
  case command
  /// The directory in which it runs.
  case cwd
  /// What a step that is run for many is run for.
  case element
  /// What it reads on its standard input.
  case stdin
  /// Variables: those that the file sets, and those that it lists.
  case env
  /// Files, by what is in them.
  case inputs
  /// Which paths it makes.
  case outputs
  /// A text of the author's own.
  case key
  /// What a tool says of its version.
  case version
}
