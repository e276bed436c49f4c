/// The output of `weft init`: small, and runnable wherever there is a shell.
enum FirstWorkflow {
  static let text = """
    {
      "$schema": "./workflow.schema.json",
      "name": "first",
      "description": "Steps run one after another; those in a parallel group, side by side.",
      "steps": [
        {
          "id": "prepare",
          "description": "A string runs in a shell. What it writes is kept: weft logs shows it.",
          "run": "echo preparing; date"
        },
        {
          "id": "checks",
          "description": "The group is done when all its members are; then comes the next step.",
          "parallel": [
            { "id": "unit", "run": "echo testing one part", "timeout": "5m" },
            {
              "id": "system",
              "description": "An array starts a program without a shell. What it writes is handed on.",
              "run": ["uname", "-sm"],
              "outputs": { "name": "${{ self.stdout }}" }
            },
            {
              "id": "style",
              "description": "Its failure would be told, and the run would go on.",
              "run": "echo looking at the style",
              "allowFailure": true
            },
            {
              "id": "summary",
              "description": "Waits for exactly these, and for no other member.",
              "needs": ["unit", "style"],
              "run": "echo unit and style are done"
            }
          ]
        },
        {
          "id": "finish",
          "description": "An expression stands for a value. It is never taken for code.",
          "env": { "GREETING": "hello" },
          "run": "echo \\"$GREETING from the last step, on ${{ steps.system.outputs.name }}\\""
        }
      ]
    }

    """
}
