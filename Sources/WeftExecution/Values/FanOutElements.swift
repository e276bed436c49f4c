import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftJSON
import WeftPlanning

/// Finds out for which elements something is run, when it is its turn.
struct FanOutElements {
  struct Listed: Sendable {
    var all: [Element]
    var maxParallel: Int?
    var tolerance: FanOutTolerance
  }

  private let values: RunValues
  private let task: FanOutTask
  private var texts: ArraySlice<PlannedText> {
    switch task.member {
    case .step(let index): values.plan.values.texts(ofStep: index)
    case .group(let index): values.plan.values.texts(ofGroup: index)
    }
  }

  init(_ values: RunValues, _ task: FanOutTask) {
    self.values = values
    self.task = task
  }

  func listed() -> Result<Listed, StepFailure> {
    Result { () throws(StepFailure) in
      switch task.fanOut {
      case .forEach(let loop):
        return Listed(
          all: try elements(of: loop), maxParallel: try limit(of: loop), tolerance: loop.tolerance)
      case .matrix(let matrix):
        return Listed(all: try combinations(of: matrix), maxParallel: nil, tolerance: .count(0))
      }
    }
  }

  // MARK: Values

  private func value(
    of listing: Listing, at site: TextSite
  ) throws(StepFailure) -> ScopedValue {
    if case .values(let written) = listing { return ScopedValue(ExpressionValue(written)) }
    return try value(at: site) ?? ScopedValue(.null)
  }

  /// What the expression at a site comes to; `nil` where there is none.
  private func value(at site: TextSite) throws(StepFailure) -> ScopedValue? {
    guard let text = texts.first(where: { $0.site == site }),
      let expression = text.template.onlyExpression
    else { return nil }
    do {
      let scope = StepScope(values: values, frame: task.frame, group: task.group)
      let evaluation = try expression.evaluate(in: scope)
      return ScopedValue(evaluation.value, isSecret: evaluation.isSecret)
    } catch {
      throw StepFailure(error, in: text, of: values.plan)
    }
  }

  private func limit(of loop: ForEach) throws(StepFailure) -> Int? {
    let site = TextSite.computed(.elementParallel)
    guard let value = try value(at: site) else { return loop.maxParallel }
    do {
      return try ComputedKey.elementParallel.count(
        value.value, in: 1...WorkflowLimits.maxParallel)
    } catch {
      throw failure(error, at: site)
    }
  }

  private func failure(_ problem: ExpressionProblem, at site: TextSite) -> StepFailure {
    guard let text = texts.first(where: { $0.site == site }),
      let expression = text.template.onlyExpression
    else {
      return StepFailure(
        classes: [.expression], message: "\(site.key) cannot be used: \(problem.message)",
        help: problem.help)
    }
    return StepFailure(
      ExpressionFault(problem, expression.range), in: text, of: values.plan)
  }

  // MARK: forEach

  private func elements(of loop: ForEach) throws(StepFailure) -> [Element] {
    let listed = try value(of: loop.elements, at: .elements)
    let members: [(key: String?, value: ExpressionValue)]
    switch listed.value {
    case .array(let array): members = array.elements.map { (nil, $0) }
    case .object(let object): members = object.members.map { ($0.key, $0.value) }
    case .null, .boolean, .number, .string:
      throw failure(
        .scope(
          code: "W0335",
          message: "it comes to \(listed.value.kindName), expected an array or an object",
          help: "a text of JSON becomes one by fromJSON(…)"), at: .elements)
    }
    let source = Element.Source.forEach(name: loop.name)
    let plain = members.enumerated().map { index, member in
      Element(
        source: source, index: index, key: member.key ?? String(index), value: member.value,
        isSecret: listed.isSecret)
    }
    return plain
  }

  // MARK: matrix

  private func combinations(of matrix: Matrix) throws(StepFailure) -> [Element] { [] }
}
