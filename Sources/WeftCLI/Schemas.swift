// Made from schemas/*.json: UPDATE_GOLDEN=1 swift test --filter SchemaTests
// swift-format-ignore-file

extension SchemaName {
  /// The file, byte for byte.
  var text: String {
    switch self {
    case .workflow:
      ##"""
{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:weft:workflow.schema",
  "title": "Weft workflow",
  "description": "Steps to run, the order between them, and what surrounds them.",
  "markdownDescription": "Steps to run, the order between them, and what surrounds them.\n\n```json\n{ \"steps\": [\"swift build\", \"swift test\"] }\n```",
  "type": "object",
  "properties": {
    "$schema": {
      "title": "Schema of this file",
      "description": "Where an editor finds this schema; ignored by weft.",
      "examples": [
        "../schemas/workflow.schema.json"
      ]
    },
    "name": {
      "$ref": "#/$defs/name"
    },
    "description": {
      "$ref": "#/$defs/description"
    },
    "secrets": {
      "$ref": "#/$defs/secrets"
    },
    "inputs": {
      "title": "Inputs",
      "description": "What may be given from outside, by -i NAME=VALUE or --inputs FILE: a name, and what its value must be like. One without a default must be given.",
      "type": "object",
      "propertyNames": {
        "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
        "patternErrorMessage": "a name is letters, digits, \"_\" and \"-\", 255 at most, and begins with a letter or \"_\""
      },
      "additionalProperties": {
        "$ref": "#/$defs/input"
      },
      "examples": [
        {
          "version": {
            "type": "string",
            "pattern": "^[0-9]+\\.[0-9]+$",
            "description": "what to publish"
          },
          "draft": {
            "type": "boolean",
            "default": true
          }
        }
      ],
      "defaultSnippets": [
        {
          "label": "an input",
          "body": {
            "${1:name}": {
              "type": "string",
              "description": "$2"
            }
          }
        }
      ]
    },
    "env": {
      "$ref": "#/$defs/env"
    },
    "envPolicy": {
      "$ref": "#/$defs/envPolicy"
    },
    "cwd": {
      "$ref": "#/$defs/cwd"
    },
    "shell": {
      "$ref": "#/$defs/shell"
    },
    "maxParallel": {
      "$ref": "#/$defs/maxParallel",
      "description": "How many steps of the run may run at once. Without it, as many as there are processors; -j on the command line wins."
    },
    "timeout": {
      "anyOf": [
        {
          "$ref": "#/$defs/duration"
        },
        {
          "$ref": "#/$defs/expression"
        }
      ],
      "title": "Time limit of the run",
      "description": "How long the whole run may take, from its start. Without it there is no limit."
    },
    "onFailure": {
      "title": "What a failure does to the rest",
      "description": "What happens to the other steps when one fails and its failure is not allowed.",
      "markdownDescription": "What happens to the other steps when one fails and its failure is not allowed.\n\n- `stop`: start nothing new, let the running finish\n- `cancel`: start nothing new, and end the running too\n- `continue`: go on with everything that does not depend on the failure; the run still fails",
      "enum": [
        "stop",
        "cancel",
        "continue"
      ],
      "enumDescriptions": [
        "Start nothing new, let the running finish.",
        "Start nothing new, and end the running too.",
        "Go on with everything that does not depend on the failure; the run still fails."
      ],
      "default": "stop"
    },
    "steps": {
      "$ref": "#/$defs/steps"
    },
    "parallel": {
      "$ref": "#/$defs/parallel"
    },
    "outputs": {
      "$ref": "#/$defs/outputs",
      "title": "Outputs of the workflow",
      "description": "What a run hands on when it has succeeded."
    },
    "pools": {
      "$ref": "#/$defs/pools"
    },
    "finally": {
      "$ref": "#/$defs/finally"
    },
    "defaults": {
      "$ref": "#/$defs/defaults"
    },
    "concurrency": {
      "$ref": "#/$defs/concurrency"
    }
  },
  "patternProperties": {
    "^x-": {
      "title": "Ignored",
      "description": "A key that begins with x- is ignored: room for notes and for other tools."
    }
  },
  "additionalProperties": false,
  "oneOf": [
    {
      "required": [
        "steps"
      ]
    },
    {
      "required": [
        "parallel"
      ]
    }
  ],
  "examples": [
    {
      "steps": [
        "swift build",
        "swift test"
      ]
    },
    {
      "name": "release",
      "steps": [
        {
          "id": "build",
          "run": "make all",
          "timeout": "10m"
        },
        {
          "id": "checks",
          "parallel": [
            {
              "run": [
                "make",
                "test"
              ]
            },
            {
              "run": "make lint",
              "allowFailure": true
            }
          ]
        }
      ]
    }
  ],
  "defaultSnippets": [
    {
      "label": "workflow: one after another",
      "body": {
        "name": "$1",
        "steps": [
          "$2"
        ]
      }
    },
    {
      "label": "workflow: a graph",
      "body": {
        "name": "$1",
        "parallel": [
          {
            "id": "$2",
            "run": "$3"
          },
          {
            "id": "$4",
            "run": "$5",
            "needs": [
              "$2"
            ]
          }
        ]
      }
    }
  ],
  "$defs": {
    "steps": {
      "title": "One after another",
      "description": "Members in order: each waits for the one before it, unless it has needs.",
      "markdownDescription": "Members **in order**: each waits for the one before it, unless it has `needs`.\n\n```json\n\"steps\": [\"swift build\", \"swift test\"]\n```",
      "type": "array",
      "items": {
        "$ref": "#/$defs/step"
      },
      "examples": [
        [
          "swift build",
          "swift test"
        ]
      ],
      "defaultSnippets": [
        {
          "label": "steps: one after another",
          "body": [
            "$1",
            "$2"
          ]
        }
      ]
    },
    "parallel": {
      "title": "Side by side",
      "description": "Members side by side: each waits for the group's own start alone, unless it has needs. With needs among the members the list is a graph.",
      "markdownDescription": "Members **side by side**: each waits for the group's own start alone, unless it has `needs`. With `needs` among the members the list is a graph.\n\n```json\n\"parallel\": [\n  { \"id\": \"lint\", \"run\": \"make lint\" },\n  { \"id\": \"docs\", \"run\": \"make docs\", \"needs\": [\"lint\"] }\n]\n```",
      "type": "array",
      "items": {
        "$ref": "#/$defs/step"
      },
      "examples": [
        [
          "make test",
          "make lint"
        ]
      ]
    },
    "step": {
      "title": "Step",
      "description": "A script, or an object with exactly one of run, steps, parallel, race, wait, approve, workflow, use and http, or with outputs alone.",
      "oneOf": [
        {
          "$ref": "#/$defs/script"
        },
        {
          "$ref": "#/$defs/commandStep"
        },
        {
          "$ref": "#/$defs/computeStep"
        },
        {
          "$ref": "#/$defs/sequentialGroup"
        },
        {
          "$ref": "#/$defs/parallelGroup"
        },
        {
          "$ref": "#/$defs/raceGroup"
        },
        {
          "$ref": "#/$defs/waitStep"
        },
        {
          "$ref": "#/$defs/approveStep"
        },
        {
          "$ref": "#/$defs/workflowStep"
        },
        {
          "$ref": "#/$defs/actionStep"
        },
        {
          "$ref": "#/$defs/httpStep"
        }
      ],
      "defaultSnippets": [
        {
          "label": "step: run a script",
          "body": {
            "id": "$1",
            "run": "$2"
          }
        },
        {
          "label": "step: run a program",
          "body": {
            "id": "$1",
            "run": [
              "$2"
            ]
          }
        },
        {
          "label": "group: side by side",
          "body": {
            "id": "$1",
            "parallel": [
              "$2"
            ]
          }
        },
        {
          "label": "group: one after another",
          "body": {
            "id": "$1",
            "steps": [
              "$2"
            ]
          }
        },
        {
          "label": "step: send a request",
          "body": {
            "id": "$1",
            "http": {
              "url": "$2"
            }
          }
        }
      ]
    },
    "commandStep": {
      "title": "Step that runs something",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "properties": {
        "run": {
          "$ref": "#/$defs/run"
        },
        "stdin": {
          "$ref": "#/$defs/stdin"
        },
        "successCodes": {
          "$ref": "#/$defs/successCodes"
        },
        "stop": {
          "$ref": "#/$defs/stop"
        },
        "leftovers": {
          "$ref": "#/$defs/leftovers"
        },
        "stallTimeout": {
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            },
            {
              "$ref": "#/$defs/expression"
            }
          ],
          "title": "Limit of silence",
          "description": "How long the step may write nothing, on either stream, from its start or from its last output. When it is over, everything that was started is ended, and the step fails with the class stall."
        },
        "mergeOutput": {
          "$ref": "#/$defs/mergeOutput"
        },
        "logLimit": {
          "$ref": "#/$defs/logLimit"
        },
        "tty": {
          "$ref": "#/$defs/tty"
        },
        "jobserver": {
          "$ref": "#/$defs/jobserver"
        },
        "cache": {
          "$ref": "#/$defs/cache"
        },
        "retry": {
          "$ref": "#/$defs/retry"
        },
        "pool": {
          "$ref": "#/$defs/pool"
        },
        "idempotent": {
          "$ref": "#/$defs/idempotent"
        },
        "onInterrupted": {
          "$ref": "#/$defs/onInterrupted"
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "run"
      ],
      "if": {
        "properties": {
          "tty": {
            "const": true
          }
        },
        "required": [
          "tty"
        ]
      },
      "then": {
        "description": "A step that has the terminal has no pipes, and what happens there cannot be kept.",
        "properties": {
          "stdin": false,
          "stallTimeout": false,
          "mergeOutput": false,
          "logLimit": false,
          "cache": false
        }
      },
      "dependentSchemas": {
        "cache": {
          "description": "A process that is to stay cannot be kept.",
          "properties": {
            "leftovers": {
              "const": "end"
            }
          }
        }
      },
      "unevaluatedProperties": false
    },
    "sequentialGroup": {
      "title": "Group, one after another",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "properties": {
        "steps": {
          "$ref": "#/$defs/steps"
        },
        "maxParallel": {
          "$ref": "#/$defs/maxParallel"
        },
        "retry": {
          "$ref": "#/$defs/retry"
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "steps"
      ],
      "unevaluatedProperties": false
    },
    "parallelGroup": {
      "title": "Group, side by side",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "properties": {
        "parallel": {
          "$ref": "#/$defs/parallel"
        },
        "maxParallel": {
          "$ref": "#/$defs/maxParallel"
        },
        "retry": {
          "$ref": "#/$defs/retry"
        },
        "join": {
          "$ref": "#/$defs/join"
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "parallel"
      ],
      "unevaluatedProperties": false
    },
    "computeStep": {
      "title": "Step that computes",
      "description": "A step without an action computes its outputs from what others hand on.",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "outputs"
      ],
      "unevaluatedProperties": false
    },
    "raceGroup": {
      "title": "Race",
      "description": "All members start; the first that succeeds ends the others.",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "properties": {
        "race": {
          "$ref": "#/$defs/race"
        },
        "maxParallel": {
          "$ref": "#/$defs/maxParallel"
        },
        "retry": {
          "$ref": "#/$defs/retry"
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "race"
      ],
      "unevaluatedProperties": false
    },
    "waitStep": {
      "title": "Step that waits",
      "description": "A step that runs nothing: it waits, without a slot.",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "properties": {
        "wait": {
          "$ref": "#/$defs/wait"
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "wait"
      ],
      "unevaluatedProperties": false
    },
    "approveStep": {
      "title": "Step that asks",
      "description": "A step that runs nothing: it asks a person.",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "properties": {
        "approve": {
          "$ref": "#/$defs/approve"
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "approve"
      ],
      "unevaluatedProperties": false
    },
    "workflowStep": {
      "title": "Step that runs another file",
      "description": "The steps of another file, as part of this graph.",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "properties": {
        "workflow": {
          "$ref": "#/$defs/workflow"
        },
        "with": {
          "$ref": "#/$defs/with"
        },
        "retry": {
          "$ref": "#/$defs/retry"
        },
        "env": false,
        "envPolicy": false,
        "cwd": false,
        "shell": false
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "workflow"
      ],
      "unevaluatedProperties": false
    },
    "actionStep": {
      "title": "Step that runs an action",
      "description": "What the program does that Weft is a part of.",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "properties": {
        "use": {
          "$ref": "#/$defs/use"
        },
        "with": {
          "$ref": "#/$defs/with"
        },
        "pool": {
          "$ref": "#/$defs/pool"
        },
        "idempotent": {
          "$ref": "#/$defs/idempotent"
        },
        "onInterrupted": {
          "$ref": "#/$defs/onInterrupted"
        },
        "retry": {
          "$ref": "#/$defs/retry"
        },
        "env": false,
        "envPolicy": false,
        "cwd": false,
        "shell": false
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "use"
      ],
      "unevaluatedProperties": false
    },
    "httpStep": {
      "title": "Step that sends a request",
      "description": "Sends an HTTP request.",
      "type": "object",
      "$ref": "#/$defs/stepCommon",
      "properties": {
        "http": {
          "$ref": "#/$defs/http"
        },
        "pool": {
          "$ref": "#/$defs/pool"
        },
        "idempotent": {
          "$ref": "#/$defs/idempotent"
        },
        "onInterrupted": {
          "$ref": "#/$defs/onInterrupted"
        },
        "retry": {
          "$ref": "#/$defs/retry"
        },
        "env": false,
        "envPolicy": false,
        "shell": false
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "http"
      ],
      "unevaluatedProperties": false
    },
    "stepCommon": {
      "properties": {
        "id": {
          "title": "Id",
          "description": "Names the step, for needs, events and the command line; unique in the file. Without one the step is addressed by its position.",
          "type": "string",
          "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
          "patternErrorMessage": "an id is a letter or \"_\", then letters, digits, \"_\" or \"-\", 255 at most",
          "examples": [
            "build",
            "unit-tests"
          ]
        },
        "name": {
          "$ref": "#/$defs/stepName"
        },
        "description": {
          "$ref": "#/$defs/description"
        },
        "needs": {
          "title": "What it waits for",
          "description": "Exactly what the step waits for, by id, instead of the member before it; any step or group of the file that is not around it or inside it. Waiting for a group is waiting for all of it. An empty list waits for the group's own start alone.",
          "markdownDescription": "Exactly what the step waits for, by id, **instead of** the member before it: any step or group of the file that is not around it or inside it.\n\nWaiting for a group is waiting for all of it. `[]` waits for the group's own start alone.",
          "type": "array",
          "items": {
            "title": "Id of a step or group",
            "type": "string",
            "minLength": 1,
            "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
            "patternErrorMessage": "an expression (\"${{\") cannot stand here, nor U+0000"
          },
          "examples": [
            [
              "build"
            ],
            [
              "test",
              "lint"
            ]
          ]
        },
        "env": {
          "$ref": "#/$defs/env"
        },
        "envPolicy": {
          "$ref": "#/$defs/envPolicy"
        },
        "cwd": {
          "$ref": "#/$defs/cwd"
        },
        "shell": {
          "$ref": "#/$defs/shell"
        },
        "timeout": {
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            },
            {
              "$ref": "#/$defs/expression"
            }
          ],
          "title": "Time limit",
          "description": "How long one attempt may take, from its start; of a group, from the moment its dependencies are done. When it is over, everything that was started is ended."
        },
        "allowFailure": {
          "title": "Failures that are allowed",
          "description": "Whether the run goes on, and succeeds, when this fails: always, never, or for some classes of failure only.",
          "markdownDescription": "Whether the run goes on, and succeeds, when this fails: always (`true`), never (`false`), or for some classes of failure only, such as `[\"timeout\", \"exit:3\"]`. It is still told apart from a clean success.",
          "anyOf": [
            {
              "type": "boolean"
            },
            {
              "type": "array",
              "items": {
                "$ref": "#/$defs/errorClass"
              }
            },
            {
              "$ref": "#/$defs/expression"
            }
          ],
          "default": false,
          "examples": [
            true,
            [
              "timeout"
            ],
            [
              "exit:3",
              "signal:KILL"
            ]
          ]
        },
        "outputs": {
          "$ref": "#/$defs/outputs"
        },
        "if": {
          "$ref": "#/$defs/if"
        },
        "cleanup": {
          "$ref": "#/$defs/cleanup"
        },
        "forEach": {
          "$ref": "#/$defs/forEach"
        },
        "matrix": {
          "$ref": "#/$defs/matrix"
        }
      },
      "not": {
        "required": [
          "forEach",
          "matrix"
        ],
        "title": "Both forEach and matrix"
      }
    },
    "script": {
      "title": "Script",
      "description": "The text of a script, run by the shell of the step: /bin/sh -e unless said otherwise.",
      "examples": [
        "make all"
      ],
      "type": "string",
      "minLength": 1,
      "pattern": "^[^\\u0000]*$",
      "patternErrorMessage": "U+0000 cannot be passed to a program"
    },
    "arguments": {
      "title": "Program and arguments",
      "description": "A program and its arguments, started without a shell: one element is one argument, whatever is in it.",
      "type": "array",
      "minItems": 1,
      "prefixItems": [
        {
          "title": "Program",
          "type": "string",
          "minLength": 1,
          "pattern": "^[^\\u0000]*$",
          "patternErrorMessage": "U+0000 cannot be passed to a program"
        }
      ],
      "items": {
        "title": "Argument",
        "type": "string",
        "pattern": "^[^\\u0000]*$",
        "patternErrorMessage": "U+0000 cannot be passed to a program"
      },
      "examples": [
        [
          "make",
          "-j4",
          "all"
        ]
      ]
    },
    "commandLine": {
      "title": "Command line",
      "description": "A program and its arguments, started without a shell: one element is one argument, whatever is in it.",
      "type": "array",
      "minItems": 1,
      "prefixItems": [
        {
          "title": "Program",
          "type": "string",
          "minLength": 1,
          "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
          "patternErrorMessage": "an expression (\"${{\") cannot stand here, nor U+0000"
        }
      ],
      "items": {
        "title": "Argument",
        "type": "string",
        "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
        "patternErrorMessage": "an expression (\"${{\") cannot stand here, nor U+0000"
      },
      "examples": [
        [
          "make",
          "-j4",
          "all"
        ]
      ]
    },
    "run": {
      "title": "What to run",
      "description": "A script for the shell, or a program with its arguments, which is started without a shell.",
      "markdownDescription": "- a string is a **script**, run by `shell` (`/bin/sh -e` unless said otherwise)\n- an array is a **program** and its arguments, started without a shell: one element is one argument, whatever is in it",
      "anyOf": [
        {
          "$ref": "#/$defs/script"
        },
        {
          "$ref": "#/$defs/arguments"
        }
      ],
      "examples": [
        "make all",
        [
          "make",
          "-j4",
          "all"
        ]
      ]
    },
    "stdin": {
      "title": "Standard input",
      "description": "What the program reads: a text, a file, or all that another step wrote. Without it there is nothing to read.",
      "anyOf": [
        {
          "title": "Text",
          "type": "string",
          "pattern": "^[^\\u0000]*$",
          "patternErrorMessage": "U+0000 cannot be passed to a program"
        },
        {
          "title": "File",
          "type": "object",
          "properties": {
            "file": {
              "title": "Path",
              "description": "Relative to the working directory of the step.",
              "type": "string",
              "minLength": 1,
              "pattern": "^[^\\u0000]*$",
              "patternErrorMessage": "U+0000 cannot be passed to a program"
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "file"
          ],
          "additionalProperties": false
        },
        {
          "title": "Log of a step",
          "type": "object",
          "properties": {
            "log": {
              "title": "Id of a step",
              "description": "All that this step wrote, both streams; it is waited for.",
              "type": "string",
              "minLength": 1,
              "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
              "patternErrorMessage": "an expression (\"${{\") cannot stand here, nor U+0000"
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "log"
          ],
          "additionalProperties": false
        }
      ],
      "examples": [
        "yes\n",
        {
          "file": "data.csv"
        },
        {
          "log": "list"
        }
      ]
    },
    "successCodes": {
      "title": "Exit codes of success",
      "description": "The exit codes that count as success.",
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "integer",
        "minimum": 0,
        "maximum": 255
      },
      "default": [
        0
      ],
      "examples": [
        [
          0,
          1
        ]
      ]
    },
    "stop": {
      "title": "How it is asked to end",
      "description": "What a step that is cancelled or over its time limit gets: a signal to all its processes, and KILL to what is left after the grace.",
      "markdownDescription": "What a step that is cancelled or over its time limit gets: a signal to all its processes, and KILL to what is left after the grace.\n\n```json\n\"stop\": { \"signal\": \"INT\", \"grace\": \"30s\" }\n```",
      "type": "object",
      "properties": {
        "signal": {
          "title": "Signal",
          "description": "The signal to begin with, by its name without SIG.",
          "enum": [
            "TERM",
            "INT",
            "HUP",
            "QUIT",
            "USR1",
            "USR2",
            "ABRT",
            "ALRM",
            "PIPE",
            "WINCH",
            "ILL",
            "TRAP",
            "BUS",
            "FPE",
            "SEGV",
            "SYS",
            "IO",
            "PROF",
            "VTALRM",
            "XCPU",
            "XFSZ"
          ],
          "default": "TERM"
        },
        "grace": {
          "title": "Grace",
          "description": "How long after the signal KILL follows; 0s sends KILL at once.",
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            },
            {
              "type": "string",
              "pattern": "^(?=.)(?:0+d)?(?:0+h)?(?:0+m)?(?:0+s)?(?:0+ms)?$",
              "title": "No time"
            },
            {
              "$ref": "#/$defs/expression"
            }
          ],
          "default": "10s",
          "examples": [
            "30s",
            "0s"
          ]
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "anyOf": [
        {
          "required": [
            "signal"
          ]
        },
        {
          "required": [
            "grace"
          ]
        }
      ],
      "additionalProperties": false,
      "examples": [
        {
          "signal": "INT",
          "grace": "30s"
        },
        {
          "grace": "0s"
        }
      ]
    },
    "leftovers": {
      "title": "What it leaves running",
      "description": "What happens to processes of the step that are alive after its program has ended by itself.",
      "enum": [
        "end",
        "keep"
      ],
      "enumDescriptions": [
        "They are ended, and told.",
        "After a success they are left alone, also when the run ends."
      ],
      "default": "end"
    },
    "mergeOutput": {
      "title": "Both streams as one",
      "description": "Whether both output streams go into one pipe: their order is then exact, and all counts as standard output.",
      "anyOf": [
        {
          "type": "boolean"
        },
        {
          "$ref": "#/$defs/expression"
        }
      ],
      "default": false
    },
    "logLimit": {
      "anyOf": [
        {
          "$ref": "#/$defs/size"
        },
        {
          "$ref": "#/$defs/expression"
        }
      ],
      "title": "Limit of the log",
      "description": "How much of the step's output is kept and told. The step goes on beyond it, and its end says that output was cut off.",
      "default": "1GiB"
    },
    "tty": {
      "title": "Has the terminal",
      "description": "Whether the step has the terminal to itself, for what asks people: its output is not recorded, and without a terminal it fails to start.",
      "anyOf": [
        {
          "type": "boolean"
        },
        {
          "$ref": "#/$defs/expression"
        }
      ],
      "default": false
    },
    "jobserver": {
      "title": "Has a jobserver",
      "description": "Whether the step gets a GNU make jobserver, so that what it runs side by side shares the slots of the run.",
      "anyOf": [
        {
          "type": "boolean"
        },
        {
          "$ref": "#/$defs/expression"
        }
      ],
      "default": false
    },
    "cache": {
      "title": "Kept results",
      "description": "What the step reads and makes: as long as all that it depends on is the same, it is not run again, and what it made is put back. It depends on its command, its directory, the element that it is run for, its input, the variables that the workflow sets, and what is listed here.",
      "markdownDescription": "What the step reads and makes: as long as all that it depends on is the same, it is not run again, and what it made is put back.\n\nIt depends on its command, its directory, the element that it is run for, its input, the variables that the workflow sets, and what is listed here.\n\n```json\n\"cache\": { \"inputs\": [\"src/**\", \"Makefile\"], \"outputs\": [\"build\"], \"env\": [\"CC\"], \"version\": [\"cc\", \"--version\"] }\n```",
      "type": "object",
      "properties": {
        "inputs": {
          "title": "What it reads",
          "description": "Patterns of files, relative to the step's directory: * and ? within a name, ** for any number of directories; what means a directory means all in it, and ! before a pattern takes out what it means. [] if it reads no files.",
          "type": "array",
          "items": {
            "type": "string",
            "minLength": 1,
            "pattern": "^(?!!?/)"
          },
          "examples": [
            [
              "src/**",
              "Makefile",
              "!src/**/*.tmp"
            ]
          ]
        },
        "outputs": {
          "title": "What it makes",
          "description": "Files and directories, relative to the step's directory. A directory is kept with all that is in it, and put back as a whole.",
          "type": "array",
          "items": {
            "type": "string",
            "minLength": 1,
            "anyOf": [
              {
                "pattern": "\\$\\{\\{"
              },
              {
                "pattern": "^(?!/)[^*?\\[]*$"
              }
            ]
          },
          "examples": [
            [
              "build",
              "docs/index.html"
            ]
          ]
        },
        "env": {
          "title": "Variables",
          "description": "The names of variables of the process's own environment on which the step depends, beside those that the workflow sets.",
          "type": "array",
          "items": {
            "type": "string",
            "pattern": "^[^=]+$"
          },
          "examples": [
            [
              "CC",
              "CFLAGS"
            ]
          ]
        },
        "key": {
          "title": "Key",
          "description": "A text on which it depends too: with another one, the step is run again.",
          "type": "string"
        },
        "version": {
          "title": "Version of its tools",
          "description": "A command whose output counts too, such as that of a compiler which tells its version. It is run once in a run, before the step.",
          "anyOf": [
            {
              "type": "string",
              "minLength": 1
            },
            {
              "type": "array",
              "minItems": 1,
              "items": {
                "type": "string"
              },
              "prefixItems": [
                {
                  "type": "string",
                  "minLength": 1
                }
              ]
            }
          ],
          "examples": [
            [
              "cc",
              "--version"
            ]
          ]
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "inputs"
      ],
      "additionalProperties": false,
      "defaultSnippets": [
        {
          "label": "cache: files in, files out",
          "body": {
            "inputs": [
              "$1"
            ],
            "outputs": [
              "$2"
            ]
          }
        }
      ]
    },
    "race": {
      "title": "Race",
      "description": "Members side by side, of which the first that succeeds is the result; it ends the others.",
      "markdownDescription": "Members side by side, of which **the first that succeeds** is the result; it ends the others.\n\n```json\n\"race\": [\"curl -fO https://a.example/f\", \"curl -fO https://b.example/f\"]\n```",
      "type": "array",
      "items": {
        "$ref": "#/$defs/step"
      },
      "minItems": 1,
      "examples": [
        [
          "make fetch-a",
          "make fetch-b"
        ]
      ]
    },
    "join": {
      "title": "When the group is over",
      "description": "all: when all members have ended. atLeast: when so many have succeeded; the others are ended.",
      "anyOf": [
        {
          "const": "all"
        },
        {
          "type": "object",
          "properties": {
            "atLeast": {
              "title": "Successes",
              "type": "integer",
              "minimum": 1,
              "maximum": 2000000
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "atLeast"
          ],
          "additionalProperties": false
        }
      ],
      "default": "all",
      "examples": [
        "all",
        {
          "atLeast": 2
        }
      ]
    },
    "if": {
      "title": "Condition",
      "description": "Whether it runs at all: an expression, with or without ${{ }} around it. Without it, only if all it waits for went well.",
      "markdownDescription": "Whether it runs at all: an expression, with or without `${{ }}` around it. One that calls none of `success() failure() always() cancelled()` gets `success() &&`.\n\n```json\n\"if\": \"!inputs.draft\"\n```",
      "anyOf": [
        {
          "type": "string",
          "minLength": 1,
          "pattern": "^[^\\u0000]*$"
        },
        {
          "type": "boolean"
        }
      ],
      "examples": [
        "!inputs.draft",
        "failure()",
        true
      ]
    },
    "nothing": {
      "title": "No time",
      "type": "string",
      "pattern": "^(?=.)(?:0+d)?(?:0+h)?(?:0+m)?(?:0+s)?(?:0+ms)?$"
    },
    "retryPolicy": {
      "type": "object",
      "properties": {
        "max": {
          "title": "Further attempts",
          "description": "How many attempts may follow the first because of this.",
          "anyOf": [
            {
              "type": "integer",
              "minimum": 0,
              "maximum": 1000
            },
            {
              "$ref": "#/$defs/expression"
            }
          ]
        },
        "delay": {
          "title": "First delay",
          "description": "How long before the first further attempt.",
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            },
            {
              "$ref": "#/$defs/nothing"
            },
            {
              "$ref": "#/$defs/expression"
            }
          ],
          "default": "1s"
        },
        "factor": {
          "title": "Growth",
          "description": "By how much the delay grows from one attempt to the next.",
          "type": "number",
          "minimum": 1,
          "maximum": 1000,
          "default": 2
        },
        "maxDelay": {
          "title": "Longest delay",
          "description": "What the delay never exceeds: 1m, or the first delay where that is longer.",
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            },
            {
              "$ref": "#/$defs/nothing"
            },
            {
              "$ref": "#/$defs/expression"
            }
          ],
          "default": "1m"
        },
        "jitter": {
          "title": "Jitter",
          "description": "full: any time from nothing to the delay, so that many that failed together do not come back together. none: the delay itself.",
          "enum": [
            "full",
            "none"
          ],
          "default": "full"
        },
        "within": {
          "title": "Within",
          "description": "No further attempt starts later than this after the first.",
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            },
            {
              "$ref": "#/$defs/expression"
            }
          ]
        },
        "on": {
          "title": "Failures",
          "description": "The classes of failures after which it is tried again.",
          "type": "array",
          "items": {
            "$ref": "#/$defs/errorClass"
          },
          "minItems": 1,
          "default": [
            "exit",
            "signal",
            "timeout",
            "stall"
          ],
          "examples": [
            [
              "exit:75",
              "timeout"
            ]
          ]
        },
        "when": {
          "title": "Condition",
          "description": "Tried again only if this holds; self is the result of the attempt that failed.",
          "anyOf": [
            {
              "type": "string",
              "minLength": 1,
              "pattern": "^[^\\u0000]*$"
            },
            {
              "type": "boolean"
            }
          ],
          "examples": [
            "self.exitCode != 2"
          ]
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "max"
      ],
      "additionalProperties": false,
      "title": "Policy"
    },
    "listedRetryPolicy": {
      "type": "object",
      "properties": {
        "max": {
          "title": "Further attempts",
          "description": "How many attempts may follow the first because of this.",
          "anyOf": [
            {
              "type": "integer",
              "minimum": 0,
              "maximum": 1000
            }
          ]
        },
        "delay": {
          "title": "First delay",
          "description": "How long before the first further attempt.",
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            },
            {
              "$ref": "#/$defs/nothing"
            }
          ],
          "default": "1s"
        },
        "factor": {
          "title": "Growth",
          "description": "By how much the delay grows from one attempt to the next.",
          "type": "number",
          "minimum": 1,
          "maximum": 1000,
          "default": 2
        },
        "maxDelay": {
          "title": "Longest delay",
          "description": "What the delay never exceeds: 1m, or the first delay where that is longer.",
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            },
            {
              "$ref": "#/$defs/nothing"
            }
          ],
          "default": "1m"
        },
        "jitter": {
          "title": "Jitter",
          "description": "full: any time from nothing to the delay, so that many that failed together do not come back together. none: the delay itself.",
          "enum": [
            "full",
            "none"
          ],
          "default": "full"
        },
        "within": {
          "title": "Within",
          "description": "No further attempt starts later than this after the first.",
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            }
          ]
        },
        "on": {
          "title": "Failures",
          "description": "The classes of failures after which it is tried again.",
          "type": "array",
          "items": {
            "$ref": "#/$defs/errorClass"
          },
          "minItems": 1,
          "default": [
            "exit",
            "signal",
            "timeout",
            "stall"
          ],
          "examples": [
            [
              "exit:75",
              "timeout"
            ]
          ]
        },
        "when": {
          "title": "Condition",
          "description": "Tried again only if this holds; self is the result of the attempt that failed.",
          "anyOf": [
            {
              "type": "string",
              "minLength": 1,
              "pattern": "^[^\\u0000]*$"
            },
            {
              "type": "boolean"
            }
          ],
          "examples": [
            "self.exitCode != 2"
          ]
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "max"
      ],
      "additionalProperties": false,
      "title": "Policy"
    },
    "retry": {
      "title": "Further attempts",
      "description": "How often it is tried again after a failure that may pass: a number, a policy, or up to 16 policies, each with a counter of its own, of which the first that is for a failure is followed. Without it, never.",
      "anyOf": [
        {
          "type": "integer",
          "minimum": 0,
          "maximum": 1000
        },
        {
          "$ref": "#/$defs/expression"
        },
        {
          "$ref": "#/$defs/retryPolicy"
        },
        {
          "type": "array",
          "items": {
            "$ref": "#/$defs/listedRetryPolicy"
          },
          "minItems": 1,
          "maxItems": 16
        }
      ],
      "default": 0,
      "examples": [
        3,
        {
          "max": 5,
          "delay": "2s",
          "maxDelay": "1m",
          "on": [
            "exit:75",
            "timeout"
          ]
        },
        [
          {
            "max": 3,
            "on": [
              "timeout"
            ]
          },
          {
            "max": 1,
            "delay": "1m"
          }
        ]
      ]
    },
    "idempotent": {
      "title": "May be done again",
      "description": "Whether doing it again does nothing that doing it once has not done. An attempt that was cut off when the engine was killed is then made again by weft resume.",
      "type": "boolean",
      "default": false
    },
    "onInterrupted": {
      "title": "When it was cut off",
      "description": "What weft resume does with a step that was running when the engine was killed: start it again, or have it fail until --rerun names it. By default as idempotent says.",
      "enum": [
        "rerun",
        "fail"
      ]
    },
    "pool": {
      "title": "What it takes from pools",
      "description": "Slots of pools that are held while an attempt runs, taken all at once: the name of a pool, or how many of each.",
      "anyOf": [
        {
          "type": "string",
          "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
          "patternErrorMessage": "a name is letters, digits, \"_\" and \"-\", 255 at most, and begins with a letter or \"_\""
        },
        {
          "type": "object",
          "propertyNames": {
            "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
            "patternErrorMessage": "a name is letters, digits, \"_\" and \"-\", 255 at most, and begins with a letter or \"_\""
          },
          "additionalProperties": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000
          },
          "minProperties": 1
        }
      ],
      "examples": [
        "db",
        {
          "db": 1,
          "cpu": 2
        }
      ]
    },
    "concurrency": {
      "title": "One run at a time",
      "description": "Keeps runs of one key apart: while one of them is under way, none of the others is.",
      "anyOf": [
        {
          "$ref": "#/$defs/concurrencyKey"
        },
        {
          "type": "object",
          "properties": {
            "key": {
              "$ref": "#/$defs/concurrencyKey"
            },
            "policy": {
              "title": "What a run does when another is under way",
              "description": "wait: waits until it has ended. refuse: does not begin, exit 4. cancelPrevious: has it cancelled, and waits until it has ended.",
              "enum": [
                "wait",
                "refuse",
                "cancelPrevious"
              ],
              "default": "wait"
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "key"
          ],
          "additionalProperties": false
        }
      ]
    },
    "concurrencyKey": {
      "title": "Key",
      "description": "What runs have in common that are kept apart; expressions may read inputs, run and workflow.",
      "type": "string",
      "minLength": 1,
      "pattern": "^[^\\u0000]*$"
    },
    "pools": {
      "title": "Pools",
      "description": "Slots that steps share, by name: how many, or how many and a rate at which they may be taken.",
      "type": "object",
      "propertyNames": {
        "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
        "patternErrorMessage": "a name is letters, digits, \"_\" and \"-\", 255 at most, and begins with a letter or \"_\""
      },
      "additionalProperties": {
        "anyOf": [
          {
            "title": "Slots",
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000
          },
          {
            "type": "object",
            "properties": {
              "slots": {
                "title": "Slots",
                "type": "integer",
                "minimum": 1,
                "maximum": 1000000
              },
              "rate": {
                "title": "Rate",
                "description": "How many slots may be taken in what time.",
                "type": "string",
                "pattern": "^0*(?:[1-9][0-9]{0,5}|1000000)/(?=.*[1-9])(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?(?:[0-9]+ms)?$",
                "patternErrorMessage": "expected a rate like \"30/1m\"",
                "examples": [
                  "30/1m"
                ]
              }
            },
            "patternProperties": {
              "^x-": {
                "title": "Ignored",
                "description": "A key that begins with x- is ignored: room for notes and for other tools."
              }
            },
            "required": [
              "slots"
            ],
            "additionalProperties": false
          }
        ]
      },
      "examples": [
        {
          "db": 4,
          "api": {
            "slots": 2,
            "rate": "30/1m"
          }
        }
      ]
    },
    "wait": {
      "title": "What it waits for",
      "description": "A time, or a moment of the wall clock. Nothing is held meanwhile.",
      "anyOf": [
        {
          "$ref": "#/$defs/duration"
        },
        {
          "$ref": "#/$defs/nothing"
        },
        {
          "$ref": "#/$defs/expression"
        },
        {
          "type": "object",
          "properties": {
            "until": {
              "title": "Moment",
              "description": "A moment as RFC 3339 writes it.",
              "anyOf": [
                {
                  "type": "string",
                  "pattern": "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$",
                  "patternErrorMessage": "expected a moment like \"2026-11-21T09:00:00Z\""
                },
                {
                  "$ref": "#/$defs/expression"
                }
              ],
              "examples": [
                "2026-11-21T09:00:00Z"
              ]
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "until"
          ],
          "additionalProperties": false
        }
      ],
      "examples": [
        "30s",
        {
          "until": "2026-11-21T09:00:00Z"
        }
      ]
    },
    "approve": {
      "title": "What is asked",
      "description": "A question for a person. If the answer is no, the step fails with the class rejected.",
      "anyOf": [
        {
          "title": "Question",
          "description": "What the person reads; expressions may stand in it.",
          "type": "string",
          "minLength": 1,
          "pattern": "^[^\\u0000]*$"
        },
        {
          "type": "object",
          "properties": {
            "message": {
              "title": "Question",
              "description": "What the person reads; expressions may stand in it.",
              "type": "string",
              "minLength": 1,
              "pattern": "^[^\\u0000]*$"
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "message"
          ],
          "additionalProperties": false
        }
      ],
      "examples": [
        "Publish this version?",
        {
          "message": "Publish ${{ inputs.version }}?"
        }
      ]
    },
    "workflow": {
      "title": "Another file",
      "description": "The path of a workflow file, relative to this one.",
      "type": "string",
      "minLength": 1,
      "pattern": "^(?!/)(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
      "patternErrorMessage": "a relative path, without expressions",
      "examples": [
        "deploy.json"
      ]
    },
    "use": {
      "title": "Action",
      "description": "The name of an action that the program around Weft has registered.",
      "type": "string",
      "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,254}$",
      "patternErrorMessage": "the name of an action is a letter or \"_\", then letters, digits, \"_\", \"-\" or \".\", 255 at most",
      "examples": [
        "resize",
        "images.resize"
      ]
    },
    "requestFields": {
      "title": "Names and values",
      "description": "Values may have expressions in them. One that is exactly an expression and comes to null is left out; an array is several values of one name.",
      "type": "object",
      "propertyNames": {
        "minLength": 1,
        "pattern": "^(?![\\s\\S]*\\$\\{\\{)",
        "patternErrorMessage": "an expression (\"${{\") cannot stand in a name"
      },
      "additionalProperties": {
        "anyOf": [
          {
            "type": [
              "string",
              "number",
              "boolean"
            ]
          },
          {
            "type": "array",
            "items": {
              "type": [
                "string",
                "number",
                "boolean"
              ]
            }
          }
        ]
      },
      "examples": [
        {
          "q": "weft",
          "page": 2,
          "tag": [
            "a",
            "b"
          ]
        }
      ]
    },
    "requestPart": {
      "title": "Part of a form",
      "description": "A text, or an object with value or file.",
      "anyOf": [
        {
          "type": [
            "string",
            "number",
            "boolean"
          ]
        },
        {
          "type": "object",
          "properties": {
            "value": {
              "title": "Text",
              "type": "string"
            },
            "file": {
              "title": "File",
              "description": "The path of a file, relative to the step's directory.",
              "type": "string",
              "minLength": 1
            },
            "fileName": {
              "title": "Name of the file",
              "description": "As which the server may keep the file; by default its own.",
              "type": "string",
              "minLength": 1
            },
            "contentType": {
              "title": "Media type",
              "description": "What the part says of itself.",
              "type": "string",
              "minLength": 1,
              "examples": [
                "image/png"
              ]
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "additionalProperties": false,
          "oneOf": [
            {
              "required": [
                "value"
              ]
            },
            {
              "required": [
                "file"
              ]
            }
          ],
          "dependentSchemas": {
            "fileName": {
              "required": [
                "file"
              ]
            }
          }
        }
      ]
    },
    "status": {
      "title": "Status",
      "description": "A status, or a hundred of them.",
      "anyOf": [
        {
          "type": "integer",
          "minimum": 200,
          "maximum": 999
        },
        {
          "type": "string",
          "pattern": "^[2-9](?:xx|[0-9][0-9])$",
          "patternErrorMessage": "expected a status like 200 or \"2xx\""
        }
      ],
      "examples": [
        200,
        "2xx"
      ]
    },
    "requestTime": {
      "title": "Limit",
      "anyOf": [
        {
          "$ref": "#/$defs/duration"
        },
        {
          "$ref": "#/$defs/expression"
        }
      ]
    },
    "http": {
      "title": "HTTP request",
      "description": "One HTTP request, and what is to become of its answer.",
      "type": "object",
      "properties": {
        "method": {
          "title": "Method",
          "description": "As it stands on the wire. By default POST where there is a body, else GET.",
          "type": "string",
          "minLength": 1,
          "examples": [
            "GET",
            "PUT"
          ]
        },
        "url": {
          "title": "URL",
          "description": "With http:// or https://. A value in it is escaped for the part of the URL where it stands.",
          "type": "string",
          "minLength": 1,
          "examples": [
            "https://api.example.org/v1/items/${{ item }}"
          ]
        },
        "query": {
          "$ref": "#/$defs/requestFields"
        },
        "headers": {
          "$ref": "#/$defs/requestFields"
        },
        "json": {
          "title": "JSON body",
          "description": "Any value. A string that is exactly one expression becomes the value of that."
        },
        "body": {
          "title": "Text body",
          "type": "string"
        },
        "form": {
          "$ref": "#/$defs/requestFields"
        },
        "multipart": {
          "title": "Multipart form",
          "description": "Fields and files.",
          "type": "object",
          "propertyNames": {
            "minLength": 1,
            "pattern": "^(?![\\s\\S]*\\$\\{\\{)"
          },
          "additionalProperties": {
            "anyOf": [
              {
                "$ref": "#/$defs/requestPart"
              },
              {
                "type": "array",
                "items": {
                  "$ref": "#/$defs/requestPart"
                }
              }
            ]
          },
          "examples": [
            {
              "title": "Cat",
              "photo": {
                "file": "cat.png",
                "contentType": "image/png"
              }
            }
          ]
        },
        "bodyFile": {
          "title": "Body from a file",
          "description": "The path of a file that is sent, relative to the step's directory.",
          "type": "string",
          "minLength": 1,
          "examples": [
            "dist/app.tar.gz"
          ]
        },
        "auth": {
          "title": "Who asks",
          "description": "Sent as an Authorization header, to this origin alone.",
          "oneOf": [
            {
              "type": "object",
              "properties": {
                "bearer": {
                  "title": "Token",
                  "description": "Sent as Bearer.",
                  "type": "string",
                  "minLength": 1,
                  "examples": [
                    "${{ secrets.TOKEN }}"
                  ]
                }
              },
              "patternProperties": {
                "^x-": {
                  "title": "Ignored",
                  "description": "A key that begins with x- is ignored: room for notes and for other tools."
                }
              },
              "required": [
                "bearer"
              ],
              "additionalProperties": false
            },
            {
              "type": "object",
              "properties": {
                "basic": {
                  "title": "User and password",
                  "type": "object",
                  "properties": {
                    "user": {
                      "title": "User",
                      "description": "Without a colon.",
                      "type": "string",
                      "minLength": 1
                    },
                    "password": {
                      "title": "Password",
                      "type": "string"
                    }
                  },
                  "patternProperties": {
                    "^x-": {
                      "title": "Ignored",
                      "description": "A key that begins with x- is ignored: room for notes and for other tools."
                    }
                  },
                  "required": [
                    "user",
                    "password"
                  ],
                  "additionalProperties": false
                }
              },
              "patternProperties": {
                "^x-": {
                  "title": "Ignored",
                  "description": "A key that begins with x- is ignored: room for notes and for other tools."
                }
              },
              "required": [
                "basic"
              ],
              "additionalProperties": false
            }
          ],
          "examples": [
            {
              "bearer": "${{ secrets.TOKEN }}"
            }
          ]
        },
        "timeout": {
          "title": "Limits of one request",
          "description": "How long a request and its answer may take, redirects included: 2m unless said otherwise. The step's own timeout is for all requests together.",
          "anyOf": [
            {
              "$ref": "#/$defs/requestTime"
            },
            {
              "type": "object",
              "properties": {
                "connect": {
                  "$ref": "#/$defs/requestTime"
                },
                "idle": {
                  "$ref": "#/$defs/requestTime"
                },
                "total": {
                  "$ref": "#/$defs/requestTime"
                }
              },
              "patternProperties": {
                "^x-": {
                  "title": "Ignored",
                  "description": "A key that begins with x- is ignored: room for notes and for other tools."
                }
              },
              "additionalProperties": false
            }
          ],
          "default": "2m",
          "examples": [
            "30s",
            {
              "connect": "5s",
              "idle": "30s",
              "total": "10m"
            }
          ]
        },
        "redirects": {
          "title": "Redirects",
          "description": "How many are followed; 0: a redirect is an answer like any other.",
          "anyOf": [
            {
              "type": "integer",
              "minimum": 0,
              "maximum": 50
            },
            {
              "$ref": "#/$defs/expression"
            },
            {
              "type": "object",
              "properties": {
                "max": {
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 50
                    },
                    {
                      "$ref": "#/$defs/expression"
                    }
                  ]
                },
                "allowDowngrade": {
                  "title": "From https to http",
                  "type": "boolean",
                  "default": false
                }
              },
              "patternProperties": {
                "^x-": {
                  "title": "Ignored",
                  "description": "A key that begins with x- is ignored: room for notes and for other tools."
                }
              },
              "additionalProperties": false
            }
          ],
          "default": 10
        },
        "expect": {
          "title": "Which answers will do",
          "examples": [
            {
              "status": [
                200,
                404
              ]
            },
            {
              "when": "self.json.ok"
            }
          ],
          "type": "object",
          "properties": {
            "status": {
              "anyOf": [
                {
                  "$ref": "#/$defs/status"
                },
                {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/status"
                  },
                  "minItems": 1
                }
              ],
              "default": "2xx"
            },
            "when": {
              "title": "Condition",
              "description": "Read with the answer as self; unless it holds, the step fails.",
              "anyOf": [
                {
                  "type": "string",
                  "minLength": 1
                },
                {
                  "type": "boolean"
                }
              ]
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "additionalProperties": false
        },
        "saveTo": {
          "title": "File to save to",
          "description": "The body goes into this file, relative to the step's directory, when it is complete.",
          "type": "string",
          "minLength": 1,
          "examples": [
            "dist/tool.tar.gz"
          ]
        },
        "maxBytes": {
          "title": "Limit of the body",
          "description": "Once it is unpacked. 64MiB unless said otherwise, and none for what is saved.",
          "anyOf": [
            {
              "$ref": "#/$defs/size"
            },
            {
              "$ref": "#/$defs/expression"
            }
          ]
        },
        "proxy": {
          "title": "Proxy",
          "description": "The URL of a proxy, or env for what http_proxy and its like say. None unless said otherwise.",
          "type": "string",
          "minLength": 1,
          "examples": [
            "env",
            "http://proxy.example:3128"
          ]
        },
        "tls": {
          "title": "PEM files",
          "type": "object",
          "properties": {
            "caFile": {
              "title": "Authorities",
              "description": "A PEM file with authorities to trust in place of the system's.",
              "type": "string",
              "minLength": 1
            },
            "certFile": {
              "title": "Certificate",
              "description": "A PEM file with a certificate of one's own.",
              "type": "string",
              "minLength": 1
            },
            "keyFile": {
              "title": "Key",
              "description": "A PEM file with the certificate's key.",
              "type": "string",
              "minLength": 1
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "additionalProperties": false
        },
        "poll": {
          "title": "Asking until it is so",
          "examples": [
            {
              "until": "self.json.state == 'done'",
              "every": "10s"
            }
          ],
          "type": "object",
          "properties": {
            "until": {
              "title": "Condition",
              "description": "Read with the answer as self; until it holds, the same is asked again.",
              "anyOf": [
                {
                  "type": "string",
                  "minLength": 1
                },
                {
                  "type": "boolean"
                }
              ]
            },
            "every": {
              "title": "Pause",
              "description": "From an answer to the next request; nothing is held meanwhile.",
              "anyOf": [
                {
                  "$ref": "#/$defs/duration"
                },
                {
                  "type": "string",
                  "pattern": "^(?=.)(?:0+d)?(?:0+h)?(?:0+m)?(?:0+s)?(?:0+ms)?$"
                },
                {
                  "$ref": "#/$defs/expression"
                }
              ],
              "default": "5s"
            },
            "max": {
              "title": "Requests at most",
              "description": "How often it is asked in all.",
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 100000
                },
                {
                  "$ref": "#/$defs/expression"
                }
              ],
              "default": 100
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "until"
          ],
          "additionalProperties": false
        },
        "pages": {
          "title": "Pages",
          "examples": [
            {
              "next": "link"
            },
            {
              "next": "self.json.next",
              "collect": "self.json.items"
            }
          ],
          "type": "object",
          "properties": {
            "next": {
              "title": "Next page",
              "description": "link for the answer's Link header, or an expression that comes to a URL, read with the page as self; null or nothing after the last.",
              "anyOf": [
                {
                  "type": "string",
                  "minLength": 1
                },
                {
                  "type": "boolean"
                }
              ]
            },
            "max": {
              "title": "Pages at most",
              "description": "More fail the step.",
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 100000
                },
                {
                  "$ref": "#/$defs/expression"
                }
              ],
              "default": 100
            },
            "collect": {
              "title": "What is collected",
              "description": "An expression that comes to an array, read with the page as self; by default the page's JSON.",
              "anyOf": [
                {
                  "type": "string",
                  "minLength": 1
                },
                {
                  "type": "boolean"
                }
              ]
            },
            "origins": {
              "title": "Other origins",
              "description": "Origins besides that of the url to which the request goes with its body, or with a method that may change something. Credentials, certificates and the idempotency key go to none of them.",
              "examples": [
                [
                  "https://api.example.org"
                ]
              ],
              "type": "array",
              "items": {
                "type": "string",
                "minLength": 1
              }
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "next"
          ],
          "additionalProperties": false
        },
        "response": {
          "title": "What the body is",
          "description": "auto: what the answer says.",
          "enum": [
            "auto",
            "json",
            "text"
          ],
          "default": "auto"
        },
        "idempotencyKey": {
          "title": "Idempotency key",
          "description": "Sent as Idempotency-Key, so that a request which may have been done can be sent again: true for one of this run and step, or a text.",
          "anyOf": [
            {
              "type": "boolean"
            },
            {
              "type": "string",
              "minLength": 1
            }
          ]
        },
        "cache": {
          "title": "Cache",
          "description": "Answers are kept for later requests as far as the server allows it (RFC 9111): true for this run, or the path of a folder, relative to the step's directory, for later runs too.",
          "anyOf": [
            {
              "type": "boolean"
            },
            {
              "type": "string",
              "minLength": 1
            }
          ],
          "default": false,
          "examples": [
            true,
            ".cache/http"
          ]
        },
        "staleOnError": {
          "title": "Old answers",
          "description": "Whether a kept answer stands in for a server that is out of reach or fails, however old it is, or for how long after its lifetime.",
          "anyOf": [
            {
              "type": "boolean"
            },
            {
              "$ref": "#/$defs/duration"
            }
          ],
          "default": false
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "url"
      ],
      "additionalProperties": false,
      "allOf": [
        {
          "oneOf": [
            {
              "required": [
                "json"
              ]
            },
            {
              "required": [
                "body"
              ]
            },
            {
              "required": [
                "form"
              ]
            },
            {
              "required": [
                "multipart"
              ]
            },
            {
              "required": [
                "bodyFile"
              ]
            },
            {
              "not": {
                "anyOf": [
                  {
                    "required": [
                      "json"
                    ]
                  },
                  {
                    "required": [
                      "body"
                    ]
                  },
                  {
                    "required": [
                      "form"
                    ]
                  },
                  {
                    "required": [
                      "multipart"
                    ]
                  },
                  {
                    "required": [
                      "bodyFile"
                    ]
                  }
                ]
              }
            }
          ]
        },
        {
          "if": {
            "required": [
              "saveTo"
            ]
          },
          "then": {
            "properties": {
              "poll": false,
              "pages": false,
              "response": false
            }
          }
        },
        {
          "if": {
            "properties": {
              "staleOnError": {
                "not": {
                  "const": false
                }
              }
            },
            "required": [
              "staleOnError"
            ]
          },
          "then": {
            "properties": {
              "cache": {
                "not": {
                  "const": false
                }
              }
            },
            "required": [
              "cache"
            ]
          }
        }
      ],
      "examples": [
        {
          "url": "https://example.org/"
        },
        {
          "method": "PUT",
          "url": "https://registry.example/${{ inputs.version }}/app",
          "bodyFile": "dist/app",
          "auth": {
            "bearer": "${{ secrets.TOKEN }}"
          }
        }
      ]
    },
    "with": {
      "title": "Values for its inputs",
      "description": "The inputs of the other file, or what the action is given, by name. A text may have expressions in it; elsewhere a whole value is given by one.",
      "type": "object",
      "propertyNames": {
        "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
        "patternErrorMessage": "a name is letters, digits, \"_\" and \"-\", 255 at most, and begins with a letter or \"_\""
      },
      "additionalProperties": {
        "anyOf": [
          {
            "type": "string"
          },
          {
            "$ref": "#/$defs/literal"
          }
        ]
      },
      "examples": [
        {
          "version": "${{ inputs.version }}",
          "draft": true
        }
      ]
    },
    "literal": {
      "title": "Value",
      "description": "A value that is written out: there are no expressions inside of it.",
      "if": {
        "type": "string"
      },
      "then": {
        "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
        "patternErrorMessage": "an expression (\"${{\") cannot stand here, nor U+0000"
      },
      "else": {
        "additionalProperties": {
          "$ref": "#/$defs/literal"
        },
        "items": {
          "$ref": "#/$defs/literal"
        }
      }
    },
    "forEach": {
      "title": "For each",
      "description": "Runs the step or group once for each element of a list or object.",
      "markdownDescription": "Runs the step or group once for each element of a list or object, which expressions call `item` and what `as` says.\n\n```json\n\"forEach\": { \"in\": [\"linux\", \"macos\"], \"as\": \"os\", \"maxParallel\": 1 }\n```",
      "type": "object",
      "properties": {
        "in": {
          "title": "Elements",
          "description": "An array, an object, or one expression that comes to one.",
          "anyOf": [
            {
              "type": "array",
              "items": {
                "$ref": "#/$defs/literal"
              },
              "maxItems": 1000000
            },
            {
              "type": "object",
              "additionalProperties": {
                "$ref": "#/$defs/literal"
              }
            },
            {
              "$ref": "#/$defs/expression"
            }
          ]
        },
        "as": {
          "title": "Name",
          "description": "What expressions call the element, beside item.",
          "type": "string",
          "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
          "patternErrorMessage": "a name is letters, digits, \"_\" and \"-\", 255 at most, and begins with a letter or \"_\"",
          "not": {
            "pattern": "^(?:[Ii][Nn][Pp][Uu][Tt][Ss]|[Ee][Nn][Vv]|[Ss][Ee][Cc][Rr][Ee][Tt][Ss]|[Ss][Tt][Ee][Pp][Ss]|[Ss][Ee][Ll][Ff]|[Ii][Tt][Ee][Mm]|[Ii][Nn][Dd][Ee][Xx]|[Mm][Aa][Tt][Rr][Ii][Xx]|[Rr][Uu][Nn]|[Ww][Oo][Rr][Kk][Ff][Ll][Oo][Ww]|[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Nn][Uu][Ll][Ll]|[Nn][Aa][Nn]|[Ii][Nn][Ff][Ii][Nn][Ii][Tt][Yy])$"
          }
        },
        "key": {
          "title": "Key",
          "description": "An expression that names an element; without it, its index, or its key in an object.",
          "type": "string",
          "minLength": 1,
          "pattern": "^[^\\u0000]*$",
          "examples": [
            "item.name"
          ]
        },
        "maxParallel": {
          "$ref": "#/$defs/maxParallel",
          "description": "How many elements may be under way at once."
        },
        "tolerate": {
          "title": "Failures that are tolerated",
          "description": "How many elements may fail without the whole failing: a number, or a part of all, rounded down.",
          "anyOf": [
            {
              "type": "integer",
              "minimum": 0,
              "maximum": 1000000
            },
            {
              "type": "string",
              "pattern": "^0*(?:[0-9]{1,2}|100)%$"
            }
          ],
          "default": 0,
          "examples": [
            2,
            "10%"
          ]
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "required": [
        "in"
      ],
      "additionalProperties": false,
      "examples": [
        {
          "in": [
            "a",
            "b"
          ]
        },
        {
          "in": "${{ steps.list.json }}",
          "as": "file",
          "maxParallel": 4
        }
      ]
    },
    "axis": {
      "title": "Axis",
      "description": "The values of which each is combined with those of the other axes.",
      "anyOf": [
        {
          "type": "array",
          "minItems": 1,
          "maxItems": 1000000,
          "items": {
            "not": {
              "type": "array"
            },
            "$ref": "#/$defs/literal"
          }
        },
        {
          "$ref": "#/$defs/expression"
        }
      ]
    },
    "combinations": {
      "anyOf": [
        {
          "type": "array",
          "maxItems": 1000000,
          "items": {
            "type": "object",
            "$ref": "#/$defs/literal"
          }
        },
        {
          "$ref": "#/$defs/expression"
        }
      ]
    },
    "matrix": {
      "title": "Matrix",
      "description": "Runs the step or group once for each combination of values, as GitHub's strategy.matrix has it.",
      "markdownDescription": "Runs the step or group once for each combination of values; `exclude` leaves combinations out, `include` extends or adds some.\n\n```json\n\"matrix\": { \"os\": [\"linux\", \"macos\"], \"version\": [1, 2] }\n```",
      "type": "object",
      "properties": {
        "include": {
          "$ref": "#/$defs/combinations",
          "title": "Include",
          "description": "Objects that extend the combinations they fit, or else are added."
        },
        "exclude": {
          "$ref": "#/$defs/combinations",
          "title": "Exclude",
          "description": "Combinations that have all values of one of these are left out."
        }
      },
      "propertyNames": {
        "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
        "patternErrorMessage": "a name is letters, digits, \"_\" and \"-\", 255 at most, and begins with a letter or \"_\""
      },
      "additionalProperties": {
        "$ref": "#/$defs/axis"
      },
      "anyOf": [
        {
          "required": [
            "include"
          ]
        },
        {
          "minProperties": 2
        },
        {
          "minProperties": 1,
          "not": {
            "required": [
              "exclude"
            ]
          }
        }
      ],
      "examples": [
        {
          "os": [
            "linux",
            "macos"
          ],
          "include": [
            {
              "os": "windows"
            }
          ]
        }
      ]
    },
    "cleanupStep": {
      "oneOf": [
        {
          "$ref": "#/$defs/script"
        },
        {
          "$ref": "#/$defs/commandStep",
          "properties": {
            "needs": false,
            "cleanup": false,
            "cache": false,
            "forEach": false,
            "matrix": false
          }
        },
        {
          "$ref": "#/$defs/computeStep",
          "properties": {
            "needs": false,
            "cleanup": false,
            "cache": false,
            "forEach": false,
            "matrix": false
          }
        },
        {
          "$ref": "#/$defs/waitStep",
          "properties": {
            "needs": false,
            "cleanup": false,
            "cache": false,
            "forEach": false,
            "matrix": false
          }
        },
        {
          "$ref": "#/$defs/actionStep",
          "properties": {
            "needs": false,
            "cleanup": false,
            "cache": false,
            "forEach": false,
            "matrix": false
          }
        },
        {
          "$ref": "#/$defs/approveStep",
          "properties": {
            "needs": false,
            "cleanup": false,
            "cache": false,
            "forEach": false,
            "matrix": false
          }
        }
      ]
    },
    "cleanup": {
      "title": "Clean-up",
      "description": "A step, or several that run in order, when the group around this one ends or the run does, if this one was started.",
      "anyOf": [
        {
          "$ref": "#/$defs/cleanupStep"
        },
        {
          "type": "array",
          "items": {
            "$ref": "#/$defs/cleanupStep"
          }
        }
      ],
      "examples": [
        "rm -rf out",
        [
          "make down",
          {
            "run": [
              "rm",
              "-rf",
              "out"
            ]
          }
        ]
      ]
    },
    "finally": {
      "title": "Finally",
      "description": "Steps and groups that run one after another when all else has ended, however it has.",
      "type": "array",
      "items": {
        "$ref": "#/$defs/step"
      },
      "examples": [
        [
          "make clean"
        ]
      ]
    },
    "defaults": {
      "title": "Defaults",
      "description": "What holds for every step that runs something and does not say otherwise.",
      "type": "object",
      "properties": {
        "timeout": {
          "anyOf": [
            {
              "$ref": "#/$defs/duration"
            },
            {
              "$ref": "#/$defs/expression"
            }
          ],
          "title": "Time limit",
          "description": "How long one attempt may take, from its start; of a group, from the moment its dependencies are done. When it is over, everything that was started is ended."
        },
        "retry": {
          "$ref": "#/$defs/retry"
        },
        "shell": {
          "$ref": "#/$defs/shell"
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "additionalProperties": false,
      "examples": [
        {
          "timeout": "10m",
          "retry": 1
        }
      ]
    },
    "name": {
      "title": "Name",
      "description": "What people see; any text.",
      "type": "string",
      "minLength": 1,
      "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
      "patternErrorMessage": "an expression (\"${{\") cannot stand here, nor U+0000"
    },
    "stepName": {
      "title": "Name",
      "description": "What people see; expressions in it read inputs, run and workflow.",
      "type": "string",
      "minLength": 1,
      "pattern": "^[^\\u0000]*$",
      "patternErrorMessage": "U+0000 cannot be passed to a program"
    },
    "description": {
      "title": "Description",
      "description": "What it is for; any text.",
      "type": "string",
      "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
      "patternErrorMessage": "an expression (\"${{\") cannot stand here, nor U+0000"
    },
    "env": {
      "title": "Environment",
      "description": "Environment variables by name, merged with those from outside: the inner value wins, null removes a variable. Numbers and booleans are passed as they are written.",
      "type": "object",
      "propertyNames": {
        "minLength": 1,
        "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))[^=]*$",
        "patternErrorMessage": "a variable's name is not empty and has no \"=\" in it"
      },
      "additionalProperties": {
        "type": [
          "string",
          "number",
          "boolean",
          "null"
        ],
        "pattern": "^[^\\u0000]*$",
        "patternErrorMessage": "U+0000 cannot be passed to a program"
      },
      "examples": [
        {
          "LANG": "C.UTF-8",
          "RETRIES": 3,
          "DISPLAY": null
        }
      ]
    },
    "envPolicy": {
      "title": "Environment from outside",
      "description": "What steps get of the environment that weft has, beside what is declared in env. The inner one wins.",
      "markdownDescription": "What steps get of the environment that weft has, beside what is declared in `env`. The inner one wins.\n\n- `inherit`: all of it but the sources of secrets\n- `clean`: only `PATH HOME USER LOGNAME SHELL LANG TZ TMPDIR TERM` and `LC_*`",
      "enum": [
        "inherit",
        "clean"
      ],
      "enumDescriptions": [
        "All of it but the sources of secrets.",
        "Only PATH, HOME, USER, LOGNAME, SHELL, LANG, TZ, TMPDIR, TERM and LC_*."
      ],
      "default": "inherit"
    },
    "cwd": {
      "title": "Working directory",
      "description": "Where commands run, relative to the directory where weft was started (or -C), never to an outer cwd. The inner one wins.",
      "examples": [
        "web",
        "/tmp"
      ],
      "type": "string",
      "minLength": 1,
      "pattern": "^[^\\u0000]*$",
      "patternErrorMessage": "U+0000 cannot be passed to a program"
    },
    "shell": {
      "title": "Shell",
      "description": "What runs scripts: one of the named shells, or a command line to which the script is appended as the last argument. The inner one wins.",
      "markdownDescription": "What runs scripts; the inner one wins.\n\n- `sh`: `/bin/sh -e -c`\n- `bash`: `bash -eo pipefail -c`\n- `python`: `python3 -c`\n- or a command line to which the script is appended as the last argument, such as `[\"zsh\", \"-e\", \"-c\"]`",
      "anyOf": [
        {
          "enum": [
            "sh",
            "bash",
            "python"
          ],
          "enumDescriptions": [
            "/bin/sh -e: ends at the first command that fails.",
            "bash -eo pipefail: also when a part of a pipeline fails.",
            "python3."
          ]
        },
        {
          "$ref": "#/$defs/commandLine",
          "description": "A command line to which the script is appended as the last argument."
        }
      ],
      "default": "sh",
      "examples": [
        "bash",
        [
          "zsh",
          "-e",
          "-c"
        ]
      ]
    },
    "maxParallel": {
      "title": "How many at once",
      "description": "How many steps inside may run at once.",
      "anyOf": [
        {
          "type": "integer",
          "minimum": 1,
          "maximum": 10000
        },
        {
          "$ref": "#/$defs/expression"
        }
      ],
      "examples": [
        4
      ]
    },
    "duration": {
      "title": "Duration",
      "description": "Whole numbers with the units d, h, m, s and ms, from the largest to the smallest: 30s, 1h30m, 1500ms. At most 366d.",
      "type": "string",
      "pattern": "^(?=.*[1-9])(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?(?:[0-9]+ms)?$",
      "patternErrorMessage": "expected a duration like \"30s\", \"5m\", \"1h30m\" or \"1500ms\"",
      "examples": [
        "30s",
        "5m",
        "1h30m",
        "1500ms",
        "2d"
      ]
    },
    "size": {
      "title": "Amount of data",
      "description": "A whole number with one of the units GB, MB, KB (powers of 1000), GiB, MiB, KiB (powers of 1024) and B. At most 1048576GiB.",
      "type": "string",
      "pattern": "^(?=.*[1-9])[0-9]+(?:[GMK]i?)?B$",
      "patternErrorMessage": "expected a size like \"10MB\", \"64KiB\" or \"512B\"",
      "examples": [
        "64KiB",
        "10MB",
        "1GiB",
        "512B"
      ]
    },
    "expression": {
      "title": "Expression",
      "description": "Exactly one expression in place of the value.",
      "type": "string",
      "pattern": "^\\$\\{\\{[\\s\\S]*\\}\\}$",
      "examples": [
        "${{ inputs.limit }}"
      ]
    },
    "errorClass": {
      "title": "Class of failure",
      "anyOf": [
        {
          "enum": [
            "exit",
            "signal",
            "spawn",
            "lost",
            "timeout",
            "stall",
            "limit",
            "output",
            "expression",
            "action",
            "network",
            "http",
            "redirect",
            "protocol",
            "decode",
            "rejected"
          ],
          "enumDescriptions": [
            "Any exit code that is not a success.",
            "Ended by a signal.",
            "The program could not be started.",
            "The time limit was over.",
            "It was silent for longer than allowed.",
            "An argument or environment value is longer than the system passes.",
            "What it printed or wrote is no value, or not the declared one.",
            "An expression could not be evaluated.",
            "An action threw an error.",
            "No connection, or none that held until the answer was there.",
            "An answer that was not expected.",
            "A redirect that was not followed.",
            "What answered does not speak HTTP as it should.",
            "An answer that is not what it was asked to be.",
            "A person who was asked said no."
          ]
        },
        {
          "type": "string",
          "pattern": "^exit:(?:[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$",
          "title": "Exit with this code",
          "examples": [
            "exit:3"
          ]
        },
        {
          "enum": [
            "signal:HUP",
            "signal:INT",
            "signal:QUIT",
            "signal:ILL",
            "signal:TRAP",
            "signal:ABRT",
            "signal:BUS",
            "signal:FPE",
            "signal:KILL",
            "signal:USR1",
            "signal:SEGV",
            "signal:USR2",
            "signal:PIPE",
            "signal:ALRM",
            "signal:TERM",
            "signal:STKFLT",
            "signal:VTALRM",
            "signal:PROF",
            "signal:XCPU",
            "signal:XFSZ",
            "signal:IO",
            "signal:PWR",
            "signal:SYS"
          ],
          "title": "Ended by this signal"
        },
        {
          "type": "string",
          "pattern": "^http:[2-9](?:xx|[0-9][0-9])$",
          "title": "Answered with this status",
          "examples": [
            "http:404",
            "http:5xx"
          ]
        },
        {
          "enum": [
            "network:dns",
            "network:connect",
            "network:tls",
            "network:reset",
            "network:read"
          ],
          "title": "Where on its way the connection failed"
        }
      ]
    },
    "secrets": {
      "title": "Secrets",
      "description": "Secrets by the names that expressions call them by. They are read when a run starts, and masked in everything that is written or shown.",
      "markdownDescription": "Secrets by the names that expressions call them by.\n\n```json\n\"secrets\": { \"TOKEN\": { \"env\": \"RELEASE_TOKEN\" } }\n```\n\nThey are read when a run starts, and masked in everything that is written or shown.",
      "type": "object",
      "propertyNames": {
        "pattern": "^(?![Ww][Ee][Ff][Tt]_)[A-Za-z_][A-Za-z0-9_-]{0,254}$",
        "patternErrorMessage": "a name is a letter or \"_\", then letters, digits, \"_\" or \"-\", 255 at most, and does not begin with WEFT_"
      },
      "additionalProperties": {
        "$ref": "#/$defs/secret"
      },
      "examples": [
        {
          "TOKEN": {
            "env": "RELEASE_TOKEN"
          }
        }
      ]
    },
    "secret": {
      "title": "Secret",
      "description": "Where the value is: one of env, file, command and descriptor.",
      "anyOf": [
        {
          "title": "Variable",
          "type": "object",
          "properties": {
            "env": {
              "title": "Variable",
              "description": "The value of this variable of the environment that weft has. Steps do not get the variable itself.",
              "type": "string",
              "minLength": 1,
              "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))[^=]*$",
              "patternErrorMessage": "a variable's name is not empty and has no \"=\" in it"
            },
            "description": {
              "$ref": "#/$defs/description"
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "env"
          ],
          "additionalProperties": false
        },
        {
          "title": "File",
          "type": "object",
          "properties": {
            "file": {
              "title": "File",
              "description": "What is in this file, less one newline at its end; relative to the start directory.",
              "type": "string",
              "minLength": 1,
              "pattern": "^(?![\\s\\S]*(\\$\\{\\{|\\u0000))",
              "patternErrorMessage": "a source is written as it is, without expressions (\"${{\") and U+0000"
            },
            "description": {
              "$ref": "#/$defs/description"
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "file"
          ],
          "additionalProperties": false
        },
        {
          "title": "Command",
          "type": "object",
          "properties": {
            "command": {
              "title": "Command",
              "description": "What this program prints, less one newline at its end: the program and its arguments, started without a shell.",
              "$ref": "#/$defs/arguments"
            },
            "timeout": {
              "$ref": "#/$defs/duration",
              "title": "Time limit",
              "description": "How long the program may take.",
              "default": "30s"
            },
            "description": {
              "$ref": "#/$defs/description"
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "command"
          ],
          "additionalProperties": false
        },
        {
          "title": "Descriptor",
          "type": "object",
          "properties": {
            "descriptor": {
              "title": "Descriptor",
              "description": "What is read from this descriptor, which is open when weft starts, less one newline at its end; it is closed then.",
              "type": "integer",
              "minimum": 3,
              "maximum": 1048575,
              "examples": [
                3
              ]
            },
            "description": {
              "$ref": "#/$defs/description"
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "required": [
            "descriptor"
          ],
          "additionalProperties": false
        }
      ],
      "examples": [
        {
          "env": "RELEASE_TOKEN"
        },
        {
          "file": "/run/secrets/token"
        },
        {
          "command": [
            "pass",
            "show",
            "release"
          ]
        },
        {
          "descriptor": 3
        }
      ]
    },
    "input": {
      "title": "Input",
      "description": "What may be given for an input: JSON Schema, and a default.",
      "type": "object",
      "properties": {
        "type": {
          "title": "Type",
          "description": "The type that the value must have, or several types of which it must have one. Without it any value may be given.",
          "anyOf": [
            {
              "$ref": "#/$defs/valueType"
            },
            {
              "type": "array",
              "items": {
                "$ref": "#/$defs/valueType"
              },
              "minItems": 1,
              "uniqueItems": true
            }
          ]
        },
        "enum": {
          "title": "Allowed values",
          "description": "The values of which it must be one.",
          "type": "array",
          "minItems": 1,
          "uniqueItems": true
        },
        "const": {
          "title": "Only value",
          "description": "The value that it must be."
        },
        "pattern": {
          "title": "Pattern",
          "description": "A regular expression (ECMA-262) that a text must match somewhere; ^…$ for the whole text. There is no looking around, and there are no references back.",
          "type": "string"
        },
        "minLength": {
          "description": "The least characters of a text.",
          "$ref": "#/$defs/limit"
        },
        "maxLength": {
          "description": "The most characters of a text.",
          "$ref": "#/$defs/limit"
        },
        "minimum": {
          "description": "The least number.",
          "type": "number"
        },
        "maximum": {
          "description": "The greatest number.",
          "type": "number"
        },
        "exclusiveMinimum": {
          "description": "A number that it must be greater than.",
          "type": "number"
        },
        "exclusiveMaximum": {
          "description": "A number that it must be less than.",
          "type": "number"
        },
        "multipleOf": {
          "description": "A number of which it must be a multiple, exactly.",
          "type": "number",
          "exclusiveMinimum": 0
        },
        "items": {
          "description": "What each element of an array must be like.",
          "$ref": "#/$defs/valueSchema"
        },
        "minItems": {
          "description": "The least elements of an array.",
          "$ref": "#/$defs/limit"
        },
        "maxItems": {
          "description": "The most elements of an array.",
          "$ref": "#/$defs/limit"
        },
        "uniqueItems": {
          "description": "Whether each element of an array stands in it only once.",
          "type": "boolean"
        },
        "properties": {
          "description": "What the properties of an object must be like, where they are there.",
          "type": "object",
          "additionalProperties": {
            "$ref": "#/$defs/valueSchema"
          }
        },
        "required": {
          "description": "The properties that an object must have.",
          "type": "array",
          "items": {
            "type": "string"
          },
          "uniqueItems": true
        },
        "additionalProperties": {
          "description": "What properties must be like that are not among \"properties\"; false: there must be none.",
          "anyOf": [
            {
              "type": "boolean"
            },
            {
              "$ref": "#/$defs/valueSchema"
            }
          ]
        },
        "minProperties": {
          "description": "The least properties of an object.",
          "$ref": "#/$defs/limit"
        },
        "maxProperties": {
          "description": "The most properties of an object.",
          "$ref": "#/$defs/limit"
        },
        "title": {
          "description": "What people call it.",
          "type": "string"
        },
        "description": {
          "description": "What it is for, shown by weft run FILE --help.",
          "type": "string"
        },
        "default": {
          "title": "Default",
          "description": "The value when nothing is given; it must fit the rest, and is taken as it is written. Without it the input must be given."
        },
        "secret": {
          "description": "Whether its value is a secret: it is not shown, and refused where it could be seen.",
          "type": "boolean",
          "default": false
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "additionalProperties": false,
      "dependentSchemas": {
        "pattern": {
          "$ref": "#/$defs/about-string"
        },
        "minLength": {
          "$ref": "#/$defs/about-string"
        },
        "maxLength": {
          "$ref": "#/$defs/about-string"
        },
        "minimum": {
          "$ref": "#/$defs/about-number"
        },
        "maximum": {
          "$ref": "#/$defs/about-number"
        },
        "exclusiveMinimum": {
          "$ref": "#/$defs/about-number"
        },
        "exclusiveMaximum": {
          "$ref": "#/$defs/about-number"
        },
        "multipleOf": {
          "$ref": "#/$defs/about-number"
        },
        "items": {
          "$ref": "#/$defs/about-array"
        },
        "minItems": {
          "$ref": "#/$defs/about-array"
        },
        "maxItems": {
          "$ref": "#/$defs/about-array"
        },
        "uniqueItems": {
          "$ref": "#/$defs/about-array"
        },
        "properties": {
          "$ref": "#/$defs/about-object"
        },
        "required": {
          "$ref": "#/$defs/about-object"
        },
        "additionalProperties": {
          "$ref": "#/$defs/about-object"
        },
        "minProperties": {
          "$ref": "#/$defs/about-object"
        },
        "maxProperties": {
          "$ref": "#/$defs/about-object"
        }
      },
      "examples": [
        {
          "type": "integer",
          "minimum": 1,
          "default": 3
        },
        {
          "enum": [
            "stable",
            "nightly"
          ]
        }
      ]
    },
    "valueSchema": {
      "title": "What a part of a value must be like",
      "type": "object",
      "properties": {
        "type": {
          "title": "Type",
          "description": "The type that the value must have, or several types of which it must have one. Without it any value may be given.",
          "anyOf": [
            {
              "$ref": "#/$defs/valueType"
            },
            {
              "type": "array",
              "items": {
                "$ref": "#/$defs/valueType"
              },
              "minItems": 1,
              "uniqueItems": true
            }
          ]
        },
        "enum": {
          "title": "Allowed values",
          "description": "The values of which it must be one.",
          "type": "array",
          "minItems": 1,
          "uniqueItems": true
        },
        "const": {
          "title": "Only value",
          "description": "The value that it must be."
        },
        "pattern": {
          "title": "Pattern",
          "description": "A regular expression (ECMA-262) that a text must match somewhere; ^…$ for the whole text. There is no looking around, and there are no references back.",
          "type": "string"
        },
        "minLength": {
          "description": "The least characters of a text.",
          "$ref": "#/$defs/limit"
        },
        "maxLength": {
          "description": "The most characters of a text.",
          "$ref": "#/$defs/limit"
        },
        "minimum": {
          "description": "The least number.",
          "type": "number"
        },
        "maximum": {
          "description": "The greatest number.",
          "type": "number"
        },
        "exclusiveMinimum": {
          "description": "A number that it must be greater than.",
          "type": "number"
        },
        "exclusiveMaximum": {
          "description": "A number that it must be less than.",
          "type": "number"
        },
        "multipleOf": {
          "description": "A number of which it must be a multiple, exactly.",
          "type": "number",
          "exclusiveMinimum": 0
        },
        "items": {
          "description": "What each element of an array must be like.",
          "$ref": "#/$defs/valueSchema"
        },
        "minItems": {
          "description": "The least elements of an array.",
          "$ref": "#/$defs/limit"
        },
        "maxItems": {
          "description": "The most elements of an array.",
          "$ref": "#/$defs/limit"
        },
        "uniqueItems": {
          "description": "Whether each element of an array stands in it only once.",
          "type": "boolean"
        },
        "properties": {
          "description": "What the properties of an object must be like, where they are there.",
          "type": "object",
          "additionalProperties": {
            "$ref": "#/$defs/valueSchema"
          }
        },
        "required": {
          "description": "The properties that an object must have.",
          "type": "array",
          "items": {
            "type": "string"
          },
          "uniqueItems": true
        },
        "additionalProperties": {
          "description": "What properties must be like that are not among \"properties\"; false: there must be none.",
          "anyOf": [
            {
              "type": "boolean"
            },
            {
              "$ref": "#/$defs/valueSchema"
            }
          ]
        },
        "minProperties": {
          "description": "The least properties of an object.",
          "$ref": "#/$defs/limit"
        },
        "maxProperties": {
          "description": "The most properties of an object.",
          "$ref": "#/$defs/limit"
        },
        "title": {
          "description": "What people call it.",
          "type": "string"
        },
        "description": {
          "description": "What it is for, shown by weft run FILE --help.",
          "type": "string"
        }
      },
      "patternProperties": {
        "^x-": {
          "title": "Ignored",
          "description": "A key that begins with x- is ignored: room for notes and for other tools."
        }
      },
      "additionalProperties": false,
      "dependentSchemas": {
        "pattern": {
          "$ref": "#/$defs/about-string"
        },
        "minLength": {
          "$ref": "#/$defs/about-string"
        },
        "maxLength": {
          "$ref": "#/$defs/about-string"
        },
        "minimum": {
          "$ref": "#/$defs/about-number"
        },
        "maximum": {
          "$ref": "#/$defs/about-number"
        },
        "exclusiveMinimum": {
          "$ref": "#/$defs/about-number"
        },
        "exclusiveMaximum": {
          "$ref": "#/$defs/about-number"
        },
        "multipleOf": {
          "$ref": "#/$defs/about-number"
        },
        "items": {
          "$ref": "#/$defs/about-array"
        },
        "minItems": {
          "$ref": "#/$defs/about-array"
        },
        "maxItems": {
          "$ref": "#/$defs/about-array"
        },
        "uniqueItems": {
          "$ref": "#/$defs/about-array"
        },
        "properties": {
          "$ref": "#/$defs/about-object"
        },
        "required": {
          "$ref": "#/$defs/about-object"
        },
        "additionalProperties": {
          "$ref": "#/$defs/about-object"
        },
        "minProperties": {
          "$ref": "#/$defs/about-object"
        },
        "maxProperties": {
          "$ref": "#/$defs/about-object"
        }
      }
    },
    "valueType": {
      "enum": [
        "string",
        "number",
        "integer",
        "boolean",
        "array",
        "object",
        "null"
      ]
    },
    "limit": {
      "type": "integer",
      "minimum": 0,
      "maximum": 2147483647
    },
    "about-string": {
      "properties": {
        "type": {
          "anyOf": [
            {
              "const": "string"
            },
            {
              "type": "array",
              "contains": {
                "const": "string"
              }
            }
          ]
        }
      }
    },
    "about-number": {
      "properties": {
        "type": {
          "anyOf": [
            {
              "enum": [
                "number",
                "integer"
              ]
            },
            {
              "type": "array",
              "contains": {
                "enum": [
                  "number",
                  "integer"
                ]
              }
            }
          ]
        }
      }
    },
    "about-array": {
      "properties": {
        "type": {
          "anyOf": [
            {
              "const": "array"
            },
            {
              "type": "array",
              "contains": {
                "const": "array"
              }
            }
          ]
        }
      }
    },
    "about-object": {
      "properties": {
        "type": {
          "anyOf": [
            {
              "const": "object"
            },
            {
              "type": "array",
              "contains": {
                "const": "object"
              }
            }
          ]
        }
      }
    },
    "output": {
      "title": "Output",
      "description": "A value that is handed on: a text with expressions, or what it must be like, and a value unless the step's program writes it into $WEFT_OUTPUT.",
      "anyOf": [
        {
          "title": "Value",
          "type": "string",
          "pattern": "^[^\\u0000]*$",
          "patternErrorMessage": "U+0000 cannot be passed to a program"
        },
        {
          "title": "Declaration",
          "type": "object",
          "properties": {
            "value": {
              "title": "Value",
              "description": "A text; exactly one expression keeps its type.",
              "type": "string",
              "pattern": "^[^\\u0000]*$",
              "patternErrorMessage": "U+0000 cannot be passed to a program"
            },
            "type": {
              "title": "Type",
              "description": "The type that the value must have, or several types of which it must have one. Without it any value may be given.",
              "anyOf": [
                {
                  "$ref": "#/$defs/valueType"
                },
                {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/valueType"
                  },
                  "minItems": 1,
                  "uniqueItems": true
                }
              ]
            },
            "enum": {
              "title": "Allowed values",
              "description": "The values of which it must be one.",
              "type": "array",
              "minItems": 1,
              "uniqueItems": true
            },
            "const": {
              "title": "Only value",
              "description": "The value that it must be."
            },
            "pattern": {
              "title": "Pattern",
              "description": "A regular expression (ECMA-262) that a text must match somewhere; ^…$ for the whole text. There is no looking around, and there are no references back.",
              "type": "string"
            },
            "minLength": {
              "description": "The least characters of a text.",
              "$ref": "#/$defs/limit"
            },
            "maxLength": {
              "description": "The most characters of a text.",
              "$ref": "#/$defs/limit"
            },
            "minimum": {
              "description": "The least number.",
              "type": "number"
            },
            "maximum": {
              "description": "The greatest number.",
              "type": "number"
            },
            "exclusiveMinimum": {
              "description": "A number that it must be greater than.",
              "type": "number"
            },
            "exclusiveMaximum": {
              "description": "A number that it must be less than.",
              "type": "number"
            },
            "multipleOf": {
              "description": "A number of which it must be a multiple, exactly.",
              "type": "number",
              "exclusiveMinimum": 0
            },
            "items": {
              "description": "What each element of an array must be like.",
              "$ref": "#/$defs/valueSchema"
            },
            "minItems": {
              "description": "The least elements of an array.",
              "$ref": "#/$defs/limit"
            },
            "maxItems": {
              "description": "The most elements of an array.",
              "$ref": "#/$defs/limit"
            },
            "uniqueItems": {
              "description": "Whether each element of an array stands in it only once.",
              "type": "boolean"
            },
            "properties": {
              "description": "What the properties of an object must be like, where they are there.",
              "type": "object",
              "additionalProperties": {
                "$ref": "#/$defs/valueSchema"
              }
            },
            "required": {
              "description": "The properties that an object must have.",
              "type": "array",
              "items": {
                "type": "string"
              },
              "uniqueItems": true
            },
            "additionalProperties": {
              "description": "What properties must be like that are not among \"properties\"; false: there must be none.",
              "anyOf": [
                {
                  "type": "boolean"
                },
                {
                  "$ref": "#/$defs/valueSchema"
                }
              ]
            },
            "minProperties": {
              "description": "The least properties of an object.",
              "$ref": "#/$defs/limit"
            },
            "maxProperties": {
              "description": "The most properties of an object.",
              "$ref": "#/$defs/limit"
            },
            "title": {
              "description": "What people call it.",
              "type": "string"
            },
            "description": {
              "description": "What it is for, shown by weft run FILE --help.",
              "type": "string"
            },
            "secret": {
              "description": "Whether its value is a secret: it is not shown, and refused where it could be seen.",
              "type": "boolean",
              "default": false
            }
          },
          "patternProperties": {
            "^x-": {
              "title": "Ignored",
              "description": "A key that begins with x- is ignored: room for notes and for other tools."
            }
          },
          "additionalProperties": false,
          "dependentSchemas": {
            "pattern": {
              "$ref": "#/$defs/about-string"
            },
            "minLength": {
              "$ref": "#/$defs/about-string"
            },
            "maxLength": {
              "$ref": "#/$defs/about-string"
            },
            "minimum": {
              "$ref": "#/$defs/about-number"
            },
            "maximum": {
              "$ref": "#/$defs/about-number"
            },
            "exclusiveMinimum": {
              "$ref": "#/$defs/about-number"
            },
            "exclusiveMaximum": {
              "$ref": "#/$defs/about-number"
            },
            "multipleOf": {
              "$ref": "#/$defs/about-number"
            },
            "items": {
              "$ref": "#/$defs/about-array"
            },
            "minItems": {
              "$ref": "#/$defs/about-array"
            },
            "maxItems": {
              "$ref": "#/$defs/about-array"
            },
            "uniqueItems": {
              "$ref": "#/$defs/about-array"
            },
            "properties": {
              "$ref": "#/$defs/about-object"
            },
            "required": {
              "$ref": "#/$defs/about-object"
            },
            "additionalProperties": {
              "$ref": "#/$defs/about-object"
            },
            "minProperties": {
              "$ref": "#/$defs/about-object"
            },
            "maxProperties": {
              "$ref": "#/$defs/about-object"
            }
          },
          "examples": [
            {
              "type": "integer",
              "minimum": 1
            },
            {
              "value": "${{ self.json.version }}",
              "type": "string"
            }
          ]
        }
      ]
    },
    "outputs": {
      "title": "Outputs",
      "description": "What is handed on, by name.",
      "type": "object",
      "propertyNames": {
        "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,254}$",
        "patternErrorMessage": "a name is letters, digits, \"_\" and \"-\", 255 at most, and begins with a letter or \"_\""
      },
      "additionalProperties": {
        "$ref": "#/$defs/output"
      },
      "examples": [
        {
          "version": "${{ self.stdout }}"
        },
        {
          "count": {
            "type": "integer"
          }
        }
      ]
    }
  },
  "not": {
    "title": "A shell twice",
    "required": [
      "shell",
      "defaults"
    ],
    "properties": {
      "defaults": {
        "required": [
          "shell"
        ]
      }
    }
  }
}

"""##
    case .event:
      ##"""
{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:weft:event.schema",
  "title": "Weft event",
  "description": "One line of what `weft run --events` writes: something that happened during a run, in the order in which it happened. Durations are whole microseconds. What is not known is left out, never null.",
  "type": "object",
  "required": ["n", "at", "type"],
  "properties": {
    "type": {
      "description": "What happened. Readers should be ready for kinds that a later version adds.",
      "enum": [
        "run.started", "step.queued", "step.started", "step.asking", "step.waiting", "step.output", "step.retrying",
        "step.finished", "step.restored", "step.cached", "step.skipped", "group.started", "group.retrying", "group.finished",
        "run.warning", "run.cancelling", "run.finished", "run.waiting", "output.dropped", "run.snapshot"
      ]
    }
  },
  "oneOf": [
    { "$ref": "#/$defs/runStarted" },
    { "$ref": "#/$defs/stepQueued" },
    { "$ref": "#/$defs/stepStarted" },
    { "$ref": "#/$defs/stepAsking" },
    { "$ref": "#/$defs/stepWaiting" },
    { "$ref": "#/$defs/stepOutput" },
    { "$ref": "#/$defs/stepRetrying" },
    { "$ref": "#/$defs/stepFinished" },
    { "$ref": "#/$defs/stepRestored" },
    { "$ref": "#/$defs/stepCached" },
    { "$ref": "#/$defs/stepSkipped" },
    { "$ref": "#/$defs/groupStarted" },
    { "$ref": "#/$defs/groupRetrying" },
    { "$ref": "#/$defs/groupFinished" },
    { "$ref": "#/$defs/runWarning" },
    { "$ref": "#/$defs/runCancelling" },
    { "$ref": "#/$defs/runFinished" },
    { "$ref": "#/$defs/runWaiting" },
    { "$ref": "#/$defs/outputDropped" },
    { "$ref": "#/$defs/runSnapshot" }
  ],
  "$defs": {
    "n": {
      "description": "Sequence number, from 1, without gaps but those that output.dropped and run.snapshot name.",
      "type": "integer",
      "minimum": 1
    },
    "at": {
      "description": "When it happened: RFC 3339, UTC, milliseconds. Made from the run's start and a clock that does not jump, so that it never goes back within a run.",
      "type": "string",
      "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"
    },
    "address": {
      "description": "What a step or group is called: its id, or its position from 1 under the nearest id, such as 3, 2.1 or checks.3; of an element of a forEach or matrix with the element's key in brackets, such as upload[3] or deploy[eu].push; of what is in another file with the step that runs it before a slash, such as deploy/push. A key may be any text.",
      "type": "string",
      "pattern": "^[A-Za-z0-9_][A-Za-z0-9_./-]*(\\[[\\s\\S]*\\][A-Za-z0-9_./-]*)?$"
    },
    "durationUs": {
      "description": "A duration in microseconds.",
      "type": "integer",
      "minimum": 0
    },
    "count": { "type": "integer", "minimum": 0 },
    "outcome": {
      "description": "What happened to it.",
      "enum": ["success", "failure", "cancelled", "skipped"]
    },
    "conclusion": {
      "description": "What that counts as: success for a tolerated failure, else the outcome.",
      "enum": ["success", "failure", "cancelled", "skipped"]
    },
    "format": {
      "description": "The version of this format.",
      "const": 1
    },
    "weft": {
      "description": "The version of Weft that wrote this.",
      "type": "string",
      "minLength": 1
    },
    "run": {
      "description": "The id of the run: when it started (UTC) and six random hexadecimal digits.",
      "type": "string",
      "pattern": "^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$"
    },
    "workflow": {
      "description": "The workflow's name, if it has one.",
      "type": "string"
    },
    "file": {
      "description": "The path of the workflow file as it was given, if it came from a file.",
      "type": "string"
    },
    "steps": {
      "description": "How many steps the plan has, groups not counted.",
      "$ref": "#/$defs/count"
    },
    "groups": {
      "description": "How many groups the plan has.",
      "$ref": "#/$defs/count"
    },
    "maxParallel": {
      "description": "How many steps may run at once.",
      "type": "integer",
      "minimum": 1
    },
    "pid": {
      "description": "The process that runs the engine.",
      "type": "integer",
      "minimum": 1
    },
    "cancelReason": {
      "description": "Why something that ran, or would have run, was ended.",
      "oneOf": [
        {
          "description": "The program that embeds Weft asked for it.",
          "type": "object",
          "required": ["kind"],
          "additionalProperties": false,
          "properties": { "kind": { "const": "requested" } }
        },
        {
          "description": "The engine received a signal.",
          "type": "object",
          "required": ["kind", "signal"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "signal" },
            "signal": { "$ref": "#/$defs/signal" }
          }
        },
        {
          "description": "The workflow's own time limit passed.",
          "type": "object",
          "required": ["kind", "limitUs"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "runTimeout" },
            "limitUs": { "$ref": "#/$defs/durationUs" }
          }
        },
        {
          "description": "The time limit of a group passed.",
          "type": "object",
          "required": ["kind", "of", "limitUs"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "groupTimeout" },
            "of": { "$ref": "#/$defs/address" },
            "limitUs": { "$ref": "#/$defs/durationUs" }
          }
        },
        {
          "description": "A step or group failed, and `onFailure` is `cancel`.",
          "type": "object",
          "required": ["kind", "of"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "failure" },
            "of": { "$ref": "#/$defs/address" }
          }
        },
        {
          "description": "Another member won the race.",
          "type": "object",
          "required": ["kind", "of", "by"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "raceWon" },
            "of": { "$ref": "#/$defs/address" },
            "by": { "$ref": "#/$defs/address" }
          }
        },
        {
          "description": "So many members of the group had succeeded as it waits for (`join`).",
          "type": "object",
          "required": ["kind", "of"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "joined" },
            "of": { "$ref": "#/$defs/address" }
          }
        },
        {
          "description": "The record of the run could not be written: nothing new starts, and what runs goes on to its end.",
          "type": "object",
          "required": ["kind"],
          "additionalProperties": false,
          "properties": { "kind": { "const": "recordLost" } }
        }
      ]
    },
    "skipReason": {
      "description": "Why a step never started.",
      "oneOf": [
        {
          "description": "Something it needs did not succeed.",
          "type": "object",
          "required": ["kind", "of"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "dependencyFailed" },
            "of": { "$ref": "#/$defs/address" }
          }
        },
        {
          "description": "Nothing new starts after this step or group failed.",
          "type": "object",
          "required": ["kind", "of"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "heldBack" },
            "of": { "$ref": "#/$defs/address" }
          }
        },
        {
          "description": "The `if` of this step or group was not true: its own, or that of a group around it.",
          "type": "object",
          "required": ["kind", "of"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "condition" },
            "of": { "$ref": "#/$defs/address" }
          }
        },
        {
          "description": "It was not asked for: `--only`, `--skip` or `--from`.",
          "type": "object",
          "required": ["kind"],
          "additionalProperties": false,
          "properties": { "kind": { "const": "notSelected" } }
        },
        {
          "description": "The run, or the group around it, was being cancelled.",
          "type": "object",
          "required": ["kind", "cancellation"],
          "additionalProperties": false,
          "properties": {
            "kind": { "const": "cancelled" },
            "cancellation": { "$ref": "#/$defs/cancelReason" }
          }
        }
      ]
    },
    "signal": {
      "description": "The name of a signal, without SIG.",
      "type": "string",
      "pattern": "^[A-Z][A-Z0-9+-]*$"
    },
    "exit": {
      "description": "How the last attempt's program ended; left out if it could not be started.",
      "oneOf": [
        {
          "type": "object",
          "required": ["code"],
          "additionalProperties": false,
          "properties": {
            "code": {
              "description": "Its exit code.",
              "type": "integer",
              "minimum": 0,
              "maximum": 255
            }
          }
        },
        {
          "type": "object",
          "required": ["signal"],
          "additionalProperties": false,
          "properties": { "signal": { "$ref": "#/$defs/signal" } }
        }
      ]
    },
    "failure": {
      "description": "Why it failed; left out unless the outcome is failure.",
      "type": "object",
      "required": ["classes", "message"],
      "additionalProperties": false,
      "properties": {
        "classes": {
          "description": "What kind of failure it is, the narrowest name first, as `allowFailure` names them.",
          "type": "array",
          "minItems": 1,
          "items": { "type": "string", "minLength": 1 }
        },
        "message": {
          "description": "What happened, in a sentence without its subject.",
          "type": "string"
        },
        "help": {
          "description": "What to do about it.",
          "type": "string"
        }
      }
    },
    "attempts": {
      "description": "How many attempts there were.",
      "type": "integer",
      "minimum": 1
    },
    "attempt": {
      "description": "Counts from 1.",
      "type": "integer",
      "minimum": 1
    },
    "attemptLimit": {
      "description": "How many attempts there are at most, should all of them fail.",
      "type": "integer",
      "minimum": 2
    },
    "delayUs": {
      "description": "How long it is until the next attempt is made ready; waiting for a slot comes after that.",
      "$ref": "#/$defs/durationUs"
    },
    "notRetried": {
      "description": "Why it is not tried again though it has `retry`, in a sentence without its subject.",
      "type": "string"
    },
    "approvedBy": {
      "description": "Who approved, of a step that asked: the name of a user and the way, or the program that embeds Weft.",
      "type": "string"
    },
    "usage": {
      "description": "What the kernel counted for the program and the children it waited for; left out if there was none.",
      "type": "object",
      "required": [
        "userUs", "systemUs", "minorFaults", "majorFaults", "voluntarySwitches",
        "involuntarySwitches"
      ],
      "additionalProperties": false,
      "properties": {
        "userUs": {
          "description": "Processor time in user mode.",
          "$ref": "#/$defs/durationUs"
        },
        "systemUs": {
          "description": "Processor time in the kernel.",
          "$ref": "#/$defs/durationUs"
        },
        "minorFaults": {
          "description": "Page faults served without reading.",
          "$ref": "#/$defs/count"
        },
        "majorFaults": {
          "description": "Page faults that had to read.",
          "$ref": "#/$defs/count"
        },
        "voluntarySwitches": {
          "description": "How often it waited for something.",
          "$ref": "#/$defs/count"
        },
        "involuntarySwitches": {
          "description": "How often another program was given its processor.",
          "$ref": "#/$defs/count"
        },
        "peakMemoryBytes": {
          "description": "The most that it, or one of its children, had in memory; left out where that was no more than the engine itself has, which the kernel counts with it.",
          "$ref": "#/$defs/count"
        }
      }
    },
    "http": {
      "description": "What the HTTP requests of the step's last attempt came to; left out if it has sent none. Of several requests the bytes are sums, and the times the last one's.",
      "type": "object",
      "required": ["method", "url", "requests", "bytesSent", "bytesReceived", "headerBytesReceived", "totalUs"],
      "additionalProperties": false,
      "properties": {
        "method": { "description": "Of the last request: redirects may have changed it.", "type": "string" },
        "url": { "description": "What answered last, without user and password; what was asked where nothing has answered.", "type": "string" },
        "status": { "description": "Left out where there was no answer.", "type": "integer", "minimum": 100, "maximum": 999 },
        "requests": { "description": "How many were sent: one, one more for each redirect, one for each further page.", "$ref": "#/$defs/count" },
        "redirects": { "description": "How many the last request followed; left out if none.", "$ref": "#/$defs/count" },
        "savedTo": { "description": "The file that has the body.", "type": "string" },
        "cache": { "description": "What a cache had to do with the answer; left out where none had.", "enum": ["hit", "revalidated", "miss", "stale"] },
        "staleReason": { "description": "Why an answer was used that has outlived its time: usually the error of the request.", "type": "string" },
        "bytesSent": { "description": "Bytes of bodies.", "$ref": "#/$defs/count" },
        "bytesReceived": { "description": "Bytes of bodies, packed or not.", "$ref": "#/$defs/count" },
        "headerBytesReceived": { "description": "Bytes of the heads of answers.", "$ref": "#/$defs/count" },
        "address": { "description": "What the connection was to.", "type": "string" },
        "port": { "description": "The port of the address.", "type": "integer", "minimum": 1, "maximum": 65535 },
        "protocol": { "description": "HTTP/1.1, HTTP/2 \u2026", "type": "string" },
        "dnsUs": { "description": "From the start until an address was found.", "$ref": "#/$defs/durationUs" },
        "connectUs": { "description": "From the start until the connection was there; left out if one was used again.", "$ref": "#/$defs/durationUs" },
        "tlsUs": { "description": "From the start until TLS was agreed on.", "$ref": "#/$defs/durationUs" },
        "firstByteUs": { "description": "From the start until the answer began.", "$ref": "#/$defs/durationUs" },
        "totalUs": { "description": "Of all requests together.", "$ref": "#/$defs/durationUs" }
      }
    },
    "outputBytes": {
      "description": "Bytes written to stdout and stderr together.",
      "$ref": "#/$defs/count"
    },
    "outputs": {
      "description": "What is handed on, by name; of a run, when it has succeeded. Left out where there is nothing.",
      "type": "object"
    },
    "secretOutputs": {
      "description": "The names of the outputs that are secret: their values are told nowhere.",
      "type": "array",
      "minItems": 1,
      "items": { "type": "string" }
    },
    "outputTruncated": {
      "description": "The step wrote more than its log holds (`logLimit`); what came after that is in no event. Left out where it is false.",
      "const": true
    },
    "processes": {
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "required": ["pid", "command"],
        "additionalProperties": false,
        "properties": {
          "pid": { "type": "integer", "minimum": 1 },
          "command": {
            "description": "Its name as the kernel keeps it, 15 bytes at most.",
            "type": "string"
          }
        }
      }
    },
    "leftovers": {
      "description": "Processes that were still alive after the program, or the last step, had ended, and were ended; left out if there were none.",
      "$ref": "#/$defs/processes"
    },
    "unkillable": {
      "description": "Processes that are still alive, for they could not be killed; left out if there are none.",
      "$ref": "#/$defs/processes"
    },
    "containment": {
      "description": "How surely what steps start is found again: by a control group of its own for each attempt; because the engine adopts what loses its parents; or by session, parentage and a variable in the environment.",
      "enum": ["cgroup", "subreaper", "group+cookie"]
    },
    "resumption": {
      "description": "How often the run has been gone on with; left out of one that begins.",
      "type": "integer",
      "minimum": 1
    },
    "counts": {
      "description": "How many steps ended how.",
      "type": "object",
      "required": ["succeeded", "failed", "tolerated", "cancelled", "skipped"],
      "additionalProperties": false,
      "properties": {
        "succeeded": {
          "description": "Succeeded.",
          "$ref": "#/$defs/count"
        },
        "failed": {
          "description": "Failed, and the run with them.",
          "$ref": "#/$defs/count"
        },
        "tolerated": {
          "description": "Failed, and were allowed to.",
          "$ref": "#/$defs/count"
        },
        "cancelled": {
          "description": "Were cancelled, before their start or after.",
          "$ref": "#/$defs/count"
        },
        "skipped": {
          "description": "Never started for another reason.",
          "$ref": "#/$defs/count"
        },
        "restored": {
          "description": "Of all these, those that stand as they ended in an earlier part of a run that is gone on with; left out if there are none.",
          "$ref": "#/$defs/count"
        },
        "cached": {
          "description": "Of those that succeeded, those that were not run, since they had made the same in an earlier run; left out if there are none.",
          "$ref": "#/$defs/count"
        }
      }
    },
    "runOutcome": {
      "description": "How the run ended.",
      "enum": ["success", "failure", "cancelled"]
    },
    "firstFailure": {
      "description": "The first failure that was not tolerated: what the run failed of.",
      "$ref": "#/$defs/address"
    },
    "runStarted": {
      "description": "Always first.",
      "type": "object",
      "required": [
        "n", "at", "type", "format", "weft", "run", "steps", "groups", "maxParallel", "pid"
      ],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "run.started" },
        "format": { "$ref": "#/$defs/format" },
        "weft": { "$ref": "#/$defs/weft" },
        "run": { "$ref": "#/$defs/run" },
        "workflow": { "$ref": "#/$defs/workflow" },
        "file": { "$ref": "#/$defs/file" },
        "steps": { "$ref": "#/$defs/steps" },
        "groups": { "$ref": "#/$defs/groups" },
        "maxParallel": { "$ref": "#/$defs/maxParallel" },
        "containment": { "$ref": "#/$defs/containment" },
        "pid": { "$ref": "#/$defs/pid" },
        "resumption": { "$ref": "#/$defs/resumption" }
      }
    },
    "stepQueued": {
      "description": "Everything the step waits for is done; it waits for a slot.",
      "type": "object",
      "required": ["n", "at", "type", "step"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.queued" },
        "step": { "$ref": "#/$defs/address" },
        "waitingFor": { "$ref": "#/$defs/waitingFor" }
      }
    },
    "stepStarted": {
      "description": "The step's program is about to be started.",
      "type": "object",
      "required": ["n", "at", "type", "step", "attempt"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.started" },
        "step": { "$ref": "#/$defs/address" },
        "attempt": { "$ref": "#/$defs/attempt" }
      }
    },
    "stepOutput": {
      "description": "One line that the step wrote, or a part of a very long one.",
      "type": "object",
      "required": ["n", "at", "type", "step", "stream", "text", "offset"],
      "additionalProperties": false,
      "allOf": [
        { "not": { "required": ["partial", "unterminated"] } },
        { "not": { "required": ["partial", "transient"] } },
        { "not": { "required": ["unterminated", "transient"] } }
      ],
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.output" },
        "step": { "$ref": "#/$defs/address" },
        "stream": {
          "description": "Where the step wrote it.",
          "enum": ["stdout", "stderr"]
        },
        "text": {
          "description": "The line without its newline; what is not UTF-8 appears as U+FFFD.",
          "type": "string"
        },
        "raw": {
          "description": "The exact bytes in base64; only there if they are not UTF-8.",
          "type": "string",
          "contentEncoding": "base64",
          "pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
        },
        "partial": {
          "description": "More of the same line follows.",
          "const": true
        },
        "unterminated": {
          "description": "The stream, or what is kept of it, ended here without a newline.",
          "const": true
        },
        "transient": {
          "description": "What the line shows for now: it has returned to its start and will be written over. What stands there at last comes as an event of its own.",
          "const": true
        },
        "offset": {
          "description": "Where the text begins in the step's log, which holds both streams in the order in which they were read; of what is transient, where the log ended then.",
          "$ref": "#/$defs/count"
        }
      }
    },
    "stepAsking": {
      "description": "The step waits for a person, who is asked this: at the terminal, by the embedding program, or by weft approve.",
      "type": "object",
      "required": ["n", "at", "type", "step", "message"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.asking" },
        "step": { "$ref": "#/$defs/address" },
        "message": { "$ref": "#/$defs/question" }
      }
    },
    "stepWaiting": {
      "description": "The step does nothing but wait, for so long from now; of a run that is gone on with, what is left of it.",
      "type": "object",
      "required": ["n", "at", "type", "step", "delayUs"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.waiting" },
        "step": { "$ref": "#/$defs/address" },
        "delayUs": { "$ref": "#/$defs/durationUs" }
      }
    },
    "question": {
      "description": "What the person is asked.",
      "type": "string"
    },
    "requests": {
      "description": "What people are asked, in the order of asking; nothing can go on before they have answered.",
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "required": ["step", "message"],
        "additionalProperties": false,
        "properties": {
          "step": { "$ref": "#/$defs/address" },
          "message": { "$ref": "#/$defs/question" }
        }
      }
    },
    "stepRetrying": {
      "description": "The attempt has failed, and another follows. It stands in place of step.finished, so that every step.started has one end.",
      "type": "object",
      "required": [
        "n", "at", "type", "step", "attempt", "attemptLimit", "failure", "durationUs", "delayUs"
      ],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.retrying" },
        "step": { "$ref": "#/$defs/address" },
        "attempt": { "$ref": "#/$defs/attempt" },
        "attemptLimit": { "$ref": "#/$defs/attemptLimit" },
        "exit": { "$ref": "#/$defs/exit" },
        "failure": { "$ref": "#/$defs/failure" },
        "durationUs": { "$ref": "#/$defs/durationUs" },
        "delayUs": { "$ref": "#/$defs/delayUs" },
        "usage": { "$ref": "#/$defs/usage" }
      }
    },
    "stepFinished": {
      "description": "The step has ended; one for every step.started but those that step.retrying ended.",
      "type": "object",
      "required": [
        "n", "at", "type", "step", "outcome", "conclusion", "attempts", "durationUs", "outputBytes"
      ],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.finished" },
        "step": { "$ref": "#/$defs/address" },
        "outcome": { "$ref": "#/$defs/outcome" },
        "conclusion": { "$ref": "#/$defs/conclusion" },
        "attempts": { "$ref": "#/$defs/attempts" },
        "exit": { "$ref": "#/$defs/exit" },
        "failure": { "$ref": "#/$defs/failure" },
        "cancellation": { "$ref": "#/$defs/cancelReason" },
        "durationUs": { "$ref": "#/$defs/durationUs" },
        "usage": { "$ref": "#/$defs/usage" },
        "http": { "$ref": "#/$defs/http" },
        "notRetried": { "$ref": "#/$defs/notRetried" },
        "approvedBy": { "$ref": "#/$defs/approvedBy" },
        "outputBytes": { "$ref": "#/$defs/outputBytes" },
        "outputTruncated": { "$ref": "#/$defs/outputTruncated" },
        "outputs": { "$ref": "#/$defs/outputs" },
        "secretOutputs": { "$ref": "#/$defs/secretOutputs" },
        "leftovers": { "$ref": "#/$defs/leftovers" },
        "unkillable": { "$ref": "#/$defs/unkillable" }
      }
    },
    "stepRestored": {
      "description": "In a run that is gone on with, in place of all else about the step: it has ended so in an earlier part of the run, and that stands.",
      "type": "object",
      "required": [
        "n", "at", "type", "step", "outcome", "conclusion", "attempts", "durationUs", "outputBytes"
      ],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.restored" },
        "step": { "$ref": "#/$defs/address" },
        "outcome": { "$ref": "#/$defs/outcome" },
        "conclusion": { "$ref": "#/$defs/conclusion" },
        "attempts": { "$ref": "#/$defs/attempts" },
        "exit": { "$ref": "#/$defs/exit" },
        "failure": { "$ref": "#/$defs/failure" },
        "cancellation": { "$ref": "#/$defs/cancelReason" },
        "durationUs": { "$ref": "#/$defs/durationUs" },
        "usage": { "$ref": "#/$defs/usage" },
        "notRetried": { "$ref": "#/$defs/notRetried" },
        "approvedBy": { "$ref": "#/$defs/approvedBy" },
        "outputBytes": { "$ref": "#/$defs/outputBytes" },
        "outputTruncated": { "$ref": "#/$defs/outputTruncated" },
        "outputs": { "$ref": "#/$defs/outputs" },
        "secretOutputs": { "$ref": "#/$defs/secretOutputs" },
        "leftovers": { "$ref": "#/$defs/leftovers" },
        "unkillable": { "$ref": "#/$defs/unkillable" }
      }
    },
    "stepCached": {
      "description": "The step is not run: it has made the same in an earlier run. Its outputs are there; the duration is that of then.",
      "type": "object",
      "required": [
        "n", "at", "type", "step", "outcome", "conclusion", "attempts", "durationUs", "outputBytes"
      ],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.cached" },
        "step": { "$ref": "#/$defs/address" },
        "outcome": { "const": "success" },
        "conclusion": { "const": "success" },
        "attempts": { "const": 1 },
        "exit": { "$ref": "#/$defs/exit" },
        "durationUs": { "$ref": "#/$defs/durationUs" },
        "outputBytes": { "const": 0 },
        "outputs": { "$ref": "#/$defs/outputs" },
        "secretOutputs": { "$ref": "#/$defs/secretOutputs" }
      }
    },
    "stepSkipped": {
      "description": "The step never starts. All that is run many times or again as a whole is skipped as one, by its own address.",
      "type": "object",
      "required": ["n", "at", "type", "step", "outcome", "reason"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "step.skipped" },
        "step": { "$ref": "#/$defs/address" },
        "outcome": { "enum": ["skipped", "cancelled"] },
        "reason": { "$ref": "#/$defs/skipReason" }
      }
    },
    "groupStarted": {
      "description": "What the group, or what is run for many elements, waits for is done. Of a group that is tried again, one for each attempt.",
      "type": "object",
      "required": ["n", "at", "type", "group", "attempt"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "group.started" },
        "group": { "$ref": "#/$defs/address" },
        "attempt": { "$ref": "#/$defs/attempt" },
        "elements": { "$ref": "#/$defs/elements" },
        "restored": { "$ref": "#/$defs/restoredGroup" }
      }
    },
    "elements": {
      "description": "For how many elements it is run; left out of a group that is run as it is. Each element tells of itself by an address of its own.",
      "$ref": "#/$defs/count"
    },
    "restoredGroup": {
      "description": "It has ended well in an earlier part of a run that is gone on with, and nothing in it is done again; else left out.",
      "const": true
    },
    "groupCause": {
      "description": "The member at fault; left out when the group failed by itself, or did not fail.",
      "$ref": "#/$defs/address"
    },
    "winner": {
      "description": "Of a race, the member that won.",
      "$ref": "#/$defs/address"
    },
    "notStarted": {
      "description": "Elements of a loop that never began because the loop was ended before; left out if all did. No event tells of each.",
      "type": "object",
      "required": ["elements", "steps", "outcome"],
      "additionalProperties": false,
      "properties": {
        "elements": { "$ref": "#/$defs/count" },
        "steps": {
          "description": "How many steps the workflow has in them, without those that clean up; they are in the counts of the run.",
          "$ref": "#/$defs/count"
        },
        "outcome": { "description": "What these steps count as.", "enum": ["cancelled", "skipped"] }
      }
    },
    "waitingFor": {
      "description": "Of which pools the step takes how many slots, beside a slot of the run; left out if of none.",
      "type": "object",
      "minProperties": 1,
      "additionalProperties": { "$ref": "#/$defs/count" }
    },
    "wholeDurationUs": {
      "description": "For how long engines had the run: of one that was resumed, all its parts together, without the time between them.",
      "$ref": "#/$defs/durationUs"
    },
    "groupRetrying": {
      "description": "The attempt of the whole group has failed, and another follows.",
      "type": "object",
      "required": [
        "n", "at", "type", "group", "attempt", "attemptLimit", "failure", "durationUs", "delayUs"
      ],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "group.retrying" },
        "group": { "$ref": "#/$defs/address" },
        "attempt": { "$ref": "#/$defs/attempt" },
        "attemptLimit": { "$ref": "#/$defs/attemptLimit" },
        "failure": { "$ref": "#/$defs/failure" },
        "durationUs": { "$ref": "#/$defs/durationUs" },
        "delayUs": { "$ref": "#/$defs/delayUs" }
      }
    },
    "groupFinished": {
      "description": "Everything in the group, or in all elements, has ended; one for every group.started but those that group.retrying ended.",
      "type": "object",
      "required": ["n", "at", "type", "group", "outcome", "conclusion", "attempts", "durationUs"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "group.finished" },
        "group": { "$ref": "#/$defs/address" },
        "outcome": { "$ref": "#/$defs/outcome" },
        "conclusion": { "$ref": "#/$defs/conclusion" },
        "failure": { "$ref": "#/$defs/failure" },
        "cause": { "$ref": "#/$defs/groupCause" },
        "attempts": { "$ref": "#/$defs/attempts" },
        "winner": { "$ref": "#/$defs/winner" },
        "notStarted": { "$ref": "#/$defs/notStarted" },
        "durationUs": { "$ref": "#/$defs/durationUs" },
        "outputs": { "$ref": "#/$defs/outputs" },
        "secretOutputs": { "$ref": "#/$defs/secretOutputs" }
      }
    },
    "warningCode": {
      "description": "What a warning is about. Readers should be ready for codes that a later version adds.",
      "enum": ["few-descriptors", "scarce-resources", "jobserver", "output-truncated", "processes-not-seen", "action-left-behind", "not-cached", "foreign-output", "unmatched-input"]
    },
    "warningMessage": {
      "description": "What was found, as one sentence.",
      "type": "string"
    },
    "warningHelp": {
      "description": "The cure, where there is one to tell.",
      "type": "string"
    },
    "runWarning": {
      "description": "Something that the run goes on in spite of, and that people should know. It changes no outcome; a cause is told once in a run.",
      "type": "object",
      "required": ["n", "at", "type", "code", "message"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "run.warning" },
        "code": { "$ref": "#/$defs/warningCode" },
        "message": { "$ref": "#/$defs/warningMessage" },
        "help": { "$ref": "#/$defs/warningHelp" }
      }
    },
    "runCancelling": {
      "description": "The run as a whole is being ended; what runs is stopped, nothing else starts.",
      "type": "object",
      "required": ["n", "at", "type", "reason"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "run.cancelling" },
        "reason": { "$ref": "#/$defs/cancelReason" }
      }
    },
    "runFinished": {
      "description": "Always last, also after cancellation; but for run.waiting.",
      "type": "object",
      "required": ["n", "at", "type", "outcome", "durationUs", "counts"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "run.finished" },
        "outcome": { "$ref": "#/$defs/runOutcome" },
        "firstFailure": { "$ref": "#/$defs/firstFailure" },
        "cancellation": { "$ref": "#/$defs/cancelReason" },
        "durationUs": { "$ref": "#/$defs/wholeDurationUs" },
        "failure": {
          "description": "Why the run failed though every step succeeded or was tolerated: an output of the workflow could not be computed.",
          "$ref": "#/$defs/failure"
        },
        "counts": { "$ref": "#/$defs/counts" },
        "outputs": { "$ref": "#/$defs/outputs" },
        "secretOutputs": { "$ref": "#/$defs/secretOutputs" },
        "leftovers": { "$ref": "#/$defs/leftovers" },
        "unkillable": { "$ref": "#/$defs/unkillable" }
      }
    },
    "runWaiting": {
      "description": "Last of all where nothing can go on before somebody has answered, who cannot be asked here. weft resume goes on with the run.",
      "type": "object",
      "required": ["n", "at", "type", "requests", "durationUs", "counts"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "run.waiting" },
        "requests": { "$ref": "#/$defs/requests" },
        "durationUs": { "$ref": "#/$defs/wholeDurationUs" },
        "counts": { "$ref": "#/$defs/counts" },
        "leftovers": { "$ref": "#/$defs/leftovers" },
        "unkillable": { "$ref": "#/$defs/unkillable" }
      }
    },
    "outputDropped": {
      "description": "In place of step.output events that a slow reader did not take in time; the steps' logs have the bytes. Its n is that of the first of them.",
      "type": "object",
      "required": ["n", "at", "type", "dropped", "first", "last", "bytes"],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "output.dropped" },
        "dropped": {
          "description": "How many events were left out.",
          "type": "integer",
          "minimum": 1
        },
        "first": {
          "description": "The first sequence number that was left out.",
          "$ref": "#/$defs/n"
        },
        "last": {
          "description": "The last one. Events of other kinds between the two are told by themselves.",
          "$ref": "#/$defs/n"
        },
        "bytes": {
          "description": "How many bytes of output they held.",
          "$ref": "#/$defs/count"
        }
      }
    },
    "runSnapshot": {
      "description": "First for a reader that came too late for the beginning: all that happened so far. Its n is that of the last event it stands for.",
      "type": "object",
      "required": [
        "n", "at", "type", "format", "weft", "run", "steps", "groups", "maxParallel", "pid",
        "startedAt", "states"
      ],
      "additionalProperties": false,
      "properties": {
        "n": { "$ref": "#/$defs/n" },
        "at": { "$ref": "#/$defs/at" },
        "type": { "const": "run.snapshot" },
        "format": { "$ref": "#/$defs/format" },
        "weft": { "$ref": "#/$defs/weft" },
        "run": { "$ref": "#/$defs/run" },
        "workflow": { "$ref": "#/$defs/workflow" },
        "file": { "$ref": "#/$defs/file" },
        "steps": { "$ref": "#/$defs/steps" },
        "groups": { "$ref": "#/$defs/groups" },
        "maxParallel": { "$ref": "#/$defs/maxParallel" },
        "containment": { "$ref": "#/$defs/containment" },
        "pid": { "$ref": "#/$defs/pid" },
        "resumption": { "$ref": "#/$defs/resumption" },
        "startedAt": {
          "description": "When the run started.",
          "$ref": "#/$defs/at"
        },
        "states": {
          "description": "Where every step of the plan stands, in file order, and then those of elements. A loop is in groupStates once it has started; at the end of the run, what never began because something around it was skipped as a whole is left out.",
          "type": "array",
          "items": { "$ref": "#/$defs/stepState" }
        },
        "groupStates": {
          "description": "Where every group stands, and what is run for many elements, that has been started, if there is any; in the order of their first starts.",
          "type": "array",
          "minItems": 1,
          "items": { "$ref": "#/$defs/groupState" }
        },
        "warnings": {
          "description": "What people should know though it stopped nothing, if there was any.",
          "type": "array",
          "minItems": 1,
          "maxItems": 100,
          "items": {
            "type": "object",
            "required": ["code", "message"],
            "additionalProperties": false,
            "properties": {
              "code": { "$ref": "#/$defs/warningCode" },
              "message": { "$ref": "#/$defs/warningMessage" },
              "help": { "$ref": "#/$defs/warningHelp" }
            }
          }
        },
        "end": {
          "description": "How the run ended, if it has.",
          "type": "object",
          "required": ["outcome", "durationUs", "counts"],
          "additionalProperties": false,
          "properties": {
            "outcome": { "$ref": "#/$defs/runOutcome" },
            "firstFailure": { "$ref": "#/$defs/firstFailure" },
            "cancellation": { "$ref": "#/$defs/cancelReason" },
            "durationUs": { "$ref": "#/$defs/durationUs" },
            "failure": {
              "description": "Why the run failed though every step succeeded or was tolerated: an output of the workflow could not be computed.",
              "$ref": "#/$defs/failure"
            },
            "counts": { "$ref": "#/$defs/counts" },
            "outputs": { "$ref": "#/$defs/outputs" },
            "secretOutputs": { "$ref": "#/$defs/secretOutputs" },
            "leftovers": { "$ref": "#/$defs/leftovers" },
            "unkillable": { "$ref": "#/$defs/unkillable" }
          }
        },
        "waiting": {
          "description": "What the run waits for, if its engine has gone because of that.",
          "type": "object",
          "required": ["requests", "durationUs", "counts"],
          "additionalProperties": false,
          "properties": {
            "requests": { "$ref": "#/$defs/requests" },
            "durationUs": { "$ref": "#/$defs/durationUs" },
            "counts": { "$ref": "#/$defs/counts" },
            "leftovers": { "$ref": "#/$defs/leftovers" },
            "unkillable": { "$ref": "#/$defs/unkillable" }
          }
        }
      }
    },
    "groupState": {
      "description": "Where a group stands that has been started.",
      "oneOf": [
        {
          "description": "It is under way.",
          "type": "object",
          "required": ["group", "state", "sinceUs", "attempt"],
          "additionalProperties": false,
          "properties": {
            "group": { "$ref": "#/$defs/address" },
            "state": { "const": "running" },
            "sinceUs": {
              "description": "How long after the run's start the attempt began.",
              "$ref": "#/$defs/durationUs"
            },
            "attempt": { "$ref": "#/$defs/attempt" },
            "elements": { "$ref": "#/$defs/elements" },
            "restored": { "$ref": "#/$defs/restoredGroup" }
          }
        },
        {
          "description": "The attempt of the whole group has failed, and another follows.",
          "type": "object",
          "required": ["group", "state", "attempt", "untilUs"],
          "additionalProperties": false,
          "properties": {
            "group": { "$ref": "#/$defs/address" },
            "state": { "const": "retrying" },
            "attempt": { "$ref": "#/$defs/attempt" },
            "untilUs": {
              "description": "How long after the run's start the next attempt begins.",
              "$ref": "#/$defs/durationUs"
            },
            "elements": { "$ref": "#/$defs/elements" },
            "restored": { "$ref": "#/$defs/restoredGroup" }
          }
        },
        {
          "description": "It has ended, as group.finished tells it.",
          "type": "object",
          "required": ["group", "state", "outcome", "conclusion", "attempts", "durationUs"],
          "additionalProperties": false,
          "properties": {
            "group": { "$ref": "#/$defs/address" },
            "state": { "const": "finished" },
            "outcome": { "$ref": "#/$defs/outcome" },
            "conclusion": { "$ref": "#/$defs/conclusion" },
            "failure": { "$ref": "#/$defs/failure" },
            "cause": { "$ref": "#/$defs/groupCause" },
            "attempts": { "$ref": "#/$defs/attempts" },
            "winner": { "$ref": "#/$defs/winner" },
            "notStarted": { "$ref": "#/$defs/notStarted" },
            "durationUs": { "$ref": "#/$defs/durationUs" },
            "outputs": { "$ref": "#/$defs/outputs" },
            "secretOutputs": { "$ref": "#/$defs/secretOutputs" },
            "elements": { "$ref": "#/$defs/elements" },
            "restored": { "$ref": "#/$defs/restoredGroup" }
          }
        }
      ]
    },
    "stepState": {
      "description": "Where a step stands.",
      "oneOf": [
        {
          "description": "It waits for other steps, or for a slot.",
          "type": "object",
          "required": ["step", "state"],
          "additionalProperties": false,
          "properties": {
            "step": { "$ref": "#/$defs/address" },
            "state": { "enum": ["pending", "queued"] }
          }
        },
        {
          "description": "It runs.",
          "type": "object",
          "required": ["step", "state", "sinceUs", "attempt"],
          "additionalProperties": false,
          "properties": {
            "step": { "$ref": "#/$defs/address" },
            "state": { "const": "running" },
            "sinceUs": {
              "description": "How long after the run's start it started.",
              "$ref": "#/$defs/durationUs"
            },
            "attempt": { "$ref": "#/$defs/attempt" }
          }
        },
        {
          "description": "It waits for a person.",
          "type": "object",
          "required": ["step", "state", "sinceUs", "message"],
          "additionalProperties": false,
          "properties": {
            "step": { "$ref": "#/$defs/address" },
            "state": { "const": "asking" },
            "sinceUs": {
              "description": "How long after the run's start it began to.",
              "$ref": "#/$defs/durationUs"
            },
            "message": { "$ref": "#/$defs/question" }
          }
        },
        {
          "description": "It does nothing but wait.",
          "type": "object",
          "required": ["step", "state", "sinceUs", "untilUs"],
          "additionalProperties": false,
          "properties": {
            "step": { "$ref": "#/$defs/address" },
            "state": { "const": "waiting" },
            "sinceUs": {
              "description": "How long after the run's start it began to.",
              "$ref": "#/$defs/durationUs"
            },
            "untilUs": {
              "description": "How long after the run's start it will have waited enough.",
              "$ref": "#/$defs/durationUs"
            }
          }
        },
        {
          "description": "The attempt has failed, and it waits for the next.",
          "type": "object",
          "required": ["step", "state", "attempt", "untilUs"],
          "additionalProperties": false,
          "properties": {
            "step": { "$ref": "#/$defs/address" },
            "state": { "const": "retrying" },
            "attempt": { "$ref": "#/$defs/attempt" },
            "untilUs": {
              "description": "Until how long after the run's start it waits.",
              "$ref": "#/$defs/durationUs"
            }
          }
        },
        {
          "description": "It never starts.",
          "type": "object",
          "required": ["step", "state", "outcome", "reason"],
          "additionalProperties": false,
          "properties": {
            "step": { "$ref": "#/$defs/address" },
            "state": { "const": "skipped" },
            "outcome": { "enum": ["skipped", "cancelled"] },
            "reason": { "$ref": "#/$defs/skipReason" }
          }
        },
        {
          "description": "It has ended.",
          "type": "object",
          "required": [
            "step", "state", "outcome", "conclusion", "attempts", "durationUs", "outputBytes"
          ],
          "additionalProperties": false,
          "properties": {
            "step": { "$ref": "#/$defs/address" },
            "state": { "enum": ["finished", "restored", "cached"] },
            "outcome": { "$ref": "#/$defs/outcome" },
            "conclusion": { "$ref": "#/$defs/conclusion" },
            "attempts": { "$ref": "#/$defs/attempts" },
            "exit": { "$ref": "#/$defs/exit" },
            "failure": { "$ref": "#/$defs/failure" },
            "cancellation": { "$ref": "#/$defs/cancelReason" },
            "durationUs": { "$ref": "#/$defs/durationUs" },
            "usage": { "$ref": "#/$defs/usage" },
            "notRetried": { "$ref": "#/$defs/notRetried" },
            "approvedBy": { "$ref": "#/$defs/approvedBy" },
            "outputBytes": { "$ref": "#/$defs/outputBytes" },
            "outputTruncated": { "$ref": "#/$defs/outputTruncated" },
            "outputs": { "$ref": "#/$defs/outputs" },
            "secretOutputs": { "$ref": "#/$defs/secretOutputs" },
            "leftovers": { "$ref": "#/$defs/leftovers" },
            "unkillable": { "$ref": "#/$defs/unkillable" }
          }
        }
      ]
    }
  }
}

"""##
    }
  }
}
