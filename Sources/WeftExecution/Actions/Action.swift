public import WeftDefinition
public import WeftJSON

/// Something that the embedding program does as a step of a workflow: `{ "use": "measure" }`.
///
/// ```swift
/// let measure = Action("measure") { context in
///   guard case .string(let path)? = context["path"] else { throw MissingParameter(name: "path") }
///   context.log("looking at \(path)")
///   return ["path": .string(path), "width": 640]
/// }
/// let engine = Engine(actions: [measure])
/// ```
///
/// What it returns, up to a mebibyte as JSON, is the step's `json` in expressions: `${{ steps.size.json.width }}`;
/// more fails the step with the class `output`. An error that it
/// throws fails the step with the class `action` and the error's description.
///
/// Each attempt is a task on a thread that the engine has for it alone: it may block, as long as it does not
/// wait in that way for one of its own child tasks, which take turns on the same thread. What is to run in
/// parallel within one action it hands to others (actors, `Task.detached`).
///
/// When the attempt's `timeout` has passed, or the run is cancelled, the task is cancelled. It then has the
/// engine's grace to end (its handlers of cancellation must not block); after that the step ends without it,
/// as timed out or cancelled, and what the action does and returns later counts for nothing. An action ends
/// once, by returning or throwing, as every `async` function does: there is no completion that could be
/// called twice.
public struct Action: Sendable {
  public let name: ActionName
  let run: @Sendable (ActionContext) async throws -> JSONValue

  /// - Parameters:
  ///   - name: What steps name in `use`.
  ///   - run: Called once for each attempt; several may be under way at once.
  public init(
    _ name: ActionName, run: @escaping @Sendable (ActionContext) async throws -> JSONValue
  ) {
    self.name = name
    self.run = run
  }
}
