/// How surely everything that a program has started is found again.
package enum ContainmentLevel: String, Hashable, Sendable, CaseIterable {
  /// Each attempt has a control group (cgroup v2) of its own, which nobody leaves by a `setsid`, a double
  /// fork or a cleared environment.
  case cgroup
  /// What loses its parents becomes a child of this process (`PR_SET_CHILD_SUBREAPER`), so nothing is lost
  /// sight of; whose it is, parentage tells, or the cookie in its environment.
  case subreaper
  /// Session, parentage and cookie only: what has left its session, lost its parents and cleared its
  /// environment before anybody looked is not found.
  case groupAndCookie = "group+cookie"
}

/// Holds everything that the programs of one run start, so that all of it can be ended.
package protocol Containment: AnyObject, Sendable {
  var level: ContainmentLevel { get }
  /// Makes what one attempt's program will live in.
  ///
  /// - Parameter cookie: `NAME=value` entries that its environment will hold, and no other attempt's.
  func enclose(
    cookie: @escaping @autoclosure @Sendable () -> [String]
  ) throws(SystemError) -> any Enclosure
  /// Makes anew what programs are held in, if it is gone: a start that failed because of that is tried again.
  ///
  /// - Returns: Whether it was gone, and is there again.
  func restore() -> Bool
  /// Whether there may be something for `strays` to find; cheap.
  var mayHoldStrays: Bool { get }
  /// What is alive of attempts that have ended, those kept by wish left out.
  func strays() -> [ProcessStatus]
  /// Takes everything away that was made for the run. Called once, at its end.
  func close()
}

extension Containment {
  package func restore() -> Bool { false }
}

/// What one attempt's processes are held in.
package protocol Enclosure: AnyObject, Sendable {
  /// The directory of the control group that the program begins in, or -1.
  var cgroup: Int32 { get }
  func began(leader: Int32)
  /// Somebody else has reaped the leader, and its id may be another's from now on.
  func lost(leader: Int32)
  /// `true` when it is certain, without a search, that only the leader is left.
  var isKnownToBeEmpty: Bool { get }
  /// All that is alive of it but the leader.
  func members(besides leader: Int32) -> [ProcessStatus]
  /// Whether a process that was once a member still is: ids are reused.
  func holds(_ process: ProcessStatus) -> Bool
  /// Kills all but the leader, as surely as can be.
  func killAll(besides leader: Int32)
  /// The leader is about to be reaped.
  ///
  /// - Parameter keepsRest: What is alive of it is to outlive the run.
  func ended(leader: Int32, keepsRest: Bool)
  /// No program was started in it.
  func abandoned()
}
