/// A workflow whose steps each read two earlier ones, by an expression in `env` and one in an argument, or, for
/// comparison, only need them.
struct ReferringGraph {
  let steps: Int
  var expressionCount: Int { 2 * (steps - 1) }

  /// The file, with or without the expressions; the edges of its graph are the same.
  func json(withExpressions hasExpressions: Bool) -> [UInt8] {
    var text = "{ \"parallel\": [ { \"id\": \"s0\", \"run\": [\"true\"] }"
    for step in 1..<steps {
      let (near, far) = (step - 1, max(0, step - 7))
      let needs = hasExpressions ? "" : "\"needs\": [\"s\(near)\", \"s\(far)\"], "
      let value = hasExpressions ? "${{ steps.s\(near).stdout }}" : "$[[ steps.s\(near).stdout ]]"
      let argument =
        hasExpressions ? "n=${{ steps.s\(far).exitCode }}" : "n=$[[ steps.s\(far).exitCode ]]"
      text +=
        ",\n{ \"id\": \"s\(step)\", \(needs)\"env\": { \"A\": \"\(value)\" }, "
        + "\"run\": [\"true\", \"\(argument)\"] }"
    }
    return Array((text + "\n] }\n").utf8)
  }
}
