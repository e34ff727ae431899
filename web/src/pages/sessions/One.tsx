/** One session: live output, tool calls, diff and brief, with details beside them. */

import { computed, useComputed } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../../api/client";
import type { SessionRow } from "../../api/rows";
import { useKeys } from "../../lib/keys";
import { go, pathTo, place, setQuery } from "../../lib/router";
import { store, tables } from "../../live";
import { AsNow, EmptyState, Page, StateBadge } from "../../ui/parts";
import { complain } from "../../ui/toast";
import { About, Stop } from "./About";
import { Calls } from "./Calls";
import { windowOf } from "./calls";
import { Diff } from "./Diff";
import { type Feed, useAsked, useFeed } from "./feed";
import { Output } from "./Output";
import { standing } from "./state";

const TABS = [
  ["output", "Output"],
  ["calls", "Calls"],
  ["diff", "Diff"],
  ["brief", "Brief"],
  ["about", "About"],
] as const;
const STILL = computed(() => 0);

export function One({ id }: { id: string }) {
  const past = store.past.value;
  const row = tables.sessions.row(id);
  const task = tables.tasks.row(id.slice(0, Math.max(0, id.lastIndexOf("."))));
  const earlier = useEarlier(id, !row && past === null && task !== undefined && task.attempts > 1 ? task.id : "");
  const session = row ?? earlier;
  useKeys([{ keys: "u", label: "Back to all sessions", group: "Session", run: () => go(pathTo("sessions")) }]);
  if (session) return <Shown session={session} />;
  const known = store.seq.value >= 0 && session === null;
  return (
    <Page title={id}>
      {past !== null ? (
        <EmptyState title={`Session ${id} did not exist at this moment.`}>
          It had not started, or a newer session of its task had replaced it.
        </EmptyState>
      ) : (
        <EmptyState title={known ? `Session ${id} not found.` : "…"}>
          {known && <a href="/sessions">See all sessions</a>}
        </EmptyState>
      )}
    </Page>
  );
}

/** A session that a newer one of its task has replaced; undefined: not loaded yet, null: none. */
function useEarlier(id: string, task: string): SessionRow | null | undefined {
  const [found, setFound] = useState<SessionRow | null>();
  useEffect(() => {
    setFound(undefined);
    if (!task) return;
    const asking = new AbortController();
    get("/api/tasks/{task}/sessions", { task }, {}, asking.signal)
      .then((all) => setFound(all.find((one) => one.id === id) ?? null))
      .catch((error: unknown) => !asking.signal.aborted && complain(error));
    return () => asking.abort();
  }, [id, task]);
  return task ? found : null;
}

function Shown({ session }: { session: SessionRow }) {
  const tab = TABS.find(([name]) => name === place.value.query.tab)?.[0] ?? "output";
  const feed = useFeed(session.id);
  const { word, tone } = standing(session);
  const of = { session: session.id };
  // Refresh when it prints and when its row changes.
  const tick = useComputed(() => [feed.version.value, tables.sessions.row(session.id)]);
  const key = `${session.id} ${session.live}`;
  const facts = useAsked(
    (signal) => get("/api/sessions/{session}/facts", of, { limit: 1000 }, signal),
    key,
    tick,
    1500,
  );
  const usage = useAsked(
    (signal) => get("/api/sessions/{session}/usage", of, {}, signal),
    key,
    session.live ? tick : STILL,
    5000,
  );
  const why = useAsked(
    (signal) => get("/api/tasks/{task}/why", { task: session.task }, {}, signal),
    `${key} ${session.verdict}`,
    STILL,
    1000,
  );
  const context = useMemo(() => windowOf(facts.found?.facts ?? []), [facts.found]);
  const calls = facts.found?.structured ? facts.found.facts.filter((fact) => fact.fact === "used").length : 0;
  const title = (
    <>
      <a class="soft" href="/sessions" aria-label="All sessions">
        Sessions /
      </a>
      <span class="mono">{session.id}</span>
      <StateBadge state={word} tone={tone} />
      <span class="soft cut heading-title">{session.title}</span>
      <span class="grow" />
      <Stop session={session} />
    </>
  );
  return (
    <div class="page one">
      <h1 class="hidden">Session {session.id}</h1>
      <div class="toolbar">{title}</div>
      <AsNow>Output, calls, changes and brief are</AsNow>
      <div class={`content whole split tab-${tab}`}>
        <div class="main">
          <div class="tabs" role="tablist" aria-label="Show">
            {TABS.map(([name, said]) => (
              <button
                type="button"
                key={name}
                id={`tab-${name}`}
                role="tab"
                class={name === "about" ? "narrow" : ""}
                aria-selected={tab === name}
                aria-controls="tab-shown"
                onClick={() => setQuery({ tab: name === "output" ? "" : name })}
              >
                {said}
                {name === "calls" && calls > 0 && <span class="faint number"> {calls}</span>}
              </button>
            ))}
          </div>
          <div class="shown" id="tab-shown" role="tabpanel" aria-labelledby={`tab-${tab}`}>
            {tab === "output" && <Output feed={feed} live={session.live} />}
            {tab === "calls" && <Calls found={facts.found} />}
            {tab === "diff" && <LiveDiff session={session} feed={feed} />}
            {tab === "brief" && <Brief session={session} />}
          </div>
        </div>
        <aside class="scroll" aria-label="About the session" tabIndex={0}>
          <About session={session} usage={session.live ? usage.found : null} context={context} why={why.found} />
        </aside>
      </div>
    </div>
  );
}

/** The server starts git for this, so it is not refreshed for every printed line. */
function LiveDiff({ session, feed }: { session: SessionRow; feed: Feed }) {
  const ask = (signal: AbortSignal) => get("/api/sessions/{session}/diff", { session: session.id }, {}, signal);
  const { found, again } = useAsked(ask, `${session.id} ${session.live}`, session.live ? feed.version : STILL, 8000);
  return <Diff found={found} again={again} />;
}

function Brief({ session }: { session: SessionRow }) {
  const ask = (signal: AbortSignal) => get("/api/sessions/{session}/brief", { session: session.id }, {}, signal);
  const { found } = useAsked(ask, `${session.id} ${session.launches}`, STILL, 1000);
  if (!found) return <EmptyState title="…" />;
  if (!found.text) return <EmptyState title="No brief, or it is no longer kept." />;
  return (
    <section class="scroll padded" tabIndex={0} aria-label="Brief">
      <pre class="prose brief">{found.text}</pre>
    </section>
  );
}
