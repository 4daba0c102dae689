import { memo, useMemo } from "react";
import { Decoration, Diff, Hunk, type DiffProps } from "react-diff-view";
import "react-diff-view/style/index.css";
import { unmasked } from "../markdown/urls";
import { asPatch, filesOf, type PatchFile } from "./patch";

/** Files with more changed lines rest closed. */
export const CHANGES_OPEN_MAX = 1000;

/** A diff text of one path, as hunks; as plain text if it is no diff. */
export default memo(function DiffText({ text, path, kind = "update" }: { text: string; path: string; kind?: string }) {
  const files = useMemo(() => filesOf(asPatch(text, path, kind)), [text, path, kind]);
  if (files.length === 0 || files.every((f) => f.hunks.length === 0)) {
    return (
      <pre className="json" tabIndex={0}>
        {unmasked(text)}
      </pre>
    );
  }
  return (
    <>
      {files.map((file, i) => (
        <Hunks key={i} file={file} />
      ))}
    </>
  );
});

export const Hunks = memo(function Hunks({ file }: { file: PatchFile }) {
  return (
    <div className="diff-box" tabIndex={0} role="group" aria-label={`Changes of ${file.newPath}`}>
      <Diff viewType="unified" diffType={file.type} hunks={file.hunks as DiffProps["hunks"]} gutterType="default">
        {(hunks) =>
          hunks.flatMap((hunk) => [
            <Decoration key={`head-${hunk.content}`}>
              <span className="hunk-head">{hunk.content}</span>
            </Decoration>,
            <Hunk key={hunk.content} hunk={hunk} />,
          ])
        }
      </Diff>
    </div>
  );
});
