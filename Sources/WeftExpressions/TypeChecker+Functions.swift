import WeftDiagnostics

/// Types of the arguments and results of functions.
extension TypeChecker {
  mutating func type(
    of function: ExpressionFunction, _ arguments: [ExpressionNode], at range: SourceRange
  ) -> ExpressionType {
    note(function)
    if function == .case { return typeOfCase(arguments) }
    var types: [ExpressionType] = []
    let known = checked.faults.count
    for (index, argument) in arguments.enumerated() {
      if function.hasBody, index == 1 {
        types.append(type(ofBody: argument, forEach: types[0].listElement))
        continue
      }
      let type = type(of: argument)
      let kind = function.kind(ofArgument: index, of: arguments.count)
      if !kind.mayAccept(type) { add(.unfit(function, kind, found: type.name), argument.range) }
      types.append(type)
    }
    switch function {
    case .format: checkFormat(arguments, at: range)
    case .formatTime: checkTimeFormat(arguments)
    case .fromJSON: return typeOfJSON(arguments[0], at: range)
    default: if checked.faults.count == known { checkLiterals(function, arguments, at: range) }
    }
    return function.result(of: types)
  }

  /// Evaluates a call with literal arguments, which fails in every run or in none.
  private mutating func checkLiterals(
    _ function: ExpressionFunction, _ arguments: [ExpressionNode], at range: SourceRange
  ) {
    if function.readsFiles { return checkPatterns(function, arguments) }
    if function.status != nil { return }
    var values: [ExpressionValue] = []
    for argument in arguments {
      guard case .literal(let value) = argument.form else { return }
      values.append(value)
    }
    var budget = AllocationBudget(limit: ExpressionLimits.standard.madeBytes)
    do { _ = try function.value(of: values, within: &budget) } catch { add(error, range) }
  }

  /// Checks the literal patterns of a function that reads files.
  private mutating func checkPatterns(
    _ function: ExpressionFunction, _ arguments: [ExpressionNode]
  ) {
    for argument in arguments {
      guard case .literal(let value) = argument.form, let pattern = value.primitiveText else {
        continue
      }
      do { _ = try FileSelection([pattern], of: function) } catch { add(error, argument.range) }
    }
  }

  /// Checks a literal format string with empty values.
  private mutating func checkFormat(_ arguments: [ExpressionNode], at range: SourceRange) {
    guard case .literal(let format) = arguments[0].form else { return }
    let values = arguments.dropFirst().map { _ in ExpressionValue.string("") }
    var budget = AllocationBudget(limit: .max)
    do {
      _ = try FormatText.text(format.text, values[...], within: &budget)
    } catch {
      add(error, range)
    }
  }

  private mutating func checkTimeFormat(_ arguments: [ExpressionNode]) {
    guard arguments.count > 1, case .literal(let format) = arguments[1].form,
      let format = format.primitiveText, let time = UTCTime(0)
    else { return }
    do { _ = try time.text(by: format) } catch { add(error, arguments[1].range) }
  }

  private mutating func typeOfJSON(
    _ argument: ExpressionNode, at range: SourceRange
  ) -> ExpressionType {
    guard case .literal(let text) = argument.form else { return .any }
    var budget = AllocationBudget(limit: ExpressionLimits.standard.madeBytes)
    do {
      return ExpressionType(of: try JSONText.value(of: text.text, within: &budget))
    } catch {
      add(error, range)
      return .any
    }
  }
}

extension ExpressionFunction {
  /// The type of the result, from the types of the arguments.
  fileprivate func result(of types: [ExpressionType]) -> ExpressionType {
    switch self {
    case .contains, .startsWith, .endsWith, .success, .failure, .always, .cancelled: .boolean
    case .format, .join, .toJSON, .hashFiles, .trim, .lower, .upper, .replace, .basename, .dirname,
      .stem, .extension, .base64, .fromBase64, .sha256, .formatTime:
      .string
    case .length, .sum, .add, .sub, .mul, .div, .mod, .parseTime: .number
    case .split, .keys, .glob, .lines: .array(of: .string)
    case .filter, .sort, .unique: .array(of: types[0].listElement)
    case .map: .array(of: types[1].withoutWords)
    case .first, .last: types[0].listElement.orNull
    case .slice: .union(types[0].slices)
    case .flatten: .array(of: .union(types[0].listElement.alternatives.map(\.flattened)))
    case .range: .array(of: .number)
    case .min, .max: types.count == 1 ? ExpressionType.number.orNull : .number
    case .entries:
      .array(of: .object([("key", .string), ("value", types[0].memberType)]))
    case .fromEntries: .object([], rest: (try? types[0].listElement.type(at: "value")) ?? .any)
    case .merge: .merged(types)
    case .case, .fromJSON: .any
    }
  }
}

extension ExpressionType {
  /// The type of the elements if it is a list.
  fileprivate var listElement: ExpressionType {
    let elements = alternatives.compactMap { type -> ExpressionType? in
      switch type {
      case .any: .any
      case .array(let element): element
      default: nil
      }
    }
    return .union(elements)
  }

  /// The type of the members if it is an object.
  fileprivate var memberType: ExpressionType {
    (try? ExpressionType.union(
      alternatives.filter { if case .array = $0 { false } else { true } }
    ).elementType) ?? .any
  }

  fileprivate var slices: [ExpressionType] {
    alternatives.compactMap { type in
      switch type {
      case .any, .array: type
      case .string: .string
      default: nil
      }
    }
  }

  fileprivate var flattened: ExpressionType {
    if case .array(let element) = self { element } else { self }
  }

  /// Without the known values of strings, so that nothing is said to be impossible that a longer list would have.
  fileprivate var withoutWords: ExpressionType {
    .union(alternatives.map { if case .string = $0 { .string } else { $0 } })
  }

  /// The type of an object with the members of all, of which the last counts.
  fileprivate static func merged(_ types: [ExpressionType]) -> ExpressionType {
    var merged = ObjectType(fields: [], rest: nil)
    for type in types {
      guard case .object(let object) = type else { return .object([], rest: .any) }
      if let rest = object.rest {
        merged.rest = .union([rest] + (merged.rest.map { [$0] } ?? []))
        for index in merged.fields.indices {
          merged.fields[index].type = .union([merged.fields[index].type, rest])
        }
      }
      for field in object.fields {
        if let index = merged.fields.firstIndex(where: { $0.name == field.name }) {
          merged.fields[index].type = field.type
        } else {
          merged.fields.append(field)
        }
      }
    }
    return .object(merged)
  }
}
