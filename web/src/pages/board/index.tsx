import { tables } from "../../live";
import type { PageProps } from "../../shell/pages";
import { Page } from "../../ui/parts";

export default function Board(_: PageProps) {
  return <Page title="Board">{tables.tasks.ids.value.length}</Page>;
}
