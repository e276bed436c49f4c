public import WeftDiagnostics
public import WeftJSON

/// A loop over a step or group.
public enum FanOut: Sendable, Hashable {
  case forEach(ForEach)
  case matrix(Matrix)
}

/// A loop over the elements of a list or object.
public struct ForEach: Sendable, Hashable {
  public var elements: Listing
  /// A name for the element in expressions, besides `item`; `nil` for none.
  public var name: String?
  /// An expression for the name of an element; `nil` for the keys of an object, else the index from 0.
  public var key: Condition?
  /// The most elements that may run at once; `nil` for no limit besides those of enclosing scopes.
  public var maxParallel: Int?
  /// The elements that may fail without failing the loop.
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

/// A list or object: a literal, or the value of an expression.
public enum Listing: Sendable, Hashable {
  /// An array or an object.
  case values(JSONValue)
  /// A text that is exactly one expression.
  case computed(Condition)
}

/// The number of elements that may fail.
public enum FanOutTolerance: Sendable, Hashable {
  case count(Int)
  /// A percentage of all elements, rounded down; from 0 to 100.
  case percent(Int)

  /// The number for a loop of `count` elements.
  public func limit(of count: Int) -> Int {
    switch self {
    case .count(let limit): limit
    case .percent(let percent): count * percent / 100
    }
  }
}

/// A loop over the combinations of the values of axes, like GitHub's `strategy.matrix`.
public struct Matrix: Sendable, Hashable {
  public struct Axis: Sendable, Hashable {
    public var name: String
    /// An array, or an expression that evaluates to one.
    public var values: Listing
    /// The name, with its quotes.
    public var place: Written<SourceRange?>

    public init(_ name: String, _ values: Listing, place: SourceRange? = nil) {
      self.name = name
      self.values = values
      self.place = Written(place)
    }
  }

  /// The axes in the order of the file; the last one varies fastest.
  public var axes: [Axis]
  /// An array of objects that extend combinations or add some; `nil` for none.
  public var include: Listing?
  /// An array of objects: combinations with all values of one of them are dropped; `nil` for none.
  public var exclude: Listing?

  public init(axes: [Axis], include: Listing? = nil, exclude: Listing? = nil) {
    self.axes = axes
    self.include = include
    self.exclude = exclude
  }
}

extension FanOutTolerance {
  /// Reads a percentage as written in a workflow: `"10%"`; `nil` if `text` is not one, or is above 100%.
  init?(percentage text: String) {
    let digits = text.utf8.dropLast()
    guard text.utf8.last == UInt8(ascii: "%"), !digits.isEmpty, digits.allSatisfy(\.isDigit),
      let percent = Int(Substring(digits)), percent <= 100
    else { return nil }
    self = .percent(percent)
  }
}
