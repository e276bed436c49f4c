import Synchronization

/// The subscribers of a subject, without the types.
///
/// A value is put into all buffers under one lock, so all subscribers agree on the order. With a single subscriber that is
/// idle, it is delivered after the lock has been released; the right to deliver is acquired under it.
///
/// Sendable: it has constants, and a mutex with what changes. Unchecked, because a subclass adds variables.
@usableFromInline
class HubCore: @unchecked Sendable {
  struct Subscribers: Sendable {
    var list: [Origin?] = []
    fileprivate var goneCount = 0
    fileprivate(set) var isEnded = false

    mutating func append(_ origin: Origin) {
      origin.position = list.count
      list.append(origin)
    }

    mutating func remove(_ origin: Origin) {
      guard list.indices.contains(origin.position), list[origin.position] === origin else { return }
      list[origin.position] = nil
      goneCount += 1
      guard goneCount * 2 > list.count else { return }
      list.removeAll { $0 == nil }
      goneCount = 0
      for (position, origin) in list.enumerated() { origin?.position = position }
    }

    /// Notes the end.
    ///
    /// - Returns: The subscribers, which are forgotten; `nil` if it is not the first end.
    mutating func end() -> [Origin?]? {
      guard !isEnded else { return nil }
      isEnded = true
      defer { list = [] }
      return list
    }
  }

  final let subscribers = Mutex(Subscribers())
  private let remembersNothing: Bool

  init(remembersNothing: Bool) { self.remembersNothing = remembersNothing }

  /// The only subscriber, acquired, if it is idle and nothing has to be remembered.
  @usableFromInline
  final func acquireOnly() -> Origin? {
    guard remembersNothing else { return nil }
    return subscribers.withLock { subscribers in
      guard subscribers.list.count == 1, let only = subscribers.list[0], only.acquireIfIdle()
      else { return nil }
      return only
    }
  }
}

/// The subscribers of a subject, and the values for late ones.
///
/// Sendable, although it has variables: they are used under the lock of `subscribers`.
@usableFromInline
final class Hub<Output: Sendable, Failure: Error>: HubCore, @unchecked Sendable {
  private typealias Member = Inbox<Output, Failure>

  private var remembered: [Output] = []
  private var completion: Completion<Failure>?
  private let rememberedCount: Int
  private let resendsAfterEnd: Bool

  init(remembering count: Int, resending resendsAfterEnd: Bool) {
    rememberedCount = count
    self.resendsAfterEnd = resendsAfterEnd
    super.init(remembersNothing: count == 0)
  }

  var latest: Output? { subscribers.withLock { _ in remembered.last } }

  @inlinable
  @discardableResult
  func send(_ value: Output) -> Bool {
    // Inside a callback, values are only queued.
    guard let ready = RunQueue.enter() else { return place(value) }
    let isTaken: Bool
    if let only = acquireOnly() {
      only.emit(value)
      ready._withUnsafeGuaranteedRef { only.release($0) }
      isTaken = true
    } else {
      isTaken = place(value)
    }
    ready._withUnsafeGuaranteedRef { $0.leave() }
    return isTaken
  }

  /// Puts `value` into all buffers. Called by a drain.
  @usableFromInline
  func place(_ value: Output) -> Bool {
    var dropped: [Output] = []
    return subscribers.withLock { subscribers in
      guard !subscribers.isEnded else { return false }
      distribute(value, subscribers, &dropped)
      return true
    }
  }

  func update(_ change: (inout Output) -> Void) -> Bool {
    var dropped: [Output] = []
    return RunQueue.draining { _ in
      subscribers.withLock { subscribers in
        guard !subscribers.isEnded, var value = remembered.last else { return false }
        change(&value)
        distribute(value, subscribers, &dropped)
        return true
      }
    }
  }

  /// - Parameter dropped: Takes values that have to be released after the lock.
  private func distribute(
    _ value: Output, _ subscribers: borrowing Subscribers, _ dropped: inout [Output]
  ) {
    if rememberedCount > 0 {
      if remembered.count == rememberedCount { dropped.append(remembered.removeFirst()) }
      remembered.append(value)
    }
    for case let member? in subscribers.list {
      if let value = unsafeDowncast(member, to: Member.self).offer(value).dropped {
        dropped.append(value)
      }
    }
  }

  @discardableResult
  func send(_ completion: Completion<Failure>) -> Bool {
    RunQueue.draining { _ in
      let ended = subscribers.withLock { subscribers in
        let ended = subscribers.end()
        if ended != nil { self.completion = completion }
        return ended
      }
      for case let member? in ended ?? [] {
        unsafeDowncast(member, to: Member.self).offer(completion)
      }
      return ended != nil
    }
  }

  func publisher(_ policy: BufferPolicy) -> Publisher<Output, Failure> {
    policy.checkForSynchronousSender()
    return Publisher(source: { [self] stage in
      let member = Member(stage, policy)
      member.whenOver { [weak self, unowned member] in
        self?.subscribers.withLock { $0.remove(member) }
      }
      add(member)
      return member
    })
  }

  private func add(_ member: Member) {
    let end = subscribers.withLock { subscribers in
      if !subscribers.isEnded || resendsAfterEnd {
        for value in remembered { _ = member.offer(value) }
      }
      if !subscribers.isEnded { subscribers.append(member) }
      return completion
    }
    if let end { member.offer(end) }
  }
}
