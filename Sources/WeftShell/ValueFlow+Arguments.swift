/// The arguments of functions of the script.
extension ValueFlow {
  /// The functions of the script that do not pass their arguments on where a program may take one for an option.
  ///
  /// It is none if the script runs text that may define functions.
  func functionsThatKeepArguments(in script: ScriptText) -> Set<String> {
    guard unreadText == nil, !setsAnyName, !functions.isEmpty else { return [] }
    var keeping = Set(functions.map(\.name))
    // What a call of a function does with an argument is seen in that function.
    let passedAt = OffsetTable(
      placesOfPassedParameters(in: script, exceptTo: keeping).map { ($0, ()) })
    let calls = OffsetTable(calls.map { ($0.offset, $0.name) })
    var callers: [String: [String]] = [:]
    var passing: [String] = []
    for function in functions {
      for callee in calls.values(in: function.body) {
        callers[callee, default: []].append(function.name)
      }
      if !passedAt.values(in: function.body).isEmpty { passing.append(function.name) }
    }
    while let name = passing.popLast() {
      if keeping.remove(name) != nil { passing += callers[name] ?? [] }
    }
    return keeping
  }

  /// Whether the script passes one of its own parameters on where a program may take it for an option.
  func passesParameters(in script: ScriptText) -> Bool {
    guard unreadText == nil, !setsAnyName else { return true }
    let keeping = functionsThatKeepArguments(in: script)
    return !placesOfPassedParameters(in: script, exceptTo: keeping).isEmpty
  }

  /// The offsets of arguments that begin with a parameter, except those of these functions.
  private func placesOfPassedParameters(
    in script: ScriptText, exceptTo functions: Set<String>
  ) -> [Int] {
    if bareArguments.isEmpty { return [] }
    let index = FlowIndex(self, script)
    let holders = index.holders(of: Self.parameters)
    return bareArguments.filter { argument in
      !(argument.command.map(functions.contains) ?? false)
        && index.parts(of: argument.range).contains { part in
          !index.mentions(in: part).isDisjoint(with: holders) || script.hasIndirection(in: part)
        }
    }.map(\.range.lowerBound)
  }

  /// The names by which a function may read its arguments.
  private static let parameters: Set<String> = [positional, "_", "argv", "BASH_ARGV"]
}

extension FlowIndex {
  /// The names whose values may contain that of one of these.
  func holders(of names: Set<String>) -> Set<String> {
    var copies: [String: [String]] = [:]
    for (name, steps) in steps {
      for step in steps {
        for part in parts(of: step.value) {
          for source in mentions(in: part) { copies[source, default: []].append(name) }
        }
        if let source = step.source { copies[source, default: []].append(name) }
      }
    }
    var holders = names
    var waiting = Array(names)
    while let name = waiting.popLast() {
      for copy in copies[name] ?? [] where holders.insert(copy).inserted { waiting.append(copy) }
    }
    return holders
  }
}

extension ScriptText {
  /// Whether that part of the text expands a variable by the value of another: `${!name}`.
  fileprivate func hasIndirection(in range: Range<Int>) -> Bool {
    range.contains {
      bytes[$0] == .dollar && bytes[$0 + 1] == .openBrace && bytes[$0 + 2] == UInt8(ascii: "!")
    }
  }
}
