import WeftDiagnostics
import WeftPlatform

/// Texts that are taken for those of files: what an editor has open, or what a run recorded.
struct NamedTexts {
  private let texts: [ConfinedPath: SourceFile]
  /// Whether they are all that may be read.
  let areRecorded: Bool

  /// - Parameter texts: The texts by their absolute paths.
  init(open texts: [String: [UInt8]], below directory: String, prefix: String) {
    areRecorded = false
    self.texts = Dictionary(
      texts.compactMap { path, text in
        ConfinedPath(of: path, below: directory, new: true).map {
          ($0, SourceFile(path: prefix + $0.text, bytes: text))
        }
      }
    ) { first, _ in first }
  }

  /// - Parameter directory: The absolute path of the directory to which their paths are relative.
  init(recorded files: [SourceFile], in directory: String) {
    areRecorded = true
    texts = Dictionary(
      files.compactMap { file in
        ConfinedPath(byText: NamedTexts.absolute(file.path, in: directory)).map { ($0, file) }
      }
    ) { first, _ in first }
  }

  subscript(path: ConfinedPath) -> SourceFile? { texts[path] }

  /// Returns the place of a recorded file without a look at the disk, where links in its name may have changed.
  func recorded(_ name: String, from start: ConfinedPath) -> ConfinedPath? {
    guard areRecorded, let path = ConfinedPath(byText: name, from: start) else { return nil }
    return texts[path] == nil ? nil : path
  }

  /// Returns the place beneath `/` of the file from which others were named.
  static func place(of path: String, in directory: String) -> ConfinedPath? {
    let absolute = absolute(path, in: directory)
    return ConfinedPath(of: absolute, below: "/", new: true) ?? ConfinedPath(byText: absolute)
  }

  private static func absolute(_ path: String, in directory: String) -> String {
    path.hasPrefix("/") ? path : "\(directory)/\(path)"
  }
}
