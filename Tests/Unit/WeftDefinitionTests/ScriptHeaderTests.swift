import Testing

@testable import WeftDefinition

/// The shell that the first line of a script file names.
struct ScriptHeaderTests {
  @Test(arguments: [
    ("#!/bin/sh", ["/bin/sh", "-e", "-c"]),
    ("#!/bin/sh\ntrue\n", ["/bin/sh", "-e", "-c"]),
    ("#! /bin/bash \t", ["/bin/bash", "-eo", "pipefail", "-c"]),
    ("#!/bin/bash -", ["/bin/bash", "-eo", "pipefail", "-c"]),
    ("#!/bin/bash -eu", ["/bin/bash", "-eo", "pipefail", "-eu", "-c"]),
    ("#!/bin/bash --norc", ["/bin/bash", "-eo", "pipefail", "--norc", "-c"]),
    ("#!/usr/bin/env bash", ["bash", "-eo", "pipefail", "-c"]),
    (
      "#!/usr/bin/env -S bash -euo pipefail",
      ["bash", "-eo", "pipefail", "-euo", "pipefail", "-c"]
    ),
    ("#!/usr/bin/env python3", ["python3", "-c"]),
    ("#!/usr/bin/python3 -I", ["/usr/bin/python3", "-I", "-c"]),
    ("#!/bin/dash", ["/bin/dash", "-e", "-c"]),
    ("#!/usr/bin/zsh -f", ["/usr/bin/zsh", "-eo", "pipefail", "-f", "-c"]),
  ])
  func aShellIsRunAsByItsName(script: String, prefix: [String]) {
    #expect(ScriptHeader(script) == .shell(Shell(prefix: prefix)))
  }

  @Test(arguments: [
    ("#!/usr/bin/perl -w", "/usr/bin/perl -w"),
    ("#!/usr/bin/env node", "/usr/bin/env node"),
    ("#!/usr/bin/env A=b bash", "/usr/bin/env A=b bash"),
    ("#!/usr/bin/env", "/usr/bin/env"),
    ("#!/usr/bin/env -S", "/usr/bin/env -S"),
    ("#!/bin/bash -c", "/bin/bash -c"),
    ("#!/bin/bash -eo", "/bin/bash -eo"),
    ("#!/bin/sh script", "/bin/sh script"),
    ("#!/bin/sh\r\ntrue", "/bin/sh\r"),
    ("#!/bin/shell", "/bin/shell"),
    ("#!", ""),
    ("#!\n", ""),
  ])
  func anotherProgramIsNoShell(script: String, program: String) {
    #expect(ScriptHeader(script) == .unknown(program))
  }

  @Test(arguments: [
    "", "true", "# !/bin/bash", " #!/bin/bash", "\n#!/bin/bash", "#", "#\n!/bin/sh",
  ])
  func onlyTheBeginningOfTheFileNamesOne(script: String) {
    #expect(ScriptHeader(script) == .none)
  }
}
