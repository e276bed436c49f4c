/// The use that a script makes of its variables, as far as its text shows it.
///
/// A quoted variable is safe where it is, but not where the script evaluates it later: after `n="${V}"` the value
/// `a[$(command)]` runs its command in `$((n))`. This follows values backwards from evaluated text, by the names
/// mentioned: through assignments, loops, the standard input of `read` and of filters such as `cat`, and the arguments,
/// the input and the output of functions. Values that pass through files and other programs are not followed.
struct ValueFlow {
  /// Text that the shell evaluates or runs.
  var evaluated: [Range<Int>] = []
  /// Variables that a shell started by the script evaluates.
  var evaluatedNames: Set<String> = []
  /// The offset at which reading stopped.
  var unreadText: Int?
  /// Whether some variable was given the integer attribute or made a reference to another.
  var hasAttributes = false
  /// Whether some command runs text that may set any variable.
  var setsAnyName = false
  var functions: [(name: String, body: Range<Int>)] = []
  /// The bodies of here-documents, by the offsets of their operators.
  var documents: [(offset: Int, body: Range<Int>)] = []
  /// Text that becomes the standard input, or a further descriptor, of the commands in `target`.
  var inputs: [Input] = []
  private var assignments: [(name: String, value: Range<Int>)] = []
  /// The arguments of commands that might be functions.
  private var calls: [(name: String, offset: Int, arguments: Range<Int>)] = []
  /// The names given to `read` and similar commands, with their offsets.
  private var readers: [(name: String, offset: Int)] = []
  /// The variables of loops over parameters.
  private var links: [(name: String, source: String)] = []

  /// Variables that are expanded by name, with their locations.
  private var reads: [VariableRead] = []
  /// Variables that are set to a value not in the script, with their offsets.
  private var others: [(name: String, offset: Int)] = []

  /// Stands for `$1`, `$@` and the like.
  static let positional = "@"
  /// Stands for the standard input of the script.
  static let input = "<"
  /// Stands for all variables of the environment.
  static let environment = "*"
  /// Stands for text behind descriptors other than the standard ones.
  static let descriptors = "&"
  /// Stands for the commands that read a program.
  private static let program = "!"

  struct Input {
    var source: Range<Int>
    var target: Range<Int>
    /// Whether it is the standard input; else, also ``descriptors`` name it.
    var isStandard = true
    /// Whether it duplicates a descriptor.
    var isDuplicate = false
  }

  mutating func assign(_ name: String, _ value: Range<Int>) {
    assignments.append((name, value))
  }

  mutating func call(_ name: String, at offset: Int, _ arguments: Range<Int>) {
    calls.append((name, offset, arguments))
    assign("_", arguments)
  }

  mutating func read(_ names: [String], at offset: Int) {
    for name in names + ["REPLY", "MAPFILE"] { readers.append((name, offset)) }
    set(names, at: offset)
  }

  mutating func readProgram(at offset: Int) { readers.append((Self.program, offset)) }

  /// Notes a command whose output is made from its standard input.
  mutating func filter(at offset: Int) { readers.append((Self.filter(offset), offset)) }

  private static func filter(_ offset: Int) -> String { "<\(offset)" }

  mutating func loopOverParameters(_ name: String, at offset: Int) {
    links.append((name, Self.positional))
    set([name], at: offset)
  }

  mutating func set(_ names: [String], at offset: Int) {
    for name in names { others.append((name, offset)) }
  }

  mutating func recordRead(_ name: String, _ range: Range<Int>) {
    reads.append(VariableRead(name: name, range: range))
  }

  /// Notes `${…}`: an indirection, a subscript and the numbers of a substring are evaluated; `:=` assigns.
  mutating func recordExpansion(_ range: Range<Int>, in script: ScriptText) {
    let inside = script.bytes[range].dropFirst(2).dropLast()
    let parameter = inside.first == .hash ? inside.dropFirst() : inside
    let rest = parameter.drop { $0.isName }
    if let first = parameter.first, first.isNameStart {
      recordRead(script.text(parameter.startIndex..<rest.startIndex), range)
    }
    guard let first = rest.first else { return }
    switch first {
    case UInt8(ascii: "["): evaluated.append(rest.startIndex..<range.upperBound)
    case UInt8(ascii: "!"), UInt8(ascii: "@"): evaluated.append(range)
    case UInt8(ascii: ":") where !Self.defaults.contains(script.bytes[rest.startIndex + 1]):
      evaluated.append(rest.startIndex..<range.upperBound)
    default: break
    }
    if first == .equals || (first == UInt8(ascii: ":") && rest.dropFirst().first == .equals) {
      assign(script.text(parameter.startIndex..<rest.startIndex), range)
    }
  }

