import WeftJSON

extension Step {
  /// The step, run only if an expression is true: `Step(run: "make install").if("inputs.install")`.
  public func `if`(_ condition: Condition) -> Step {
    changing { $0.control.condition = condition }
  }

  /// The step, retried up to this many times after a failure that may be temporary, or never: `.retry(0)`.
  public func retry(_ further: Int) -> Step { retry(RetryPolicy(max: further)) }

  /// The step, retried by policies with separate counters: the first one that applies to a failure handles
  /// it, even if it has no attempts left.
  public func retry(_ policies: RetryPolicy...) -> Step {
    changing { $0.control.retry = policies }
  }

  /// The step, run once for each element of an expression: `.forEach("${{ steps.list.json }}")`.
  ///
  /// - Parameters:
  ///   - elements: A text that is exactly one expression, which evaluates to an array or an object.
  ///   - name: A name for the element in expressions, besides `item`.
  ///   - key: An expression for the name of an element; by default its index, or its key in an object.
  ///   - tolerance: The elements that may fail without failing the loop.
  public func forEach(
    _ elements: Condition, as name: String? = nil, key: Condition? = nil, maxParallel: Int? = nil,
    tolerating tolerance: FanOutTolerance = .count(0)
  ) -> Step {
    forEach(
      ForEach(
        in: .computed(elements), as: name, key: key, maxParallel: maxParallel,
        tolerating: tolerance))
  }

  /// The step, run once for each of these strings: `.forEach(["linux", "macos"], as: "os")`.
  public func forEach(
    _ elements: [String], as name: String? = nil, maxParallel: Int? = nil,
    tolerating tolerance: FanOutTolerance = .count(0)
  ) -> Step {
    forEach(
      ForEach(
        in: .values(.array(elements.map(JSONValue.string))), as: name, maxParallel: maxParallel,
        tolerating: tolerance))
  }

  /// The step, run once for each element.
  public func forEach(_ loop: ForEach) -> Step { changing { $0.control.fanOut = .forEach(loop) } }

  /// The step, run once for each combination of values.
  public func matrix(_ matrix: Matrix) -> Step { changing { $0.control.fanOut = .matrix(matrix) } }

  /// The step, run once for each combination of these strings: `.matrix(["os": ["linux", "macos"]])`.
  ///
  /// - Precondition: No axis occurs twice.
  public func matrix(_ axes: KeyValuePairs<String, [String]>) -> Step {
    precondition(Set(axes.map(\.key)).count == axes.count, "an axis is repeated")
    return matrix(
      Matrix(
        axes: axes.map { Matrix.Axis($0.key, .values(.array($0.value.map(JSONValue.string)))) })
    )
  }

  /// The step, which holds slots of a pool while an attempt runs, besides any it already requests.
  public func pool(_ name: String, slots: Int = 1) -> Step {
    changing { $0.control.pools.append(PoolRequest(name, slots: slots)) }
  }

  /// The step with cleanup steps: if it was started, they run one after another when the enclosing group, or
  /// the run, ends.
  public func cleanup(_ steps: Step...) -> Step { changing { $0.control.cleanup = steps } }

  private func changing(_ change: (inout Step) -> Void) -> Step {
    var step = self
    change(&step)
    return step
  }
}
