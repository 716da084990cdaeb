"""answer.py TOOL CONF - how long, in seconds, the service itself takes to unwrap the envelope."""

import importlib.machinery
import importlib.util
import sys
import time

loader = importlib.machinery.SourceFileLoader('tool', sys.argv[1])
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader('tool', loader))
loader.exec_module(tool)
custody = tool.Custody('', sys.argv[2])
begun = time.monotonic()
custody.unwrap(custody.path)
print(time.monotonic() - begun)
