import Weft
import WeftDefinition
package import WeftDiagnostics
package import WeftJSON

/// A server for editors, by the Language Server Protocol 3.17: answers messages, and knows nothing of streams.
///
/// The owner passes each message to ``receive(_:)``, and calls ``settle()`` when no further message is waiting, so that
/// a text that is typed is checked once, not for each letter. What either returns is to be sent, in order.
package struct LanguageServer {
  private enum Phase {
    case new, running, shutDown
  }

  /// An error of a request, with its code.
  struct Fault: Error {
    let code: Int
    let message: String

    static let notInitialized = Fault(code: -32002, message: "the first request is \"initialize\"")
    static let shutDown = Fault(code: -32600, message: "the server is shut down")
    static func unknownMethod(_ name: String) -> Fault {
      Fault(code: -32601, message: "there is no method \"\(name)\"")
    }
    static func unfit(_ what: String) -> Fault { Fault(code: -32602, message: what) }
    static func refused(_ why: String) -> Fault { Fault(code: -32803, message: why) }
  }

  /// The exit code that the client's `exit` asks for; `nil` before it.
  package private(set) var exitCode: Int32?

  private var phase = Phase.new
  private var encoding = PositionEncoding.utf16
  private var documents: [String: WorkflowText] = [:]
  /// The URIs of documents whose diagnostics are not published, oldest change first.
  private var unchecked: [String] = []
  private let version: String
  private let check: Check

  /// Checks the text of a document, with the path of its file. The texts of all open documents, by their paths, replace
  /// those of the files.
  package typealias Check = (
    _ text: SourceFile, _ path: String?, _ openTexts: [String: [UInt8]]
  ) -> CheckedDocument

  package init(version: String, check: @escaping Check) {
    self.version = version
    self.check = check
  }

  /// Acts on a message, and returns what is to be sent.
  package mutating func receive(_ incoming: MessageStream.Incoming) -> [JSONValue] {
    guard case .message(let message) = incoming else {
      return [
        LanguageServer.response(to: .null, Fault(code: -32700, message: "the message is not JSON"))
      ]
    }
    let id = message["id"]
    guard let method = message["method"]?.text else {
      // A response; the server sends no requests that need one.
      if message["result"] != nil || message["error"] != nil { return [] }
      return [
        LanguageServer.response(
          to: id ?? .null, Fault(code: -32600, message: "the message has no method"))
      ]
    }
    let parameters = message["params"] ?? .null
    guard let id else {
      notice(method, parameters)
      return []
    }
    do throws(Fault) {
      return [["jsonrpc": "2.0", "id": id, "result": try answer(method, parameters)]]
    } catch {
      return [LanguageServer.response(to: id, error)]
    }
  }

  /// Checks the documents that have changed, and returns their diagnostics.
  package mutating func settle() -> [JSONValue] {
    defer { unchecked = [] }
    guard phase == .running else { return [] }
    let openTexts = openTexts
    return unchecked.compactMap { uri in
      guard documents[uri] != nil else {
        return LanguageServer.diagnostics([], uri: uri, version: .null)
      }
      let checked = documents[uri]!.checked(by: check, openTexts)
      let document = documents[uri]!.document
      if documents[uri]!.isForeign {
        return LanguageServer.diagnostics([], uri: uri, version: document.version)
      }
      return LanguageServer.diagnostics(
        checked.diagnostics.map { $0.protocolValue(in: document, encoding) }, uri: uri,
        version: document.version)
    }
  }

  // MARK: Messages

  private static func response(to id: JSONValue, _ fault: Fault) -> JSONValue {
    [
      "jsonrpc": "2.0", "id": id,
      "error": ["code": .int(fault.code), "message": .string(fault.message)],
    ]
  }

  private static func diagnostics(
    _ list: [JSONValue], uri: String, version: JSONValue
  ) -> JSONValue {
    var parameters: JSONObject = ["uri": .string(uri), "diagnostics": .array(list)]
    if version != .null { parameters["version"] = version }
    return [
      "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": .object(parameters),
    ]
  }

  private mutating func notice(_ method: String, _ parameters: JSONValue) {
    if method == "exit" { exitCode = phase == .shutDown ? 0 : 1 }
    guard phase == .running else { return }
    let uri = parameters["textDocument"]?["uri"]?.text ?? ""
    switch method {
    case "textDocument/didOpen":
      guard let document = OpenDocument(parameters["textDocument"], encoding) else { return }
      documents[uri] = WorkflowText(document)
      checkOthers(than: uri)
    case "textDocument/didChange":
      guard var document = documents[uri]?.document else { return }
      document.apply(
        parameters["contentChanges"]?.list ?? [],
        version: parameters["textDocument"]?["version"] ?? .null)
      documents[uri] = WorkflowText(document)
      checkOthers(than: uri)
    case "textDocument/didClose":
      documents[uri] = nil
      checkOthers(than: uri)
    // Files that are not open may have changed with it.
    case "textDocument/didSave":
      if let document = documents[uri]?.document { documents[uri] = WorkflowText(document) }
      checkOthers(than: uri)
    default: return
    }
    needsCheck(uri)
  }

  /// The texts of the documents that are files, by their paths.
  private var openTexts: [String: [UInt8]] {
    Dictionary(
      documents.values.compactMap { text in
        text.document.path.map { ($0, text.document.source.bytes) }
      }
    ) { first, _ in first }
  }

  /// Checks all other documents again, which may name the file of this one.
  private mutating func checkOthers(than changed: String) {
    for (uri, text) in documents where uri != changed {
      documents[uri] = WorkflowText(text.document)
      needsCheck(uri)
    }
  }

  private mutating func needsCheck(_ uri: String) {
    unchecked.removeAll { $0 == uri }
    unchecked.append(uri)
  }

  private mutating func answer(
    _ method: String, _ parameters: JSONValue
  ) throws(Fault) -> JSONValue {
    switch (phase, method) {
    case (.new, "initialize"): return initialize(parameters)
    case (.new, _): throw .notInitialized
    case (.running, "shutdown"):
      phase = .shutDown
      return .null
    case (.shutDown, _): throw .shutDown
    case (.running, "initialize"): throw Fault(code: -32600, message: "the server is initialized")
    case (.running, _): break
    }
    guard let act = LanguageServer.features[method] else { throw .unknownMethod(method) }
    let uri = parameters["textDocument"]?["uri"]?.text ?? ""
    guard documents[uri] != nil else { throw .unfit("\"\(uri)\" is not open") }
    if documents[uri]!.isForeign { return .null }
    _ = documents[uri]!.checked(by: check, openTexts)
    let text = documents[uri]!
    return try act(text, text.document.offset(parameters["position"]) ?? 0, parameters)
  }

  private mutating func initialize(_ parameters: JSONValue) -> JSONValue {
    phase = .running
    let known = parameters["capabilities"]?["general"]?["positionEncodings"]?.list ?? []
    encoding = known.contains("utf-8") ? .utf8 : .utf16
    return [
      "capabilities": [
        "positionEncoding": .string(encoding.rawValue),
        "textDocumentSync": ["openClose": true, "change": 2, "save": true],
        "hoverProvider": true,
        "completionProvider": ["triggerCharacters": ["\"", ".", "{", "["]],
        "definitionProvider": true, "referencesProvider": true, "documentSymbolProvider": true,
        "renameProvider": ["prepareProvider": true], "documentFormattingProvider": true,
      ],
      "serverInfo": ["name": "weft", "version": .string(version)],
    ]
  }

  /// The requests about a document, and at an offset of it.
  private static let features:
    [String: @Sendable (WorkflowText, Int, JSONValue) throws(Fault) -> JSONValue] = [
      "textDocument/hover": { text, offset, _ in text.hover(at: offset) },
      "textDocument/completion": { text, offset, _ in text.completions(at: offset) },
      "textDocument/definition": { text, offset, _ in text.definition(at: offset) },
      "textDocument/references": { text, offset, parameters in
        text.references(
          at: offset, withDeclaration: parameters["context"]?["includeDeclaration"]?.flag ?? false)
      },
      "textDocument/prepareRename": { text, offset, _ throws(Fault) in try text.renamed(at: offset)
      },
      "textDocument/rename": { text, offset, parameters throws(Fault) in
        try text.rename(at: offset, to: parameters["newName"]?.text ?? "")
      },
      "textDocument/documentSymbol": { text, _, _ in text.symbols },
      "textDocument/formatting": { text, _, _ in text.formatted },
    ]
}
