import { SettingsPage } from "#components/settings/settings-page.tsx";

export default function Page() {
  return <SettingsPage />;
}
