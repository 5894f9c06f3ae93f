import { SignInPage } from "#components/sign-in/sign-in-page.tsx";

export default function Page() {
  return <SignInPage />;
}
