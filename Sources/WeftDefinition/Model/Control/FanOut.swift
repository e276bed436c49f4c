public import WeftDiagnostics
public import WeftJSON

/// What makes many of one step or group.
public enum FanOut: Sendable, Hashable {
  case forEach(ForEach)
  case matrix(Matrix)
}

/// Once for each element of a list or object.
public struct ForEach: Sendable, Hashable {
  public var elements: Listing
  /// What expressions call the element beside `item`; `nil`: nothing else.
  public var name: String?
  /// An expression that names an element; `nil`: an object's keys, else the index from 0.
  public var key: Condition?
  /// How many elements may be under way at once; `nil` is no limit besides the outer ones.
  public var maxParallel: Int?
  /// How many may fail without the whole failing.
  public var tolerance: FanOutTolerance

  public init(
    in elements: Listing, as name: String? = nil, key: Condition? = nil, maxParallel: Int? = nil,
    tolerating tolerance: FanOutTolerance = .count(0)
  ) {
    self.elements = elements
    self.name = name
    self.key = key
    self.maxParallel = maxParallel
    self.tolerance = tolerance
  }
}

/// A list or object: written out, or what an expression comes to.
public enum Listing: Sendable, Hashable {
  /// An array or an object.
  case values(JSONValue)
  /// A text that is exactly one expression.
  case computed(Condition)
}

/// How many elements may fail.
public enum FanOutTolerance: Sendable, Hashable {
  case count(Int)
  /// Of all, rounded down; from 0 to 100.
  case percent(Int)

  /// How many of `count` elements that is.
  public func limit(of count: Int) -> Int {
    switch self {
    case .count(let limit): limit
    case .percent(let percent): count * percent / 100
    }
  }
}

/// Once for each combination of the values of axes, as GitHub's `strategy.matrix` has it.
public struct Matrix: Sendable, Hashable {
  public struct Axis: Sendable, Hashable {
    public var name: String
    /// An array, or an expression that comes to one.
    public var values: Listing
    /// The name, with its quotes.
    public var place: Written<SourceRange?>

    public init(_ name: String, _ values: Listing, place: SourceRange? = nil) {
      self.name = name
      self.values = values
      self.place = Written(place)
    }
  }

  /// In the order of the file; the last varies fastest.
  public var axes: [Axis]
  /// An array of objects, which extend combinations or add some; `nil`: none.
  public var include: Listing?
  /// An array of objects: combinations that have all of one's values are left out; `nil`: none.
  public var exclude: Listing?

  public init(axes: [Axis], include: Listing? = nil, exclude: Listing? = nil) {
    self.axes = axes
    self.include = include
    self.exclude = exclude
  }
}
