# Grüße ${{ inputs.who }}
echo "ü" ${{ steps.file.stdout }} ${{ steps.nothing.stdout }}
	eval "é ${{ inputs.who }}"
