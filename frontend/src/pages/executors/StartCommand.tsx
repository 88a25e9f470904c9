import { CopyIconButton } from "@/components/Copy";

/** How the stock executor is started for a group. */
export function StartCommand({ group, credential }: { group: string; credential?: string }) {
  const command = `carillon executor --group ${group}${credential ? ` --credential ${credential}` : ""}`;
  return (
    <span className="row g1 command">
      <code className="pre">{command}</code>
      <CopyIconButton text={command} />
    </span>
  );
}
