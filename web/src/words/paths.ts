/** The last name of a folder, and the folder as a person writes it. */
export function folderName(path: string): string {
  return path.replace(/[/\\]+$/, "").split(/[/\\]/).at(-1) || path;
}

/** A path as it stands below its workspace; one outside stays whole. */
export function within(workspace: string, path: string): string {
  const base = workspace.replace(/[/\\]+$/, "");
  return base !== "" && (path.startsWith(`${base}/`) || path.startsWith(`${base}\\`)) ? path.slice(base.length + 1) : path;
}
