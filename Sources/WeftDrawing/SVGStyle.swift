/// The look of drawings.
enum SVGStyle {
  /// The rules for a light background, then for a dark one, then for paper. Without `<`, `>` and `&`, so that they are the same in
  /// XML and HTML.
  static let text: StaticString = """
    .graph { color-scheme: light dark; font-family: Helvetica, Arial, "Liberation Sans", sans-serif; }
    .paper { fill: #ffffff; }
    text { fill: #0f172a; font-size: 11px; white-space: pre; }
    .title { font-size: 17px; font-weight: bold; }
    .summary { font-size: 12px; fill: #475569; }
    .name { font-size: 13px; font-weight: bold; }
    .command { font-family: "Liberation Mono", Menlo, Consolas, monospace; fill: #334155; }
    .remark { fill: #475569; }
    .box, .back, .frame, .bar { fill: none; stroke: #64748b; stroke-width: 1.2; }
    .node .box { fill: #f8fafc; }
    .group .box { fill: #64748b; fill-opacity: 0.07; stroke: #94a3b8; }
    .group .frame, .group .back { stroke: #94a3b8; }
    .sign { fill: none; stroke: #475569; stroke-width: 1.3; stroke-linejoin: round; stroke-linecap: round; }
    .line { fill: none; stroke: #64748b; stroke-width: 1.4; }
    .head { fill: #64748b; }
    .weak .line { stroke-dasharray: 5 4; }
    .node.cleanup .box { stroke-dasharray: 8 3 2 3; }
    .node.cached .box, .node.cached .bar { stroke: #0f766e; }
    .node.critical .box { stroke: #b45309; stroke-width: 3; }
    .edge.critical .line { stroke: #b45309; stroke-width: 3; }
    .edge.critical .head { fill: #b45309; }
    .skipped .box, .skipped .back, .skipped .frame { stroke: #94a3b8; stroke-dasharray: 3 3; }
    .skipped .name { text-decoration: line-through; }
    .skipped text { fill: #566579; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0f172a; }
      text { fill: #f1f5f9; }
      .summary, .remark { fill: #a8b5c8; }
      .command { fill: #cbd5e1; }
      .box, .back, .frame, .bar { stroke: #94a3b8; }
      .node .box, .node .back { fill: #1e293b; }
      .group .box { fill: #94a3b8; stroke: #64748b; }
      .group .frame, .group .back { stroke: #64748b; }
      .sign { stroke: #a8b5c8; }
      .line { stroke: #94a3b8; }
      .head { fill: #94a3b8; }
      .node.cached .box, .node.cached .bar { stroke: #2dd4bf; }
      .node.critical .box, .edge.critical .line { stroke: #fbbf24; }
      .edge.critical .head { fill: #fbbf24; }
      .skipped .box, .skipped .back, .skipped .frame { stroke: #64748b; }
      .skipped text { fill: #94a3b8; }
    }
    @media print {
      .paper { fill: #ffffff; }
      text, .summary, .remark, .command, .skipped text { fill: #000000; }
      .node .box, .node .back { fill: #ffffff; }
      .group .box { fill: none; }
      .box, .back, .frame, .bar, .sign, .line, .group .box, .node.critical .box, .edge.critical .line { stroke: #000000; }
      .head, .edge.critical .head { fill: #000000; }
    }

    """

  /// The outline of a sign, in a square of ten pixels.
  static func path(of sign: Picture.Sign) -> StaticString {
    switch sign {
    case .condition: "M5 0L10 5L5 10L0 5Z"
    case .loop: "M0 3H7V10H0ZM3 3V0H10V7H7"
    case .retry: "M9 5A4 4 0 1 1 7.5 1.9M7.5 -0.5V2.4H4.6"
    case .pool: "M2.5 0.7H7.5L10 5L7.5 9.3H2.5L0 5Z"
    case .duration: "M5 0A5 5 0 1 1 4.9 0ZM5 2V5L7 6.5"
    case .cached: "M1 2A4 1.8 0 1 1 9 2V8A4 1.8 0 1 1 1 8ZM1 2A4 1.8 0 0 0 9 2"
    case .skipped: "M5 0A5 5 0 1 1 4.9 0ZM1.5 8.5L8.5 1.5"
    case .cleanup: "M0 5H7M4 2L7 5L4 8M10 0V10"
    case .succeeded: "M1 5.5L4 9L9 1"
    case .failed: "M1 1L9 9M9 1L1 9"
    case .tolerated: "M5 0V6M5 8.5V10"
    case .cancelled: "M1 5H9"
    case .interrupted: "M2 3A3 3 0 1 1 5 6V7M5 9V10"
    case .sequence: "M5 0V10M2 7L5 10L8 7"
    case .parallel: "M1 0V10M5 0V10M9 0V10"
    case .race: "M1 10V0H9L7 3L9 6H1"
    case .file: "M1 0H6L9 3V10H1ZM6 0V3H9"
    }
  }
}
