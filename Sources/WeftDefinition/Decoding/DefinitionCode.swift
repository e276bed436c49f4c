/// Codes of the problems with the shape and the values of a workflow file. Each is stable across
/// releases and can be used for lookup and filtering.
///
/// The reader owns W00xx (the JSON text), W0101 and W0102 (repeated keys); the planner owns W02xx
/// (the graph) and W0501 (an id needed twice).
public enum DefinitionCode: String, Sendable, Hashable, CaseIterable {
  case unknownKey = "W0103"
  case wrongType = "W0104"
  case misplacedKey = "W0105"
  case noAction = "W0106"
  case severalActions = "W0107"
  case nothingToRun = "W0108"
  case groupTooDeep = "W0109"
  case tooManySteps = "W0110"
  case tooManyProblems = "W0111"
  case keyBesideTerminal = "W0112"
  case missingKey = "W0113"
  case tooManyElements = "W0114"
  case keysApart = "W0115"
  case expression = "W0301"
  case invalidDuration = "W0401"
  case invalidID = "W0402"
  case numberOutOfRange = "W0403"
  case empty = "W0404"
  case unknownWord = "W0405"
  case invalidVariableName = "W0406"
  case invalidSize = "W0407"
  case equalNames = "W0409"
  case emptyRange = "W0410"
  case pattern = "W0411"
  case unfitValue = "W0412"
  case repeatedValue = "W0413"
  case invalidMoment = "W0414"
  case invalidRate = "W0415"
  case absolutePath = "W0416"
  case nul = "W0417"
  case unreadableSecret = "W0425"
  case emptyGroup = "W0502"
}
