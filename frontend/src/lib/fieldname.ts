/** What people call a field of a job, by the longest beginning of its path that has a name; the rest stays as it is. */
export function nameOfField(
  path: string,
  names: Readonly<Partial<Record<string, string>>>,
): string | undefined {
  for (
    let end = path.length;
    end > 0;
    end = Math.max(path.lastIndexOf(".", end - 1), path.lastIndexOf("[", end - 1))
  ) {
    const name = names[path.slice(0, end)];
    if (name) return end === path.length ? name : `${name} · ${path.slice(end).replace(/^\./, "")}`;
  }
  return undefined;
}
