import CWeftPlatform

/// The environment of programs: one value per name, laid out once as execve takes it.
///
/// Build it once for each distinct environment; `setting` shares what is there and costs only what it
/// adds, so that every step may have a few variables of its own.
package struct EnvironmentBlock: Sendable {
  /// Where programs named without a slash are looked for.
  package let searchPath: SearchPath
  private let shared: EnvironmentLayer
  /// Stands above `shared`; `nil` for names that it removes.
  private let own: EnvironmentLayer
  /// The entries of `shared` that `own` hides.
  private let hidden: [Int]

  /// Nothing at all.
  package static let empty = EnvironmentBlock(shared: EnvironmentLayer(), own: EnvironmentLayer())

  /// The process's own environment as it is now. Of two equal names the first counts, as for `getenv`.
  package static func inherited() -> EnvironmentBlock {
    EnvironmentBlock(shared: .inherited(), own: EnvironmentLayer())
  }

  /// - Parameter searchPath: The one that PATH gives, where that is known already.
  private init(
    shared: EnvironmentLayer, own: EnvironmentLayer, searchPath: SearchPath? = nil
  ) {
    self.shared = shared
    self.own = own
    self.hidden = own.names.compactMap(shared.position(of:))
    self.searchPath =
      searchPath
      ?? SearchPath(own.names.contains(Self.path) ? own[Self.path] : shared[Self.path])
  }

  private static let path = Array("PATH".utf8)

  /// This environment with `variables` above it: the last value of a name wins, `nil` removes it.
  package func setting(
    _ variables: [(name: String, value: String?)]
  ) throws(EnvironmentProblem) -> EnvironmentBlock {
    var added = own
    for (name, value) in variables { try added.set(name, to: value) }
    let changesPath = variables.contains { $0.name == "PATH" }
    return EnvironmentBlock(
      shared: shared, own: added, searchPath: changesPath ? nil : searchPath)
  }

  /// The same environment with all of it shared, for further `setting` to stand upon.
  package func flattened() -> EnvironmentBlock {
    guard !own.isEmpty else { return self }
    var whole = EnvironmentLayer()
    for index in 0..<shared.entries.count where !hidden.contains(index) {
      whole.append(entryOf: shared, at: index)
    }
    for index in 0..<own.entries.count { whole.append(entryOf: own, at: index) }
    return EnvironmentBlock(shared: whole, own: EnvironmentLayer())
  }

  /// This environment reduced to the names that `isKept` accepts.
  package func filtered(_ isKept: (String) -> Bool) -> EnvironmentBlock {
    let all = flattened().shared
    var kept = EnvironmentLayer()
    for index in all.indices(where: { isKept(String(decoding: $0, as: UTF8.self)) }) {
      kept.append(entryOf: all, at: index)
    }
    return EnvironmentBlock(shared: kept, own: EnvironmentLayer())
  }

  /// The value of `name`, with U+FFFD for what is not UTF-8 (programs get its exact bytes).
  package subscript(name: String) -> String? {
    let name = Array(name.utf8)
    let value = own.names.contains(name) ? own[name] : shared[name]
    return value.map { String(decoding: $0, as: UTF8.self) }
  }

  /// All names, in no promised order.
  package var names: [String] {
    flattened().shared.names.map { String(decoding: $0, as: UTF8.self) }
  }

  package var count: Int { shared.entries.count - hidden.count + own.entries.count }

  /// What the kernel counts against its limit.
  var kernelBytes: Int {
    hidden.reduce(shared.entries.kernelBytes + own.entries.kernelBytes) { total, index in
      total - shared.entries.kernelBytes(of: index)
    }
  }

  /// The first variable too long to pass, name and `=` included in its size.
  func variable(longerThan limit: Int) -> (name: String, size: Int)? {
    own.entry(longerThan: limit) ?? shared.entry(longerThan: limit)
  }

  /// All of it as execve's array, ended by a null pointer.
  func withPointers<Result>(_ body: (CStringArray) -> Result) -> Result {
    guard !own.isEmpty else { return shared.entries.withPointers(body) }
    return shared.entries.withBase { base in
      own.entries.withBase { ownBase in
        withUnsafeTemporaryAllocation(of: CStringArray.Pointee.self, capacity: count + 1) { array in
          var next = 0
          func add(_ pointer: UnsafeMutablePointer<CChar>?) {
            array.initializeElement(at: next, to: pointer)
            next += 1
          }
          for (index, start) in shared.entries.starts.enumerated() where !hidden.contains(index) {
            add(base.map { $0 + start })
          }
          for start in own.entries.starts { add(ownBase.map { $0 + start }) }
          add(nil)
          return body(CStringArray(array.baseAddress!))
        }
      }
    }
  }
}

/// Why a variable cannot be part of an environment.
package enum EnvironmentProblem: Error, Hashable, Sendable {
  case emptyName
  case equalsSign(name: String)
  case nulInName(name: String)
  case nulInValue(name: String)

  package var message: String {
    switch self {
    case .emptyName: "an environment variable has an empty name"
    case .equalsSign(let name):
      "the name of environment variable \"\(escaped(name))\" has a \"=\" in it"
    case .nulInName(let name):
      "the name of environment variable \"\(escaped(name))\" has a NUL character in it"
    case .nulInValue(let name):
      "the value of environment variable \"\(escaped(name))\" has a NUL character in it"
    }
  }

  package var help: String {
    switch self {
    case .emptyName, .equalsSign, .nulInName:
      "a name has at least one character, and no \"=\" or NUL"
    case .nulInValue:
      "the system ends a value at its first NUL; hand such bytes over by stdin or a file"
    }
  }

  /// What is wrong with the variable's name, if anything.
  package static func inName(_ name: String) -> EnvironmentProblem? {
    if name.isEmpty { return .emptyName }
    if name.utf8.contains(0) { return .nulInName(name: name) }
    if name.utf8.contains(UInt8(ascii: "=")) { return .equalsSign(name: name) }
    return nil
  }
}
