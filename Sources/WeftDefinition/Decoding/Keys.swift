/// The keys of the top level.
enum WorkflowKey: String, ObjectKey {
  case schema = "$schema"
  case name, description, env, cwd, shell, maxParallel, timeout, onFailure, steps, parallel
  case secrets, envPolicy
  case inputs
  case outputs
  case pools, finally, defaults, concurrency

  static let table = KeyTable<WorkflowKey>()
}

/// The keys of a step, for all actions.
enum StepKey: String, ObjectKey {
  case id, run, needs, name, description, env, cwd, shell, stdin, timeout, allowFailure
  case successCodes, steps, parallel, maxParallel
  case envPolicy
  case stop, leftovers, stallTimeout, mergeOutput, logLimit, tty, jobserver, cache, outputs
  case `if`, retry, pool, cleanup, forEach, matrix, wait, approve, workflow, use, http, with, race,
    join
  case idempotent, onInterrupted

  static let table = KeyTable<StepKey>()
}

/// The keys of `stdin` where it is an object.
enum StandardInputKey: String, ObjectKey {
  case file, log

  static let table = KeyTable<StandardInputKey>()
}

/// The keys of `stop`.
enum StopKey: String, ObjectKey {
  case signal, grace

  static let table = KeyTable<StopKey>()
}

/// The keys of `cache` of a command.
enum CacheKeyword: String, ObjectKey {
  case inputs, outputs, env, key, version

  static let table = KeyTable<CacheKeyword>()
}

/// The keys of a secret.
enum SecretKey: String, ObjectKey {
  case env, file, command, descriptor, timeout, description

  static let table = KeyTable<SecretKey>()
}

/// The keys of `defaults`.
enum DefaultsKey: String, ObjectKey {
  case timeout, retry, shell

  static let table = KeyTable<DefaultsKey>()
}

/// The keys of a retry policy.
enum RetryKey: String, ObjectKey {
  case max, delay, factor, maxDelay, jitter, within, on, when

  static let table = KeyTable<RetryKey>()
}

/// The keys of `wait` where it is an object.
enum WaitKey: String, ObjectKey {
  case until

  static let table = KeyTable<WaitKey>()
}

/// The keys of `approve`.
enum ApproveKey: String, ObjectKey {
  case message

  static let table = KeyTable<ApproveKey>()
}

/// The keys of `concurrency` where it is an object.
enum ConcurrencyKey: String, ObjectKey {
  case key, policy

  static let table = KeyTable<ConcurrencyKey>()
}

/// The keys of `join` where it is an object.
enum JoinKey: String, ObjectKey {
  case atLeast

  static let table = KeyTable<JoinKey>()
}

/// The keys of `forEach`.
enum ForEachKey: String, ObjectKey {
  case `in`, `as`, key, maxParallel, tolerate

  static let table = KeyTable<ForEachKey>()
}

/// The keys of a pool.
enum PoolKey: String, ObjectKey {
  case slots, rate

  static let table = KeyTable<PoolKey>()
}

/// The keys of `http`.
enum HTTPKey: String, ObjectKey {
  case method, url, query, headers, json, body, form, multipart, bodyFile, auth, timeout
  case redirects, expect, saveTo, maxBytes, proxy, tls, poll, pages, response, idempotencyKey
  case cache, staleOnError

  static let table = KeyTable<HTTPKey>()
}

/// The keys of `timeout` of a request where it is an object.
enum RequestTimeoutKey: String, ObjectKey {
  case connect, idle, total

  static let table = KeyTable<RequestTimeoutKey>()
}

/// The keys of `redirects` where it is an object.
enum RedirectsKey: String, ObjectKey {
  case max, allowDowngrade

  static let table = KeyTable<RedirectsKey>()
}

/// The keys of `auth`.
enum AuthKey: String, ObjectKey {
  case bearer, basic

  static let table = KeyTable<AuthKey>()
}

/// The keys of `basic`.
enum BasicAuthKey: String, ObjectKey {
  case user, password

  static let table = KeyTable<BasicAuthKey>()
}

/// The keys of `expect`.
enum ExpectKey: String, ObjectKey {
  case status, when

  static let table = KeyTable<ExpectKey>()
}

/// The keys of `tls`.
enum TLSKey: String, ObjectKey {
  case caFile, certFile, keyFile

  static let table = KeyTable<TLSKey>()
}

/// The keys of `poll`.
enum PollKey: String, ObjectKey {
  case until, every, max

  static let table = KeyTable<PollKey>()
}

/// The keys of `pages`.
enum PagesKey: String, ObjectKey {
  case next, max, collect, origins

  static let table = KeyTable<PagesKey>()
}

/// The keys of a part of `multipart`.
enum PartKey: String, ObjectKey {
  case value, file, fileName, contentType

  static let table = KeyTable<PartKey>()
}
