#if os(Linux)
  import Glibc

  /// What engines that were killed have left in the cgroup tree.
  extension ControlGroupTree {
    /// How deep a run's group is looked for.
    private static let depth = 12

    static func abandoned() -> [(run: String, processes: [ProcessStatus])] {
      var found: [(run: String, processes: [ProcessStatus])] = []
      visit { run, group, _ in
        found.append((run, group.members))
      }
      return found
    }

    /// Removes those in which nobody is alive.
    static func clear() {
      visit { _, group, parent in
        if !group.isPopulated { group.remove(from: parent) }
      }
    }

    /// Shows all groups of runs whose engines are gone: an engine holds a lock on its run's.
    private static func visit(_ body: (_ run: String, ControlGroup, _ parent: Int32) -> Void) {
      guard let mounts = CgroupFile.contents(ofFile: "/proc/self/mountinfo"),
        let top = ControlGroupPlace(
          mounts: String(decoding: mounts, as: UTF8.self), membership: "0::/")
      else { return }
      let directory = open(top.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard directory >= 0 else { return }
      visit(below: OwnedDescriptor(directory), depth: depth, body)
    }

    private static func visit(
      below directory: consuming OwnedDescriptor, depth: Int,
      _ body: (_ run: String, ControlGroup, _ parent: Int32) -> Void
    ) {
      for name in CgroupFile.directories(of: directory.number) {
        if name.hasPrefix(prefix),
          let group = try? ControlGroup(opening: name, below: directory.number)
        {
          guard flock(group.descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
          body(String(name.dropFirst(prefix.count)), group, directory.number)
        } else if depth > 0 {
          let child = openat(directory.number, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
          if child >= 0 { visit(below: OwnedDescriptor(child), depth: depth - 1, body) }
        }
      }
    }
  }
#endif
