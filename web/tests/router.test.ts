import { expect, test } from "vitest";
import { parse, pathTo } from "../src/lib/router";
import { money, span } from "../src/lib/words";

test("an address leads to a page and back", () => {
  expect(parse("/")).toEqual({ page: "board", rest: [], query: {} });
  expect(parse("/sessions/AF-1.1?q=a%20b")).toEqual({ page: "sessions", rest: ["AF-1.1"], query: { q: "a b" } });
  expect(parse("/tasks/AF-1?convoy=x")).toEqual({ page: "board", rest: [], query: { convoy: "x", task: "AF-1" } });
  expect(parse("/convoy/%E0%A4%A")).toEqual({ page: "convoy", rest: ["%E0%A4%A"], query: {} });
  const odd = "../<b>&?#/é";
  expect(parse(pathTo("convoy", [odd], { q: odd, none: "" }))).toEqual({
    page: "convoy",
    rest: [odd],
    query: { q: odd },
  });
});

test("spans and costs are short", () => {
  expect([0, 999, 45_000, 754_000, 11_100_000, 86_400_000 * 12].map(span)).toEqual([
    "0s",
    "0s",
    "45s",
    "12m",
    "3h 5m",
    "12d",
  ]);
  const cost = { fresh: 0, cached: 0, output: 0, usd: 0, unpriced: 0 };
  expect([cost, { ...cost, usd: 1.234 }, { ...cost, unpriced: 5 }].map(money)).toEqual(["", "$1.23", "≥ $0.00"]);
});
