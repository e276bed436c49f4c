import WeftCaching
import WeftDefinition
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// What steps have made in earlier runs, opened for one that has steps of which something is kept.
enum RunCache {
  /// The variable that says how much it may hold.
  static let limitVariable = "WEFT_CACHE_LIMIT"

  /// - Returns: Nothing where no step is cached; a warning where it cannot be opened.
  static func open(
    for plan: Plan, _ invocation: RunInvocation
  ) -> (access: CacheAccess?, warning: RunWarning?) {
    guard plan.steps.contains(where: \.isCached) else { return (nil, nil) }
    let place = invocation.recordDirectory
    do throws(UnsafePlace) {
      _ = try? StateDirectory(place, makes: true)
      let cache = try StepCache(
        path(in: place), limit: (invocation.cacheLimit ?? ByteCount(StepCache.defaultLimit)).bytes)
      return (
        CacheAccess(cache, reads: invocation.readsCache, stateDirectory: place), nil
      )
    } catch {
      return (nil, .noCache(because: error.message))
    }
  }

  static func path(in state: String) -> String { "\(state)/\(StepCache.folderName)" }
}
