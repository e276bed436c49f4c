import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning

/// The elements of a loop, evaluated when the loop starts.
struct LoopListing: Sendable {
  let elements: LoopElements
  let source: Element.Source
  let isSecret: Bool
  var maxParallel: Int?
  let tolerance: FanOutTolerance

  var count: Int { elements.count }

  /// The record of the elements. For secret elements, the keys only reveal their number.
  ///
  /// - Parameter stepCount: The number of steps that the plan has for an element.
  func recorded(stepCount: Int) -> RecordedElements {
    RecordedElements(
      elements: (0..<count).map { index in
        RecordedElements.Element(
          key: isSecret ? String(index) : elements.key(at: index),
          value: isSecret ? .none : .some(elements.value(at: index)))
      },
      isSecret: isSecret, stepCount: stepCount)
  }

  subscript(index: Int) -> Element {
    Element(
      // Keys are shown in addresses, and those of a secret value may be as secret as the value.
      source: source, index: index, key: isSecret ? String(index) : elements.key(at: index),
      value: ExpressionValue(elements.value(at: index)), isSecret: isSecret)
  }
}

/// Evaluates the elements of a loop.
struct LoopLister {
  private let values: RunValues
  private let task: LoopTask
  private let texts: ArraySlice<PlannedText>
  /// The elements that a previous engine has recorded; they are not evaluated again.
  private let recorded: RecordedElements?

  init(_ values: RunValues, _ task: LoopTask, recorded: RecordedElements? = nil) {
    self.values = values
    self.task = task
    self.recorded = recorded
    texts = values.plan.texts(of: task.member)
  }

  func listing() -> Result<LoopListing, StepFailure> {
    Result { () throws(StepFailure) in
      if let recorded { return try listing(recorded) }
      switch task.fanOut {
      case .forEach(let loop): return try listing(of: loop)
      case .matrix(let matrix): return try listing(of: matrix)
      }
    }
  }

  private func listing(_ recorded: RecordedElements) throws(StepFailure) -> LoopListing {
    var elements: LoopElements
    do {
      elements = try LoopElements(of: .array(recorded.elements.map { $0.value ?? .null }))
      var keys = ElementKeys()
      for element in recorded.elements { try keys.add(.string(element.key)) }
      elements.rename(keys)
    } catch {
      throw StepFailure(
        classes: [.expression], message: "cannot continue: the record of its elements is damaged",
        help: "start a new run with weft run")
    }
    let source: Element.Source =
      if case .forEach(let loop) = task.fanOut { .forEach(name: loop.name) } else { .matrix }
    return LoopListing(
      elements: elements, source: source, isSecret: recorded.isSecret,
      maxParallel: try maxParallel(), tolerance: task.fanOut.tolerance)
  }

  private func listing(of loop: ForEach) throws(StepFailure) -> LoopListing {
    let (listed, isSecret) = try value(of: loop.elements, at: .elements)
    var elements: LoopElements
    do { elements = try LoopElements(of: listed ?? .null) } catch {
      throw failure(error.message, error.help, at: .elements)
    }
    let source = Element.Source.forEach(name: loop.name)
    if loop.key != nil { elements.rename(try keys(of: elements, source, isSecret: isSecret)) }
    return LoopListing(
      elements: elements, source: source, isSecret: isSecret, maxParallel: try maxParallel(),
      tolerance: loop.tolerance)
  }

  private func listing(of matrix: Matrix) throws(StepFailure) -> LoopListing {
    var axes: [MatrixExpansion.Axis] = []
    var isSecret = false
    for axis in matrix.axes {
      let (values, hides) = try value(of: axis.values, at: .axis(axis.name))
      axes.append((axis.name, values ?? .null))
      isSecret = isSecret || hides
    }
    let include = try value(of: matrix.include, at: .include)
    let exclude = try value(of: matrix.exclude, at: .exclude)
    let limit = try maxParallel()
    do {
      let expansion = try MatrixExpansion(
        axes: axes, include: include.value, exclude: exclude.value)
      return LoopListing(
        elements: LoopElements(expansion), source: .matrix,
        isSecret: isSecret || include.isSecret || exclude.isSecret, maxParallel: limit,
        tolerance: matrix.tolerance)
    } catch {
      throw failure(error.message, error.help, at: .include)
    }
  }

  // MARK: Values

  private var scope: StepScope {
    StepScope(values: values, instance: task.instance, group: task.group)
  }

  private func value(
    of listing: Listing?, at site: TextSite
  ) throws(StepFailure) -> (value: JSONValue?, isSecret: Bool) {
    switch listing {
    case nil: return (nil, false)
    case .values(let written)?: return (written, false)
    case .computed?:
      guard let evaluation = try evaluation(at: site, in: scope) else { return (nil, false) }
      let json = evaluation.value.json
      // Keys become addresses, which are shown everywhere.
      let holdsSecret = values.secrets.hidesAnything && values.secrets.mask.reveals(json)
      return (json, evaluation.isSecret || holdsSecret)
    }
  }

  /// The value of the expression at a site; `nil` if there is none.
  private func evaluation(
    at site: TextSite, in scope: StepScope
  ) throws(StepFailure) -> ScopedValue? {
    try texts.expression(at: site)?.text.value(in: scope)
  }

  /// The most elements that may be in flight at once.
  private func maxParallel() throws(StepFailure) -> Int? {
    for key in [ComputedKey.elementParallel, .combinationParallel] {
      let site = TextSite.computed(key)
      guard let value = try evaluation(at: site, in: scope)?.value else { continue }
      do { return try key.count(value) } catch {
        throw failure(error.message, error.help, at: site)
      }
    }
    return task.fanOut.maxParallel
  }

  private func keys(
    of elements: LoopElements, _ source: Element.Source, isSecret: Bool
  ) throws(StepFailure) -> ElementKeys {
    var keys = ElementKeys()
    for index in 0..<elements.count {
      let element = Element(
        source: source, index: index, key: elements.key(at: index),
        value: ExpressionValue(elements.value(at: index)), isSecret: isSecret)
      // The key is evaluated as if the element were running.
      var inside = scope
      inside.instance = Instance(unnumbered: .element(element), of: task.region, in: task.instance)
      let key = try evaluation(at: .elementKey, in: inside) ?? ScopedValue(.null)
      do throws(LoopProblem) {
        guard !key.isSecret else { throw .secretKey(of: index) }
        try keys.add(key.value)
      } catch {
        throw failure(error.message, error.help, at: .elementKey)
      }
    }
    return keys
  }

  private func failure(_ message: String, _ help: String?, at site: TextSite) -> StepFailure {
    guard let text = texts.first(at: site) else {
      return StepFailure(classes: [.expression], message: message, help: help)
    }
    let range = SourceRange(start: 0, end: text.template.text.utf8.count)
    return text.failure(
      ExpressionError(.scope(code: LoopProblem.code, message: message, help: help), range),
      in: values.plan)
  }
}
