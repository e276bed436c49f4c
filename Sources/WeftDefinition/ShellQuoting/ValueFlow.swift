/// What a script does with its variables, as far as its text shows it.
///
/// A quoted variable is safe where it stands, and not where the script evaluates it later: after
/// `n="${V}"` the value `a[$(command)]` runs its command in `$((n))`. This follows values through assignments, loops,
/// pipelines into `read` and the arguments of functions, by the names that are mentioned; what a script does
/// to a value in files and other programs is not followed.
struct ValueFlow {
  /// Text that the shell evaluates or runs.
  var evaluated: [Range<Int>] = []
  /// Where the reading stopped.
  var unreadText: Int?
  /// Some variable was given the integer attribute or made a reference to another.
  var hasAttributes = false
  var functions: [(name: Range<Int>, body: Range<Int>)] = []
  private var assignments: [(name: String, value: Range<Int>)] = []
  private var pipes: [(source: Range<Int>, target: Range<Int>)] = []
  /// The arguments of commands that might be functions.
  private var calls: [(name: Range<Int>, arguments: Range<Int>)] = []
  /// The names that `read` and its kin are given, and where.
  private var readers: [(name: String, offset: Int)] = []
  /// The variables of loops over the positional parameters.
  private var loops: [String] = []

  /// Stands for `$1`, `$@` and all such.
  private static let positional = "@"

  mutating func assign(_ name: String, _ value: Range<Int>) {
    assignments.append((name, value))
  }

  mutating func pipe(_ source: Range<Int>, into target: Range<Int>) {
    pipes.append((source, target))
  }

  mutating func call(_ name: Range<Int>, _ arguments: Range<Int>) {
    calls.append((name, arguments))
    assign("_", arguments)
  }

  mutating func read(_ names: [String], at offset: Int) {
    for name in names + ["REPLY", "MAPFILE"] { readers.append((name, offset)) }
  }

  mutating func loopOverParameters(_ name: String) { loops.append(name) }

  /// `${…}`: an indirection is evaluated, and so are a subscript and the numbers of a part; `:=` assigns.
  mutating func noteExpansion(_ range: Range<Int>, in script: ScriptText) {
    let inside = script.bytes[range].dropFirst(2).dropLast()
    let parameter = inside.first == .hash ? inside.dropFirst() : inside
    let rest = parameter.drop { $0.isName }
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

  /// What must be rejected although its place is sound.
  func rejections(in script: ScriptText) -> [(Range<Int>, ShellRejection.Reason)] {
    var rejections: [(Range<Int>, ShellRejection.Reason)] = []
    if hasAttributes {
      for (name, value) in assignments {
        rejections.append((script.holes(in: value), .attributes(name)))
      }
    }
    let regions = evaluated + (unreadText.map { [$0..<script.bytes.count - 1] } ?? [])
    guard !regions.isEmpty else { return rejections }
    let sources = valuesByName(in: script)
    guard !sources.isEmpty else { return rejections }
    for name in regions.reduce(into: Set<String>(), { $0.formUnion(script.names(in: $1)) }) {
      for hole in sources[name] ?? [] {
        rejections.append((hole..<hole + 1, .evaluatedLater(name)))
      }
    }
    return rejections
  }

  /// The expressions whose values may come to be in each variable.
  private func valuesByName(in script: ScriptText) -> [String: Set<Int>] {
    var values: [String: Set<Int>] = [:]
    let steps = allAssignments(in: script)
    var count = -1
    while count != values.values.reduce(0, { $0 + $1.count }) {
      count = values.values.reduce(0) { $0 + $1.count }
      for (name, value, mentioned) in steps {
        var holes = Set(script.holes(in: value))
        for other in mentioned { holes.formUnion(values[other] ?? []) }
        if !holes.isEmpty { values[name, default: []].formUnion(holes) }
      }
    }
    return values
  }

  private func allAssignments(
    in script: ScriptText
  ) -> [(name: String, value: Range<Int>, mentioned: Set<String>)] {
    var steps = assignments.map { ($0.name, $0.value, script.names(in: $0.value)) }
    for (source, target) in pipes {
      for reader in readers where target.contains(reader.offset) {
        steps.append((reader.name, source, script.names(in: source)))
      }
    }
    for name in loops + ["OPTARG"] { steps.append((name, 0..<0, [Self.positional])) }
    let names = Set(functions.map { script.text($0.name) })
    for (name, arguments) in calls {
      let called = script.text(name)
      guard called == "set" || names.contains(called) else { continue }
      steps.append((Self.positional, arguments, script.names(in: arguments)))
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
          names.insert("@")
        }
      }
      offset += 1
    }
    return names
  }
}
