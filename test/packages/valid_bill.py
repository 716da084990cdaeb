"""valid_bill.py - whether standard input is a bill of materials as CycloneDX 1.5 has it; an error says what is wrong."""
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

sys.exit(JsonStrictValidator(SchemaVersion.V1_5).validate_str(sys.stdin.read()) and 'not a bill of CycloneDX 1.5')
