import Glibc

@testable import WeftPlatform

/// A temporary directory for one test, removed with everything in it.
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

  /// The path of a new file with that content and mode.
  func file(_ name: String, _ content: String = "", mode: mode_t = 0o755) -> String {
    let path = "\(path)/\(name)"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try! Descriptor(owning: file).writeAll(content)
    chmod(path, mode)
    return path
  }
}

/// Proof of death: every descendant of a test's program inherits the lock, so the test can take it only when none is
/// alive. A zombie holds nothing.
struct DeathLock {
  private let scratch = Scratch()
  private var path: String { scratch.path + "/lock" }

  /// The first command of a script, which takes the lock.
  var taking: String { "exec 9>>'\(path)'; flock -s 9; " }

  /// Whether no process that took the lock is alive.
  var isFree: Bool {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    return flock(file, LOCK_EX | LOCK_NB) == 0
  }

  /// Waits until it is free; false if that takes too long.
  func becomesFree() -> Bool { eventually { isFree } }
}

/// Waits for a condition that must become true. The limit only guards against hanging: a loaded machine may leave a
/// thread without a processor for many seconds.
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

/// The environment of this process with these variables set or removed.
func environment(_ variables: [(name: String, value: String?)]) -> EnvironmentBlock {
  try! EnvironmentBlock.inherited().setting(variables)
}
