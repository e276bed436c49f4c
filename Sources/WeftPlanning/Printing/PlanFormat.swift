/// The forms in which a plan is printed: the dry run.
///
/// Printing is another reader of the plan. It starts nothing, reads nothing and looks at no clock or
/// environment: a plan is always printed as the same bytes.
public enum PlanFormat: String, Sendable, Hashable, CaseIterable {
  /// The nesting as it was written, with what each step runs and what is special about it.
  case tree
  /// A line for each step, in the order in which one slot would start them.
  case table
  /// For Graphviz; groups are clusters.
  case dot
  /// A Mermaid flowchart; groups are subgraphs.
  case mermaid
  /// The whole plan for other programs; see ``PlanJSON``.
  case json
}

/// How plans are printed for people; ``PlanFormat/json`` takes no notice of it.
public struct PlanStyle: Sendable, Hashable {
  /// Columns of a line that commands and remarks are shortened to; names are shown even so.
  public var width: Int
  /// Draws trees and ellipses in ASCII. Names stay what they are.
  public var usesASCII: Bool

  /// A width that shortens nothing.
  public static let unlimited = 1 << 24

  public init(width: Int = 100, usesASCII: Bool = false) {
    self.width = max(width, 40)
    self.usesASCII = usesASCII
  }
}

extension Plan {
  /// The plan as text, UTF-8, ending with a line end.
  ///
  /// Nothing in names and commands is obeyed by a terminal or by the programs that read the format:
  /// control characters and those that reorder text are spelled out, except in JSON, which has
  /// escapes of its own and stays exact.
  public func rendered(as format: PlanFormat, style: PlanStyle = PlanStyle()) -> [UInt8] {
    switch format {
    case .tree: PlanTree(self, style).rendered()
    case .table: PlanTable(self, style).rendered()
    case .dot: PlanDOT(self).rendered()
    case .mermaid: PlanMermaid(self).rendered()
    case .json: PlanJSON(self).rendered()
    }
  }
}
