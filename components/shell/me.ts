"use client";
import { createContext, useContext } from "react";
import type { Me } from "#lib/contract/shell-views.ts";

export const MeContext = createContext<Me | undefined>(undefined);

/** The operator at this browser; only under the signed-in shell. */
export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === undefined) throw new Error("useMe needs the signed-in shell above it");
  return me;
}

/** Roles in the order of what they may do. */
const ranks = { viewer: 0, decider: 1, operator: 2, admin: 3 } as const;

export const isAtLeast = (me: Me, role: Me["role"]): boolean => ranks[me.role] >= ranks[role];
