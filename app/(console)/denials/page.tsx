import { DenialsPage } from "#components/denials/denials-page.tsx";

export default function Page() {
  return <DenialsPage />;
}
