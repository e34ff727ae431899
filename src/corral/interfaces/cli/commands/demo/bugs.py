"""The bugs of the sample project: the task for each, and what the scripted agent does about it.

`fault` is what goes wrong in a task's first attempt. Conflicts need no fault: two tasks change the
same line, and two others merge cleanly but break the program. Only the standard library is used,
because every agent loads this module.
"""

from typing import Any, NamedTuple


class Edit(NamedTuple):
    path: str
    old: str
    new: str


class Bug(NamedTuple):
    key: str
    title: str
    brief: str
    paths: tuple[str, ...]
    test: str  # the one that fails, as unittest names it
    edits: tuple[Edit, ...]
    fault: str = ""
    works_s: float = 4.0
    both: str = ""  # the lines that resolve the conflict in favour of both sides


CRASH, HANG, FORGET, STRAY, LIMIT, DAEMON = "crash", "hang", "forget", "stray", "limit", "daemon"


def _bug(
    key: str,
    title: str,
    what: str,
    test: str,
    *edits: tuple[str, str],
    paths: tuple[str, ...] = (),
    **more: Any,
) -> Bug:
    module, _, name = test.split(".")
    code, file = f"shop/{module.removeprefix('test_')}.py", f"tests/{module}.py"
    unmarked = Edit(file, f"    @known_bug\n    def {name}(", f"    def {name}(")
    brief = (
        f"{what}\n\nThe test tests.{test} reproduces it, and is marked `@known_bug` because it"
        f" fails. Fix the code, remove the mark from this one test in {file}, and change no other"
        " test. Then `STRICT=1 python3 -m unittest tests." + test + "` must pass, and so must"
        " `python3 -m unittest`. Commit your work."
    )
    owned = (*(paths or (code,)), file)
    changes = (*(Edit(code, old, new) for old, new in edits), unmarked)
    return Bug(key, title, brief, owned, test, changes, **more)


_BOTH = "    return max(0, goods - discount) + shipping(goods) + (EXPRESS if express else 0)\n"

BUGS = (
    _bug(
        "accents",
        "Keep accented letters in URLs",
        "slug() in shop/slugs.py drops accented letters: 'Crème' becomes 'crme'. It should"
        " keep the letter and drop only the accent.",
        "test_slugs.Slugs.test_an_accented_letter_loses_only_its_accent",
        ("import re\n", "import re\nimport unicodedata\n"),
        ("title.encode(", 'unicodedata.normalize("NFKD", title).encode('),
        fault=CRASH,
    ),
    _bug(
        "leap-years",
        "Get leap years right in century years",
        "is_leap() in shop/dates.py treats every fourth year as a leap year. A year that is"
        " divisible by 100 is one only if it is also divisible by 400.",
        "test_dates.Dates.test_most_century_years_are_not_leap_years",
        ("year % 4 == 0", "year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)"),
        fault=HANG,
    ),
    _bug(
        "vouchers",
        "Accept vouchers whose check digit is 0",
        "check_digit() in shop/vouchers.py returns 10 where it should return 0.",
        "test_vouchers.Vouchers.test_the_check_digit_may_be_zero",
        ("10 - sum(", "-sum("),
        fault=FORGET,
    ),
    _bug(
        "stock",
        "Refuse to reserve more than is in stock",
        "Stock.reserve() in shop/stock.py removes items even if there are not enough. If it"
        " refuses, the stock must not change.",
        "test_stock.Stocks.test_a_refusal_leaves_the_stock_unchanged",
        (
            "        self.pieces[name] -= count\n        return self.pieces[name] >= 0\n",
            "        if self.pieces[name] < count:\n            return False\n"
            "        self.pieces[name] -= count\n        return True\n",
        ),
        fault=STRAY,
    ),
    _bug(
        "discounts",
        "Never let a discount exceed the price",
        "total() in shop/cart.py lets a discount that exceeds the price of the goods reduce"
        " shipping, too. The goods must never cost less than 0.",
        "test_cart.Carts.test_a_discount_never_pays_for_shipping",
        ("goods - discount +", "max(0, goods - discount) +"),
        works_s=5.0,
        both=_BOTH,
    ),
    _bug(
        "express",
        "Charge for express delivery",
        "total() in shop/cart.py ignores `express`, which adds EXPRESS to the price.",
        "test_cart.Carts.test_express_costs_more",
        ("+ shipping(goods)\n", "+ shipping(goods) + (EXPRESS if express else 0)\n"),
        works_s=5.5,
        both=_BOTH,
    ),
    _bug(
        "currencies",
        "Show each amount in its own currency",
        "money.show() in shop/money.py always says EUR. It should take the currency as its second"
        " argument, without a default, and every caller should pass it.",
        "test_money.Money.test_an_amount_is_shown_in_its_own_currency",
        ("def show(cents):", "def show(cents, currency):"),
        (":02} EUR", ":02} {currency}"),
        paths=("shop/*.py",),
        works_s=5.0,
    ),
    _bug(
        "sums",
        "Print the total on each invoice",
        "invoice() in shop/invoices.py leaves out the total. Its last line should be 'to pay: '"
        " followed by the total as money.show() formats it.",
        "test_invoices.Invoices.test_the_last_line_is_the_total",
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
        "Ignore case when searching",
        "search() in shop/search.py is case-sensitive. It should ignore case in every language.",
        "test_search.Search.test_case_is_ignored",
        ("wanted in name", "wanted.casefold() in name.casefold()"),
        fault=LIMIT,
    ),
    _bug(
        "mails",
        "Find the domain after a quoted name",
        "domain() in shop/mails.py returns what follows the first @. A quoted name may contain"
        " one as well, so it is the last one that counts.",
        "test_mails.Mails.test_a_quoted_name_may_contain_an_at_sign",
        ('address.split("@")[1]', 'address.rpartition("@")[2]'),
        fault=DAEMON,
    ),
    _bug(
        "pages",
        "Count the last page",
        "pages() in shop/pages.py does not count a last page that is not full.",
        "test_pages.Pages.test_a_partly_filled_page_counts",
        ("return count // size", "return -(-count // size)"),
    ),
    _bug(
        "export",
        "Quote values that contain commas",
        "row() in shop/export.py writes values that contain commas or quotes unchanged. It"
        " should put them in quotes, and double the quotes inside.",
        "test_export.Export.test_a_value_with_a_comma_is_quoted",
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