  private static let defaults = Array("-=?+".utf8)
}

/// A position at which a script expands a variable.
package struct VariableRead: Sendable, Hashable {
  package let name: String
  /// UTF-8 offsets in the script, from the `$` on.
  package let range: Range<Int>
}

extension ValueFlow {
  /// The variables that get their value from outside the script, each at its first read; `nil` if the script runs
  /// text that may set any variable.
  ///
  /// A variable that the script sets anywhere is its own, because functions and loops do not run in the order of the
  /// text. The exception is a variable that is first set from itself: `MODE=${MODE:-debug}`.
  var readsFromOutside: [VariableRead]? {
    guard unreadText == nil, !setsAnyName else { return nil }
    var firstSet: [String: Range<Int>] = [:]
    let sets = assignments + others.map { ($0.name, $0.offset..<$0.offset) }
    for (name, value) in sets where value.lowerBound < firstSet[name]?.lowerBound ?? .max {
      firstSet[name] = value
    }
    var found: [String: VariableRead] = [:]
    for read in reads where firstSet[read.name].map({ $0.contains(read.range.lowerBound) }) ?? true
    {
      if read.range.lowerBound < found[read.name]?.range.lowerBound ?? .max {
        found[read.name] = read
      }
    }
    return found.values.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }
}

/// Tracing back from evaluated text.
extension ValueFlow {
  /// Rejections of values that are quoted soundly but evaluated elsewhere.
  func rejections(in script: ScriptText) -> [(Range<Int>, ShellQuotingError.Reason)] {
    var rejections: [(Range<Int>, ShellQuotingError.Reason)] = []
    if hasAttributes {
      for (name, value) in assignments {
        rejections.append((script.placeholders(in: value), .attributes(name)))
      }
    }
    let sources = sources(in: script, followsAttributes: hasAttributes)
    for text in sources.programs {
      rejections.append((script.placeholders(in: text), .programInput))
    }
    for (name, value) in sources.values {
      rejections.append((script.placeholders(in: value), .evaluatedLater(name)))
    }
    return rejections
  }

  /// The variables whose values are evaluated at some point, possibly through variables they are copied to.
  func namesEvaluated(in script: ScriptText) -> Set<String> {
    sources(in: script, followsAttributes: false).names
  }

  /// The names that reach evaluated text, the text they are set to, each with the name that is evaluated in the end,
  /// and the text that is the program of some command.
  ///
  /// - Parameter followsAttributes: Whether any variable may evaluate what it is set to.
  private func sources(
    in script: ScriptText, followsAttributes: Bool
  ) -> (names: Set<String>, values: [(name: String, value: Range<Int>)], programs: [Range<Int>]) {
    let readsProgram = readers.contains { $0.name == Self.program }
    guard
      readsProgram || followsAttributes || unreadText != nil
        || !(evaluated.isEmpty && evaluatedNames.isEmpty)
    else { return ([], [], []) }
    let steps = Dictionary(grouping: allSteps, by: \.name)
    var reached: Set<String> = [Self.program]
    var programs: [Range<Int>] = []
    var programReaders = [Self.program]
    while let reader = programReaders.popLast() {
      for step in steps[reader] ?? [] {
        programs += parts(of: step.value)
        if let source = step.source, reached.insert(source).inserted {
          programReaders.append(source)
        }
      }
    }
    var roots = roots(in: script, programs)
    if followsAttributes { roots.formUnion(assignments.map(\.name) + readers.map(\.name)) }
    roots.subtract(reached)
    reached.formUnion(roots)
    var waiting = roots.sorted().map { (name: $0, root: $0) }
    var values: [(name: String, value: Range<Int>)] = []
    while let (name, root) = waiting.popLast() {
      for step in steps[name] ?? [] {
        let parts = parts(of: step.value)
        values += parts.map { (root, $0) }
        let mentioned = parts.reduce(into: Set(step.source.map { [$0] } ?? [])) {
          $0.formUnion(mentions(in: $1, of: script))
        }
        for other in mentioned where reached.insert(other).inserted {
          waiting.append((other, root))
        }
      }
    }
    return (reached, values, programs)
  }

