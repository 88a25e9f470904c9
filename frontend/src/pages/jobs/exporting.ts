import type { JobVersion } from "@/api/schema.gen";
import { definitionOf, toYaml } from "@/lib/jobdoc";
import { refOf } from "@/lib/jobref";
import { saveFile } from "@/lib/saving";

/** Saves definitions as a file that `carillon apply` reads. */
export async function exportJobs(definitions: JobVersion[]): Promise<void> {
  const documents = await Promise.all(definitions.map((d) => toYaml(definitionOf(d))));
  const [only] = definitions;
  const name = definitions.length === 1 && only ? refOf(only.job).name : "jobs";
  saveFile(`${name}.yaml`, documents.join("---\n"), "application/yaml");
}
