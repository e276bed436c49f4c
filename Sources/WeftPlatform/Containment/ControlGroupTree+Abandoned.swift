#if os(Linux)
  import Glibc

  /// Control groups that were left behind by engines that were killed.
  extension ControlGroupTree {
    /// The maximum depth of the search for a run's group.
    private static let depth = 12

    /// The living processes in the groups with these names.
    static func processes(of names: Set<ControlGroupName>) -> [ProcessStatus] {
      abandoned().filter { names.contains($0.name) }.flatMap(\.processes)
    }

    static func abandoned() -> [(name: ControlGroupName, processes: [ProcessStatus])] {
      var found: [(name: ControlGroupName, processes: [ProcessStatus])] = []
      visit { name, group, _ in
        found.append((name, group.members))
      }
      return found
    }

    /// Removes abandoned groups without living processes.
    static func clear() {
      visit { _, group, parent in
        if !group.isPopulated { group.remove(from: parent) }
      }
    }

    /// Visits the groups that the calling user's engines have created for runs, if the engine is gone: a living engine
    /// holds a lock on its group. All other groups, whatever their names, are searched.
    private static func visit(
      _ body: (ControlGroupName, ControlGroup, _ parent: Int32) -> Void
    ) {
      guard let mounts = CgroupFile.contents(ofFile: "/proc/self/mountinfo"),
        let top = ControlGroupPlace(
          mounts: String(decoding: mounts, as: UTF8.self), membership: "0::/")
      else { return }
      let directory = open(top.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard directory >= 0 else { return }
      visit(below: Descriptor(owning: directory), depth: depth, body)
    }

    private static func visit(
      below directory: Descriptor, depth: Int,
      _ body: (ControlGroupName, ControlGroup, _ parent: Int32) -> Void
    ) {
      for text in CgroupFile.directories(of: directory.number) {
        if let name = ControlGroupName(text),
          let group = try? ControlGroup(opening: text, below: directory.number), group.isOwn
        {
          guard flock(group.descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
          body(name, group, directory.number)
        } else if depth > 0 {
          let child = openat(directory.number, text, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
          if child >= 0 { visit(below: Descriptor(owning: child), depth: depth - 1, body) }
        }
      }
    }
  }
#endif
