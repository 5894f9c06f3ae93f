import { FailuresPage } from "#components/diagnostics/failures-page.tsx";

export default function Page() {
  return <FailuresPage />;
}
