import WeftDefinition
import WeftEncoding
import WeftJSON

/// Definitions, references and renaming.
extension WorkflowText {
  /// The name at an offset: where it is declared, or where something refers to it.
  func name(at offset: Int) -> WorkflowOutline.Reference? {
    guard let outline else { return nil }
    let declared = outline.declarations.lazy.map {
      WorkflowOutline.Reference(kind: $0.kind, name: $0.name, range: $0.range)
    }
    let isHere = { (name: WorkflowOutline.Reference) in
      name.range.lowerBound <= offset && offset <= name.range.upperBound
    }
    return outline.references.first(where: isHere) ?? declared.first(where: isHere)
  }

  private func location(_ range: Range<Int>) -> JSONValue {
    ["uri": .string(document.uri), "range": document.range(range)]
  }

  func definition(at offset: Int) -> JSONValue {
    if let name = name(at: offset) {
      return outline?.declaration(of: name.name, name.kind).map { location($0.range) } ?? .null
    }
    return file(at: offset).map {
      ["uri": .string(FileURI.uri(of: $0)), "range": ["start": start, "end": start]]
    } ?? .null
  }

  private var start: JSONValue { ["line": 0, "character": 0] }

  /// The path of the workflow or script that the text at an offset names.
  private func file(at offset: Int) -> String? {
    guard let root, let path = document.path, let slash = path.lastIndex(of: "/") else {
      return nil
    }
    let cursor = TextCursor(root, at: offset)
    guard case .value(let node) = cursor.target, let name = node.stringValue,
      cursor.path.last == .key("workflow")
        || cursor.path.suffix(2) == [.key("script"), .key("file")],
      !name.isEmpty, !name.contains("${{")
    else { return nil }
    return name.hasPrefix("/") ? name : path[...slash] + name
  }

  func references(at offset: Int, withDeclaration: Bool) -> JSONValue {
    .array(ranges(of: name(at: offset), withDeclaration: withDeclaration).map(location))
  }

  private func ranges(
    of name: WorkflowOutline.Reference?, withDeclaration: Bool
  ) -> [Range<Int>] {
    guard let name, let outline else { return [] }
    let references = outline.references.filter {
      $0.kind == name.kind && name.kind.isSame($0.name, as: name.name)
    }
    let declaration = withDeclaration ? outline.declaration(of: name.name, name.kind)?.range : nil
    return ((declaration.map { [$0] } ?? []) + references.map(\.range))
      .sorted { $0.lowerBound < $1.lowerBound }
  }

  // MARK: Renaming

  /// The range of the name that would be renamed.
  func renamed(at offset: Int) throws(LanguageServer.Fault) -> JSONValue {
    let name = try renamable(at: offset)
    return ["range": document.range(name.range), "placeholder": .string(name.name)]
  }

  func rename(at offset: Int, to newName: String) throws(LanguageServer.Fault) -> JSONValue {
    let name = try renamable(at: offset)
    let isValid =
      switch name.kind {
      case .step, .pool, .runner: StepID(newName) != nil
      case .input, .state: InputName(newName) != nil
      case .secret: SecretName(newName) != nil
      }
    guard isValid else { throw .refused("\"\(newName)\" is not a valid name") }
    if !name.kind.isSame(newName, as: name.name),
      outline?.declaration(of: newName, name.kind) != nil
    {
      throw .refused("\"\(newName)\" is already declared")
    }
    let edits = ranges(of: name, withDeclaration: true).map { range -> JSONValue in
      ["range": document.range(range), "newText": .string(newName)]
    }
    return ["changes": .object([document.uri: .array(edits)])]
  }

  private func renamable(
    at offset: Int
  ) throws(LanguageServer.Fault) -> WorkflowOutline.Reference {
    guard let name = name(at: offset), outline?.declaration(of: name.name, name.kind) != nil else {
      throw .refused("there is no name here that the file declares")
    }
    return name
  }
}
