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
  private(set) var assignments: [(name: String, value: Range<Int>)] = []
  /// The arguments of commands that might be functions.
  private(set) var calls: [(name: String, offset: Int, arguments: Range<Int>)] = []
  /// Arguments that begin with an expansion, where a program may take them for options, each with its command.
  var bareArguments: [(range: Range<Int>, command: String?)] = []
  /// The names given to `read` and similar commands, with their offsets.
  private(set) var readers: [(name: String, offset: Int)] = []
  /// Commands of pipelines, by the offsets of the commands they write to, each with the pipe it reads.
  private(set) var pipes: [(name: String, command: Range<Int>, origin: String?)] = []
  /// The variables of loops over parameters.
  private(set) var links: [(name: String, source: String)] = []

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
  static let program = "!"
  /// Stands for the whole text.
  static let script = ">"

  /// Stands for the output of the commands of a pipeline before that offset.
  static func pipe(at offset: Int) -> String { "|\(offset)" }

  struct Input {
    var source: Range<Int>
    var target: Range<Int>
    /// Whether it is the standard input; else, also ``descriptors`` name it.
    var isStandard = true
    /// A further source: ``descriptors`` for a duplicate of one, ``script`` or ``pipe(at:)``.
    var origin: String?
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

  static func filter(_ offset: Int) -> String { "<\(offset)" }

  /// Notes that a command of a pipeline reads the output of the one before it, and through it that of all before it.
  mutating func connect(_ source: Range<Int>, to target: Range<Int>, isSecond: Bool) {
    let name = Self.pipe(at: target.lowerBound)
    pipes.append((name, source, isSecond ? nil : Self.pipe(at: source.lowerBound)))
    inputs.append(Input(source: 0..<0, target: target, origin: name))
  }

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
