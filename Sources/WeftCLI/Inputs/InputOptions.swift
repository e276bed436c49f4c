/// The inputs on the command line.
struct InputOptions: Sendable, Hashable {
  /// The values of `-i`, in order.
  let arguments: [InputArgument]
  /// The value of `--inputs`: a JSON file with several inputs; `-` is standard input.
  let file: String?

  static let none = InputOptions(arguments: [], file: nil)

  init(arguments: [InputArgument], file: String?) {
    self.arguments = arguments
    self.file = file
  }

  init(_ parsed: ParsedArguments) throws(UsageError) {
    var arguments: [InputArgument] = []
    for text in parsed.values(of: .input) {
      guard let argument = InputArgument(text), argument.source != .file("") else {
        throw .wrongValue(
          of: "\"-i\"", found: text, wanted: "NAME=VALUE or NAME=@FILE",
          help: "for example: -i version=1.2.0; NAME:=JSON gives any JSON value", parsed.command)
      }
      arguments.append(argument)
    }
    let files = parsed.values(of: .inputs)
    guard files.count <= 1 else { throw .repeatedOption(.inputs, parsed.command) }
    self.init(arguments: arguments, file: files.first)
    try checkStandardInput(parsed)
  }

  /// Rejects a second reader of standard input, because the first one consumes it.
  private func checkStandardInput(_ parsed: ParsedArguments) throws(UsageError) {
    var readers: [String] = parsed.operands.first == "-" ? ["the workflow"] : []
    if file == "-" { readers.append("--inputs") }
    readers += arguments.filter(\.readsStandardInput).map(\.spelling)
    guard readers.count <= 1 else {
      throw .standardInputTwice(readers[0], readers[1], parsed.command)
    }
  }
}
