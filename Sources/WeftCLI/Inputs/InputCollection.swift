import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftJSON
import WeftPlatform

/// Collects the inputs that the command line gives to a workflow.
struct InputCollection {
  private let declarations: [InputDeclaration]
  private var given: [GivenInput] = []
  private var diagnostics: [Diagnostic] = []

  /// Returns the values of the inputs.
  ///
  /// - Parameters:
  ///   - allowsMissing: Whether missing inputs are permitted.
  ///   - recorded: The inputs of a resumed run.
  /// - Throws: All errors.
  static func values(
    _ options: InputOptions, for declarations: [InputDeclaration], allowsMissing: Bool = false,
    recorded: [HandedOn] = []
  ) throws(InputsUnusableError) -> InputValues {
    var collection = InputCollection(declarations: declarations.demanding(recorded))
    for input in recorded {
      guard let value = input.value, declarations.contains(where: { $0.name.text == input.name })
      else { continue }
      collection.given.append(GivenInput(input.name, .value(value), .program))
    }
    for argument in options.arguments { collection.take(argument) }
    if let path = options.file { collection.take(file: path) }
    return try collection.bound(allowsMissing: allowsMissing)
  }

  /// The errors in the inputs on a command line.
  struct InputsUnusableError: Error {
    let diagnostics: [Diagnostic]
  }

  private init(declarations: [InputDeclaration]) {
    self.declarations = declarations
  }

  private func bound(allowsMissing: Bool) throws(InputsUnusableError) -> InputValues {
    // Missing inputs may be in the file that could not be parsed.
    let isOpen = allowsMissing || !diagnostics.isEmpty
    var all = diagnostics
    do {
      let values = try InputBinding.bind(
        declarations, given, inputSource: .commandLine, allowsMissing: isOpen)
      if all.isEmpty { return values }
    } catch {
      all += error.diagnostics
    }
    throw InputsUnusableError(diagnostics: all)
  }

  // MARK: -i

  private mutating func take(_ argument: InputArgument) {
    given.append(
      GivenInput(argument.name, content(of: argument), .option(argument.spelling)))
  }

  private func content(of argument: InputArgument) -> GivenInput.Content {
    switch argument.source {
    case .given(let text): return argument.isJSON ? .json(text) : .text(text)
    case .file(let path):
      do {
        let bytes = try FileReading.bytes(of: path, limit: WorkflowLimits.inputBytes)
        guard let text = String(validating: bytes.withoutLineEnd, as: UTF8.self) else {
          return .unread("is not UTF-8")
        }
        return argument.isJSON ? .json(text) : .text(text)
      } catch {
        return .unread(error.message)
      }
    }
  }

  // MARK: --inputs

  private mutating func take(file path: String) {
    let name = path == "-" ? "<stdin>" : path
    let bytes: [UInt8]
    do { bytes = try FileReading.bytes(of: path) } catch {
      diagnostics.append(
        Diagnostic(
          .error, code: "W0000", message: "\"\(name)\", for --inputs, \(error.message)", place: nil)
      )
      return
    }
    let (root, found) = JSONReader.read(SourceFile(path: name, bytes: bytes))
    diagnostics += found.map(withoutExcerpt)
    guard let root, !found.contains(where: \.isError) else { return }
    guard root.kind == .object else {
      diagnostics.append(
        withoutExcerpt(
          Diagnostic(
            .error, code: DefinitionCode.wrongType.rawValue,
            message: "a file of inputs holds one object, found \(root.noun)", place: root.place,
            help: "write { \"NAME\": value }")))
      return
    }
    given += GivenInput.all(in: root)
  }

  /// Removes the excerpt and message of a diagnostic about a file with secrets, which might reveal one.
  private func withoutExcerpt(_ diagnostic: Diagnostic) -> Diagnostic {
    guard declarations.contains(where: \.isSecret), let place = diagnostic.place else {
      return diagnostic
    }
    let position = place.file.position(of: Int(place.range.start))
    return Diagnostic(
      diagnostic.severity, code: diagnostic.code,
      message: "\(place.file.path) is not an object of inputs in JSON, "
        + "at \(position.line):\(position.column)", place: nil)
  }
}

extension [UInt8] {
  /// The bytes without a final line end, as for a step's output.
  fileprivate var withoutLineEnd: ArraySlice<UInt8> {
    guard last == UInt8(ascii: "\n") else { return self[...] }
    let rest = dropLast()
    return rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest
  }
}
