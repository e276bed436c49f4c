import WeftCaching
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// The step cache, opened for runs with cached steps.
enum RunCache {
  /// The environment variable that limits its size.
  static let limitVariable = "WEFT_CACHE_LIMIT"

  /// - Returns: Nothing if no step is cached; a warning if it cannot be opened.
  static func open(
    for plan: Plan, _ invocation: RunInvocation
  ) -> (access: CacheAccess?, warning: RunWarning?) {
    guard plan.steps.contains(where: \.isCached) else { return (nil, nil) }
    let place = invocation.recordDirectory
    do throws(UnsafePlaceError) {
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
