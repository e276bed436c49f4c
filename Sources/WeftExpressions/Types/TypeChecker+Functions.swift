import WeftDiagnostics

/// Types of the arguments and results of functions.
extension TypeChecker {
  mutating func type(
    of function: ExpressionFunction, _ arguments: [ExpressionNode], at range: SourceRange
  ) -> ExpressionType {
    if let status = function.status { checked.statusFunctions.insert(status) }
    if function == .hashFiles { checked.hashesFiles = true }
    if function == .case { return typeOfCase(arguments) }
    let types = arguments.map { type(of: $0) }
    for (argument, type) in zip(arguments, types) { check(argument, type, of: function) }
    switch function {
    case .contains, .startsWith, .endsWith, .success, .failure, .always, .cancelled:
      return .boolean
    case .join, .toJSON, .hashFiles, .trim, .lower, .upper, .replace: return .string
    case .format:
      checkFormat(arguments, at: range)
      return .string
    case .fromJSON: return typeOfJSON(arguments[0], at: range)
    case .length: return .number
    case .split, .keys: return .array(of: .string)
    case .case: return .any
    }
  }

  /// Reports an argument that the function would reject for every value of the type.
  private mutating func check(
    _ argument: ExpressionNode, _ type: ExpressionType, of function: ExpressionFunction
  ) {
    let alternatives = type.alternatives
    switch function {
    case .split, .trim, .lower, .upper, .replace, .hashFiles:
      guard alternatives.allSatisfy(\.isCompound) else { return }
      add(.notText(function, found: type.name), argument.range)
    case .length:
      guard alternatives.allSatisfy({ $0 == .boolean || $0 == .number }) else { return }
      add(.notCountable(found: type.name), argument.range)
    case .keys:
      guard alternatives.allSatisfy(\.hasNoKeys) else { return }
      add(.notObject(found: type.name), argument.range)
    case .contains, .startsWith, .endsWith, .format, .join, .toJSON, .fromJSON, .case, .success,
      .failure, .always, .cancelled:
      return
    }
  }

  /// Checks a literal format string with empty values.
  private mutating func checkFormat(_ arguments: [ExpressionNode], at range: SourceRange) {
    guard case .literal(let format) = arguments[0].form else { return }
    let values = arguments.dropFirst().map { _ in ExpressionValue.string("") }
    var room = AllocationBudget(limit: .max)
    do {
      _ = try FormatText.text(format.text, values[...], within: &room)
    } catch {
      add(error, range)
    }
  }

  private mutating func typeOfJSON(
    _ argument: ExpressionNode, at range: SourceRange
  ) -> ExpressionType {
    guard case .literal(let text) = argument.form else { return .any }
    var room = AllocationBudget(limit: ExpressionLimits.standard.madeBytes)
    do {
      return ExpressionType(of: try JSONText.value(of: text.text, within: &room))
    } catch {
      add(error, range)
      return .any
    }
  }
}

extension ExpressionType {
  fileprivate var isCompound: Bool {
    switch self {
    case .array, .object: true
    case .any, .null, .boolean, .number, .string, .either: false
    }
  }

  fileprivate var hasNoKeys: Bool {
    switch self {
    case .boolean, .number, .string, .array: true
    case .any, .null, .object, .either: false
    }
  }
}
