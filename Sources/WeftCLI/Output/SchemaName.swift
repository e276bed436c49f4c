import CWeftSchemas

/// The schemas built into the program.
enum SchemaName: String, CaseIterable {
  case workflow, event

  /// The schema file, byte for byte.
  var text: String {
    let schema =
      switch self {
      case .workflow: weft_workflow_schema()
      case .event: weft_event_schema()
      }
    return String(
      decoding: UnsafeRawBufferPointer(start: schema.bytes, count: schema.count), as: UTF8.self)
  }
}
