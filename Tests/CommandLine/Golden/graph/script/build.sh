#!/bin/bash -u
# The file names its shell.
list=(${{ inputs.who }} two)
for word in "${list[@]}"; do echo "<$word>"; done
