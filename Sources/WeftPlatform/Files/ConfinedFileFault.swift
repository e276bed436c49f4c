/// Why a file beneath a directory was not opened.
package enum ConfinedFileFault: Error, Hashable, Sendable {
  /// The path leads out of the directory, by way of `link` if there was one; nothing out there was looked at.
  case outside(link: ConfinedPath?)
  /// Nothing has that name in that directory.
  case missing(String, in: ConfinedPath)
  /// Links lead on to links, to each other perhaps.
  case tooManyLinks
  /// What kind of thing it is instead.
  case notRegular(String)
  case notRead(FileNotRead)
}
