# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn_service.private_model import PrivateModel as PrivateModel
