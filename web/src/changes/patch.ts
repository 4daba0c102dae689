/** Diff texts as they come, to files with hunks: pure. */
import gitdiff from "gitdiff-parser";

export type PatchFile = ReturnType<typeof gitdiff.parse>[number];

/** A diff of one path may come without its head, or as bare text; it becomes one that can be read. */
export function asPatch(text: string, path: string, kind = "update"): string {
  if (/^diff --git /m.test(text)) return text;
  const bare = text.replace(/^(?:(?:---|\+\+\+) [^\n]*\n)+/, "");
  const head = `diff --git a/${path} b/${path}\n--- ${kind === "add" ? "/dev/null" : `a/${path}`}\n+++ ${kind === "delete" ? "/dev/null" : `b/${path}`}\n`;
  if (/^@@ /m.test(bare)) return head + bare;
  if (kind !== "add" && kind !== "delete") return "";
  const lines = bare.replace(/\n$/, "").split("\n");
  const mark = kind === "add" ? "+" : "-";
  const range = kind === "add" ? `-0,0 +1,${lines.length}` : `-1,${lines.length} +0,0`;
  return `${head}@@ ${range} @@\n${lines.map((l) => mark + l).join("\n")}\n`;
}

/** The files of a patch; none if it cannot be read as one. */
export function filesOf(patch: string): PatchFile[] {
  if (patch.trim() === "") return [];
  try {
    return gitdiff.parse(patch);
  } catch {
    return [];
  }
}

export function pathOf(file: PatchFile): string {
  return file.type === "delete" ? file.oldPath : file.newPath;
}

/** Added and removed lines of a file. */
export function countsOf(file: PatchFile): [number, number] {
  let plus = 0;
  let minus = 0;
  for (const hunk of file.hunks) {
    for (const change of hunk.changes) {
      if (change.type === "insert") plus += 1;
      else if (change.type === "delete") minus += 1;
    }
  }
  return [plus, minus];
}
