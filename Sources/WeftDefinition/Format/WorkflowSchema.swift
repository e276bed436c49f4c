import WeftDiagnostics
import WeftJSON

/// The JSON Schema of workflow files, printed from the tables of the format.
///
/// In the JSON texts of the tables and of ``definitions``, the string `"@name"` in place of a schema refers to a
/// definition, and so does `"$ref": "name"`.
package enum WorkflowSchema {
  /// The text of `schemas/workflow.schema.json`.
  package static var text: String {
    var schema: JSONObject = [
      "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:weft:workflow.schema",
      "title": "Weft workflow",
      "description": "Steps to run, their order, and their environment.",
    ]
    schema.merge(object(WorkflowDraft.self))
    schema["$defs"] = .object(definitions)
    var writer = JSONWriter(.pretty)
    writer.value(resolved(.object(schema)))
    return writer.text + "\n"
  }

  // MARK: Objects and keys

  /// - Parameter isComputable: Whether expressions may give values.
  static func object<Object: FormatObject>(
    _: Object.Type, isComputable: Bool = true
  ) -> JSONObject {
    var properties = JSONObject()
    for rule in Object.format.rules {
      properties[rule.name.description] = .object(schema(of: rule, isComputable))
    }
    let required = Object.format.rules.filter { $0.example != nil }.map(\.name.description)
    var schema = closed(properties, required: required)
    schema.merge(parsed(Object.schema))
    return schema
  }

  static func closed(_ properties: JSONObject, required: [String]) -> JSONObject {
    var schema: JSONObject = [
      "type": "object", "properties": .object(properties),
      "patternProperties": [
        "^x-": [
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: for notes and other tools.",
        ]
      ],
      "required": .array(required.map(JSONValue.string)), "additionalProperties": false,
    ]
    if required.isEmpty { schema["required"] = nil }
    return schema
  }

  private static func schema(of rule: KeyRule, _ isComputable: Bool = true) -> JSONObject {
    var schema = JSONObject()
    if !rule.title.isEmpty {
      schema["title"] = .string(rule.title.description)
    } else if StepDraft.format.rule(named: rule.name.description) != nil {
      schema["$ref"] = reference(toStepKey: rule)
    }
    if !rule.help.isEmpty { schema["description"] = .string(rule.help.description) }
    if schema["$ref"] == nil { schema.merge(rule.type.schema(isComputable)) }
    schema.merge(parsed(rule.schema))
    return schema
  }

  // MARK: Steps

  private static func reference(toStepKey rule: KeyRule) -> JSONValue {
    "#/$defs/stepKeys/properties/\(rule.name)"
  }

  private static let kinds: [(ActionKind, title: String, description: String)] = [
    (.run, "Step that runs something", "Runs a script or a program."),
    (.steps, "Sequential group", "Members that run one after another."),
    (.parallel, "Parallel group", "Members that run side by side."),
    (.race, "Race", "All members start; the first that succeeds ends the others."),
    (.wait, "Step that waits", "A step that runs nothing: it waits without a slot."),
    (.approve, "Approval step", "A step that runs nothing and waits for approval."),
    (.workflow, "Step that runs another file", "The steps of another file, as part of this graph."),
    (.use, "Step that runs an action", "An action of the embedding program."),
    (.http, "Step that sends a request", "Sends an HTTP request."),
    (.compute, "Step that computes", "A step without an action computes its outputs."),
  ]

  private static func step(
    _ kind: ActionKind, _ title: String, _ description: String, by key: KeyRule? = nil
  ) -> JSONObject {
    let key = key ?? kind.key
    let rules = StepDraft.format.rules.filter {
      $0.allows(kind) && (!$0.isAction || key === $0)
    }
    let properties = rules.map { rule in
      (rule.name.description, .object(property(rule, of: kind)) as JSONValue)
    }
    var schema: JSONObject = ["title": .string(title), "description": .string(description)]
    schema.merge(
      closed(
        JSONObject(properties), required: [key?.name.description ?? "outputs"]))
    schema["not"] = ["title": "Both forEach and matrix", "required": ["forEach", "matrix"]]
    if kind == .run { schema.merge(pipeRules) }
    return schema
  }

  private static func property(_ rule: KeyRule, of kind: ActionKind) -> JSONObject {
    var schema: JSONObject = ["$ref": reference(toStepKey: rule)]
    guard rule.name.description == "outputs" else { return schema }
    // Only a command can write values that are not given.
    if kind != .run { schema["additionalProperties"] = "@givenOutput" }
    if kind == .compute { schema["minProperties"] = 1 }
    return schema
  }

  /// The keys that cannot be combined on a step that runs a command.
  private static var pipeRules: JSONObject {
    let keys = StepDraft.format.rules.filter { $0.traits.contains(.aboutPipes) }
    let absent = (keys.map(\.name.description) + ["cache"]).map { ($0, false as JSONValue) }
    return [
      "if": ["properties": ["tty": ["const": true]], "required": ["tty"]],
      "then": [
        "description": "A step that uses the terminal has no pipes and cannot be cached.",
        "properties": .object(JSONObject(absent)),
      ],
      "dependentSchemas": [
        "cache": [
          "description": "A process that keeps running cannot be cached.",
          "properties": ["leftovers": ["const": "end"]],
        ],
        "service": [
          "description": "A program that keeps running has no end.",
          "properties": .object(
            JSONObject(Command.Service.apart.map { ($0.0, false as JSONValue) })),
        ],
      ],
    ]
  }

  /// Any step, or one of a cleanup, with the snippets that editors offer.
  private static func anyStep(inCleanup: Bool) -> JSONObject {
    var absent = JSONObject()
    if inCleanup {
      for rule in StepDraft.format.rules where rule.traits.contains(.notInCleanup) && !rule.isAction
      { absent[rule.name.description] = false }
    }
    let names =
      kinds.filter { !inCleanup || $0.0.key?.traits.contains(.notInCleanup) != true }
      .map { "\($0.0)Step" } + ["scriptStep"]
    let alternatives = names.map { name -> JSONValue in
      var schema: JSONObject = ["$ref": .string(name)]
      if inCleanup { schema["properties"] = .object(absent) }
      return .object(schema)
    }
    return ["oneOf": .array(["@script"] + alternatives)]
  }

  // MARK: Declarations

  private static func declaration(of owner: SchemaOwner) -> JSONObject {
    let properties = owner.keys.map { ($0.rawValue, .object(parsed($0.rule.schema)) as JSONValue) }
    var schema = closed(JSONObject(properties), required: [])
    let typed = owner.keys.filter { !$0.rule.types.isEmpty }.map { key -> (String, JSONValue) in
      (key.rawValue, "@about-\(key.rule.types[0])")
    }
    schema["dependentSchemas"] = .object(JSONObject(typed))
    return schema
  }

  // MARK: Definitions

  static var definitions: JSONObject {
    var definitions = parsed(sharedDefinitions)
    func define(_ name: String, _ schema: JSONObject) {
      var described = definitions[name].flatMap(\.object) ?? [:]
      described.merge(schema)
      definitions[name] = .object(described)
    }
    func define(_ name: String, in words: some Sequence<String>) {
      define(name, ["enum": .array(words.map(JSONValue.string))])
    }
    define("step", anyStep(inCleanup: false))
    define("cleanupStep", anyStep(inCleanup: true))
    for (kind, title, description) in kinds {
      define("\(kind)Step", step(kind, title, description))
    }
    define("stepKeys", ["properties": object(StepDraft.self)["properties"] ?? [:]])
    define("defaults", object(StepDefaults.self))
    define("concurrency", object(ConcurrencyDraft.self))
    define(
      "scriptStep",
      step(
        .run, "Step that runs a long script", "Runs several lines, or a file, in its shell.",
        by: StepDraft.format.rule(named: "script")))
    define(
      "environmentFile",
      [
        "anyOf": [
          ["$ref": "#/$defs/filledLiteralText"], .object(object(EnvironmentFileDraft.self)),
        ]
      ])
    define("scriptFile", object(ScriptFileDraft.self))
    define("stdin", object(StandardInputDraft.self))
    define("stop", object(StopDraft.self))
    define("cache", object(Command.Caching.self))
    define("service", object(ServiceDraft.self))
    define("resources", object(Command.Resources.self))
    define("ready", object(ProbeDraft.self))
    define("retryPolicy", object(RetryDraft.self))
    define("listedRetryPolicy", object(RetryDraft.self, isComputable: false))
    define("forEach", object(ForEachDraft.self))
    define("pool", object(PoolDraft.self))
    define("runner", object(RunnerDraft.self))
    define("join", object(JoinDraft.self))
    define("wait", object(WaitDraft.self))
    define("approval", object(Approval.self))
    define("http", object(HTTPDraft.self))
    define("auth", object(AuthDraft.self))
    define("basicAuth", object(BasicAuthDraft.self))
    define("requestTimeouts", object(HTTPCall.Timeouts.self))
    define("redirects", object(RedirectsDraft.self))
    define("tls", object(HTTPCall.TLS.self))
    define("expect", object(HTTPCall.Expectation.self))
    define("poll", object(HTTPCall.Polling.self))
    define("pages", object(HTTPCall.Paging.self))
    define("part", object(PartDraft.self))
    define("secret", object(SecretDraft.self))
    define("input", declaration(of: .input))
    define("outputDeclaration", declaration(of: .output))
    var state = declaration(of: .state)
    state["required"] = ["default", "value"]
    define("stateVariable", state)
    define("valueSchema", declaration(of: .part))
    define("slots", FormatType(.integer(ValueRule.slots)).schema())
    define("stopSignal", in: SignalName.ofStopping)
    define("plainErrorClass", in: ErrorClass.plain.map(\.name))
    define(
      "plainErrorClass",
      ["enumDescriptions": .array(ErrorClass.described.map { .string($0.value) })])
    define("signalErrorClass", in: SignalName.all.sorted().map { "signal:\($0)" })
    define(
      "networkErrorClass", in: ErrorClass.NetworkPart.allCases.map { "network:\($0.rawValue)" })
    define("clusterErrorClass", in: ErrorClass.ofClusters.map(\.name))
    define("valueType", in: ValueType.allCases.map(\.rawValue))
    let taken = ForEach.takenNames.sorted().map { name in
      name.map { "[\($0.uppercased())\($0.lowercased())]" }.joined()
    }
    define(
      "elementName",
      ["$ref": "identifier", "not": ["pattern": "^(?:\(taken.joined(separator: "|")))$"]])
    return definitions
  }

  // MARK: Texts

  static func parsed(_ text: StaticString) -> JSONObject {
    if text.isEmpty { return [:] }
    let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    let (root, problems) = JSONReader.read(SourceFile(path: "a table", bytes: Array(bytes)))
    guard let root, problems.isEmpty else {
      preconditionFailure("\(text) is not JSON: \(problems)")
    }
    switch JSONValue(root) {
    case .object(let object): return object
    case .string(let name): return ["$ref": .string(String(name.dropFirst()))]
    default: preconditionFailure("\(text) is no schema")
    }
  }

  /// Writes references in full.
  static func resolved(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text) where text.hasPrefix("@"):
      ["$ref": .string("#/$defs/" + text.dropFirst())]
    case .array(let elements): .array(elements.map(resolved))
    case .object(let object):
      .object(
        JSONObject(
          object.members.map { member in
            if member.key == "$ref", case .string(let name) = member.value, !name.hasPrefix("#") {
              return (member.key, .string("#/$defs/" + name))
            }
            return (member.key, resolved(member.value))
          }))
    default: value
    }
  }
}

