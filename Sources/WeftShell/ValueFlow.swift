/// The use that a script makes of its variables, as far as its text shows it.
///
/// A quoted variable is safe where it is, but not where the script evaluates it later: after `n="${V}"` the value
/// `a[$(command)]` runs its command in `$((n))`. This follows values backwards from evaluated text, by the names
/// mentioned: through assignments, loops, pipelines into `read` and the arguments of functions. Values that pass
/// through files and other programs are not followed.
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
  var functions: [String] = []
  private var assignments: [(name: String, value: Range<Int>)] = []
  /// The arguments of commands that might be functions.
  private var calls: [(name: Range<Int>, arguments: Range<Int>)] = []
  /// The names given to `read` and similar commands, with their offsets.
  private var readers: [(name: String, offset: Int)] = []
  /// Variables that are set from a pipe, and those of loops over parameters.
  private var links: [(name: String, source: String)] = []

  /// Variables that are expanded by name, with their locations.
  private var reads: [VariableRead] = []
  /// Variables that are set to a value not in the script, with their offsets.
  private var others: [(name: String, offset: Int)] = []

  /// Stands for `$1`, `$@` and the like.
  static let positional = "@"
  /// Stands for text written into pipes and redirected from files.
  private static let pipe = "|"

  mutating func assign(_ name: String, _ value: Range<Int>) {
    assignments.append((name, value))
  }

  /// Connects the output of `source` to the standard input of `target`, all of which has been read.
  mutating func pipe(_ source: Range<Int>, into target: Range<Int>) {
    assign(Self.pipe, source)
    while let reader = readers.last, reader.offset >= target.lowerBound {
      links.append((reader.name, Self.pipe))
      readers.removeLast()
    }
  }

  mutating func call(_ name: Range<Int>, _ arguments: Range<Int>) {
    calls.append((name, arguments))
    assign("_", arguments)
  }

  mutating func read(_ names: [String], at offset: Int) {
    for name in names + ["REPLY", "MAPFILE"] { readers.append((name, offset)) }
    set(names, at: offset)
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

/// Tracing back from evaluated text.
extension ValueFlow {
  /// Rejections of values that are quoted soundly but evaluated elsewhere.
  func rejections(in script: ScriptText) -> [(Range<Int>, ShellQuotingError.Reason)] {
    var rejections: [(Range<Int>, ShellQuotingError.Reason)] = []
    if hasAttributes {
      for (name, value) in assignments where name != Self.pipe {
        rejections.append((script.placeholders(in: value), .attributes(name)))
      }
    }
    for (name, value) in sources(in: script).values {
      rejections.append((script.placeholders(in: value), .evaluatedLater(name)))
    }
    return rejections
  }

  /// The variables whose values are evaluated at some point, possibly through variables they are copied to.
  func namesEvaluated(in script: ScriptText) -> Set<String> { sources(in: script).names }

  /// The names that reach evaluated text, and the text they are set to, each with the name that is evaluated in the
  /// end.
  private func sources(
    in script: ScriptText
  ) -> (names: Set<String>, values: [(name: String, value: Range<Int>)]) {
    let roots = roots(in: script)
    guard !roots.isEmpty else { return ([], []) }
    let steps = Dictionary(grouping: allSteps(in: script), by: \.name)
    var reached = roots
    var waiting = roots.sorted().map { (name: $0, root: $0) }
    var values: [(name: String, value: Range<Int>)] = []
    while let (name, root) = waiting.popLast() {
      for step in steps[name] ?? [] {
        values.append((root, step.value))
        let mentioned = script.names(in: step.value).union(step.source.map { [$0] } ?? [])
        for other in mentioned where reached.insert(other).inserted {
          waiting.append((other, root))
        }
      }
    }
    return (reached, values)
  }

  /// The names that occur in evaluated text.
  private func roots(in script: ScriptText) -> Set<String> {
    var regions = evaluated
    if let unreadText { regions.append(unreadText..<script.bytes.count - 1) }
    return regions.reduce(into: evaluatedNames) { $0.formUnion(script.names(in: $1)) }
  }

  private typealias Step = (name: String, value: Range<Int>, source: String?)

  private func allSteps(in script: ScriptText) -> [Step] {
    var steps: [Step] = assignments.map { ($0.name, $0.value, nil) }
    steps += links.map { ($0.name, 0..<0, $0.source) }
    steps.append(("OPTARG", 0..<0, Self.positional))
    let functions = Set(functions)
    for (name, arguments) in calls {
      let called = script.text(name)
      guard called == "set" || functions.contains(called) else { continue }
      steps.append((Self.positional, arguments, nil))
    }
    return steps
  }
}

extension ScriptText {
  /// Every word in that part of the text that could name a variable; `@` for positional parameters.
  fileprivate func names(in range: Range<Int>) -> Set<String> {
    var names: Set<String> = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      let start = offset
      while offset < range.upperBound, bytes[offset].isName { offset += 1 }
      if offset > start { names.insert(text(start..<offset)) }
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
