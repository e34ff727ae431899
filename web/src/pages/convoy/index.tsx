import type { PageProps } from "../../shell/pages";
import { EmptyState, Page } from "../../ui/parts";

export default function Convoy(_: PageProps) {
  return (
    <Page title="Convoy">
      <EmptyState title="Not built yet." />
    </Page>
  );
}
