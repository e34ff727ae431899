"""The bugs of the sample project: the task for each, and what the scripted agent does about it.

`fault` is what goes wrong in a task's first attempt. Conflicts need no fault: two tasks change the
same line, and two others go together as text but not as a program. Only the standard library is
used, because every agent loads this.
"""

from typing import NamedTuple


class Edit(NamedTuple):
    path: str
    old: str
    new: str


class Bug(NamedTuple):
    key: str
    title: str
    brief: str
    paths: tuple[str, ...]
    test: str  # what fails now, as unittest names it
    edits: tuple[Edit, ...]
    fault: str = ""
    works_s: float = 4.0
    both: str = ""  # the lines that keep what both sides of the conflict want


CRASH, HANG, FORGET, STRAY, LIMIT, DAEMON = "crash", "hang", "forget", "stray", "limit", "daemon"


def _bug(
    key: str,
    title: str,
    what: str,
    test: str,
    *edits: tuple[str, str],
    paths: tuple[str, ...] = (),
    fault: str = "",
    works_s: float = 4.0,
    both: str = "",
) -> Bug:
    module, _, name = test.split(".")
    code, file = f"shop/{module.removeprefix('test_')}.py", f"tests/{module}.py"
    unmarked = Edit(file, f"    @known_bug\n    def {name}(", f"    def {name}(")
    brief = (
        f"{what}\n\nThe test tests.{test} shows it; it is marked with `@known_bug`, because it"
        f" fails. Mend the code, take the mark off this one test in {file}, and change no other"
        " test. `STRICT=1 python3 -m unittest tests." + test + "` must pass then, and so must"
        " `python3 -m unittest`. Commit your work."
    )
    owned = (*(paths or (code,)), file)
    changes = (*(Edit(code, old, new) for old, new in edits), unmarked)
    return Bug(key, title, brief, owned, test, changes, fault, works_s, both)


_TOTAL = "    return goods - discount + shipping(goods)\n"
_BOTH = "    return max(0, goods - discount) + shipping(goods) + (EXPRESS if express else 0)\n"

BUGS = (
    _bug(
        "accents",
        "Keep letters with accents in addresses",
        "slug() in shop/slugs.py drops letters with accents: 'Crème' becomes 'crme'. It should"
        " keep the letter without its accent.",
        "test_slugs.Slugs.test_accents_leave_their_letter",
        ("import re\n", "import re\nimport unicodedata\n"),
        (
            'title.encode("ascii", "ignore")',
            'unicodedata.normalize("NFKD", title).encode("ascii", "ignore")',
        ),
        fault=CRASH,
    ),
    _bug(
        "leap-years",
        "Know which hundredth years are leap years",
        "is_leap() in shop/dates.py takes every fourth year for a leap year. Of every hundredth"
        " year only every fourth is one.",
        "test_dates.Dates.test_but_not_every_hundredth",
        ("year % 4 == 0", "year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)"),
        fault=HANG,
    ),
    _bug(
        "vouchers",
        "Accept vouchers whose check digit is 0",
        "check_digit() in shop/vouchers.py returns 10 where it should return 0.",
        "test_vouchers.Vouchers.test_a_sum_that_is_a_multiple_of_ten_already",
        (
            "10 - sum(int(digit) for digit in digits) % 10",
            "-sum(int(digit) for digit in digits) % 10",
        ),
        fault=FORGET,
    ),
    _bug(
        "stock",
        "Refuse to reserve more than there is",
        "Stock.reserve() in shop/stock.py takes pieces out even if there are not enough. A refusal"
        " must change nothing.",
        "test_stock.Stocks.test_a_refusal_changes_nothing",
        (
            "        self.pieces[name] -= count\n        return self.pieces[name] >= 0\n",
            "        if self.pieces[name] < count:\n            return False\n"
            "        self.pieces[name] -= count\n        return True\n",
        ),
        fault=STRAY,
    ),
    _bug(
        "discounts",
        "Never pay customers by a discount",
        "total() in shop/cart.py lets a discount that is larger than the goods pay for shipping."
        " The goods cost at least 0.",
        "test_cart.Carts.test_a_discount_never_pays_for_shipping",
        (_TOTAL, _TOTAL.replace("goods - discount", "max(0, goods - discount)")),
        works_s=5.0,
        both=_BOTH,
    ),
    _bug(
        "express",
        "Charge for express deliveries",
        "total() in shop/cart.py ignores `express`, which costs EXPRESS more.",
        "test_cart.Carts.test_express_costs_more",
        (
            _TOTAL,
            _TOTAL.replace("shipping(goods)", "shipping(goods) + (EXPRESS if express else 0)"),
        ),
        works_s=5.5,
        both=_BOTH,
    ),
    _bug(
        "currencies",
        "Show each amount in its own currency",
        "money.show() in shop/money.py says EUR whatever the currency is. It should take the"
        " currency as its second argument, without a default, and every caller should pass it.",
        "test_money.Money.test_every_amount_says_its_own_currency",
        ("def show(cents):", "def show(cents, currency):"),
        (":02} EUR", ":02} {currency}"),
        paths=("shop/*.py",),
        works_s=5.0,
    ),
    _bug(
        "sums",
        "Print the sum below each invoice",
        "invoice() in shop/invoices.py ends without the sum. Its last line should be 'to pay: '"
        " and the sum as money.show() writes it.",
        "test_invoices.Invoices.test_the_last_line_is_the_sum",
        ('to be paid."""\n', 'to be paid."""\n\nfrom shop import money\n'),
        (
            "    return [name for name, _ in items]\n",
            "    total = sum(price for _, price in items)\n"
            '    return [*(name for name, _ in items), f"to pay: {money.show(total)}"]\n',
        ),
        works_s=6.0,
    ),
    _bug(
        "search",
        "Search whatever the capitals are",
        "search() in shop/search.py minds capitals. It should not, in any language.",
        "test_search.Search.test_capitals_do_not_matter",
        ("wanted in name", "wanted.casefold() in name.casefold()"),
        fault=LIMIT,
    ),
    _bug(
        "mails",
        "Find the domain behind quoted names",
        "domain() in shop/mails.py takes what follows the first @. In a quoted name there may be"
        " one, too: the last one counts.",
        "test_mails.Mails.test_a_quoted_name_may_hold_the_sign",
        ('address.split("@")[1]', 'address.rpartition("@")[2]'),
        fault=DAEMON,
    ),
    _bug(
        "pages",
        "Count the last page",
        "pages() in shop/pages.py forgets a last page that is not full.",
        "test_pages.Pages.test_a_page_that_is_not_full_counts",
        ("return count // size", "return -(-count // size)"),
    ),
    _bug(
        "export",
        "Quote values that hold commas",
        "row() in shop/export.py writes values with commas or quotes as they are. They belong in"
        " quotes, with quotes inside doubled.",
        "test_export.Export.test_a_comma_in_a_value_separates_nothing",
        (
            '    return ",".join(str(value) for value in values)\n',
            '    return ",".join(_quoted(str(value)) for value in values)\n\n\n'
            "def _quoted(value):\n"
            "    if not any(sign in value for sign in ',\"\\n'):\n"
            "        return value\n"
            "    doubled = value.replace('\"', '\"\"')\n"
            "    return f'\"{doubled}\"'\n",
        ),
    ),
)
