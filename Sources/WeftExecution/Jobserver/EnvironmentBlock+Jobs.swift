import WeftPlatform

extension EnvironmentBlock {
  /// The process's own environment without the jobserver of an enclosing make: its descriptors do not reach the
  /// programs of steps, and a make among those would warn about that, or take slots that are not its own.
  static func inheritedWithoutJobs() -> EnvironmentBlock {
    let all = EnvironmentBlock.inherited()
    guard let flags = all["MAKEFLAGS"] else { return all }
    let kept = MakeFlags(flags).withoutJobs
    return (try? all.setting([("MAKEFLAGS", kept)]).flattened()) ?? all
  }
}
