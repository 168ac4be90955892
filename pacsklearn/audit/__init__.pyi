# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn.audit.audit_record import Audit as Audit
from pacsklearn.audit.auditor import run_audit as run_audit
