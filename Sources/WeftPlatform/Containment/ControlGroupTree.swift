import WeftEncoding

/// The location of a process in a tree of control groups.
struct ControlGroupLocation: Equatable {
  /// The process's own group, as a path of the file system.
  var directory: String
  /// The directory where the tree is mounted: the process's own group or one above it.
  var top: String

  /// Parses the texts of /proc/self/mountinfo and /proc/self/cgroup (`proc_pid_mountinfo(5)`, `cgroups(7)`).
  ///
  /// - Parameter controller: A controller of version 1; `nil` for the tree of version 2.
  /// - Returns: `nil` if no such tree is mounted, or the process is outside of the mounted part.
  init?(mounts: String, membership: String, controller: Substring? = nil) {
    guard let own = Self.group(of: controller, in: membership), !own.hasPrefix("/..") else {
      return nil
    }
    for line in mounts.split(separator: "\n") {
      guard let dash = line.ranges(of: " - ").first else { continue }
      let fields = line[..<dash.lowerBound].split(separator: " ")
      // The type, the source and the options of the file system.
      let tree = line[dash.upperBound...].split(separator: " ")
      guard fields.count > 4, tree.first == (controller == nil ? "cgroup2" : "cgroup") else {
        continue
      }
      if let controller, tree.last?.split(separator: ",").contains(controller) != true { continue }
      let (root, point) = (Self.unescaped(fields[3]), Self.unescaped(fields[4]))
      guard root == "/" || own == root || own.hasPrefix(root + "/") else { continue }
      let below = root == "/" ? String(own) : String(own.dropFirst(root.count))
      top = point
      directory = below == "/" ? point : point + below
      return
    }
    return nil
  }

