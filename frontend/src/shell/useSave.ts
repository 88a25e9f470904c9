import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useWarn } from "./actions";

interface Save<T> {
  act(): Promise<T>;
  /** The lists that show what is saved. */
  stale: QueryKey;
  onSaved(saved: T): void;
}

/** What a form's dialog needs to send it. Once it is saved, the lists that show it are read anew. */
export function useSave<T>({ act, stale, onSaved }: Save<T>) {
  const client = useQueryClient();
  const warn = useWarn();
  const save = useMutation({
    mutationFn: act,
    onSuccess: (saved) => {
      void client.invalidateQueries({ queryKey: stale });
      onSaved(saved);
      warn(saved);
    },
  });
  return { busy: save.isPending, error: save.error, onSubmit: () => save.mutate() };
}
