/// What a script does with its variables, as far as its text shows it.
///
/// A quoted variable is safe where it stands, and not where the script evaluates it later: after
/// `n="${V}"` the value `a[$(command)]` runs its command in `$((n))`. This follows values backwards from
/// what is evaluated, by the names that are mentioned: through assignments, loops, pipelines into `read` and
/// the arguments of functions. What a script does to a value in files and other programs is not followed.
struct ValueFlow {
  /// Text that the shell evaluates or runs.
  var evaluated: [Range<Int>] = []
  /// Variables that a shell started by the script evaluates.
  var evaluatedNames: Set<String> = []
  /// Where the reading stopped.
  var unreadText: Int?
  /// Some variable was given the integer attribute or made a reference to another.
  var hasAttributes = false
  /// Some command runs text that may set any variable.
  var setsAnyName = false
  var functions: [String] = []
  private var assignments: [(name: String, value: Range<Int>)] = []
  /// The arguments of commands that might be functions.
  private var calls: [(name: Range<Int>, arguments: Range<Int>)] = []
  /// The names that `read` and its kin are given, and where.
  private var readers: [(name: String, offset: Int)] = []
  /// Variables that are set to what comes through a pipe, and those of loops over parameters.
  private var links: [(name: String, source: String)] = []

  /// Variables that are expanded by name, and where.
  private var reads: [VariableRead] = []
  /// Variables that are set to what the script does not say, and where.
  private var others: [(name: String, offset: Int)] = []

  /// Stands for `$1`, `$@` and all such.
  static let positional = "@"
  /// Stands for what is written into pipes and redirected from files.
  private static let pipe = "|"

  mutating func assign(_ name: String, _ value: Range<Int>) {
    assignments.append((name, value))
  }

  /// What comes out of `source` is the standard input of `target`, all of which has been read.
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

  mutating func noteRead(_ name: String, _ range: Range<Int>) {
    reads.append(VariableRead(name: name, range: range))
  }

  /// `${…}`: an indirection is evaluated, and so are a subscript and the numbers of a part; `:=` assigns.
  mutating func noteExpansion(_ range: Range<Int>, in script: ScriptText) {
    let inside = script.bytes[range].dropFirst(2).dropLast()
    let parameter = inside.first == .hash ? inside.dropFirst() : inside
    let rest = parameter.drop { $0.isName }
    if let first = parameter.first, first.isNameStart {
      noteRead(script.text(parameter.startIndex..<rest.startIndex), range)
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

/// A place at which a script expands a variable.
package struct VariableRead: Sendable, Hashable {
  package let name: String
  /// UTF-8 offsets in the script, from the `$` on.
  package let range: Range<Int>
}

extension ValueFlow {
  /// The variables that get their value from outside of the script, each where it is first read; `nil` if the script
  /// runs text that may set any.
  ///
  /// A variable that the script sets somewhere is its own, for the order of the text is not that of functions and
  /// loops, unless it is first set to what is made of itself: `MODE=${MODE:-debug}`.
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

/// Looking back from what is evaluated.
extension ValueFlow {
  /// What must be rejected although its place is sound.
  func rejections(in script: ScriptText) -> [(Range<Int>, ShellRejection.Reason)] {
    var rejections: [(Range<Int>, ShellRejection.Reason)] = []
    if hasAttributes {
      for (name, value) in assignments where name != Self.pipe {
        rejections.append((script.holes(in: value), .attributes(name)))
      }
    }
    for (name, value) in sources(in: script).values {
      rejections.append((script.holes(in: value), .evaluatedLater(name)))
    }
    return rejections
  }

  /// The variables whose values are evaluated sooner or later, also in variables that they are copied to.
  func namesEvaluated(in script: ScriptText) -> Set<String> { sources(in: script).names }

  /// The names that reach something evaluated, and the text that they are set to, each by the name that
  /// is evaluated in the end.
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

  /// The names that stand in evaluated text.
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
