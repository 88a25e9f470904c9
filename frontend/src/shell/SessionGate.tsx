import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { meQuery } from "@/api/session";
import { useNewsBegun } from "@/lib/events";
import { useSignedOut } from "@/lib/expiry";
import { problemOf } from "@/lib/problem";

const SignIn = lazy(() => import("./SignIn"));
const Invitation = lazy(() => import("./Invitation"));

/** The secret of the one-time link by which this page was opened, read before the router moves on from it. */
const opened = /^#invitation=(.+)$/.exec(location.hash)?.[1];

/**
 * Shows the console to those who are signed in. When a session ends in the middle of
 * something, the sign-in lies over the page, which stays as it is.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const me = useQuery(meQuery);
  const signedOut = useSignedOut();
  const [secret, setSecret] = useState(opened);
  const [begun, setBegun] = useState(false);
  const ready = useReady();
  useEffect(() => {
    if (me.isSuccess && ready) setBegun(true);
  }, [me.isSuccess, ready]);
  if (secret) {
    const done = () => {
      // The secret must not stay in the address, nor in the history.
      window.history.replaceState(null, "", location.pathname + location.search);
      setSecret(undefined);
    };
    return (
      <Suspense>
        <Invitation secret={secret} onDone={done} />
      </Suspense>
    );
  }
  const nobody = signedOut || (me.isError && problemOf(me.error).code === "unauthenticated");
  if (!begun && nobody) {
    return (
      <Suspense>
        <SignIn />
      </Suspense>
    );
  }
  if (!begun && (me.isPending || !ready)) return null;
  return (
    <>
      {children}
      {nobody && (
        <Suspense>
          <SignIn over />
        </Suspense>
      )}
    </>
  );
}

/** How long a page waits for the stream of changes, in ms: a proxy may keep it back. */
const patience = 400;

/** Whether a page may ask. It asks once it hears of changes, as it would ask for everything twice otherwise. */
function useReady(): boolean {
  const heard = useNewsBegun();
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), patience);
    return () => clearTimeout(timer);
  }, []);
  return heard || late;
}
