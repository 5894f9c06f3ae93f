import { ObligationsPage } from "#components/obligations/obligations-page.tsx";

export default function Page() {
  return <ObligationsPage />;
}