  /// The names that occur in evaluated text.
  private func roots(in script: ScriptText, _ programs: [Range<Int>]) -> Set<String> {
    var regions = evaluated + programs
    if let unreadText { regions.append(unreadText..<script.bytes.count - 1) }
    return regions.reduce(into: evaluatedNames) { names, region in
      for part in parts(of: region) { names.formUnion(mentions(in: part, of: script)) }
    }
  }

  /// A part of the text, and the here-documents whose operators are in it.
  private func parts(of range: Range<Int>) -> [Range<Int>] {
    [range] + documents.filter { range.contains($0.offset) }.map(\.body)
  }

  /// The names in a part of the text, and those of the outputs of functions and filters in it.
  private func mentions(in range: Range<Int>, of script: ScriptText) -> Set<String> {
    var names = script.names(in: range)
    for call in calls where range.contains(call.offset) { names.insert(Self.output(of: call.name)) }
    for reader in readers where range.contains(reader.offset) && reader.name.first == "<" {
      names.insert(reader.name)
    }
    return names
  }

  /// Stands for the output of a function.
  fileprivate static func output(of function: String) -> String { function + "()" }

  private typealias Step = (name: String, value: Range<Int>, source: String?)

  private var allSteps: [Step] {
    var steps: [Step] = assignments.map { ($0.name, $0.value, nil) }
    steps += links.map { ($0.name, 0..<0, $0.source) }
    steps.append(("OPTARG", 0..<0, Self.positional))
    steps += functions.map { (Self.output(of: $0.name), $0.body, nil) }
    let names = Set(functions.map(\.name))
    for call in calls where call.name == "set" || names.contains(call.name) {
      steps.append((Self.positional, call.arguments, nil))
      steps += self.steps(ofReader: Self.input(of: call.name), at: call.offset)
    }
    for (name, offset) in readers {
      steps += self.steps(ofReader: name, at: offset)
      if name != Self.program { steps.append((name, 0..<0, Self.descriptors)) }
    }
    for input in inputs where !input.isStandard && !input.isDuplicate {
      steps.append((Self.descriptors, input.source, nil))
    }
    return steps
  }

  /// Stands for the standard input of a function.
  private static func input(of function: String) -> String { function + "<" }

  /// The origins of the standard input at that offset: text there, the input of the functions around it, or else that
  /// of the script.
  private func steps(ofReader name: String, at offset: Int) -> [Step] {
    let inputs = inputs.filter { $0.target.contains(offset) }
    let functions = functions.filter { $0.body.contains(offset) }
    var steps: [Step] = inputs.map { (name, $0.source, $0.isDuplicate ? Self.descriptors : nil) }
    steps += functions.map { (name, 0..<0, Self.input(of: $0.name)) }
    if functions.isEmpty, !inputs.contains(where: \.isStandard) {
      steps.append((name, 0..<0, Self.input))
    }
    return steps
  }
}

extension ScriptText {
  /// Every word in that part of the text that could name a variable; `@` for positional parameters. After `(` or a
  /// backquote, it could also be a function.
  fileprivate func names(in range: Range<Int>) -> Set<String> {
    var names: Set<String> = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      let start = offset
      while offset < range.upperBound, bytes[offset].isName { offset += 1 }
      if offset > start {
        let name = text(start..<offset)
        names.insert(name)
        let isFirst = start == range.lowerBound
        if !isFirst, bytes[start - 1] == .openParenthesis || bytes[start - 1] == .backquote {
          names.insert(ValueFlow.output(of: name))
        }
      }
      guard offset < range.upperBound else { break }
      if bytes[offset] == .dollar {
        let next = bytes[offset + 1] == .openBrace ? bytes[offset + 2] : bytes[offset + 1]
        if next.isDigit || next == UInt8(ascii: "@") || next == UInt8(ascii: "*") {
          names.insert(ValueFlow.positional)
        }
      }
      offset += 1
    }
    return names
  }
}
