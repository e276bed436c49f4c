#!/usr/bin/perl -w
print "${{ inputs.x }}";
