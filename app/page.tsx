import { redirect } from "next/navigation";

/** Approvals is where an operator lands. */
export default function Home(): never {
  redirect("/approvals");
}
