#!/usr/bin/env bash
# Prints how many lines the files of one kind have; none of them is an error.
files=$(find workflows -name "*.${{ inputs.extension }}")
if [[ -z $files ]]; then
  echo "there are no" ${{ inputs.extension }} "files" >&2
  exit 1
fi
cat $files | wc -l
