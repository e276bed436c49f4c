import WeftDefinition
import WeftRecord

/// The arguments of `weft clean`.
struct CleanInvocation: Sendable, Hashable {
  let policy: CleaningPolicy
  let isDryRun: Bool
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) throws(UsageError) {
    var policy = CleaningPolicy(
      count: try parsed.count(of: .keep, in: 0...1_000_000),
      age: try parsed.age(of: .olderThan), bytes: try parsed.size(of: .cleanSize)?.bytes,
      takesUnfinished: parsed.isGiven(.unfinished))
    if policy.count == nil, policy.age == nil, policy.bytes == nil {
      policy.count = CleaningPolicy.defaultCount
    }
    self.policy = policy
    isDryRun = parsed.isGiven(.cleanDryRun)
    stateDirectory = parsed.value(of: .records)
  }
}

extension ParsedArguments {
  fileprivate func age(of option: Option) throws(UsageError) -> Duration? {
    guard let found = value(of: option) else { return nil }
    if let age = try? DurationText.duration(from: found, allowsZero: true) { return age }
    throw .wrongValue(
      of: "\"\(option.name)\"", found: found, wanted: "a duration such as 30d or 12h",
      help: "whole numbers, each with its unit, the largest first: d, h, m, s, ms", command)
  }

  fileprivate func size(of option: Option) throws(UsageError) -> ByteCount? {
    guard let found = value(of: option) else { return nil }
    if let size = try? SizeText.size(from: found) { return size }
    throw .wrongValue(
      of: "\"\(option.name)\"", found: found, wanted: "a size such as 500MB or 2GiB",
      help: "a whole number with its unit: B, KB, MB, GB, or KiB, MiB, GiB", command)
  }
}
