public import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether `WEFT_LONG` asks for all tests in full, however long they take.
public let isLong = getenv("WEFT_LONG") != nil

extension Trait where Self == ConditionTrait {
  /// A test of 100,000 elements or more. It runs only if `WEFT_LONG` is set.
  public static var large: Self { .enabled(if: isLong, "WEFT_LONG is not set") }
}

/// The number of elements of a large plan, list or chain: a tenth of 100,000 unless `WEFT_LONG` is set, which is still
/// more than any recursion has stack for.
public let largeCount = isLong ? 100_000 : 10_000

extension Trait where Self == TimeLimitTrait {
  /// Fails a test that would wait forever, or needs a square of the expected time. It is far above the time of all
  /// tests together: they run at once, so on a busy machine each may take as long as all.
  public static var hangLimit: Self { .timeLimit(.minutes(60)) }
}
