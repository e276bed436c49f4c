/// A picture in one self-contained page: it needs no network, and a policy forbids it any.
///
/// The page moves and zooms by wheel, pointer and keyboard; without scripts it shows the whole drawing.
package enum HTMLPage {
  package static func rendered(_ picture: Picture) -> [UInt8] {
    var page = Markup()
    page.append(
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-ybcNsmq7+57tSWkE9CwwjVURfIvwF81U0SNGRGkCJiE='">
      <meta name="viewport" content="width=device-width">
      <meta name="color-scheme" content="light dark">
      <title>
      """)
    page.append(text: picture.title)
    page.append("</title>\n<style>\n")
    page.append(style)
    page.append("</style>\n</head>\n<body>\n<main tabindex=\"0\" aria-label=\"graph\">\n")
    var bytes = page.bytes + SVGWriter.element(picture)
    var end = Markup()
    end.append("<p>Wheel or + and − zoom, drag or the arrow keys move, 0 shows all.</p>\n</main>\n")
    end.append("<script>")
    end.append(script)
    end.append("</script>\n</body>\n</html>\n")
    bytes += end.bytes
    return bytes
  }

  private static let style: StaticString = """
    html, body { margin: 0; height: 100%; background: #ffffff; color: #475569; }
    main { height: 100%; overflow: auto; }
    main svg { display: block; margin: 0 auto; }
    .moving svg { width: 100%; height: 100%; cursor: grab; touch-action: none; }
    .moving { overflow: hidden; }
    p { position: fixed; bottom: 0; right: 0; margin: 0; padding: 4px 10px; font: 12px Helvetica, Arial, sans-serif; opacity: 0.8; }
    @media (prefers-color-scheme: dark) { html, body { background: #0f172a; color: #a8b5c8; } }
    @media print { p { display: none; } main { height: auto; overflow: visible; } main svg { width: 100%; height: auto; } }

    """

  /// The script of the page. The policy names it by its SHA-256.
  private static let script: StaticString = """

    (function () {
      "use strict";
      var main = document.querySelector("main"), svg = main.querySelector("svg");
      var whole = svg.viewBox.baseVal, view = { x: 0, y: 0, w: whole.width, h: whole.height };
      var size = { w: whole.width, h: whole.height };
      function show() { svg.setAttribute("viewBox", [view.x, view.y, view.w, view.h].join(" ")); }
      function scale() { return Math.min(main.clientWidth / view.w, main.clientHeight / view.h); }
      function all() { view = { x: 0, y: 0, w: size.w, h: size.h }; show(); }
      function zoom(factor, x, y) {
        factor = Math.min(Math.max(factor, view.w / (8 * size.w)), view.w * 20 / size.w);
        view = { x: x - (x - view.x) / factor, y: y - (y - view.y) / factor, w: view.w / factor, h: view.h / factor };
        show();
      }
      function place(event) {
        var box = svg.getBoundingClientRect(), s = scale();
        return {
          x: view.x + view.w / 2 + (event.clientX - box.left - box.width / 2) / s,
          y: view.y + (event.clientY - box.top) / s
        };
      }
      function move(x, y) { view.x += x; view.y += y; show(); }
      main.classList.add("moving");
      svg.addEventListener("wheel", function (event) {
        var at = place(event);
        event.preventDefault();
        zoom(Math.exp(-event.deltaY / 400), at.x, at.y);
      }, { passive: false });
      svg.addEventListener("pointerdown", function (event) { svg.setPointerCapture(event.pointerId); });
      svg.addEventListener("pointermove", function (event) {
        if (event.buttons & 1) { move(-event.movementX / scale(), -event.movementY / scale()); }
      });
      main.addEventListener("keydown", function (event) {
        var step = 60 / scale(), x = view.x + view.w / 2, y = view.y + view.h / 2;
        switch (event.key) {
        case "+": case "=": zoom(1.25, x, y); break;
        case "-": zoom(0.8, x, y); break;
        case "0": all(); break;
        case "ArrowLeft": move(-step, 0); break;
        case "ArrowRight": move(step, 0); break;
        case "ArrowUp": move(0, -step); break;
        case "ArrowDown": move(0, step); break;
        default: return;
        }
        event.preventDefault();
      });
      window.addEventListener("beforeprint", all);
      svg.setAttribute("preserveAspectRatio", "xMidYMin meet");
      if (scale() < 0.6) {
        // A large drawing begins readable, at its top.
        view.w = Math.min(size.w, main.clientWidth / 0.8);
        view.h = view.w * main.clientHeight / main.clientWidth;
        view.x = (size.w - view.w) / 2;
        show();
      }
    })();

    """
}

/// XML that is being written, as bytes in UTF-8.
package struct Markup: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(_ text: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  package mutating func append(_ number: Int) { bytes.append(contentsOf: String(number).utf8) }

  package mutating func append(_ other: Markup) { bytes += other.bytes }

  /// Appends an attribute with a number.
  package mutating func append(_ name: StaticString, _ number: Int) {
    append(" ")
    append(name)
    append("=\"")
    append(number)
    append("\"")
  }

  /// Appends text as content or as the value of an attribute. No text ends an element, and characters that XML 1.0 §2.2
  /// forbids or discourages, or that reorder text, become U+FFFD.
  package mutating func append(text: String) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": append("&amp;")
      case "<": append("&lt;")
      case ">": append("&gt;")
      case "\"": append("&quot;")
      case "'": append("&#39;")
      case _ where Markup.isShown(scalar): bytes.append(contentsOf: UTF8.encode(scalar)!)
      default: append("\u{FFFD}")
      }
    }
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A: true
    case ..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: false
    case 0xFDD0...0xFDEF: false
    default: scalar.value & 0xFFFE != 0xFFFE
    }
  }
}
