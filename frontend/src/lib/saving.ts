/** Has the browser save a text, or parts of data one after the other, as a file. */
export function saveFile(name: string, data: string | BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob(typeof data === "string" ? [data] : data, { type }));
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  URL.revokeObjectURL(url);
}
