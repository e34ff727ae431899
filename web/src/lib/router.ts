/** The current address as a signal. Links are plain `<a href>`; a click on one does not reload the page. */

import { signal } from "@preact/signals";

export type Place = { page: string; rest: readonly string[]; query: Readonly<Record<string, string>> };

/** Parse an address; the default page is the board. */
export function parse(address: string): Place {
  const url = new URL(address, "http://page");
  const [page = "", ...rest] = url.pathname.split("/").filter(Boolean).map(decoded);
  const query = Object.fromEntries(url.searchParams);
  // A task opens in a drawer over the current page; its own address shows it over the board.
  if (page === "tasks") return { page: "board", rest: [], query: { ...query, task: rest[0] ?? "" } };
  return { page: page || "board", rest, query };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // as it was typed; there is no such page
  }
}

/** Build an address: parts are encoded, and empty query values are left out. */
export function pathTo(page: string, rest: readonly string[] = [], query: Record<string, string> = {}): string {
  const path = `/${[page === "board" ? "" : page, ...rest].filter(Boolean).map(encodeURIComponent).join("/")}`;
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  return asked.size ? `${path}?${asked}` : path;
}

export const place = signal<Place>({ page: "board", rest: [], query: {} });

export function go(address: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  place.value = parse(location.href);
}

/** Change part of the query and stay on the page; typing into a filter adds no history. */
export function setQuery(more: Record<string, string>, how: "push" | "replace" = "replace"): void {
  const { page, rest, query } = place.peek();
  go(pathTo(page, rest, { ...query, ...more }), how);
}

/** Open the drawer of a task over the current page. */
export const openTask = (id: string) => setQuery({ task: id }, place.peek().query.task ? "replace" : "push");
export const closeTask = () => setQuery({ task: "" });

export function startRouter(): void {
  place.value = parse(location.href);
  addEventListener("popstate", () => (place.value = parse(location.href)));
  document.addEventListener("click", (event) => {
    const link = (event.target as Element | null)?.closest?.("a");
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    go(link.href);
  });
}
