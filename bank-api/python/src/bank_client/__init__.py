"""Client of bankd, an allocation bank for HPC centres.

    from decimal import Decimal
    from bank_client import Client
    from bank_client.shapes import NewDeposit

    bank = Client("unix:/var/lib/bankd/bankd.sock")
    bank.post_deposits(NewDeposit(name="chemistry", amount=Decimal("250")))
    for row in bank.iter_balances():
        print(row.account, row.available)
"""

from . import calls
from .call import Call, Page
from .client import Client
from .errors import BadAnswer, BankError, Refused, ServerError, Unauthorized, Unavailable
from .signing import ApiToken, SigningKey

__all__ = [
    "ApiToken",
    "BadAnswer",
    "BankError",
    "Call",
    "Client",
    "SigningKey",
    "Page",
    "Refused",
    "ServerError",
    "Unauthorized",
    "Unavailable",
    "calls",
]
