import { createContext, type ReactNode, use } from "react";

const Locked = createContext(false);

/** Whether what is on the page may only be looked at: native fields know it from their fieldset, others ask. */
export const useLocked = (): boolean => use(Locked);

/** Fields of a form, which can all be changed, or none of them. */
export function ReadOnly({ locked, children }: { locked: boolean; children: ReactNode }) {
  return (
    <Locked value={locked}>
      <fieldset disabled={locked}>{children}</fieldset>
    </Locked>
  );
}
