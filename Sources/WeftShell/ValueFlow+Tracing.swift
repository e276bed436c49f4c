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
    let index = FlowIndex(self, script)
    var reached: Set<String> = [Self.program]
    var programs: [Range<Int>] = []
    var programReaders = [Self.program]
    while let reader = programReaders.popLast() {
      for step in index.steps[reader] ?? [] {
        programs += index.parts(of: step.value)
        if let source = step.source, reached.insert(source).inserted {
          programReaders.append(source)
        }
      }
    }
    var roots = roots(in: index, programs)
    if followsAttributes { roots.formUnion(assignments.map(\.name) + readers.map(\.name)) }
    roots.subtract(reached)
    reached.formUnion(roots)
    var waiting = roots.sorted().map { (name: $0, root: $0) }
    var values: [(name: String, value: Range<Int>)] = []
    while let (name, root) = waiting.popLast() {
      for step in index.steps[name] ?? [] {
        let parts = index.parts(of: step.value)
        values += parts.map { (root, $0) }
        let mentioned = parts.reduce(into: Set(step.source.map { [$0] } ?? [])) {
          $0.formUnion(index.mentions(in: $1))
        }
        for other in mentioned where reached.insert(other).inserted {
          waiting.append((other, root))
        }
      }
    }
    return (reached, values, programs)
  }

  /// The names that occur in evaluated text.
  private func roots(in index: FlowIndex, _ programs: [Range<Int>]) -> Set<String> {
    var regions = evaluated + programs
    if let unreadText { regions.append(unreadText..<index.script.bytes.count - 1) }
    return regions.reduce(into: evaluatedNames) { names, region in
      for part in index.parts(of: region) { names.formUnion(index.mentions(in: part)) }
    }
  }
}

/// The origins of values by name, and the names by offset, so that each is found without a search of the script.
struct FlowIndex {
  let script: ScriptText
  /// The origins of each name.
  let steps: [String: [Step]]
  /// The bodies of here-documents, by the offsets of their operators.
  private let documents: OffsetTable<Range<Int>>
  /// The names of the outputs of functions and filters, by the offsets of their commands.
  private let outputs: OffsetTable<String>

  typealias Step = (name: String, value: Range<Int>, source: String?)

  init(_ flow: ValueFlow, _ script: ScriptText) {
    self.script = script
    steps = Dictionary(grouping: Self.steps(of: flow, script), by: \.name)
    documents = OffsetTable(flow.documents.map { ($0.offset, $0.body) })
    outputs = OffsetTable(
      flow.calls.map { ($0.offset, Self.output(of: $0.name)) }
        + flow.readers.filter { $0.name.first == "<" }.map { ($0.offset, $0.name) })
  }

  /// A part of the text, and the here-documents whose operators are in it.
  func parts(of range: Range<Int>) -> [Range<Int>] { [range] + documents.values(in: range) }

  /// The names in a part of the text, and those of the outputs of functions and filters in it.
  func mentions(in range: Range<Int>) -> Set<String> {
    script.names(in: range).union(outputs.values(in: range))
  }

  /// Stands for the output of a function.
  static func output(of function: String) -> String { function + "()" }

  /// Stands for the standard input of a function.
  private static func input(of function: String) -> String { function + "<" }

  private static func steps(of flow: ValueFlow, _ script: ScriptText) -> [Step] {
    var steps: [Step] = flow.assignments.map { ($0.name, $0.value, nil) }
    steps += flow.links.map { ($0.name, 0..<0, $0.source) }
    steps += flow.pipes.map { ($0.name, $0.command, $0.origin) }
    steps.append((ValueFlow.script, 0..<script.bytes.count - 1, nil))
    steps.append(("OPTARG", 0..<0, ValueFlow.positional))
    steps += flow.functions.map { (output(of: $0.name), $0.body, nil) }
    let names = Set(flow.functions.map(\.name))
    let calls = flow.calls.filter { $0.name == "set" || names.contains($0.name) }
    steps += calls.map { (ValueFlow.positional, $0.arguments, nil) }
    for (name, _) in flow.readers where name != ValueFlow.program {
      steps.append((name, 0..<0, ValueFlow.descriptors))
    }
    for input in flow.inputs where !input.isStandard && input.origin != ValueFlow.descriptors {
      steps.append((ValueFlow.descriptors, input.source, nil))
    }
    let readers = calls.map { (name: input(of: $0.name), offset: $0.offset) } + flow.readers
    return steps + self.steps(of: readers, flow)
  }

  /// The origins of the standard input of each reader: text there, the input of the functions around it, or else that
  /// of the script.
  private static func steps(
    of readers: [(name: String, offset: Int)], _ flow: ValueFlow
  ) -> [Step] {
    // Inputs of the same commands have a name in common, so that each of many readers needs one step only.
    let inputs = Dictionary(grouping: flow.inputs, by: \.target)
    func name(of target: Range<Int>) -> String { "<\(target)" }
    var steps: [Step] = inputs.flatMap { target, inputs in
      inputs.map { (name(of: target), $0.source, $0.origin) }
    }
    let standard = Set(flow.inputs.filter(\.isStandard).map(\.target))
    var targets = EnclosingRanges(inputs.keys.map { ($0, $0) })
    var functions = EnclosingRanges(flow.functions.map { ($0.body, $0.name) })
    for (reader, offset) in readers.sorted(by: { $0.offset < $1.offset }) {
      let targets = targets.values(at: offset)
      let functions = functions.values(at: offset)
      steps += targets.map { (reader, 0..<0, name(of: $0)) }
      steps += functions.map { (reader, 0..<0, input(of: $0)) }
      if functions.isEmpty, !targets.contains(where: standard.contains) {
        steps.append((reader, 0..<0, ValueFlow.input))
      }
    }
    return steps
  }
}

/// Values by offset.
struct OffsetTable<Value> {
  private let entries: [(offset: Int, value: Value)]

  init(_ entries: [(offset: Int, value: Value)]) {
    self.entries = entries.sorted { $0.offset < $1.offset }
  }

  /// The values whose offsets are in that range.
  func values(in range: Range<Int>) -> [Value] {
    entries[index(of: range.lowerBound)..<index(of: range.upperBound)].map(\.value)
  }

  /// The first entry at or behind that offset.
  private func index(of offset: Int) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].offset < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Values of ranges, asked for by offsets in ascending order.
private struct EnclosingRanges<Value> {
  /// The ranges that begin later, in descending order.
  private var later: [(range: Range<Int>, value: Value)]
  private var open: [(range: Range<Int>, value: Value)] = []

  init(_ ranges: [(range: Range<Int>, value: Value)]) {
    later = ranges.sorted { $0.range.lowerBound > $1.range.lowerBound }
  }

  /// The values of the ranges that contain this offset.
  mutating func values(at offset: Int) -> [Value] {
    while let next = later.last, next.range.lowerBound <= offset { open.append(later.removeLast()) }
    open.removeAll { $0.range.upperBound <= offset }
    return open.map(\.value)
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
          names.insert(FlowIndex.output(of: name))
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
