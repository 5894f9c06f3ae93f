import { UnknownsPage } from "#components/unknowns/unknowns-page.tsx";

export default function Page() {
  return <UnknownsPage />;
}
