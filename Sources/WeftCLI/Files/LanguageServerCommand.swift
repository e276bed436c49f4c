import Weft
import WeftDefinition
import WeftJSON
import WeftLanguageServer
import WeftPlatform
import WeftTestKit

/// `weft lsp`: a ``LanguageServer`` on standard input and output.
struct LanguageServerCommand: Subcommand {
  init(_ parsed: ParsedArguments) {}

  /// A text is checked once nothing was typed for this long.
  private static let pause = Duration.milliseconds(30)
  private static let pieceBytes = 64 << 10

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    var server = LanguageServer(version: WeftVersion.current) { text, path, openTexts in
      let start = path.map(LanguageServerCommand.startDirectory)
      // It may change while the editor is open.
      let configuration = UserConfiguration.read()
      let runners = configuration.runners
      if let path, WorkflowFileName.isTest(path) {
        let file = LoadedTestFile(
          text, at: path, startDirectory: start, openTexts: openTexts, runners: runners)
        return CheckedDocument(file.diagnostics).reporting(configuration.problems)
      }
      return CheckedDocument(
        CheckedWorkflow(
          text, at: path, startDirectory: start, openTexts: openTexts, runners: runners
        )
        .withEnvironmentFiles(startDirectory: start)
      ).reporting(configuration.problems)
    }
    var stream = MessageStream()
    let input = Descriptor.standardInput
    while true {
      do throws(MessageStream.Fault) {
        while let message = try stream.next() {
          send(server.receive(message), console)
          if let code = server.exitCode { return code == 0 ? .success : .failure }
        }
      } catch {
        throw CommandFailure(
          .broken, error.message,
          help: "weft lsp is started by an editor, which speaks its protocol")
      }
      if !input.isReadable(within: LanguageServerCommand.pause) { send(server.settle(), console) }
      guard let piece = try? input.nextPiece(atMost: LanguageServerCommand.pieceBytes),
        !piece.isEmpty
      else { return .failure }
      stream.append(piece)
    }
  }

  private func send(_ messages: [JSONValue], _ console: Console) {
    for message in messages { console.output.write(MessageStream.framed(message)) }
    console.output.flush()
  }

  /// The directory in which a run of a file starts if it is found by its name.
  private static func startDirectory(of path: String) -> String {
    let folder = parent(of: path)
    return folder.hasSuffix("/\(WorkflowFileName.folder)") ? parent(of: folder) : folder
  }

  private static func parent(of path: String) -> String {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