extension FormatType {
  fileprivate func schema(_ isComputable: Bool = true) -> JSONObject {
    var alternatives: [JSONObject]
    switch kind {
    case .integer(let range):
      alternatives = [
        ["type": "integer", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound)]
      ]
    case .duration(let allowsZero):
      alternatives = [["$ref": "duration"]] + (allowsZero ? [["$ref": "nothing"]] : [])
    case .size: alternatives = [["$ref": "size"]]
    case .flag: alternatives = [["type": "boolean"]]
    case .words(let words): alternatives = [["enum": .array(words.map(JSONValue.string))]]
    case .defined(let name): alternatives = [["$ref": .string(name.description)]]
    case .other: return [:]
    }
    if self.isComputable, isComputable { alternatives.append(["$ref": "expression"]) }
    return alternatives.count == 1
      ? alternatives[0] : ["anyOf": .array(alternatives.map(JSONValue.object))]
  }
}

extension KeyRule {
  fileprivate var isAction: Bool { traits.contains(.action) }
}

extension ActionKind {
  /// The key of an action of this kind; `nil` if there is none.
  fileprivate var key: KeyRule? { StepDraft.format.rule(named: "\(self)") }
}

extension StaticString {
  fileprivate var isEmpty: Bool { utf8CodeUnitCount == 0 }
}

