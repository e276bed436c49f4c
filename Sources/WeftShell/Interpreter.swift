/// A program that reads another program from its arguments.
struct Interpreter {
  /// One-letter options whose argument is program text.
  var code = ""
  /// Long options whose argument is program text.
  var codeWords: Set<String> = []
  /// One-letter options with other arguments; for an interpreter these usually name more code.
  var letters = ""
  /// One-letter options that take the rest of their word as an argument, but never the next word.
  var attached = ""
  /// Options that take the next word, or the next two, as data.
  var data: [String: Int] = [:]
  /// Whether the first operand is the program, if no option gave it.
  var isFirstOperand = false
  /// Whether the option for code takes no argument, so that the program is the first operand, as
  /// with `sh -c`.
  var isShell = false
  /// Whether no word after the program is an option of the interpreter.
  var endsAtCode = false
  /// Whether options are also recognised after operands.
  var permutes = false
  /// Whether all operands except the first are program text.
  var operandsAreCode = false
  /// Whether the standard input is the program if neither a program nor a file is given.
  var readsInput = true

  static func named(_ name: String) -> Interpreter? {
    if let known = table[name] { return known }
    guard let last = name.utf8.last, last.isDigit else { return nil }
    // python3.12, lua5.4, perl5.36.0
    let digits = name.reversed().prefix { $0.isNumber || $0 == "." }
    return table[String(name.dropLast(digits.count))]
  }

  private static let table: [String: Interpreter] = {
    var table: [String: Interpreter] = [
      "perl": Interpreter(code: "eE", letters: "I", attached: "0CdDFilmMVx"),
      "ruby": Interpreter(code: "e", letters: "ICEr", attached: "0FiKTWx"),
      "php": Interpreter(
        code: "rBRE", codeWords: ["--run", "--process-code", "--process-begin", "--process-end"],
        letters: "cdfFtzS"),
      "Rscript": Interpreter(code: "e", readsInput: false),
      "julia": Interpreter(code: "eE", codeWords: ["--eval", "--print"], letters: "LHJCp"),
      "osascript": Interpreter(code: "e", letters: "ls"),
      "sed": Interpreter(
        code: "e", codeWords: ["--expression"], letters: "fl", attached: "i", isFirstOperand: true,
        permutes: true, readsInput: false),
      "jq": Interpreter(
        letters: "fL",
        data: ["--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--indent": 1],
        isFirstOperand: true, readsInput: false),
      "psql": Interpreter(
        code: "c", codeWords: ["--command"], letters: "fhpUdovFRTPL", permutes: true),
      "sqlite3": Interpreter(codeWords: ["-cmd"], operandsAreCode: true),
      "make": Interpreter(
        data: ["-C": 1, "-j": 1, "-l": 1], operandsAreCode: true, readsInput: false),
      "su": Interpreter(code: "c", codeWords: ["--command"], letters: "gGsw", permutes: true),
      "script": Interpreter(
        code: "c", codeWords: ["--command"], letters: "EIOBTmo", permutes: true),
      "bc": Interpreter(),
      "dc": Interpreter(code: "e"),
    ]
    func add(_ names: [String], _ interpreter: Interpreter) {
      for name in names { table[name] = interpreter }
    }
    add(
      [
        "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "yash", "fish", "csh", "tcsh", "nu",
        "xonsh",
        "elvish", "rc", "es", "posh", "sash", "osh", "ysh", "ion", "rbash", "lksh",
      ],
      Interpreter(letters: "oO", isShell: true))
    add(["python", "pypy"], Interpreter(code: "c", letters: "mWXQ", endsAtCode: true))
    add(
      ["node", "nodejs", "bun", "ts-node", "tsx"],
      Interpreter(code: "ep", codeWords: ["--eval", "--print"], letters: "rC"))
    add(["lua", "luajit", "texlua"], Interpreter(code: "e", letters: "l"))
    add(
      ["awk", "gawk", "mawk", "nawk"],
      Interpreter(
        code: "e", codeWords: ["--source"], letters: "fEilvF", isFirstOperand: true,
        readsInput: false))
    add(
      ["mysql", "mariadb"],
      Interpreter(
        code: "e", codeWords: ["--execute", "--init-command"], letters: "uhPDS", permutes: true))
    add(["gmake", "bmake"], Interpreter(operandsAreCode: true, readsInput: false))
    table["runuser"] = table["su"]
    return table
  }()
}
