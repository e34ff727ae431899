"""The sample project: a small shop with a dozen bugs. Each has a test, marked as a known bug.

With the marks, all tests pass, so a change that breaks something is noticed at once. A fix removes
the mark, because unittest treats an unexpected success as a failure. `STRICT=1` ignores the marks
and shows which bugs are left.
"""


def _tests(text: str) -> str:
    """Add the other imports to tests whose first line imports what they test."""
    imported, _, tests = text.partition("\n")
    marks = "from tests import known_bug\n" if "@known_bug" in tests else ""
    return f"import unittest\n\n{imported}\n{marks}\n\n{tests}"


FILES = {
    "README.md": """\
# Shop

A small shop with a dozen known bugs.

    python3 -m unittest               run the tests; those of known bugs may fail
    STRICT=1 python3 -m unittest      run them all; known bugs count as failures
""",
    ".gitignore": "__pycache__/\n",
    "shop/__init__.py": "",
    "tests/__init__.py": '''\
"""The shop's tests. A test of a known bug is marked `@known_bug`.

Remove the mark when you fix the bug. STRICT=1 ignores the marks.
"""

import os
import unittest


def known_bug(test):
    return test if os.getenv("STRICT") else unittest.expectedFailure(test)
''',
    "shop/slugs.py": '''\
"""Names in URLs."""

import re


def slug(title):
    """Turn a title into part of a URL: lower case, words joined by hyphens."""
    plain = title.encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", plain.lower()))
''',
    "tests/test_slugs.py": _tests("""\
from shop.slugs import slug
class Slugs(unittest.TestCase):
    def test_words_are_joined(self):
        self.assertEqual(slug("Two  Words!"), "two-words")

    @known_bug
    def test_an_accented_letter_loses_only_its_accent(self):
        self.assertEqual(slug("Crème brûlée"), "creme-brulee")
"""),
    "shop/dates.py": '''\
"""Delivery dates."""

DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year):
    return year % 4 == 0


def days_in(year, month):
    return 29 if month == 2 and is_leap(year) else DAYS[month - 1]
''',
    "tests/test_dates.py": _tests("""\
from shop.dates import days_in
class Dates(unittest.TestCase):
    def test_every_fourth_year_is_a_leap_year(self):
        self.assertEqual([days_in(year, 2) for year in (2023, 2024)], [28, 29])

    @known_bug
    def test_most_century_years_are_not_leap_years(self):
        self.assertEqual([days_in(year, 2) for year in (1900, 2000, 2100)], [28, 29, 28])
"""),
    "shop/vouchers.py": '''\
"""Voucher codes: the last digit makes the sum of all digits a multiple of ten."""


def check_digit(digits):
    return 10 - sum(int(digit) for digit in digits) % 10


def is_valid(code):
    return code.isdigit() and code[-1:] == str(check_digit(code[:-1]))
''',
    "tests/test_vouchers.py": _tests("""\
from shop.vouchers import is_valid
class Vouchers(unittest.TestCase):
    def test_a_wrong_digit_is_rejected(self):
        self.assertTrue(is_valid("1234569"))
        self.assertFalse(is_valid("1234568"))

    @known_bug
    def test_the_check_digit_may_be_zero(self):
        self.assertTrue(is_valid("5550050"))
"""),
    "shop/stock.py": '''\
"""The items in stock."""


class Stock:
    def __init__(self, **pieces):
        self.pieces = pieces

    def reserve(self, name, count):
        """Remove items from stock; return whether there were enough."""
        self.pieces[name] -= count
        return self.pieces[name] >= 0
''',
    "tests/test_stock.py": _tests("""\
from shop.stock import Stock
class Stocks(unittest.TestCase):
    def test_items_in_stock_can_be_reserved(self):
        stock = Stock(tea=3)
        self.assertTrue(stock.reserve("tea", 2))
        self.assertEqual(stock.pieces, {"tea": 1})

    @known_bug
    def test_a_refusal_leaves_the_stock_unchanged(self):
        stock = Stock(tea=3)
        self.assertFalse(stock.reserve("tea", 4))
        self.assertEqual(stock.pieces, {"tea": 3})
"""),
    "shop/cart.py": '''\
"""The price of a cart, in cents."""

EXPRESS = 500


def shipping(goods):
    return 0 if goods >= 5000 else 490


def total(items, discount=0, express=False):
    goods = sum(price * count for price, count in items)
    return goods - discount + shipping(goods)
''',
    "tests/test_cart.py": _tests("""\
from shop.cart import total
class Carts(unittest.TestCase):
    @known_bug
    def test_a_discount_never_pays_for_shipping(self):
        self.assertEqual(total([(300, 1)], discount=1000), 490)

    def test_goods_and_shipping_are_added(self):
        self.assertEqual(total([(1000, 2), (500, 1)]), 2990)
        self.assertEqual(total([(2500, 2)]), 5000)
        self.assertEqual(total([(2500, 2)], discount=500), 4500)

    @known_bug
    def test_express_costs_more(self):
        self.assertEqual(total([(2500, 2)], express=True), 5500)
"""),
    "shop/money.py": '''\
"""Format amounts of money."""


def show(cents):
    """Return an amount in cents with its currency."""
    return f"{cents // 100}.{cents % 100:02} EUR"
''',
    "tests/test_money.py": _tests("""\
from shop import money
class Money(unittest.TestCase):
    @known_bug
    def test_an_amount_is_shown_in_its_own_currency(self):
        self.assertEqual(money.show(1234, "CHF"), "12.34 CHF")
        with self.assertRaises(TypeError):
            money.show(1234)
"""),
    "shop/receipts.py": '''\
"""Receipts, with one line for each item."""

from shop import money


def receipt(items, currency="EUR"):
    return [f"{name}: {money.show(price)}" for name, price in items]
''',
    "tests/test_receipts.py": _tests("""\
from shop.receipts import receipt
class Receipts(unittest.TestCase):
    def test_each_item_has_a_line(self):
        self.assertEqual(receipt([("tea", 450)]), ["tea: 4.50 EUR"])
"""),
    "shop/invoices.py": '''\
"""Invoices: the amount to be paid."""


def invoice(items, currency="EUR"):
    """Return the lines of an invoice; the last one is the total."""
    return [name for name, _ in items]
''',
    "tests/test_invoices.py": _tests("""\
from shop.invoices import invoice
class Invoices(unittest.TestCase):
    def test_every_item_is_listed(self):
        self.assertEqual(invoice([("tea", 450), ("pot", 1900)])[:2], ["tea", "pot"])

    @known_bug
    def test_the_last_line_is_the_total(self):
        self.assertEqual(invoice([("tea", 450), ("pot", 1900)])[-1], "to pay: 23.50 EUR")
"""),
    "shop/search.py": '''\
"""Find items by part of their name."""


def search(names, wanted):
    return [name for name in names if wanted in name]
''',
    "tests/test_search.py": _tests("""\
from shop.search import search
class Search(unittest.TestCase):
    def test_part_of_a_name_is_enough(self):
        self.assertEqual(search(["green tea", "pot"], "tea"), ["green tea"])

    @known_bug
    def test_case_is_ignored(self):
        self.assertEqual(search(["Green Tea", "Weißtee"], "TEE"), ["Weißtee"])
        self.assertEqual(search(["Straße"], "strasse"), ["Straße"])
"""),
    "shop/mails.py": '''\
"""Customers' email addresses."""


def domain(address):
    """Return the domain of an email address, in lower case."""
    return address.split("@")[1].lower()
''',
    "tests/test_mails.py": _tests("""\
from shop.mails import domain
class Mails(unittest.TestCase):
    def test_the_domain_follows_the_at_sign(self):
        self.assertEqual(domain("ana@Example.org"), "example.org")

    @known_bug
    def test_a_quoted_name_may_contain_an_at_sign(self):
        self.assertEqual(domain('"ana@work"@example.org'), "example.org")
"""),
    "shop/pages.py": '''\
"""Split lists into pages."""


def pages(count, size):
    """Return the number of pages for `count` items."""
    return count // size


def page(items, number, size):
    """Return the items on one page; pages are numbered from 1."""
    return items[(number - 1) * size : number * size]
''',
    "tests/test_pages.py": _tests("""\
from shop.pages import page, pages
class Pages(unittest.TestCase):
    def test_full_pages_are_counted(self):
        self.assertEqual((pages(20, 10), page(list(range(20)), 2, 10)), (2, list(range(10, 20))))

    @known_bug
    def test_a_partly_filled_page_counts(self):
        self.assertEqual([pages(count, 10) for count in (0, 1, 10, 21)], [0, 1, 1, 3])
"""),
    "shop/export.py": '''\
"""Export tables as comma-separated values."""


def row(values):
    return ",".join(str(value) for value in values)
''',
    "tests/test_export.py": _tests('''\
from shop.export import row
class Export(unittest.TestCase):
    def test_values_are_joined_by_commas(self):
        self.assertEqual(row(["tea", 450]), "tea,450")

    @known_bug
    def test_a_value_with_a_comma_is_quoted(self):
        self.assertEqual(row(["tea, green", 'a "pot"']), '"tea, green","a ""pot"""')
'''),
}
