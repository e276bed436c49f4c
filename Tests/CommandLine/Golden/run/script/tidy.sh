: "${{ inputs.who }}"
echo tidy
