import { useEffect, useState } from "react";
import { readJson } from "@/lib/exact";

/** A value, of JSON, once it has stayed the same for a while. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  const key = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(readJson(key) as T), ms);
    return () => clearTimeout(timer);
  }, [key, ms]);
  return settled;
}