  private static func group(of controller: Substring?, in membership: String) -> Substring? {
    for line in membership.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, fields[2].hasPrefix("/") else { continue }
      let names = fields[1].split(separator: ",")
      if controller.map(names.contains) ?? (fields[0] == "0" && names.isEmpty) { return fields[2] }
    }
    return nil
  }

  /// Decodes blanks and backslashes, which mountinfo writes as octal numbers: `\040`.
  private static func unescaped(_ field: some StringProtocol) -> String {
    guard field.contains("\\") else { return String(field) }
    var text: [UInt8] = []
    var rest = Array(field.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        text.append(code)
        rest = rest.dropFirst(3)
      } else {
        text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

#if os(Linux)
  import CWeftPlatform
  import Glibc
  import Synchronization

  /// The part of the cgroup tree that belongs to a run: a group (``ControlGroupName``) below that of this process, and
  /// in it a group for each attempt under way. Groups that are empty again are reused: creating one costs as much as a
  /// tenth of a small program.
  final class ControlGroupTree: Containment {
    let level = ContainmentLevel.cgroup
    private let place: Descriptor
    private let name: ControlGroupName
    private let state: Mutex<State>

    private struct State {
      /// The group of the run, locked by this process.
      var run: ControlGroup
      var made = 0
      var free: [ControlGroup] = []
      /// The groups of ended attempts that left processes alive.
      var lingering: [ControlGroup] = []
      /// The groups of ended attempts whose processes are to outlive the run, and could not be moved elsewhere yet.
      var kept: [ControlGroup] = []
    }

    /// - Throws: If there is no tree that this process may use.
    init(run id: String, cookie: EngineCookie) throws(SystemError) {
      guard let place = ControlGroupTree.ownLocation else { throw .notFound }
      let path = place.directory
      let directory = try retrying { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
      self.place = Descriptor(owning: directory)
      // Creating a child in a group requires the permission to move it there from this process's group.
      guard faccessat(directory, "cgroup.procs", W_OK, 0) == 0 else { throw .last }
      name = ControlGroupName(run: id, cookie: cookie)
      let run = try ControlGroupTree.locked(name.text, below: directory)
      state = Mutex(State(run: run))
      do throws(SystemError) {
        _ = try ChildProcesses.beforeRegistering { weft_probe_cgroup(run.descriptor) }
      } catch {
        run.remove(from: directory)
        throw error
      }
    }

    /// The number of attempts to create a group if it is removed before it is locked, and the maximum wait for its
    /// lock.
    private static let (makingLimit, lockLimit) = (16, Duration.seconds(2))

    /// Creates a group and locks it. The lock shows processes that clean up after killed engines that this engine is
    /// alive. Such a process may hold the lock for a moment, and may have removed the group by then.
    private static func locked(
      _ name: String, below directory: Int32
    ) throws(SystemError) -> ControlGroup {
      for _ in 0..<makingLimit {
        let group: ControlGroup
        do { group = try ControlGroup(making: name, below: directory) } catch {
          guard error == .notFound else { throw error }
          continue
        }
        try lock(group)
        if group.isStill(in: directory) { return group }
      }
      throw .notFound
    }

    /// Polls instead of blocking: any process that may open the directory may hold its lock forever.
    private static func lock(_ group: ControlGroup) throws(SystemError) {
      let limit = MonotonicClock.now + lockLimit
      while true {
        do {
          _ = try retrying { flock(group.descriptor, LOCK_EX | LOCK_NB) }
          return
        } catch {
          guard error == .wouldBlock, MonotonicClock.now < limit else { throw error }
        }
        weft_sleep(1_000_000)
      }
    }

    static var ownLocation: ControlGroupLocation? {
      guard let mounts = CgroupFile.contents(ofFile: "/proc/self/mountinfo"),
        let membership = CgroupFile.contents(ofFile: "/proc/self/cgroup")
      else { return nil }
      return ControlGroupLocation(
        mounts: String(decoding: mounts, as: UTF8.self),
        membership: String(decoding: membership, as: UTF8.self))
    }

    func enclose(
      cookie: @escaping @autoclosure @Sendable () -> [String]
    ) throws(SystemError) -> any Enclosure {
      let (free, number, run) = state.withLock { state -> (ControlGroup?, Int, ControlGroup) in
        if let free = state.free.popLast() { return (free, 0, state.run) }
        state.made += 1
        return (nil, state.made, state.run)
      }
      if let free { return ControlGroupEnclosure(free, of: self) }
      let group = try ControlGroup(making: String(number), below: run.descriptor)
      return ControlGroupEnclosure(group, of: self)
    }

    func restore() -> Bool {
      state.withLock { state in
        guard !state.run.isStill(in: place.number),
          let run = try? ControlGroupTree.locked(name.text, below: place.number)
        else { return false }
        state.run = run
        state.free = []
        return true
      }
    }

    fileprivate func takeBack(_ group: ControlGroup, isPopulated: Bool, keepsProcesses: Bool) {
      // Now, not at the end of the run: cleanup after a crash of this engine kills all processes in the run's group.
      let isPopulated = isPopulated && !(keepsProcesses && group.release(into: place.number))
      state.withLock { state in
        if isPopulated {
          if keepsProcesses { state.kept.append(group) } else { state.lingering.append(group) }
        } else if group.isReusable, group.isStill(in: state.run.descriptor) {
          state.free.append(group)
        } else {
          group.remove(from: state.run.descriptor)
        }
      }
    }

    var mayHoldOrphans: Bool { state.withLock { $0.run }.isPopulated }

    func orphans() -> [ProcessStatus] {
      state.withLock { $0.lingering }.flatMap(\.members)
    }

    func close() {
      let (run, kept) = state.withLock { ($0.run, $0.kept) }
      for group in kept { _ = group.release(into: place.number) }
      run.remove(from: place.number)
    }
  }

  /// An attempt in its own group.
  private final class ControlGroupEnclosure: Enclosure {
    private let group: ControlGroup
    private let tree: ControlGroupTree
    /// Set once the group was seen empty after its leader had exited; no process can enter it after that.
    private let wasSeenEmpty = Atomic(false)

    init(_ group: ControlGroup, of tree: ControlGroupTree) {
      self.group = group
      self.tree = tree
    }

    var cgroup: Int32 { group.descriptor }
    func began(leader: Int32) {}
    func lost(leader: Int32) {}
    // A zombie leader does not count.
    var isKnownToBeEmpty: Bool {
      let isEmpty = !group.isPopulated
      if isEmpty { wasSeenEmpty.store(true, ordering: .relaxed) }
      return isEmpty
    }

    func members(besides leader: Int32) -> [ProcessStatus] {
      group.members.filter { $0.id != leader }
    }

    func holds(_ process: ProcessStatus) -> Bool {
      process.exists && group.processes.contains(process.id)
    }

    func killAll(besides leader: Int32) { group.killAll() }

    func abandoned() { tree.takeBack(group, isPopulated: false, keepsProcesses: false) }

    func ended(leader: Int32, keepsProcesses: Bool) {
      let isPopulated = !wasSeenEmpty.load(ordering: .relaxed) && group.isPopulated
      tree.takeBack(group, isPopulated: isPopulated, keepsProcesses: keepsProcesses)
    }
  }

  /// Control groups that were left behind by engines that were killed.
  extension ControlGroupTree {
    /// The maximum depth of the search for a run's group.
    private static let depth = 12

    /// The living processes in groups whose engines are gone.
    static func abandoned() -> [ControlGroupName: [ProcessStatus]] {
      var found: [ControlGroupName: [ProcessStatus]] = [:]
      visit { name, group, _ in found[name, default: []] += group.members }
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
        let top = ControlGroupLocation(
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
