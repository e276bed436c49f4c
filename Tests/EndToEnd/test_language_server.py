#!/usr/bin/env python3
"""Serves a client of the Language Server Protocol (pygls) that types, asks, renames and leaves.

usage: test_language_server.py PATH_TO_WEFT
"""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from lib import cases

LIMIT = 20
TEXT = json.dumps({
    "inputs": {"version": {"type": "string", "default": "1"}},
    "steps": [
        {"id": "build", "run": ["echo", "v${{ inputs.version }}"]},
        {"id": "test", "needs": ["build"], "run": "true", "if": "steps.build.outcome == 'success'"}],
}, indent=2)


class Editor:
    """One document, open in a client."""

    def __init__(self, weft):
        self.weft = weft
        self.client = LanguageClient("test", "1")
        self.problems = asyncio.Queue()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(parameters):
            self.problems.put_nowait(parameters)

    async def open(self, path, text):
        self.uri, self.text, self.version = path.as_uri(), text, 1
        await self.client.start_io(self.weft, "lsp", "--stdio")
        answer = await self.client.initialize_async(types.InitializeParams(
            capabilities=types.ClientCapabilities(), root_uri=path.parent.as_uri()))
        assert answer.server_info.name == "weft", answer
        self.client.initialized(types.InitializedParams())
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(
            text_document=types.TextDocumentItem(self.uri, "json", 1, text)))

    def type(self, before, new):
        """Replaces a text, as a change of its range."""
        start = self.text.index(before)
        span = types.Range(self.position(start), self.position(start + len(before)))
        self.text = self.text.replace(before, new, 1)
        self.version += 1
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(
            text_document=types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri),
            content_changes=[types.TextDocumentContentChangePartial(text=new, range=span)]))

    def position(self, offset):
        lines = self.text[:offset].split("\n")
        return types.Position(len(lines) - 1, len(lines[-1]))

    def at(self, before):
        """The position in a text."""
        return {"text_document": types.TextDocumentIdentifier(self.uri),
                "position": self.position(self.text.index(before) + 1)}

    async def codes(self):
        """The codes of the problems of the present text."""
        while True:
            found = await asyncio.wait_for(self.problems.get(), LIMIT)
            if found.version == self.version:
                return sorted(problem.code for problem in found.diagnostics)

    def apply(self, edits):
        lines = self.text.split("\n")
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
            assert edit.range.start.line == edit.range.end.line, edit
            line = lines[edit.range.start.line]
            lines[edit.range.start.line] = (
                line[:edit.range.start.character] + edit.new_text + line[edit.range.end.character:])
        return "\n".join(lines)


def edited(body):
    def case(weft):
        async def session(path):
            editor = Editor(weft)
            await asyncio.wait_for(editor.open(path / "weft.json", TEXT), LIMIT)
            await asyncio.wait_for(body(editor), 3 * LIMIT)
            await asyncio.wait_for(editor.client.shutdown_async(None), LIMIT)
            editor.client.exit(None)
            code = await asyncio.wait_for(editor.client._server.wait(), LIMIT)
            assert code == 0, code
            await editor.client.stop()

        with tempfile.TemporaryDirectory() as path:
            asyncio.run(session(pathlib.Path(path)))
    return case


@edited
async def diagnostics(editor):
    async def expect(*codes):
        found = await editor.codes()
        assert found == sorted(codes), (editor.text, found)

    await expect()
    editor.type('"needs": [', '"neds": [')
    await expect("W0103")
    editor.type('"neds": [', '"needs": ["nobody", ')
    await expect("W0203")
    editor.type('"nobody", ', "")
    await expect()
    # While a text is not JSON, it says so, and goes on.
    editor.type('"needs": [', '"needs": [}')
    codes = await editor.codes()
    assert codes and codes[0].startswith("W00"), codes
    editor.type('"needs": [}', '"needs": [')
    await expect()


@edited
async def questions(editor):
    client = editor.client
    hover = await client.text_document_hover_async(types.HoverParams(**editor.at('needs"')))
    assert "Dependencies" in hover.contents.value, hover
    hover = await client.text_document_hover_async(types.HoverParams(**editor.at('test",')))
    assert "Waits for `build`." in hover.contents.value, hover
    place = await client.text_document_definition_async(types.DefinitionParams(**editor.at("build.outcome")))
    start = editor.position(editor.text.index('build"'))
    assert (place.uri, place.range.start) == (editor.uri, start), place
    found = await client.text_document_completion_async(types.CompletionParams(**editor.at("build.outcome")))
    # The step itself cannot be read there.
    assert [item.label for item in found] == ["build"], found
    symbols = await client.text_document_document_symbol_async(
        types.DocumentSymbolParams(types.TextDocumentIdentifier(editor.uri)))
    assert [symbol.name for symbol in symbols] == ["build", "test"], symbols


