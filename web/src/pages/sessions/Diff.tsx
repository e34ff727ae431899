/** The changes of a session so far, by file. */

import { useMemo, useState } from "preact/hooks";
import type { Answer } from "../../api/client";
import { revealed } from "../../lib/ansi";
import { plural } from "../../lib/words";
import { Badge, Button, EmptyState } from "../../ui/parts";
import { type DiffFile, filesOf } from "./diff";

const OPEN = 400; // longer files start collapsed
const SIGNS: Record<string, string> = { added: "+", deleted: "-", same: " ", hunk: "", note: "" };

export function Diff({ found, again }: { found: Answer<"/api/sessions/{session}/diff"> | null; again: () => void }) {
  const files = useMemo(() => filesOf(found?.patch ?? ""), [found]);
  if (!found) return <EmptyState title="…" />;
  const shown = new Set(files.map((file) => file.path));
  const rest = found.files.filter((file) => !shown.has(file.path));
  const added = found.files.reduce((sum, file) => sum + (file.added ?? 0), 0);
  const deleted = found.files.reduce((sum, file) => sum + (file.deleted ?? 0), 0);
  return (
    <>
      <div class="bar">
        <span class="small soft">
          {plural(found.files.length, "file")} <Count added={added} deleted={deleted} />
          {found.commit && (
            <>
              {" "}
              ·{" "}
              <span class="mono">
                {found.base.slice(0, 7)}…{found.commit.slice(0, 7)}
              </span>
            </>
          )}
          {found.uncommitted > 0 && ` · ${plural(found.uncommitted, "file")} not committed`}
        </span>
        <span class="grow" />
        <Button kind="quiet" icon="again" onClick={again}>
          Refresh
        </Button>
      </div>
      <section class="scroll padded stack" tabIndex={0} aria-label="Diff">
        {!found.files.length && <EmptyState title="No changes so far." />}
        {files.map((file) => (
          <File key={file.path} file={file} />
        ))}
        {rest.map((file) => (
          <div key={file.path} class="diff-file across">
            <span class="mono cut grow">{revealed(file.path)}</span>
            <Count added={file.added ?? 0} deleted={file.deleted ?? 0} />
          </div>
        ))}
        {found.cut && <p class="small soft">The diff is too long to show in full.</p>}
      </section>
    </>
  );
}

const Count = ({ added, deleted }: { added: number; deleted: number }) => (
  <span class="number small">
    <span class="plus">+{added}</span> <span class="minus">−{deleted}</span>
  </span>
);

function File({ file }: { file: DiffFile }) {
  const [open, setOpen] = useState(file.lines.length <= OPEN);
  return (
    <details class="diff-file" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="across">
        <span class="mono cut grow">{revealed(file.path)}</span>
        {file.note && <Badge>{file.note}</Badge>}
        <Count added={file.added} deleted={file.deleted} />
      </summary>
      {open && (
        <div class="lines">
          {file.lines.map((line, at) => (
            <div key={at} class={line.kind}>
              <span class="sign">{SIGNS[line.kind]}</span>
              {revealed(line.text) || " "}
            </div>
          ))}
        </div>
      )}
    </details>
  );
}
