import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";
import type { Run } from "@/api/schema.gen";
import { render } from "@/test/render";
import { Find } from "./Find";
import { useFound } from "./useFound";
import type { Log } from "./useLog";

const search = vi.fn();
vi.mock("@/api/runs", () => ({ foundLines: () => ({ queryKey: ["found"], queryFn: search }) }));

function Looked() {
  const found = useFound(
    { isLong: true } as Log,
    { run_id: "r", attempt: 1 } as Run,
    { text: "x", regex: false },
    [],
  );
  const nothing = () => {};
  return (
    <Find
      ref={null}
      needle="x"
      regex={false}
      wrong={false}
      at={-1}
      found={found.total}
      busy={found.isPending}
      error={found.error}
      onNeedle={nothing}
      onRegex={nothing}
      onStep={nothing}
    />
  );
}

async function says(text: string) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const { host, remove } = render(
    <QueryClientProvider client={client}>
      <Looked />
    </QueryClientProvider>,
  );
  await vi.waitFor(() => act(() => expect(host.textContent).toContain(text)));
  remove();
}

it("a log that could not be searched is not said to have no such line", async () => {
  search.mockRejectedValue(new Error("the history does not answer"));
  await says("not searched");
  search.mockResolvedValue({ seqs: [], total: 0, last_seq: 9 });
  await says("none");
});
