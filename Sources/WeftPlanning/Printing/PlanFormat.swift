import WeftDrawing

/// The forms in which a plan is printed: the dry run.
///
/// Printing is another reader of the plan. It starts nothing, reads nothing and uses no clock or environment: the same
/// plan is always printed as the same bytes.
public enum PlanFormat: String, Sendable, Hashable, CaseIterable {
  /// The nesting as written, with the action of each step and remarks on its options.
  case tree
  /// One line per step, in the order in which one slot would start them.
  case table
  /// Graphviz; groups are clusters.
  case dot
  /// A Mermaid flowchart; groups are subgraphs.
  case mermaid
  /// The whole plan for other programs; see ``PlanJSON``.
  case json
  /// A drawing; see ``PlanPicture``.
  case svg
  /// The drawing in a page of its own, which can be zoomed and moved.
  case html
}

/// The style of plans printed for people; ``PlanFormat/json`` ignores it.
public struct PlanStyle: Sendable, Hashable {
  /// The columns of a line, to which commands and remarks are shortened; names are never shortened.
  public var width: Int
  /// Whether to draw trees and ellipses in ASCII. Names are unchanged.
  public var usesASCII: Bool

  /// A width that shortens nothing.
  public static let unlimited = 1 << 24

  public init(width: Int = 100, usesASCII: Bool = false) {
    self.width = max(width, 40)
    self.usesASCII = usesASCII
  }
}

extension Plan {
  /// The plan as text in UTF-8, with a line end at its end.
  ///
  /// Nothing in names and commands can control a terminal or the programs that read the format: control characters and
  /// those that reorder text are escaped visibly, except in JSON, which has its own escapes and remains exact.
  public func rendered(as format: PlanFormat, style: PlanStyle = PlanStyle()) -> [UInt8] {
    switch format {
    case .tree: PlanTree.rendered(self, style)
    case .table: PlanTable(self, style).rendered()
    case .dot: PlanDOT.rendered(self)
    case .mermaid: PlanMermaid.rendered(self)
    case .json: PlanJSON.rendered(self)
    case .svg: SVGWriter.rendered(PlanPicture.picture(of: self))
    case .html: HTMLPage.rendered(PlanPicture.picture(of: self))
    }
  }
}
