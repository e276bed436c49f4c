#!/usr/bin/env python3
import os
print(len(os.environ["OF"]))
