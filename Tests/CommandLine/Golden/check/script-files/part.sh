echo ${{ inputs.who }}
