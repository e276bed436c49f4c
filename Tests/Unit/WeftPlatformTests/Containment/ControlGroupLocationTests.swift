import Testing

@testable import WeftPlatform

@Suite struct ControlGroupLocationTests {
  static let unified = "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw"
  static let hybrid = """
    30 23 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755
    31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
    32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
    """

  @Test(arguments: [
    (unified, "0::/\n", "/sys/fs/cgroup"),
    (unified, "0::/user.slice/session-3.scope\n", "/sys/fs/cgroup/user.slice/session-3.scope"),
    (hybrid, "8:memory:/x\n0::/a\n", "/sys/fs/cgroup/unified/a"),
    // A container that shows only its own part of the tree.
    ("9 8 0:30 /docker/ab /cg rw - cgroup2 cgroup rw", "0::/docker/ab/c\n", "/cg/c"),
    ("9 8 0:30 /docker/ab /cg rw - cgroup2 cgroup rw", "0::/docker/abc\n", nil),
    ("9 8 0:30 / /with\\040blank rw - cgroup2 cgroup rw", "0::/\n", "/with blank"),
    (unified, "0::/../elsewhere\n", nil),
    (unified, "8:memory:/x\n", nil),
    ("32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory", "0::/\n", nil),
  ])
  func theOwnGroupIsFound(mounts: String, membership: String, directory: String?) {
    #expect(ControlGroupLocation(mounts: mounts, membership: membership)?.directory == directory)
  }
}
