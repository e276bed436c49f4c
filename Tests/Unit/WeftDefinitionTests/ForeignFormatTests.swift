import Testing
import WeftDiagnostics

@testable import WeftDefinition

/// A text in which ⟦…⟧ marks what names its format.
struct ForeignFile: Sendable, CustomTestStringConvertible {
  let name: String
  let text: String
  let range: Range<Int>

  init(_ name: String, _ marked: String) {
    let parts = marked.split(omittingEmptySubsequences: false) { "⟦⟧".contains($0) }
    self.name = name
    text = parts.joined()
    range = parts[0].utf8.count..<(parts[0].utf8.count + parts[1].utf8.count)
  }

  /// JSON of another program is no workflow for another reason than its language.
  var reason: String { text.hasPrefix("{") ? ", not a workflow" : "; Weft reads JSON" }

  var testDescription: String { "\(name): \(text.debugDescription)" }
}

struct ForeignFormatTests {
  @Test(arguments: files)
  func fileOfAnotherProgramIsNamed(file: ForeignFile) throws {
    let found = WorkflowDecoder.decode(SourceFile(path: "a", bytes: Array(file.text.utf8)))
    #expect(found.workflow == nil && found.diagnostics.count == 1)
    let diagnostic = try #require(found.diagnostics.first)
    #expect(diagnostic.message == "this looks like \(file.name)\(file.reason)")
    #expect(diagnostic.code == "W0026" && diagnostic.help != nil)
    let range = try #require(diagnostic.place).range
    #expect(Int(range.start)..<Int(range.end) == file.range)
  }

  @Test("lines of Windows and a byte order mark change nothing", arguments: files)
  func fileOfWindowsIsNamed(file: ForeignFile) throws {
    let text =
      "\u{FEFF}"
      + file.text.split(separator: "\n", omittingEmptySubsequences: false)
      .joined(separator: "\r\n")
    let found = WorkflowDecoder.decode(SourceFile(path: "a", bytes: Array(text.utf8)))
    let diagnostic = try #require(found.diagnostics.first)
    #expect(diagnostic.message == "this looks like \(file.name)\(file.reason)")
  }

  @Test(
    "JSON with mistakes is reported as such",
    arguments: [
      "{steps: [\"make\"]}", "{\n  \"steps\": [\n\t\"make\"\n", "[\n  build:\n    make\n]",
      "\"steps\": [\"make\"]", "// all\n{\"steps\": []}", "None", "'a'", "", "{\"jobs\": []}",
      "{\"tasks\": [{\"run\": \"make\"}]}", "{\"scripts\": \"a\"}", "{\"steps\": [], \"jobs\": {}}",
      "{\"parallel\": {}, \"services\": {}}", "[\"a\",\n\"b\"", "[package]", "007", "\u{0}\u{1}",
    ])
  func mistakeInJSONIsNoForeignFormat(text: String) {
    let found = WorkflowDecoder.decode(SourceFile(path: "a", bytes: Array(text.utf8)))
    #expect(!found.diagnostics.contains { $0.code == "W0026" })
  }

  @Test(
    "no text is too strange",
    arguments: [
      [UInt8](repeating: UInt8(ascii: ":"), count: 200_000),
      [UInt8](repeating: UInt8(ascii: "\n"), count: 200_000), [0xFF, 0xFE, 0x0A, 0x09, 0x3A],
      Array("a:\n\t\u{0}".utf8), Array("é:\n é\n".utf8) + [0xC3],
      [0x61, 0xFF, 0x3A, 0x0A, 0x20, 0xFF, 0x0A], Array(":\n:".utf8),
    ])
  func strangeTextIsRejected(bytes: [UInt8]) {
    let found = WorkflowDecoder.decode(SourceFile(path: "a", bytes: bytes))
    #expect(found.diagnostics.contains { $0.isError })
    for place in found.diagnostics.compactMap(\.place) {
      #expect(place.range.start <= place.range.end && Int(place.range.end) <= bytes.count)
    }
  }

  static let files = [
    ForeignFile("YAML", "⟦steps⟧:\n  - run: true\n"),
    ForeignFile("YAML", "# all\n⟦a⟧: 1"),
    ForeignFile("YAML", "⟦---⟧\nsteps:\n- run: |\n    make all\n"),
    ForeignFile("YAML", "⟦- name: a⟧\n  run: make\n"),
    ForeignFile(
      "a GitHub workflow",
      "name: ci\non: [push]\n⟦jobs⟧:\n  test:\n    steps:\n      - run: |\n          make: all\n"),
    ForeignFile("a GitHub workflow", #"{"on": ["push"], ⟦"jobs"⟧: {"a": {"steps": []}}}"#),
    ForeignFile("a Taskfile", "version: '3'\n\n⟦tasks⟧:\n  a:\n    cmds: [make]\n"),
    ForeignFile("a Taskfile", #"{"version": "3", ⟦"tasks"⟧: {"a": {"cmds": ["make"]}}}"#),
    ForeignFile("the tasks of VS Code", #"{"version": "2.0.0", ⟦"tasks"⟧: [{"label": "a"}]}"#),
    ForeignFile("a file of docker compose", "⟦services⟧:\n  db:\n    image: redis\n"),
    ForeignFile("a GitLab pipeline", "⟦stages⟧:\n- build\nbuild:\n  script:\n  - make\n"),
    ForeignFile("a package.json", #"{"name": "a", ⟦"scripts"⟧: {"build": "tsc"}}"#),
    ForeignFile(
      "a state machine of Step Functions", #"{"StartAt": "A", ⟦"States"⟧: {"A": {"Type": "Pass"}}}"#
    ),
    ForeignFile("a Makefile", "CC = gcc\n# all\n⟦.PHONY: all⟧\nall: a.o\n"),
    ForeignFile("a Makefile", "⟦all: a.o b.o⟧\n\tcc -o all a.o b.o\n"),
    ForeignFile("a Makefile", "⟦CC := gcc⟧\ninclude rules.mk\n"),
    ForeignFile("a justfile", "⟦build:⟧\n    cargo build\n"),
    ForeignFile("a justfile", "# all\n⟦test name: build⟧\n  @cargo test {{name}}\n"),
    ForeignFile("a justfile", "⟦set shell := [\"bash\", \"-c\"]⟧\n"),
    ForeignFile("a file of ninja", "⟦rule cc⟧\n  command = cc -c $in\nbuild a.o: cc a.c\n"),
    ForeignFile(
      "a file of ninja", "cflags = -O2\n⟦build a.o: cc a.c⟧\nrule cc\n  command = cc $in\n"),
    ForeignFile("a Snakefile", "⟦rule all:⟧\n    input:\n        \"a.txt\"\n"),
    ForeignFile(
      "a script of Nextflow",
      "params.reads = 'data'\n⟦process ALIGN {⟧\n    input:\n    path x\n    script:\n    'bwa'\n}\n"
    ),
    ForeignFile("a script of Nextflow", "⟦nextflow.enable.dsl = 2⟧\nworkflow {\n}\n"),
    ForeignFile("a Dockerfile", "# syntax\n⟦FROM debian:12⟧\nRUN true\n"),
    ForeignFile("TOML", "title = \"a\"\n⟦[package]⟧\nname = \"x\"\n"),
    ForeignFile("XML", "⟦<?xml version=\"1.0\"?>⟧\n<project/>\n"),
    ForeignFile("a script", "⟦#!/bin/sh⟧\nset -e\nmake\n"),
  ]
}
