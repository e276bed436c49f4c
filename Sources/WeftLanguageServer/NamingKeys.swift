import WeftDefinition
import WeftJSON

/// The keys of the file format whose values, or the keys of whose values, are names that the file declares: those whose
/// JSON Schema refers to the definition of such names. The keys that declare them are not among these.
struct NamingKeys {
  /// A key, and the key of the object that has it; empty for the outermost object.
  struct Place: Hashable {
    var parent = ""
    var key = ""

    init() {}

    /// - Parameter path: The way to the value of the key, or to an element of it.
    init(_ path: [TextCursor.PathStep]) {
      let keys = path.compactMap { step in if case .key(let key) = step { key } else { nil } }
      (parent, key) = (keys.dropLast().last ?? "", keys.last ?? "")
    }

    func member(_ name: String) -> Place {
      var place = self
      (place.parent, place.key) = (key, name)
      return place
    }
  }

  private(set) var kinds: [Place: WorkflowOutline.Kind] = [:]

  init(_ schema: JSONValue) {
    var visited: Set<Visit> = []
    collect(schema, at: Place(), in: schema, &visited)
  }

  private struct Visit: Hashable {
    let reference: String
    let place: Place
  }

  private mutating func collect(
    _ schema: JSONValue, at place: Place, in root: JSONValue, _ visited: inout Set<Visit>
  ) {
    guard case .object(let members) = schema else { return }
    for member in members {
      switch (member.key, member.value) {
      case ("$ref", .string(let reference)):
        if let kind = WorkflowOutline.Kind.allCases.first(where: { $0.definition == reference }) {
          if kind.section != place.key { kinds[place] = kind }
        } else if visited.insert(Visit(reference: reference, place: place)).inserted,
          let target = SchemaGuide.definition(reference, in: root)
        {
          collect(target, at: place, in: root, &visited)
        }
      case ("properties", .object(let properties)):
        for property in properties {
          collect(property.value, at: place.member(property.key), in: root, &visited)
        }
      case ("oneOf", .array(let schemas)), ("anyOf", .array(let schemas)),
        ("allOf", .array(let schemas)):
        for schema in schemas { collect(schema, at: place, in: root, &visited) }
      case ("items", let schema), ("propertyNames", let schema):
        collect(schema, at: place, in: root, &visited)
      default: break
      }
    }
  }
}