extension JSONObject {
  mutating func merge(_ other: JSONObject) {
    for member in other.members { self[member.key] = member.value }
  }
}

extension JSONValue {
  var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }
}

extension WorkflowSchema {
  /// The schemas of values that no table describes, and more about some of the others.
  private static let sharedDefinitions: StaticString = #"""
    {
    "step": {"title": "Step",
    "description": "A script, or an object with exactly one of run, script, steps, parallel, race, \#
    wait, approve, workflow, use and http, or with outputs alone.",
    "defaultSnippets": [{"label": "step: run a script", "body": {"id": "$1", "run": "$2"}},
    {"label": "step: run a program", "body": {"id": "$1", "run": ["$2"]}},
    {"label": "group: side by side", "body": {"id": "$1", "parallel": ["$2"]}},
    {"label": "group: one after another", "body": {"id": "$1", "steps": ["$2"]}},
    {"label": "step: send a request", "body": {"id": "$1", "http": {"url": "$2"}}}]},
    "text": {"type": "string", "pattern": "^[^\\u0000]*$",
    "patternErrorMessage": "U+0000 cannot be passed to a program"},
    "filledText": {"$ref": "text", "minLength": 1},
    "filePattern": {"type": "string", "minLength": 1, "pattern": "^(?!!?/)"},
    "plainFilePattern": {"type": "string", "minLength": 1,
    "pattern": "^(?!!?(?:/|\\.\\./))(?![\\s\\S]*\\$\\{\\{)"},
    "literalText": {"type": "string", "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
    "patternErrorMessage": "neither an expression (\"${{\") nor U+0000 is allowed here"},
    "filledLiteralText": {"$ref": "literalText", "minLength": 1},
    "condition": {"anyOf": ["@filledText", {"type": "boolean"}]},
    "identifier": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
    "patternErrorMessage": "a letter or \"_\", then letters, digits, \"_\" or \"-\", 255 at \#
    most"},
    "stepName": {"$ref": "filledLiteralText"}, "poolName": {"$ref": "identifier"},
    "runnerName": {"$ref": "identifier"},
    "secretName": {"$ref": "identifier", "pattern": "^(?![Ww][Ee][Ff][Tt]_)"},
    "variableName": {"$ref": "filledLiteralText", "pattern": "^[^=]*$",
    "patternErrorMessage": "a variable's name is not empty and has no \"=\" in it"},
    "requestName": {"minLength": 1, "pattern": "^(?![\\s\\S]*\\$\\{\\{)",
    "patternErrorMessage": "an expression (\"${{\") is not allowed in a name"},
    "script": {"title": "Script",
    "description": "The text of a script, run by the shell of the step; default: /bin/sh -e.",
    "$ref": "filledText", "examples": ["make all"]},
    "scriptLines": {"title": "Lines of a script",
    "description": "The lines of a script, run by the shell of the step.",
    "type": "array", "items": "@text", "minItems": 1, "not": {"const": [""]}},
    "arguments": {"title": "Program and arguments",
    "description": "A program and its arguments, started without a shell: each element is one \#
    argument.",
    "type": "array", "minItems": 1, "prefixItems": ["@filledText"], "items": "@text",
    "examples": [["make", "-j4", "all"]]},
    "commandLine": {"title": "Command line",
    "description": "A program and its arguments, to which the script is appended.",
    "type": "array", "minItems": 1, "prefixItems": ["@filledLiteralText"],
    "items": "@literalText", "examples": [["make", "-j4", "all"]]},
    "words": {"type": "array", "minItems": 1, "prefixItems": ["@filledLiteralText"],
    "items": "@literalText"},
    "duration": {"title": "Duration",
    "description": "Whole numbers with the units d, h, m, s and ms, from the largest to the \#
    smallest: 30s, 1h30m, 1500ms. At most 366d.",
    "type": "string",
    "pattern": "^(?=.*[1-9])(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?(?:[0-9]+ms)?$",
    "patternErrorMessage": "expected a duration like \"30s\", \"5m\", \"1h30m\" or \"1500ms\"",
    "examples": ["30s", "5m", "1h30m", "1500ms", "2d"]},
    "nothing": {"title": "No time", "type": "string",
    "pattern": "^(?=.)(?:0+d)?(?:0+h)?(?:0+m)?(?:0+s)?(?:0+ms)?$"},
    "size": {"title": "Amount of data",
    "description": "A whole number with one of the units TB, GB, MB, KB (powers of 1000), \#
    TiB, GiB, MiB, KiB (powers of 1024) and B. At most 1024TiB.",
    "type": "string", "pattern": "^(?=.*[1-9])[0-9]+(?:[TGMK]i?)?B$",
    "patternErrorMessage": "expected a size like \"10MB\", \"64KiB\" or \"512B\"",
    "examples": ["64KiB", "10MB", "1GiB", "512B"]},
    "expression": {"title": "Expression",
    "description": "A single expression instead of the value.", "type": "string",
    "pattern": "^\\$\\{\\{[\\s\\S]*\\}\\}$", "examples": ["${{ inputs.limit }}"]},
    "literal": {"title": "Value", "if": {"type": "string"}, "then": "@literalText",
    "else": {"additionalProperties": "@literal", "items": "@literal"}},
    "axis": {"title": "Axis",
    "description": "The values, each of which is combined with those of the other axes.",
    "anyOf": [{"type": "array", "minItems": 1, "maxItems": 1000000,
    "items": {"not": {"type": "array"}, "$ref": "literal"}}, "@expression"]},
    "combinations": {"anyOf": [{"type": "array", "maxItems": 1000000,
    "items": {"type": "object", "$ref": "literal"}}, "@expression"]},
    "rate": {"type": "string",
    "pattern": "^0*(?:[1-9][0-9]{0,5}|1000000)/(?=.*[1-9])(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?\#
    (?:[0-9]+s)?(?:[0-9]+ms)?$",
    "patternErrorMessage": "expected a rate like \"30/1m\""},
    "moment": {"type": "string",
    "pattern": "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[Tt](?:[01][0-9]|2[0-3])\#
    :[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$",
    "patternErrorMessage": "expected a moment like \"2026-11-21T09:00:00Z\""},
    "matrix": {"type": "object", "properties": {"include": {"$ref": "combinations",
    "title": "Include",
    "description": "Objects that extend the combinations they fit, or else are added."},
    "exclude": {"$ref": "combinations", "title": "Exclude",
    "description": "Combinations that have all values of one of these are excluded."},
    "maxParallel": {"title": "Parallelism",
    "description": "The maximum number of combinations that are in flight at once.",
    "anyOf": [{"type": "integer", "minimum": 1, "maximum": 10000}, "@expression"],
    "examples": [1]},
    "tolerate": {"$ref": "toleratedFailures", "title": "Tolerated failures",
    "description": "How many combinations may fail without a failure of the loop.",
    "default": 0, "examples": [2, "10%"]}},
    "propertyNames": "@identifier", "additionalProperties": "@axis",
    "not": {"propertyNames": {"enum": ["exclude", "maxParallel", "tolerate"]}}},
    "toleratedFailures": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 1000000},
    {"type": "string", "pattern": "^0*(?:[0-9]{1,2}|100)%$"}]},
    "status": {"title": "Status", "description": "A status, or a hundred of them.",
    "anyOf": [{"type": "integer", "minimum": 200, "maximum": 999}, {"type": "string",
    "pattern": "^[2-9](?:xx|[0-9][0-9])$",
    "patternErrorMessage": "expected a status like 200 or \"2xx\""}], "examples": [200, "2xx"]},
    "requestFields": {"type": "object", "propertyNames": "@requestName",
    "additionalProperties": {"anyOf": ["@requestValue", {"type": "array",
    "items": "@requestValue"}]}, "examples": [{"q": "weft", "page": 2, "tag": ["a", "b"]}]},
    "requestValue": {"type": ["string", "number", "boolean"]},
    "requestPart": {"title": "Part of a form",
    "description": "A string, or an object with value or file.", "anyOf": ["@requestValue",
    "@part"]},
    "plainErrorClass": {"title": "Error class"},
    "errorClass": {"anyOf": ["@plainErrorClass", {"type": "string",
    "pattern": "^exit:(?:[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$",
    "title": "Exit with this code", "examples": ["exit:3"]}, "@signalErrorClass",
    {"type": "string", "pattern": "^http:[2-9](?:xx|[0-9][0-9])$",
    "title": "Response with this status", "examples": ["http:404", "http:5xx"]},
    "@networkErrorClass", "@clusterErrorClass"]},
    "signalErrorClass": {"title": "Terminated by this signal"},
    "networkErrorClass": {"title": "The stage at which the connection failed"},
    "clusterErrorClass": {"title": "The reason for which a cluster ended a job"},
    "secret": {"title": "Secret",
    "description": "The source of the value: one of env, file, command and descriptor.",
    "examples": [{"env": "RELEASE_TOKEN"}, {"file": "/run/secrets/token"}, {"command": ["pass",
    "show", "release"]}, {"descriptor": 3}]},
    "input": {"title": "Input",
    "description": "Declaration of an input: JSON Schema, and a default.",
    "examples": [{"type": "integer", "minimum": 1, "default": 3}, {"enum": ["stable",
    "nightly"]}]},
    "output": {"title": "Output",
    "description": "An output: a string with expressions, or a declaration of the value, with \#
    a value unless the step's program writes it to $WEFT_OUTPUT.",
    "anyOf": ["@text", "@outputDeclaration"]},
    "givenOutput": {"title": "Output with a value",
    "anyOf": [{"type": "string"}, {"required": ["value"]}]},
    "outputDeclaration": {"title": "Declaration", "examples": [{"type": "integer",
    "minimum": 1}, {"value": "${{ self.json.version }}", "type": "string"}]},
    "valueSchema": {"title": "Schema of a part"},
    "limit": {"type": "integer", "minimum": 0, "maximum": 2147483647},
    "about-string": {"properties": {"type": {"anyOf": [{"const": "string"}, {"type": "array",
    "contains": {"const": "string"}}]}}},
    "about-number": {"properties": {"type": {"anyOf": [{"enum": ["number", "integer"]},
    {"type": "array", "contains": {"enum": ["number", "integer"]}}]}}},
    "about-array": {"properties": {"type": {"anyOf": [{"const": "array"}, {"type": "array",
    "contains": {"const": "array"}}]}}},
    "about-object": {"properties": {"type": {"anyOf": [{"const": "object"}, {"type": "array",
    "contains": {"const": "object"}}]}}}
    }
    """#
}
