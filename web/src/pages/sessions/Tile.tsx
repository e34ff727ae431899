/** One session in the grid. */

import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Ansi } from "../../lib/ansi";
import { pathTo } from "../../lib/router";
import { plural, span } from "../../lib/words";
import { stream, tables } from "../../live";
import { AnsiLine } from "../../ui/AnsiText";
import { Age, Badge, Money, TaskLink } from "../../ui/parts";
import { readable, standing } from "./state";

export function Tile({ id }: { id: string }) {
  const session = tables.sessions.row(id);
  if (!session) return null;
  const { word, tone } = standing(session);
  const question = session.question ? tables.messages.row(session.question)?.text : session.asked;
  return (
    <article class={`tile tone-${tone}`} data-session={id} data-state={word} aria-labelledby={`tile-${id}`}>
      <header class="across">
        <a id={`tile-${id}`} class="open mono" href={pathTo("sessions", [id])}>
          {id}
        </a>
        <Badge tone={tone}>{word}</Badge>
        <span class="grow" />
        <span class="small soft">
          {session.live ? (
            <Age at={session.started_at} title="started" />
          ) : (
            <>
              {span(session.ended_at - session.started_at)}, <Age at={session.ended_at} title="ended" /> ago
            </>
          )}
        </span>
      </header>
      <div class="title cut" title={session.title}>
        {session.title}
      </div>
      <div class="small soft across facts">
        <TaskLink id={session.task} />
        <span class="cut">{[session.profile, session.model, session.role].filter(Boolean).join(" · ")}</span>
        <span class="grow" />
        {session.turns > 0 && <span class="number">{plural(session.turns, "turn")}</span>}
        <Money cost={session.cost} />
      </div>
      {question && (
        <div class="asks small cut" title={question}>
          {question}
        </div>
      )}
      {session.progress && (
        <div class="progress small cut" title={session.progress}>
          {session.progress}
        </div>
      )}
      {session.live ? <Tail id={id} /> : session.detail && <div class="small soft detail">{session.detail}</div>}
    </article>
  );
}

/** The last lines of its output. */
function Tail({ id }: { id: string }) {
  const lines = useComputed(() => stream.tails.value[id]).value;
  const drawn = useMemo(() => {
    const ansi = new Ansi();
    return (lines ?? [])
      .map(readable)
      .filter((line) => line !== null)
      .map((line) => ansi.line(line));
  }, [lines]);
  return (
    <figure class="tail ansi" aria-label="Last lines of its output">
      {drawn.length === 0 && <span class="faint">{lines === undefined ? "…" : "no readable output yet"}</span>}
      <div>
        {drawn.map((line, at) => (
          <div key={at} class="cut">
            <AnsiLine pieces={line} />
            {"\n"}
          </div>
        ))}
      </div>
    </figure>
  );
}
