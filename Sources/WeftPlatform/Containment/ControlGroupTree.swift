/// Where in the cgroup v2 tree a process is, and under which path that is seen.
struct ControlGroupPlace: Equatable {
  /// The process's own group, as a path of the file system.
  var directory: String

  init(directory: String) { self.directory = directory }

  /// From the texts of /proc/self/mountinfo and /proc/self/cgroup (`proc_pid_mountinfo(5)`,
  /// `cgroups(7)`); `nil` where no v2 tree is mounted, or the process is outside of what is.
  init?(mounts: String, membership: String) {
    let own = membership.split(separator: "\n").first { $0.hasPrefix("0::/") }?.dropFirst(3)
    guard let own, !own.hasPrefix("/..") else { return nil }
    for line in mounts.split(separator: "\n") {
      let halves = line.split(separator: " - ", maxSplits: 1, omittingEmptySubsequences: false)
      let fields = halves[0].split(separator: " ")
      guard halves.count == 2, fields.count > 4, halves[1].hasPrefix("cgroup2 ") else { continue }
      let (root, point) = (Self.unescaped(fields[3]), Self.unescaped(fields[4]))
      guard root == "/" || own == root || own.hasPrefix(root + "/") else { continue }
      let below = root == "/" ? String(own) : String(own.dropFirst(root.count))
      directory = below == "/" ? point : point + below
      return
    }
    return nil
  }

  /// Blanks and backslashes stand as octal numbers in mountinfo: `\040`.
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

  /// A run's part of the cgroup tree: a group (``ControlGroupName``) below this process's own, and in it one for
  /// each attempt under way. Groups that are empty again are used anew: making one costs as much as a tenth of
  /// a small program.
  final class ControlGroupTree: Containment {
    let level = ContainmentLevel.cgroup
    private let place: OwnedDescriptor
    private let name: ControlGroupName
    private let state: Mutex<State>

    private struct State {
      /// The group of the run, with this process's lock on it.
      var run: ControlGroup
      var made = 0
      var free: [ControlGroup] = []
      /// Of attempts that have ended and left something alive.
      var lingering: [ControlGroup] = []
      /// The same, where that is to outlive the run and could not be moved elsewhere yet.
      var kept: [ControlGroup] = []
    }

    /// - Throws: Where there is no tree that this process may use, and why.
    init(run id: String, cookie: EngineCookie) throws(SystemError) {
      guard let place = ControlGroupTree.ownPlace else { throw .notFound }
      let path = place.directory
      let directory = try retrying { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
      self.place = OwnedDescriptor(directory)
      // To begin in a group, a child needs the permission to be moved there from this one.
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

    /// How often a group is made that somebody removes before it is locked, and how long its lock is waited for.
    private static let (makingLimit, lockLimit) = (16, Duration.seconds(2))

    /// Makes a group and locks it. The lock tells those who clear up after killed engines that this one lives;
    /// one of them may hold it for a moment, and may have removed the group by then.
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

    /// Not a call that blocks: anybody who may open the directory may lock it for ever.
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

    static var ownPlace: ControlGroupPlace? {
      guard let mounts = CgroupFile.contents(ofFile: "/proc/self/mountinfo"),
        let membership = CgroupFile.contents(ofFile: "/proc/self/cgroup")
      else { return nil }
      return ControlGroupPlace(
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

    fileprivate func takeBack(_ group: ControlGroup, isPopulated: Bool, keepsRest: Bool) {
      // At once, and not with the run: whoever clears up after this engine ends what is in the run's group.
      let isPopulated = isPopulated && !(keepsRest && group.release(into: place.number))
      state.withLock { state in
        if isPopulated {
          if keepsRest { state.kept.append(group) } else { state.lingering.append(group) }
        } else if group.isReusable, group.isStill(in: state.run.descriptor) {
          state.free.append(group)
        } else {
          group.remove(from: state.run.descriptor)
        }
      }
    }

    var mayHoldStrays: Bool { state.withLock { $0.run }.isPopulated }

    func strays() -> [ProcessStatus] {
      state.withLock { $0.lingering }.flatMap(\.members)
    }

    func close() {
      let (run, kept) = state.withLock { ($0.run, $0.kept) }
      for group in kept { _ = group.release(into: place.number) }
      run.remove(from: place.number)
    }
  }

  /// One attempt in a group of its own.
  private final class ControlGroupEnclosure: Enclosure {
    private let group: ControlGroup
    private let tree: ControlGroupTree
    /// Once its leader had exited: from then on nobody can come to be in it.
    private let wasSeenEmpty = Atomic(false)

    init(_ group: ControlGroup, of tree: ControlGroupTree) {
      self.group = group
      self.tree = tree
    }

    var cgroup: Int32 { group.descriptor }
    func began(leader: Int32) {}
    func lost(leader: Int32) {}
    // A leader that is a zombie does not count.
    var isKnownToBeEmpty: Bool {
      let isEmpty = !group.isPopulated
      if isEmpty { wasSeenEmpty.store(true, ordering: .relaxed) }
      return isEmpty
    }

    func members(besides leader: Int32) -> [ProcessStatus] {
      group.members.filter { $0.id != leader }
    }

    func holds(_ process: ProcessStatus) -> Bool {
      process.isStillThere && group.processes.contains(process.id)
    }

    func killAll(besides leader: Int32) { group.killAll() }

    func abandoned() { tree.takeBack(group, isPopulated: false, keepsRest: false) }

    func ended(leader: Int32, keepsRest: Bool) {
      let isPopulated = !wasSeenEmpty.load(ordering: .relaxed) && group.isPopulated
      tree.takeBack(group, isPopulated: isPopulated, keepsRest: keepsRest)
    }
  }
#endif
