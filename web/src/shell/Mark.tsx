import { type Mark, SHAPES } from "../words/states";

/** A state: its shape for the eye, its word for everybody. */
export function StateMark({ mark, said = false }: { mark: Mark; said?: boolean }) {
  return (
    <span className={`mark mark-${mark.shape}`}>
      <span className="mark-shape" aria-hidden="true">
        {SHAPES[mark.shape]}
      </span>
      <span className={said ? "mark-word" : "hidden"}>{mark.word}</span>
    </span>
  );
}
