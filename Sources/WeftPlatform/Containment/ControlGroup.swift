#if os(Linux)
  import Glibc
  import Synchronization

  /// A directory that this process has created in the cgroup v2 tree (Linux, `cgroups(7)`).
  ///
  /// Its files list its processes, and kill all of them with one write.
  final class ControlGroup: Sendable {
    let name: String
    /// The descriptor of the directory.
    let descriptor: Int32
    private let events: Int32
    private let wasKilled = Atomic(false)

    /// Creates the directory `name` below `parent`, which must have `cgroup.kill` (Linux 5.14).
    convenience init(making name: String, below parent: Int32) throws(SystemError) {
      _ = try retrying { mkdirat(parent, name, 0o755) }
      do throws(SystemError) {
        try self.init(opening: name, below: parent)
      } catch {
        unlinkat(parent, name, AT_REMOVEDIR)
        throw error
      }
    }

    /// Opens an existing group.
    init(opening name: String, below parent: Int32) throws(SystemError) {
      self.name = name
      let directory = try retrying { openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
      let isEndable = faccessat(directory, "cgroup.kill", W_OK, 0) == 0
      let events = openat(directory, "cgroup.events", O_RDONLY | O_CLOEXEC)
      guard isEndable, events >= 0 else {
        let error = SystemError.last
        close(directory)
        if events >= 0 { close(events) }
        throw error
      }
      descriptor = directory
      self.events = events
    }

    deinit {
      close(descriptor)
      close(events)
    }

    /// Whether any process is alive in it, at any depth; zombies do not count.
    ///
    /// Called once for every program, so it allocates no memory: "populated 0" is the file's first line.
    var isPopulated: Bool {
      withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
        let count = pread(events, buffer.baseAddress, buffer.count, 0)
        let empty: StaticString = "populated 0\n"
        guard count >= empty.utf8CodeUnitCount else { return true }
        return memcmp(buffer.baseAddress!, empty.utf8Start, empty.utf8CodeUnitCount) != 0
      }
    }

    /// Kills all processes of the group. None can be created in it afterwards: Linux 6.14, among others, takes a child
    /// that is cloned into the group for one that raced with the kill, and kills it too.
    func killAll() {
      wasKilled.store(true, ordering: .relaxed)
      CgroupFile.write("1", to: "cgroup.kill", of: descriptor)
    }

    /// Whether its name still refers to it.
    func isStill(in parent: Int32) -> Bool {
      var (here, there) = (stat(), stat())
      return fstat(descriptor, &here) == 0
        && fstatat(parent, name, &there, AT_SYMLINK_NOFOLLOW) == 0
        && here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }

    /// Whether the calling user owns it.
    var isOwn: Bool {
      var status = stat()
      return fstat(descriptor, &status) == 0 && status.st_uid == geteuid()
    }

    var isReusable: Bool { !wasKilled.load(ordering: .relaxed) }

    /// The ids of all processes in it, at any depth.
    var processes: [Int32] {
      var ids = CgroupFile.numbers(in: "cgroup.procs", of: descriptor)
      for child in CgroupFile.directories(of: descriptor) {
        guard let group = try? ControlGroup(opening: child, below: descriptor) else { continue }
        ids += group.processes
      }
      return ids
    }

    /// The living processes in it, at any depth; with their ids only if /proc does not show them.
    var members: [ProcessStatus] {
      guard ProcessTable.isReadable else {
        // Zombies may be listed; whether any other is there is known.
        return !isPopulated
          ? []
          : processes.map { id in
            ProcessStatus(
              identity: ProcessIdentity(id: id, startTicks: 0), command: "", parent: 0, group: 0,
              session: 0)
          }
      }
      return processes.compactMap { ProcessStatus(of: $0) }.filter(\.isAlive)
    }

    /// The limit of rounds; only processes that fork endlessly need more.
    private static let releaseRounds = 100

    /// Moves its processes to a different group until none is left: they may fork meanwhile.
    ///
    /// They are frozen until they are moved, so that they do not fork faster than this moves them. That takes effect
    /// soon, not at once, and older kernels do not have it.
    ///
    /// - Returns: False if some are left.
    func release(into other: Int32) -> Bool {
      CgroupFile.write("1", to: "cgroup.freeze", of: descriptor)
      defer { CgroupFile.write("0", to: "cgroup.freeze", of: descriptor) }
      for _ in 0..<Self.releaseRounds {
        // 0 is a process that is not visible in this namespace; writing 0 would mean the writer itself.
        let ids = processes.filter { $0 > 0 }
        if ids.isEmpty { break }
        for id in ids { CgroupFile.write(String(id), to: "cgroup.procs", of: other) }
      }
      return !isPopulated
    }

    /// Removes it and the groups below it; only groups without processes can be removed.
    func remove(from parent: Int32) {
      for child in CgroupFile.directories(of: descriptor) {
        guard let group = try? ControlGroup(opening: child, below: descriptor) else { continue }
        group.remove(from: descriptor)
      }
      unlinkat(parent, name, AT_REMOVEDIR)
    }
  }

  /// Reads and writes the files of the tree.
  enum CgroupFile {
    @discardableResult
    static func write(_ text: String, to name: String, of directory: Int32) -> Bool {
      let file = openat(directory, name, O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { return false }
      defer { close(file) }
      let bytes = Array(text.utf8)
      return Glibc.write(file, bytes, bytes.count) == bytes.count
    }

    static func numbers(in name: String, of directory: Int32) -> [Int32] {
      let file = openat(directory, name, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return [] }
      defer { close(file) }
      let lines = contents(of: file).split(separator: UInt8(ascii: "\n"))
      return lines.compactMap { line in
        line.withUnsafeBytes { DecimalDigits.number(startingAt: $0) }.map { Int32($0) }
      }
    }

    static func directories(of directory: Int32) -> [String] {
      let again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard again >= 0, let listing = fdopendir(again) else { return [] }
      defer { closedir(listing) }
      var names: [String] = []
      while let entry = readdir(listing) {
        guard entry.pointee.d_type == UInt8(DT_DIR) else { continue }
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
      }
      return names
    }

    static func contents(ofFile path: String) -> [UInt8]? {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      return contents(of: file)
    }

    static func contents(of file: Int32) -> [UInt8] {
      var all: [UInt8] = []
      withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
        while let count = try? retrying({ read(file, buffer.baseAddress, buffer.count) }), count > 0
        {
          all += buffer[..<count]
        }
      }
      return all
    }
  }
#endif

/// The name of the control group that one engine creates for its run: `weft-RUN-MARK`, where MARK is a hash of the
/// engine's cookie. A name that only begins with `weft-` may belong to other software, such as a systemd unit.
package struct ControlGroupName: Hashable, Sendable {
  package let run: String
  /// ``EngineCookie/mark``.
  package let mark: String

  private static let prefix = "weft-"

  package init(run: String, cookie: EngineCookie) {
    self.run = run
    mark = cookie.mark
  }

  /// Parses the name of a group; `nil` if Weft does not create groups with such names.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    let parts = text.dropFirst(Self.prefix.count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 4, let mark = parts.last, mark.utf8.count == 16,
      mark.allSatisfy({ $0.isASCII && $0.isHexDigit && !$0.isUppercase })
    else { return nil }
    let run = parts.dropLast().joined(separator: "-")
    guard RunName.isWellFormed(run) else { return nil }
    self.run = run
    self.mark = String(mark)
  }

  package var text: String { "\(Self.prefix)\(run)-\(mark)" }
}
