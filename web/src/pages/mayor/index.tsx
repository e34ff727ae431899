/** The mayor, an engine that makes plans: talk to it, then approve, change or reject its plan. */

import { useEffect, useState } from "preact/hooks";
import { type Answer, get } from "../../api/client";
import type { MayorRow } from "../../api/rows";
import { useKeys } from "../../lib/keys";
import { go, pathTo, place } from "../../lib/router";
import { store, tables } from "../../live";
import type { PageProps } from "../../shell/pages";
import { Badge, Button, EmptyState, Money, Page } from "../../ui/parts";
import { complain } from "../../ui/toast";
import { Chat, focusComposer } from "./Chat";
import { Ending } from "./Ending";
import { Plan } from "./Plan";
import { Start } from "./Start";
import { over, standing, unsettled } from "./standing";
import "./mayor.css";

export type Conversation = Answer<"/api/mayors/{mayor}">;

export default function Mayor({ rest }: PageProps) {
  const rows = tables.mayors.rows.value;
  const newest = rows.at(-1);
  const row = rest[0] ? tables.mayors.row(rest[0]) : newest;
  const asking = place.value.query.new === "1";
  useKeys([
    { keys: "n", label: "New goal for the mayor", group: "Mayor", run: () => go(pathTo("mayor", [], { new: "1" })) },
  ]);
  if (store.seq.value < 0) return <Page title="Mayor" />;
  const tools = (
    <>
      {rows.length > 1 && <Conversations rows={rows} chosen={asking ? "" : (row?.id ?? "")} />}
      <span class="grow" />
      {row && row.id === newest?.id && !over(row) && !asking && <Ending row={row} />}
      {newest && !asking && !unsettled(newest) && (
        <Button
          icon="plus"
          kind={over(newest) ? "first" : "quiet"}
          onClick={() => go(pathTo("mayor", [], { new: "1" }))}
        >
          New goal
        </Button>
      )}
    </>
  );
  return (
    <Page title="Mayor" tools={tools} whole>
      {asking || !newest ? (
        <Start newest={newest} />
      ) : row ? (
        <Talk key={row.id} row={row} current={row.id === newest.id} />
      ) : (
        <EmptyState title="Conversation not found.">
          <a href="/mayor">Go to the newest</a>
        </EmptyState>
      )}
    </Page>
  );
}

function Conversations({ rows, chosen }: { rows: readonly MayorRow[]; chosen: string }) {
  const name = (row: MayorRow) => `${row.id}: ${tables.convoys.row(row.convoy)?.title ?? standing(row).word}`;
  return (
    <select
      class="input"
      aria-label="Conversation"
      value={chosen}
      onChange={(event) => go(pathTo("mayor", [event.currentTarget.value]))}
    >
      {!chosen && <option value="">new conversation</option>}
      {[...rows].reverse().map((row) => (
        <option key={row.id} value={row.id}>
          {name(row)}
        </option>
      ))}
    </select>
  );
}

function Standing({ row }: { row: MayorRow }) {
  const { word, tone } = standing(row);
  return (
    <div class="across strip small">
      <Badge tone={tone} title={row.reason}>
        {word}
      </Badge>
      <span class="soft cut">
        {row.engine}
        {row.model && ` · ${row.model}`}
        {row.replan && " · replans when a task fails"}
      </span>
      <span class="grow" />
      <span class="soft">
        <Money cost={row.cost} />
      </span>
    </div>
  );
}

/** The conversation, fetched again whenever it grows. */
function useConversation(row: MayorRow): Conversation | null {
  const [found, setFound] = useState<Conversation | null>(null);
  const past = store.past.value;
  useEffect(() => {
    const asking = new AbortController();
    get("/api/mayors/{mayor}", { mayor: row.id }, past === null ? {} : { at: past }, asking.signal)
      .then(setFound)
      .catch((error: unknown) => !asking.signal.aborted && complain(error));
    return () => asking.abort();
  }, [row.id, row.said.at(-1), row.proposed_seq, row.approved_seq, past === null]);
  return found;
}

/** Conversation and plan side by side; on a narrow screen, one at a time. */
function Talk({ row, current }: { row: MayorRow; current: boolean }) {
  const talk = useConversation(row);
  const [side, setSide] = useState<"talk" | "plan">("talk");
  // While moving through time, the fetched plan may belong to another moment.
  const proposal = talk?.proposal?.seq === row.proposed_seq ? talk.proposal : null;
  const change = () => {
    setSide("talk");
    requestAnimationFrame(focusComposer);
  };
  if (!talk) return null;
  return (
    <div class={`mayor ${proposal ? `two show-${side}` : ""}`} data-mayor={row.id}>
      <Standing row={row} />
      {proposal && (
        <fieldset class="sides across" aria-label="Show">
          <Button kind="quiet" icon="mayor" pressed={side === "talk"} onClick={() => setSide("talk")}>
            Talk
          </Button>
          <Button kind="quiet" icon="convoy" pressed={side === "plan"} onClick={() => setSide("plan")}>
            Plan{row.pending && <span class="dot tone-violet" />}
          </Button>
        </fieldset>
      )}
      <Chat row={row} talk={talk} current={current} />
      {proposal && <Plan row={row} proposal={proposal} current={current} onChange={change} />}
    </div>
  );
}
