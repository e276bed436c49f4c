echo ${{ inputs.woh }}
echo "é" ${{ inputs.who + }}
