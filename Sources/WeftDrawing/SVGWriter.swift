/// A picture as SVG 1.1.
///
/// Viewers choose colours for a light or dark background; shapes, signs and words carry the meaning. Nothing in it
/// executes, and it refers to nothing outside.
package struct SVGWriter {
  private static let border = 24
  private static let titleSize = 17
  private static let lineHeight = 18

  private let picture: Picture
  private let layout: Layout
  private var svg = Markup()

  /// The content of the `style` element, for a policy that allows it by its hash.
  package static var style: Markup {
    var style = Markup()
    style.append("\n")
    style.append(SVGStyle.text)
    return style
  }

  /// The whole file. A picture of more than ``Picture/largest`` boxes is reduced first.
  package static func rendered(_ picture: Picture) -> [UInt8] {
    var bytes = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
    bytes += element(picture)
    return bytes
  }

  /// The `svg` element, which may be a part of a page.
  package static func element(_ picture: Picture) -> [UInt8] {
    let picture = picture.reduced()
    var writer = SVGWriter(picture, Layout(of: picture.graph))
    writer.write()
    return writer.svg.bytes
  }

  private init(_ picture: Picture, _ layout: Layout) {
    self.picture = picture
    self.layout = layout
  }

  // MARK: The whole

  private var headHeight: Int {
    SVGWriter.titleSize + 8 + picture.summary.count * SVGWriter.lineHeight + 10
  }

  private var headWidth: Int {
    picture.summary.map { TextWidth.pixels($0, .sans, size: 12) }
      .reduce(TextWidth.pixels(picture.title, .bold, size: SVGWriter.titleSize), max)
  }

  private mutating func write() {
    let width = max(layout.size.width, headWidth) + 2 * SVGWriter.border
    let height = headHeight + layout.size.height + 2 * SVGWriter.border
    svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph\" role=\"img\"")
    svg.append(" aria-labelledby=\"graph-title graph-description\"")
    svg.append("width", width)
    svg.append("height", height)
    svg.append(" viewBox=\"0 0 ")
    svg.append(width)
    svg.append(" ")
    svg.append(height)
    svg.append("\">\n<title id=\"graph-title\">")
    svg.append(text: picture.title)
    svg.append("</title>\n<desc id=\"graph-description\">")
    svg.append(text: picture.summary.joined(separator: "\n"))
    svg.append("</desc>\n<style>")
    svg.append(SVGWriter.style)
    svg.append("</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n")
    writeHead()
    svg.append("<g transform=\"translate(")
    svg.append(SVGWriter.border + max(headWidth - layout.size.width, 0) / 2)
    svg.append(" ")
    svg.append(SVGWriter.border + headHeight)
    svg.append(")\">\n")
    for index in picture.groups.indices { writeFrame(index) }
    writeEdges()
    for index in picture.groups.indices { writeTitle(index) }
    for index in picture.nodes.indices { writeNode(index) }
    svg.append("</g>\n</svg>\n")
  }

  private mutating func writeHead() {
    var y = SVGWriter.border + SVGWriter.titleSize
    let title = TextWidth.pixels(picture.title, .bold, size: SVGWriter.titleSize)
    write(text: picture.title, "title", x: SVGWriter.border, y: y, width: title)
    y += 8
    for line in picture.summary {
      y += SVGWriter.lineHeight
      let width = TextWidth.pixels(line, .sans, size: 12)
      write(text: line, "summary", x: SVGWriter.border, y: y - 4, width: width)
    }
  }

  // MARK: Groups

  private mutating func writeFrame(_ index: Int) {
    let group = picture.groups[index]
    svg.append("<g class=\"group ")
    svg.append(text: group.frame.rawValue)
    write(classes: group.traits)
    svg.append("\"")
    svg.append("data-group", index)
    if let parent = group.parent { svg.append("data-parent", parent) }
    svg.append(">")
    write(description: group.description)
    write(frame: group.frame, writeStack(below: layout.groups[index], group.traits))
    svg.append("</g>\n")
  }

  /// Writes a frame: square for a sequence, round for parallel steps, with cut corners for a race, with a bar on the
  /// left for another file.
  private mutating func write(frame: Picture.Group.Frame, _ box: Box) {
    switch frame {
    case .sequence: write(rectangle: box, radius: 3)
    case .parallel: write(rectangle: box, radius: 16)
    case .file:
      write(rectangle: box, radius: 3)
      writeBar(box, "frame")
    case .race: write(octagon: box)
    }
  }

  /// Writes what is visible of the boxes of a stack, if it is one, and returns the box on top.
  private mutating func writeStack(below whole: Box, _ traits: Picture.Traits) -> Box {
    guard traits.contains(.many) else { return whole }
    let size = Size(
      width: whole.size.width - LabelMetrics.stack, height: whole.size.height - LabelMetrics.stack)
    let box = Box(origin: whole.origin, size: size)
    writeCorner(box, LabelMetrics.stack / 2)
    writeCorner(box, LabelMetrics.stack)
    return box
  }

  /// Writes what is visible of a box that is below the first of a stack.
  private mutating func writeCorner(_ box: Box, _ shift: Int) {
    write(path: "back") { svg in
      svg.append("M")
      svg.append(Point(x: box.right + shift - LabelMetrics.stack / 2, y: box.top + shift))
      svg.append("h")
      svg.append(LabelMetrics.stack / 2)
      svg.append("V")
      svg.append(box.bottom + shift)
      svg.append("H")
      svg.append(box.left + shift)
      svg.append("v")
      svg.append(-LabelMetrics.stack / 2)
    }
  }

  private mutating func write(octagon box: Box) {
    let cut = 12
    let (left, right) = (box.left, box.right)
    let (top, bottom) = (box.top, box.bottom)
    svg.append("<polygon class=\"box\" points=\"")
    for point in [
      Point(x: left + cut, y: top), Point(x: right - cut, y: top), Point(x: right, y: top + cut),
      Point(x: right, y: bottom - cut), Point(x: right - cut, y: bottom),
      Point(x: left + cut, y: bottom), Point(x: left, y: bottom - cut),
      Point(x: left, y: top + cut),
    ] {
      svg.append(point)
      svg.append(" ")
    }
    svg.append("\"/>")
  }

  private mutating func writeTitle(_ index: Int) {
    let (group, box) = (picture.groups[index], layout.groups[index])
    svg.append("<g class=\"label")
    write(classes: group.traits)
    svg.append("\">")
    write(group.lines, box.origin)
    svg.append("</g>\n")
  }

  // MARK: Nodes

  private mutating func writeNode(_ index: Int) {
    let node = picture.nodes[index]
    svg.append("<g class=\"node")
    write(classes: node.traits)
    svg.append("\"")
    svg.append("data-node", index)
    if let group = node.group { svg.append("data-parent", group) }
    svg.append(">")
    write(description: node.description)
    let box = writeStack(below: layout.nodes[index], node.traits)
    write(rectangle: box, radius: 7)
    if node.traits.contains(.cached) { writeBar(box, "bar") }
    write(node.lines, box.origin)
    svg.append("</g>\n")
  }

  /// Writes a second line inside the left border.
  private mutating func writeBar(_ box: Box, _ style: StaticString) {
    write(path: style) { svg in
      svg.append("M")
      svg.append(Point(x: box.left + 5, y: box.top))
      svg.append("V")
      svg.append(box.bottom)
    }
  }

  private mutating func write(classes traits: Picture.Traits) {
    if traits.contains(.critical) { svg.append(" critical") }
    if traits.contains(.skipped) { svg.append(" skipped") }
    if traits.contains(.cached) { svg.append(" cached") }
    if traits.contains(.cleanup) { svg.append(" cleanup") }
    if traits.contains(.many) { svg.append(" many") }
    if traits.contains(.succeeded) { svg.append(" succeeded") }
    if traits.contains(.failed) { svg.append(" failed") }
    if traits.contains(.tolerated) { svg.append(" tolerated") }
    if traits.contains(.cancelled) { svg.append(" cancelled") }
    if traits.contains(.interrupted) { svg.append(" interrupted") }
  }

  private mutating func write(description: String) {
    guard !description.isEmpty else { return }
    svg.append("<title>")
    svg.append(text: description)
    svg.append("</title>")
  }

  // MARK: Edges

  /// Writes the edges; critical ones are above the others.
  private mutating func writeEdges() {
    for index in picture.edges.indices where !picture.edges[index].isCritical { writeEdge(index) }
    for index in picture.edges.indices where picture.edges[index].isCritical { writeEdge(index) }
  }

  private mutating func writeEdge(_ index: Int) {
    let (edge, line) = (picture.edges[index], layout.lines[index])
    guard line.count > 1 else { return }
    svg.append("<g class=\"edge")
    if edge.isWeak { svg.append(" weak") }
    if edge.isCritical { svg.append(" critical") }
    svg.append("\"")
    write(end: edge.from, "data-from")
    write(end: edge.to, "data-to")
    svg.append(">")
    write(path: "line") { $0.append(line) }
    write(path: "head") { $0.append(arrowAtEndOf: line) }
    svg.append("</g>\n")
  }

  private mutating func write(end: Graph.End, _ name: StaticString) {
    svg.append(" ")
    svg.append(name)
    switch end {
    case .node(let index):
      svg.append("=\"n")
      svg.append(index)
    case .group(let index):
      svg.append("=\"g")
      svg.append(index)
    }
    svg.append("\"")
  }

  // MARK: Elements

  private mutating func write(_ lines: [Picture.Line], _ origin: Point) {
    var y = origin.y + LabelMetrics.vertical
    for line in lines {
      y += LabelMetrics.height(of: line.style)
      let x = origin.x + LabelMetrics.horizontal
      if let sign = line.sign {
        svg.append("<path class=\"sign\" transform=\"translate(")
        svg.append(x)
        svg.append(" ")
        svg.append(y - 4 - LabelMetrics.sign + 1)
        svg.append(")\" d=\"")
        svg.append(SVGStyle.path(of: sign))
        svg.append("\"/>")
      }
      let style: StaticString =
        switch line.style {
        case .name: "name"
        case .command: "command"
        case .remark: "remark"
        }
      write(
        text: line.text, style, x: x + LabelMetrics.indent(of: line), y: y - 4,
        width: LabelMetrics.width(of: line))
    }
  }

  private mutating func write(
    text: String, _ style: StaticString, x: Int, y: Int, width: Int
  ) {
    guard width > 0 else { return }
    svg.append("<text class=\"")
    svg.append(style)
    svg.append("\"")
    svg.append("x", x)
    svg.append("y", y)
    svg.append("textLength", width)
    svg.append(" lengthAdjust=\"spacingAndGlyphs\">")
    svg.append(text: text)
    svg.append("</text>")
  }

  private mutating func write(rectangle box: Box, radius: Int) {
    svg.append("<rect class=\"box\"")
    svg.append("x", box.left)
    svg.append("y", box.top)
    svg.append("width", box.size.width)
    svg.append("height", box.size.height)
    svg.append("rx", radius)
    svg.append("/>")
  }

  private mutating func write(path style: StaticString, _ draw: (inout Markup) -> Void) {
    svg.append("<path class=\"")
    svg.append(style)
    svg.append("\" d=\"")
    draw(&svg)
    svg.append("\"/>")
  }
}

extension Markup {
  fileprivate mutating func append(_ point: Point) {
    append(point.x)
    append(" ")
    append(point.y)
  }

  /// Appends a line, with curves where it goes to the side.
  fileprivate mutating func append(_ line: [Point]) {
    append("M")
    append(line[0])
    for (start, end) in zip(line, line.dropFirst()) {
      if start.x == end.x {
        append("V")
        append(end.y)
      } else {
        let middle = (start.y + end.y) / 2
        append("C")
        append(Point(x: start.x, y: middle))
        append(" ")
        append(Point(x: end.x, y: middle))
        append(" ")
        append(end)
      }
    }
  }

  /// Appends an arrowhead. The end of a line is vertical.
  fileprivate mutating func append(arrowAtEndOf line: [Point]) {
    let end = line[line.count - 1]
    let back = line[line.count - 2].y < end.y ? -8 : 8
    append("M")
    append(end)
    append("l-4 ")
    append(back)
    append("h8Z")
  }
}
