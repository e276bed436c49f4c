#!/usr/bin/env python3
print("${{ inputs.who }}")
