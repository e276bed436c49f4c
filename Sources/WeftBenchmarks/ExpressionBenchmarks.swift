import WeftExpressions

/// Parsing and evaluating short expressions, such as a file of 100,000 steps contains.
enum ExpressionBenchmarks {
  static var all: [Benchmark] {
    [
      Benchmark("expressions/evaluate") { $0.add(evaluating($0)) },
      Benchmark("expressions/read") { $0.add(reading($0)) },
    ]
  }

  // MARK: Evaluating

  private static func evaluating(_ report: BenchmarkReport) -> BenchmarkRow {
    let count = 100_000
    let text = "steps.a.outputs.x == 'y' && success()"
    guard let expression = try? Expression.parse(text) else { preconditionFailure(text) }
    let scope = ValueScope(
      ExpressionObject([member("steps", [member("a", [member("outputs", "x", is: "y")])])]))
    let measured = report.seconds {
      for _ in 0..<count { keep(try? expression.evaluate(in: scope)) }
    }
    let tables = ["steps": ["a": ["outputs": ["x": "y"]]]]
    let baseline = report.seconds {
      for _ in 0..<count { keep(tables["steps"]?["a"]?["outputs"]?["x"] == "y") }
    }
    let scale = 1e9 / Double(count)
    return BenchmarkRow(
      name: "evaluate \(text)", measured: measured * scale, unit: "ns",
      baselineName: "the look-ups in dictionaries", baseline: baseline * scale)
  }

  private static func member(
    _ key: String, _ members: [ExpressionObject.Member]
  ) -> ExpressionObject.Member {
    .init(key: key, value: .object(ExpressionObject(members)))
  }

  private static func member(
    _ key: String, _ inner: String, is text: String
  ) -> ExpressionObject.Member {
    member(key, [.init(key: inner, value: .string(text))])
  }

  // MARK: Reading

  private static func reading(_ report: BenchmarkReport) -> BenchmarkRow {
    let texts = (0..<200_000).map { index in
      switch index % 4 {
      case 0: "steps.step-\(index).outputs.files"
      case 1: "steps.step-\(index).outcome == 'success' && inputs.fast"
      case 2: "format('v{0}', inputs.version)"
      default: "!inputs.draft || failure()"
      }
    }
    let measured = report.seconds { for text in texts { keep(try? Expression.parse(text)) } }
    let baseline = report.seconds {
      for text in texts { keep(text.utf8.reduce(0) { ($0 &* 31) &+ Int($1) }) }
    }
    let scale = 1e9 / Double(texts.count)
    return BenchmarkRow(
      name: "read one of 200,000", measured: measured * scale, unit: "ns",
      baselineName: "sum of its bytes", baseline: baseline * scale)
  }
}
