/** The sessions: a grid of live tiles, or one session in full. */

import { computed } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useKeys } from "../../lib/keys";
import { place, setQuery } from "../../lib/router";
import { count } from "../../lib/words";
import { tables, useTails } from "../../live";
import { same } from "../../live/store";
import type { PageProps } from "../../shell/pages";
import { Button, Choice, EmptyState, Filters, Page, Search } from "../../ui/parts";
import { One } from "./One";
import { chosen, type Filter } from "./state";
import { Tile } from "./Tile";
import "./sessions.css";

const SHOWN = 60; // tiles at first; running sessions come before ended ones

const filter = computed<Filter>(() => {
  const { q = "", convoy = "", engine = "", which = "live" } = place.value.query;
  return { text: q, convoy, engine, which };
});

let before: readonly string[] = [];
/** The ids to show; the list stays the same while only the content of tiles changes. */
const ids = computed(() => {
  const found = chosen(tables.sessions.rows.value, filter.value).map((session) => session.id);
  if (!same(before, found)) before = found;
  return before;
});
const engines = computed(() =>
  [...new Set(tables.sessions.rows.value.map((session) => session.profile))]
    .sort()
    .map((name) => [name, name] as const),
);
const convoys = computed(() => tables.convoys.rows.value.map((row) => [row.id, row.title] as const));
const live = computed(() => tables.sessions.rows.value.filter((session) => session.live).length);

export default function Sessions({ rest }: PageProps) {
  return rest[0] ? <One key={rest[0]} id={rest[0]} /> : <Grid />;
}

function Grid() {
  useTails();
  useTileKeys();
  const { text, convoy, engine, which } = filter.value;
  const [most, setMost] = useState(SHOWN);
  useEffect(() => setMost(SHOWN), [text, convoy, engine, which]);
  const shown = ids.value;
  const all = tables.sessions.ids.value.length;
  const tools = (
    <>
      <Search value={text} onInput={(q) => setQuery({ q })} label="Filter sessions" />
      <Filters>
        <Which value={which} all={all} />
        {(convoys.value.length > 1 || convoy) && (
          <Choice
            label="Convoy"
            all="All convoys"
            value={convoy}
            options={convoys.value}
            onChange={(value) => setQuery({ convoy: value })}
          />
        )}
        {(engines.value.length > 1 || engine) && (
          <Choice
            label="Engine"
            all="All engines"
            value={engine}
            options={engines.value}
            onChange={(value) => setQuery({ engine: value })}
          />
        )}
      </Filters>
    </>
  );
  const fitting = text || convoy || engine;
  return (
    <Page title="Sessions" tools={tools}>
      {!shown.length && (
        <EmptyState
          title={fitting ? "No matches." : which === "live" ? "No sessions are running." : "No sessions yet."}
        >
          {!fitting &&
            which === "live" &&
            (all
              ? "See “Ended” for past sessions."
              : "The witness starts sessions for ready tasks. Start it with: corral up")}
        </EmptyState>
      )}
      <div class="tiles">
        {shown.slice(0, most).map((id) => (
          <Tile key={id} id={id} />
        ))}
      </div>
      {shown.length > most && (
        <p class="edge">
          <Button onClick={() => setMost(most * 4)}>Show more ({count(shown.length - most)})</Button>
        </p>
      )}
    </Page>
  );
}

function Which({ value, all }: { value: string; all: number }) {
  const choices = [
    ["live", "Live", live.value],
    ["ended", "Ended", all - live.value],
    ["all", "All", all],
  ] as const;
  return (
    <fieldset class="segments" aria-label="Sessions to show">
      {choices.map(([name, word, number]) => (
        <button
          type="button"
          key={name}
          aria-pressed={value === name}
          onClick={() => setQuery({ which: name === "live" ? "" : name })}
        >
          {word} <span class="faint number">{number}</span>
        </button>
      ))}
    </fieldset>
  );
}

function useTileKeys(): void {
  const step = (by: number) => () => {
    const tiles = [...document.querySelectorAll<HTMLElement>(".tile a.open")];
    const at = tiles.findIndex((tile) => tile.closest(".tile")!.contains(document.activeElement));
    const next = tiles[at < 0 ? (by > 0 ? 0 : tiles.length - 1) : Math.min(tiles.length - 1, Math.max(0, at + by))];
    next?.focus();
    next?.closest(".tile")?.scrollIntoView({ block: "nearest" });
  };
  const group = "Sessions";
  useKeys([
    { keys: "j", label: "Next session", group, run: step(1), quiet: true },
    { keys: "k", label: "Previous session", group, run: step(-1), quiet: true },
    {
      keys: "e",
      label: "Switch between running and ended sessions",
      group,
      run: () => setQuery({ which: filter.peek().which === "live" ? "ended" : "" }),
    },
  ]);
}
