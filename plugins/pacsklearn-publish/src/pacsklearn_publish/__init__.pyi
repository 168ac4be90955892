# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn_publish.bundle import Bundle as Bundle
from pacsklearn_publish.bundle import load_bundle as load_bundle
from pacsklearn_publish.signature import make_key as make_key
from pacsklearn_publish.publishing import publish as publish
