import WeftJSON

/// The members of an object of the file format that is printed. Its table gives their order, and a key that it does not
/// have is a mistake of the printer.
struct PrintedObject<Object: FormatObject> {
  private var values: [Int: JSONValue] = [:]

  /// Sets a key; `nil` omits it, because the value is what holds without the key.
  subscript(_ key: StaticString) -> JSONValue? {
    get { values[PrintedObject.index(of: key)] }
    set { values[PrintedObject.index(of: key)] = newValue }
  }

  private static func index(of key: StaticString) -> Int {
    guard let index = Object.format.index(of: PackedKey("\(key)".utf8)) else {
      preconditionFailure("\(key) is no key of \(Object.format.noun)")
    }
    return index
  }

  init(of type: Object.Type = Object.self, _ fill: (inout PrintedObject) -> Void) { fill(&self) }

  /// Whether there is no key but this one.
  func hasOnly(_ key: StaticString) -> Bool { values.count == 1 && self[key] != nil }

  /// The object; `nil` without a key. A bare `nil` beside a value would be the `null` of JSON.
  var jsonIfAny: JSONValue? { values.isEmpty ? JSONValue?.none : json }

  var json: JSONValue {
    .object(
      JSONObject(
        values.sorted { $0.key < $1.key }.map {
          ("\(Object.format.keys[$0.key].rule.name)", $0.value)
        }))
  }
}

// MARK: Values

extension JSONValue {
  static func text(_ text: String?) -> JSONValue? { text.map(JSONValue.string) }
  static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

  static func duration(_ duration: Duration) -> JSONValue {
    .string(DurationText.text(of: duration))
  }

  static func size(_ size: ByteCount) -> JSONValue { .string(size.description) }

  /// One value by itself, several as an array; `nil` for none.
  static func oneOrMore(_ values: [JSONValue]) -> JSONValue? {
    values.count > 1 ? .array(values) : values.first
  }

  /// A word, unless it is the default.
  static func word<Word: RawRepresentable<String> & Equatable>(
    _ word: Word?, unless usual: Word? = nil
  ) -> JSONValue? {
    word == usual ? nil : word.map { .string($0.rawValue) }
  }

  static func flag(_ flag: Bool) -> JSONValue? { flag ? .bool(true) : nil }

  /// Names with values, of which one that occurs several times has an array.
  static func grouped(_ fields: [(name: String, value: JSONValue)]) -> JSONValue? {
    var names: [String] = []
    var values: [String: [JSONValue]] = [:]
    for (name, value) in fields {
      if values[name] == nil { names.append(name) }
      values[name, default: []].append(value)
    }
    let members = names.map { ($0, JSONValue.oneOrMore(values[$0] ?? []) ?? .null) }
    return members.isEmpty ? nil : .object(JSONObject(members))
  }
}

extension Condition {
  var json: JSONValue { .string(text) }

  /// The text where a value without `${{ }}` would be a literal.
  var whole: JSONValue { .string(text.hasPrefix("${{") ? text : "${{ \(text) }}") }
}

extension Computable {
  /// The expression, or the literal value.
  func json(_ literal: (Value) -> JSONValue?) -> JSONValue? {
    expression.map(\.whole) ?? literal(wrappedValue)
  }

  /// The expression, or the literal value unless it is the default.
  func json(unless usual: Value, _ literal: (Value) -> JSONValue) -> JSONValue?
  where Value: Equatable {
    json { $0 == usual ? JSONValue?.none : literal($0) }
  }
}

extension Listing {
  var json: JSONValue {
    switch self {
    case .values(let value): value
    case .computed(let expression): expression.whole
    }
  }
}

extension Shell {
  var json: JSONValue {
    Shell.named.first { $0.shell == self }.map { .string($0.name) } ?? .texts(prefix)
  }
}

extension [EnvironmentFile] {
  fileprivate var json: JSONValue? {
    let files = map { file -> JSONValue in
      guard !file.isRequired else { return .string(file.path) }
      return PrintedObject(of: EnvironmentFileDraft.self) { object in
        object["path"] = .string(file.path)
        object["required"] = false
      }.json
    }
    return files.count > 1 ? .array(files) : files.first
  }
}

extension CommandSettings {
  func print<Object: HasCommandSettings>(_ object: inout PrintedObject<Object>) {
    let variables = environment.sorted { $0.key < $1.key }
    object["env"] =
      variables.isEmpty
      ? nil : .object(JSONObject(variables.map { ($0.key, .text($0.value) ?? .null) }))
    object["envFile"] = environmentFiles.json
    object["cwd"] = .text(workingDirectory)
    object["shell"] = shell?.json
    object["envPolicy"] = .word(environmentPolicy)
    object["runner"] = .text(runner?.name)
  }
}
