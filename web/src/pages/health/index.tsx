import type { PageProps } from "../../shell/pages";
import { EmptyState, Page } from "../../ui/parts";

export default function Health(_: PageProps) {
  return (
    <Page title="Health">
      <EmptyState title="Not built yet." />
    </Page>
  );
}
