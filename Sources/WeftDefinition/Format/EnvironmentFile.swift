public import WeftDiagnostics
import WeftJSON

/// A file of environment variables, which is read when a run starts.
public struct EnvironmentFile: Sendable, Hashable {
  /// The path as written: relative to the start directory.
  public var path: String
  /// Whether a run needs the file. If not, it may be missing, but not malformed.
  public var isRequired: Bool
  /// The path, with its quotes.
  public var place: Written<SourceRange?>

  public init(path: String, isRequired: Bool = true, place: SourceRange? = nil) {
    self.path = path
    self.isRequired = isRequired
    self.place = Written(place)
  }
}

// MARK: Format

/// An env file while its keys are read.
struct EnvironmentFileDraft: FormatObject {
  var path: String?
  var place: SourceRange?
  var isRequired = true

  static let format = ObjectFormat<EnvironmentFileDraft>("an env file") {
    FormatKey(
      "path", "Path", "Relative to the start directory.",
      type: FormatType(.defined("filledLiteralText")), synonyms: "file src",
      required: #""path": ".env""#
    ) { pass, member, field, draft in
      draft.path = pass.filledText(member.value, field, wanted: "the path of an env file")
      draft.place = member.value.range
    }
    FormatKey(
      "required", .flag(), "Required", "Whether a run needs the file; if not, it may be missing.",
      schema: #"{"default": true}"#
    ) { $0.isRequired = $1 }
  }
}

extension DecodingPass {
  /// One env file, or several, of which the last one wins.
  mutating func environmentFiles(_ node: JSONNode, _ field: Field) -> [EnvironmentFile]? {
    guard node.kind == .array else { return environmentFile(node, field).map { [$0] } }
    return elements(
      of: node, field, wanted: "an array of paths", atLeast: "at least one path"
    ) { $0.environmentFile($1, $2) }
  }

  private mutating func environmentFile(_ node: JSONNode, _ field: Field) -> EnvironmentFile? {
    switch node.kind {
    case .string:
      return filledText(node, field, wanted: "the path of an env file").map {
        EnvironmentFile(path: $0, place: node.range)
      }
    case .object:
      var draft = EnvironmentFileDraft()
      read(node, field, into: &draft)
      return draft.path.map {
        EnvironmentFile(path: $0, isRequired: draft.isRequired, place: draft.place)
      }
    default:
      reportType(
        of: node, field, wanted: "a path, { \"path\": …, \"required\": … }, or an array of them",
        help: "write \".env\"")
      return nil
    }
  }
}
