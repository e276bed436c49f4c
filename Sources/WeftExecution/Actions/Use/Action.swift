public import WeftDefinition
import WeftEvents
public import WeftJSON

/// An action implemented by the embedding program: `{ "use": "measure" }`.
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
/// The returned value, up to a mebibyte as JSON, is the step's `json` in expressions:
/// `${{ steps.size.json.width }}`; a larger one fails the step with the class `output`. A thrown error fails
/// the step with the class `action` and the error's description.
///
/// Each attempt is a task on a thread of its own. It may block, except while waiting for one of its own child
/// tasks, which take turns on the same thread. To run work in parallel within one action, use actors or
/// `Task.detached`.
///
/// When the attempt's `timeout` has passed or the run is cancelled, the task is cancelled. It then has the
/// engine's grace period to end (its cancellation handlers must not block); after that the step ends without
/// it, as timed out or cancelled, and a later result of the action is ignored. An action ends once, by
/// returning or throwing, as every `async` function does: there is no completion handler that could be called
/// twice.
public struct Action: Sendable {
  public let name: ActionName
  let run: @Sendable (ActionContext) async throws -> JSONValue

  /// - Parameters:
  ///   - name: The name that steps give in `use`.
  ///   - run: Called once for each attempt; several calls may run concurrently.
  public init(
    _ name: ActionName, run: @escaping @Sendable (ActionContext) async throws -> JSONValue
  ) {
    self.name = name
    self.run = run
  }
}