@edited
async def renaming(editor):
    edit = await editor.client.text_document_rename_async(
        types.RenameParams(new_name="make", **editor.at("build.outcome")))
    text = editor.apply(edit.changes[editor.uri])
    assert text == editor.text.replace("build", "make"), text


class Several(Editor):
    """Several documents of one folder, open in a client; the last one that was opened is current."""

    async def start(self, path):
        self.path = path
        (path / "weft.json").write_text(TEXT)
        await self.open(path / "weft.json", TEXT)
        self.found = {}

    def also(self, name, text):
        self.uri, self.text, self.version = (self.path / name).as_uri(), text, 1
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(
            text_document=types.TextDocumentItem(self.uri, "json", 1, text)))

    async def until(self, name, *codes):
        """Waits until a document has just these problems."""
        uri = (self.path / name).as_uri()
        while self.found.get(uri) != sorted(codes):
            try:
                found = await asyncio.wait_for(self.problems.get(), LIMIT)
            except TimeoutError:
                raise AssertionError((name, codes, self.found)) from None
            self.found[found.uri] = sorted(problem.code for problem in found.diagnostics)


def several_files(weft):
    """files that an open file names are read as their editors show them; test files are checked as such"""
    async def session(path):
        editor = Several(weft)
        await asyncio.wait_for(editor.start(path), LIMIT)
        inner = json.dumps({"inputs": {"n": {"default": 1}}, "steps": ["echo ${{ inputs.n }}"]})
        (path / "inner.json").write_text("nothing")
        editor.also("inner.json", inner)
        editor.also("outer.json", json.dumps({"steps": [{"workflow": "inner.json", "with": {"n": 2}}]}))
        await editor.until("outer.json")
        outer = editor.uri, editor.text, editor.version
        editor.uri, editor.text, editor.version = (path / "inner.json").as_uri(), inner, 1
        editor.type('{"n": {"default": 1}}', '{"m": {}}')
        await editor.until("outer.json", "W0221", "W0222", "W0314")
        editor.type('{"m": {}}', '{"n": {"default": 1}}')
        await editor.until("outer.json")
        editor.uri, editor.text, editor.version = outer
        # A closed document is again what its file says.
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(
            types.TextDocumentIdentifier((path / "inner.json").as_uri())))
        await editor.until("outer.json", "W0017")
        # The workflow of a test file is the one in the editor, too.
        editor.also("weft.test.json", json.dumps(
            {"workflow": "weft.json", "steps": {"*": {}}, "cases": [{"name": "a", "expect": {"steps": {"tset": "success"}}}]}))
        await editor.until("weft.test.json", "W0701")
        editor.type("tset", "test")
        await editor.until("weft.test.json")
        found = await editor.client.text_document_completion_async(types.CompletionParams(**editor.at('name": "a"')))
        assert {"expect", "orders", "interrupt"} & {item.label for item in found}, found
        await asyncio.wait_for(editor.client.shutdown_async(None), LIMIT)
        editor.client.exit(None)
        await editor.client.stop()

    with tempfile.TemporaryDirectory() as path:
        asyncio.run(session(pathlib.Path(path).resolve()))


@edited
async def formatting(editor):
    edits = await editor.client.text_document_formatting_async(types.DocumentFormattingParams(
        types.TextDocumentIdentifier(editor.uri), types.FormattingOptions(2, True)))
    expected = subprocess.run([editor.weft, "fmt", "-"], input=editor.text, capture_output=True, text=True, check=True)
    assert [edit.new_text for edit in edits] == [expected.stdout], edits


def configuration(weft):
    """a problem of the configuration is shown in each document, without consequences, until it is mended"""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "config.jsonc"
        file.write_text('{"runners": {"far": {"kind": "ssh"}}}')

        @edited
        async def session(editor):
            assert await editor.codes() == ["W0113"]
            editor.type('"if":', '"runner": "far", "if":')
            assert await editor.codes() == ["W0113"]
            file.write_text('{"runners": {"far": {"kind": "ssh", "hosts": ["h"]}}}')
            editor.type('"default": "1"', '"default": "2"')
            assert await editor.codes() == []

        os.environ["WEFT_CONFIG"] = str(file)
        try:
            session(weft)
        finally:
            del os.environ["WEFT_CONFIG"]


def no_client(weft):
    result = subprocess.run([weft, "lsp"], input="hello\n" * 2000, capture_output=True, text=True, timeout=LIMIT)
    assert result.returncode == 4 and "protocol" in result.stderr, result
    result = subprocess.run([weft, "lsp"], input="", capture_output=True, text=True, timeout=LIMIT)
    assert (result.returncode, result.stdout, result.stderr) == (1, "", ""), result


if __name__ == "__main__":
    sys.exit(cases.run(__doc__, [
        ("problems follow what is typed", diagnostics),
        ("questions about names and keys are answered", questions),
        several_files,
        configuration,
        ("an id is renamed everywhere", renaming),
        ("a text is formatted as by weft fmt", formatting),
        ("what is no client is told, and one that is gone ends it", no_client),
    ]))
