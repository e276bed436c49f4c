import Glibc

@testable import WeftPlatform

/// A directory of a test's own, removed with everything in it.
final class Scratch: Sendable {
  let path: String

  init() {
    var template = Array("\(FileSystem.temporaryDirectory)/weft-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp: \(SystemError.last)") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit {
    _ = try? run(["/bin/rm", "-rf", path])
  }

  /// The path of a new file of that content and mode.
  func file(_ name: String, _ content: String = "", mode: mode_t = 0o755) -> String {
    let path = "\(path)/\(name)"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try! Descriptor(owning: file).writeAll(content)
    chmod(path, mode)
    return path
  }
}

/// Proof of death: every descendant of a test's program holds the lock, for it is inherited; so the test can
/// take it only when none is alive. A zombie holds nothing.
struct DeathLock {
  private let scratch = Scratch()
  private var path: String { scratch.path + "/lock" }

  /// To be the first thing a script does.
  var taking: String { "exec 9>>'\(path)'; flock -s 9; " }

  /// Whether at this moment nobody who took it lives.
  var isFree: Bool {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    return flock(file, LOCK_EX | LOCK_NB) == 0
  }

  /// Waits until it is free; false if that takes too long.
  func becomesFree() -> Bool { eventually { isFree } }
}

/// Waits for a condition that must become true. The limit is only a guard against hanging: a loaded machine may
/// leave a thread without a processor for many seconds.
func eventually(
  within limit: Duration = .seconds(120), _ condition: () -> Bool
) -> Bool {
  let end = MonotonicClock.now + limit
  while !condition() {
    if MonotonicClock.now > end { return false }
    usleep(1000)
  }
  return true
}

/// The text "name" for `name`d test programs that this process must find in its own PATH.
func environment(_ variables: [(name: String, value: String?)]) -> EnvironmentBlock {
  try! EnvironmentBlock.inherited().setting(variables)
}
