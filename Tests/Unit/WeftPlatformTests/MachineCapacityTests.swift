import Testing

@testable import WeftPlatform

@Suite struct MachineCapacityTests {
  private static let v2 = "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
  private static let v1 = """
    31 30 0:27 / /cg/unified rw - cgroup2 cgroup2 rw
    32 30 0:28 / /cg/memory rw - cgroup cgroup rw,memory
    33 30 0:29 /docker/x /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct
    """
  private static let membership = "9:memory:/a/b\n8:cpu,cpuacct:/docker/x/y\n0::/user/app\n"
  private static let machine = "Buffers: 1 kB\nMemTotal:    16384001 kB\n"

  private func capacity(_ mounts: String, _ files: [String: String]) -> MachineCapacity {
    var files = files
    files["/proc/meminfo"] = Self.machine
    files["/proc/self/mountinfo"] = mounts
    files["/proc/self/cgroup"] = Self.membership
    return MachineCapacity(processors: 8) { files[$0] }
  }

  private static let whole = MachineCapacity(processors: 8, memory: 16000 << 20)

  @Test(
    "the smallest limit of the groups around the process counts",
    arguments: [
      (v2, [:], whole),
      (v2, ["/sys/fs/cgroup/user/app/memory.max": "max\n"], whole),
      (v2, ["/sys/fs/cgroup/user/app/cpu.max": "max 100000\n"], whole),
      (
        v2,
        [
          "/sys/fs/cgroup/user/app/memory.max": "2147483648\n",
          "/sys/fs/cgroup/user/memory.max": "1073741824\n",
          "/sys/fs/cgroup/user/app/cpu.max": "350000 100000\n",
        ], MachineCapacity(processors: 3, memory: 1 << 30)
      ),
      (
        v2, ["/sys/fs/cgroup/cpu.max": "50000 100000\n"],
        MachineCapacity(processors: 1, memory: 16000 << 20)
      ),
      (
        v1,
        [
          "/cg/memory/a/memory.limit_in_bytes": "3221225472\n",
          "/cg/memory/memory.limit_in_bytes": "9223372036854771712\n",
          "/cg/cpu/y/cpu.cfs_quota_us": "-1\n", "/cg/cpu/cpu.cfs_quota_us": "200000\n",
          "/cg/cpu/cpu.cfs_period_us": "100000\n",
        ], MachineCapacity(processors: 2, memory: 3 << 30)
      ),
      (
        v1, ["/cg/memory/a/memory.limit_in_bytes": "damaged", "/cg/cpu/cpu.cfs_quota_us": ""],
        whole
      ),
    ] as [(String, [String: String], MachineCapacity)])
  func limits(mounts: String, files: [String: String], expected: MachineCapacity) {
    #expect(capacity(mounts, files) == expected)
  }

  @Test func aSystemWithoutTheseFilesHasNoLimitOfMemory() {
    #expect(
      MachineCapacity(processors: 2) { _ in nil } == MachineCapacity(processors: 2, memory: .max))
  }

  @Test func thisMachineHasProcessorsAndMemory() {
    let present = MachineCapacity.present
    #expect(present.processors >= 1 && present.memory > 1 << 26 && present.memory < .max)
  }
}
