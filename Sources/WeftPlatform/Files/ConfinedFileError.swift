/// The reason why a file beneath a directory was not opened.
package enum ConfinedFileError: Error, Hashable, Sendable {
  /// The path leads out of the directory, through `link` if there was one; nothing outside was accessed.
  case outside(link: ConfinedPath?)
  /// That directory has no entry of that name.
  case missing(String, in: ConfinedPath)
  /// Too many links lead to further links, perhaps in a cycle.
  case tooManyLinks
  /// The file is not regular; its kind.
  case notRegular(String)
  case notRead(FileReadError)
}
