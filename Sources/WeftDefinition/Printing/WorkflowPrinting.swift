public import WeftJSON
import WeftPatterns

extension Workflow {
  /// The workflow as the JSON of a file: reading it gives an equal workflow.
  ///
  /// Keys have the order of the format, and those whose value is the default are omitted. Files that steps run are only
  /// named. A value that no file could have, which a plan rejects, is printed as it is; of a duration or a rate, parts of a
  /// millisecond are lost.
  public var json: JSONValue {
    PrintedObject(of: WorkflowDraft.self) { object in
      object["name"] = .text(name)
      object["description"] = .text(description)
      settings.print(&object)
      object["maxParallel"] = body.$maxParallel.json { $0.map(JSONValue.int) }
      object["timeout"] = $timeout.json { $0.map(JSONValue.duration) }
      object["onFailure"] = .word(onFailure, unless: .stop)
      let members = JSONValue.array(body.members.map(\.json))
      // The top level cannot be a race, which a step can.
      switch body.order {
      case .steps: object["steps"] = members
      case .parallel: object["parallel"] = members
      case .race: object["steps"] = [Step(action: .group(body)).json]
      }
      object["secrets"] = .grouped(secrets.map { ($0.name.text, $0.json) })
      object["inputs"] = .grouped(inputs.map { ($0.name.text, $0.json) })
      object["outputs"] = .grouped(outputs.map { ($0.name, $0.json) })
      object["state"] = .grouped(state.map { ($0.name.text, $0.json) })
      object["pools"] = .grouped(pools.map { ($0.name, $0.json) })
      object["runners"] = .grouped(runners.map { ($0.name, $0.json) })
      object["finally"] = finally.isEmpty ? nil : .array(finally.map(\.json))
      object["defaults"] = defaults.json
      object["concurrency"] = concurrency?.json
    }.json
  }

  /// Returns ``json`` as the text of a file, in UTF-8.
  public func rendered() -> [UInt8] {
    var writer = JSONWriter(.pretty)
    writer.value(json)
    return Array((writer.text + "\n").utf8)
  }
}

extension StepDefaults {
  fileprivate var json: JSONValue? {
    PrintedObject(of: StepDefaults.self) { object in
      object["timeout"] = $timeout.json { $0.map(JSONValue.duration) }
      object["retry"] = retry.flatMap(RetryPolicy.json)
      object["shell"] = shell?.json
    }.jsonIfAny
  }
}

extension Concurrency {
  fileprivate var json: JSONValue {
    guard policy != .wait else { return .string(key) }
    return PrintedObject(of: ConcurrencyDraft.self) { object in
      object["key"] = .string(key)
      object["policy"] = .word(policy)
    }.json
  }
}

extension Pool {
  fileprivate var json: JSONValue {
    guard let rate else { return .int(slots) }
    return PrintedObject(of: PoolDraft.self) { object in
      object["slots"] = .int(slots)
      object["rate"] = .string(rate.description)
    }.json
  }
}

extension SecretDeclaration {
  fileprivate var json: JSONValue {
    PrintedObject(of: SecretDraft.self) { object in
      switch source {
      case .environment(let name): object["env"] = .string(name)
      case .file(let path): object["file"] = .string(path)
      case .command(let arguments, let timeout):
        object["command"] = .texts(arguments)
        object["timeout"] = timeout.map(JSONValue.duration)
      case .descriptor(let number): object["descriptor"] = .int(number)
      case .environmentFile(let path, let name):
        object["envFile"] = .string(path)
        object["name"] = .string(name)
      }
      object["description"] = .text(description)
    }.json
  }
}

// MARK: Declarations

extension InputDeclaration {
  fileprivate var json: JSONValue {
    var members = schema.members
    members[.default] = defaultValue
    members[.secret] = .flag(isSecret)
    return ValueSchema.json(members)
  }
}

extension StateDeclaration {
  fileprivate var json: JSONValue {
    var members = schema.members
    members[.default] = initialValue
    members[.value] = .text(value)
    return ValueSchema.json(members)
  }
}

extension OutputDeclaration {
  var json: JSONValue {
    if schema == nil, !isSecret, let value { return .string(value) }
    var members = schema?.members ?? [:]
    members[.secret] = .flag(isSecret)
    members[.value] = .text(value)
    return ValueSchema.json(members)
  }
}

extension ValueSchema {
  fileprivate static func json(_ members: [SchemaKey: JSONValue]) -> JSONValue {
    .object(
      JSONObject(SchemaKey.allCases.compactMap { key in members[key].map { (key.rawValue, $0) } }))
  }

  private var json: JSONValue { ValueSchema.json(members) }

  fileprivate var members: [SchemaKey: JSONValue] {
    var members: [SchemaKey: JSONValue] = [:]
    members[.type] = .oneOrMore(types.map { .string($0.rawValue) })
    members[.enum] = allowed.isEmpty ? nil : .array(allowed)
    members[.const] = constant
    members[.pattern] = .text(text.pattern?.text)
    (members[.minLength], members[.maxLength]) = text.length.json
    members[.minimum] = number.minimum.map(JSONValue.number)
    members[.maximum] = number.maximum.map(JSONValue.number)
    members[.exclusiveMinimum] = number.exclusiveMinimum.map(JSONValue.number)
    members[.exclusiveMaximum] = number.exclusiveMaximum.map(JSONValue.number)
    members[.multipleOf] = number.divisor.map(JSONValue.number)
    members[.items] = array.elements.schema?.json
    (members[.minItems], members[.maxItems]) = array.count.json
    members[.uniqueItems] = .flag(array.isUnique)
    members[.properties] = .grouped(object.properties.map { ($0.name, $0.schema.json) })
    members[.required] = object.required.isEmpty ? nil : .texts(object.required)
    switch object.additional {
    case .anything: break
    case .nothing: members[.additionalProperties] = false
    case .matching(let schema): members[.additionalProperties] = schema.json
    }
    (members[.minProperties], members[.maxProperties]) = object.count.json
    members[.title] = .text(title)
    members[.description] = .text(description)
    return members
  }
}

extension ValueSchema.CountLimits {
  fileprivate var json: (least: JSONValue?, most: JSONValue?) {
    (least == 0 ? nil : .int(least), most.map(JSONValue.int))
  }
}

extension ValueSchema.MemberRule {
  fileprivate var schema: ValueSchema? {
    if case .matching(let schema) = self { schema } else { nil }
  }
}
